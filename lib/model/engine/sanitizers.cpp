/* SPDX-License-Identifier: MIT */
/*
 * sanitizers - makes a finding of each report of AddressSanitizer and
 * UndefinedBehaviorSanitizer about the code under test
 *
 * By --wrap, the compiler's calls of their reports come here. If their
 * libraries find a fault themselves, in memcpy() for instance, the program
 * ends, as they hold a lock that nobody else can release; the execution is
 * printed before.
 */
#include "checker.hpp"
#include "crash.hpp"

#include <cstdio>
#include <cstring>

extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());

namespace model {

namespace {

/* "__asan_report_load8", "__ubsan_handle_shift_out_of_bounds" */
std::string told_by(const char *name, const void *at, usize bytes)
{
	constexpr const char *asan = "__asan_report_";
	constexpr const char *ubsan = "__ubsan_handle_";
	std::string text;

	if (std::strncmp(name, asan, std::strlen(asan)) == 0) {
		name += std::strlen(asan);
		const bool reads = std::strncmp(name, "load", 4) == 0;
		const char *const size = name + std::strlen("load") + !reads;
		text = *size == '_' ? std::to_string(bytes) : size;
		return std::string("AddressSanitizer: bad ") +
		       (reads ? "read" : "write") + " of " + text +
		       (text == "1" ? " byte at " : " bytes at ") +
		       the_checker().reports.known.of(at);
	}
	text = name + std::strlen(ubsan);
	if (const auto version = text.find("_v1"); version != text.npos)
		text.erase(version);
	for (char &c : text)
		c = c == '_' ? ' ' : c;
	return "UndefinedBehaviorSanitizer: " + text;
}

void reported(const char *name, usize first, usize second, const void *caller)
{
	if (!code_ends())
		return;
	const detail::checker_runs now;

	ends(told_by(name, reinterpret_cast<const void *>(first), second),
	     caller);
}

void dies()
{
	if (!code_ends())
		return;
	const detail::checker_runs now;

	std::fprintf(stderr, "klock::model: the report above is of this:\n");
	the_checker().reports.expect_death();
	ends("a sanitizer's report", nullptr);
}

} // namespace

void hear_sanitizers(bool hears)
{
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(hears ? dies : nullptr);
}

} // namespace model

/*
 * Each has at most four arguments, all words. lib/targets.cmake reads the names
 * from these lines. The suffix says whether the code goes on after the report.
 */
#define KLOCK_WRAPPED_REPORT(NAME, PLAIN)                                      \
	[[gnu::weak]] void __real_##NAME(klock::usize, klock::usize,           \
					 klock::usize, klock::usize);          \
	void __wrap_##NAME(klock::usize a, klock::usize b, klock::usize c,     \
			   klock::usize d)                                     \
	{                                                                      \
		model::reported(#PLAIN, a, b, KLOCK_CALLER);                   \
		__real_##NAME(a, b, c, d);                                     \
	}
#define KLOCK_REPORTED(NAME)                                                   \
	KLOCK_WRAPPED_REPORT(NAME, NAME)                                       \
	KLOCK_WRAPPED_REPORT(NAME##_abort, NAME)                               \
	KLOCK_WRAPPED_REPORT(NAME##_noabort, NAME)

extern "C" {

KLOCK_REPORTED(__asan_report_load1)
KLOCK_REPORTED(__asan_report_load2)
KLOCK_REPORTED(__asan_report_load4)
KLOCK_REPORTED(__asan_report_load8)
KLOCK_REPORTED(__asan_report_load16)
KLOCK_REPORTED(__asan_report_load_n)
KLOCK_REPORTED(__asan_report_store1)
KLOCK_REPORTED(__asan_report_store2)
KLOCK_REPORTED(__asan_report_store4)
KLOCK_REPORTED(__asan_report_store8)
KLOCK_REPORTED(__asan_report_store16)
KLOCK_REPORTED(__asan_report_store_n)
KLOCK_REPORTED(__ubsan_handle_add_overflow)
KLOCK_REPORTED(__ubsan_handle_alignment_assumption)
KLOCK_REPORTED(__ubsan_handle_builtin_unreachable)
KLOCK_REPORTED(__ubsan_handle_divrem_overflow)
KLOCK_REPORTED(__ubsan_handle_float_cast_overflow)
KLOCK_REPORTED(__ubsan_handle_implicit_conversion)
KLOCK_REPORTED(__ubsan_handle_invalid_builtin)
KLOCK_REPORTED(__ubsan_handle_load_invalid_value)
KLOCK_REPORTED(__ubsan_handle_missing_return)
KLOCK_REPORTED(__ubsan_handle_mul_overflow)
KLOCK_REPORTED(__ubsan_handle_negate_overflow)
KLOCK_REPORTED(__ubsan_handle_nonnull_arg)
KLOCK_REPORTED(__ubsan_handle_nonnull_return_v1)
KLOCK_REPORTED(__ubsan_handle_nullability_arg)
KLOCK_REPORTED(__ubsan_handle_nullability_return_v1)
KLOCK_REPORTED(__ubsan_handle_out_of_bounds)
KLOCK_REPORTED(__ubsan_handle_pointer_overflow)
KLOCK_REPORTED(__ubsan_handle_shift_out_of_bounds)
KLOCK_REPORTED(__ubsan_handle_sub_overflow)
KLOCK_REPORTED(__ubsan_handle_type_mismatch_v1)
KLOCK_REPORTED(__ubsan_handle_vla_bound_not_positive)

} /* extern "C" */
