/* SPDX-License-Identifier: MIT */
#include "instruction.hpp"

#include <algorithm>
#include <iterator>

namespace model {

namespace {

constexpr u8 any = 0xff;
/* Bytes of an access, or of a number behind it: as many as the operands have,
 * a vector, a general register. */
constexpr u8 operands = 0xff, vectors = 0xfe, general = 0xfd;

enum class does : u8 { read, write, change };

/* Intel's manual, volume 2, appendix A. */
struct form {
	u16 first = 0, last = 0; /* 0x0f..: of two bytes */
	u8 prefix = any;	 /* 0: it has none of 66, f2, f3 */
	u8 digit = any; /* of the byte behind it: a part of the opcode */
	u8 bytes = 0;
	does what = does::read;
	u8 number = 0; /* the bytes of the one behind it */
};

constexpr form forms[] = {
	/* mov, movsxd, movzx, movsx */
	{0x88, 0x88, any, any, 1, does::write},
	{0x89, 0x89, any, any, operands, does::write},
	{0x8a, 0x8a, any, any, 1, does::read},
	{0x8b, 0x8b, any, any, operands, does::read},
	{0xc6, 0xc6, any, 0, 1, does::write, 1},
	{0xc7, 0xc7, any, 0, operands, does::write, operands},
	{0x63, 0x63, any, any, 4, does::read},
	{0x0fb6, 0x0fb6, any, any, 1, does::read},
	{0x0fb7, 0x0fb7, any, any, 2, does::read},
	{0x0fbe, 0x0fbe, any, any, 1, does::read},
	{0x0fbf, 0x0fbf, any, any, 2, does::read},
	/* cmovcc, setcc, push, call, jmp */
	{0x0f40, 0x0f4f, any, any, operands, does::read},
	{0x0f90, 0x0f9f, any, any, 1, does::write},
	{0xff, 0xff, any, 6, 8, does::read},
	{0xff, 0xff, any, 2, 8, does::read},
	{0xff, 0xff, any, 4, 8, does::read},
	/* Arithmetic by a number, of which cmp stores nothing; test, inc, dec,
	 * not, neg, imul */
	{0x80, 0x80, any, 7, 1, does::read, 1},
	{0x81, 0x81, any, 7, operands, does::read, operands},
	{0x83, 0x83, any, 7, operands, does::read, 1},
	{0x80, 0x80, any, any, 1, does::change, 1},
	{0x81, 0x81, any, any, operands, does::change, operands},
	{0x83, 0x83, any, any, operands, does::change, 1},
	{0x84, 0x84, any, any, 1, does::read},
	{0x85, 0x85, any, any, operands, does::read},
	{0xf6, 0xf6, any, 0, 1, does::read, 1},
	{0xf7, 0xf7, any, 0, operands, does::read, operands},
	{0xf6, 0xf6, any, 2, 1, does::change},
	{0xf6, 0xf6, any, 3, 1, does::change},
	{0xf7, 0xf7, any, 2, operands, does::change},
	{0xf7, 0xf7, any, 3, operands, does::change},
	{0xfe, 0xfe, any, 0, 1, does::change},
	{0xfe, 0xfe, any, 1, 1, does::change},
	{0xff, 0xff, any, 0, operands, does::change},
	{0xff, 0xff, any, 1, operands, does::change},
	{0x0faf, 0x0faf, any, any, operands, does::read},
	/* movss, movsd, movups, movaps, movlps, movhps */
	{0x0f10, 0x0f10, 0xf3, any, 4, does::read},
	{0x0f11, 0x0f11, 0xf3, any, 4, does::write},
	{0x0f10, 0x0f10, 0xf2, any, 8, does::read},
	{0x0f11, 0x0f11, 0xf2, any, 8, does::write},
	{0x0f10, 0x0f10, any, any, vectors, does::read},
	{0x0f11, 0x0f11, any, any, vectors, does::write},
	{0x0f28, 0x0f28, any, any, vectors, does::read},
	{0x0f29, 0x0f29, any, any, vectors, does::write},
	{0x0f12, 0x0f12, 0, any, 8, does::read},
	{0x0f12, 0x0f12, 0x66, any, 8, does::read},
	{0x0f16, 0x0f16, 0, any, 8, does::read},
	{0x0f16, 0x0f16, 0x66, any, 8, does::read},
	{0x0f13, 0x0f13, any, any, 8, does::write},
	{0x0f17, 0x0f17, any, any, 8, does::write},
	/* movd, movq, movdqa, movdqu, lddqu */
	{0x0f6e, 0x0f6e, any, any, general, does::read},
	{0x0f7e, 0x0f7e, 0xf3, any, 8, does::read},
	{0x0f7e, 0x0f7e, any, any, general, does::write},
	{0x0fd6, 0x0fd6, 0x66, any, 8, does::write},
	{0x0f6f, 0x0f6f, 0, any, 8, does::read},
	{0x0f7f, 0x0f7f, 0, any, 8, does::write},
	{0x0f6f, 0x0f6f, any, any, vectors, does::read},
	{0x0f7f, 0x0f7f, any, any, vectors, does::write},
	{0x0ff0, 0x0ff0, 0xf2, any, vectors, does::read},
	/* fld, fst, fstp */
	{0xd9, 0xd9, any, 0, 4, does::read},
	{0xd9, 0xd9, any, 2, 4, does::write},
	{0xd9, 0xd9, any, 3, 4, does::write},
	{0xdd, 0xdd, any, 0, 8, does::read},
	{0xdd, 0xdd, any, 2, 8, does::write},
	{0xdd, 0xdd, any, 3, 8, does::write},
	{0xdb, 0xdb, any, 5, 10, does::read},
	{0xdb, 0xdb, any, 7, 10, does::write},
};

using klock::arch::hooked::update;

/* Describes an instruction that locks. Of two opcodes, the first is of bytes.
 */
struct atomic_form {
	u16 first, last;
	u8 digit;
	update by{};
	/* The register, or the number behind it; a bit by one of these. swap,
	 * pair: cmpxchg, cmpxchg8b. */
	enum class from : u8 { given, one, ones, bit, swap, pair } operand{};
	bool number = false;
};

/* Not: adc, sbb, neg, cmpxchg16b. */
constexpr atomic_form atomics[] = {
	{0x00, 0x01, any, update::add},
	{0x08, 0x09, any, update::bit_or},
	{0x20, 0x21, any, update::bit_and},
	{0x28, 0x29, any, update::subtract},
	{0x30, 0x31, any, update::bit_xor},
	{0x86, 0x87, any, update::exchange},
	{0x0fc0, 0x0fc1, any, update::add},
	{0x0fb0, 0x0fb1, any, {}, atomic_form::from::swap},
	{0x0fc7, 0x0fc7, 1, {}, atomic_form::from::pair},
	{0xfe, 0xff, 0, update::add, atomic_form::from::one},
	{0xfe, 0xff, 1, update::subtract, atomic_form::from::one},
	{0xf6, 0xf7, 2, update::bit_xor, atomic_form::from::ones},
	{0x0fab, 0x0fab, any, update::bit_or, atomic_form::from::bit},
	{0x0fb3, 0x0fb3, any, update::bit_and, atomic_form::from::bit},
	{0x0fbb, 0x0fbb, any, update::bit_xor, atomic_form::from::bit},
	{0x0fba, 0x0fba, 5, update::bit_or, atomic_form::from::bit, true},
	{0x0fba, 0x0fba, 6, update::bit_and, atomic_form::from::bit, true},
	{0x0fba, 0x0fba, 7, update::bit_xor, atomic_form::from::bit, true},
	{0x81, 0x81, 0, update::add, {}, true},
	{0x81, 0x81, 1, update::bit_or, {}, true},
	{0x81, 0x81, 4, update::bit_and, {}, true},
	{0x81, 0x81, 5, update::subtract, {}, true},
	{0x81, 0x81, 6, update::bit_xor, {}, true},
	{0x80, 0x83, 0, update::add, {}, true},
	{0x80, 0x83, 1, update::bit_or, {}, true},
	{0x80, 0x83, 4, update::bit_and, {}, true},
	{0x80, 0x83, 5, update::subtract, {}, true},
	{0x80, 0x83, 6, update::bit_xor, {}, true},
};

struct decoder {
	const u8 *next;
	u64 at; /* the address of that byte */
	const registers &with;

	bool word = false;    /* 66 */
	u8 repeats = 0;	      /* f2, f3 */
	bool local = false;   /* %fs */
	bool strange = false; /* other prefixes */
	bool locks = false;
	bool has_rex = false;
	bool wide = false; /* operands of 8 bytes */
	bool long_one = false, is_256 = false;
	u8 more = 0; /* fourth bits: 1 of the base, 2 of the index, 4 of the
			register */
	u16 opcode = 0;

	u8 byte()
	{
		at++;
		return *next++;
	}
	u64 number(u8 bytes)
	{
		u64 n = 0;

		for (u8 i = 0; i < bytes; i++)
			n |= u64{byte()} << 8 * i;
		if (bytes && bytes < 8 && n >> (8 * bytes - 1))
			n |= ~u64{0} << 8 * bytes;
		return n;
	}
	usize operand() const { return wide ? 8 : word ? 2 : 4; }

	void read_prefixes();
	void read_opcode();
	u64 address(u8 mode, u8 number_behind);
	footprint string() const;
	u64 value_of(u8 number, usize bytes) const;
	footprint fence(u8 mode) const;
	footprint operands_of(const atomic_form &, u8 reg, u64 where,
			      usize bytes);
	footprint atomic(u8 mode);
	form form_of(u8 digit) const;
	footprint find();
};

void decoder::read_prefixes()
{
	for (;; byte()) {
		if (*next == 0x66)
			word = true;
		else if (*next == 0xf2 || *next == 0xf3)
			repeats = *next;
		else if (*next == 0x64)
			local = true;
		else if (*next == 0xf0)
			locks = true;
		else if (*next == 0x65 || *next == 0x67)
			strange = true;
		else if (*next != 0x2e && *next != 0x3e)
			break;
	}
	if (*next >> 4 == 4) {
		const u8 rex = byte();
		has_rex = true;
		wide = rex & 8;
		more = rex & 7;
	}
}

/* A VEX prefix has the others in two bytes or three, inverted in part. */
void decoder::read_opcode()
{
	constexpr u8 prefix[] = {0, 0x66, 0xf3, 0xf2};
	const u8 first = byte();

	opcode = first;
	if (first == 0x0f)
		opcode = static_cast<u16>(0x0f00 | byte());
	if (first != 0xc4 && first != 0xc5)
		return;
	u8 last = byte();
	long_one = true;
	if (first == 0xc4) {
		more = static_cast<u8>(~last >> 5 & 3);
		strange |= (last & 0x1f) != 1;
		last = byte();
		wide = last & 0x80;
	}
	is_256 = last & 4;
	word = prefix[last & 3] == 0x66;
	repeats = word ? u8{0} : prefix[last & 3];
	opcode = static_cast<u16>(0x0f00 | byte());
}

/* The address by this byte and what follows it, up to the next instruction. */
u64 decoder::address(u8 mode, u8 number_behind)
{
	const u8 how = mode >> 6, low = mode & 7;
	const u8 scaled = low == 4 ? byte() : low;
	const u8 base = scaled & 7;
	const u8 index = static_cast<u8>((scaled >> 3 & 7) | (more & 2) << 2);
	u64 sum = 0;

	if (how != 0 || base != 5)
		sum = with.of[base | (more & 1) << 3];
	if (low == 4 && index != 4)
		sum += with.of[index] << (scaled >> 6);
	if (how == 1)
		sum += number(1);
	else if (how == 2 || (how == 0 && base == 5))
		sum += number(4);
	/* From the next instruction on. */
	return how == 0 && low == 5 ? sum + at + number_behind : sum;
}

/* movs, stos, lods */
footprint decoder::string() const
{
	constexpr u64 backwards = 0x400;
	const u64 count = repeats ? with.of[1] : 1;
	const usize bytes = count * (opcode & 1 ? operand() : 1);
	const u64 from = with.of[6], to = with.of[7];
	footprint found;

	if (with.flags & backwards || !bytes)
		return found;
	if (opcode < 0xaa || opcode > 0xab)
		found.add(from, bytes, false);
	if (opcode < 0xac)
		found.add(to, bytes, true);
	return found;
}

/* lfence, mfence and sfence, which have no operand; another accesses nothing.
 */
footprint decoder::fence(u8 mode) const
{
	using klock::order;
	constexpr order orders[] = {order::acquire, order::seq_cst,
				    order::release};
	const unsigned digit = mode >> 3 & 7;
	footprint found;

	if (opcode == 0x0fae && digit >= 5 && !repeats && !word) {
		found.is = footprint::what::fence;
		found.fence = orders[digit - 5];
	}
	return found;
}

/* A register's; of one byte, without REX, 4 .. 7 are the second bytes. */
u64 decoder::value_of(u8 number, usize bytes) const
{
	const u64 mask = bytes == 8 ? ~u64{0} : (u64{1} << 8 * bytes) - 1;

	if (bytes == 1 && !has_rex && number > 3)
		return with.of[number - 4] >> 8 & mask;
	return with.of[number] & mask;
}

/* The address of the word in which that bit is, and the bit in it. */
static u64 word_of_bit(u64 at, u64 &bit, usize bytes)
{
	constexpr u64 sign = u64{1} << 63;
	const unsigned shift = bytes == 8 ? 6 : bytes == 4 ? 5 : 4;
	const u64 words = bit >> shift | (bit & sign ? ~(~u64{0} >> shift) : 0);

	bit &= 8 * bytes - 1;
	return at + words * bytes;
}

/* The operands of one that locks, whose memory is there. */
footprint decoder::operands_of(const atomic_form &f, u8 reg, u64 where,
			       usize bytes)
{
	using from = atomic_form::from;
	footprint found;
	u64 n = value_of(reg, bytes);

	if (f.number)
		n = number(f.first == 0x81 ? static_cast<u8>(word ? 2 : 4)
					   : u8{1});
	if (f.operand == from::one)
		n = 1;
	if (f.operand == from::ones)
		n = ~u64{0};
	if (f.operand == from::bit) {
		if (!f.number && bytes == 4)
			n = static_cast<u64>(static_cast<int>(n));
		where = f.number ? where : word_of_bit(where, n, bytes);
		n = u64{1} << (n & (8 * bytes - 1));
		n = f.by == update::bit_and ? ~n : n;
	}
	found.is = footprint::what::update;
	found.by = f.by;
	found.operand = n;
	if (f.operand == from::swap || f.operand == from::pair)
		found.is = footprint::what::swap;
	found.expected = value_of(0, bytes);
	if (f.operand == from::pair) {
		found.expected = value_of(0, 4) | value_of(2, 4) << 32;
		found.operand = value_of(3, 4) | value_of(1, 4) << 32;
	}
	found.add(where, bytes, true);
	return found;
}

/* xchg, and what locks: it is a fence, too. */
footprint decoder::atomic(u8 mode)
{
	const u8 digit = mode >> 3 & 7;
	const bool is_on_stack =
		(mode & 7) == 4 && (*next & 7) == 4 && !(more & 1);
	const auto is = [this, digit](const atomic_form &f) {
		return opcode >= f.first && opcode <= f.last &&
		       (f.digit == any || f.digit == digit);
	};
	const auto *const f =
		std::find_if(std::begin(atomics), std::end(atomics), is);

	if (f == std::end(atomics) || (opcode == 0x0fc7 && wide))
		return {};
	const bool is_byte = f->last > f->first && !(opcode & 1);
	const usize bytes = f->operand == atomic_form::from::pair ? 8
			    : is_byte				  ? 1
								  : operand();
	const u8 behind = !f->number	     ? u8{0}
			  : f->first != 0x81 ? u8{1}
			  : word	     ? u8{2}
					     : u8{4};
	const u64 where = address(mode, behind) + (local ? with.local : 0);
	footprint found = operands_of(
		*f, static_cast<u8>(digit | (more & 4) << 1), where, bytes);
	found.fence = klock::order::seq_cst;
	/* Linux's fence: it changes nothing of its own stack. */
	if (is_on_stack && f->number && !found.operand &&
	    f->by != update::bit_and) {
		found.is = footprint::what::fence;
		found.many = 0;
	}
	return found;
}

/* The opcode's form, by what is before and behind it; no bytes: it has none. */
form decoder::form_of(u8 digit) const
{
	const u8 prefix = repeats ? repeats : word ? u8{0x66} : u8{0};

	/* add, or, adc, sbb, and, sub, xor, cmp: with a register */
	if (opcode < 0x40 && (opcode & 7) < 4)
		return {opcode,
			opcode,
			any,
			any,
			opcode & 1 ? operands : u8{1},
			opcode & 2 || opcode >= 0x38 ? does::read
						     : does::change};
	/* Among the long ones these are others. */
	if (long_one &&
	    (opcode < 0x0f10 || opcode >> 4 == 0xf4 || opcode >> 4 == 0xf9))
		return {};
	for (const form &r : forms)
		if (opcode >= r.first && opcode <= r.last &&
		    (r.prefix == any || r.prefix == prefix) &&
		    (r.digit == any || r.digit == digit))
			return r;
	return {};
}

footprint decoder::find()
{
	footprint found;

	read_prefixes();
	read_opcode();
	if (strange)
		return found;
	if ((opcode >= 0xa4 && opcode <= 0xa5) ||
	    (opcode >= 0xaa && opcode <= 0xad))
		return string();

	const u8 mode = byte();
	if (mode >> 6 == 3)
		return fence(mode);
	if (locks || (opcode >= 0x86 && opcode <= 0x87))
		return atomic(mode);
	const form is = form_of(mode >> 3 & 7);
	if (!is.bytes)
		return found;
	const u8 behind = is.number == operands ? static_cast<u8>(word ? 2 : 4)
						: is.number;
	const u64 where = address(mode, behind) + (local ? with.local : 0);
	usize bytes = is.bytes;
	if (bytes == operands)
		bytes = operand();
	else if (bytes == vectors)
		bytes = is_256 ? 32 : 16;
	else if (bytes == general)
		bytes = wide ? 8 : 4;
	if (is.what == does::change)
		found.add(where, bytes, false);
	found.add(where, bytes, is.what != does::read);
	return found;
}

} // namespace

footprint footprint_of(const u8 *code, u64 at, const registers &with)
{
	return decoder{code, at, with}.find();
}

} // namespace model
