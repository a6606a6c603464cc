/* SPDX-License-Identifier: MIT */
#include "lookout.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" [[gnu::weak]] void __asan_init();

namespace model {

namespace {

constexpr usize page = 4096;
constexpr usize single_step = 0x100;

usize in_pages(usize bytes) { return (bytes + page - 1) & ~(page - 1); }

/* A debugger gets the signals before the checker does. */
bool is_traced()
{
	std::ifstream from("/proc/self/status");
	std::string line;

	while (std::getline(from, line))
		if (line.starts_with("TracerPid:"))
			return line.find_first_of("123456789") != line.npos;
	return false;
}

/* Why no access can be looked at; null: it can be. */
const char *what_prevents()
{
#if !defined(__x86_64__)
	return "this machine's instructions cannot be run one by one";
#else
	if (__asan_init)
		return "AddressSanitizer looks at the memory, too";
	if (is_traced())
		return "a debugger runs the program";
	return nullptr;
#endif
}

} // namespace

std::string lookout::start()
{
	const char *const reason = what_prevents();

	able = task.code->tells_of_plain && !reason && task.code->world_pages;
	has_found = stepping = always = false;
	detail::looks = able;
	if (able)
		std::fill(times.begin(), times.end(), u16{0});
	if (able || !task.code->tells_of_plain)
		return {};
	return std::string("NOTE: accesses that the compiler does not tell of "
			   "were not looked for: ") +
	       (reason ? reason : "the world is not on pages of its own") +
	       "\n";
}

void lookout::end()
{
	detail::looks = able = false;
	open_all();
}

void lookout::start_run(bool shows)
{
	stepping = false;
	for (tales &t : of)
		t = {};
	able = detail::looks;
	if (task.repairs || (shows && !has_found))
		able = false;
	always = has_found;
}

/* Decides whether what comes behind this is looked at. */
void lookout::choose(usize what)
{
	tales &mine = of[cpus.current()];
	u16 &before = times[(what ^ mine.read) % times.size()];

	mine.looks = always || before < 4 || std::has_single_bit(before);
	before += before < 0xffff;
}

void lookout::choose_by(usize operation, u64 value)
{
	constexpr u64 some = 0x9e3779b97f4a7c15, other = 0xc2b2ae3d27d4eb4f;

	of[cpus.current()].read = (operation * some ^ value * other) >> 40;
	choose(0);
}

/* -- The protected memory ---------------------------------------------------
 */

/* Code may not call mprotect() itself: while it runs, this is the checker's. */
static bool protect(char *from, usize bytes, int how)
{
	const bool before = detail::in_body;

	detail::in_body = false;
	const bool done = ::mprotect(from, bytes, how) == 0;
	detail::in_body = before;
	return done;
}

/* A part grows, until the next exploration. */
void lookout::close(part &p, const void *from, usize bytes)
{
	if (in_pages(bytes) <= p.closed)
		return;
	p.from = static_cast<char *>(const_cast<void *>(from));
	p.closed = in_pages(bytes);
	if (!protect(p.from, p.closed, PROT_NONE)) {
		able = detail::looks = false;
		p.closed = 0;
	}
}

void lookout::leave()
{
	if (!able || !klock::arch::hooked::running || !of[cpus.current()].looks)
		open_all();
	else
		close();
}

void lookout::close()
{
	is_closed = true;
	close(parts[0], task.code->world, task.code->world_pages);
	for (unsigned maker = 0; maker <= max_cpus; maker++) {
		const detail::part_of_heap heap = detail::heap_of(maker);
		close(parts[1 + maker], heap.start, heap.bytes);
	}
}

void lookout::open(part &p)
{
	if (p.closed)
		protect(p.from, p.closed, PROT_READ | PROT_WRITE);
	p.closed = 0;
}

void lookout::open_all()
{
	if (!is_closed)
		return;
	is_closed = false;
	for (part &p : parts)
		open(p);
}

/* -- Told accesses ----------------------------------------------------------
 *
 * An access and what is told of it are neighbours. So what is told next makes
 * what was told before worthless, once that is used.
 */

void lookout::told(const void *at, usize bytes, bool writes)
{
	tales &mine = of[cpus.current()];

	if (!able)
		return;
	if (mine.used)
		mine.many = 0;
	mine.used = false;
	mine.last[mine.many++ % std::size(mine.last)] = {
		static_cast<const char *>(at), bytes, writes, 0, 0};
}

void lookout::let_others_access()
{
	of[cpus.current()].many = 0;
	open_all();
}

/*
 * Each byte is accessed once; a write of some bits reads the others before.
 */
bool lookout::was_told(const char *at, bool writes)
{
	tales &mine = of[cpus.current()];
	const usize many = std::min<usize>(mine.many, std::size(mine.last));

	for (usize i = 0; i < many; i++) {
		tales::tale &t = mine.last[i];
		const usize offset = static_cast<usize>(at - t.at);
		if (offset >= t.bytes || (writes && !t.writes))
			continue;
		u64 &done = writes ? t.written : t.read;
		const u64 bit = offset < 64 ? u64{1} << offset : 0;
		if (bit & (done | t.written))
			continue;
		done |= bit;
		return mine.used = true;
	}
	return false;
}

/* -- Signals --------------------------------------------------------------- */

#if defined(__x86_64__)

const void *lookout::instruction_of(const void *context)
{
	const auto &m = static_cast<const ucontext_t *>(context)->uc_mcontext;

	return reinterpret_cast<const void *>(m.gregs[REG_RIP]);
}

bool lookout::is_write(const void *context)
{
	const auto &m = static_cast<const ucontext_t *>(context)->uc_mcontext;

	return m.gregs[REG_ERR] & 2;
}

static void set_step(void *context, bool on)
{
	auto &m = static_cast<ucontext_t *>(context)->uc_mcontext;

	if (on)
		m.gregs[REG_EFL] |= greg_t{single_step};
	else
		m.gregs[REG_EFL] &= ~greg_t{single_step};
}

#else

const void *lookout::instruction_of(const void *) { return nullptr; }
bool lookout::is_write(const void *) { return false; }
static void set_step(void *, bool) {}

#endif

/*
 * GCC's thunk of a virtual base reads where its table is, by mov (%rdi), %r10,
 * and tells nothing. The call that led there has told that it reads this.
 */
static bool is_in_thunk(const void *instruction)
{
	const auto *const code = static_cast<const u8 *>(instruction);

	/* memcmp() is wrapped, and here the code runs. */
	return code[0] == 0x4c && code[1] == 0x8b && code[2] == 0x17;
}

/*
 * Whether the instruction is to run into the fault once more: on virtual
 * machines a write was seen that was said to be a read, once in a thousand.
 */
bool lookout::doubts(const void *context)
{
	const void *const at = instruction_of(context);

	if (at != suspect.at || is_write(context) != suspect.writes)
		suspect = {at, is_write(context), 0};
	if (++suspect.times < 3)
		return true;
	suspect = {};
	has_found = true;
	return false;
}

lookout::fault lookout::fault_at(const void *at, void *context)
{
	const auto *const byte = static_cast<const char *>(at);
	const auto has = [byte](const part &p) {
		return byte >= p.from && byte < p.from + p.closed;
	};
	part *const p = std::find_if(std::begin(parts), std::end(parts), has);

	if (p == std::end(parts))
		return fault::elsewhere;
	if (!able || !detail::cpu_runs() ||
	    !detail::is_of_code(instruction_of(context))) {
		open(*p);
		return fault::goes_on;
	}
	if (!was_told(byte, is_write(context)) &&
	    !is_in_thunk(instruction_of(context)))
		return doubts(context) ? fault::goes_on : fault::untold;
	open(*p);
	stepping = true;
	set_step(context, true);
	return fault::goes_on;
}

bool lookout::steps(void *context)
{
	if (!stepping)
		return false;
	stepping = false;
	set_step(context, false);
	leave();
	return true;
}

} // namespace model
