/* SPDX-License-Identifier: MIT */
/*
 * Code that no compiler instruments, in a program that is linked to fixed
 * addresses
 * (-no-pie), and in libraries that come and go while it runs.
 */
#include <model/model.hpp>

#include <catch.hpp>

#include <cstdlib>
#include <string>

#include <dlfcn.h>

#if defined(__x86_64__)
int part_word asm("part_word");
#endif

namespace of_parts {

namespace {

struct counter {
	int count = 0;
};

/* "ok", or what was refused. */
template <typename Do>
std::string said(Do what)
{
	const model::result r = model::explore<counter>(
		{.runs = {1, 1}}, [what](counter &c, unsigned) { what(c); });

	return r.ok() ? "ok" : r.message;
}

} // namespace

/* getenv stands for the program's own entry, in the libraries, too. */
TEST_CASE("parts: a function whose address is taken is refused")
{
	char *(*volatile const find)(const char *) = std::getenv;

	CHECK(said([=](counter &) { find("PATH"); }) ==
	      "refused: getenv(), of which the checker cannot see what it "
	      "does");
	CHECK(said([](counter &) { (void)std::getenv("PATH"); }) ==
	      "refused: getenv(), of which the checker cannot see what it "
	      "does");
}

#if defined(__x86_64__)
TEST_CASE("parts: an exchange with a fixed address is seen")
{
	CHECK(said([](counter &c) {
		      int was = 1;
		      __asm__ volatile("xchg %0, part_word"
				       : "+r"(was)::"memory");
		      /* One of the two CPUs finds it. */
		      if (was)
			      c.count++;
	      }) == "ok");
}
#endif

/* Where a library was, another one may be. */
TEST_CASE("parts: a library that is opened later is looked through")
{
	CHECK(said([](counter &) {}) == "ok");
	for (unsigned i = 0; i < 2; i++) {
		void *const part = ::dlopen(KLOCK_PART, RTLD_NOW | RTLD_LOCAL);
		REQUIRE(part);
		const auto of = [part](const char *name) {
			return reinterpret_cast<void (*)(int *)>(
				::dlsym(part, name));
		};
		CHECK(said([does = of("part_calls")](counter &c) {
			      does(&c.count);
		      }) == "refused: beyond(), of which the checker cannot "
			    "see what it does");
		CHECK(said([does = of("part_calls_other")](counter &c) {
			      does(&c.count);
		      }) == "refused: other(), of which the checker cannot "
			    "see what it does");
		CHECK(said([does = of("part_reads_time")](counter &c) {
			      does(&c.count);
		      }).find("in part_reads_time: inline assembly") !=
		      std::string::npos);
		::dlclose(part);
		CHECK(said([](counter &) {}) == "ok");
	}
}

} // namespace of_parts
