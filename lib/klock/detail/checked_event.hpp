/* SPDX-License-Identifier: MIT */
/*
 * checked_event - a checked semaphore, completion, condition, wait_queue or
 * futex_table
 *
 * Part of <klock/checked_lock.hpp>: include that.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/checked.hpp>

namespace klock {

struct futex_key;

namespace detail {
struct sleeper;

/* A futex_table. */
template <typename L>
concept slept_on = requires {
	typename L::waiter;
	L::any_bit;
};

/* The name if one was given, else null. */
template <lock_name... Name>
constexpr named name_in()
{
	named of;

	((of = named{Name}), ...);
	return of;
}

/* A guard of klock's, or a lock, which a wait can release and take back. */
template <typename T>
concept can_let_go = requires(T &held) { held.let_go(); } || plain_lock<T>;

/* A wait calls it again and again. */
template <typename T>
concept predicate = requires(T &ready) { ready(); };

/* A predicate, or a guard or lock that outlives the wait. */
template <typename T>
concept waited_on = predicate<T> || same_as<T, T &>;
} // namespace detail

/*
 * A checked semaphore, completion, condition, wait_queue or futex_table:
 * threads sleep for it and nobody holds it. Its waits are checked, a
 * condition's after it has released its lock, and print_held.hpp shows them.
 * All else is L's.
 */
template <detail::awaited L, lock_name... Name>
struct checked_lock<L, Name...> : L {
	constexpr checked_lock() : checked_lock(detail::name_in<Name...>()) {}
	/* The units that a semaphore has at first. */
	constexpr explicit checked_lock(u32 units, call_site by = caller_site())
	    : checked_lock(detail::name_in<Name...>(), units, by)
	{
	}
	/* klock::named(). */
	constexpr explicit checked_lock(detail::named of)
	    : usage(of.name, of.hash)
	{
	}
	constexpr explicit checked_lock(detail::named of, u32 units,
					call_site by = caller_site())
	    : L(units), usage(of.name, of.hash)
	{
		if (!__builtin_is_constant_evaluated() && units > L::most)
			usage.complain("more units than the semaphore's bound",
				       by);
	}

	void acquire(call_site by = caller_site())
		requires requires(L &l) { l.acquire(); }
	{
		until_it_may(*this, by, [&](auto &) {
			return this->unchecked().acquire(), true;
		});
	}
	[[nodiscard]] bool try_acquire_until(u64 deadline,
					     call_site by = caller_site())
		requires requires(L &l) { l.acquire(); }
	{
		return until_it_may(*this, by, [&](auto &) {
			return this->unchecked().try_acquire_until(deadline);
		});
	}
	[[nodiscard]] bool try_acquire_for(u64 how_long,
					   call_site by = caller_site())
		requires requires(L &l) { l.acquire(); }
	{
		return try_acquire_until(deadline_in(how_long), by);
	}
	[[nodiscard]] bool try_acquire(call_site by = caller_site())
		requires requires(L &l) { l.try_acquire(); }
	{
		const over_inner seen(usage, by);

		return L::try_acquire();
	}
	bool release(call_site by = caller_site())
		requires requires(L &l) { l.release(); }
	{
		const over_inner seen(usage, by);

		sets(by);
		const bool kept = L::release();

		if (!kept)
			usage.complain("release() beyond the semaphore's bound",
				       by);
		return kept;
	}

	/* A completion's. */
	void set(call_site by = caller_site())
		requires requires(L &l) { l.set(); }
	{
		const over_inner seen(usage, by);

		sets(by);
		L::set();
	}
	void reset(call_site by = caller_site())
		requires requires(L &l) { l.reset(); }
	{
		const over_inner seen(usage, by);

		if (L::is_contended())
			usage.complain("reset() while a thread waits", by);
		L::reset();
	}
	[[nodiscard]] bool is_set(call_site by = caller_site()) const
		requires requires(const L &l) { l.is_set(); }
	{
		const over_inner seen(usage, by);

		return L::is_set();
	}
	[[nodiscard]] bool is_contended(call_site by = caller_site()) const
		requires requires(const L &l) { l.is_contended(); }
	{
		const over_inner seen(usage, by);

		return L::is_contended();
	}

	/* A condition's. */
	void notify_one(call_site by = caller_site())
		requires requires(L &l) { l.notify_one(); }
	{
		const over_inner seen(usage, by);

		sets(by);
		L::notify_one();
	}
	void notify_all(call_site by = caller_site())
		requires requires(L &l) { l.notify_all(); }
	{
		const over_inner seen(usage, by);

		sets(by);
		L::notify_all();
	}

	/* A wait_queue's. */
	template <typename Change>
	void wake_one(Change change, call_site by = caller_site())
		requires requires(L &l) {
			l.wake_one(static_cast<Change &&>(change));
		}
	{
		const over_inner seen(usage, by);

		sets(by);
		L::wake_one([&] { return under_inner(change, by); });
	}
	template <typename Change>
	void wake_all(Change change, call_site by = caller_site())
		requires requires(L &l) {
			l.wake_all(static_cast<Change &&>(change));
		}
	{
		const over_inner seen(usage, by);

		sets(by);
		L::wake_all([&] { return under_inner(change, by); });
	}

	/* A futex_table's. Its looks and changes are checked as those of a
	 * wait_queue. */
	template <typename Look>
	[[nodiscard]] auto wait(const futex_key &key, Look look,
				u32 mask = ~u32{0},
				call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return until_woken(by, look, [&](auto &to) {
			return this->unchecked().wait(key, to, mask);
		});
	}
	template <typename Look>
	[[nodiscard]] auto wait_until(const futex_key &key, Look look,
				      u64 deadline, u32 mask = ~u32{0},
				      call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return until_woken(by, look, [&](auto &to) {
			return this->unchecked().wait_until(key, to, deadline,
							    mask);
		});
	}
	template <typename Look>
	[[nodiscard]] auto wait_for(const futex_key &key, Look look,
				    u64 how_long, u32 mask = ~u32{0},
				    call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return wait_until(key, look, deadline_in(how_long), mask, by);
	}
	template <typename Node, typename Look>
	[[nodiscard]] auto wait_any(Node *nodes, const futex_key *keys, u32 n,
				    Look look, call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return until_woken(by, look, [&](auto &to) {
			return this->unchecked().wait_any(nodes, keys, n, to);
		});
	}
	template <typename Node, typename Look>
	[[nodiscard]] auto wait_any_until(Node *nodes, const futex_key *keys,
					  u32 n, Look look, u64 deadline,
					  call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return until_woken(by, look, [&](auto &to) {
			return this->unchecked().wait_any_until(nodes, keys, n,
								to, deadline);
		});
	}
	u32 wake(const futex_key &key, u32 most, u32 mask = ~u32{0},
		 call_site by = caller_site())
		requires detail::slept_on<L>
	{
		return wake(
			key, most, mask, [] {}, by);
	}
	template <typename Change>
	u32 wake(const futex_key &key, u32 most, u32 mask, Change change,
		 call_site by = caller_site())
		requires detail::slept_on<L>
	{
		const over_inner seen(usage, by);

		sets(by);
		return L::wake(key, most, mask,
			       [&] { under_inner(change, by); });
	}
	template <typename Look>
	auto requeue(const futex_key &from, const futex_key &to, u32 most,
		     u32 moves, Look look, call_site by = caller_site())
		requires detail::slept_on<L>
	{
		const over_inner seen(usage, by);

		sets(by);
		return L::requeue(from, to, most, moves,
				  [&] { return under_inner(look, by); });
	}
	template <typename Op>
	auto wake_op(const futex_key &key, u32 most, const futex_key &other,
		     u32 more, Op op, call_site by = caller_site())
		requires detail::slept_on<L>
	{
		const over_inner seen(usage, by);

		sets(by);
		return L::wake_op(key, most, other, more,
				  [&] { return under_inner(op, by); });
	}

	/* On: a held guard or lock, which the wait releases; otherwise a
	 * predicate. */
	void wait(call_site by = caller_site())
		requires requires(L &l) { l.wait(); }
	{
		until_it_may(*this, by, [&](auto &) {
			return this->unchecked().wait(), true;
		});
	}
	template <detail::waited_on On>
	void wait(On &&on, call_site by = caller_site())
	{
		wait_on(static_cast<On &&>(on), by, [&](auto &to) {
			return this->unchecked().wait(to), true;
		});
	}
	template <typename On, detail::predicate Ready>
		requires(!detail::slept_on<L>)
	void wait(On &on, Ready ready, call_site by = caller_site())
	{
		until_it_may(on, by, [&](auto &to) {
			this->unchecked().wait(to, [&]() -> decltype(auto) {
				return ready();
			});
			return true;
		});
	}
	[[nodiscard]] bool wait_until(u64 deadline,
				      call_site by = caller_site())
		requires requires(L &l) { l.wait(); }
	{
		return until_it_may(*this, by, [&](auto &) {
			return this->unchecked().wait_until(deadline);
		});
	}
	template <detail::waited_on On>
	[[nodiscard]] bool wait_until(On &&on, u64 deadline,
				      call_site by = caller_site())
	{
		return wait_on(static_cast<On &&>(on), by, [&](auto &to) {
			return this->unchecked().wait_until(to, deadline);
		});
	}
	template <typename On, detail::predicate Ready>
		requires(!detail::slept_on<L>)
	[[nodiscard]] bool wait_until(On &on, u64 deadline, Ready ready,
				      call_site by = caller_site())
	{
		return until_it_may(on, by, [&](auto &to) {
			return this->unchecked().wait_until(
				to, deadline,
				[&]() -> decltype(auto) { return ready(); });
		});
	}
	[[nodiscard]] bool wait_for(u64 how_long, call_site by = caller_site())
		requires requires(L &l) { l.wait(); }
	{
		return wait_until(deadline_in(how_long), by);
	}
	template <detail::waited_on On>
	[[nodiscard]] bool wait_for(On &&on, u64 how_long,
				    call_site by = caller_site())
	{
		return wait_until(static_cast<On &&>(on), deadline_in(how_long),
				  by);
	}
	template <typename On, detail::predicate Ready>
		requires(!detail::slept_on<L>)
	[[nodiscard]] bool wait_for(On &on, u64 how_long, Ready ready,
				    call_site by = caller_site())
	{
		return wait_until(on, deadline_in(how_long),
				  static_cast<Ready &&>(ready), by);
	}

	/* The two parts of a condition's wait, in this order. */
	template <typename Me>
	void prepare(Me &me, call_site by = caller_site())
		requires requires(L &l) { l.prepare(me); }
	{
		const over_inner seen(usage, by);

		if (me.is_queued() || L::has(me))
			usage.complain("prepare() twice: the thread has not "
				       "slept since",
				       by);
		L::prepare(me);
	}
	template <typename Me>
	bool sleep(Me &me, const u64 *until, call_site by = caller_site())
		requires requires(L &l) { l.sleep(me, until); }
	{
		usage.check_memory(by, true);
		usage.before_inner(by);
		if (!this->has(me) && !me.is_told())
			usage.complain("sleep() without prepare()", by);
		if (me.thread.get() != klock_os_thread())
			usage.complain("sleep() in another thread than "
				       "prepare()",
				       by);
		const bool told = until_it_may(me, by, [&](auto &) {
			return this->unchecked().sleep(me, until);
		});

		me.woken.store_relaxed(false);
		return told;
	}

	void set_name(const char *name) { usage.set_name(name); }
	void set_name(const char *name, u32 element)
	{
		usage.set_name(name, element);
	}

      private:
	L &unchecked() { return *this; }

	/* A verb that takes the inner lock, for its whole length. */
	struct over_inner {
		over_inner(const lock_usage &of, call_site by)
		    : first(of, by), seen(of, by)
		{
		}

	      private:
		/* Constructed first: this check says more than the order's. */
		struct not_inside {
			not_inside(const lock_usage &of, call_site by)
			{
				of.check_memory(by, true);
				of.before_inner(by);
				if (of.is_held_by_me())
					of.complain(by_predicate, by);
				else if (spins_held.has(&of))
					of.complain(by_unpark, by);
			}
		};
		static constexpr const char *by_predicate =
			"called by a predicate or a change of its own, which "
			"run with its inner lock held";
		static constexpr const char *by_unpark =
			"called by klock_os_unpark(), which runs with its "
			"inner lock held";

		not_inside first;
		inner_seen seen;
	};

	/* Calls a function that runs under the inner lock. */
	template <typename Call>
	decltype(auto) under_inner(Call &call, call_site by)
	{
		struct inside {
			inside(lock_usage &its, call_site by) : of(its)
			{
				of.enter_inner(by);
			}
			~inside() { of.leave_inner(); }
			inside(const inside &) = delete;
			inside &operator=(const inside &) = delete;

			lock_usage &of;
		};
		const inside here(usage, by);

		return call();
	}

	/* Releases and retakes the held lock, and notes the wait in between. */
	template <typename Held>
	struct watched {
		auto let_go()
			requires requires(Held &h) { h.let_go(); }
		{
			decltype(held.let_go()) lock = nullptr;

			if (!may_wait)
				return lock;
			lock = held.let_go();
			place = of.begins(by);
			return lock;
		}
		void take_back(auto *lock)
		{
			note_gone(place);
			if (lock)
				held.take_back(lock);
		}
		void unlock()
		{
			if constexpr (requires { held.unlock(by); })
				held.unlock(by);
			else
				held.unlock();
			place = of.begins(by);
		}
		void lock()
		{
			note_gone(place);
			if constexpr (requires { held.lock(by); })
				held.lock(by);
			else
				held.lock();
		}

		checked_lock &of;
		Held &held;
		call_site by;
		/* false: the guard holds no lock to release */
		bool may_wait;
		noted_place place = {};
	};

	/* A predicate is copied or moved, as in an unchecked wait. */
	template <typename On, typename Wait>
	bool wait_on(On &&on, call_site by, Wait wait_for_it)
	{
		if constexpr (requires { on(); }) {
			auto ready = static_cast<On &&>(on);

			return until_it_may(ready, by, wait_for_it);
		} else {
			return until_it_may(on, by, wait_for_it);
		}
	}

	/* Whether a guard of klock's may wait; if not, it is reported. */
	template <typename Held>
	bool check_guard(const Held &held, call_site by) const
	{
		const char *wrong = nullptr;

		if constexpr (requires { held.why_no_wait(); })
			wrong = held.why_no_wait();
		if (wrong)
			usage.complain(wrong, by);
		return !wrong;
	}

	template <typename On, typename Wait>
	bool until_it_may(On &on, call_site by, Wait wait_for_it)
	{
		static_assert(!detail::held_deeper<On>,
			      "a wait lets go of a lock once, and a "
			      "recursive_lock may be held deeper");
		{
			/* A wait takes the inner lock, too. */
			const over_inner seen(usage, by);
		}
		if constexpr (detail::can_let_go<On>) {
			watched<On> held{*this, on, by, check_guard(on, by)};

			return wait_for_it(held);
		} else if constexpr (requires { on(); }) {
			/* A wait_queue's predicate. */
			const noted_place place = begins(by);
			auto ready = [&]() -> decltype(auto) {
				const inner_seen seen(usage, by);

				return under_inner(on, by);
			};
			const bool came = wait_for_it(ready);

			note_gone(place);
			return came;
		} else {
			const noted_place place = begins(by);
			const bool came = wait_for_it(on);

			note_gone(place);
			return came;
		}
	}

	/* A futex_table's wait; returns why it ended. */
	template <typename Look, typename Wait>
	auto until_woken(call_site by, Look &look, Wait wait_for_it)
	{
		{
			/* A wait takes the inner lock, too. */
			const over_inner seen(usage, by);
		}
		const noted_place place = begins(by);
		auto looks = [&](auto... which) {
			const auto look_at = [&] { return look(which...); };
			const inner_seen seen(usage, by);

			return under_inner(look_at, by);
		};
		const auto why = wait_for_it(looks);

		note_gone(place);
		return why;
	}

	noted_place begins(call_site by) const
	{
		note_sleepers();
		usage.before_sleep(by);
		check_no_spin(&usage, sleeps_with_a_spin, by);
		return note_wait([&] { return wanted(by); });
	}

	/* The caller is about to end a wait, with the locks that it holds. */
	void sets(call_site by) const
	{
		note_set([&] { return wanted(by); });
	}

	wanted_lock wanted(call_site by) const
	{
		return {&usage, usage.label(), by, false, false, true, true};
	}

	lock_usage usage;
};

namespace detail {
/* told() of a checked event: its functions, each with this call site. */
template <typename Event>
struct told_event {
	template <typename... With>
	auto acquire(With &&...with) const
	{
		return of.acquire(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto try_acquire(With &&...with) const
	{
		return of.try_acquire(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto try_acquire_until(With &&...with) const
	{
		return of.try_acquire_until(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto try_acquire_for(With &&...with) const
	{
		return of.try_acquire_for(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto release(With &&...with) const
	{
		return of.release(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto set(With &&...with) const
	{
		return of.set(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto reset(With &&...with) const
	{
		return of.reset(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] bool is_set(With &&...with) const
	{
		return of.is_set(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] bool is_contended(With &&...with) const
	{
		return of.is_contended(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto notify_one(With &&...with) const
	{
		return of.notify_one(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto notify_all(With &&...with) const
	{
		return of.notify_all(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto wake(With &&...with) const
	{
		if constexpr (lacks_mask<2, With...>)
			return of.wake(static_cast<With &&>(with)...,
				       Event::any_bit, by);
		else
			return of.wake(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto requeue(With &&...with) const
	{
		return of.requeue(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto wake_op(With &&...with) const
	{
		return of.wake_op(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto wake_one(With &&...with) const
	{
		return of.wake_one(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto wake_all(With &&...with) const
	{
		return of.wake_all(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto wait(With &&...with) const
	{
		if constexpr (lacks_mask<2, With...>)
			return of.wait(static_cast<With &&>(with)...,
				       Event::any_bit, by);
		else
			return of.wait(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto wait_until(With &&...with) const
	{
		if constexpr (lacks_mask<3, With...>)
			return of.wait_until(static_cast<With &&>(with)...,
					     Event::any_bit, by);
		else
			return of.wait_until(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto wait_for(With &&...with) const
	{
		if constexpr (lacks_mask<3, With...>)
			return of.wait_for(static_cast<With &&>(with)...,
					   Event::any_bit, by);
		else
			return of.wait_for(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto wait_any(With &&...with) const
	{
		return of.wait_any(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	[[nodiscard]] auto wait_any_until(With &&...with) const
	{
		return of.wait_any_until(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto prepare(With &&...with) const
	{
		return of.prepare(static_cast<With &&>(with)..., by);
	}
	template <typename... With>
	auto sleep(With &&...with) const
	{
		return of.sleep(static_cast<With &&>(with)..., by);
	}

	/* A table's mask may be left out, and comes before the call site. */
	template <usize Needed, typename... With>
	static constexpr bool lacks_mask =
		slept_on<Event> && sizeof...(With) == Needed;

	Event &of;
	call_site by;
};
} // namespace detail

/* told(lock, by) of a semaphore, completion, condition, wait_queue or table. */
template <detail::awaited L, lock_name... Name>
detail::told_event<checked_lock<L, Name...>>
told(checked_lock<L, Name...> &event, call_site by)
{
	return {event, by};
}

} // namespace klock
