/* SPDX-License-Identifier: MIT */
/*
 * Tests of what a result says of the client: which orders met another CPU in
 * it. Each case has a client that is too small, and one that is not.
 */
#include "verdict.hpp"

#include <klock/atomic.hpp>
#include <klock/plain.hpp>

#include <model/example/ring.hpp>
#include <model/model.hpp>

#include <catch.hpp>

#include <string>
#include <vector>

namespace of_met {

using klock::atomic;
using klock::order;
using klock::plain;
using klock::u8;
using model::operation;
using model::options;
using model::result;
using model::use;
using verdict::client;

namespace {

/* The only use of that kind and order. */
const use &the(const result &r, operation what, order written)
{
	static const use none{};
	const use *found = nullptr;

	for (const use &u : r.uses)
		if (u.what == what && u.written == written) {
			CHECK_FALSE(found);
			found = &u;
		}
	REQUIRE(found);
	return found ? *found : none;
}

/* "1111": it reads, is read, acquires, releases. */
std::string met(const use &u)
{
	std::string all;

	for (bool b : {u.reads, u.is_read, u.acquires, u.releases})
		all += b ? '1' : '0';
	return all;
}

std::string met(const result &r, operation what, order written)
{
	return met(the(r, what, written));
}

struct message {
	atomic<u8> ready;
	plain<int> data;
	atomic<u8> more;
};

/* Whether the flag that is passed on says anything of data. */
result pass_on(options how, bool of_data)
{
	how.sections = {1, 1};
	if (!of_data)
		return model::explore<message>(
			how, [](message &m, unsigned cpu) {
				for (u8 turn = 1; turn <= 2; turn++)
					if (cpu == 0)
						m.ready.store_release(turn);
					else
						(void)m.ready.load_acquire();
			});
	return model::explore<message>(how, [](message &m, unsigned cpu) {
		if (cpu == 0) {
			m.data.set(1);
			m.ready.store_release(1);
		} else if (m.ready.load_acquire()) {
			(void)m.data.get();
		}
	});
}

const options both{.sections = {1, 1}};
const options both_noted{.sections = {1, 1}, .record_uses = true};

/* How many weakenings are: wrong, right and met, right and not met. */
template <typename Explore>
std::vector<unsigned> verdicts(Explore explore)
{
	std::vector<unsigned> many(3);

	verdict::right(verdict::each_weaker(
		both, explore, [&](const model::weakening &w, const result &r) {
			many[!r.ok() ? 0 : model::is_met(w) ? 1 : 2]++;
		}));
	return many;
}

/* Passes so many values on. No function: what has state is not learnt. */
template <int Many>
struct passes {
	void operator()(ring &r, unsigned cpu) const
	{
		for (int i = 1; i <= Many; i++)
			if (cpu == 0)
				r.put(i);
			else
				model::check(r.take() == i);
	}
};

} // namespace

TEST_CASE("met: a message needs both its orders, and one without data has none")
{
	for (const bool run_all : {false, true}) {
		const options how{.run_all = run_all, .record_uses = true};
		const result data = pass_on(how, true),
			     none = pass_on(how, false);

		INFO(text_of_unmet(none));
		CHECK(met(data, operation::load, order::acquire) == "1010");
		CHECK(met(data, operation::store, order::release) == "0101");
		CHECK(data.unmet.empty());
		CHECK(met(none, operation::load, order::acquire) == "1000");
		CHECK(met(none, operation::store, order::release) == "0100");
		CHECK(none.unmet == none.uses);
	}
	CHECK(pass_on({}, false).unmet.empty());
	CHECK(pass_on({}, false).uses.empty());
}

TEST_CASE("met: the ring's empty slots are met only by a third value")
{
	const auto small = client<ring>(passes<2>());
	const auto large = client<ring>(passes<3>());
	const result r = small(both_noted);

	INFO(text_of_unmet(r));
	CHECK(verdicts(small) == std::vector<unsigned>{2, 0, 2});
	CHECK(verdicts(large) == std::vector<unsigned>{4, 0, 0});
	CHECK(r.unmet.size() == 2);
	CHECK(large(both_noted).unmet.empty());
	const std::string text = text_of_unmet(r);
	CHECK(text.starts_with("NOT MET: ring.hpp:18 load acquire: "));
	CHECK(verdict::has(text, "\nNOT MET: ring.hpp:32 store release: "));
}

TEST_CASE("met: who never comes together is told without an option")
{
	/* The one stores after the other's only look, and the other way round.
	 */
	const result r =
		model::explore<message>(both, [](message &m, unsigned cpu) {
			if (cpu == 0) {
				(void)m.ready.load_acquire();
				m.more.store_release(1);
			} else {
				m.more.await_eq_acquire(1);
				m.ready.store_release(1);
			}
		});
	const std::string text = text_of_unmet(r);

	INFO(text);
	verdict::right_by(1, r);
	REQUIRE(r.unmet.size() == 2);
	CHECK(met(r.unmet[0]) == "0000");
	CHECK(r.unmet[0].what == operation::load);
	CHECK(r.unmet[1].what == operation::store);
	CHECK(verdict::has(text, "load acquire: it never reads"));
	CHECK(verdict::has(text, "store release: no other CPU reads"));
	CHECK(verdict::has(text, "test_met.cpp:"));
}

TEST_CASE("met: an order that another one makes superfluous is right, too")
{
	const auto twice = client<message>([](message &m, unsigned cpu) {
		if (cpu == 0) {
			m.data.set(1);
			m.ready.store_release(1);
		} else if (m.ready.load_acquire()) {
			/* A use is a line. */
			if (m.ready.load_acquire())
				(void)m.data.get();
		}
	});

	CHECK(verdicts(twice) == std::vector<unsigned>{1, 2, 0});
}

TEST_CASE("met: fences, and what is handed on by a read-modify-write")
{
	struct chain {
		atomic<u8> flag;
		plain<int> data;
	};
	const options how{.sections = {1, 1, 1}, .record_uses = true};
	const result r = model::explore<chain>(how, [](chain &c, unsigned cpu) {
		if (cpu == 0) {
			c.data.set(1);
			klock::fence_release();
			c.flag.store_relaxed(10);
		} else if (cpu == 1) {
			(void)c.flag.fetch_add_relaxed(1);
		} else if (c.flag.load_relaxed() == 11) {
			klock::fence_acquire();
			(void)c.data.get();
		}
	});

	verdict::right(r);
	CHECK(met(r, operation::fence, order::release) == "0001");
	CHECK(met(r, operation::fence, order::acquire) == "0010");
	CHECK(met(r, operation::rmw, order::relaxed) == "1100");
	CHECK(r.unmet.empty());
}

TEST_CASE("met: a compare-and-swap that fails reads, too")
{
	const result r = model::explore<message>(
		both_noted, [](message &m, unsigned cpu) {
			u8 is = 0;

			if (cpu == 0) {
				m.data.set(1);
				m.ready.store_release(1);
			} else if (!m.ready.compare_exchange_acquire(is, 2)) {
				(void)m.data.get();
			}
		});

	verdict::right(r);
	CHECK(met(r, operation::rmw, order::acquire) == "1010");
}

TEST_CASE("met: by atomics alone, though no data are plain")
{
	struct two {
		atomic<u8> flag, data;
	};
	const auto published = client<two>([](two &w, unsigned cpu) {
		if (cpu == 0) {
			w.data.store_relaxed(1);
			w.flag.store_release(1);
		} else if (w.flag.load_acquire()) {
			model::check(w.data.load_relaxed() == 1);
		}
	});

	CHECK(verdicts(published) == std::vector<unsigned>{2, 0, 0});
	CHECK(published(both_noted).unmet.empty());
}

/* They order a store before a load, and no data: each is needed. */
TEST_CASE("met: fences of a store before a load")
{
	struct flags {
		atomic<u8> mine[2];
		unsigned seen = 0;
	};
	const auto body = [](flags &w, unsigned cpu) {
		w.mine[cpu].store_relaxed(1);
		klock::fence_seq_cst();
		if (w.mine[1 - cpu].load_relaxed())
			w.seen++;
	};
	const auto end = [](flags &w) { model::check(w.seen > 0); };
	const auto buffers = client<flags>(body, end);

	CHECK(verdicts(buffers) == std::vector<unsigned>{1, 0, 0});
	CHECK(buffers(both_noted).unmet.empty());
}

TEST_CASE("met: workers meet what one process does")
{
	struct many {
		atomic<u8> a, b, c;
	};
	const auto explore = [](unsigned workers) {
		return model::explore<many>(
			{.sections = {1, 1, 1}, .workers = workers},
			[](many &w, unsigned cpu) {
				/* The branch put off first is explored last. */
				if (cpu == 0 && w.a.load_relaxed())
					(void)w.b.load_acquire();
				if (cpu == 1) {
					w.b.store_release(1);
					w.a.store_relaxed(1);
				}
				for (int i = 0; i < 4; i++)
					(void)w.c.fetch_add_acq_rel(1);
			});
	};
	const result one = explore(1), two = explore(2);

	INFO(text_of_unmet(one) << text_of_unmet(two));
	CHECK(one.complete > 4000);
	CHECK(one.unmet.empty());
	CHECK(two.unmet.empty());
}

/* It lies in a folder that is not the C++ library's. */
TEST_CASE("met: uses of code in a folder c++")
{
	const auto r = model::explore<message>(
		both_noted, [](message &m, unsigned cpu) {
#line 1 "/src/c++/flag.hpp"
			if (cpu == 0)
				m.ready.store_release(1);
			else
				(void)m.ready.load_acquire();
		});

	CHECK(r.uses.size() == 2);
}

} // namespace of_met
