/* SPDX-License-Identifier: MIT */
/*
 * format - text with values in it, in the manner of printf
 *
 *	%[-][0][width][.precision]conversion
 *
 *	%d %i	an integer in decimal, signed if its type is
 *	%u	the same; for readers who expect it
 *	%x %X	an integer in hexadecimal, without 0x; as wide as its type
 *	%c	a char
 *	%s	a C string; (null) for a null pointer
 *	%p	a pointer, 0x and all its digits
 *	%%	a percent sign
 *
 * width and precision are numbers or *, which takes an argument. A width pads
 * with blanks on the left; - pads on the right, 0 pads numbers with zeros.
 * A precision cuts a string, and belongs to %s alone. hh h l ll z are taken and
 * mean nothing: an argument knows its own size. No floating point.
 *
 * Number and kinds of the arguments are checked by the compiler: a wrong format
 * does not compile (the error names format_is_wrong), so that the format has to
 * be a constant.
 *
 * And the way back: numbers from text; and the division that numbers need.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

template <typename T>
concept integer = requires(T v) { v % v; };

enum class format_kind : u8 { none, integer, character, string, pointer };

template <typename T>
constexpr format_kind format_kind_of()
{
	if constexpr (__is_same(T, char))
		return format_kind::character;
	else if constexpr (integer<T>)
		return format_kind::integer;
	else if constexpr (__is_same(T, char *) || __is_same(T, const char *))
		return format_kind::string;
	else
		return format_kind::pointer;
}

/* One argument; the last one of a list is format_kind::none. */
struct format_argument {
	format_kind kind = format_kind::none;
	bool negative = false;
	u8 size = 0;
	u64 number = 0; /* an integer's magnitude */
	const char *string = nullptr;

	constexpr format_argument() = default;

	template <integer T>
	constexpr explicit format_argument(T value)
	    : kind(format_kind_of<T>()), negative(value < T{}), size(sizeof(T)),
	      number(negative ? 0 - static_cast<u64>(value)
			      : static_cast<u64>(value))
	{
	}

	explicit format_argument(const char *text)
	    : kind(format_kind::string), string(text)
	{
	}

	explicit format_argument(const void *address)
	    : kind(format_kind::pointer), size(sizeof(address)),
	      number(reinterpret_cast<usize>(address))
	{
	}
};

/* A conversion: the text from a % to the end of it. */
struct format_directive {
	bool left = false;
	bool zeros = false;
	bool star_width = false;
	bool star_precision = false;
	bool has_precision = false;
	unsigned width = 0;
	unsigned precision = 0;
	char conversion = 0;
};

/* Reads a directive; at stands behind the %, then behind the conversion. */
constexpr format_directive read_directive(const char *&at)
{
	format_directive d;

	for (; *at == '-' || *at == '0'; at++)
		(*at == '-' ? d.left : d.zeros) = true;
	for (; *at >= '0' && *at <= '9'; at++)
		d.width = d.width * 10 + static_cast<unsigned>(*at - '0');
	if (*at == '*') {
		d.star_width = true;
		at++;
	}
	if (*at == '.') {
		d.has_precision = true;
		at++;
		for (; *at >= '0' && *at <= '9'; at++)
			d.precision = d.precision * 10 +
				      static_cast<unsigned>(*at - '0');
		if (*at == '*') {
			d.star_precision = true;
			at++;
		}
	}
	while (*at == 'h' || *at == 'l' || *at == 'z')
		at++;
	d.conversion = *at;
	if (*at)
		at++;
	return d;
}

constexpr bool conversion_takes(char conversion, format_kind kind)
{
	switch (conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
		return kind == format_kind::integer;
	case 'c':
		return kind == format_kind::character;
	case 's':
		return kind == format_kind::string;
	case 'p':
		return kind == format_kind::pointer ||
		       kind == format_kind::string;
	default:
		return false;
	}
}

constexpr bool format_is_right(const char *at, const format_kind *kinds)
{
	while (*at) {
		if (*at++ != '%')
			continue;
		const format_directive d = read_directive(at);

		if (d.star_width && *kinds++ != format_kind::integer)
			return false;
		if (d.star_precision && *kinds++ != format_kind::integer)
			return false;
		if (d.has_precision && d.conversion != 's')
			return false;
		if (d.conversion == '%')
			continue;
		if (!conversion_takes(d.conversion, *kinds++))
			return false;
	}
	return *kinds == format_kind::none;
}

/* Never defined: a wrong format comes here, and that is no constant. */
void format_is_wrong();

template <typename... Arguments>
struct checked_format {
	const char *text;

	consteval checked_format(const char *format) : text(format)
	{
		const format_kind kinds[] = {format_kind_of<Arguments>()...,
					     format_kind::none};

		if (!format_is_right(format, kinds))
			format_is_wrong();
	}
};

template <typename T>
struct same_type {
	using type = T;
};

/* The type of a parameter that takes the format for these arguments. */
template <typename... Arguments>
using format_for = typename same_type<checked_format<Arguments...>>::type;

/* The destination of a text, which it takes one char after the other. */
struct format_sink {
	void (*put)(void *context, char c);
	void *context;
};

/* Any context that the sink is good for. */
void format_list(format_sink sink, const char *format,
		 const format_argument *arguments);

/*
 * Formats into a buffer of `size` bytes, at least 1: ends it by a 0, cuts what
 * does not fit. Returns the length of what it has written, without the 0.
 */
usize format_list_to(char *buffer, usize size, const char *format,
		     const format_argument *arguments);

template <typename... Arguments>
usize format_to(char *buffer, usize size, format_for<Arguments...> format,
		Arguments... arguments)
{
	const format_argument list[] = {format_argument(arguments)..., {}};

	return format_list_to(buffer, size, format.text, list);
}

/* Reads a whole decimal number, or a hexadecimal one with 0x in front: nothing
 * else may follow. False: it is none, or above 2^64 - 1; value is unchanged. */
bool parse_u64(const char *text, u64 &value);

/* As in <string.h>. */
bool same_text(const char *left, const char *right);

/*
 * The quotient and the remainder; the divisor is not 0. Any context. On 32 bits
 * the compiler makes a library call of u64 / u64, and a kernel has no such
 * library: payloads that are built for both divide by these.
 */
u64 div_u64(u64 dividend, u64 divisor);
u64 mod_u64(u64 dividend, u64 divisor);

} // namespace boot
