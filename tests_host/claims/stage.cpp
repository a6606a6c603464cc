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

} // namespace claims
