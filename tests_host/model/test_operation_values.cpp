/* SPDX-License-Identifier: MIT */
/*
 * What the hooked port and the checker compute, for every operation and type.
 */
#include <model/model.hpp>
#include <operations/values.hpp>

#include <catch.hpp>

#include <string>

using namespace klock;
using namespace klock::tests;

TEST_CASE("operations: without an engine they act on the memory")
{
	const report r = try_all_values();

	INFO(r.operation << " of " << r.bytes << " bytes");
	CHECK(r.failed == 0);
}

TEST_CASE("operations: the checker computes what the name says")
{
	struct nothing {};
	report r;
	bool ok = true;
	const auto on_a_cpu = [&](auto piece) {
		if (!ok)
			return;
		const auto found = model::explore<nothing>(
			{.sections = {1}},
			[&](nothing &, unsigned) { piece(r); },
			[](nothing &) {});
		INFO(found.message << "\n" << found.timeline);
		CHECK((ok = found.ok() && found.exhaustive && !r.failed));
	};

	each_piece_of_values(on_a_cpu);
	each_piece_of_pairs(on_a_cpu);
	each_piece_of_fields(on_a_cpu);
	INFO(r.operation << " of " << r.bytes << " bytes, found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 100'000);
}

namespace {

struct counted {
	atomic<int> count{0};
	atomic<u8> ticket{3};
	atomic<wide> state{wide::most};
};

} // namespace

TEST_CASE("operations: counter_bits narrows counters, and nothing else")
{
	const auto r = model::explore<counted>(
		{.sections = {1}, .counter_bits = 2},
		[](counted &c, unsigned) {
			c.count.fetch_add_relaxed(-1);
			c.ticket.fetch_add_relaxed(1);
			c.state.exchange_relaxed(wide::minus);
		},
		[](counted &c) {
			model::check(c.count.load_relaxed() == -1, "count");
			model::check(c.ticket.load_relaxed() == 0, "ticket");
			model::check(c.state.load_relaxed() == wide::minus,
				     "state");
		});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.complete == 1);
}

TEST_CASE("operations: a timeline shows a negative number as one")
{
	const auto r = model::explore<counted>(
		{.sections = {1}},
		[](counted &c, unsigned) {
			c.count.fetch_sub_relaxed(5);
			model::check(false);
		},
		[](counted &) {});

	INFO(r.timeline);
	CHECK(r.timeline.find("fetch_sub") != std::string::npos);
	CHECK(r.timeline.find("0 -> -5") != std::string::npos);
}
