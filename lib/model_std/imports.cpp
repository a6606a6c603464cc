/* SPDX-License-Identifier: MIT */
/*
 * imports - the library functions that the code calls
 *
 * The compiler does not report a library's accesses. A function is harmless if
 * it touches no memory of the code: it is in the tables below. It is seen if
 * the linker redirects its calls to the checker (KLOCK_WRAPPED), or if `looks`
 * has its accesses. Any other function, also one that no C library has had yet,
 * is refused when a CPU calls it. main() may call all of them.
 *
 * The program and libraries of its own, which were compiled to tell the checker
 * (they import __tsan_...), call others by addresses in tables that the dynamic
 * linker fills in. There a gate is put in between.
 */
#include "imports.hpp"
#include "threads.hpp"

#include <model/body.hpp>
#include <model/model.hpp>
#include <model/places.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/* plain.cpp's: the program is checked for plain variables, too. */
extern "C" [[gnu::weak]] void __tsan_init();

namespace klock_own {
namespace {

using klock::usize;
using model::detail::imported;
using std::string_view;

/* -- The known functions --------------------------------------------------- */

/* A name, or the start of some (*). */
constexpr string_view harmless[] = {
	/* of their arguments' values alone */
	"abs", "labs", "llabs", "imaxabs", "div", "ldiv", "lldiv", "imaxdiv",
	"ffs", "ffsl", "ffsll", "__ffs", "htonl", "htons", "ntohl", "ntohs",
	"difftime", "gnu_dev_major", "gnu_dev_minor", "gnu_dev_makedev",
	"isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit",
	"isgraph", "islower", "isprint", "ispunct", "isspace", "isupper",
	"isxdigit", "isctype", "tolower", "_tolower", "toupper", "_toupper",
	"toascii", "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswctype",
	"iswdigit", "iswgraph", "iswlower", "iswprint", "iswpunct", "iswspace",
	"iswupper", "iswxdigit", "towctrans", "towlower", "towupper", "btowc",
	"wctob", "wcwidth", "__ctype_b_loc", "__ctype_tolower_loc",
	"__ctype_toupper_loc", "__ctype_get_mb_cur_max", "__fpclassify*",
	"__signbit*", "__isinf*", "__isnan*", "__finite*", "__issignaling*",
	"__iseqsig*", "__clog10*",
	/* the process's, the same at each call */
	"pthread_equal", "getpid", "__getpid", "getppid", "getuid", "geteuid",
	"getgid", "getegid", "getpagesize", "__getpagesize", "sysconf",
	"__sysconf", "get_nprocs", "get_nprocs_conf", "gnu_get_libc_version",
	"gnu_get_libc_release", "_ZNSt6thread20hardware_concurrencyEv",
	/* calls what the code has set in std::call_once(), or gives */
	"__once_proxy", "bsearch",
	/* a pause */
	"sched_yield", "__sched_yield", "thrd_yield", "pthread_yield", "sleep",
	"usleep",
	/* a stream with a lock of its own; texts are seen elsewhere */
	"putchar", "putc", "_IO_putc", "fputc", "fflush",
	/* the end */
	"abort", "raise", "__stack_chk_fail", "__chk_fail", "__fortify_fail",
	"_ZSt9terminatev", "_ZSt10unexpectedv",
	"_ZSt21__glibcxx_assert_failPKciS0_S0_",
	/* exceptions */
	"_Unwind_*", "__gcc_personality_v0", "__gxx_personality_v0",
	"__cxa_allocate_exception", "__cxa_free_exception", "__cxa_throw",
	"__cxa_rethrow", "__cxa_begin_catch", "__cxa_get_exception_ptr",
	"__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_throw_bad_array_length",
	"__cxa_throw_bad_array_new_length", "__cxa_pure_virtual",
	"__cxa_deleted_virtual", "__cxa_call_terminate",
	"__cxa_call_unexpected", "__cxa_init_primary_exception",
	/* std::...: their ends, and what() */
	"_ZNSt9exceptionD*", "_ZNKSt9exception4whatEv", "_ZNSt9bad_allocD*",
	"_ZNKSt9bad_alloc4whatEv", "_ZNSt8bad_castD*", "_ZNKSt8bad_cast4whatEv",
	"_ZNSt20bad_array_new_lengthD*", "_ZNKSt20bad_array_new_length4whatEv",
	"_ZNSt11logic_errorD*", "_ZNKSt11logic_error4whatEv",
	"_ZNSt13runtime_errorD*", "_ZNKSt13runtime_error4whatEv",
	"_ZNSt12domain_errorD*", "_ZNSt12length_errorD*",
	"_ZNSt12out_of_rangeD*", "_ZNSt16invalid_argumentD*",
	"_ZNSt11range_errorD*", "_ZNSt14overflow_errorD*",
	"_ZNSt15underflow_errorD*", "_ZNSt12system_errorD*",
	"_ZNKSt12system_error4whatEv", "_ZNSt17bad_function_callD*",
	"_ZNKSt17bad_function_call4whatEv", "_ZNSt12bad_weak_ptrD*",
	"_ZNKSt12bad_weak_ptr4whatEv", "_ZNSt3_V216generic_categoryEv",
	"_ZNSt3_V215system_categoryEv",
	/* operator new and delete, which call the checker's; allocators */
	"_Znw*", "_Zna*", "_Zdl*", "_Zda*", "_ZNSaIcEC*", "_ZNSaIcED*",
	"_ZNSaIwEC*", "_ZNSaIwED*",
	/* constants: types, and a shared_ptr's tag */
	"_ZNKSt9type_info*", "_ZNSt9type_infoD*",
	"_ZNSt19_Sp_make_shared_tag5_S_eqERKSt9type_info",
	/* where a thread_local is; the access is refused */
	"__tls_get_addr",
	/* the sanitizers', which ask about an access before it */
	"__asan_*", "__ubsan_*", "__sanitizer_*"};

/* In each form (sinf, sinl, sinf32x, ...). Not: frexp, lgamma, nan, ... */
constexpr string_view arithmetic[] = {"acos",
				      "acosh",
				      "acospi",
				      "asin",
				      "asinh",
				      "asinpi",
				      "atan",
				      "atan2",
				      "atan2pi",
				      "atanh",
				      "atanpi",
				      "cabs",
				      "cacos",
				      "cacosh",
				      "carg",
				      "casin",
				      "casinh",
				      "catan",
				      "catanh",
				      "cbrt",
				      "ccos",
				      "ccosh",
				      "ceil",
				      "cexp",
				      "cimag",
				      "clog",
				      "clog10",
				      "conj",
				      "copysign",
				      "cos",
				      "cosh",
				      "cospi",
				      "cpow",
				      "cproj",
				      "creal",
				      "csin",
				      "csinh",
				      "csqrt",
				      "ctan",
				      "ctanh",
				      "drem",
				      "erf",
				      "erfc",
				      "exp",
				      "exp10",
				      "exp10m1",
				      "exp2",
				      "exp2m1",
				      "expm1",
				      "fabs",
				      "fdim",
				      "finite",
				      "floor",
				      "fma",
				      "fmax",
				      "fmaximum",
				      "fmaximum_mag",
				      "fmaximum_mag_num",
				      "fmaximum_num",
				      "fmaxmag",
				      "fmin",
				      "fminimum",
				      "fminimum_mag",
				      "fminimum_mag_num",
				      "fminimum_num",
				      "fminmag",
				      "fmod",
				      "fromfp",
				      "fromfpx",
				      "hypot",
				      "ilogb",
				      "isinf",
				      "isnan",
				      "j0",
				      "j1",
				      "jn",
				      "ldexp",
				      "llogb",
				      "llrint",
				      "llround",
				      "log",
				      "log10",
				      "log10p1",
				      "log1p",
				      "log2",
				      "log2p1",
				      "logb",
				      "logp1",
				      "lrint",
				      "lround",
				      "nearbyint",
				      "nextafter",
				      "nextdown",
				      "nexttoward",
				      "nextup",
				      "pow",
				      "pow10",
				      "remainder",
				      "rint",
				      "round",
				      "roundeven",
				      "scalb",
				      "scalbln",
				      "scalbn",
				      "significand",
				      "sin",
				      "sinh",
				      "sinpi",
				      "sqrt",
				      "tan",
				      "tanh",
				      "tanpi",
				      "tgamma",
				      "trunc",
				      "ufromfp",
				      "ufromfpx",
				      "y0",
				      "y1",
				      "yn"};

/* A CPU may not call these where only atomics are seen, either. */
constexpr string_view of_threads[] = {"pthread_*",
				      "__pthread_*",
				      "sem_*",
				      "mtx_*",
				      "cnd_*",
				      "thrd_*",
				      "tss_*",
				      "call_once",
				      "syscall",
				      "__atomic_*",
				      "atomic_flag_*",
				      "_ZNSt6thread*",
				      "_ZNSt18condition_variable*",
				      "_ZNSt22condition_variable_any*",
				      "_ZNSt3_V222condition_variable*",
				      "_ZNSt28__atomic_futex_unsigned_base*",
				      "__cxa_thread_atexit*",
				      "memalign",
				      "posix_memalign",
				      "reallocarray",
				      "valloc",
				      "pvalloc"};

/* `*` is any text, `?` one character. */
bool fits(string_view name, string_view entry)
{
	for (; !entry.empty(); entry.remove_prefix(1)) {
		if (entry == "*")
			return true;
		if (entry.front() == '*') {
			entry.remove_prefix(1);
			for (usize skip = 0; skip <= name.size(); skip++)
				if (fits(name.substr(skip), entry))
					return true;
			return false;
		}
		if (name.empty() ||
		    (entry.front() != '?' && entry.front() != name.front()))
			return false;
		name.remove_prefix(1);
	}
	return name.empty();
}

template <usize N>
bool is_in(string_view name, const string_view (&all)[N])
{
	for (const string_view entry : all)
		if (fits(name, entry))
			return true;
	return false;
}

/* Takes a floating-point type's end off a name; false: it has none. */
bool without_type(string_view &name)
{
	for (const string_view end :
	     {"f32x", "f64x", "f128", "f32", "f64", "f", "l"})
		if (name.ends_with(end)) {
			name.remove_suffix(end.size());
			return true;
		}
	return false;
}

/* faddl(), f32mulf64() and so on: of two types. */
bool narrows(string_view name)
{
	constexpr string_view all[] = {"add", "sub", "mul",
				       "div", "fma", "sqrt"};

	for (const string_view type : {"f32x", "f64x", "f32", "f64", "f", "d"})
		if (name.starts_with(type) &&
		    is_in(name.substr(type.size()), all))
			return true;
	return false;
}

bool is_arithmetic(string_view name)
{
	if (name.starts_with("__") && name.ends_with("_finite")) {
		name.remove_prefix(2);
		name.remove_suffix(7);
	}
	if (is_in(name, arithmetic) || narrows(name))
		return true;
	return without_type(name) && (is_in(name, arithmetic) || narrows(name));
}

/* The compiler's, of one or two machine modes: __udivti3(), __floattidf(). */
bool is_compilers(string_view name)
{
	constexpr string_view does[] = {
		"abs",	"absv",	    "add",     "addv",	  "ashl",   "ashr",
		"lshr", "bswap",    "clrsb",   "clz",	  "ctz",    "cmp",
		"ucmp", "div",	    "udiv",    "mod",	  "umod",   "mul",
		"mulv", "divmod",   "udivmod", "neg",	  "negv",   "parity",
		"powi", "popcount", "sub",     "subv",	  "unord",  "eq",
		"ne",	"lt",	    "le",      "gt",	  "ge",	    "ffs",
		"fix",	"fixuns",   "float",   "floatun", "extend", "trunc"};
	constexpr string_view modes[] = {"si", "di", "ti", "hf", "bf",
					 "sf", "df", "xf", "tf", "hc",
					 "sc", "dc", "xc", "tc"};

	if (!name.starts_with("__"))
		return false;
	name.remove_prefix(2);
	if (!name.empty() && name.back() >= '2' && name.back() <= '5')
		name.remove_suffix(1);
	for (unsigned of = 0; of < 2 && name.size() > 2; of++) {
		if (!is_in(name.substr(name.size() - 2), modes))
			return false;
		name.remove_suffix(2);
		if (is_in(name, does))
			return true;
	}
	return false;
}

/* std::__throw_out_of_range() and so on. */
bool throws(string_view name)
{
	if (!name.starts_with("_ZSt"))
		return false;
	name.remove_prefix(4);
	name.remove_prefix(
		std::min(name.find_first_not_of("0123456789"), name.size()));
	return name.starts_with("__throw_");
}

/* -- Functions that are checked at each call ------------------------------- */

/* The first six arguments that are words. */
using arguments = const usize *;

void touches(usize at, usize bytes, bool writes, const void *caller)
{
	model::detail::plain_access(reinterpret_cast<const void *>(at), bytes,
				    writes, caller);
}

/* Threads may share these; the checker sees no other stream's state. */
void looks_at_stream(arguments a, const void *caller)
{
	for (const std::ostream *const one :
	     {&std::cout, &std::cerr, &std::clog})
		if (a[0] == reinterpret_cast<usize>(one))
			return;
	model::detail::refuse("output to a stream other than std::cout, "
			      "std::cerr, std::clog",
			      caller);
}

void text_is_read(usize text, const void *caller)
{
	usize n = 0;

	while (reinterpret_cast<const char *>(text)[n++])
		;
	touches(text, n, false, caller);
}

void looks_at_text(arguments a, const void *caller)
{
	text_is_read(a[0], caller);
}

void looks_at_its_text(arguments a, const void *caller)
{
	text_is_read(a[1], caller);
}

void looks_at_its_string(arguments a, const void *caller)
{
	const std::string &text = *reinterpret_cast<const std::string *>(a[1]);

	touches(a[1], sizeof(text), false, caller);
	touches(reinterpret_cast<usize>(text.data()), text.size() + 1, false,
		caller);
}

void looks_at_text_for_stream(arguments a, const void *caller)
{
	looks_at_stream(a, caller);
	text_is_read(a[1], caller);
}

void looks_at_string_for_stream(arguments a, const void *caller)
{
	looks_at_stream(a, caller);
	looks_at_its_string(a, caller);
}

/* Where files were when an execution read them first. */
struct place_in_file {
	int file;
	off_t at;
};
std::vector<place_in_file> places;

/* Returns false if it has no place that could be found again. */
bool notes_place(int file)
{
	const off_t at = ::lseek(file, 0, SEEK_CUR);

	for (const place_in_file &p : places)
		if (p.file == file)
			return true;
	if (at >= 0)
		places.push_back({file, at});
	return at >= 0;
}

void looks_at_bytes(arguments a, const void *caller)
{
	touches(a[0], a[1], false, caller);
}

void looks_at_type(arguments a, const void *caller)
{
	touches(a[0], sizeof(void *), false, caller);
}

/* An unordered container's load factor, and when it is to grow. */
void looks_at_policy(arguments a, const void *caller)
{
	touches(a[0], 2 * sizeof(usize), true, caller);
}

void looks_at_time(arguments a, const void *caller)
{
	const timespec &length = *reinterpret_cast<const timespec *>(a[0]);

	touches(a[0], sizeof(timespec), false, caller);
	if (a[1])
		touches(a[1], sizeof(timespec), true, caller);
	model::detail::time_passes(static_cast<usize>(length.tv_sec) *
					   1'000'000'000 +
				   static_cast<usize>(length.tv_nsec));
}

/*
 * A tree's or a list's node, of std::map and std::list. A change is told as one
 * of each node that it may move, or look at: no other CPU may look at a
 * container that changes.
 */
struct tree_node {
	usize colour;
	tree_node *parent, *left, *right;
};
struct list_node {
	list_node *next, *previous;
};

template <typename Node>
Node *node(usize at)
{
	return reinterpret_cast<Node *>(at);
}

template <typename Node>
void touches_node(const Node *n, bool writes, const void *caller)
{
	if (n)
		touches(reinterpret_cast<usize>(n), sizeof(*n), writes, caller);
}

/* It and what is up to two below it. */
void changes_below(const tree_node *n, unsigned levels, const void *caller)
{
	touches_node(n, true, caller);
	if (!n || !levels)
		return;
	changes_below(n->left, levels - 1, caller);
	changes_below(n->right, levels - 1, caller);
}

/* From a node to the tree's head, which is beyond the root. */
void changes_above(const tree_node *n, const tree_node *head,
		   const void *caller)
{
	for (; n != head; n = n->parent)
		changes_below(n, 2, caller);
	touches_node(head, true, caller);
}

/* The arguments: to the left, the new node, its parent, the head. */
void looks_at_insertion(arguments a, const void *caller)
{
	touches(a[1], sizeof(tree_node), true, caller);
	changes_above(node<tree_node>(a[2]), node<tree_node>(a[3]), caller);
}

void looks_at_erasure(arguments a, const void *caller)
{
	const tree_node *lowest = node<tree_node>(a[0]);

	if (lowest->left && lowest->right)
		for (lowest = lowest->right; lowest->left;)
			lowest = lowest->left;
	changes_above(lowest, node<tree_node>(a[1]), caller);
}

/* The way from a node to the next in order. */
void looks_along(const tree_node *n, tree_node *tree_node::*on,
		 tree_node *tree_node::*back, const void *caller)
{
	touches_node(n, false, caller);
	if (n->*on) {
		for (n = n->*on; n; n = n->*back)
			touches_node(n, false, caller);
		return;
	}
	for (const tree_node *above = n->parent;; above = above->parent) {
		touches_node(above, false, caller);
		if (n != above->*on)
			return;
		n = above;
	}
}

void looks_at_next(arguments a, const void *caller)
{
	looks_along(node<tree_node>(a[0]), &tree_node::right, &tree_node::left,
		    caller);
}

void looks_at_previous(arguments a, const void *caller)
{
	looks_along(node<tree_node>(a[0]), &tree_node::left, &tree_node::right,
		    caller);
}

void changes_around(const list_node *n, const void *caller)
{
	touches_node(n, true, caller);
	touches_node(n->next, true, caller);
	touches_node(n->previous, true, caller);
}

/* The arguments: the new node, the one behind it. */
void looks_at_hook(arguments a, const void *caller)
{
	touches(a[0], sizeof(list_node), true, caller);
	changes_around(node<list_node>(a[1]), caller);
}

void looks_at_unhook(arguments a, const void *caller)
{
	changes_around(node<list_node>(a[0]), caller);
}

void looks_at_swap(arguments a, const void *caller)
{
	changes_around(node<list_node>(a[0]), caller);
	changes_around(node<list_node>(a[1]), caller);
}

/* The arguments: the one behind them, the first, the one behind the last. */
void looks_at_transfer(arguments a, const void *caller)
{
	looks_at_swap(a, caller);
	changes_around(node<list_node>(a[2]), caller);
}

void looks_at_reversal(arguments a, const void *caller)
{
	const list_node *n = node<list_node>(a[0]);

	do {
		touches_node(n, true, caller);
		n = n->next;
	} while (n != node<list_node>(a[0]));
}

/*
 * strtol() and the like: from the start to what ended the number, of which at
 * least the first character was read. The errno that it sets is the CPU's.
 */
template <auto Convert, bool HasEnd = true>
void looks_at_number(arguments a, const void *caller)
{
	const char *const text = reinterpret_cast<const char *>(a[0]);
	char *end = nullptr;
	int &own = errno;
	const int before = std::exchange(own, 0);

	(void)Convert(text, &end, static_cast<int>(a[2]));
	const int set = std::exchange(own, before);
	const usize spaces = std::strspn(text, " \t\n\v\f\r");
	touches(a[0], std::max(static_cast<usize>(end - text), spaces) + 1,
		false, caller);
	if (HasEnd && a[1])
		touches(a[1], sizeof(end), true, caller);
	if (HasEnd && set)
		model::detail::set_errno(set);
}

template <auto Convert>
void looks_at_decimal(arguments a, const void *caller)
{
	const usize whole[] = {a[0], 0, 10};

	looks_at_number<Convert, false>(whole, caller);
}

double real_number(const char *text, char **end, int)
{
	return std::strtod(text, end);
}
float short_real_number(const char *text, char **end, int)
{
	return std::strtof(text, end);
}
long double long_real_number(const char *text, char **end, int)
{
	return std::strtold(text, end);
}

/*
 * The next executions must find the data of this one, too: the place in a file
 * is as it was before. A pipe has none.
 */
void looks_at_input(arguments a, const void *caller)
{
	const int file = static_cast<int>(a[0]);
	const int before = errno;

	if (::fcntl(file, F_GETFD) < 0)
		model::detail::set_errno(EBADF);
	else if (!notes_place(file))
		model::detail::refuse("a read() of what is gone when it is "
				      "read: a pipe, a terminal",
				      caller);
	errno = before;
	touches(a[1], a[2], true, caller);
}

/*
 * exception_ptr - counts whose exception it is; the last one destroys it
 *
 * The count orders: whoever lets the exception go comes before its end. An
 * exception has a word of the checker's for that. Its number must be the same
 * in each execution, though the address is not: how many its CPU had before.
 */
struct known_exception {
	const void *at;
	klock::u32 *word;
};
std::vector<known_exception> exceptions;
klock::u32 words_of_exceptions[16][64];
unsigned exceptions_of[16];

klock::u32 *word_of(const void *exception, const void *caller)
{
	unsigned &mine = exceptions_of[model::cpu()];

	for (const known_exception &e : exceptions)
		if (e.at == exception)
			return e.word;
	if (mine == std::size(words_of_exceptions[0]))
		model::detail::refuse("more than 64 exceptions of a CPU in a "
				      "std::exception_ptr",
				      caller);
	exceptions.push_back(
		{exception, &words_of_exceptions[model::cpu()][mine++]});
	return exceptions.back().word;
}

void lets_go(const void *exception, const void *caller)
{
	namespace hooked = klock::arch::hooked;

	if (!exception)
		return;
	const hooked::window w{word_of(exception, caller), 4, 0, 32, 0,
			       hooked::holds::other};
	hooked::running->rmw(w, hooked::update::add, 1, klock::order::acq_rel,
			     model::detail::place_of_return(caller));
}

/* The pointer that the function is a member of. */
void looks_at_exception_ptr(arguments a, const void *caller)
{
	touches(a[0], sizeof(void *), false, caller);
}
void looks_at_two_exception_ptrs(arguments a, const void *caller)
{
	looks_at_exception_ptr(a, caller);
	looks_at_exception_ptr(a + 1, caller);
}
void changes_exception_ptr(arguments a, const void *caller)
{
	touches(a[0], sizeof(void *), true, caller);
}
void copies_exception_ptr(arguments a, const void *caller)
{
	looks_at_exception_ptr(a + 1, caller);
	changes_exception_ptr(a, caller);
}
void changes_two_exception_ptrs(arguments a, const void *caller)
{
	changes_exception_ptr(a, caller);
	changes_exception_ptr(a + 1, caller);
}
void looks_at_release(arguments a, const void *caller)
{
	changes_exception_ptr(a, caller);
	lets_go(*reinterpret_cast<void *const *>(a[0]), caller);
}

/* A handler ends: perhaps it has the exception last. */
void looks_at_end_of_catch(arguments, const void *caller)
{
	if (exceptions.empty())
		return;
	const std::exception_ptr caught = std::current_exception();
	const void *at = nullptr;
	std::memcpy(&at, &caught, sizeof(at));
	lets_go(at, caller);
}

struct look {
	string_view name;
	void (*at)(arguments, const void *caller);
};

constexpr look looks[] = {
	{"puts", looks_at_text},
	{"fputs", looks_at_text},
	{"nanosleep", looks_at_time},
	{"__cxa_end_catch", looks_at_end_of_catch},
	{"_ZSt17current_exceptionv", changes_exception_ptr},
	{"_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	 looks_at_exception_ptr},
	{"_ZNSt15__exception_ptr13exception_ptrC?ERKS0_", copies_exception_ptr},
	{"_ZNSt15__exception_ptr13exception_ptrC?*", changes_exception_ptr},
	{"_ZNSt15__exception_ptr13exception_ptr4swapERS0_",
	 changes_two_exception_ptrs},
	{"_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",
	 looks_at_exception_ptr},
	{"_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
	 looks_at_release},
	{"_ZNSt15__exception_ptr13exception_ptrD?Ev", looks_at_release},
	{"_ZNKSt15__exception_ptr13exception_ptr*", looks_at_exception_ptr},
	{"_ZNSt15__exception_ptreqERKNS_13exception_ptrES2_",
	 looks_at_two_exception_ptrs},
	{"strtol", looks_at_number<std::strtol>},
	{"strtoll", looks_at_number<std::strtoll>},
	{"strtoul", looks_at_number<std::strtoul>},
	{"strtoull", looks_at_number<std::strtoull>},
	{"__isoc23_strtol", looks_at_number<std::strtol>},
	{"__isoc23_strtoll", looks_at_number<std::strtoll>},
	{"__isoc23_strtoul", looks_at_number<std::strtoul>},
	{"__isoc23_strtoull", looks_at_number<std::strtoull>},
	{"strtof", looks_at_number<short_real_number>},
	{"strtod", looks_at_number<real_number>},
	{"strtold", looks_at_number<long_real_number>},
	{"atoi", looks_at_decimal<std::strtol>},
	{"atol", looks_at_decimal<std::strtol>},
	{"atoll", looks_at_decimal<std::strtol>},
	{"atof", looks_at_decimal<real_number>},
	{"read", looks_at_input},
	{"pread", looks_at_input},
	{"_ZSt11_Hash_bytesPKvmm", looks_at_bytes},
	{"__dynamic_cast", looks_at_type},
	{"_ZNKSt8__detail20_Prime_rehash_policy*", looks_at_policy},
	{"_ZSt29_Rb_tree_insert_and_rebalance*", looks_at_insertion},
	{"_ZSt28_Rb_tree_rebalance_for_erase*", looks_at_erasure},
	{"_ZSt18_Rb_tree_increment*", looks_at_next},
	{"_ZSt18_Rb_tree_decrement*", looks_at_previous},
	{"_ZNSt8__detail15_List_node_base7_M_hook*", looks_at_hook},
	{"_ZNSt8__detail15_List_node_base9_M_unhook*", looks_at_unhook},
	{"_ZNSt8__detail15_List_node_base4swap*", looks_at_swap},
	{"_ZNSt8__detail15_List_node_base11_M_transfer*", looks_at_transfer},
	{"_ZNSt8__detail15_List_node_base10_M_reverse*", looks_at_reversal},
	{"_ZNSt11logic_errorC*EPKc", looks_at_its_text},
	{"_ZNSt13runtime_errorC*EPKc", looks_at_its_text},
	{"_ZNSt12domain_errorC*EPKc", looks_at_its_text},
	{"_ZNSt12length_errorC*EPKc", looks_at_its_text},
	{"_ZNSt12out_of_rangeC*EPKc", looks_at_its_text},
	{"_ZNSt16invalid_argumentC*EPKc", looks_at_its_text},
	{"_ZNSt11range_errorC*EPKc", looks_at_its_text},
	{"_ZNSt14overflow_errorC*EPKc", looks_at_its_text},
	{"_ZNSt15underflow_errorC*EPKc", looks_at_its_text},
	{"_ZNSt11logic_errorC*ERKNSt7__cxx11*", looks_at_its_string},
	{"_ZNSt13runtime_errorC*ERKNSt7__cxx11*", looks_at_its_string},
	{"_ZNSt12domain_errorC*ERKNSt7__cxx11*", looks_at_its_string},
	{"_ZNSt12length_errorC*ERKNSt7__cxx11*", looks_at_its_string},
	{"_ZNSt12out_of_rangeC*ERKNSt7__cxx11*", looks_at_its_string},
	{"_ZNSt16invalid_argumentC*ERKNSt7__cxx11*", looks_at_its_string},
	/* of numbers and characters; flush, std::endl */
	{"_ZNSolsE?", looks_at_stream},
	{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	 looks_at_text_for_stream},
	{"_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__"
	 "cxx1112basic_stringIS4_S5_T1_EE",
	 looks_at_string_for_stream},
	{"_ZNSolsEPFRSoS_E", looks_at_stream},
	{"_ZNSolsEPKv", looks_at_stream},
	{"_ZNSo3putEc", looks_at_stream},
	{"_ZNSo5flushEv", looks_at_stream},
	{"_ZNSo9_M_insertI*", looks_at_stream},
	{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_?",
	 looks_at_stream},
	{"_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
	 looks_at_stream},
	{"_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
	 looks_at_stream}};

const look *look_of(string_view name)
{
	for (const look &one : looks)
		if (fits(name, one.name))
			return &one;
	return nullptr;
}

} // namespace
} // namespace klock_own
using namespace klock_own;

void model::detail::forget_calls()
{
	for (const place_in_file &p : places)
		::lseek(p.file, p.at, SEEK_SET);
	places.clear();
	exceptions.clear();
	std::fill(std::begin(exceptions_of), std::end(exceptions_of), 0u);
}

void model::detail::exception_is_made(const void *at)
{
	const checker_runs now;

	std::erase_if(exceptions,
		      [at](const known_exception &e) { return e.at == at; });
}

extern "C" model::detail::wrapped __start_klock_wrapped[],
	__stop_klock_wrapped[];

const char *model::detail::not_wrapped()
{
	for (const wrapped *w = __start_klock_wrapped; w < __stop_klock_wrapped;
	     w++)
		if (!w->real)
			return w->name;
	return nullptr;
}

static const model::detail::wrapped *wrapped_of(string_view name)
{
	for (const model::detail::wrapped *w = __start_klock_wrapped;
	     w < __stop_klock_wrapped; w++)
		if (name == w->name)
			return w;
	return nullptr;
}

bool model::detail::sees_plain() { return __tsan_init; }

imported model::detail::what_is(const char *name)
{
	if (wrapped_of(name))
		return imported::seen;
	if (__tsan_init && look_of(name))
		return imported::seen;
	if (is_in(name, harmless) || is_arithmetic(name) ||
	    is_compilers(name) || throws(name))
		return imported::harmless;
	return __tsan_init || is_in(name, of_threads) ? imported::refused
						      : imported::harmless;
}

/*
 * gate - replaces a function's address
 *
 * A stub for each function loads its record, and jumps to klock_gate. That
 * changes no register which may hold an argument. If no CPU runs, it goes on to
 * the function at once.
 */

#if defined(__x86_64__) || defined(__aarch64__)

namespace klock_own {
namespace {

struct record {
	void *real; /* klock_gate knows that it comes first */
	const char *in_source;
	const look *looks;
};

/* The name that the code has for it: sscanf, which C23 changed. */
const char *in_source(const char *name)
{
	for (const string_view prefix : {"__isoc99_", "__isoc23_"})
		if (string_view(name).starts_with(prefix))
			return name + prefix.size();
	return name;
}

extern "C" void klock_gate();
extern "C" [[gnu::used]] void klock_gate_asks(const record *, arguments,
					      const void *caller);

void klock_gate_asks(const record *r, arguments a, const void *caller)
{
	if (!model::detail::cpu_runs())
		return;
	if (r->looks) {
		const model::detail::checker_runs now;
		r->looks->at(a, caller);
	} else {
		model::detail::refuse(r->in_source, caller);
	}
	/* The system cannot access what is protected. */
	model::detail::open_memory();
}

#if defined(__x86_64__)
__asm__(R"(
	.text
	.type	klock_gate, @function
klock_gate:
	.cfi_startproc
	cmpb	$0, _ZN5model6detail5stateE(%rip)
	jne	1f
	jmp	*(%r11)
1:	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	$0xd0, %rsp
	mov	%rdi, (%rsp)
	mov	%rsi, 0x8(%rsp)
	mov	%rdx, 0x10(%rsp)
	mov	%rcx, 0x18(%rsp)
	mov	%r8, 0x20(%rsp)
	mov	%r9, 0x28(%rsp)
	mov	%rax, 0x30(%rsp)
	mov	%r10, 0x38(%rsp)
	mov	%r11, 0x40(%rsp)
	movups	%xmm0, 0x50(%rsp)
	movups	%xmm1, 0x60(%rsp)
	movups	%xmm2, 0x70(%rsp)
	movups	%xmm3, 0x80(%rsp)
	movups	%xmm4, 0x90(%rsp)
	movups	%xmm5, 0xa0(%rsp)
	movups	%xmm6, 0xb0(%rsp)
	movups	%xmm7, 0xc0(%rsp)
	mov	%r11, %rdi
	mov	%rsp, %rsi
	mov	8(%rbp), %rdx
	call	klock_gate_asks
	mov	(%rsp), %rdi
	mov	0x8(%rsp), %rsi
	mov	0x10(%rsp), %rdx
	mov	0x18(%rsp), %rcx
	mov	0x20(%rsp), %r8
	mov	0x28(%rsp), %r9
	mov	0x30(%rsp), %rax
	mov	0x38(%rsp), %r10
	mov	0x40(%rsp), %r11
	movups	0x50(%rsp), %xmm0
	movups	0x60(%rsp), %xmm1
	movups	0x70(%rsp), %xmm2
	movups	0x80(%rsp), %xmm3
	movups	0x90(%rsp), %xmm4
	movups	0xa0(%rsp), %xmm5
	movups	0xb0(%rsp), %xmm6
	movups	0xc0(%rsp), %xmm7
	leave
	.cfi_def_cfa rsp, 8
	jmp	*(%r11)
	.cfi_endproc
	.size	klock_gate, . - klock_gate
)");

/* mov $record, %r11; jmp *(the eight bytes behind) */
struct stub {
	unsigned char load[2] = {0x49, 0xbb};
	unsigned char of[8];
	unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0};
	unsigned char to[8];
};
#else
__asm__(R"(
	.text
	.type	klock_gate, %function
klock_gate:
	.cfi_startproc
	adrp	x17, _ZN5model6detail5stateE
	ldrb	w17, [x17, :lo12:_ZN5model6detail5stateE]
	cbnz	w17, 1f
	ldr	x17, [x16]
	br	x17
1:	stp	x29, x30, [sp, #-240]!
	.cfi_def_cfa_offset 240
	.cfi_offset x29, -240
	.cfi_offset x30, -232
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x16, [sp, #80]
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	x0, x16
	add	x1, sp, #16
	mov	x2, x30
	bl	klock_gate_asks
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x16, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #240
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ldr	x17, [x16]
	br	x17
	.cfi_endproc
	.size	klock_gate, . - klock_gate
)");

/* ldr x16, of; ldr x17, to; br x17; nop */
struct stub {
	unsigned char code[16] = {0x90, 0x00, 0x00, 0x58, 0xb1, 0x00,
				  0x00, 0x58, 0x20, 0x02, 0x1f, 0xd6,
				  0x1f, 0x20, 0x03, 0xd5};
	unsigned char of[8];
	unsigned char to[8];
};
#endif

/* -- The tables of addresses ----------------------------------------------- */

constexpr usize is_address =
#if defined(__x86_64__)
	R_X86_64_64;
#else
	R_AARCH64_ABS64;
#endif
constexpr usize is_of_table =
#if defined(__x86_64__)
	R_X86_64_GLOB_DAT;
#else
	R_AARCH64_GLOB_DAT;
#endif
constexpr usize is_of_calls =
#if defined(__x86_64__)
	R_X86_64_JUMP_SLOT;
#else
	R_AARCH64_JUMP_SLOT;
#endif

/* A program or a library, as the dynamic linker has it. */
struct part {
	usize base = 0;
	std::string name; /* empty: the program */
	const ElfW(Sym) *symbols = nullptr;
	const char *texts = nullptr;
	struct {
		const ElfW(Rela) *first = nullptr;
		usize bytes = 0;
	} relocations[2];
	usize fixed = 0, fixed_bytes = 0; /* read-only after the start */
	usize code = 0, code_bytes = 0;
	usize data = 0, data_end = 0; /* what can be written */

	template <typename Do>
	void for_each(Do what) const
	{
		for (const auto &[first, bytes] : relocations)
			for (usize i = 0; i < bytes / sizeof(*first); i++)
				if (ELF64_R_SYM(first[i].r_info))
					what(first[i],
					     symbols[ELF64_R_SYM(
						     first[i].r_info)]);
	}

	/* Whether it was compiled to tell the checker. */
	bool tells() const
	{
		bool found = name.empty();

		for_each([&](const ElfW(Rela) &, const ElfW(Sym) & s) {
			const string_view imports = texts + s.st_name;
			found |= imports.starts_with("__tsan_") ||
				 imports.starts_with("_ZN5model");
		});
		return found;
	}
};

part part_of(const dl_phdr_info &from)
{
	part p;
	const ElfW(Dyn) *d = nullptr;

	p.base = from.dlpi_addr;
	p.name = from.dlpi_name;
	for (unsigned i = 0; i < from.dlpi_phnum; i++) {
		const ElfW(Phdr) &header = from.dlpi_phdr[i];
		if (header.p_type == PT_DYNAMIC)
			d = reinterpret_cast<const ElfW(Dyn) *>(p.base +
								header.p_vaddr);
		if (header.p_type == PT_GNU_RELRO) {
			p.fixed = p.base + header.p_vaddr;
			p.fixed_bytes = header.p_memsz;
		}
		if (header.p_type == PT_LOAD && header.p_flags & PF_X) {
			p.code = p.base + header.p_vaddr;
			p.code_bytes = header.p_memsz;
		}
		if (header.p_type == PT_LOAD && header.p_flags & PF_W) {
			const usize at = p.base + header.p_vaddr;
			/* An aligned variable has the linker begin another. */
			if (!p.data)
				p.data = at;
			p.data_end = at + header.p_memsz;
		}
	}
	if (p.fixed == p.data)
		p.data += p.fixed_bytes;
	for (; d && d->d_tag != DT_NULL; d++) {
		const usize at = d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_SYMTAB:
			p.symbols = reinterpret_cast<const ElfW(Sym) *>(at);
			break;
		case DT_STRTAB:
			p.texts = reinterpret_cast<const char *>(at);
			break;
		case DT_RELA:
		case DT_JMPREL:
			p.relocations[d->d_tag == DT_JMPREL].first =
				reinterpret_cast<const ElfW(Rela) *>(at);
			break;
		case DT_RELASZ:
		case DT_PLTRELSZ:
			p.relocations[d->d_tag == DT_PLTRELSZ].bytes =
				d->d_un.d_val;
			break;
		}
	}
	return p;
}

std::vector<part> parts()
{
	std::vector<part> all;

	::dl_iterate_phdr(
		[](dl_phdr_info *one, std::size_t, void *to) {
			part p = part_of(*one);
			if (p.symbols && p.tells())
				static_cast<std::vector<part> *>(to)->push_back(
					std::move(p));
			return 0;
		},
		&all);
	return all;
}

/* Whether one of these has this function. */
bool have(const std::vector<part> &all, const void *function)
{
	Dl_info where{};
	link_map *map = nullptr;

	if (!::dladdr1(function, &where, reinterpret_cast<void **>(&map),
		       RTLD_DL_LINKMAP))
		return false;
	for (const part &p : all)
		if (map && map->l_addr == p.base)
			return true;
	return false;
}

/* Returns the entry of this name in a part that imports it, or null. */
void *imported_by(const part &p, const ElfW(Sym) & s)
{
	const char *const name = p.texts + s.st_name;
	/* If it has a value, it is the program's own entry, which others
	 * find. */
	void *found = ::dlsym(s.st_value ? RTLD_NEXT : RTLD_DEFAULT, name);

	if (found || p.name.empty())
		return found;
	/* dlopen() may have taken a library along for this one. */
	if (void *const own =
		    ::dlopen(p.name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
		found = ::dlsym(own, name);
		::dlclose(own);
	}
	return found;
}

/* A library that was linked without that one does not know what it is. */
bool is_function(const ElfW(Sym) & s, const void *found)
{
	Dl_info where{};
	const ElfW(Sym) *there = nullptr;

	if (ELF64_ST_TYPE(s.st_info) != STT_NOTYPE)
		return ELF64_ST_TYPE(s.st_info) == STT_FUNC;
	return ::dladdr1(found, &where,
			 reinterpret_cast<void **>(
				 const_cast<ElfW(Sym) **>(&there)),
			 RTLD_DL_SYMENT) &&
	       there && ELF64_ST_TYPE(there->st_info) == STT_FUNC;
}

/* An address in a table, and its replacement. */
struct change {
	void **at;
	void *ours; /* null: a gate */
	const record *behind;
};

std::vector<change> changes_of(const part &p, const std::vector<part> &all)
{
	/* Never destroyed: what ends the program calls through gates, too. */
	static auto &records = *new std::deque<record>;
	std::vector<change> found;

	p.for_each([&](const ElfW(Rela) & r, const ElfW(Sym) & s) {
		const usize kind = ELF64_R_TYPE(r.r_info);
		const char *const name = p.texts + s.st_name;
		const bool calls = kind == is_of_calls;

		if (s.st_shndx != SHN_UNDEF ||
		    (!calls && kind != is_of_table && kind != is_address))
			return;
		void *const real = imported_by(p, s);
		if (!calls && !is_function(s, real))
			return;
		void **const at =
			reinterpret_cast<void **>(p.base + r.r_offset);
		const auto *const w = wrapped_of(name);
		/* The program's own calls are ours by the linker. */
		if (w && !p.name.empty())
			found.push_back(
				{at, reinterpret_cast<void *>(w->ours), {}});
		if (w || (model::detail::what_is(name) == imported::harmless))
			return;
		if (real && !have(all, real)) {
			records.push_back(
				{real, in_source(::strdup(name)),
				 __tsan_init ? look_of(name) : nullptr});
			found.push_back({at, nullptr, &records.back()});
		}
	});
	return found;
}

/* Gates are never freed: code that has read an address keeps it. */
void change_all(const part &p, std::vector<change> all)
{
	const usize page = static_cast<usize>(::sysconf(_SC_PAGESIZE));
	const usize bytes = all.size() * sizeof(stub);
	void (*const to)() = klock_gate;
	const usize fixed = p.fixed & ~(page - 1);
	const usize fixed_bytes =
		(p.fixed + p.fixed_bytes - fixed) & ~(page - 1);

	if (all.empty())
		return;
	auto *const stubs = static_cast<stub *>(
		::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (usize i = 0; i < all.size(); i++) {
		stubs[i] = {};
		std::memcpy(stubs[i].of, &all[i].behind, sizeof(void *));
		std::memcpy(stubs[i].to, &to, sizeof(to));
	}
	__builtin___clear_cache(reinterpret_cast<char *>(stubs),
				reinterpret_cast<char *>(stubs + all.size()));
	/* First: mprotect() itself is called through one. */
	::mprotect(stubs, bytes, PROT_READ | PROT_EXEC);
	::mprotect(reinterpret_cast<void *>(fixed), fixed_bytes,
		   PROT_READ | PROT_WRITE);
	for (usize i = 0; i < all.size(); i++)
		*all[i].at = all[i].ours ? all[i].ours : &stubs[i];
	::mprotect(reinterpret_cast<void *>(fixed), fixed_bytes, PROT_READ);
}

struct code_range {
	usize from, bytes;
};
std::vector<code_range> code_of_parts;

} // namespace
} // namespace klock_own
using namespace klock_own;

bool model::detail::is_of_code(const void *instruction)
{
	if (instruction >= __start_klock_engine &&
	    instruction < __stop_klock_engine)
		return false;
	for (const code_range &r : code_of_parts)
		if (reinterpret_cast<usize>(instruction) - r.from < r.bytes)
			return true;
	return false;
}

const char *model::detail::see_imports()
{
	static unsigned long long seen = 0;

	if (seen == changes_of_parts())
		return nullptr;
	const std::vector<part> all = parts();
	const void *const library = ::dlsym(RTLD_DEFAULT, "_ZSt9terminatev");
	if (!library || have(all, library))
		return "calls of the C and the C++ library are not seen: the "
		       "program has them in it; link without -static, "
		       "-static-libstdc++";
	code_of_parts.clear();
	for (const part &p : all) {
		change_all(p, changes_of(p, all));
		code_of_parts.push_back({p.code, p.code_bytes});
	}
	seen = changes_of_parts();
	return nullptr;
}

unsigned long long model::detail::changes_of_parts()
{
	unsigned long long count = 0;

	::dl_iterate_phdr(
		[](dl_phdr_info *one, std::size_t, void *to) {
			*static_cast<unsigned long long *>(to) =
				one->dlpi_adds + one->dlpi_subs;
			return 1;
		},
		&count);
	return count;
}

std::vector<model::detail::told> model::detail::told_parts()
{
	std::vector<told> all;

	for (const part &p : parts())
		all.push_back({p.name, p.base, p.data, p.data_end - p.data});
	return all;
}

#else

const char *model::detail::see_imports() { return nullptr; }
bool model::detail::is_of_code(const void *) { return false; }

#endif
