/* SPDX-License-Identifier: MIT */
/*
 * values - what each operation finds, returns and leaves, for every type
 *
 * One thread, no wait that lasts: arithmetic alone, the same in every port.
 * Freestanding, so that it also runs where there is no library (32 bits).
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/types.hpp>
#include <operations/table.hpp>

namespace klock::tests {

/* How many facts were looked at, and the first that was wrong. */
struct report {
	unsigned checked = 0;
	unsigned failed = 0;
	const char *operation = "";
	unsigned bytes = 0; /* of the type */
	u64 found = 0, operand = 0;

	void expect(bool holds, const char *name, unsigned of_bytes, u64 was,
		    u64 with)
	{
		checked++;
		if (holds || failed++)
			return;
		operation = name;
		bytes = of_bytes;
		found = was;
		operand = with;
	}
};

inline constexpr site here{"", 0};

/* -- Of several fields in one word -- */

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

/* A value between two neighbours, which no operation on it may touch. */
template <typename T>
struct row_of_three {
	static constexpr u64 guard = 0x5555555555555555;

	atomic<T> before{value_of<T>(guard)};
	atomic<T> at;
	atomic<T> after{value_of<T>(guard)};

	explicit row_of_three(T v) : at(v) {}
	bool holds(T v) const
	{
		return at.load_relaxed() == v &&
		       before.load_relaxed() == value_of<T>(guard) &&
		       after.load_relaxed() == value_of<T>(guard);
	}
};

template <typename T>
struct value_test {
	report &out;
	u64 found_bits, operand_bits;
	T found, operand;
	T other; /* than found */

	value_test(report &r, u64 was, u64 with)
	    : out(r), found_bits(was), operand_bits(with),
	      found(value_of<T>(was)), operand(value_of<T>(with)),
	      other(value_of<T>(~was))
	{
	}

	void expect(bool holds, const char *name)
	{
		out.expect(holds, name, sizeof(T), found_bits, operand_bits);
	}

	template <typename Op>
	void load()
	{
		const row_of_three<T> x(found);

		expect((x.at.*Op::call)(here) == found, Op::name);
		expect(x.holds(found), Op::name);
	}

	template <typename Op>
	void store()
	{
		row_of_three<T> x(found);

		(x.at.*Op::call)(operand, here);
		expect(x.holds(operand), Op::name);
	}

	template <typename Op>
	void change()
	{
		row_of_three<T> x(found);
		const T made = value_of<T>(
			made_by(Op::name, bits_of(found), bits_of(operand)));

		expect((x.at.*Op::call)(operand, here) == found, Op::name);
		expect(x.holds(made), Op::name);
	}

	template <typename Op>
	void swap()
	{
		row_of_three<T> x(found);
		T expected = found;

		expect((x.at.*Op::call)(expected, operand, here), Op::name);
		expect(expected == found && x.holds(operand), Op::name);

		row_of_three<T> y(found);
		expected = other;
		expect(!(y.at.*Op::call)(expected, operand, here), Op::name);
		expect(expected == found && y.holds(found), Op::name);
	}

	template <typename Op>
	void wait()
	{
		const row_of_three<T> x(found);
		const bool eq = begins_with(Op::name, "await_eq");

		expect((x.at.*Op::call)(eq ? found : other, here) == found,
		       Op::name);
	}

	/* The waits that take callables: their predicates hold at once. */
	void wait_by_predicate()
	{
		const row_of_three<T> x(found);
		row_of_three<T> y(found);
		const auto done = [this](T v) { return v == found; };
		const auto never = [](T) { return false; };
		const auto pace = [](T) { return 1u; };

		expect(x.at.await_relaxed(done) == found, "await_relaxed");
		expect(x.at.await_acquire(done) == found, "await_acquire");
		expect(x.at.await_seq_cst(done) == found, "await_seq_cst");
		expect(x.at.await_paced_relaxed(done, pace) == found,
		       "await_paced_relaxed");
		expect(x.at.await_paced_acquire(done, pace) == found,
		       "await_paced_acquire");
		/* Nobody changes it: patience ends, at once or later. */
		const u32 numbers[] = {0, 3};
		for (const u32 looks : numbers) {
			const auto patience = [=, this](T v) {
				return v == found ? looks : endless;
			};
			expect(x.at.await_patient_relaxed(patience) == found,
			       "await_patient_relaxed");
			expect(x.at.await_patient_acquire(patience) == found,
			       "await_patient_acquire");
		}
		/* Whether it comes, or the deadline has passed. */
		const u64 deadlines[] = {0, ~u64{0}};
		for (const u64 deadline : deadlines) {
			expect(x.at.await_until_relaxed(done, deadline) ==
				       found,
			       "await_until_relaxed");
			expect(x.at.await_until_acquire(done, deadline) ==
				       found,
			       "await_until_acquire");
		}
		expect(x.at.await_until_acquire(never, 0) == found,
		       "await_until_acquire");
		expect(y.at.await_exchange_acquire(operand, done) == found,
		       "await_exchange_acquire");
		expect(y.holds(operand), "await_exchange_acquire");
		x.at.await_either_acquire(done, y.at, never);
		x.at.await_either_acquire(never, x.before,
					  [](T) { return true; });
	}

	void reads_stores_swaps_waits()
	{
		loads<T>::for_each([&]<typename Op>() { load<Op>(); });
		stores<T>::for_each([&]<typename Op>() { store<Op>(); });
		swaps<T>::for_each([&]<typename Op>() { swap<Op>(); });
		waits_for_value<T>::for_each(
			[&]<typename Op>() { wait<Op>(); });
		wait_by_predicate();
	}

	void changes()
	{
		const auto each = [&]<typename Op>() { change<Op>(); };

		exchanges<T>::for_each(each);
		if constexpr (integer<T>)
			sums<T>::for_each(each);
		if constexpr (bit_set<T>)
			bit_changes<T>::for_each(each);
	}
};

/* -- Pairs --------------------------------------------------------------- */

template <typename T>
struct pair_test {
	report &out;
	pair<T> found;
	T operand;

	void expect(bool holds, const char *name)
	{
		out.expect(holds, name, 2 * sizeof(T), found.first, operand);
	}

	template <half H>
	static T &part(pair<T> &p)
	{
		return H == half::first ? p.first : p.second;
	}

	bool holds(const atomic_pair<T> &x, pair<T> v)
	{
		return x.template load_relaxed<half::first>() == v.first &&
		       x.template load_relaxed<half::second>() == v.second;
	}

	template <half H>
	void one_half()
	{
		const T was = part<H>(found);

		half_loads<T, H>::for_each([&]<typename Op>() {
			const atomic_pair<T> x(found);
			expect((x.*Op::call)(here) == was, Op::name);
		});
		half_waits<T, H>::for_each([&]<typename Op>() {
			const atomic_pair<T> x(found);
			expect((x.*Op::call)(was, here) == was, Op::name);
		});
		half_stores<T, H>::for_each([&]<typename Op>() {
			atomic_pair<T> x(found);
			pair<T> made = found;
			part<H>(made) = operand;
			(x.*Op::call)(operand, here);
			expect(holds(x, made), Op::name);
		});
		half_exchanges<T, H>::for_each([&]<typename Op>() {
			atomic_pair<T> x(found);
			pair<T> made = found;
			part<H>(made) = operand;
			expect((x.*Op::call)(operand, here) == was, Op::name);
			expect(holds(x, made), Op::name);
		});
		half_sums<T, H>::for_each([&]<typename Op>() {
			atomic_pair<T> x(found);
			pair<T> made = found;
			part<H>(made) =
				value_of<T>(made_by(Op::name, was, operand));
			expect((x.*Op::call)(operand, here) == was, Op::name);
			expect(holds(x, made), Op::name);
		});
		atomic_pair<T> y(found);
		pair<T> put = found;
		part<H>(put) = operand;
		expect(y.template await_exchange_acquire<H>(
			       operand, [was](T v) { return v == was; }) == was,
		       "await_exchange_acquire");
		expect(holds(y, put), "await_exchange_acquire");
		const atomic_pair<T> x(found);
		expect(x.template await_paced_acquire<H>(
			       [was](T v) { return v == was; },
			       [](T) { return 1u; }) == was,
		       "await_paced_acquire");
	}

	template <typename Op>
	void swap()
	{
		const T a = found.first, b = found.second;
		const pair<T> desired{operand, value_of<T>(~u64{operand})};
		const pair<T> wrong[] = {{value_of<T>(~u64{a}), b},
					 {a, value_of<T>(~u64{b})}};

		atomic_pair<T> x(found);
		expect((x.*Op::call)(found, desired, here), Op::name);
		expect(holds(x, desired), Op::name);
		for (const pair<T> &expected : wrong) {
			atomic_pair<T> y(found);
			expect(!(y.*Op::call)(expected, desired, here),
			       Op::name);
			expect(holds(y, found), Op::name);
		}
	}

	void all()
	{
		one_half<half::first>();
		one_half<half::second>();
		pair_swaps<T>::for_each([&]<typename Op>() { swap<Op>(); });
	}
};

/*
 * Every operation, every type, by pieces: run(piece) runs piece(report) on some
 * CPU. One piece is few enough operations for one execution of the checker.
 */
template <typename Types = KLOCK_TYPES, typename Run>
inline void each_piece_of_values(Run run)
{
	Types::values::for_each([&]<typename T>() {
		for (const u64 a : samples) {
			for (const u64 b : samples) {
				run([a, b](report &out) {
					value_test<T>(out, a, b)
						.reads_stores_swaps_waits();
				});
				run([a, b](report &out) {
					value_test<T>(out, a, b).changes();
				});
			}
		}
	});
}

template <typename Types = KLOCK_TYPES, typename Run>
inline void each_piece_of_pairs(Run run)
{
	Types::pairs::for_each([&]<typename T>() {
		for (const u64 a : samples)
			for (const u64 b : samples)
				run([a, b](report &out) {
					pair_test<T>{out,
						     {value_of<T>(a),
						      value_of<T>(b)},
						     value_of<T>(b + 1)}
						.all();
				});
	});
}

/* All of them, here and now. */
template <typename Types = KLOCK_TYPES>
inline report try_all_values()
{
	report out;
	const auto at_once = [&out](auto piece) { piece(out); };

	each_piece_of_values<Types>(at_once);
	each_piece_of_pairs<Types>(at_once);
	each_piece_of_fields<Types>(at_once);
	return out;
}

} // namespace klock::tests
