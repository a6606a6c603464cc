/* SPDX-License-Identifier: MIT */
#include "lookout.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" [[gnu::weak]] void __asan_init();

namespace model {

namespace hooked = klock::arch::hooked;

namespace {

constexpr usize page = alignof(pages_of_data);
constexpr usize single_step = 0x100;
constexpr u8 trap = 0xcc;

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

/* -- The pages of the code's variables ------------------------------------- */

constinit pages_of_data lookout::data;

bool pages_of_data::find(std::span<const detail::variable> them)
{
	bool found_all = true;

	variables = them;
	many = 0;
	for (const detail::variable &v : them) {
		char *const from = const_cast<char *>(v.at) -
				   reinterpret_cast<usize>(v.at) % page;
		const usize bytes =
			in_pages(static_cast<usize>(v.at + v.bytes - from));
		char *const end =
			many ? all[many - 1].from + all[many - 1].bytes
			     : nullptr;

		if (from <= end)
			all[many - 1].bytes = std::max(
				all[many - 1].bytes,
				static_cast<usize>(from + bytes -
						   all[many - 1].from));
		else if (many < most)
			all[many++] = {from, bytes};
		else
			found_all = false;
	}
	return found_all;
}

bool pages_of_data::is_variable(const char *at) const
{
	const auto above = std::partition_point(
		variables.begin(), variables.end(),
		[at](const detail::variable &v) { return v.at <= at; });

	return above != variables.begin() &&
	       static_cast<usize>(at - above[-1].at) < above[-1].bytes;
}

std::string lookout::start()
{
	const char *const reason = what_prevents();
	const detail::variables of_code = detail::variables_of_code();

	able = task.code->tells_of_plain && !reason && task.code->world_pages;
	has_found = stepping = always = false;
	marked.clear();
	lifted = nullptr;
	detail::looks = able;
	if (able)
		std::fill(times.begin(), times.end(), u16{0});
	const char *const unseen = data.find(of_code.all)
					   ? of_code.unseen
					   : "they are on too many pages";

	if (!task.code->tells_of_plain || (able && !unseen))
		return {};
	return std::string("NOTE: accesses that the compiler does not tell of "
			   "were not looked for") +
	       (able ? " in global variables: " : ": ") +
	       (reason ? reason
		: able ? unseen
		       : "the world is not on pages of its own") +
	       "\n";
}

void lookout::end()
{
	detail::looks = able = false;
	open_all();
	for (mark &m : marked)
		if (m.is_set)
			*m.at = m.is_at_end;
}

void lookout::start_run(bool shows)
{
	stepping = false;
	lifted = nullptr;
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
	u16 &before = times[(what ^ mine.read) % ways];

	/* Or a power of two: without a call of std::has_single_bit(). */
	mine.looks = always || before < 4 || !(before & (before - 1));
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

static bool protect(char *from, usize bytes, int how)
{
	return ::mprotect(from, bytes, how) == 0;
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
	if (!able || !hooked::running)
		open_all();
	else if (!of[cpus.current()].looks)
		open_usual();
	else
		close();
}

void lookout::close()
{
	is_closed = true;
	close(parts[0], task.code->world, task.code->world_pages);
	for (unsigned maker = 0; maker <= max_cpus; maker++) {
		const detail::part_of_heap heap = detail::heap_of(maker);
		close(parts[heaps + maker], heap.start, heap.bytes);
	}
	for (unsigned c = 0; c < cpus.made(); c++) {
		const char *const low = cpus.stack(c).low();
		if (c == cpus.current())
			open(parts[stacks + c]);
		else
			close(parts[stacks + c], low,
			      static_cast<usize>(cpus.stack(c).high() - low));
	}
	cpus.locals.close_others(cpus.current());
	data.is_wanted = true;
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
	open_usual();
	for (part &p : std::span(parts).subspan(stacks))
		open(p);
	cpus.locals.open();
	is_closed = false;
}

/* Code that is not looked at seldom accesses what is another CPU's. */
void lookout::open_usual()
{
	if (!is_closed)
		return;
	for (part &p : std::span(parts).first(stacks))
		open(p);
	data.is_wanted = false;
	data.settle();
}

/* -- Told accesses ----------------------------------------------------------
 *
 * An access and what is told of it are neighbours. So what is told next makes
 * what was told before worthless, once that is used.
 */

void lookout::told(const void *at, usize bytes, bool writes, bool alone)
{
	tales &mine = of[cpus.current()];

	if (!able)
		return;
	if (mine.used)
		mine.many = 0;
	mine.used = false;
	mine.last[mine.many++ % std::size(mine.last)] = {
		static_cast<const char *>(at), bytes, writes, alone, 0, 0};
}

void lookout::let_others_access()
{
	of[cpus.current()].many = 0;
	open_all();
}

/*
 * Each byte is accessed once; a write of some bits reads the others before.
 */
bool lookout::was_told(const char *at, const void *context)
{
	tales &mine = of[cpus.current()];
	const bool writes = is_write(context);
	const usize many = std::min<usize>(mine.many, std::size(mine.last));

	for (usize i = 0; i < many; i++) {
		tales::tale &t = mine.last[i];
		const usize offset = static_cast<usize>(at - t.at);
		if (offset >= t.bytes || (writes && !t.writes) ||
		    (t.alone && goes_beyond(t, context)))
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

static mcontext_t &machine_of(void *context)
{
	return static_cast<ucontext_t *>(context)->uc_mcontext;
}
static const mcontext_t &machine_of(const void *context)
{
	return static_cast<const ucontext_t *>(context)->uc_mcontext;
}

const void *lookout::instruction_of(const void *context)
{
	return reinterpret_cast<const void *>(
		machine_of(context).gregs[REG_RIP]);
}

bool lookout::is_write(const void *context)
{
	return machine_of(context).gregs[REG_ERR] & 2;
}

static void set_step(void *context, bool on)
{
	greg_t &flags = machine_of(context).gregs[REG_EFL];

	if (on)
		flags |= greg_t{single_step};
	else
		flags &= ~greg_t{single_step};
}

#else

const void *lookout::instruction_of(const void *) { return nullptr; }
bool lookout::is_write(const void *) { return false; }
static void set_step(void *, bool) {}

#endif

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
	return false;
}

lookout::fault lookout::fault_at(const void *at, void *context, bool by_code)
{
	const auto *const byte = static_cast<const char *>(at);
	const auto has = [byte](const part &p) {
		return byte >= p.from && byte < p.from + p.closed;
	};
	part *const p = std::find_if(std::begin(parts), std::end(parts), has);
	const bool is_data = data.has(byte);
	const bool is_local = cpus.locals.is_closed(byte);
	const auto opens = [&] {
		if (is_data)
			data.is_wanted = false;
		else if (is_local)
			cpus.locals.open();
		else
			open(*p);
		return fault::goes_on;
	};

	if (p == std::end(parts) && !is_data && !is_local)
		return fault::elsewhere;
	if (!able || !by_code || !hooked::running ||
	    !of[cpus.current()].looks || (is_data && !data.is_wanted) ||
	    !detail::is_of_code(instruction_of(context)))
		return opens();
	const bool told = lifted ? told_by_trap.has(byte)
				 : was_told(byte, context) ||
					   mark_at(instruction_of(context));
	if (!told && (!is_data || data.is_variable(byte)))
		return doubts(context) ? fault::goes_on : fault::untold;
	step(context);
	return opens();
}

void lookout::step(void *context)
{
	stepping = true;
	set_step(context, true);
}

bool lookout::steps(void *context)
{
	if (!stepping)
		return false;
	/* A string instruction stops behind each of its accesses. */
	stepping = lifted && instruction_of(context) == lifted->at;
	set_step(context, stepping);
	if (lifted && !stepping) {
		*lifted->at = trap;
		lifted = nullptr;
		if (lent.at)
			std::memcpy(lent.at, &lent.was, lent.bytes);
		lent = {};
	}
	leave();
	return true;
}

/* -- Instructions that tell by a trap -------------------------------------- */

lookout::mark *lookout::mark_at(const void *instruction)
{
	for (mark &m : marked)
		if (m.at == instruction)
			return &m;
	return nullptr;
}

void lookout::set_marks()
{
	for (mark &m : marked) {
		*m.at = trap;
		m.is_set = true;
	}
}

#if defined(__x86_64__)

namespace {

/* A CPU's state at a mark; the vectors' registers lie behind. */
struct interrupted {
	gregset_t registers;
	usize bytes; /* with what lies behind */
	const u8 *instruction;
	footprint does;
	u64 found; /* the value that an atomic has read */

	void *vectors() { return this + 1; }
};

/* The registers' numbers in an instruction, as signals have them. */
constexpr int in_order[] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* The size of what the kernel saves of the vectors' registers: its header has
 * it, behind a mark. */
usize bytes_of_vectors(const mcontext_t &m)
{
	constexpr usize usual = 512, header = 464;
	constexpr u32 is_larger = 0x46505853;
	u32 words[2];

	std::memcpy(words, reinterpret_cast<const u8 *>(m.fpregs) + header,
		    sizeof(words));
	return words[0] == is_larger ? words[1] : usual;
}

/* A trap, which the handler knows by its address. Its argument is what was
 * interrupted. */
extern "C" void klock_has_told(interrupted *);
__asm__(".pushsection .text\n"
	".type klock_has_told, @function\n"
	"klock_has_told:\n"
	"\tint3\n"
	"\tud2\n"
	".size klock_has_told, . - klock_has_told\n"
	".popsection");

/* Returns the value that it has found. It orders as x86's do: all before it,
 * all behind it. */
u64 access_atomically(const footprint &f, const void *caller)
{
	constexpr auto whole = hooked::holds::other;
	constexpr order sc = order::seq_cst;
	const site s = detail::place_of_return(caller);
	const u8 bytes = static_cast<u8>(f.all[0].bytes);
	const hooked::window w{
		f.all[0].at, bytes, 0, static_cast<u8>(8 * bytes), 0, whole};
	u64 found = f.expected;

	if (f.is == footprint::what::swap)
		hooked::running->compare_exchange_or(w, found, f.operand, sc,
						     sc, false, s);
	else if (f.is == footprint::what::update)
		found = hooked::running->rmw(w, f.by, f.operand, sc, s);
	hooked::running->fence(f.fence, s);
	return found;
}

/* The CPU goes on here, as if its code had called it. */
void tell_of(interrupted *what)
{
	const footprint &f = what->does;

	if (f.is != footprint::what::plain)
		what->found = access_atomically(f, what->instruction + 1);
	for (unsigned i = 0; i < f.many && f.is == footprint::what::plain; i++)
		detail::plain_access(f.all[i].at, f.all[i].bytes,
				     f.all[i].writes, what->instruction + 1,
				     detail::access_of::untold);
	klock_has_told(what);
}

} // namespace

footprint lookout::footprint_at(const mark &m, const void *context) const
{
	const gregset_t &of = machine_of(context).gregs;
	u8 code[instruction_bytes];
	registers all{};

	std::memcpy(code, m.at, sizeof(code));
	code[0] = m.was;
	for (usize i = 0; i < std::size(in_order); i++)
		all.of[i] = static_cast<u64>(of[in_order[i]]);
	all.flags = static_cast<u64>(of[REG_EFL]);
	all.local = reinterpret_cast<u64>(__builtin_thread_pointer());
	return footprint_of(code, reinterpret_cast<u64>(m.at), all);
}

/* Whether the instruction accesses memory behind what was told. */
bool lookout::goes_beyond(const tales::tale &t, const void *context) const
{
	const auto *const at = static_cast<const u8 *>(instruction_of(context));
	const footprint does =
		footprint_at({const_cast<u8 *>(at), *at, false, *at}, context);

	for (unsigned i = 0; i < does.many; i++) {
		const footprint::one &a = does.all[i];
		const usize offset = static_cast<usize>(
			static_cast<const char *>(a.at) - t.at);
		if (offset < t.bytes && offset + a.bytes > t.bytes)
			return true;
	}
	return false;
}

bool lookout::marks(void *context)
{
	u8 *const at =
		static_cast<u8 *>(const_cast<void *>(instruction_of(context)));
	const usize in_page = reinterpret_cast<usize>(at) % page;
	const mark m{at, *at, false, *at};

	if (lifted || !footprint_at(m, context).is_known() ||
	    !protect(reinterpret_cast<char *>(at) - in_page, page,
		     PROT_READ | PROT_WRITE | PROT_EXEC)) {
		has_found = true;
		return false;
	}
	marked.push_back(m);
	task.run_all = true;
	open_all();
	step(context);
	return true;
}

void lookout::lift(mark &m, void *context)
{
	*m.at = m.was;
	machine_of(context).gregs[REG_RIP] = reinterpret_cast<greg_t>(m.at);
}

/* The instruction itself is to find this value. */
void lookout::lend(u64 value)
{
	const footprint::one &a = told_by_trap.all[0];

	open_all();
	lent = {const_cast<char *>(a.at), a.bytes, 0};
	std::memcpy(&lent.was, lent.at, lent.bytes);
	std::memcpy(lent.at, &value, lent.bytes);
}

bool lookout::adopts(const detail::trapped &t, void *context)
{
	u8 *const at = static_cast<u8 *>(const_cast<void *>(t.at));
	const mark m{at, t.was, true, trap};

	if (!detail::looks || lifted || t.of_function ||
	    !footprint_at(m, context).is_known())
		return false;
	marked.push_back(m);
	return tells(context, true);
}

bool lookout::tells(void *context, bool by_code)
{
	constexpr usize red_zone = 128, aligned = 64;
	mcontext_t &machine = machine_of(context);
	const auto *const behind =
		static_cast<const u8 *>(instruction_of(context));

	if (behind == reinterpret_cast<const u8 *>(&klock_has_told) + 1) {
		auto *const was =
			reinterpret_cast<interrupted *>(machine.gregs[REG_RDI]);
		const usize bytes = was->bytes;
		std::memcpy(machine.gregs, was->registers,
			    sizeof(was->registers));
		std::memcpy(machine.fpregs, was->vectors(),
			    bytes - sizeof(*was));
		lifted = mark_at(was->instruction);
		told_by_trap = was->does;
		if (told_by_trap.is != footprint::what::plain &&
		    told_by_trap.many)
			lend(was->found);
		/* The stack is as it was, so that its states do not differ. */
		std::memset(static_cast<void *>(was), 0, bytes);
		lift(*lifted, context);
		step(context);
		return true;
	}
	mark *const m = mark_at(behind - 1);
	if (!m)
		return false;
	/* A constructor's, or the world's end: until the next run. */
	if (!by_code || !hooked::running) {
		lift(*m, context);
		return true;
	}
	const usize vectors = bytes_of_vectors(machine);
	const usize top = static_cast<usize>(machine.gregs[REG_RSP]) - red_zone;
	const usize at = (top - sizeof(interrupted) - vectors) & ~(aligned - 1);
	auto *const was = reinterpret_cast<interrupted *>(at);
	std::memcpy(was->registers, machine.gregs, sizeof(was->registers));
	was->registers[REG_RIP]--;
	was->bytes = sizeof(interrupted) + vectors;
	was->instruction = m->at;
	was->does = footprint_at(*m, context);
	std::memcpy(was->vectors(), machine.fpregs, vectors);
	machine.gregs[REG_RDI] = reinterpret_cast<greg_t>(was);
	/* As a call leaves it. */
	machine.gregs[REG_RSP] = static_cast<greg_t>(at - sizeof(u64));
	machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&tell_of);
	return true;
}

#else

bool lookout::goes_beyond(const tales::tale &, const void *) const
{
	return false;
}
bool lookout::marks(void *)
{
	has_found = true;
	return false;
}
bool lookout::tells(void *, bool) { return false; }
bool lookout::adopts(const detail::trapped &, void *) { return false; }

#endif

} // namespace model
