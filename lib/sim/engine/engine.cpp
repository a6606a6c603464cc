/* SPDX-License-Identifier: MIT */
/*
 * scheduler - events in virtual time
 *
 * A CPU has one event at most: the end of its request, or its turn to go on. A
 * parked one and one that queues for a line have none. A line that serves has
 * one: when it is free for the next request.
 */
#include "engine.hpp"

#include <klock/os.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sim {

namespace {

engine *the_one = nullptr;

} // namespace

engine &the_engine() { return *the_one; }

engine::engine(const machine &which, unsigned cpus_in, u64 patient)
    : on(which), count(cpus_in), patience(patient), cpus(cpus_in)
{
	simulated_memory &memory = simulated_memory::the();

	for (unsigned c = 0; c < count; c++)
		cpus[c].runs = &memory.stack(c);
}

void engine::at(u64 when, unsigned cpu, line *free)
{
	events.push({when, orders++, cpu, free});
}

void engine::begin(void *)
{
	engine &e = the_engine();

	(*e.body)(e.current);
	e.me().finished = true;
}

void engine::settle()
{
	processor &p = me();

	if (events.empty() || events.top().time > p.now)
		return;
	at(p.now, current);
	fiber::suspend();
}

void engine::go_on(unsigned cpu)
{
	current = cpu;
	hooked::running = this;
	cpus[cpu].runs->resume();
	hooked::running = nullptr;
	current = nobody;
}

void engine::stop()
{
	/* It runs ahead of the last event, and alone there is none. */
	time = std::max(time, me().now);
	stopped = true;
	for (;;)
		fiber::suspend();
}

outcome engine::run(const std::function<void(unsigned)> &what)
{
	const char *why = "everybody waits, and nobody is left to end it";

	u64 end = 0;

	the_one = this;
	body = &what;
	unfinished = count;
	for (unsigned c = 0; c < count; c++) {
		cpus[c].runs->start(begin, nullptr);
		at(0, c);
	}

	while (!events.empty() && !stopped) {
		const event e = events.top();

		events.pop();
		time = e.time;
		if (time > last_progress + patience) {
			why = "no progress";
			break;
		}
		if (e.free) {
			hand_on(*e.free, time);
			continue;
		}
		processor &p = cpus[e.cpu];
		p.now = time;
		go_on(e.cpu);
		if (p.finished) {
			unfinished--;
			end = std::max(end, p.now);
			last_progress = std::max(last_progress, p.now);
		}
	}
	the_one = nullptr;
	if (stopped || unfinished == 0)
		return {true, std::max(end, time), ""};
	return {false, time, stuck(why)};
}

/*
 * operations - loads, stores and read-modify-writes, on the memory itself
 *
 * What an operation reads is what is there when access() returns: nobody else
 * can write to the line before this CPU's next operation.
 */

namespace {

u64 word_at(const hooked::window &w)
{
	u64 word = 0;

	std::memcpy(&word, w.at, w.bytes);
	return word;
}

void put_at(const hooked::window &w, u64 v)
{
	const u64 word = w.put(word_at(w), v);

	std::memcpy(const_cast<void *>(w.at), &word, w.bytes);
}

} // namespace

u64 engine::load(hooked::window w, order, site)
{
	me().did.loads++;
	access(w.at, false);
	return w.look(word_at(w));
}

/* A sequentially consistent store is a store and a fence, as on x86. */
void engine::store(hooked::window w, u64 v, order o, site s)
{
	me().did.stores++;
	access(w.at, true);
	put_at(w, v);
	if (o == order::seq_cst)
		fence(o, s);
}

u64 engine::rmw(hooked::window w, hooked::update how, u64 operand, order, site)
{
	processor &p = me();

	p.did.rmws++;
	access(w.at, true);
	p.now += on.rmw;
	const u64 found = w.look(word_at(w));
	put_at(w, hooked::updated(how, found, operand));
	return found;
}

/* A failed one takes the line as well: on x86 it is a locked write. */
bool engine::compare_exchange(hooked::window w, u64 &expected, u64 desired,
			      order, site)
{
	processor &p = me();

	p.did.rmws++;
	access(w.at, true);
	p.now += on.rmw;
	const u64 found = w.look(word_at(w));
	if (found != expected) {
		expected = found;
		return false;
	}
	put_at(w, desired);
	return true;
}

/* The weaker fences cost nothing on a machine that keeps stores in order. */
void engine::fence(order o, site)
{
	if (o != order::seq_cst)
		return;
	me().did.fences++;
	me().now += on.fence;
}

namespace {

/* Calls touch(a byte of it) for each line that the object lies on. */
template <typename Touch>
void each_line(const void *at, usize bytes, Touch touch)
{
	const char *const first = static_cast<const char *>(at);
	const char *const last = first + bytes - 1;

	for (const char *p = first; p < last; p += line_bytes)
		touch(p);
	touch(last);
}

} // namespace

void engine::read_plain(const void *at, usize bytes, site)
{
	me().did.loads++;
	each_line(at, bytes, [this, at](const void *p) {
		if (p == at || !lines.of(p).serves(current, false))
			access(p, false);
	});
}

void engine::write_plain(const void *at, const void *, usize bytes, site)
{
	me().did.stores++;
	each_line(at, bytes, [this, at](const void *p) {
		if (p == at || !lines.of(p).serves(current, true))
			access(p, true);
	});
}

void engine::relax(u32 turns) { me().now += u64{turns} * on.pause; }

bool engine::irq_flag(bool enabled)
{
	return std::exchange(me().irqs_on, enabled);
}

/*
 * waits - a CPU that looks again and again, without an event for each look
 *
 * A wait natively is: read, test, PAUSE, again. While the line stays in the
 * CPU's cache each look finds the same. So the CPU is parked, and when it loses
 * the line it goes on with the first look after that, at the very cycle at
 * which it would have come. The looks in between are counted, not simulated.
 *
 * A wait with a pace of its own is simulated look by look: its pauses are long,
 * its looks few, and the pace may itself read memory.
 */

void engine::begin_wait(const char *word, const hooked::window &w, site s)
{
	processor &p = me();

	p.waits = word;
	p.where = s;
	p.waits_at = w.at;
	p.since = p.now;
}

/*
 * The running CPU has looked in vain, and its clock is at the end of that look.
 * Comes back when it is time to look again.
 */
void engine::park(line &l, line *other, bool to_write, const counts &a_turn,
		  u64 turn)
{
	processor &p = me();

	p.now += on.pause;
	/* Lost already, while the look was on its way: nothing will tell. */
	if (!l.serves(current, to_write) ||
	    (other && !other->serves(current, to_write)))
		return;
	p.parked = true;
	p.to_write = to_write;
	p.watched[0] = &l;
	p.watched[1] = other;
	p.next_turn = p.now;
	p.turn = turn + on.pause;
	p.each_turn = a_turn;
	fiber::suspend();
}

/* It loses the line: on with the first look that is not before that. */
void engine::unpark(unsigned cpu, u64 when)
{
	processor &p = cpus[cpu];

	p.parked = false;
	if (p.next_turn < when) {
		const u64 looks = (when - p.next_turn + p.turn - 1) / p.turn;

		p.next_turn += looks * p.turn;
		p.did.loads += looks * p.each_turn.loads;
		p.did.rmws += looks * p.each_turn.rmws;
	}
	at(p.next_turn, cpu);
}

u64 engine::await(hooked::window w, hooked::test done, hooked::pace pace,
		  order o, site s)
{
	begin_wait("reads", w, s);
	for (;;) {
		const u64 v = load(w, o, s);

		me().sees = v;
		if (done(v)) {
			end_wait();
			return v;
		}
		if (pace.call)
			relax(pace(v));
		else
			park(lines.of(w.at), nullptr, false, {.loads = 1},
			     on.hit);
	}
}

/* Parked while the value can only change; look by look while it counts. */
u64 engine::await_patient(hooked::window w, hooked::patience patience, order o,
			  site s)
{
	begin_wait("reads", w, s);
	u64 last = load(w, o, s);

	for (u32 repeats = 0;;) {
		const u32 most = patience(last);

		me().sees = last;
		if (most == klock::endless) {
			park(lines.of(w.at), nullptr, false, {.loads = 1},
			     on.hit);
		} else if (repeats >= most) {
			end_wait();
			return last;
		} else {
			relax(1);
		}
		const u64 v = load(w, o, s);
		repeats = v == last ? repeats + 1 : 0;
		last = v;
	}
}

/* Look by look: the clock is read between two. */
u64 engine::await_until(hooked::window w, hooked::test done, u64 deadline,
			order o, site s)
{
	begin_wait("reads", w, s);
	for (;;) {
		const u64 v = load(w, o, s);

		me().sees = v;
		if (done(v) || me().now >= deadline) {
			end_wait();
			return v;
		}
		relax(1);
	}
}

u64 engine::await_exchange(hooked::window w, u64 v, hooked::test done, order o,
			   site s)
{
	begin_wait("exchanges", w, s);
	for (;;) {
		const u64 found = rmw(w, hooked::update::exchange, v, o, s);

		me().sees = found;
		if (done(found)) {
			end_wait();
			return found;
		}
		park(lines.of(w.at), nullptr, true, {.rmws = 1},
		     on.hit + on.rmw);
	}
}

/* Reads the one, then the other, turn by turn; sleeps until it loses either. */
void engine::await_either(hooked::window w, hooked::test done,
			  hooked::window other, hooked::test other_done,
			  order o, site s)
{
	begin_wait("reads, or another,", w, s);
	for (;;) {
		me().sees = load(w, o, s);
		if (done(me().sees) || other_done(load(other, o, s))) {
			end_wait();
			return;
		}
		line &l = lines.of(w.at);
		park(l, &lines.of(other.at), false, {.loads = 2}, 2 * on.hit);
	}
}

/*
 * stuck - who waits for what, when a run cannot go on
 */

namespace {

const char *text(mesi s)
{
	switch (s) {
	case mesi::modified:
		return "M";
	case mesi::exclusive:
		return "E";
	case mesi::shared:
		return "S";
	case mesi::invalid:
		return "I";
	}
	return "?";
}

const char *name_of(const char *file)
{
	const char *const slash = file ? std::strrchr(file, '/') : nullptr;

	return slash ? slash + 1 : file ? file : "?";
}

} // namespace

/* The first few CPUs: a thousand lines would hide them. */
std::string engine::stuck(const char *why) const
{
	constexpr unsigned most = 16;
	std::string out =
		std::string(why) + ", at cycle " + std::to_string(time) + ", " +
		std::to_string(last_progress) + " the last progress\n";
	unsigned told = 0, left = 0;

	for (unsigned c = 0; c < count; c++) {
		const processor &p = cpus[c];

		if (p.finished)
			continue;
		if (told++ >= most) {
			left++;
			continue;
		}
		out += "cpu " + std::to_string(c) + " ";
		if (!p.waits) {
			out += "runs\n";
			continue;
		}
		const line *const l = lines.find(p.waits_at);
		out += std::string(p.waits) + " line " +
		       std::to_string(l ? l->number : 0) + " (" +
		       (l ? text(l->state(c)) : "I") + " in its cache, owner " +
		       (!l || l->owner == nobody ? "nobody"
						 : std::to_string(l->owner)) +
		       "), at " + name_of(p.where.file) + ":" +
		       std::to_string(p.where.line) + " since cycle " +
		       std::to_string(p.since) + ", sees " +
		       std::to_string(p.sees) + "\n";
	}
	if (left)
		out += "and " + std::to_string(left) + " more\n";
	return out;
}

/*
 * api - what a test's body may call, and what klock/os.hpp asks of a kernel
 */

simulator::simulator(const machine &on, unsigned cpus, u64 patience)
{
	if (cpus < 1 || cpus > max_cpus || on.sockets < 1 ||
	    on.sockets > max_sockets || on.hit < 1) {
		std::fprintf(stderr,
			     "sim: 1 to %u CPUs, 1 to %u sockets, and a hit "
			     "takes a cycle at least\n",
			     max_cpus, max_sockets);
		std::abort();
	}
	its = std::make_unique<engine>(on, cpus, patience);
}

simulator::~simulator() = default;

outcome simulator::run(const std::function<void(unsigned)> &body)
{
	return its->run(body);
}

const counts &simulator::of(unsigned cpu) const { return its->cpus[cpu].did; }

counts simulator::total() const
{
	counts all;

	for (const processor &p : its->cpus)
		all += p.did;
	return all;
}

mesi simulator::state(const void *at, unsigned cpu) const
{
	const line *const l = its->lines.find(at);

	return l ? l->state(cpu) : mesi::invalid;
}

u64 simulator::lines_touched()
{
	its->round++;
	return std::exchange(its->touched, 0);
}

unsigned cpu() { return the_engine().current; }
u64 now() { return the_engine().me().now; }
void stop() { the_engine().stop(); }

void sleep_until(u64 cycle)
{
	u64 &clock = the_engine().me().now;

	clock = std::max(clock, cycle);
	the_engine().settle();
}

void work(u64 cycles) { sleep_until(now() + cycles); }

void progress() { the_engine().last_progress = now(); }

namespace detail {

void *lend(usize bytes, usize alignment)
{
	return simulated_memory::the().lend(bytes, alignment);
}

void take_back(void *at) { simulated_memory::the().take_back(at); }

} // namespace detail

} // namespace sim

extern "C" unsigned klock_os_cpu_id(void) { return sim::cpu(); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	std::fprintf(stderr, "sim: panic: %s, cpu %u: %s\n", lock_name, cpu,
		     what);
	std::abort();
}
