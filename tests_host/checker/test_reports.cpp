/* SPDX-License-Identifier: MIT */
/*
 * Texts that a user reads: members by name, from debugging information;
 * compiled with -g, for klock::model_plain.
 */
#include "verdict.hpp"

#include <model/model.hpp>
#include <model/var.hpp>

#include <catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace of_reports {

using enum std::memory_order;
using verdict::has;

namespace {

/* The timeline of two CPUs, both of which do this: a data race, or a fault. */
template <typename World, typename Body>
std::string shown(Body body)
{
	return model::explore<World>({.runs = {1, 1}},
				     [body](World &w, unsigned) {
					     body(w);
					     model::check(false);
				     })
		.timeline;
}

struct counted {
	std::atomic<int> references{0};
};

struct empty {};

struct node {
	static inline int of_all = 0;
	std::atomic<int> key;
	std::atomic<node *> next;
};

/* Three bytes of it are padding. */
struct tagged {
	char tag;
	int index;
};

struct packed {
	struct {
		short x;
		signed char y;
	} at;
	unsigned char flags[2];
	unsigned char low : 3, high : 5;
};

struct to_node {
	node *to;
};

struct all : empty, counted {
	std::atomic<unsigned> head{0};
	node slot[3][2];
	union {
		int number;
		float real;
	};
	std::array<std::atomic<char>, 4> letters;
	model::var<int> declared{0};
	std::unique_ptr<node> made = std::make_unique<node>();
	std::vector<int> several{1, 2};
	std::atomic<void *> to{nullptr};
	const volatile int fixed = 7;
	node single;
	std::string text = "some";
	std::mutex door;
	std::shared_mutex doors[2];
	std::atomic<tagged> tag{tagged{'a', -3}};
	std::atomic<packed> fields{packed{{4, -5}, {1, 2}, 5, 7}};
	std::atomic<to_node> link{};
};

} // namespace

TEST_CASE("reports: a member has its name")
{
	const struct {
		const char *row;
		void (*access)(all &);
	} rows[] = {
		{"store references = 1 ",
		 [](all &w) { w.references.store(1); }},
		{"store head = 1 ", [](all &w) { w.head.store(1); }},
		{"store slot[2][1].key = 1 ",
		 [](all &w) { w.slot[2][1].key.store(1); }},
		{"store slot[0][1].next = &slot[1][0] ",
		 [](all &w) { w.slot[0][1].next.store(&w.slot[1][0]); }},
		{"store to = &head ", [](all &w) { w.to.store(&w.head); }},
		{"store to = &single ", [](all &w) { w.to.store(&w.single); }},
		{"write text+0x12 ", [](all &w) { w.text[2] = 'x'; }},
		{"write number", [](all &w) { w.number = 1; }},
		{"store letters[3] = 1 ",
		 [](all &w) { w.letters[3].store(1); }},
		{"write declared 1", [](all &w) { w.declared.set(1); }},
		{"store made.0+0x8 = 0 ",
		 [](all &w) { w.made->next.store(nullptr); }},
		{"read several ", [](all &w) { (void)w.several.front(); }},
		{"read several+0x8 ", [](all &w) { (void)w.several.back(); }},
		{"read fixed ", [](all &w) { (void)+w.fixed; }},
		{"await_exchange door 0 -> ", [](all &w) { w.door.lock(); }},
		{"doors[1] 0 -> ", [](all &w) { w.doors[1].lock(); }},
		{"load tag {tag 97, index -3} ",
		 [](all &w) { (void)w.tag.load(); }},
		{"load fields {at {x 4, y -5}, flags {1, 2}, low 5, high 7} ",
		 [](all &w) { (void)w.fields.load(); }},
		{"store link = {to &single} ",
		 [](all &w) { w.link.store({&w.single}); }},
		{"store new0.0 = {tag 98, index 4} ",
		 [](all &) {
			 (new std::atomic<tagged>)->store({'b', 4});
		 }},
	};
	CHECK(node::of_all == 0); /* it is in no node */
	for (const auto &r : rows) {
		const std::string in = shown<all>(r.access);

		INFO(r.row << "\n" << in);
		CHECK(has(in, r.row));
	}
}

TEST_CASE("reports: an atomic's constructor is called from the code's line")
{
	const std::string in =
		shown<all>([](all &) { (void)new std::atomic<int>{1}; });

	INFO(in);
	CHECK(has(in, "write new0.0"));
	CHECK_FALSE(has(in, "std_atomic.hpp"));
}

/* Bit-fields of one byte: a wrong name would be worse than none. */
TEST_CASE("reports: a bit-field is an offset")
{
	struct world {
		unsigned low : 3 = 0, high : 5 = 0;
	};
	const std::string in = shown<world>([](world &w) { w.high = 1; });

	INFO(in);
	CHECK(has(in, "write world "));
}

/* Types of one name, in one program. */
TEST_CASE("reports: a world is known by itself, not by its name")
{
	const auto first = [] {
		struct world {
			std::atomic<int> one{0};
		};
		return shown<world>([](world &w) { w.one.store(1); });
	};
	const auto second = [] {
		struct world {
			std::atomic<int> other{0};
		};
		return shown<world>([](world &w) { w.other.store(1); });
	};

	CHECK(has(first(), "store one = 1 "));
	CHECK(has(second(), "store other = 1 "));
}

namespace {

node global[2];

} // namespace

TEST_CASE("reports: a global variable has members, too")
{
	const std::string in =
		shown<all>([](all &) { global[1].next.store(nullptr); });

	INFO(in);
#ifdef __clang__ /* It writes indices for addresses, from DWARF 5 on. */
	CHECK(has(in, "store global"));
#else
	CHECK(has(in, "store global[1].next = 0 "));
#endif
}

/* They have no name in the program's symbols. */
TEST_CASE("reports: what is the explorer's own is told apart from globals")
{
	struct none {};
	int local = 0;
	const auto before = std::make_unique<int>();
	const std::string in = shown<none>([&](none &) {
		local = 1;
		*before = 1;
	});

	INFO(in);
	CHECK(has(in, "write local"));
	CHECK(has(in, "write heap0"));
	CHECK_FALSE(has(in, "static"));
}

TEST_CASE("reports: what is freed twice is named, and who freed it before")
{
	struct world {
		std::atomic<int *> to{nullptr};
	};
	const auto r = model::explore_threads<world>(
		{}, [](world &) {},
		[](world &w) {
			int *const made = new int(1);
			w.to.store(made);
			delete made;
		},
		[](world &w) { delete w.to.load(); });
	const std::string said =
		pattern::replaced(r.message, "test_reports.cpp:[0-9]+", "@");

	INFO(r.timeline);
	CHECK(has(said, "freed twice: new0.0, allocated at @, freed before by "
			"cpu"));
	CHECK(verdict::times(said, {"@"}) == 2);
	CHECK(has(r.timeline, "(test_reports.cpp:"));
}

TEST_CASE("reports: what one read-modify-write would mend is said")
{
	struct world {
		std::atomic<int> count{0};
	};
	const auto in = [](auto body, int least = 2) {
		return model::explore<world>(
			       {.runs = {1, 1}},
			       [body](world &w, unsigned) { body(w); },
			       [least](world &w) {
				       model::check(w.count >= least);
			       })
			.cause;
	};

	CHECK(has(in([](world &w) { w.count.store(w.count.load() + 1); }),
		  "; missing: rows 3 and 4 as one read-modify-write "
		  "(test_reports.cpp:"));
	/* A look, and then an addition. */
	CHECK(has(in(
			  [](world &w) {
				  if (!w.count.load())
					  model::check(!w.count++);
			  },
			  1),
		  "as one read-modify-write"));
	CHECK_FALSE(has(in([](world &w) { w.count.store(1); }),
			"read-modify-write"));
}

TEST_CASE("reports: an object that was named has members, too")
{
	struct world {
		node n;
		std::atomic<char> letters[4];
		std::atomic<int> *one = new std::atomic<int>;

		world()
		{
			model::name(n, "n of mine");
			model::name(letters, "text");
			model::name(*one, "one");
		}
		~world() { delete one; }
	};
	const std::string in = shown<world>([](world &w) {
		w.n.next.store(&w.n);
		w.letters[2].store('x');
		w.one->store(1);
	});

	INFO(in);
	CHECK(has(in, "store n of mine.next = &n of mine "));
	CHECK(has(in, "store text[2] = 120 "));
	CHECK(has(in, "store one = 1 "));
}

namespace {

struct published {
	std::atomic<bool> ready{false};
	int data = 0;
};

#undef NDEBUG
#include <cassert>
int with_asserts(published &p)
{
	assert(p.ready.load());
	return p.data;
}
#define NDEBUG
#include <cassert>
int as_shipped(published &p)
{
	assert(p.ready.load());
	return p.data;
}

/* Its look at `ready` has to be an acquire, and is not. */
template <int (*Read)(published &)>
model::bug found_with()
{
	return model::explore_threads<published>(
		       {}, [](published &) {},
		       [](published &p) {
			       p.data = 7;
			       p.ready.store(true, release);
		       },
		       [](published &p) {
			       if (p.ready.load(relaxed))
				       model::check(Read(p) == 7);
		       })
		.found;
}

} // namespace

/* As lib/docs/check-your-code.md says. */
TEST_CASE("reports: an assert() that loads hides an acquire that is missing")
{
	CHECK(found_with<with_asserts>() == model::bug::none);
	CHECK(found_with<as_shipped>() == model::bug::data_race);
}

namespace {

/* Twelve words, of which the other CPU reads one. */
struct large {
	long words[12] = {};
	std::atomic<large *> next{nullptr};
};

model::result publish(bool every_row)
{
	struct world {
		std::atomic<large *> head{nullptr};
	};
	return model::explore_threads<world>(
		{.every_row = every_row}, [](world &) {},
		[](world &w) {
			auto *const one = new large;
			for (long &word : one->words)
				word = 1;
			w.head.store(one, relaxed);
		},
		[](world &w) {
			if (auto *const one = w.head.load(acquire))
				model::check(one->words[5] == 1);
		});
}

std::size_t lines(const std::string &text)
{
	return static_cast<std::size_t>(
		std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("reports: accesses that no other CPU could notice are one row")
{
	const std::string all = publish(true).timeline;
	const std::string in = publish(false).timeline;

	INFO(all << in);
	CHECK(lines(all) > 15);
	CHECK(lines(in) < 12);
	CHECK(has(in, " own writes: new0.0 "));
	/* The read, and the write that it reads from. */
	CHECK(has(in, "write new0.0+0x28 "));
	CHECK(has(in, "read new0.0+0x28 "));
	CHECK(has(in, "BUG: data race with the write by cpu0"));
	/* The numbers of the rows that are left. */
	const auto found =
		pattern::found(in, "\n([0-9]+) +store head[^\n]*\n"
				   "[^\n]*load head[^\n]*reads row ([0-9]+)\n");
	REQUIRE(!found.empty());
	CHECK(found[1] == found[2]);
}

TEST_CASE("reports: rows that are not folded")
{
	struct world {
		std::atomic<int> flag{0}, mine{0};
		int first[2] = {}, second[2] = {}, last[6] = {};
	};
	const std::string in = model::explore_threads<world>(
				       {.shorten = 0}, [](world &) {},
				       [](world &w) {
					       for (int i = 0; i < 4; i++)
						       w.mine.store(i, relaxed);
					       w.flag.store(1, relaxed);
					       w.first[0] = 1;
					       w.first[1] = 1;
				       },
				       [](world &w) {
					       w.second[0] = 1;
					       w.second[1] = 1;
					       if (!w.flag.load(relaxed))
						       return;
					       for (int &one : w.last)
						       one++;
					       model::check(false);
				       })
				       .timeline;

	INFO(in);
	/* Atomics; two; two of another CPU beside them; the last three. */
	for (const char *row :
	     {"store mine = 2 ", "write first[0] ", "write second[1] ",
	      " 9 own accesses: last ", "write last[4] ", "read last[5] ",
	      "write last[5] "}) {
		INFO(row);
		CHECK(has(in, row));
	}
}

namespace {

/* The timeline of a race between cpu1 and cpu2, and what cpu0 does before. */
template <typename First>
std::string behind(First first)
{
	struct world {
		std::atomic<int> flag{0}, other{0};
		int data = 0;
	};
	const model::result r = model::explore_threads<world>(
		{.shorten = 0}, [](world &) {}, first,
		[](world &w) {
			w.data = 1;
			w.flag.store(1, relaxed);
		},
		[](world &w) {
			if (w.flag.load(acquire) && w.other.load(relaxed) == 0)
				model::check(w.data == 1);
		});

	CHECK(r.found == model::bug::data_race);
	return r.timeline;
}

} // namespace

TEST_CASE("reports: a CPU on which the finding does not depend is left out")
{
	const std::string alone = behind([](auto &w) {
		(void)w.flag.load(relaxed);
		(void)w.flag.load(relaxed);
	});
	/* cpu2 reads what was there before. */
	const std::string missed =
		behind([](auto &w) { w.other.store(1, relaxed); });
	/* It reads what cpu0 wrote. */
	const std::string read =
		behind([](auto &w) { w.other.store(0, relaxed); });

	INFO(alone << missed << read);
	CHECK(has(alone, "Not shown: rows of cpu0 (2), on which none"));
	CHECK(has(alone, "     cpu1                    cpu2\n"));
	CHECK(has(alone, "\n1    write data "));
	CHECK(has(missed, "1 write behind row 1\n"));
	CHECK(has(missed, "store other = 1 "));
	CHECK(has(read, "reads row 1\n"));
	CHECK_FALSE(has(missed + read, "Not shown"));
}

TEST_CASE("reports: a CPU on which the finding depends is there")
{
	struct world {
		std::atomic<int> a{0}, b{0};
	};
	const auto nothing = [](world &) {};
	/* A deadlock is what the others have not done: all are there. */
	const auto waiting = model::explore_threads<world>(
		{}, nothing, [](world &w) { (void)w.a.load(); },
		[](world &w) { w.a.wait(0); }, [](world &w) { w.b.wait(0); });
	const auto at_end = model::explore_threads<world>(
		{}, [](world &) { model::check(false); },
		[](world &w) { w.a.store(1); }, [](world &w) { w.b.store(1); });

	INFO(waiting.timeline << at_end.timeline);
	CHECK(waiting.found == model::bug::deadlock);
	CHECK_FALSE(has(waiting.timeline, "Not shown"));
	CHECK(has(waiting.timeline, "waits for b"));
	CHECK(has(at_end.timeline, "store a = 1 "));
	CHECK(has(at_end.timeline, "store b = 1 "));
}

TEST_CASE("reports: the verdict, in words")
{
	struct world {
		std::atomic<int> one{0};
	};
	const auto run = [](const model::options &how, bool ends, bool right) {
		return model::explore<world>(how, [=](world &w, unsigned) {
			w.one.fetch_add(1);
			model::assume(ends);
			model::check(right);
		});
	};
	const auto good = run({.runs = {1, 1}}, true, true);
	const auto cut = run({.runs = {1, 1}, .max_executions = 1}, true, true);
	const auto none = run({.runs = {1, 1}}, false, true);
	const auto bad = run({.runs = {1, 1}}, true, false);

	CHECK(model::text(good) == "ok, exhaustive, 2 executions\n");
	CHECK(good.proved());
	CHECK_FALSE(good.atomics_only);
	CHECK(model::text(cut) ==
	      cut.notes + "NOT EXHAUSTIVE: max_executions\n"
			  "no bug, not exhaustive, 1 execution\n");
	CHECK_FALSE(cut.proved());
	CHECK(model::text(none) ==
	      "nothing is shown: no execution came to its end\n");
	CHECK_FALSE(none.proved());
	CHECK(model::text(bad) == bad.timeline);
	CHECK(has(model::text(bad), "BUG: failed: check"));
	CHECK_FALSE(bad.proved());
	CHECK(has(model::text(run({}, true, true)),
		  "NOT EXHAUSTIVE: 1 to 16 CPUs"));
}

} // namespace of_reports
