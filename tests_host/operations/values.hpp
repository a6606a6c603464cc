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

/* A test that one CPU runs in one go, for one type and two samples. */
struct piece {
	void (*run)(report &, u64, u64);
	u64 a, b;

	void operator()(report &out) const { run(out, a, b); }
};

inline constexpr site here{"", 0};

/* -- Several fields in one word -- */

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
		if (x.load_relaxed(field<I>{}) != v.at[I])
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

		for (const auto &op :
		     calls<field_loads<atomic_fields<T, N>, I>>::all) {
			const atomic_fields<T, N> x(found);
			expect((x.*op.call)(field<I>{}, here) == was, op.name);
		}
		for (const auto &op :
		     calls<field_waits<atomic_fields<T, N>, I>>::all) {
			const atomic_fields<T, N> x(found);
			expect((x.*op.call)(field<I>{}, was, here) == was,
			       op.name);
		}
		for (const auto &op :
		     calls<field_stores<atomic_fields<T, N>, I>>::all) {
			atomic_fields<T, N> x(found);
			(x.*op.call)(field<I>{}, operand, here);
			expect(holds(x, with(I, operand)), op.name);
		}
		change_field<I, field_exchanges<atomic_fields<T, N>, I>>(was);
		change_field<I, field_sums<atomic_fields<T, N>, I>>(was);
		const atomic_fields<T, N> x(found);
		expect(x.await_acquire(field<I>{}, is) == was, "await_acquire");
	}

	template <usize I, typename List>
	void change_field(T was)
	{
		for (const auto &op : calls<List>::all) {
			atomic_fields<T, N> x(found);
			const T made =
				value_of<T>(made_by(op.name, was, operand));

			expect((x.*op.call)(field<I>{}, operand, here) == was,
			       op.name);
			expect(holds(x, with(I, made)), op.name);
		}
	}

	void swap()
	{
		fields<T, N> desired = found;

		for (usize i = 0; i < N; i++)
			desired.at[i] = value_of<T>(operand + i);
		for (const auto &op : calls<field_swaps<T, N>>::all) {
			atomic_fields<T, N> x(found);
			expect((x.*op.call)(found, desired, here), op.name);
			expect(holds(x, desired), op.name);
			for (usize i = 0; i < N; i++) {
				atomic_fields<T, N> y(found);
				const auto other =
					with(i, value_of<T>(~u64{found.at[i]}));
				expect(!(y.*op.call)(other, desired, here),
				       op.name);
				expect(holds(y, found), op.name);
			}
		}
	}

	/* Two fields or one, up or down, to anything. */
	void advance(usize i, usize j)
	{
		fields<T, N> from{}, to{}, made = found;

		from.at[i] = found.at[i];
		from.at[j] = found.at[j];
		to.at[i] = made.at[i] = operand;
		to.at[j] = made.at[j] = value_of<T>(~u64{operand});
		for (const auto &op : calls<field_advances<T, N>>::all) {
			atomic_fields<T, N> x(found);
			(x.*op.call)(from, to, here);
			expect(holds(x, made), op.name);
		}
	}

	/* A part of a field: its two low bits, and no more. */
	void advance_part()
	{
		const T bits = value_of<T>(found.at[0] & 3);
		const fields<T, N> from{{bits}};

		for (const auto &op : calls<field_advances<T, N>>::all) {
			atomic_fields<T, N> x(found);
			(x.*op.call)(from, {}, here);
			expect(holds(x,
				     with(0, value_of<T>(found.at[0] - bits))),
			       op.name);
		}
	}

	static field_test of(report &out, u64 a, u64 b)
	{
		fields<T, N> found;

		for (usize i = 0; i < N; i++)
			found.at[i] = value_of<T>(i % 2 ? b : a);
		return {out, found, value_of<T>(b + 1)};
	}

	static void each_field(report &out, u64 a, u64 b)
	{
		field_test test = of(out, a, b);

		test.template one_field<0>();
		test.template one_field<N - 2>();
		test.template one_field<N - 1>();
	}

	static void all_fields(report &out, u64 a, u64 b)
	{
		field_test test = of(out, a, b);

		test.swap();
		for (usize i = 0; i < N; i++)
			for (usize j = i; j < N; j++)
				test.advance(i, j);
		test.advance_part();
	}
};

template <typename Types = KLOCK_TYPES, typename Run>
inline void each_piece_of_fields(Run run)
{
	Types::fields::for_each([&]<typename T, usize N>() {
		using test = field_test<T, N>;

		for (const u64 a : samples) {
			for (const u64 b : samples) {
				run(piece{test::each_field, a, b});
				run(piece{test::all_fields, a, b});
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
	atomic<T> after{value_of<T>(~guard)};

	explicit row_of_three(T v) : at(v) {}
	bool holds(T v) const
	{
		return at.load_relaxed() == v &&
		       before.load_relaxed() == value_of<T>(guard) &&
		       after.load_relaxed() == value_of<T>(~guard);
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

	void load()
	{
		for (const auto &op : calls<loads<T>>::all) {
			const row_of_three<T> x(found);

			expect((x.at.*op.call)(here) == found, op.name);
			expect(x.holds(found), op.name);
		}
	}

	void store()
	{
		for (const auto &op : calls<stores<T>>::all) {
			row_of_three<T> x(found);

			(x.at.*op.call)(operand, here);
			expect(x.holds(operand), op.name);
		}
	}

	/*
	 * Checks a list of operations that change the value and return the old
	 * one.
	 */
	template <typename List>
	void change()
	{
		for (const auto &op : calls<List>::all) {
			row_of_three<T> x(found);
			const T made = value_of<T>(made_by(
				op.name, bits_of(found), bits_of(operand)));

			expect((x.at.*op.call)(operand, here) == found,
			       op.name);
			expect(x.holds(made), op.name);
		}
	}

	void swap()
	{
		for (const auto &op : calls<swaps<T>>::all) {
			row_of_three<T> x(found);
			T expected = found;

			expect((x.at.*op.call)(expected, operand, here),
			       op.name);
			expect(expected == found && x.holds(operand), op.name);

			row_of_three<T> y(found);
			expected = other;
			expect(!(y.at.*op.call)(expected, operand, here),
			       op.name);
			expect(expected == found && y.holds(found), op.name);
		}
	}

	void wait()
	{
		for (const auto &op : calls<waits_for_value<T>>::all) {
			const row_of_three<T> x(found);
			const bool eq = begins_with(op.name, "await_eq");

			expect((x.at.*op.call)(eq ? found : other, here) ==
				       found,
			       op.name);
		}
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

	static void reads_stores_swaps_waits(report &out, u64 a, u64 b)
	{
		value_test test(out, a, b);

		test.load();
		test.store();
		test.swap();
		test.wait();
		test.wait_by_predicate();
	}

	static void changes(report &out, u64 a, u64 b)
	{
		value_test test(out, a, b);

		test.template change<exchanges<T>>();
		if constexpr (integer<T>)
			test.template change<sums<T>>();
		if constexpr (bit_set<T>)
			test.template change<bit_changes<T>>();
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

	template <usize I>
	static auto &part(auto &p)
	{
		return I == 0 ? p.first : p.second;
	}

	bool holds(const atomic_pair<T> &x, pair<T> v)
	{
		return x.load_relaxed(half::first) == v.first &&
		       x.load_relaxed(half::second) == v.second;
	}

	/* found, but for one half. */
	template <usize I>
	pair<T> with(T v) const
	{
		pair<T> made = found;

		part<I>(made) = v;
		return made;
	}

	template <usize I>
	void one_half()
	{
		const T was = part<I>(found);

		for (const auto &op :
		     calls<field_loads<atomic_pair<T>, I>>::all) {
			const atomic_pair<T> x(found);
			expect((x.*op.call)(field<I>{}, here) == was, op.name);
		}
		for (const auto &op :
		     calls<field_waits<atomic_pair<T>, I>>::all) {
			const atomic_pair<T> x(found);
			expect((x.*op.call)(field<I>{}, was, here) == was,
			       op.name);
		}
		for (const auto &op :
		     calls<field_stores<atomic_pair<T>, I>>::all) {
			atomic_pair<T> x(found);
			(x.*op.call)(field<I>{}, operand, here);
			expect(holds(x, with<I>(operand)), op.name);
		}
		change_half<I, field_exchanges<atomic_pair<T>, I>>(was);
		change_half<I, field_sums<atomic_pair<T>, I>>(was);
		wait_for_half<I>(was);
	}

	template <usize I, typename List>
	void change_half(T was)
	{
		for (const auto &op : calls<List>::all) {
			atomic_pair<T> x(found);
			const T made =
				value_of<T>(made_by(op.name, was, operand));

			expect((x.*op.call)(field<I>{}, operand, here) == was,
			       op.name);
			expect(holds(x, with<I>(made)), op.name);
		}
	}

	template <usize I>
	void wait_for_half(T was)
	{
		atomic_pair<T> y(found);
		expect(y.await_exchange_acquire(
			       field<I>{}, operand,
			       [was](T v) { return v == was; }) == was,
		       "await_exchange_acquire");
		expect(holds(y, with<I>(operand)), "await_exchange_acquire");
		const atomic_pair<T> x(found);
		expect(x.await_paced_acquire(
			       field<I>{}, [was](T v) { return v == was; },
			       [](T) { return 1u; }) == was,
		       "await_paced_acquire");
	}

	void swap()
	{
		const T a = found.first, b = found.second;
		const pair<T> desired{operand, value_of<T>(~u64{operand})};
		const pair<T> wrong[] = {{value_of<T>(~u64{a}), b},
					 {a, value_of<T>(~u64{b})}};

		for (const auto &op : calls<pair_swaps<T>>::all) {
			atomic_pair<T> x(found);
			expect((x.*op.call)(found, desired, here), op.name);
			expect(holds(x, desired), op.name);
			for (const pair<T> &expected : wrong) {
				atomic_pair<T> y(found);
				expect(!(y.*op.call)(expected, desired, here),
				       op.name);
				expect(holds(y, found), op.name);
			}
		}
	}

	static void all(report &out, u64 a, u64 b)
	{
		pair_test test{out,
			       {value_of<T>(a), value_of<T>(b)},
			       value_of<T>(b + 1)};

		test.template one_half<0>();
		test.template one_half<1>();
		test.swap();
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
		using test = value_test<T>;

		for (const u64 a : samples) {
			for (const u64 b : samples) {
				run(piece{test::reads_stores_swaps_waits, a,
					  b});
				run(piece{test::changes, a, b});
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
				run(piece{pair_test<T>::all, a, b});
	});
}

/* All of them, here and now. */
template <typename Types = KLOCK_TYPES>
inline report try_all_values()
{
	report out;
	const auto at_once = [&out](piece one) { one(out); };

	each_piece_of_values<Types>(at_once);
	each_piece_of_pairs<Types>(at_once);
	each_piece_of_fields<Types>(at_once);
	return out;
}

} // namespace klock::tests
