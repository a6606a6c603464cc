/* SPDX-License-Identifier: MIT */
/*
 * timed_clients - locks that can be given up, and whoever gives up
 *
 * The checker ends a wait with a deadline at any look, or never where the CPU
 * is in options.patient: one client is all deadlines.
 */
#pragma once

#include "lock_worlds.hpp"

namespace worlds {

/* counted, and who gave up; each CPU its own number, on the host. */
template <typename Subject>
struct timed : counted<Subject> {
	unsigned gave_up[most_cpus] = {};

	/* True: was inside. */
	bool section_by_deadline(unsigned cpu)
	{
		auto &who = this->who[cpu];

		if (!who.try_lock_until(this->lock, 1)) {
			gave_up[cpu]++;
			return false;
		}
		this->add();
		who.unlock(this->lock);
		return true;
	}

	void section_by_try(unsigned cpu)
	{
		auto &who = this->who[cpu];

		if (!who.try_lock(this->lock)) {
			gave_up[cpu]++;
			return;
		}
		this->add();
		who.unlock(this->lock);
	}

	/* At rest: every section is accounted for, and the lock is free. */
	void at_rest(const options &how)
	{
		unsigned without = 0;

		for (unsigned cpu = 0; cpu < how.sections.size(); cpu++) {
			without += gave_up[cpu];
			if (how.patient >> cpu & 1)
				model::check(gave_up[cpu] == 0,
					     "the patient get in");
		}
		model::check(this->count.get() + without == sum(how.sections),
			     "every section counted");
		for (unsigned cpu = 0; cpu < how.sections.size(); cpu++) {
			model::check(this->who[cpu].try_lock(this->lock),
				     "the lock is free");
			this->who[cpu].unlock(this->lock);
		}
	}
};

/* All by a deadline; those in options.patient wait for ever. */
template <typename Subject>
result gives_up(const options &how)
{
	using world = timed<Subject>;

	return model::explore<world>(
		how,
		[](world &w, unsigned cpu) {
			(void)w.section_by_deadline(cpu);
		},
		[how](world &w) { w.at_rest(how); });
}

/* CPU 0 tries and gives up, turn by turn; the others wait. */
template <typename Subject>
result gives_up_and_tries(options how)
{
	using world = timed<Subject>;
	struct turns : world {
		bool tries[most_cpus] = {};
	};

	how.patient = ~1u;
	return model::explore<turns>(
		how,
		[](turns &w, unsigned cpu) {
			if (cpu == 0 && (w.tries[0] = !w.tries[0]))
				w.section_by_try(cpu);
			else
				(void)w.section_by_deadline(cpu);
		},
		[how](turns &w) { w.at_rest(how); });
}

/* Who never leaves keeps out the others, and none of them for ever. */
template <typename Subject>
result holder_stays(const options &how)
{
	using world = timed<Subject>;

	return model::explore<world>(how, [](world &w, unsigned cpu) {
		if (cpu == 0)
			w.who[0].lock(w.lock);
		else if (w.who[cpu].try_lock_until(w.lock, 1))
			w.who[cpu].unlock(w.lock);
	});
}

/*
 * Until enough(result) says so: true if it did. Of two CPUs and of three, each
 * with a lock made for so many: what a full ring needs shows in no other.
 */
template <typename Subject, typename Enough>
bool each_timed_client(const options &how, Enough enough)
{
	constexpr bool two = Subject::capacity == 2;
	const auto with = [&how](std::vector<unsigned> sections,
				 unsigned patient) {
		options o = how;
		o.sections = sections;
		o.patient = patient;
		return o;
	};

	if (two)
		return enough(gives_up<Subject>(with({2, 2}, 0))) ||
		       enough(gives_up<Subject>(with({2, 2}, 1))) ||
		       enough(gives_up_and_tries<Subject>(with({4, 3}, 0))) ||
		       enough(gives_up<Subject>(with({3, 3}, 0)));
	return enough(gives_up<Subject>(with({1, 1, 1}, 0))) ||
	       enough(gives_up<Subject>(with({2, 1, 1}, 1))) ||
	       enough(gives_up_and_tries<Subject>(with({3, 1, 1}, 0)));
}

/* The same lock of the list, made for two CPUs, and as it is. */
template <typename Subject, typename Enough>
bool timed_clients_of_two_and_three(const options &how, Enough enough)
{
	bool found = false;

	klock::selftest::all_locks<2>::for_each([&]<typename Two>() {
		if constexpr (klock::timed_lockable<typename Two::lock>)
			if (!found && Two::name == std::string(Subject::name))
				found = each_timed_client<Two>(how, enough);
	});
	return found || each_timed_client<Subject>(how, enough);
}

} // namespace worlds
