/* SPDX-License-Identifier: MIT */
/*
 * Small programs on std::atomic: how many executions each has, and whether the
 * outcome that it is known for is among them. The counts are worked out by
 * hand: of store buffering (SB) and message passing (MP) there are four
 * outcomes, and three where the odd one is ruled out.
 */
#include <atomic>
#include <memory>

#include <model/model.hpp>

#include <catch.hpp>

#include <vector>

namespace {

using enum std::memory_order;

struct memory {
	std::atomic<int> x{0}, y{0};
	std::atomic<int *> p{nullptr};
	std::atomic<double> d{0};
	std::atomic_flag f{};
	struct halves {
		short low, high;
	};
	std::atomic<halves> h{};
	int raw = 0, other = 0, data = 7;

	/* What thread 0 and thread 1 read. */
	int r0 = 9, r1 = 9, s1 = 9;
};

using thread = void (*)(memory &);

struct known {
	const char *name;
	std::vector<thread> threads;
	unsigned executions;
	/* The outcome it is known for, and whether it is there. */
	bool (*odd)(const memory &);
	bool seen;
};

/* Neither of SB's sides has seen the other; MP's reader has the flag alone. */
bool both_old(const memory &m) { return m.r0 == 0 && m.r1 == 0; }
bool data_old(const memory &m) { return m.r1 == 1 && m.s1 == 0; }

/* -- SB ---------------------------------------------------------------------
 */

template <typename Left, typename Right>
known sb(const char *name, Left l, Right r, bool seen)
{
	return {name, {l, r}, seen ? 4U : 3U, both_old, seen};
}

#define SIDE(does) +[](memory &m) { does; }

const known buffering[] = {
	sb("SB: what has no order is seq_cst",
	   SIDE(m.x.store(1); m.r0 = m.y.load()),
	   SIDE(m.y.store(1); m.r1 = m.x.load()), false),
	sb("SB: so are operators", SIDE(m.x = 1; m.r0 = m.y),
	   SIDE(m.y = 1; m.r1 = m.x), false),
	sb("SB: and ++", SIDE(++m.x; m.r0 = m.y), SIDE(m.y += 1; m.r1 = m.x),
	   false),
	sb("SB: an RMW that is acq_rel",
	   SIDE(m.x.fetch_add(1, acq_rel); m.r0 = m.y.load(acquire)),
	   SIDE(m.y.fetch_xor(1, acq_rel); m.r1 = m.x.load(acquire)), true),
	sb("SB: one access is not seq_cst",
	   SIDE(m.x.store(1); m.r0 = m.y.load(acquire)),
	   SIDE(m.y.store(1); m.r1 = m.x.load()), true),
	sb("SB: fences",
	   SIDE(m.x.store(1, relaxed); std::atomic_thread_fence(seq_cst);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_thread_fence(seq_cst);
		m.r1 = m.x.load(relaxed)),
	   false),
	sb("SB: fences that are acq_rel",
	   SIDE(m.x.store(1, relaxed); std::atomic_thread_fence(acq_rel);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_thread_fence(acq_rel);
		m.r1 = m.x.load(relaxed)),
	   true),
	sb("SB: fences for signals alone",
	   SIDE(m.x.store(1, relaxed); std::atomic_signal_fence(seq_cst);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_signal_fence(seq_cst);
		m.r1 = m.x.load(relaxed)),
	   true),
	sb("SB: references",
	   SIDE(std::atomic_ref(m.raw) = 1; m.r0 = std::atomic_ref(m.other)),
	   SIDE(std::atomic_ref(m.other) = 1; m.r1 = std::atomic_ref(m.raw)),
	   false),
	sb("SB: failed swaps are seq_cst",
	   SIDE(m.x = 1; m.r0 = 5;
		m.y.compare_exchange_strong(m.r0, 6, acq_rel, seq_cst)),
	   SIDE(m.y = 1; m.r1 = 5;
		m.x.compare_exchange_strong(m.r1, 6, acq_rel, seq_cst)),
	   false),
	sb("SB: failed swaps, of which success would be seq_cst",
	   SIDE(m.x = 1; m.r0 = 5;
		m.y.compare_exchange_strong(m.r0, 6, seq_cst, relaxed)),
	   SIDE(m.y = 1; m.r1 = 5;
		m.x.compare_exchange_strong(m.r1, 6, seq_cst, relaxed)),
	   true),
};

/* -- MP ---------------------------------------------------------------------
 */

template <typename Writer, typename Reader>
known mp(const char *name, Writer w, Reader r, bool seen)
{
	return {name, {w, r}, seen ? 4U : 3U, data_old, seen};
}

#define PUBLISHES(how) SIDE(m.x.store(1, relaxed); how)
#define TAKES(how) SIDE(how; m.s1 = m.x.load(relaxed))

const known passing[] = {
	mp("MP: consume is acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = m.y.load(consume)), false),
	mp("MP: a flag", PUBLISHES(m.f.test_and_set(release)),
	   TAKES(m.r1 = m.f.test(acquire)), false),
	mp("MP: a flag, relaxed", PUBLISHES(m.f.test_and_set(release)),
	   TAKES(m.r1 = m.f.test(relaxed)), true),
	mp("MP: references",
	   PUBLISHES(std::atomic_ref(m.raw).store(1, release)),
	   TAKES(m.r1 = std::atomic_ref(m.raw).load(acquire)), false),
	mp("MP: references, relaxed",
	   PUBLISHES(std::atomic_ref(m.raw).store(1, relaxed)),
	   TAKES(m.r1 = std::atomic_ref(m.raw).load(acquire)), true),
	mp("MP: RMWs", PUBLISHES(m.y.exchange(1, release)),
	   TAKES(m.r1 = m.y.fetch_or(0, acquire)), false),
	mp("MP: RMWs, relaxed", PUBLISHES(m.y.exchange(1, release)),
	   TAKES(m.r1 = m.y.fetch_and(1, relaxed)), true),
	mp("MP: a swap fails with acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5;
		 m.y.compare_exchange_strong(m.r1, 6, relaxed, acquire)),
	   false),
	mp("MP: a swap fails relaxed, with success acquire",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5;
		 m.y.compare_exchange_strong(m.r1, 6, acquire, relaxed)),
	   true),
	mp("MP: a swap succeeds with acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 1;
		 m.y.compare_exchange_strong(m.r1, 6, acquire, relaxed)),
	   false),
	mp("MP: a swap succeeds relaxed, with failure acquire",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 1;
		 m.y.compare_exchange_strong(m.r1, 6, relaxed, acquire)),
	   true),
	mp("MP: failure is success less the store",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5; m.y.compare_exchange_weak(m.r1, 6, acq_rel)), false),
	mp("MP: failure of release is relaxed",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5; m.y.compare_exchange_weak(m.r1, 6, release)), true),
	mp("MP: a swap publishes",
	   PUBLISHES(int v = 0;
		     m.y.compare_exchange_strong(v, 1, release, relaxed)),
	   TAKES(m.r1 = m.y.load(acquire)), false),
};

/* -- Others ------------------------------------------------------------------
 */

void adds_half(memory &m)
{
	memory::halves was = m.h.load(relaxed), now;

	do {
		now = {static_cast<short>(was.low + 1), was.high};
	} while (!m.h.compare_exchange_weak(was, now, relaxed));
}

const known others[] = {
	{"three RMWs of three kinds: in each order",
	 {SIDE(m.x.fetch_add(1)), SIDE(m.x.fetch_xor(6)),
	  SIDE(m.x.exchange(3))},
	 6,
	 [](const memory &m) { return m.x.load() == 0; },
	 false},
	/* Who swaps first has read 0; the other's load read 0 or 1. */
	{"floating point is added by swaps",
	 {SIDE(m.d += 1), SIDE(m.d.fetch_add(1, relaxed))},
	 4,
	 [](const memory &m) { return m.d != 2.0; },
	 false},
	{"a struct is swapped whole",
	 {adds_half, adds_half},
	 4,
	 [](const memory &m) { return m.h.load().low != 2; },
	 false},
	{"a flag has one winner",
	 {SIDE(m.r0 = m.f.test_and_set()), SIDE(m.r1 = m.f.test_and_set())},
	 2,
	 [](const memory &m) { return m.r0 == m.r1; },
	 false},
	{"a pointer that was published",
	 {SIDE(std::atomic_ref(m.data).store(1, relaxed);
	       m.p.store(&m.data, release)),
	  SIDE(if (int *p = m.p.load(acquire)) m.r1 =
		       std::atomic_ref(*p).load(relaxed))},
	 2,
	 [](const memory &m) { return m.r1 == 7; },
	 false},
	{"a pointer that was published relaxed",
	 {SIDE(std::atomic_ref(m.data).store(1, relaxed);
	       m.p.store(&m.data, relaxed)),
	  SIDE(if (int *p = m.p.load(acquire)) m.r1 =
		       std::atomic_ref(*p).load(relaxed))},
	 3,
	 [](const memory &m) { return m.r1 == 7; },
	 true},
};

void agree(const known &k)
{
	bool seen = false;
	const model::result r = model::explore<memory>(
		{.sections = std::vector<unsigned>(k.threads.size(), 1)},
		[&k](memory &m, unsigned cpu) { k.threads[cpu](m); },
		[&](memory &m) { seen |= k.odd(m); });

	INFO(k.name << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == k.executions);
	CHECK(seen == k.seen);
}

} // namespace

TEST_CASE("std_litmus: store buffering")
{
	for (const known &k : buffering)
		agree(k);
}

TEST_CASE("std_litmus: message passing")
{
	for (const known &k : passing)
		agree(k);
}

TEST_CASE("std_litmus: RMWs, pointers, waits")
{
	for (const known &k : others)
		agree(k);
}
