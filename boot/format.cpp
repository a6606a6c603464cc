/* SPDX-License-Identifier: MIT */
/*
 * format - text with values in it, numbers from text, and 64-bit division
 */
#include <boot/format.hpp>

namespace boot {

namespace {

void pad(format_sink sink, char with, unsigned length, unsigned width)
{
	for (; length < width; length++)
		sink.put(sink.context, with);
}

void put_text(format_sink sink, const char *text, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		sink.put(sink.context, text[i]);
}

/* prefix: a sign, or 0x; zeros go behind it, blanks before. */
void put_padded(format_sink sink, const format_directive &d, const char *prefix,
		unsigned prefix_length, const char *text, unsigned length)
{
	const unsigned all = prefix_length + length;

	if (!d.left && !d.zeros)
		pad(sink, ' ', all, d.width);
	put_text(sink, prefix, prefix_length);
	if (!d.left && d.zeros)
		pad(sink, '0', all, d.width);
	put_text(sink, text, length);
	if (d.left)
		pad(sink, ' ', all, d.width);
}

/* Writes from the end of the buffer to the left; returns the first digit. */
char *to_digits(u64 number, unsigned base, const char *digits, char *end)
{
	do {
		*--end = digits[mod_u64(number, base)];
		number = div_u64(number, base);
	} while (number);
	return end;
}

void put_number(format_sink sink, format_directive d, const format_argument &a)
{
	char buffer[20]; /* 2^64 - 1 in decimal */
	char *const end = buffer + sizeof(buffer);
	const bool hexadecimal = d.conversion == 'x' || d.conversion == 'X';
	u64 number = a.number;

	/* A negative number in hexadecimal: its two's complement. */
	if (hexadecimal && a.negative)
		number = (0 - number) & ~u64{0} >> (64 - 8 * a.size);

	const char *first = to_digits(number, hexadecimal ? 16 : 10,
				      d.conversion == 'X' ? "0123456789ABCDEF"
							  : "0123456789abcdef",
				      end);

	put_padded(sink, d, "-", a.negative && !hexadecimal, first,
		   static_cast<unsigned>(end - first));
}

void put_pointer(format_sink sink, format_directive d, const format_argument &a)
{
	constexpr unsigned digits = 2 * sizeof(void *);
	char buffer[digits];
	char *const end = buffer + digits;
	char *first = to_digits(a.kind == format_kind::string
					? reinterpret_cast<usize>(a.string)
					: a.number,
				16, "0123456789abcdef", end);

	while (first > buffer)
		*--first = '0';
	d.zeros = false;
	put_padded(sink, d, "0x", 2, first, digits);
}

void put_string(format_sink sink, format_directive d, const format_argument &a)
{
	const char *text = a.string ? a.string : "(null)";
	unsigned length = 0;

	while ((!d.has_precision || length < d.precision) && text[length])
		length++;
	d.zeros = false;
	put_padded(sink, d, "", 0, text, length);
}

void put_directive(format_sink sink, const format_directive &d,
		   const format_argument &a)
{
	const char c = static_cast<char>(a.number);

	switch (d.conversion) {
	case 'c':
		put_padded(sink, d, "", 0, &c, 1);
		break;
	case 's':
		put_string(sink, d, a);
		break;
	case 'p':
		put_pointer(sink, d, a);
		break;
	default:
		put_number(sink, d, a);
	}
}

struct bounded_buffer {
	char *at;
	char *end;
};

void put_bounded(void *context, char c)
{
	bounded_buffer &b = *static_cast<bounded_buffer *>(context);

	if (b.at < b.end)
		*b.at++ = c;
}

} // namespace

void format_list(format_sink sink, const char *at,
		 const format_argument *arguments)
{
	while (*at) {
		if (*at != '%') {
			sink.put(sink.context, *at++);
			continue;
		}
		at++;
		format_directive d = read_directive(at);

		if (d.star_width)
			d.width = static_cast<unsigned>(arguments++->number);
		if (d.star_precision)
			d.precision =
				static_cast<unsigned>(arguments++->number);
		if (d.conversion == '%')
			sink.put(sink.context, '%');
		else
			put_directive(sink, d, *arguments++);
	}
}

usize format_list_to(char *buffer, usize size, const char *format,
		     const format_argument *arguments)
{
	bounded_buffer b = {buffer, buffer + size - 1};

	format_list({put_bounded, &b}, format, arguments);
	*b.at = 0;
	return static_cast<usize>(b.at - buffer);
}

/* -- 64-bit division that needs no library -- */

namespace {

struct division {
	u64 quotient;
	u64 remainder;
};

/* Bit by bit. */
[[maybe_unused]] division divide_long(u64 dividend, u64 divisor)
{
	u64 rest = 0;
	u64 quotient = 0;

	for (int bit = 63; bit >= 0; bit--) {
		const bool carry = rest >> 63;

		rest = rest << 1 | (dividend >> bit & 1);
		quotient <<= 1;
		if (carry || rest >= divisor) {
			rest -= divisor;
			quotient |= 1;
		}
	}
	return {quotient, rest};
}

division divide(u64 dividend, u64 divisor)
{
	if constexpr (sizeof(usize) == 8) {
		return {dividend / divisor, dividend % divisor};
	} else if ((dividend | divisor) >> 32 || !divisor) {
		return divide_long(dividend, divisor);
	} else {
		const u32 small = static_cast<u32>(dividend);
		const u32 by = static_cast<u32>(divisor);

		return {small / by, small % by};
	}
}

} // namespace

u64 div_u64(u64 dividend, u64 divisor)
{
	return divide(dividend, divisor).quotient;
}

u64 mod_u64(u64 dividend, u64 divisor)
{
	return divide(dividend, divisor).remainder;
}

/* -- Numbers from text -- */

namespace {

/* 16 and more: no digit of any base. */
unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return static_cast<unsigned>(c - '0');
	if (c >= 'a' && c <= 'f')
		return static_cast<unsigned>(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return static_cast<unsigned>(c - 'A' + 10);
	return 16;
}

} // namespace

bool parse_u64(const char *at, u64 &value)
{
	const bool hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	const unsigned base = hexadecimal ? 16 : 10;
	u64 sum = 0;

	if (hexadecimal)
		at += 2;
	if (!*at)
		return false;
	for (; *at; at++) {
		const unsigned d = digit(*at);

		if (d >= base || __builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, d, &sum))
			return false;
	}
	value = sum;
	return true;
}

bool same_text(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	return *left == *right;
}

} // namespace boot
