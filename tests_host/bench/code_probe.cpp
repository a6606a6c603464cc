/* SPDX-License-Identifier: MIT */
/*
 * code_probe - every lock's code as functions of their own, for code.py
 *
 * Without an argument: a line per lock and function, with its address; the
 * program is not relocated, so that nm and objdump know it by that address.
 * With "run": calls each once, for callgrind to count. Locks that are built
 * for a number of CPUs are built for 8: the same on every machine.
 */
#include "../tool.hpp"
#include "bench.hpp"
#include "peers/peers.hpp"

#include <klock/selftest/locks.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

using namespace bench;
using klock::selftest::contender;

namespace {

template <typename L>
struct code {
	using who = contender<L>;

	[[gnu::noinline]] static void lock(L &l, who &w) { w.lock(l); }
	[[gnu::noinline]] static void unlock(L &l, who &w) { w.unlock(l); }
	[[gnu::noinline]] static bool try_lock(L &l, who &w)
	{
		if constexpr (klock::try_lockable<L>)
			return w.try_lock(l);
		return false;
	}
};

/* Those of a reader, and of a writer: lock() and unlock() of each. */
template <typename L>
struct shared_code {
	using who = sharer<L>;

	[[gnu::noinline]] static void lock(L &l, who &w) { w.read_lock(l); }
	[[gnu::noinline]] static void unlock(L &l, who &w) { w.read_unlock(l); }
	[[gnu::noinline]] static void write_lock(L &l, who &w)
	{
		w.write_lock(l);
	}
	[[gnu::noinline]] static void write_unlock(L &l, who &w)
	{
		w.write_unlock(l);
	}
};

template <typename Function>
void print(const char *name, const char *kind, const char *family,
	   const char *which, Function *at)
{
	std::printf("%s;%s;%s;%s;%p\n", name, kind, family, which,
		    reinterpret_cast<void *>(at));
}

template <typename Subject>
void visit(const char *kind, const char *family, bool run)
{
	using lock = typename Subject::lock;
	using c = code<lock>;
	/* Through these, so that nothing is known of the callee. */
	void (*volatile take)(lock &, contender<lock> &) = c::lock;
	void (*volatile leave)(lock &, contender<lock> &) = c::unlock;
	bool (*volatile try_take)(lock &, contender<lock> &) = c::try_lock;

	if (run) {
		const auto l = std::make_unique<lock>();
		const auto who = std::make_unique<contender<lock>>(0);
		take(*l, *who);
		leave(*l, *who);
		if (try_take(*l, *who))
			leave(*l, *who);
		return;
	}
	print(Subject::name, kind, family, "lock", take);
	print(Subject::name, kind, family, "unlock", leave);
	if (klock::try_lockable<lock>)
		print(Subject::name, kind, family, "try_lock", try_take);
}

template <typename L>
using action = void (*)(L &, sharer<L> &);

/* A pair of them under one name, or run once. */
template <typename L>
void visit_pair(const std::string &name, const char *kind,
		const std::string &family, bool run, action<L> takes,
		action<L> leaves)
{
	action<L> volatile take = takes;
	action<L> volatile leave = leaves;

	if (run) {
		const auto l = std::make_unique<L>();
		const auto who = std::make_unique<sharer<L>>(*l, 0u);
		take(*l, *who);
		leave(*l, *who);
		return;
	}
	print(name.c_str(), kind, family.c_str(), "lock", take);
	print(name.c_str(), kind, family.c_str(), "unlock", leave);
}

/* klock's writers are in the list of all locks already. */
template <typename Subject>
void visit_shared(const char *kind, const std::string &family, bool run)
{
	using lock = typename Subject::lock;
	using c = shared_code<lock>;
	const std::string name = Subject::name;

	visit_pair<lock>("read of " + name, kind,
			 family.empty() ? "" : "read of " + family, run,
			 c::lock, c::unlock);
	if (!family.empty())
		visit_pair<lock>("write of " + name, kind, family, run,
				 c::write_lock, c::write_unlock);
}

} // namespace

int main(int argc, char **argv)
{
	tool::begin(argc, argv, "usage: klock_bench_code [run]\n");
	const bool run = argc == 2 && std::string_view(argv[1]) == "run";
	if (argc > 1 && !run)
		tool::mistake(argv[1] + std::string(": unknown"));

	klock::selftest::all_locks<8>::for_each(
		[&]<typename Subject>() { visit<Subject>("klock", "", run); });
	sleeping_locks::for_each(
		[&]<typename Subject>() { visit<Subject>("klock", "", run); });
	for_each_peer([&]<typename Subject>() {
		visit<Subject>("peer", Subject::counterpart, run);
	});
	klock::selftest::all_shared_locks<8>::for_each([&]<typename Subject>() {
		visit_shared<Subject>("klock", "", run);
	});
	for_each_shared_peer([&]<typename Peer>() {
		visit_shared<Peer>("peer", Peer::counterpart, run);
	});
	return tool::end(0);
}
