/* SPDX-License-Identifier: MIT */
/*
 * assembly - finds instructions that the compiler does not report
 *
 * The compiler turns all atomics into calls of the checker. So an instruction
 * that locks, fences or calls the kernel is from inline assembly, or from code
 * that was not compiled for the checker. objdump finds them before the first
 * exploration, and a trap is set at each. If a CPU runs into a trap, the code
 * is refused (crash.cpp); for other code the trap is lifted, until the next
 * execution.
 *
 * Other instructions of inline assembly look like the compiler's. But if the
 * compiler reports plain accesses, too, a function that reads memory and calls
 * nothing of the checker was not compiled for it: the trap is at its start.
 *
 * objdump also prints the code's variables: they are protected while a CPU runs
 * (engine/lookout.cpp).
 */
#include "imports.hpp"

#include <model/body.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__aarch64__)

namespace klock_own {
namespace {

using klock::usize;
using std::string_view;

#if defined(__x86_64__)
constexpr unsigned char trap[] = {0xcc};
#else
constexpr unsigned char trap[] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
#endif

struct instruction {
	unsigned char *at;
	unsigned char was[sizeof(trap)];
	std::string text, function;
	bool of_function = false;
	bool nobodys = false;
};

/* Sorted by their addresses. */
std::vector<instruction> all;
bool are_set = false;

std::vector<model::detail::variable> all_variables;
bool knows_variables = false;

/* As objdump writes it: the name and, behind spaces, operands. */
bool is_untold(string_view text)
{
	const auto starts = [&](auto... with) {
		return (text.starts_with(with) || ...);
	};

#if defined(__x86_64__)
	for (const string_view prefix :
	     {"repz ", "repnz ", "xacquire ", "xrelease ", "data16 ", "bnd "})
		if (starts(prefix))
			text.remove_prefix(prefix.size());
	/* Memory is accessed, also if an address is written in full. */
	if (starts("xchg"))
		return text.find_first_of("(:") != text.npos ||
		       text.find("0x") != text.npos;
	return starts("lock ", "cmpxchg", "xadd", "mfence", "lfence", "sfence",
		      "syscall", "sysenter", "int    $0x80", "xbegin", "movnt",
		      "maskmov", "rdtsc", "rdrand", "rdseed");
#else
	return starts("ldx", "ldax", "stx", "stlx", "ldar", "ldap", "ldlar",
		      "stlr", "stlu", "stllr", "cas", "swp", "ldadd", "ldclr",
		      "ldeor", "ldset", "ldsm", "ldum", "stadd", "stclr",
		      "steor", "stset", "stsm", "stum", "dmb", "dsb", "svc");
#endif
}

template <typename... Texts>
bool starts_with_any(string_view text, Texts... with)
{
	return (text.starts_with(with) || ...);
}

/* Returns the mangled name of the type that it is a member of. */
string_view scope_of(string_view function)
{
	const auto at = function.find_first_not_of("ZNrVK", 1);

	return function.starts_with("_Z") && at != function.npos
		       ? function.substr(at)
		       : string_view();
}

bool is_sanitizers(string_view name)
{
	return starts_with_any(name, "__tsan_", "__asan_", "__ubsan_",
			       "__sanitizer_") ||
	       starts_with_any(scope_of(name), "11__sanitizer", "6__asan",
			       "7__ubsan");
}

/* The checker's own, which is compiled for none, and the sanitizers'. */
bool is_checkers(string_view function)
{
	return is_sanitizers(function) ||
	       starts_with_any(function, "__wrap_", "klock_gate",
			       "__aarch64_") ||
	       starts_with_any(scope_of(function), "5model4pool",
			       "5model7checker", "St6atomicB11klock_model",
			       "St10atomic_refB11klock_model",
			       "St11atomic_flagB11klock_model");
}

/* It has such a name, as the code under test may have, too. */
bool is_named_as_checkers(string_view function)
{
	return function.starts_with("klock_") ||
	       starts_with_any(scope_of(function), "5model", "5klock",
			       "9klock_own", "5fiber");
}

/* Functions of model.hpp's, into which the code may be inlined. */
bool has_code(string_view function)
{
	return function.find("13typed_program") != function.npos ||
	       function.find("15explore_threads") != function.npos;
}

/*
 * Whether it reads memory that is not on the stack: by a register, and of no
 * table. Where the compiler tells of accesses, it does so in that function.
 */
bool reads(string_view text)
{
#if defined(__x86_64__)
	const auto from = text.find('(');

	if (from == text.npos || text.starts_with("lea") ||
	    text.find("nop") != text.npos || text.find("%st(") != text.npos ||
	    text.find_first_of(":,", from) < text.find(')', from))
		return false;
	if (text.ends_with(')') && starts_with_any(text, "mov", "vmov", "set"))
		return false;
	for (const string_view base : {"(%rsp", "(%rbp", "(%rip"})
		if (text.substr(from).starts_with(base))
			return false;
	return true;
#else
	(void)text; /* what lies on the stack is not known from it */
	return false;
#endif
}

/* Functions whose accesses are not reported, though the code may call them. */
bool is_librarys(string_view function)
{
	for (const string_view start :
	     {"_ZNSt", "_ZNKSt", "_ZSt", "_ZZNSt", "_ZZNKSt", "_ZZSt",
	      "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZT", "_Zn", "_Zd", "_start",
	      "_init", "_fini", "Annotate", "RunningOnValgrind", "__atomic_"})
		if (function.starts_with(start))
			return true;
	return false;
}

/*
 * The variables of a program or a library. All that can be written is the
 * code's, also if it has no name, but for what others keep there: the checker
 * (lib/targets.cmake), sanitizers, a profile.
 */
struct data_of_part {
	explicit data_of_part(const model::detail::told &from) : of(from) {}

	/* A row of objdump -hw; false: it is none. */
	bool add_section(const char *row)
	{
		char name[256];
		usize bytes = 0, at = 0;

		if (std::sscanf(row, "%*u %255s %zx %zx", name, &bytes, &at) !=
		    3)
			return false;
		if (of.base + at - of.data < of.data_bytes &&
		    std::strstr(row, "ALLOC") &&
		    !std::strstr(row, "THREAD_LOCAL") && !is_of_others(name))
			sections.push_back(at_address(at, bytes));
		return true;
	}

	/* A row of the table of symbols; false: it is none. */
	bool add_symbol(string_view row)
	{
		constexpr usize address = 16;
		const auto tab = row.find('\t');
		const auto last = row.rfind(' ');
		char *end;

		if (tab == row.npos || last == row.npos || last < tab)
			return false;
		const usize at = std::strtoul(row.data(), &end, 16);
		const usize bytes = std::strtoul(row.data() + tab, nullptr, 16);
		if (end != row.data() + address)
			return false;
		if (bytes && is_named_by_others(row.substr(last + 1)))
			others.push_back(at_address(at, bytes));
		return true;
	}

	void add_to(std::vector<model::detail::variable> &to)
	{
		const auto add = [&to](const char *from, const char *end) {
			if (from < end)
				to.push_back(
					{from, static_cast<usize>(end - from)});
		};

		std::sort(others.begin(), others.end(), is_below);
		for (const model::detail::variable &s : sections) {
			const char *from = s.at;
			const char *const end = s.at + s.bytes;
			for (const model::detail::variable &o : others) {
				add(from, std::min(o.at, end));
				from = std::max(from, o.at + o.bytes);
			}
			add(from, end);
		}
	}

      private:
	static bool is_of_others(string_view section)
	{
		for (const string_view one :
		     {"klock_bss", "klock_data", "klock_hooks", "klock_port",
		      "klock_wrapped"})
			if (section == one)
				return true;
		return starts_with_any(section, "__llvm_prf", "__sancov");
	}
	static bool is_named_by_others(string_view name)
	{
		return is_sanitizers(name) ||
		       starts_with_any(name, "__gcov", "__llvm_");
	}
	static bool is_below(const model::detail::variable &a,
			     const model::detail::variable &b)
	{
		return a.at < b.at;
	}
	model::detail::variable at_address(usize at, usize bytes) const
	{
		return {reinterpret_cast<const char *>(of.base + at), bytes};
	}

	const model::detail::told &of;
	std::vector<model::detail::variable> sections, others;
};

/* The instructions of one program or library. */
struct listing {
	explicit listing(usize from) : base(from) {}

	void begin(usize at, string_view name)
	{
		end();
		function = name;
		start = at;
		evidence.clear();
		stores.clear();
		is_checked = !is_checkers(function) || has_code(function);
		is_engines = scope_of(function).starts_with("5model") &&
			     !has_code(function);
		is_told =
			!model::detail::sees_plain() || is_checkers(function) ||
			is_named_as_checkers(function) || is_librarys(function);
	}
	void add(usize at, string_view text)
	{
		if (is_type_of_function(at))
			return;
		is_told |= text.find("<__tsan_") != text.npos;
		/* It protects memory by calls of its own (lookout.cpp). */
		if (is_engines && text.starts_with("syscall"))
			return;
		if (is_checked && is_untold(text))
			add_trap(at, text);
		else if (!is_told && text.find("stos ") != text.npos)
			stores.push_back({at, std::string(text)});
		else if (!is_told && evidence.empty() && reads(text))
			evidence = text;
	}
	void end()
	{
		if (!is_told && !evidence.empty())
			add_trap(start, evidence, true);
		for (const auto &[at, text] : stores)
			if (!is_told)
				add_trap(at, text);
		is_told = true;
	}

      private:
	/*
	 * clang up to 16 puts a function's type before its first instruction
	 * (-fsanitize=function): a jump over it, "v2", and an offset of four
	 * bytes. objdump takes that for instructions, perhaps for a lock; a
	 * trap in it would be another offset.
	 */
	bool is_type_of_function(usize at) const
	{
		static constexpr unsigned char mark[] = {0xeb, 0x06, 'v', '2'};

		return at - start >= sizeof(mark) &&
		       at - start < 2 * sizeof(mark) &&
		       std::memcmp(reinterpret_cast<const void *>(base + start),
				   mark, sizeof(mark)) == 0;
	}

	void add_trap(usize at, string_view text,
		      bool of_function = false) const
	{
		all.push_back({reinterpret_cast<unsigned char *>(base + at),
			       {},
			       std::string(text),
			       function,
			       of_function});
	}

	usize base, start = 0;
	std::string function, evidence;
	std::vector<std::pair<usize, std::string>> stores;
	bool is_checked = false, is_engines = false, is_told = true;
};

/* The command that lists a file's sections, symbols and code, less the
 * engine's. */
std::string lister_of(const std::string &file, usize base, bool is_program)
{
	const std::string lists =
		"objdump -dw --no-show-raw-insn '" + file + "' 2>/dev/null";
	char below[64], above[64];

	if (!is_program || !__start_klock_engine)
		return lists + " -ht";
	std::snprintf(below, sizeof(below), " -ht --stop-address=%#zx && ",
		      reinterpret_cast<usize>(__start_klock_engine) - base);
	std::snprintf(above, sizeof(above), " --start-address=%#zx",
		      reinterpret_cast<usize>(__stop_klock_engine) - base);
	return lists + below + lists + above;
}

/* Returns false if there is no objdump, or the program's names are gone. */
bool look_through(const model::detail::told &of, const std::string &file)
{
	char *line = nullptr;
	std::size_t room = 0;
	const bool is_program = of.file.empty();
	listing code(of.base);
	data_of_part data(of);
	bool named = !is_program, has_symbols = false, has_sections = false;
	FILE *const found =
		::popen(lister_of(file, of.base, is_program).c_str(), "r");

	while (found && ::getline(&line, &room, found) > 0) {
		char *end;
		const usize at = std::strtoul(line, &end, 16);
		string_view rest = end;

		while (!rest.empty() && std::strchr("\n\t ", rest.back()))
			rest.remove_suffix(1);
		if (rest.starts_with(" <") && rest.ends_with(">:")) {
			code.begin(at, rest.substr(2, rest.size() - 4));
			named |= rest == " <_start>:";
		} else if (rest.starts_with(":\t")) {
			code.add(at, rest.substr(2));
		} else if (line[0] == '0') {
			has_symbols |= data.add_symbol(
				{line, rest.data() + rest.size()});
		} else if (line[0] == ' ') {
			has_sections |= data.add_section(line);
		}
	}
	code.end();
	std::free(line);
	data.add_to(all_variables);
	knows_variables &= has_sections && has_symbols;
	return found && ::pclose(found) == 0 && named;
}

/* Makes the code writable, and saves the bytes under the traps. */
bool prepare()
{
	const usize page = static_cast<usize>(::sysconf(_SC_PAGESIZE));

	std::sort(all.begin(), all.end(),
		  [](const instruction &a, const instruction &b) {
			  return a.at < b.at;
		  });
	all.erase(std::unique(all.begin(), all.end(),
			      [](const instruction &a, const instruction &b) {
				      return a.at == b.at;
			      }),
		  all.end());
	for (instruction &i : all) {
		const usize at = reinterpret_cast<usize>(i.at);
		if (::mprotect(reinterpret_cast<void *>(at & ~(page - 1)), page,
			       PROT_READ | PROT_WRITE | PROT_EXEC))
			return false;
		std::memcpy(i.was, i.at, sizeof(trap));
	}
	return true;
}

void put(const instruction &i, const unsigned char *what)
{
	std::memcpy(i.at, what, sizeof(trap));
	__builtin___clear_cache(reinterpret_cast<char *>(i.at),
				reinterpret_cast<char *>(i.at + sizeof(trap)));
}

/* Returns why inline assembly is not seen, or null. */
const char *look_through_all()
{
	char self[4096] = "";
	bool found = ::readlink("/proc/self/exe", self, sizeof(self) - 1) > 0;

	knows_variables = true;
	all_variables.clear();
	for (const model::detail::told &p : model::detail::told_parts())
		found = found &&
			look_through(p, p.file.empty() ? self : p.file);
	if (!found)
		all.clear();
	/* Without objcopy, the engine's variables lie among the code's. */
	knows_variables &= found && __start_klock_engine;
	std::sort(all_variables.begin(), all_variables.end(),
		  [](const auto &a, const auto &b) { return a.at < b.at; });
	std::erase_if(all, [](const instruction &i) {
		return is_named_as_checkers(i.function) &&
		       !model::detail::is_users(i.at);
	});
	if (!found)
		return "NOTE: inline assembly was not looked for: that needs "
		       "objdump, and a program that was not stripped\n";
	return prepare() ? nullptr
			 : "NOTE: inline assembly is not seen: the system lets "
			   "nobody write to code\n";
}

/* The one at whose trap the signal came; null: it came elsewhere. */
instruction *trap_at(const void *context)
{
	const auto &m = static_cast<const ucontext_t *>(context)->uc_mcontext;

#if defined(__x86_64__)
	const auto pc = static_cast<usize>(m.gregs[REG_RIP]) - sizeof(trap);
#else
	const usize pc = m.pc;
#endif
	const auto i = std::lower_bound(all.begin(), all.end(), pc,
					[](const instruction &one, usize at) {
						return reinterpret_cast<usize>(
							       one.at) < at;
					});
	return i != all.end() && reinterpret_cast<usize>(i->at) == pc ? &*i
								      : nullptr;
}

} // namespace
} // namespace klock_own
using namespace klock_own;

const char *model::detail::set_traps()
{
	static unsigned long long looked_at = 0;
	static const char *unseen = nullptr;

	/* Libraries may be loaded and unloaded while nothing is explored. */
	if (!are_set && looked_at != changes_of_parts()) {
		all.clear();
		unseen = look_through_all();
		looked_at = changes_of_parts();
	}
	are_set = true;
	trap_lifted = false;
	if (!unseen)
		for (const instruction &i : all)
			if (!i.nobodys)
				put(i, trap);
	return unseen;
}

model::detail::variables model::detail::variables_of_code()
{
	return {all_variables,
		knows_variables ? nullptr
				: "that needs objdump and objcopy, and a "
				  "program and libraries that were not "
				  "stripped"};
}

void model::detail::unset_traps()
{
	are_set = false;
	for (const instruction &i : all)
		put(i, i.was);
}

const model::detail::trapped *model::detail::trap_of(const void *context)
{
	static trapped one;
	const instruction *const i = trap_at(context);

	if (!i)
		return nullptr;
	one = {i->at, i->text.c_str(), i->function.c_str(), i->was[0],
	       i->of_function};
	return &one;
}

void model::detail::lift_trap(void *context, bool for_good)
{
	instruction *const i = trap_at(context);

	put(*i, i->was);
	i->nobodys |= for_good;
	trap_lifted = true;
#if defined(__x86_64__)
	auto &m = static_cast<ucontext_t *>(context)->uc_mcontext;
	m.gregs[REG_RIP] -= static_cast<greg_t>(sizeof(trap));
#endif
}

#else

const char *model::detail::set_traps()
{
	return "NOTE: inline assembly and calls of the C library are not "
	       "looked "
	       "at on this machine\n";
}
void model::detail::unset_traps() {}
model::detail::variables model::detail::variables_of_code() { return {}; }
const model::detail::trapped *model::detail::trap_of(const void *)
{
	return nullptr;
}
void model::detail::lift_trap(void *, bool) {}

#endif
