/* SPDX-License-Identifier: MIT */
/*
 * waits - a wait that sleeps until the location changes: RISC-V with Zawrs
 *
 * The last part of atomic_ops.hpp, which includes it behind what it needs.
 */
#pragma once

#include <klock/arch/instructions.hpp>
#include <klock/arch/part_of_word.hpp>

namespace klock::arch {

namespace riscv {

template <order O, typename W>
inline W read_and_reserve(const W *at)
{
	if constexpr (narrow<W>) {
		const part_of_word part(at);

		return part.down(load_reserved<O>(part.word));
	} else {
		return load_reserved<O>(at);
	}
}

} // namespace riscv

/*
 * A first look, which is enough for most; then asleep between two others. From
 * a read to WRS.NTO there may be nothing but `done`, and it reserves nothing:
 * what changes the location ends the reservation, and that ends the sleep.
 */
template <order O, typename T, typename Predicate>
requires atomic_value<T>
inline T await(const cell<T> &at, Predicate done, site s)
{
	const T first = load<O>(at, s);
	if (done(first))
		return first;
	for (;;) {
		const T v = __builtin_bit_cast(
			T, riscv::read_and_reserve<O>(riscv::word_at(at)));
		if (done(v))
			return v;
		riscv::wait_on_reservation();
	}
}

} // namespace klock::arch
