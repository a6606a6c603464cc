/* SPDX-License-Identifier: MIT */
#include "workers.hpp"
#include "checker.hpp"
#include "crash.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace model {

/* -- The pool ---------------------------------------------------------------
 */

pool *pool::make(unsigned workers)
{
	void *const at =
		::mmap(nullptr, sizeof(pool), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return nullptr;
	/* Zero bytes, as mapped, are right for all members. */
	pool *const p = static_cast<pool *>(at);
	p->workers = workers;
	return p;
}

void pool::unmake() { ::munmap(this, sizeof(*this)); }

void pool::lock()
{
	while (held.test_and_set(std::memory_order_acquire))
		::usleep(1);
}

bool pool::take(graph &into)
{
	lock();
	idle++;
	for (;;) {
		if (stop || over || (idle == workers && !given))
			break;
		for (slot &s : slots) {
			if (!s.full)
				continue;
			into.unpack(s.bytes);
			s.full = false;
			given--;
			idle--;
			unlock();
			return true;
		}
		unlock();
		::usleep(100);
		lock();
	}
	unlock();
	return false;
}

bool pool::give(const graph &g)
{
	const std::vector<u8> bytes = g.packed();
	bool gone = false;

	if (bytes.size() > sizeof(slot::bytes))
		return false;
	lock();
	if (idle > given) {
		for (slot &s : slots) {
			if (s.full)
				continue;
			std::memcpy(s.bytes, bytes.data(), bytes.size());
			s.full = gone = true;
			given++;
			break;
		}
	}
	unlock();
	return gone;
}

u64 pool::executions() const
{
	u64 all = 0;

	for (unsigned w = 0; w < workers; w++)
		all += of[w].explored + of[w].blocked + of[w].panicked;
	return all;
}

/* -- The processes ----------------------------------------------------------
 */

namespace {

unsigned how_many(unsigned asked)
{
	const unsigned cores = std::thread::hardware_concurrency();
	const unsigned all = asked ? asked : cores;

	return all < most_workers ? all : most_workers;
}

/*
 * Reaps the worker if it has ended, without waiting for it. Returns true if it
 * has ended, now or before; ended_well is cleared if it died or failed.
 */
bool reap_if_ended(pid_t &worker, bool &ended_well)
{
	int status = 0;

	if (!worker || ::waitpid(worker, &status, WNOHANG) != worker)
		return !worker;
	worker = 0;
	ended_well &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return true;
}

/* Waits until all have ended; false if one of them found anything, or died. */
template <typename Look>
bool all_end(std::vector<pid_t> &workers, Look look)
{
	bool well = true;

	for (bool all = false; !all && well;) {
		::usleep(1000);
		all = true;
		for (pid_t &w : workers)
			all &= reap_if_ended(w, well);
		look();
	}
	for (pid_t w : workers) {
		if (!w)
			continue;
		::kill(w, SIGKILL);
		::waitpid(w, nullptr, 0);
	}
	return well;
}

} // namespace

/*
 * True if the others have explored the whole stack, and found nothing. If one
 * finds something, this process goes on alone, with its own stack: so it comes
 * to the same finding as without workers.
 */
bool checker::share_work(progress &shown)
{
	const unsigned count = how_many(task.given->workers);
	const u64 before = task.executions();
	pool *const p = count > 1 ? pool::make(count) : nullptr;

	if (!p)
		return false;
	std::vector<pid_t> workers;
	for (unsigned w = 0; w < count; w++) {
		const pid_t child = ::fork();
		if (child == 0)
			work_for(*p, w);
		if (child > 0)
			workers.push_back(child);
		else
			p->stop = true;
	}
	const bool well =
		all_end(workers,
			[&] {
				double share = work.share_done();
				for (unsigned w = 0; w < count; w++)
					share += p->of[w].share;
				shown.at(before + p->executions(), share);
				if (is_late())
					p->over = true;
				handlers_wait::let_in();
			}) &&
		workers.size() == count;
	for (unsigned w = 0; well && w < count; w++) {
		task.out.complete += p->of[w].complete;
		task.out.explored += p->of[w].explored;
		task.out.blocked += p->of[w].blocked;
		task.out.panicked += p->of[w].panicked;
		task.out.left_out += p->of[w].left_out;
		task.turns_left_out += p->of[w].turns_left_out;
		task.out.in_vain += p->of[w].in_vain;
		task.out.ran += p->of[w].ran;
		for (unsigned i = 1; i < p->of[w].many; i++) {
			const operation_table::one &o = p->of[w].used[i];
			operations[operations.number(o.where, o.what,
						     o.written)]
				.seen |= o.seen;
		}
	}
	if (well && p->over) {
		look_at_clock();
		if (task.out.limit.empty())
			task.out.limit = "max_executions";
	} else if (well)
		work.clear();
	p->unmake();
	return well;
}

/* Explores every n-th graph of the stack, then graphs of the others. */
void checker::work_for(pool &p, unsigned number)
{
	pool::tally &mine = p.of[number];
	const u64 left = task.given->max_executions - task.executions();

	::prctl(PR_SET_PDEATHSIG, SIGKILL);
	timer::start();
	work.keep_part(number, p.workers);
	task.out.complete = task.out.explored = task.out.blocked =
		task.out.panicked = task.out.ran = 0;
	task.out.left_out = task.out.in_vain = task.turns_left_out = 0;
	work.forget_share();
	do {
		while (!work.empty() && !p.stop && !p.over) {
			explore_next();
			if (!task.out.ok() || !task.out.limit.empty() ||
			    task.run_all || symmetry.failed() || task.endless) {
				p.stop = true;
				::_exit(1);
			}
			mine.complete = task.out.complete;
			mine.explored = task.out.explored;
			mine.blocked = task.out.blocked;
			mine.panicked = task.out.panicked;
			mine.left_out = task.out.left_out;
			mine.turns_left_out = task.turns_left_out;
			mine.in_vain = task.out.in_vain;
			mine.ran = task.out.ran;
			mine.share = work.share_done();
			if (task.runs % 256 == 0 && p.executions() >= left)
				p.over = true;
			if (work.size() > 1 && p.hungry() &&
			    p.give(work.lowest()))
				work.drop_lowest();
		}
		if (p.stop || p.over)
			break;
		work.push(work.make());
	} while (p.take(work.top()));
	mine.many = static_cast<unsigned>(
		std::min(operations.all.size(), std::size(mine.used)));
	std::copy_n(operations.all.begin(), mine.many, mine.used);
	::_exit(p.stop || !symmetry.seems_right(learning.known()));
}

static std::string in_thousands(u64 n)
{
	std::string digits = std::to_string(n);

	for (std::size_t at = digits.size(); at > 3;)
		digits.insert(at -= 3, 1, ',');
	return digits;
}

/*
 * The share assumes that each branch leads to as many executions as its
 * siblings. So it is printed only roughly.
 */
std::string progress_text(u64 executions, double seconds, double share)
{
	const auto rate = static_cast<double>(executions) / seconds;
	std::string line = in_thousands(executions) + " executions, " +
			   in_thousands(static_cast<u64>(rate)) + " per second";

	if (share < 0.001)
		return line + ", under 0.1 %";
	char rest[64];
	std::snprintf(rest, sizeof(rest), ", about %.*f %%, %.0f s left",
		      share < 0.1, share * 100, seconds * (1 - share) / share);
	return line + rest;
}

void progress::at(u64 executions, double share)
{
	using seconds = std::chrono::duration<double>;
	const auto now = clock::now();

	if (now - last < std::chrono::seconds(1) || !::isatty(STDERR_FILENO))
		return;
	last = now;
	shown = true;
	std::fprintf(
		stderr, "\r\033[K%s",
		progress_text(executions, seconds(now - start).count(), share)
			.c_str());
}

progress::~progress()
{
	if (shown)
		std::fputs("\r\033[K", stderr);
}

} // namespace model
