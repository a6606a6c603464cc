/* SPDX-License-Identifier: MIT */
/*
 * annotated - a lock and its guards, so that clang finds what is touched
 * without them
 *
 *	klock::annotated_lock<klock::ticket_lock<klock::u8>> lock;
 *	unsigned events __attribute__((guarded_by(lock)));
 *
 *	klock::annotated_irq_guard held(lock);
 *	events++;
 *
 * clang -Wthread-safety reads the attributes: events++ without the guard is a
 * warning when it is compiled. GCC compiles the same and checks nothing. It
 * warns about the unknown attribute in your own files: hide it behind a macro.
 *
 * A wrapper of any lock, checked_if<debug, L> and irq_lock<L> too; by hand
 * lock(), try_lock() and unlock() are annotated as well. synchronized.hpp needs
 * none of this: data in it cannot be named without the lock, by any compiler.
 *
 * Not in lib/klock: its headers are the same for every compiler, and say all in
 * C++. Here GCC would warn of each attribute, which the pragma below keeps from
 * the files that include this. Include path: lib/analysis, before lib.
 *
 * Size: that of the lock and the guard inside. What they do, what they cost,
 * and in which context: those headers.
 */
#pragma once
#pragma GCC system_header

#include <klock/concepts.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/shared_guard.hpp>

namespace klock {

/* The lock, for clang a capability; with: the node, or the CPU's number. */
template <typename L>
struct __attribute__((capability("lock"))) annotated_lock
    : detail::recursive_of<L>,
      detail::around<L>,
      detail::questions_of<annotated_lock<L>, L, detail::site_of<L>> {
	/* For handed_over() and other guards, which refuse it. */
	using annotated = L;

	using detail::around<L>::around;
	/* The lock, for what has no annotation. */
	using detail::around<L>::inner;

      private:
	using site = detail::site_of<L>;

      public:
	/* Not from verbs_of: clang reads an attribute where a member is
	 * declared, and GCC would warn of it in lib/klock. */

	__attribute__((acquire_capability())) void
	lock(site by = caller_site<site>())
		requires detail::offers<detail::verb::lock, L>
	{
		detail::hand_on(detail::verb::lock{}, inner, by);
	}
	template <typename With>
		requires detail::offers<detail::verb::lock, L, With>
	__attribute__((acquire_capability())) void
	lock(With &&with, site by = caller_site<site>())
	{
		detail::hand_on(detail::verb::lock{}, inner, by, with);
	}
	[[nodiscard]] __attribute__((try_acquire_capability(true))) bool
	try_lock(site by = caller_site<site>())
		requires detail::offers<detail::verb::try_lock, L>
	{
		return detail::hand_on(detail::verb::try_lock{}, inner, by);
	}
	template <typename With>
		requires detail::offers<detail::verb::try_lock, L, With>
	[[nodiscard]] __attribute__((try_acquire_capability(true))) bool
	try_lock(With &&with, site by = caller_site<site>())
	{
		return detail::hand_on(detail::verb::try_lock{}, inner, by,
				       with);
	}
	__attribute__((release_capability())) void
	unlock(site by = caller_site<site>())
		requires detail::offers<detail::verb::unlock, L>
	{
		detail::hand_on(detail::verb::unlock{}, inner, by);
	}
	template <typename With>
		requires detail::offers<detail::verb::unlock, L, With>
	__attribute__((release_capability())) void
	unlock(With &&with, site by = caller_site<site>())
	{
		detail::hand_on(detail::verb::unlock{}, inner, by, with);
	}

	__attribute__((acquire_shared_capability())) void
	lock_shared(site by = caller_site<site>())
		requires detail::offers<detail::verb::lock_shared, L>
	{
		detail::hand_on(detail::verb::lock_shared{}, inner, by);
	}
	template <typename With>
		requires detail::offers<detail::verb::lock_shared, L, With>
	__attribute__((acquire_shared_capability())) void
	lock_shared(With &&with, site by = caller_site<site>())
	{
		detail::hand_on(detail::verb::lock_shared{}, inner, by, with);
	}
	[[nodiscard]] __attribute__((try_acquire_shared_capability(true))) bool
	try_lock_shared(site by = caller_site<site>())
		requires detail::offers<detail::verb::try_lock_shared, L>
	{
		return detail::hand_on(detail::verb::try_lock_shared{}, inner,
				       by);
	}
	template <typename With>
		requires detail::offers<detail::verb::try_lock_shared, L, With>
	[[nodiscard]] __attribute__((try_acquire_shared_capability(true))) bool
	try_lock_shared(With &&with, site by = caller_site<site>())
	{
		return detail::hand_on(detail::verb::try_lock_shared{}, inner,
				       by, with);
	}
	__attribute__((release_shared_capability())) void
	unlock_shared(site by = caller_site<site>())
		requires detail::offers<detail::verb::unlock_shared, L>
	{
		detail::hand_on(detail::verb::unlock_shared{}, inner, by);
	}
	template <typename With>
		requires detail::offers<detail::verb::unlock_shared, L, With>
	__attribute__((release_shared_capability())) void
	unlock_shared(With &&with, site by = caller_site<site>())
	{
		detail::hand_on(detail::verb::unlock_shared{}, inner, by, with);
	}

	/*
	 * clang takes it for held from here on; a checked lock checks that it
	 * is.
	 */
	__attribute__((assert_capability())) void
	assert_held(call_site by = caller_site()) const
	{
		detail::around<L>::assert_held(by);
	}

      private:
	friend typename annotated_lock::questions_of;

	template <typename Verb, typename... With>
	decltype(auto) pass(Verb verb, detail::site_of<L> by,
			    With &...with) const
	{
		return detail::hand_on(verb, inner, by, with...);
	}
};

/* guard, of an annotated lock; with: a number, or a function. */
template <typename L>
struct __attribute__((scoped_lockable)) annotated_guard {
	/* clang-format off */
	[[nodiscard]] __attribute__((acquire_capability(lock)))
	explicit annotated_guard(
		annotated_lock<L> &lock,
		call_site by = caller_site())
	    : taken(at(lock.inner, by))
	{
	}
	template <typename With>
	[[nodiscard]] __attribute__((acquire_capability(lock)))
	explicit annotated_guard(
		annotated_lock<L> &lock, With &&with,
		call_site by = caller_site())
	    : taken(at(lock.inner, by), with)
	{
	}
	/* clang-format on */
	~annotated_guard() __attribute__((release_capability())) {}
	annotated_guard(const annotated_guard &) = delete;
	annotated_guard &operator=(const annotated_guard &) = delete;

	/* Before the block ends. */
	__attribute__((release_capability())) void
	unlock(call_site by = caller_site())
	{
		taken.unlock(by);
	}

      private:
	guard<L> taken;
};
template <typename L, typename... With>
annotated_guard(annotated_lock<L> &, With &&...) -> annotated_guard<L>;

/* irq_guard, the same. */
template <typename L>
struct __attribute__((scoped_lockable)) annotated_irq_guard {
	/* clang-format off */
	[[nodiscard]] __attribute__((acquire_capability(lock)))
	explicit annotated_irq_guard(
		annotated_lock<L> &lock,
		call_site by = caller_site())
	    : taken(at(lock.inner, by))
	{
	}
	template <typename With>
	[[nodiscard]] __attribute__((acquire_capability(lock)))
	explicit annotated_irq_guard(
		annotated_lock<L> &lock, With &&with,
		call_site by = caller_site())
	    : taken(at(lock.inner, by), with)
	{
	}
	/* clang-format on */
	~annotated_irq_guard() __attribute__((release_capability())) {}
	annotated_irq_guard(const annotated_irq_guard &) = delete;
	annotated_irq_guard &operator=(const annotated_irq_guard &) = delete;

	/* Before the block ends. */
	__attribute__((release_capability())) void
	unlock(call_site by = caller_site())
	{
		taken.unlock(by);
	}

      private:
	irq_guard<L> taken;
};
template <typename L, typename... With>
annotated_irq_guard(annotated_lock<L> &, With &&...) -> annotated_irq_guard<L>;

/* shared_guard: what the lock guards is read, and not written. */
template <typename L>
struct __attribute__((scoped_lockable)) annotated_shared_guard {
	/* clang-format off */
	[[nodiscard]] __attribute__((acquire_shared_capability(lock)))
	explicit annotated_shared_guard(
		annotated_lock<L> &lock,
		call_site by = caller_site())
	    : taken(at(lock.inner, by))
	{
	}
	template <typename With>
	[[nodiscard]] __attribute__((acquire_shared_capability(lock)))
	explicit annotated_shared_guard(
		annotated_lock<L> &lock, With &&with,
		call_site by = caller_site())
	    : taken(at(lock.inner, by), with)
	{
	}
	/* clang-format on */
	~annotated_shared_guard() __attribute__((release_capability())) {}
	annotated_shared_guard(const annotated_shared_guard &) = delete;
	annotated_shared_guard &
	operator=(const annotated_shared_guard &) = delete;

	/* Before the block ends. */
	__attribute__((release_capability())) void
	unlock(call_site by = caller_site())
	{
		taken.unlock(by);
	}

      private:
	shared_guard<L> taken;
};
template <typename L, typename... With>
annotated_shared_guard(annotated_lock<L> &, With &&...)
	-> annotated_shared_guard<L>;

/* irq_shared_guard, the same. */
template <typename L>
struct __attribute__((scoped_lockable)) annotated_irq_shared_guard {
	/* clang-format off */
	[[nodiscard]] __attribute__((acquire_shared_capability(lock)))
	explicit annotated_irq_shared_guard(
		annotated_lock<L> &lock,
		call_site by = caller_site())
	    : taken(at(lock.inner, by))
	{
	}
	template <typename With>
	[[nodiscard]] __attribute__((acquire_shared_capability(lock)))
	explicit annotated_irq_shared_guard(
		annotated_lock<L> &lock, With &&with,
		call_site by = caller_site())
	    : taken(at(lock.inner, by), with)
	{
	}
	/* clang-format on */
	~annotated_irq_shared_guard() __attribute__((release_capability())) {}
	annotated_irq_shared_guard(const annotated_irq_shared_guard &) = delete;
	annotated_irq_shared_guard &
	operator=(const annotated_irq_shared_guard &) = delete;

	/* Before the block ends. */
	__attribute__((release_capability())) void
	unlock(call_site by = caller_site())
	{
		taken.unlock(by);
	}

      private:
	irq_shared_guard<L> taken;
};
template <typename L, typename... With>
annotated_irq_shared_guard(annotated_lock<L> &, With &&...)
	-> annotated_irq_shared_guard<L>;

} // namespace klock
