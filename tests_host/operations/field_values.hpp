/* SPDX-License-Identifier: MIT */
/*
 * field_values - what each operation on several fields in one word leaves
 *
 * The second part of values.hpp, which includes it.
 */
#pragma once

#include <operations/report.hpp>
#include <operations/table.hpp>

namespace klock::tests {

template <typename T, usize N>
struct field_test {
	report &out;
	fields<T, N> found;
	T operand;

	void expect(bool holds, const char *name)
	{
		out.expect(holds, name, N * sizeof(T), found.at[0], operand);
	}

	template <usize I = 0>
	static bool holds(const atomic_fields<T, N> &x, fields<T, N> v)
	{
		if (x.template load_relaxed<I>() != v.at[I])
			return false;
		if constexpr (I + 1 < N)
			return holds<I + 1>(x, v);
		return true;
	}

	/* found, but for one field. */
	fields<T, N> with(usize i, T v) const
	{
		fields<T, N> made = found;

		made.at[i] = v;
		return made;
	}

	template <usize I>
	void one_field()
	{
		const T was = found.at[I];
		const auto is = [was](T v) { return v == was; };

		field_loads<T, N, I>::for_each([&]<typename Op>() {
			const atomic_fields<T, N> x(found);
			expect((x.*Op::call)(here) == was, Op::name);
		});
		field_waits<T, N, I>::for_each([&]<typename Op>() {
			const atomic_fields<T, N> x(found);
			expect((x.*Op::call)(was, here) == was, Op::name);
		});
		field_stores<T, N, I>::for_each([&]<typename Op>() {
			atomic_fields<T, N> x(found);
			(x.*Op::call)(operand, here);
			expect(holds(x, with(I, operand)), Op::name);
		});
		field_exchanges<T, N, I>::for_each([&]<typename Op>() {
			atomic_fields<T, N> x(found);
			expect((x.*Op::call)(operand, here) == was, Op::name);
			expect(holds(x, with(I, operand)), Op::name);
		});
		field_sums<T, N, I>::for_each([&]<typename Op>() {
			atomic_fields<T, N> x(found);
			const T made =
				value_of<T>(made_by(Op::name, was, operand));
			expect((x.*Op::call)(operand, here) == was, Op::name);
			expect(holds(x, with(I, made)), Op::name);
		});
		const atomic_fields<T, N> x(found);
		expect(x.template await_acquire<I>(is) == was, "await_acquire");
	}

	template <typename Op>
	void swap()
	{
		fields<T, N> desired = found;

		for (usize i = 0; i < N; i++)
			desired.at[i] = value_of<T>(operand + i);
		atomic_fields<T, N> x(found);
		expect((x.*Op::call)(found, desired, here), Op::name);
		expect(holds(x, desired), Op::name);
		for (usize i = 0; i < N; i++) {
			atomic_fields<T, N> y(found);
			const auto other =
				with(i, value_of<T>(~u64{found.at[i]}));
			expect(!(y.*Op::call)(other, desired, here), Op::name);
			expect(holds(y, found), Op::name);
		}
	}

	/* Any field or two of them, up or down, to anything. */
	template <typename Op>
	void advance()
	{
		for (usize i = 0; i < N; i++) {
			for (usize j = i; j < N; j++) {
				atomic_fields<T, N> x(found);
				fields<T, N> from{}, to{}, made = found;
				from.at[i] = found.at[i];
				from.at[j] = found.at[j];
				to.at[i] = made.at[i] = operand;
				to.at[j] = made.at[j] =
					value_of<T>(~u64{operand});
				(x.*Op::call)(from, to, here);
				expect(holds(x, made), Op::name);
			}
		}
	}

	/* A part of a field: its two low bits, and no more. */
	template <typename Op>
	void advance_part()
	{
		atomic_fields<T, N> x(found);
		const T bits = value_of<T>(found.at[0] & 3);
		fields<T, N> from{{bits}};

		(x.*Op::call)(from, {}, here);
		expect(holds(x, with(0, value_of<T>(found.at[0] - bits))),
		       Op::name);
	}

	void each_field()
	{
		one_field<0>();
		one_field<N - 2>();
		one_field<N - 1>();
	}

	void all_fields()
	{
		field_swaps<T, N>::for_each([&]<typename Op>() { swap<Op>(); });
		field_advances<T, N>::for_each([&]<typename Op>() {
			advance<Op>();
			advance_part<Op>();
		});
	}
};

template <typename T, usize N>
inline field_test<T, N> field_test_of(report &out, u64 a, u64 b)
{
	fields<T, N> found;

	for (usize i = 0; i < N; i++)
		found.at[i] = value_of<T>(i % 2 ? b : a);
	return {out, found, value_of<T>(b + 1)};
}

template <typename Types = KLOCK_TYPES, typename Run>
inline void each_piece_of_fields(Run run)
{
	Types::fields::for_each([&]<typename T, usize N>() {
		for (const u64 a : samples) {
			for (const u64 b : samples) {
				run([a, b](report &out) {
					field_test_of<T, N>(out, a, b)
						.each_field();
				});
				run([a, b](report &out) {
					field_test_of<T, N>(out, a, b)
						.all_fields();
				});
			}
		}
	});
}

} // namespace klock::tests
