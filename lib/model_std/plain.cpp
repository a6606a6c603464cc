/* SPDX-License-Identifier: MIT */
/*
 * plain - receives the compiler's reports of accesses to plain variables
 *
 * Code that is compiled with -fsanitize=thread calls a function before each
 * access that other threads could see. ThreadSanitizer is not linked: these
 * functions are the checker's. So are its functions for atomics, which code
 * with the compiler's builtins calls. The compiler does not report accesses by
 * the C library: the linker redirects those calls to the checker (--wrap).
 * Before anything is explored, the checker tests that both arrive: model.hpp,
 * what_is_unseen().
 */
#include <model/access.hpp>
#include <model/body.hpp>
#include <model/places.hpp>

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace klock_own {
namespace {

using klock::order;
using klock::usize;
namespace access = model::access;

using model::detail::access_of;

void touched(const void *at, usize bytes, bool writes, const void *caller,
	     access_of by)
{
	if (at == model::detail::probe)
		model::detail::probe_seen = true;
	if (model::detail::in_body)
		model::detail::plain_access(at, bytes, writes, caller, by);
}

/* An access that is made for the code excuses none of its own. */
void ends_tale()
{
	if (model::detail::looks && model::detail::in_body)
		model::detail::open_memory();
}

/* A function's access, which is made for the code. */
void touched(const void *at, usize bytes, bool writes, const void *caller)
{
	touched(at, bytes, writes, caller, access_of::function);
	ends_tale();
}

void copies(void *to, const void *of, usize bytes, const void *caller)
{
	touched(of, bytes, false, caller, access_of::statement);
	touched(to, bytes, true, caller, access_of::joined);
}

/* Copies a text, whose length the bytes decide. */
void copies_text(void *to, const void *of, usize bytes, const void *caller)
{
	touched(of, bytes, false, caller);
	touched(to, bytes, true, caller);
}

/* The length up to a zero, `end`, or `most`. */
usize length(const char *of, usize most, char end = 0)
{
	const model::detail::checker_runs now;
	usize n = 0;

	while (n < most && of[n] && of[n] != end)
		n++;
	return n;
}

/* The number of bytes that a comparison of the two looks at. */
usize common(const void *a, const void *b, usize most, bool texts)
{
	const char *const x = static_cast<const char *>(a);
	const char *const y = static_cast<const char *>(b);
	const model::detail::checker_runs now;

	for (usize n = 0; n < most; n++)
		if (x[n] != y[n] || (texts && !x[n]))
			return n + 1;
	return most;
}

bool differs(void **at, void *now)
{
	const model::detail::checker_runs here;

	return *at != now;
}

/* Calls a function that accesses memory for the code. */
template <typename Result, typename... Arguments>
Result apart(Result (*function)(Arguments...),
	     std::type_identity_t<Arguments>... with)
{
	if (!model::detail::looks || !model::detail::in_body)
		return function(with...);
	const model::detail::checker_runs now;

	model::detail::open_memory();
	return function(with...);
}

/* Load and store the value that a compare-and-swap expects. */
template <typename T>
T looked(const void *expected, const void *caller)
{
	touched(expected, sizeof(T), false, caller, access_of::statement);
	ends_tale();
	const model::detail::checker_runs now;
	return *static_cast<const T *>(expected);
}
template <typename T>
void put(void *expected, T found, const void *caller)
{
	touched(expected, sizeof(T), true, caller, access_of::statement);
	ends_tale();
	const model::detail::checker_runs now;
	*static_cast<T *>(expected) = found;
}

/* Converts a compiler's order: consume is acquire. */
order from(int o)
{
	return o == __ATOMIC_CONSUME ? order::acquire : static_cast<order>(o);
}

/*
 * Tells of the texts among the arguments of such a format. All whole numbers
 * and addresses have one form there. Returns false if the format has what is
 * not known: %n, wide characters, arguments by their numbers.
 */
bool reads_texts(const char *how, std::va_list all, const void *caller)
{
	const model::detail::checker_runs now;

	for (; *how; how++) {
		usize most = 0;
		bool is_wide = false, has_most = false;

		if (*how != '%')
			continue;
		for (how++;
		     *how && std::strchr(" #'+-.*0123456789hjlLqtz", *how);
		     how++) {
			const int n = *how == '*' ? va_arg(all, int) : 0;
			is_wide |= *how == 'l' || *how == 'L';
			if (*how == '.')
				has_most = true;
			else if (has_most && *how == '*')
				most = static_cast<usize>(n);
			else if (has_most && *how >= '0' && *how <= '9')
				most = 10 * most +
				       static_cast<usize>(*how - '0');
		}
		if (*how && std::strchr("diouxXcp", *how)) {
			(void)va_arg(all, long);
		} else if (*how && std::strchr("aAeEfFgG", *how)) {
			if (is_wide)
				(void)va_arg(all, long double);
			else
				(void)va_arg(all, double);
		} else if (*how == 's' && !is_wide) {
			const char *const text = va_arg(all, const char *);
			if (!has_most)
				most = ~usize{0};
			const usize n = text ? length(text, most) : 0;
			if (text)
				model::detail::plain_access(
					text, n < most ? n + 1 : n, false,
					caller);
		} else if (*how != '%' && *how != 'm') {
			return false;
		}
	}
	return true;
}

/* Tells of what a function reads that prints by this format. */
void reads_format(const char *how, std::va_list all, const void *caller)
{
	std::va_list own;

	if (!model::detail::in_body)
		return;
	touched(how, length(how, ~usize{0}) + 1, false, caller);
	va_copy(own, all);
	const bool is_known = reads_texts(how, own, caller);
	va_end(own);
	if (!is_known && model::detail::cpu_runs())
		model::detail::refuse("a format with %n, a wide text, or "
				      "numbers of arguments",
				      caller);
}

klock::arch::site place(const void *caller)
{
	if (!model::detail::in_body)
		return {nullptr, 0};
	return model::detail::place_of_return(caller);
}

} // namespace
} // namespace klock_own
using namespace klock_own;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void *returns_to)
{
	if (model::detail::cpu_runs())
		model::detail::frame(__builtin_frame_address(0), returns_to,
				     KLOCK_CALLER);
}
void __tsan_func_exit()
{
	if (model::detail::cpu_runs())
		model::detail::frame(__builtin_frame_address(0), nullptr,
				     KLOCK_CALLER);
}

#define KLOCK_HOOK(NAME, BYTES, WRITES, BY)                                    \
	void __tsan_##NAME##BYTES(void *at)                                    \
	{                                                                      \
		touched(at, BYTES, WRITES, KLOCK_CALLER, access_of::BY);       \
	}
#define KLOCK_PLAIN(BYTES)                                                     \
	KLOCK_HOOK(read, BYTES, false, statement)                              \
	KLOCK_HOOK(write, BYTES, true, statement)                              \
	KLOCK_HOOK(unaligned_read, BYTES, false, statement)                    \
	KLOCK_HOOK(unaligned_write, BYTES, true, statement)                    \
	KLOCK_HOOK(volatile_read, BYTES, false, is_volatile)                   \
	KLOCK_HOOK(volatile_write, BYTES, true, is_volatile)                   \
	KLOCK_HOOK(unaligned_volatile_read, BYTES, false, is_volatile)         \
	KLOCK_HOOK(unaligned_volatile_write, BYTES, true, is_volatile)         \
	/* Hides a load before it: refused as relaxed data. */                 \
	KLOCK_HOOK(read_write, BYTES, true, function)                          \
	KLOCK_HOOK(unaligned_read_write, BYTES, true, function)
KLOCK_PLAIN(1)
KLOCK_PLAIN(2)
KLOCK_PLAIN(4)
KLOCK_PLAIN(8)
KLOCK_PLAIN(16)

void __tsan_read_range(void *at, unsigned long bytes)
{
	touched(at, bytes, false, KLOCK_CALLER, access_of::statement);
}
void __tsan_write_range(void *at, unsigned long bytes)
{
	touched(at, bytes, true, KLOCK_CALLER, access_of::statement);
}
void __tsan_vptr_read(void **at)
{
	touched(at, sizeof(*at), false, KLOCK_CALLER, access_of::statement);
}
void __tsan_vptr_update(void **at, void *now)
{
	if (differs(at, now))
		touched(at, sizeof(*at), true, KLOCK_CALLER,
			access_of::statement);
	else
		model::detail::tell(at, sizeof(*at), true);
}

/* The hook by which compilers copy; the caller gives the size. */
void *__tsan_memcpy(void *to, const void *of, usize bytes)
{
	copies(to, of, bytes, KLOCK_CALLER);
	return apart(std::memcpy, to, of, bytes);
}
void *__tsan_memmove(void *to, const void *of, usize bytes)
{
	copies(to, of, bytes, KLOCK_CALLER);
	return apart(std::memmove, to, of, bytes);
}
void *__tsan_memset(void *to, int with, usize bytes)
{
	touched(to, bytes, true, KLOCK_CALLER, access_of::statement);
	return apart(std::memset, to, with, bytes);
}

/* -- The C library's -------------------------------------------------------
 */

KLOCK_WRAPPED(void *, memcpy, void *to, const void *of, usize bytes)
{
	copies(to, of, bytes, KLOCK_CALLER);
	return apart(__real_memcpy, to, of, bytes);
}
KLOCK_WRAPPED(void *, mempcpy, void *to, const void *of, usize bytes)
{
	copies(to, of, bytes, KLOCK_CALLER);
	return apart(__real_mempcpy, to, of, bytes);
}
KLOCK_WRAPPED(void *, memmove, void *to, const void *of, usize bytes)
{
	copies(to, of, bytes, KLOCK_CALLER);
	return apart(__real_memmove, to, of, bytes);
}
KLOCK_WRAPPED(void *, memset, void *to, int with, usize bytes)
{
	touched(to, bytes, true, KLOCK_CALLER, access_of::statement);
	return apart(__real_memset, to, with, bytes);
}
KLOCK_WRAPPED(int, memcmp, const void *a, const void *b, usize bytes)
{
	/* The checker compares much, too. */
	if (!model::detail::in_body)
		return __real_memcmp(a, b, bytes);
	const usize n = common(a, b, bytes, false);

	touched(a, n, false, KLOCK_CALLER);
	touched(b, n, false, KLOCK_CALLER);
	return apart(__real_memcmp, a, b, bytes);
}
/* clang makes this of a memcmp() that is compared with 0. */
KLOCK_WRAPPED(int, bcmp, const void *a, const void *b, usize bytes)
{
	const usize n = common(a, b, bytes, false);

	touched(a, n, false, KLOCK_CALLER);
	touched(b, n, false, KLOCK_CALLER);
	return apart(__real_bcmp, a, b, bytes);
}
KLOCK_WRAPPED(int, strcmp, const char *a, const char *b)
{
	const usize n = common(a, b, ~usize{0}, true);

	touched(a, n, false, KLOCK_CALLER);
	touched(b, n, false, KLOCK_CALLER);
	return apart(__real_strcmp, a, b);
}
KLOCK_WRAPPED(int, strncmp, const char *a, const char *b, usize most)
{
	const usize n = common(a, b, most, true);

	touched(a, n, false, KLOCK_CALLER);
	touched(b, n, false, KLOCK_CALLER);
	return apart(__real_strncmp, a, b, most);
}
KLOCK_WRAPPED(usize, strlen, const char *of)
{
	const usize n = length(of, ~usize{0});

	touched(of, n + 1, false, KLOCK_CALLER);
	return n;
}
KLOCK_WRAPPED(char *, strcpy, char *to, const char *of)
{
	copies_text(to, of, length(of, ~usize{0}) + 1, KLOCK_CALLER);
	return apart(__real_strcpy, to, of);
}
/* Compilers make this of a strcpy() whose end is used. */
KLOCK_WRAPPED(char *, stpcpy, char *to, const char *of)
{
	copies_text(to, of, length(of, ~usize{0}) + 1, KLOCK_CALLER);
	return apart(__real_stpcpy, to, of);
}
KLOCK_WRAPPED(char *, strncpy, char *to, const char *of, usize bytes)
{
	const usize n = length(of, bytes);

	touched(of, n < bytes ? n + 1 : n, false, KLOCK_CALLER);
	touched(to, bytes, true, KLOCK_CALLER);
	return apart(__real_strncpy, to, of, bytes);
}
KLOCK_WRAPPED(char *, strcat, char *to, const char *of)
{
	const usize n = length(to, ~usize{0});

	touched(to, n + 1, false, KLOCK_CALLER);
	copies_text(to + n, of, length(of, ~usize{0}) + 1, KLOCK_CALLER);
	return apart(__real_strcat, to, of);
}

KLOCK_WRAPPED(char *, strncat, char *to, const char *of, usize most)
{
	const usize n = length(to, ~usize{0}), more = length(of, most);

	touched(to, n + 1, false, KLOCK_CALLER);
	touched(of, more < most ? more + 1 : more, false, KLOCK_CALLER);
	touched(to + n, more + 1, true, KLOCK_CALLER);
	return apart(__real_strncat, to, of, most);
}
KLOCK_WRAPPED(char *, stpncpy, char *to, const char *of, usize bytes)
{
	const usize n = length(of, bytes);

	touched(of, n < bytes ? n + 1 : n, false, KLOCK_CALLER);
	touched(to, bytes, true, KLOCK_CALLER);
	return apart(__real_stpncpy, to, of, bytes);
}
KLOCK_WRAPPED(usize, strnlen, const char *of, usize most)
{
	const usize n = length(of, most);

	touched(of, n < most ? n + 1 : n, false, KLOCK_CALLER);
	return n;
}
KLOCK_WRAPPED(char *, strchr, const char *of, int what)
{
	touched(of, length(of, ~usize{0}, static_cast<char>(what)) + 1, false,
		KLOCK_CALLER);
	return apart(__real_strchr, of, what);
}
KLOCK_WRAPPED(char *, strrchr, const char *of, int what)
{
	touched(of, length(of, ~usize{0}) + 1, false, KLOCK_CALLER);
	return apart(__real_strrchr, of, what);
}
KLOCK_WRAPPED(void *, memchr, const void *of, int what, usize bytes)
{
	const char *const first = static_cast<const char *>(of);
	const void *const found = apart(__real_memchr, of, what, bytes);

	touched(of,
		found ? static_cast<usize>(static_cast<const char *>(found) -
					   first) +
				1
		      : bytes,
		false, KLOCK_CALLER);
	return const_cast<void *>(found);
}

/* -- Functions that print by a format ----------------------------------------
 */

KLOCK_WRAPPED(int, vfprintf, FILE *to, const char *how, std::va_list all)
{
	reads_format(how, all, KLOCK_CALLER);
	return apart(__real_vfprintf, to, how, all);
}
KLOCK_WRAPPED(int, vprintf, const char *how, std::va_list all)
{
	reads_format(how, all, KLOCK_CALLER);
	return apart(__real_vprintf, how, all);
}

static int klock_prints_into(char *to, usize bytes, const char *how,
			     std::va_list all, const void *caller);

KLOCK_WRAPPED(int, vsnprintf, char *to, usize bytes, const char *how,
	      std::va_list all)
{
	return klock_prints_into(to, bytes, how, all, KLOCK_CALLER);
}
KLOCK_WRAPPED(int, vsprintf, char *to, const char *how, std::va_list all)
{
	return klock_prints_into(to, INT_MAX, how, all, KLOCK_CALLER);
}

/* It prints twice: at first, nowhere, for the number of characters. */
static int klock_prints_into(char *to, usize bytes, const char *how,
			     std::va_list all, const void *caller)
{
	reads_format(how, all, caller);
	if (bytes && model::detail::in_body) {
		std::va_list own;
		va_copy(own, all);
		const int n = apart(__real_vsnprintf, nullptr, 0, how, own);
		va_end(own);
		touched(to, std::min(bytes, static_cast<usize>(n) + 1), true,
			caller);
	}
	return apart(__real_vsnprintf, to, bytes, how, all);
}

/* Variadic functions call the form that takes a va_list. */
#define KLOCK_BY_LIST(CALL)                                                    \
	{                                                                      \
		std::va_list all;                                              \
                                                                               \
		va_start(all, how);                                            \
		const int n = CALL;                                            \
		va_end(all);                                                   \
		return n;                                                      \
	}
KLOCK_WRAPPED(int, printf, const char *how, ...)
KLOCK_BY_LIST((reads_format(how, all, KLOCK_CALLER),
	       apart(__real_vprintf, how, all)))
KLOCK_WRAPPED(int, fprintf, FILE *to, const char *how, ...)
KLOCK_BY_LIST((reads_format(how, all, KLOCK_CALLER),
	       apart(__real_vfprintf, to, how, all)))
KLOCK_WRAPPED(int, snprintf, char *to, usize bytes, const char *how, ...)
KLOCK_BY_LIST(klock_prints_into(to, bytes, how, all, KLOCK_CALLER))
KLOCK_WRAPPED(int, sprintf, char *to, const char *how, ...)
KLOCK_BY_LIST(klock_prints_into(to, INT_MAX, how, all, KLOCK_CALLER))

/* -- Others ---------------------------------------------------------------- */

static void klock_swap(char *a, char *b, usize bytes)
{
	const model::detail::checker_runs now;

	for (usize i = 0; i < bytes; i++)
		std::swap(a[i], b[i]);
}

/* The C library's copies elements, of which the code's function would tell. */
KLOCK_WRAPPED(void, qsort, void *all, usize many, usize bytes,
	      int (*compare)(const void *, const void *))
{
	char *const first = static_cast<char *>(all);

	if (!model::detail::cpu_runs())
		return __real_qsort(all, many, bytes, compare);
	touched(all, many * bytes, false, KLOCK_CALLER);
	touched(all, many * bytes, true, KLOCK_CALLER);
	for (usize sorted = 1; sorted < many; sorted++)
		for (char *at = first + sorted * bytes;
		     at > first && compare(at - bytes, at) > 0; at -= bytes)
			klock_swap(at - bytes, at, bytes);
}

/* -- The compiler's atomics --------------------------------------------------
 */

#define KLOCK_RMW(BITS, NAME, HOW)                                             \
	klock::u##BITS __tsan_atomic##BITS##_##NAME(volatile void *at,         \
						    klock::u##BITS v, int o)   \
	{                                                                      \
		return access::rmw(                                            \
			static_cast<klock::u##BITS *>(const_cast<void *>(at)), \
			access::hooked::update::HOW, v, from(o),               \
			place(KLOCK_CALLER));                                  \
	}
#define KLOCK_SWAP(BITS, NAME, WEAK)                                           \
	int __tsan_atomic##BITS##_compare_exchange_##NAME(                     \
		volatile void *at, void *expected, klock::u##BITS v, int o,    \
		int failed)                                                    \
	{                                                                      \
		const void *const caller = KLOCK_CALLER;                       \
		auto found = looked<klock::u##BITS>(expected, caller);         \
		const bool swapped = access::compare_exchange(                 \
			static_cast<klock::u##BITS *>(const_cast<void *>(at)), \
			found, v, from(o), from(failed), WEAK, place(caller)); \
                                                                               \
		if (!swapped)                                                  \
			put(expected, found, caller);                          \
		return swapped;                                                \
	}
/* clang's: what was found. */
#define KLOCK_SWAP_VALUE(BITS)                                                 \
	klock::u##BITS __tsan_atomic##BITS##_compare_exchange_val(             \
		volatile void *at, klock::u##BITS expected, klock::u##BITS v,  \
		int o, int failed)                                             \
	{                                                                      \
		access::compare_exchange(                                      \
			static_cast<klock::u##BITS *>(const_cast<void *>(at)), \
			expected, v, from(o), from(failed), false,             \
			place(KLOCK_CALLER));                                  \
		return expected;                                               \
	}
/* clang calls it for a load, and loads besides: the value is not used. */
#define KLOCK_ATOMICS(BITS)                                                    \
	klock::u##BITS __tsan_atomic##BITS##_load(const volatile void *at,     \
						  int o)                       \
	{                                                                      \
		const auto v =                                                 \
			access::load(static_cast<const klock::u##BITS *>(      \
					     const_cast<const void *>(at)),    \
				     from(o), place(KLOCK_CALLER));            \
                                                                               \
		model::detail::tell(const_cast<const void *>(at), BITS / 8,    \
				    false);                                    \
		return v;                                                      \
	}                                                                      \
	void __tsan_atomic##BITS##_store(volatile void *at, klock::u##BITS v,  \
					 int o)                                \
	{                                                                      \
		access::store(                                                 \
			static_cast<klock::u##BITS *>(const_cast<void *>(at)), \
			v, from(o), place(KLOCK_CALLER));                      \
	}                                                                      \
	KLOCK_RMW(BITS, exchange, exchange)                                    \
	KLOCK_RMW(BITS, fetch_add, add)                                        \
	KLOCK_RMW(BITS, fetch_sub, subtract)                                   \
	KLOCK_RMW(BITS, fetch_and, bit_and)                                    \
	KLOCK_RMW(BITS, fetch_or, bit_or)                                      \
	KLOCK_RMW(BITS, fetch_xor, bit_xor)                                    \
	KLOCK_SWAP(BITS, strong, false)                                        \
	KLOCK_SWAP(BITS, weak, true)                                           \
	KLOCK_SWAP_VALUE(BITS)
KLOCK_ATOMICS(8)
KLOCK_ATOMICS(16)
KLOCK_ATOMICS(32)
KLOCK_ATOMICS(64)

void __tsan_atomic_thread_fence(int o)
{
	access::fence(from(o), place(KLOCK_CALLER));
}
void __tsan_atomic_signal_fence(int) {}

/* -- Annotations -----------------------------------------------------------
 *
 * They tell ThreadSanitizer what it cannot see, and do nothing in shipped code:
 * so they do nothing here. If only an annotation orders two accesses, that is a
 * race.
 */

#define KLOCK_ANNOTATION(NAME)                                                 \
	usize NAME() { return 0; }
KLOCK_ANNOTATION(__tsan_acquire)
KLOCK_ANNOTATION(__tsan_release)
KLOCK_ANNOTATION(__tsan_mutex_create)
KLOCK_ANNOTATION(__tsan_mutex_destroy)
KLOCK_ANNOTATION(__tsan_mutex_pre_lock)
KLOCK_ANNOTATION(__tsan_mutex_post_lock)
KLOCK_ANNOTATION(__tsan_mutex_pre_unlock)
KLOCK_ANNOTATION(__tsan_mutex_post_unlock)
KLOCK_ANNOTATION(__tsan_mutex_pre_signal)
KLOCK_ANNOTATION(__tsan_mutex_post_signal)
KLOCK_ANNOTATION(__tsan_mutex_pre_divert)
KLOCK_ANNOTATION(__tsan_mutex_post_divert)
KLOCK_ANNOTATION(__tsan_flush_memory)
KLOCK_ANNOTATION(__tsan_external_register_tag)
KLOCK_ANNOTATION(__tsan_external_register_header)
KLOCK_ANNOTATION(__tsan_external_assign_tag)
KLOCK_ANNOTATION(__tsan_external_read)
KLOCK_ANNOTATION(__tsan_external_write)
KLOCK_ANNOTATION(__tsan_ignore_thread_begin)
KLOCK_ANNOTATION(__tsan_ignore_thread_end)
KLOCK_ANNOTATION(AnnotateHappensBefore)
KLOCK_ANNOTATION(AnnotateHappensAfter)
KLOCK_ANNOTATION(AnnotateCondVarWait)
KLOCK_ANNOTATION(AnnotateCondVarSignal)
KLOCK_ANNOTATION(AnnotateCondVarSignalAll)
KLOCK_ANNOTATION(AnnotateMutexIsNotPHB)
KLOCK_ANNOTATION(AnnotateMutexIsUsedAsCondVar)
KLOCK_ANNOTATION(AnnotateRWLockCreate)
KLOCK_ANNOTATION(AnnotateRWLockCreateStatic)
KLOCK_ANNOTATION(AnnotateRWLockDestroy)
KLOCK_ANNOTATION(AnnotateRWLockAcquired)
KLOCK_ANNOTATION(AnnotateRWLockReleased)
KLOCK_ANNOTATION(AnnotateBenignRace)
KLOCK_ANNOTATION(AnnotateBenignRaceSized)
KLOCK_ANNOTATION(AnnotateIgnoreReadsBegin)
KLOCK_ANNOTATION(AnnotateIgnoreReadsEnd)
KLOCK_ANNOTATION(AnnotateIgnoreWritesBegin)
KLOCK_ANNOTATION(AnnotateIgnoreWritesEnd)
KLOCK_ANNOTATION(AnnotateIgnoreSyncBegin)
KLOCK_ANNOTATION(AnnotateIgnoreSyncEnd)
KLOCK_ANNOTATION(AnnotateEnableRaceDetection)
KLOCK_ANNOTATION(AnnotatePublishMemoryRange)
KLOCK_ANNOTATION(AnnotateUnpublishMemoryRange)
KLOCK_ANNOTATION(AnnotateNewMemory)
KLOCK_ANNOTATION(AnnotateNoOp)
KLOCK_ANNOTATION(AnnotateFlushState)
KLOCK_ANNOTATION(AnnotateTraceMemory)
KLOCK_ANNOTATION(AnnotateThreadName)
KLOCK_ANNOTATION(AnnotateMemoryIsInitialized)
KLOCK_ANNOTATION(AnnotateMemoryIsUninitialized)
KLOCK_ANNOTATION(AnnotatePCQCreate)
KLOCK_ANNOTATION(AnnotatePCQDestroy)
KLOCK_ANNOTATION(AnnotatePCQPut)
KLOCK_ANNOTATION(AnnotatePCQGet)
KLOCK_ANNOTATION(AnnotateFlushExpectedRaces)
KLOCK_ANNOTATION(AnnotateExpectRace)
KLOCK_ANNOTATION(RunningOnValgrind)

/* -- Atomics that the checker has no word for ------------------------------ */

#define KLOCK_UNKNOWN(NAME)                                                    \
	void NAME() { model::detail::refuse(#NAME, KLOCK_CALLER); }
#define KLOCK_WIDE(NAME) KLOCK_UNKNOWN(__tsan_atomic128_##NAME)
KLOCK_UNKNOWN(__tsan_get_current_fiber)
KLOCK_UNKNOWN(__tsan_create_fiber)
KLOCK_UNKNOWN(__tsan_destroy_fiber)
KLOCK_UNKNOWN(__tsan_switch_to_fiber)
KLOCK_UNKNOWN(__tsan_set_fiber_name)
KLOCK_UNKNOWN(__tsan_atomic8_fetch_nand)
KLOCK_UNKNOWN(__tsan_atomic16_fetch_nand)
KLOCK_UNKNOWN(__tsan_atomic32_fetch_nand)
KLOCK_UNKNOWN(__tsan_atomic64_fetch_nand)
KLOCK_WIDE(load)
KLOCK_WIDE(store)
KLOCK_WIDE(exchange)
KLOCK_WIDE(fetch_add)
KLOCK_WIDE(fetch_sub)
KLOCK_WIDE(fetch_and)
KLOCK_WIDE(fetch_or)
KLOCK_WIDE(fetch_xor)
KLOCK_WIDE(fetch_nand)
KLOCK_WIDE(compare_exchange_strong)
KLOCK_WIDE(compare_exchange_weak)
KLOCK_WIDE(compare_exchange_val)

/* Atomics that are no machine word. Compilers have their own declarations. */
#define KLOCK_SIZED(NAME)                                                      \
	void klock_sized_##NAME() __asm__("__atomic_" #NAME);                  \
	void klock_sized_##NAME()                                              \
	{                                                                      \
		model::detail::refuse("an atomic that is no word of 1, 2, 4 "  \
				      "or 8 bytes: __atomic_" #NAME "()",      \
				      KLOCK_CALLER);                           \
	}
KLOCK_SIZED(load)
KLOCK_SIZED(store)
KLOCK_SIZED(exchange)
KLOCK_SIZED(compare_exchange)

} /* extern "C" */
