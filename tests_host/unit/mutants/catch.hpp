/* SPDX-License-Identifier: MIT */
/*
 * catch - as much of Catch2 as the tests of lock_order need, and quick to
 * compile: a mutant is compiled for one test (mutants.py)
 */
#pragma once

#include <cstdio>
#include <cstring>

/* MUTANT_TEST: the one that is run; without it all may be. */
constexpr bool is_wanted([[maybe_unused]] const char *name)
{
#ifdef MUTANT_TEST
	return __builtin_strcmp(name, MUTANT_TEST) == 0;
#else
	return true;
#endif
}

struct test_case {
	test_case(const char *of, void (*what)())
	    : name(of), run(what), next(first)
	{
		first = this;
	}

	const char *name;
	void (*run)();
	test_case *next;
	static inline test_case *first = nullptr;
	static inline int failed = 0;
};

#define MUTANT_PASTE_2(a, b) a##b
#define MUTANT_PASTE(a, b) MUTANT_PASTE_2(a, b)
/* A template: of those that are not wanted nothing is made. */
#define TEST_CASE(name)                                                        \
	template <typename>                                                    \
	static void MUTANT_PASTE(test_at_, __LINE__)();                        \
	static test_case MUTANT_PASTE(case_at_, __LINE__)(                     \
		name, []<typename T>(T *) -> void (*)() {                      \
			if constexpr (is_wanted(name))                         \
				return MUTANT_PASTE(test_at_, __LINE__)<T>;    \
			else                                                   \
				return nullptr;                                \
		}(static_cast<test_case *>(nullptr)));                         \
	template <typename>                                                    \
	static void MUTANT_PASTE(test_at_, __LINE__)()
#define CHECK(...) (void)((__VA_ARGS__) || ++test_case::failed)
#define CHECK_FALSE(...) CHECK(!(__VA_ARGS__))
#define REQUIRE(...)                                                           \
	do {                                                                   \
		if (!(__VA_ARGS__)) {                                          \
			++test_case::failed;                                   \
			return;                                                \
		}                                                              \
	} while (0)
#define STATIC_REQUIRE(...) static_assert(__VA_ARGS__)
#define INFO(...) ((void)0)

/* Runs the test that is named; exit status 3: it failed, 4: there is none. */
#ifdef MUTANT_MAIN
int main(int, char **argv)
{
	for (test_case *one = test_case::first; one; one = one->next) {
		if (!one->run || std::strcmp(one->name, argv[1]) != 0)
			continue;
		try {
			one->run();
		} catch (...) {
			return 3;
		}
		return test_case::failed ? 3 : 0;
	}
	return 4;
}
#endif
