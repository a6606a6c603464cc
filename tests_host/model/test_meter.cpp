/* SPDX-License-Identifier: MIT */
/*
 * calibrate's handoff_meter: a ball that goes to and fro hands on what a lock
 * would, by orders that are all needed.
 */
#include <klock/calibrate.hpp>
#include <klock/plain.hpp>
#include <model/model.hpp>

#include <catch.hpp>

using model::options;
using model::result;

namespace {

/* Each side says something before its part of a handoff, and then listens. */
struct table {
	union {
		klock::handoff_meter meter;
	};
	klock::plain<unsigned> thrown, answered, finished;

	table() : meter()
	{
		model::name(meter, "ball");
		model::name(thrown, "thrown");
		model::name(answered, "answered");
		model::name(finished, "finished");
	}
	~table() {}

	void throws()
	{
		thrown.set(1);
		meter.there_and_back(1);
		model::check(answered.get() == 1, "what was answered is seen");
		finished.set(1);
		meter.finish();
		meter.~handoff_meter();
	}

	void answers()
	{
		answered.set(1);
		model::check(meter.answer_once(), "thrown to be answered");
		model::check(thrown.get() == 1, "what was thrown is seen");
		model::check(!meter.answer_once(), "thrown for the last time");
		model::check(finished.get() == 1, "what was finished is seen");
	}
};

result play(options how)
{
	how.sections = {1, 1};
	return model::explore<table>(how, [](table &t, unsigned cpu) {
		if (cpu == 0)
			t.throws();
		else
			t.answers();
	});
}

} // namespace

TEST_CASE("meter: a handoff hands on, there and back, and the meter may end")
{
	const result r = play({});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete == 1);
}

TEST_CASE("meter: each of its orders is needed")
{
	const result whole = play({.record_uses = true});
	unsigned tried = 0;

	for (const model::use &u : whole.uses) {
		if (!u.file.ends_with("klock/calibrate.hpp"))
			continue;
		for (const model::weakening &w : model::weakenings(u)) {
			INFO(model::text(w));
			CHECK_FALSE(play({.weaken = w}).ok());
			tried++;
		}
	}
	/* O1 to O6, each acquire or release: one step to relaxed. */
	CHECK(tried == 6);
}
