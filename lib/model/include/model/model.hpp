/* SPDX-License-Identifier: MIT */
/*
 * model - tries every execution of a few CPUs that C++'s memory model allows
 *
 *	struct world {
 *		klock::ticket_lock<klock::u8> lock;
 *		klock::plain<int> data;
 *	};
 *
 *	auto r = model::explore<world>(
 *		{.sections = {2, 2, 1}},
 *		[](world &w, unsigned cpu) {
 *			klock::guard held(w.lock);
 *			w.data.set(w.data.get() + 1);
 *		},
 *		[](world &w) { model::check(w.data.get() == 5); });
 *	INFO(model::text(r));
 *	CHECK(r.proved());
 *	CHECK(r.complete >= 30);
 *
 * The world is made anew for each execution. The body must do the same when it
 * reads the same: no clock, no random numbers, no static that is not an atomic
 * or a plain; it must own no heap, for it may be left half-way. README.md
 * beside this says what is proved, and what is not.
 */
#pragma once

#include <model/here.hpp>
#include <model/body.hpp>
#include <model/options.hpp>
#include <model/places.hpp>

#include <klock/arch/engine.hpp>

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace model {

using klock::arch::site;

/* The caller's functions, with types erased, for the engine. */
struct program {
	virtual void make_world() = 0;
	virtual void end_world() = 0;
	virtual void body(unsigned cpu) = 0;
	virtual void at_end() = 0;
	virtual void handler(unsigned cpu) = 0;

	const void *world = nullptr;
	klock::usize world_bytes = 0;
	klock::usize world_pages = 0;	  /* bytes that nothing else is in */
	const void *world_type = nullptr; /* detail::type_of<World>() */
	bool tells_of_plain = false;	  /* the compiler tells of accesses */

	/* Body and handler depend on the world alone. */
	bool closed = false;

      protected:
	~program() = default;
};

namespace detail {

/* Its name has the sizes of what it is given and returns: no linker joins these
 * headers and a library of other ones. */
template <klock::usize... Sizes>
result explore_of_sizes(program &, const options &);

} // namespace detail

inline result explore(program &of, const options &how)
{
	return detail::explore_of_sizes<sizeof(program), sizeof(options),
					sizeof(result)>(of, how);
}

/*
 * Reports the execution if `holds` is false. A body, or the check at the end,
 * may call this and the functions below.
 */
void check(bool holds, const char *what = "check",
	   site s = klock::caller_site<site>());

/* The CPU that runs this. */
unsigned cpu();

/*
 * Returns one of 0 .. n-1: each is tried, in executions of its own. Stands for
 * the answer of a device, a clock or a random generator.
 */
unsigned choose(unsigned n);
inline bool maybe() { return choose(2) != 0; }

/* Drops executions in which `holds` is false: this CPU stops there. */
void assume(bool holds);

/* The running CPU's interrupt flag. */
bool interrupts_on();

/* Names an object for timelines, in a body or a world's constructor. */
void name(const void *object, klock::usize bytes, const char *text,
	  const void *type = nullptr);
template <typename T>
void name(const T &object, const char *text)
{
	const volatile void *const at = &object;

	name(const_cast<const void *>(at), sizeof(object), text,
	     detail::type_of<T>());
}

/*
 * Runs what() whenever this CPU is about to wait, while this object lives: the
 * CPU has then passed a queue lock's doorway. Operations of what() are the
 * CPU's own.
 */
struct before_waits {
	template <typename What>
	explicit before_waits(What &what)
	    : before_waits([](void *w) { (*static_cast<What *>(w))(); }, &what)
	{
	}
	before_waits(void (*call)(void *), void *what);
	~before_waits();
	before_waits(const before_waits &) = delete;
	before_waits &operator=(const before_waits &) = delete;
};

/* All one-step weakenings of a use; none if it is relaxed. */
std::vector<weakening> weakenings(const use &);

/*
 * The verdict: the timeline of a finding, or "ok, exhaustive, 6 executions". It
 * ends with a new line.
 */
std::string text(const result &);

/*
 * Whether the client has executions in which the weaker order could matter. If
 * not, a pass with the weaker order says nothing. For uses of record_uses.
 */
bool is_met(const weakening &);

/* result.unmet in words, a line each, with what a client must do to meet it. */
std::string text_of_unmet(const result &);

/* "ticket_lock.hpp:75 rmw acq_rel", and "... -> acquire" */
std::string text(const use &);
std::string text(const weakening &);
const char *text(order);

namespace detail {

#ifdef __has_feature
#define KLOCK_MODEL_HAS(what) __has_feature(what)
#else
#define KLOCK_MODEL_HAS(what) 0
#endif

/* AddressSanitizer finds an access behind the world: then it has no pages. */
#if defined(__SANITIZE_ADDRESS__) || KLOCK_MODEL_HAS(address_sanitizer)
inline constexpr klock::usize page = 1;
#else
inline constexpr klock::usize page = 4096;
#endif

/* The world is constructed in place, so that it can name its members. */
template <typename World>
struct made_in_place {
	World operator()() const { return World(); }
};

template <typename World, typename Make, typename Body, typename End,
	  typename Handler>
struct typed_program final : program {
	typed_program(Make m, Body b, End e, Handler h)
	    : make(m), run(b), end(e), handle(h)
	{
		world = room;
		world_bytes = sizeof(World);
		world_type = type_of<World>();
		world_pages = page > 1 ? sizeof(room) : 0;
		closed = std::is_empty_v<Body> && std::is_empty_v<Handler>;
	}
	void make_world() override
	{
		empty_heap();
		const body_runs now;
		if constexpr (std::is_same_v<Make, made_in_place<World>>)
			::new (room) World();
		else
			::new (room) World(make());
	}
	void end_world() override { the().~World(); }
	void body(unsigned on_cpu) override
	{
		const body_runs now;
		run(the(), on_cpu);
	}
	void at_end() override { end(the()); }
	void handler(unsigned on_cpu) override
	{
		const body_runs now;
		handle(the(), on_cpu);
	}

      private:
	World &the() { return *std::launder(reinterpret_cast<World *>(room)); }

	Make make;
	Body run;
	End end;
	Handler handle;
	alignas(World) alignas(
		page) unsigned char room[(sizeof(World) + page - 1) / page *
					 page];
};

inline options with_sections(options how)
{
	if (how.sections.empty())
		how.sections = how.runs;
	return how;
}

} // namespace detail

namespace detail {

/*
 * For code whose compiler reports plain accesses: which of these reports do not
 * arrive, and why; empty: all arrive. Bugs in accesses that are not reported
 * would not be found. Each file has this function, as each has its own compiler
 * options.
 */
#if defined(__SANITIZE_THREAD__) || KLOCK_MODEL_HAS(thread_sanitizer)
[[maybe_unused]] static const char *const shows =
	"NOTE: the code sees that ThreadSanitizer is asked for, and may not be "
	"what ships: compile with -include model/as_shipped.h\n";
#define KLOCK_MODEL_PLAIN 1
#else
[[maybe_unused]] static const char *const shows = "";
#endif
#ifndef KLOCK_MODEL_PLAIN
[[maybe_unused]] static constexpr bool tells_of_plain = false;
[[maybe_unused]] static std::string what_is_unseen() { return {}; }
#else
[[maybe_unused]] static constexpr bool tells_of_plain = true;
#if defined(__OPTIMIZE__) && !defined(KLOCK_MODEL_OPTIMIZED)
[[maybe_unused]] static std::string what_is_unseen()
{
	return "loads whose value nobody uses are not seen: the code is "
	       "optimised; compile with -O0, or define KLOCK_MODEL_OPTIMIZED";
}
#else
[[maybe_unused, gnu::noinline]] static std::string what_is_unseen()
{
	static char target[64];

	probe = target;
	probe_seen = false;
	target[0] = 1;
	__asm__ volatile("" ::"r"(target) : "memory");
	if (!probe_seen)
		return "plain accesses are not seen: ThreadSanitizer's library "
		       "is linked; -fsanitize=thread is for compiling alone";
	if (const char *const name = not_wrapped())
		return "calls of the C library are not seen: link with "
		       "-Wl,--wrap of each (lib/docs/check-your-code.md); not "
		       "wrapped is " +
		       std::string(name) + "()";
	probe_seen = false;
	std::strcpy(target, "few");
	if (!probe_seen)
		return "what the compiler makes of strcpy() and its like is "
		       "not seen: compile with -fno-builtin";
	return {};
}
#endif
#endif
#undef KLOCK_MODEL_HAS

} // namespace detail

/*
 * Explores. make() makes the world for each execution, body(world, cpu) runs as
 * often as `sections` says, end(world) checks the world after complete
 * executions, and interrupts run handler(world, cpu).
 */
template <typename Make, typename Body, typename End, typename Handler>
result explore_from(const options &how, Make make, Body body, End end,
		    Handler handler)
{
	if (const auto unseen = detail::what_is_unseen(); !unseen.empty()) {
		result none;

		none.found = bug::unseen;
		none.message = none.limit = unseen;
		none.timeline = "BUG: " + none.message + "\n";
		return none;
	}
	using world = decltype(make());
	detail::typed_program<world, Make, Body, End, Handler> p(make, body,
								 end, handler);

	p.tells_of_plain = detail::tells_of_plain;
	result r = explore(p, detail::with_sections(how));
	r.notes.insert(0, detail::shows);
	r.timeline.insert(0, detail::shows);
	return r;
}

template <typename Make, typename Body, typename End>
result explore_from(const options &how, Make make, Body body, End end)
{
	return explore_from(how, make, body, end, [](auto &, unsigned) {});
}

template <typename World, typename Body, typename End, typename Handler>
result explore(const options &how, Body body, End end, Handler handler)
{
	return explore_from(how, detail::made_in_place<World>(), body, end,
			    handler);
}

template <typename World, typename Body, typename End>
result explore(const options &how, Body body, End end)
{
	return explore<World>(how, body, end, [](World &, unsigned) {});
}

template <typename World, typename Body>
result explore(const options &how, Body body)
{
	return explore<World>(how, body, [](World &) {});
}

/*
 * A function for each CPU: thread(state). end(state) checks the state at the
 * end.
 */
template <typename State, typename End, typename... Threads>
result explore_threads(options how, End end, Threads... threads)
{
	if (how.sections.empty() && how.runs.empty())
		how.runs.assign(sizeof...(threads), 1);
	return explore<State>(
		how,
		/* The captured variables are the test's, not the code's. */
		[&](State & state, unsigned cpu)
			__attribute__((no_sanitize("thread"))) {
				unsigned i = 0;

				((i++ == cpu ? static_cast<void>(threads(state))
					     : static_cast<void>(0)),
				 ...);
			},
		end);
}

} // namespace model

#define KLOCK_MODEL_END
#include <model/here.hpp>
