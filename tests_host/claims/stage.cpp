/* SPDX-License-Identifier: MIT */
#include "stage.hpp"

#include <cstdio>
#include <cstdlib>

namespace claims {

actor::actor(std::function<void()> lock_, std::function<void()> unlock_)
    : lock(std::move(lock_)), unlock(std::move(unlock_)),
      thread([this] { play(); })
{
}

actor::~actor()
{
	if (now != place::outside) {
		std::fputs("actor: is not outside at the end\n", stderr);
		std::abort();
	}
	{
		std::lock_guard hold(mutex);
		leaving = true;
	}
	cue.notify_one();
	thread.join();
}

place actor::step()
{
	std::unique_lock hold(mutex);

	moving = true;
	cue.notify_one();
	stopped.wait(hold, [this] { return !moving; });
	return now;
}

void actor::play()
{
	klock::arch::watched_by = this;
	{
		std::unique_lock hold(mutex);
		await_cue(hold);
	}
	while (!leaving) {
		lock();
		stop_at(place::inside);
		unlock();
		stop_at(place::outside);
	}
}

void actor::stop_at(place there)
{
	std::unique_lock hold(mutex);

	now = there;
	moving = false;
	stopped.notify_one();
	await_cue(hold);
}

void actor::await_cue(std::unique_lock<std::mutex> &hold)
{
	cue.wait(hold, [this] { return moving || leaving; });
}

place stage_of_any::step(unsigned who)
{
	watchdog::note(by.type, "a step of actor", who);
	return cast[who].step();
}

unsigned stage_of_any::count(place there) const
{
	unsigned sum = 0;

	for (const actor &a : cast)
		sum += a.where() == there;
	return sum;
}

void stage_of_any::steps(std::initializer_list<unsigned> actors)
{
	for (unsigned who : actors)
		step(who);
}

void stage_of_any::all_come()
{
	for (unsigned i = 0; i < size(); i++)
		step(i);
}

bool stage_of_any::looks(unsigned who, unsigned most)
{
	for (unsigned i = 0; i < most && where(who) == place::waits; i++)
		step(who);
	return where(who) == place::inside;
}

bool stage_of_any::serves(unsigned who)
{
	if (step(who) != place::inside)
		return false;
	step(who);
	return true;
}

void stage_of_any::all_look()
{
	for (unsigned i = size(); i-- > 0;)
		if (where(i) == place::waits)
			step(i);
}

void stage_of_any::clear()
{
	/* More than the turns that a back-off pauses, for each who waits. */
	constexpr int patience = 1 << 14;

	for (int round = 0; round < patience; round++) {
		if (count(place::outside) == size())
			return;
		all_look();
		for (unsigned i = 0; i < size(); i++) {
			if (where(i) != place::inside)
				continue;
			step(i);
			break;
		}
	}
	report_stuck();
}

std::vector<u8> stage_of_any::bytes() const
{
	const u8 *from = static_cast<const u8 *>(its_lock);
	std::vector<u8> out(by.size);

	for (usize i = 0; i < by.size; i++)
		out[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
	return out;
}

void stage_of_any::add(void *contender)
{
	cast.emplace_back(
		[this, contender] { by.lock(its_lock, contender); },
		[this, contender] { by.unlock(its_lock, contender); });
}

void stage_of_any::report_stuck() const
{
	static const char *const words[] = {"is outside", "waits", "is inside"};

	std::fputs("stage: no way out\n", stderr);
	for (unsigned i = 0; i < size(); i++)
		std::fprintf(stderr, "  %u %s\n", i,
			     words[static_cast<int>(where(i))]);
	std::abort();
}

} // namespace claims
