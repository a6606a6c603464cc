/* SPDX-License-Identifier: MIT */
/*
 * Plain variables as they are, of which the compiler tells
 * (klock::model_plain): races, memory that is gone, the compiler's own atomics.
 */
/* Names of our own headers' templates, and of many a user's macro. */
#define N 4
#define Self 2
#include <atomic>
#include <model/model.hpp>
static_assert(N == 4 && Self == 2);
#undef N
#undef Self

#include "verdict.hpp"
#include "foreign.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

#ifdef __clang__ /* That they are wide is what is tested. */
#pragma clang diagnostic ignored "-Watomic-alignment"
#endif

extern "C" {
void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_switch_to_fiber(void *, unsigned);
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, long,
			     const char *);
}

namespace of_plain {

namespace {

using enum std::memory_order;
using model::bug;
using model::check;

struct letter {
	int from;
	char text[12];
};

int counted;

template <typename State, typename... Threads>
model::result run(Threads... threads)
{
	return model::explore_threads<State>(
		{}, [](State &) {}, threads...);
}

} // namespace

namespace {

/* CPU 0's handler publishes the data that it writes before or after it. */
template <bool Before>
model::result handler_publishes()
{
	struct mail {
		int data = 0;
		std::atomic<int> full{0};
	};

	return model::explore<mail>(
		{.sections = {1, 1}, .interrupts = 1},
		[](mail &m, unsigned cpu) {
			if (cpu == 0 && !Before)
				m.data = 1;
			else if (cpu == 1 && m.full.load(acquire) == 1)
				counted = m.data;
		},
		[](mail &) {},
		[](mail &m, unsigned cpu) {
			if (cpu == 0 && Before)
				m.data = 1;
			if (cpu == 0)
				m.full.store(1, release);
		});
}

} // namespace

TEST_CASE("plain: an access after a handler is not published by the handler")
{
	CHECK(handler_publishes<false>().found == bug::data_race);
	verdict::right(handler_publishes<true>());
}

TEST_CASE("plain: what is published is there, and else it is a race")
{
	struct mail {
		letter l{};
		std::atomic<bool> full{false};
	};
	const auto sent = [](std::memory_order o) {
		return run<mail>(
			[o](mail &m) {
				m.l.from = 1;
				std::memcpy(m.l.text, "hello world", 12);
				m.full.store(true, o);
			},
			[](mail &m) {
				if (m.full.load(acquire)) {
					const letter copy = m.l;
					model::check(copy.from == 1);
					model::check(copy.text[10] == 'd');
				}
			});
	};
	const model::result right = sent(release), wrong = sent(relaxed);

	INFO(right.timeline << wrong.timeline);
	verdict::right_by(2, right);
	verdict::found(bug::data_race, wrong,
		       "data race with the write by cpu0 at test_plain.cpp:");
}

namespace {

struct large {
	char bytes[68] = {};
	volatile std::size_t size = 68;
	char other[68] = {};
};

struct part {
	char bytes[68];
};

/* One CPU does this, another writes bytes[7]. */
const struct {
	const char *what;
	void (*does)(large &);
	bool races = true;
} accesses[] = {
	{"a load whose value nobody uses",
	 [](large &l) {
		 const char unused = l.bytes[7];
		 (void)unused;
	 }},
	{"memset()", [](large &l) { std::memset(l.bytes, 0, l.size); }},
	{"memset() of what is behind",
	 [](large &l) { std::memset(l.bytes + 8, 0, 60); }, false},
	{"memcpy() from there",
	 [](large &l) { std::memcpy(l.other, l.bytes, l.size); }},
	{"memcpy() to there",
	 [](large &l) { std::memcpy(l.bytes, l.other, l.size); }},
	{"memmove()", [](large &l) { std::memmove(l.bytes, l.other, l.size); }},
	{"an assignment",
	 [](large &l) {
		 *reinterpret_cast<part *>(l.bytes) =
			 *reinterpret_cast<part *>(l.other);
	 }},
	{"strcpy()", [](large &l) { std::strcpy(l.bytes, "a long text"); }},
	{"strcpy() of what is before",
	 [](large &l) { std::strcpy(l.bytes, "short"); }, false},
	{"memcmp()",
	 [](large &l) {
		 model::check(std::memcmp(l.bytes, l.other, l.size) >= 0);
	 }},
	{"strncat()", [](large &l) { std::strncat(l.bytes, "long text", 8); }},
	{"strnlen()",
	 [](large &l) { model::check(strnlen(l.bytes + 7, 8) < 9); }},
	{"memchr()",
	 [](large &l) {
		 model::check(std::memchr(l.other, 0, l.size) == l.other);
		 model::check(std::memchr(l.bytes, 'z', l.size) == nullptr);
	 }},
	{"memchr() that ends before",
	 [](large &l) {
		 model::check(std::memchr(l.bytes, 0, l.size) == l.bytes);
	 },
	 false},
	{"sprintf()", [](large &l) { std::sprintf(l.bytes, "%d", 12345678); }},
	{"snprintf() of what is before",
	 [](large &l) { std::snprintf(l.bytes, 7, "%d", 12345678); }, false},
	{"printf() of a text",
	 [](large &l) { std::printf("%*s", 3, l.bytes + 7); }},
	{"printf() of a text before",
	 [](large &l) { std::printf("%.*s", 1, l.bytes + 6); }, false},
	{"strtol()",
	 [](large &l) {
		 model::check(!std::strtol(l.bytes + 7, nullptr, 10));
	 }},
	{"strtol() that ends before",
	 [](large &l) { model::check(!std::strtol(l.bytes, nullptr, 10)); },
	 false},
	{"where strtod() ends",
	 [](large &l) {
		 (void)std::strtod("", reinterpret_cast<char **>(l.bytes));
	 }},
	{"atoi()", [](large &l) { model::check(std::atoi(l.bytes + 7) >= 0); }},
	{"qsort()",
	 [](large &l) {
		 std::qsort(l.bytes, 8, 1,
			    [](const void *, const void *) { return 0; });
	 }},
	{"read()", [](large &l) { (void)!::read(-1, l.bytes, 8); }},
	{"read() of what is before",
	 [](large &l) { (void)!::read(-1, l.bytes, 7); }, false},
	{"puts()", [](large &l) { std::puts(l.bytes + 7); }},
	{"a stream", [](large &l) { std::cout << l.bytes + 7; }},
	{"a hash",
	 [](large &l) {
		 const std::hash<std::string_view> hash;
		 model::check(hash({l.bytes, 8}) != 1);
	 }},
};

} // namespace

TEST_CASE("plain: no access is lost on its way")
{
	for (const auto &one : accesses) {
		const auto r = run<large>(one.does,
					  [](large &l) { l.bytes[7] = 'x'; });

		INFO(one.what << "\n" << r.timeline);
		CHECK((r.found == bug::data_race) == one.races);
	}
}

namespace {

struct waiters {
	std::shared_ptr<int> shared;
	char bytes[16] = {};
	long words[2] = {};
};

struct wide {
	long at[3];
};

int pipe_ends[2];

/* Calls that are not seen, or that start the host's threads. */
const struct {
	const char *name; /* as the refusal has it */
	void (*does)(waiters &);
} refusals[] = {
	{"std::_Sp_locker::_Sp_locker(",
	 [](waiters &w) { (void)std::atomic_load(&w.shared); }},
	{"a function's static that CPUs make",
	 [](waiters &) {
		 static int *const made = new int(1);
		 model::check(*made == 1);
	 }},
	{"std::thread::_M_start_thread(",
	 [](waiters &) { std::thread([] {}).join(); }},
	{"sscanf()", [](waiters &w) { std::sscanf(w.bytes, "%ld", w.words); }},
	{"a format with %n, a wide text, or numbers of arguments",
	 [](waiters &w) { std::printf("%1$s", w.bytes); }},
	{"a format with %n, a wide text, or numbers of arguments",
	 [](waiters &w) { std::snprintf(w.bytes, 16, "%ls", L"1"); }},
	{"a read() of what is gone when it is read: a pipe, a terminal",
	 [](waiters &w) {
		 model::check(::read(pipe_ends[0], w.bytes, 0) == 0);
	 }},
	{"strstr()",
	 [](waiters &w) { model::check(!std::strstr(w.bytes, "x")); }},
	{"__tsan_atomic64_fetch_nand()",
	 [](waiters &w) { __atomic_fetch_nand(w.words, 1, 0); }},
	{"__tsan_switch_to_fiber()",
	 [](waiters &) { __tsan_switch_to_fiber(nullptr, 0); }},
	{"an atomic that is no word of 1, 2, 4 or 8 bytes",
	 [](waiters &w) {
		 wide v;
		 __atomic_load(reinterpret_cast<wide *>(w.bytes), &v,
			       __ATOMIC_RELAXED);
	 }},
};

} // namespace

TEST_CASE("plain: what is not seen is refused by name")
{
	REQUIRE(::pipe(pipe_ends) == 0);
	for (const auto &one : refusals) {
		const auto r = run<waiters>(one.does);

		INFO(one.name << ": " << r.message);
		REQUIRE(r.found == bug::unseen);
		CHECK(r.message.starts_with(std::string("refused: ") +
					    one.name));
	}
	verdict::right(run<waiters>([](waiters &w) {
		std::printf("%.0ld%.*d", w.words[0], 0, 0);
	}));
}

TEST_CASE("plain: what the C library prints, converts and sorts is there")
{
	const auto by_number = [](const void *a, const void *b) {
		return *static_cast<const int *>(a) -
		       *static_cast<const int *>(b);
	};

	verdict::right_by(
		1, run<waiters>([by_number](waiters &) {
			char text[32] = "", *end = nullptr;
			int table[] = {3, 1, 2};
			const int two = 2;

			check(std::snprintf(text, 8, "%.*s %c%% %-3ld%5.1Lf%s",
					    2, "abc", 'x', 7L, 2.5L,
					    "!") == 15);
			check(!std::strcmp(text, "ab x% 7"));
			check(std::sprintf(text, "%g %p", 0.5, nullptr) == 9);
			check(std::strtol(" -12x", &end, 10) == -12);
			check(*end == 'x' && std::atoi("7") == 7);
			check(std::strtod("2.5", nullptr) == 2.5);
			check(errno == 0);
			(void)std::strtol("99999999999999999999", nullptr, 10);
			check(errno == ERANGE);
			std::qsort(table, 3, sizeof(int), by_number);
			check(table[0] == 1 && table[2] == 3);
			check(std::bsearch(&two, table, 3, sizeof(int),
					   by_number) == &table[1]);
		}));
}

/* Each execution finds the data that the one before has read. */
TEST_CASE("plain: a file is read anew in each execution")
{
	static int file;
	char found[2] = "";
	std::FILE *const of_test = std::tmpfile();

	std::fputs("12", of_test);
	std::rewind(of_test);
	file = fileno(of_test);
	verdict::right(model::explore<waiters>(
		{.runs = {1, 1}}, [](waiters &w, unsigned cpu) {
			char byte = 0;
			__atomic_add_fetch(w.words, 1, __ATOMIC_RELAXED);
			if (cpu == 0)
				check(::read(file, &byte, 1) == 1);
			check(cpu == 1 || byte == '1');
			check(::read(-1, &byte, 1) == -1 && errno == EBADF);
		}));
	CHECK(::read(file, found, 1) == 1);
	std::fclose(of_test);
}

/*
 * Functions that no table may take for harmless: what it takes for more than it
 * is, the checker does not see. Those of the tables stand for themselves.
 */
const char *const harmful =
	/* Read or write what they are given. */
	"strtok strtok_r strstr strcasestr strpbrk strspn strcspn strsep "
	"strdup strndup strcoll strxfrm strerror strerror_r strsignal "
	"strcasecmp strfry strverscmp "
	"strtoimax a64l swab memccpy memmem memrchr memfrob "
	"rawmemchr explicit_bzero bzero bcopy wcslen wcscpy wcschr wcstol "
	"wmemcpy wmemset wmemcmp mblen mbtowc mbstowcs mbrtowc mbsinit "
	"wctomb wcstombs wcrtomb wcswidth wctype wctrans "
	"qsort_r lfind lsearch tsearch insque frexp frexpl modf "
	"modff remquo lgamma_r lgammaf_r sincos sincosf nan nanf "
	"canonicalize totalorder getpayload inet_pton inet_ntop inet_addr "
	/* Have a state, of the process or of a thread. */
	"rand srand rand_r random srandom drand48 lrand48 arc4random lgamma "
	"lgammal gamma clock clock_nanosleep "
	"timespec_get localtime gmtime mktime asctime ctime "
	"strftime tzset getenv secure_getenv setenv putenv unsetenv "
	"clearenv setlocale localeconv nl_langinfo fegetround fesetround "
	"fetestexcept feraiseexcept getopt hsearch inet_ntoa l64a ecvt "
	"tmpnam ttyname ptsname dlerror gettid getcpu sched_getcpu "
	"getrusage times alarm signal sigaction sigprocmask kill setjmp "
	"longjmp _setjmp atexit on_exit at_quick_exit fork vfork system "
	"popen wait waitpid execve mmap munmap mprotect brk sbrk mallinfo "
	"malloc_usable_size mallopt "
	/* Have a stream, a file or a directory. */
	"printf_size asprintf dprintf fwprintf "
	"wprintf scanf fscanf sscanf __isoc99_sscanf __isoc23_sscanf fopen "
	"freopen fclose fdopen fmemopen open_memstream fread fwrite fgets "
	"gets getc getchar fgetc ungetc getline getdelim "
	"fputs_unlocked putc_unlocked putchar_unlocked fflush_unlocked "
	"fputwc putwc putwchar fseek ftell rewind setvbuf setbuf fileno "
	"feof ferror clearerr perror flockfile funlockfile write "
	"pwrite open close lseek stat fstat access readlink realpath getcwd "
	"opendir readdir closedir glob ftw select poll epoll_wait "
	"eventfd_read pipe socket send recv ioctl fcntl "
	/* Are threads, or make them wait. */
	"pthread_create pthread_join "
	"pthread_barrier_wait pthread_spin_lock "
	"pthread_cancel "
	"pthread_testcancel pthread_mutexattr_init sem_wait sem_post "
	"mtx_init cnd_wait cnd_signal thrd_create thrd_current thrd_sleep "
	"tss_get tss_set call_once syscall "
	/* From the C++ library. */
	"_ZNSt6thread4joinEv _ZNSt6thread6detachEv "
	"_ZNSt18condition_variable10notify_allEv "
	"_ZNSt13random_device9_M_getvalEv "
	"_ZNSt6localeC1Ev "
	"_ZNSt6locale7classicEv _ZNSt8ios_base4InitC1Ev _ZNSi3getEv "
	"_ZNSirsERi _ZNSo5writeEPKcl _ZNSo5seekpEl _ZNSs6appendEPKc "
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc "
	"_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE4syncEv "
	"_ZSt13set_terminatePFvvE _ZSt19uncaught_exceptionsv "
	"_ZNSt3pmr19new_delete_resourceEv "
	"_ZNSt10filesystem12current_pathB5cxx11Ev _ZNSt10_Sp_lockerC1EPKv "
	"_ZNSt12system_errorC1Ei __cxa_demangle __cxa_atexit "
	"__cxa_finalize __cxa_get_globals "
	"__cxa_current_exception_type __cxa_vec_new "
	/* From the compiler; or in a form that is reserved. */
	"__register_frame __deregister_frame __emutls_get_address "
	"__enable_execute_stack __clear_cache __cpu_indicator_init "
	"__asprintf __lgamma_r_finite __sigsetjmp "
	"__libc_start_main __strdup __strtok_r _IO_getc "
	"__tsan_mutex_create __atomic_load_16 ";

TEST_CASE("plain: a function that looks at memory or has a state is refused")
{
	std::istringstream names(harmful);

	for (std::string name; names >> name;) {
		INFO(name);
		CHECK(model::detail::what_is(name.c_str()) ==
		      model::detail::imported::refused);
	}
}

/* As found in code of others: stronger for who looks, weaker in what ships. */
#if defined(__SANITIZE_THREAD__)
constexpr std::memory_order asked_macro = release;
#else
constexpr std::memory_order asked_macro = relaxed;
#endif
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
constexpr std::memory_order asked_feature = release;
#else
constexpr std::memory_order asked_feature = relaxed;
#endif
static_assert(__has_feature(cxx_rtti) || !__GXX_RTTI);
#else
constexpr std::memory_order asked_feature = relaxed;
#endif

TEST_CASE("plain: what is checked is what ships")
{
	struct mail {
		int letter = 0;
		std::atomic<bool> full{false};
	};
	const auto sent = [](std::memory_order o, bool annotated) {
		return run<mail>(
			[=](mail &m) {
				m.letter = 1;
				if (annotated) {
					AnnotateHappensBefore("", 1, &m);
					__tsan_release(&m);
				}
				m.full.store(true, o);
			},
			[=](mail &m) {
				if (!m.full.load(acquire))
					return;
				if (annotated) {
					AnnotateHappensAfter("", 1, &m);
					AnnotateBenignRaceSized("", 1, &m, 8,
								"");
					__tsan_acquire(&m);
				}
				model::check(m.letter == 1);
			});
	};

	CHECK(sent(asked_macro, false).found == bug::data_race);
	CHECK(sent(asked_feature, false).found == bug::data_race);
	CHECK(sent(release, false).timeline.empty()); /* no note */
	/* Annotations are no code: they neither order nor stop anything. */
	CHECK(sent(relaxed, true).found == bug::data_race);
	verdict::right_by(2, sent(release, true));
}

/* A request, as a kernel has it: on the stack of who waits for it. */
TEST_CASE("plain: what lies on a stack, and is shown to others")
{
	struct desk {
		std::atomic<int *> request{nullptr};
		std::atomic<bool> done{false};
	};
	const auto serves = [](desk &d) {
		if (int *const p = d.request.load(acquire)) {
			*p += 1;
			d.done.store(true, release);
		}
	};
	const auto asks = [](std::memory_order o, bool waits) {
		return [o, waits](desk &d) {
			const auto one = [&d, o, waits](int v) {
				int of = v;

				d.request.store(&of, o);
				while (waits && !d.done.load(acquire))
					;
				if (waits)
					model::check(of == v + 1);
			};
			one(1);
			int after[64];
			after[0] = 1;
			model::check(after[0] == 1);
		};
	};
	const auto right = run<desk>(asks(release, true), serves);
	const auto early = run<desk>(asks(relaxed, true), serves);
	const auto gone = run<desk>(asks(release, false), serves);

	INFO(right.timeline << early.timeline << gone.timeline);
	CHECK(right.found ==
	      bug::deadlock); /* who looks too early serves none */
	CHECK(early.found == bug::data_race);
	CHECK(gone.found == bug::dead_object);
}

/* Two fences that order nothing: each CPU may miss what the other stored. */
TEST_CASE("plain: a fence is as strong as it is written")
{
	struct both {
		std::atomic<int> x{0}, y{0};
		int saw[2] = {};
	};
	const auto misses = [](auto fence) {
		unsigned times = 0;

		model::explore_threads<both>(
			{},
			[&times](both &b) {
				times += b.saw[0] == 0 && b.saw[1] == 0;
			},
			[fence](both &b) {
				b.x.store(1, relaxed);
				fence();
				b.saw[0] = b.y.load(relaxed);
			},
			[fence](both &b) {
				b.y.store(1, relaxed);
				fence();
				b.saw[1] = b.x.load(relaxed);
			});
		return times;
	};

	CHECK(misses([] { std::atomic_thread_fence(relaxed); }) == 1);
	CHECK(misses([] { std::atomic_thread_fence(acquire); }) == 1);
	CHECK(misses([] { std::atomic_thread_fence(seq_cst); }) == 0);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_RELAXED); }) == 1);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_RELEASE); }) == 1);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_SEQ_CST); }) == 0);
}

/* A queue lock in C, as a kernel has it: its nodes are on the stacks. */
TEST_CASE("plain: nodes on stacks, frame after frame at one address")
{
	struct node {
		node *next;
		bool waits;
		int seen;
	};
	struct queue {
		node *tail = nullptr;
		int count = 0;
	};
	const auto explored = [](bool waits_for_next) {
		const auto section = [waits_for_next](queue &q) {
			node n{nullptr, true, 0}, *mine = &n;

			if (node *const before = __atomic_exchange_n(
				    &q.tail, &n, __ATOMIC_ACQ_REL)) {
				before->seen++;
				__atomic_store_n(&before->next, &n,
						 __ATOMIC_RELEASE);
				while (__atomic_load_n(&n.waits,
						       __ATOMIC_ACQUIRE))
					;
			}
			q.count++;
			if (__atomic_compare_exchange_n(&q.tail, &mine, nullptr,
							false, __ATOMIC_RELEASE,
							__ATOMIC_RELAXED))
				return;
			node *next;
			do
				next = __atomic_load_n(&n.next,
						       __ATOMIC_ACQUIRE);
			while (waits_for_next && !next);
			if (next)
				__atomic_store_n(&next->waits, false,
						 __ATOMIC_RELEASE);
		};
		return model::explore<queue>(
			{.sections = {2, 1}},
			[section](queue &q, unsigned) { section(q); },
			[](queue &q) { model::check(q.count == 3); });
	};
	const auto right = explored(true), wrong = explored(false);

	INFO(right.timeline << wrong.timeline);
	verdict::right_by(8, right);
	CHECK(wrong.found == bug::dead_object);
}

/* A pool, a free list: who owns it makes of it what it likes. */
TEST_CASE("plain: storage that ends is used again, by one who knows")
{
	struct pool {
		alignas(8) char room[8] = {};
		std::atomic<std::atomic<int> *> shown{nullptr};
	};
	const auto reuses = [](std::memory_order o) {
		return run<pool>(
			[o](pool &p) {
				auto *const made =
					new (p.room) std::atomic<int>(1);
				made->store(2, relaxed);
				made->~atomic();
				std::memset(p.room, 0, 8);
				p.shown.store(new (p.room) std::atomic<int>(3),
					      o);
			},
			[](pool &p) {
				if (auto *const a = p.shown.load(acquire))
					model::check(a->load(relaxed) == 3);
			});
	};
	const model::result right = reuses(release), wrong = reuses(relaxed);

	INFO(right.timeline << wrong.timeline);
	CHECK(right.ok());
	CHECK(right.complete == 2);
	CHECK(wrong.found == bug::dead_object);
}

TEST_CASE("plain: malloc() and its like are as new and delete")
{
	struct owner {
		std::atomic<int *> p{static_cast<int *>(std::calloc(1, 4))};
	};
	const auto with = [](auto ends) {
		return run<owner>(
			[ends](owner &o) { ends(o.p.exchange(nullptr)); },
			[](owner &o) {
				if (const int *p = o.p.load())
					model::check(*p == 0);
			});
	};
	const auto freed = with([](int *p) { std::free(p); });
	const auto moved = with([](int *p) {
		int *const larger = static_cast<int *>(std::realloc(p, 64));
		model::check(larger != p && *larger == 0);
		std::free(larger);
		std::free(std::malloc(4));
	});
	const auto twice = run<owner>([](owner &) {
		int *volatile const p = static_cast<int *>(std::malloc(4));
		std::free(p);
		std::free(p);
	});
	/* No CPU frees what another may still read, whichever is first. */
	const auto first = run<owner>(
		[](owner &o) { model::check(*o.p.load(relaxed) == 0); },
		[](owner &o) { std::free(o.p.load(relaxed)); });

	/* Its zeros are written by who calls it. */
	const auto zeros = run<owner>(
		[](owner &o) {
			o.p.store(static_cast<int *>(std::calloc(1, 4)),
				  relaxed);
		},
		[](owner &o) { model::check(*o.p.load(relaxed) == 0); });

	INFO(freed.timeline << moved.timeline << first.timeline);
	INFO(twice.message);
	CHECK(twice.message.find("memory is freed twice") != std::string::npos);
	CHECK(zeros.found == bug::data_race);
	CHECK(freed.message.find("use of freed memory: made.0") == 0);
	CHECK(moved.message.find("use of freed memory: made.0") == 0);
	CHECK(first.message.find("end of an object that is in use by cpu0 at "
				 "test_plain.cpp:") == 0);
}

namespace {

struct block {
	int first, second;
	char text[32];
};

struct heap_user {
	block *made = new block{};
	std::atomic<block *> shown{nullptr};
	std::mutex *lock = new std::mutex;
};

/* Distances that no compiler knows. */
volatile int beyond = 0;

/* One CPU does this; the finding begins so, and names the line. */
const struct {
	const char *said; /* null: it is right */
	void (*does)(heap_user &);
} on_heap[] = {
	{"out of bounds: 1 byte beyond the end of made.0, which has 40 bytes",
	 [](heap_user &h) { h.made->text[beyond + 32] = 1; }},
	{"out of bounds: 401 bytes beyond the end of made.0, which has 40",
	 [](heap_user &h) { h.made->text[beyond + 432] = 1; }},
	{"out of bounds: 1 byte before the start of made.0",
	 [](heap_user &h) {
		 const char before = reinterpret_cast<char *>(h.made)[-1];
		 model::check(before != 1);
	 }},
	{"out of bounds: 4 bytes beyond the end of made.0, which has 40",
	 [](heap_user &h) { std::memset(h.made, 0, 44); }},
	{"out of bounds: 4 bytes beyond the end of made.0, which has 40",
	 [](heap_user &h) {
		 __atomic_fetch_add(&h.made[beyond + 1].first, 1,
				    __ATOMIC_RELAXED);
	 }},
	{"a read of memory that nothing was stored to: new0.0+0x4",
	 [](heap_user &) {
		 block *const b = new block;
		 b->first = 1;
		 model::check(b->first + b->second > 0);
	 }},
	{"a read of memory that nothing was stored to: new0.0+0x8",
	 [](heap_user &) {
		 auto *const b =
			 static_cast<block *>(std::malloc(sizeof(block)));
		 b->text[1] = 0;
		 model::check(b->text[0] != 'x');
	 }},
	{"a read of an atomic that nothing was stored to: new0.0",
	 [](heap_user &) {
		 int *const count = static_cast<int *>(std::malloc(4));
		 __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	 }},
	{"failed: memory is freed by an address that is not its start",
	 [](heap_user &h) {
		 void *volatile inside = h.made->text;
		 ::operator delete(inside);
	 }},
	{"failed: free() of memory of operator new",
	 [](heap_user &h) {
		 void *volatile other = h.made;
		 std::free(other);
	 }},
	{"failed: operator delete of memory of malloc()",
	 [](heap_user &) {
		 void *volatile other = std::malloc(4);
		 ::operator delete(other);
	 }},
	{"failed: operator delete of memory of operator new[]",
	 [](heap_user &) {
		 void *volatile some = ::operator new[](4);
		 ::operator delete(some);
	 }},
	{"failed: the end of a lock that is held",
	 [](heap_user &h) {
		 h.lock->lock();
		 delete h.lock;
	 }},
	{"failed: the end of a lock that is held",
	 [](heap_user &h) {
		 h.lock->lock();
		 pthread_mutex_destroy(h.lock->native_handle());
	 }},
	{nullptr,
	 [](heap_user &h) {
		 h.lock->lock();
		 h.lock->unlock();
		 delete h.lock;
		 delete h.made;
		 delete[] new block[2];
	 }},
	/* Copies of what has no value, and a store to a part of a word. */
	{nullptr,
	 [](heap_user &) {
		 struct divided {
			 unsigned low : 3, high : 20;
		 };
		 void *const small = std::malloc(4);
		 auto *const b = new block;
		 auto *const other = new block;
		 std::memcpy(b, small, 4);
		 *other = *b;
		 auto *const d = static_cast<divided *>(
			 std::realloc(small, sizeof(divided)));
		 d->high = 1;
		 __atomic_store_n(&b->second, 1, __ATOMIC_RELAXED);
		 model::check(__atomic_load_n(&b->second, 0) == 1);
	 }},
	/* The text's last byte is the block's. */
	{nullptr,
	 [](heap_user &h) {
		 std::strcpy(h.made->text, "as many letters as it has, less");
	 }},
};

} // namespace

TEST_CASE("plain: faults on the heap are named, with the line")
{
	for (const auto &one : on_heap) {
		const auto r = run<heap_user>(one.does);

		if (!one.said) {
			verdict::right(r);
			continue;
		}
		INFO(one.said << "\n" << r.timeline);
		CHECK(!r.ok());
		CHECK(r.message.starts_with(one.said));
		CHECK(verdict::has(r.timeline, "(test_plain.cpp:"));
	}
}

/* More than so many KiB of the stack. */
[[gnu::noinline]] static int uses_stack(int kibibytes)
{
	volatile char much[1024] = {};

	much[kibibytes] = 1;
	return kibibytes ? uses_stack(kibibytes - 1) + much[kibibytes] : 0;
}

TEST_CASE("plain: a CPU's stack is as large as the options say")
{
	struct nothing {};
	const auto recurses = [](klock::usize bytes) {
		return model::explore<nothing>(
			{.sections = {1, 1}, .stack_bytes = bytes},
			[](nothing &, unsigned) {
				model::check(uses_stack(150) == 150);
			});
	};

	for (int i = 0; i < 2; i++) {
		verdict::right(recurses(300'000));
		verdict::found(bug::crash, recurses(64 * 1024),
			       "crash: SIGSEGV: the CPU's stack is full: "
			       "options.stack_bytes is 65536");
	}
}

TEST_CASE("plain: what shared pointers count")
{
	struct owners {
		std::shared_ptr<int> one = std::make_shared<int>(1);
		std::shared_ptr<int> other = one;
	};
	const auto drops = [](owners &o) { o.one.reset(); };
	const auto right =
		run<owners>(drops, [](owners &o) { o.other.reset(); });
	const auto wrong =
		run<owners>(drops, [](owners &o) { const auto mine = o.one; });

	INFO(right.timeline);
	CHECK(right.ok());
	CHECK(right.complete == 2);
	CHECK(wrong.found == bug::data_race);
}

/* An atomic word and its second byte. */
TEST_CASE("plain: locations that overlap are refused")
{
	struct word {
		unsigned v = 0;
	};
	const auto all = [](word &w) {
		__atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
	};
	const auto byte = [](word &w) {
		__atomic_store_n(reinterpret_cast<char *>(&w.v) + 1, char{1},
				 __ATOMIC_RELAXED);
	};
	const auto plain = [](word &w) {
		reinterpret_cast<char *>(&w.v)[1] = 1;
	};

	verdict::found(bug::mixed_access, run<word>(all, byte),
		       "an atomic access that overlaps another location, used "
		       "by cpu0 at test_plain.cpp:");
	verdict::found(bug::mixed_access, run<word>(byte, all));
	verdict::found(bug::mixed_access, run<word>(all, plain));
	verdict::found(bug::mixed_access, run<word>(plain, all));
}

TEST_CASE("plain: mutexes are locks, as the C and the C++ library have them")
{
	struct guarded {
		std::mutex m;
		std::shared_mutex s;
		int count = 0, left = 0, read = 0;
	};
	const auto adds = [](guarded &g) {
		const std::lock_guard held(g.m);
		g.count++;
	};
	const auto tries = [](guarded &g) {
		if (g.m.try_lock()) {
			g.count++;
			g.m.unlock();
		}
	};
	const auto writes = [](guarded &g) {
		const std::unique_lock held(g.s);
		g.left++;
	};
	const auto reads = [](guarded &g) {
		const std::shared_lock held(g.s);
		model::check(g.left < 2);
	};
	const auto both = run<guarded>(adds, adds);
	const auto some = run<guarded>(adds, tries);
	const auto shared = run<guarded>(writes, reads, reads);
	const auto wrong = run<guarded>(
		[](guarded &g) {
			const std::shared_lock held(g.s);
			g.left++;
		},
		reads);
	const auto none = run<guarded>(adds, [](guarded &g) { g.count++; });
	const auto twice = run<guarded>([](guarded &g) {
		g.m.lock();
		pthread_mutex_lock(g.m.native_handle());
	});
	const auto others = run<guarded>([](guarded &g) { g.m.lock(); },
					 [](guarded &g) { g.m.unlock(); });
	const auto again = run<guarded>([](guarded &) {
		pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
		pthread_mutex_lock(&m);
	});

	INFO(both.timeline << some.timeline << shared.timeline);
	CHECK(both.ok());
	CHECK(both.complete == 2);
	CHECK(some.ok());
	CHECK(some.complete == 3);
	verdict::right_by(14, shared);
	CHECK(wrong.found == bug::data_race);
	/* The caller's line, and none of the library's headers. */
	CHECK(none.timeline.find("gthr-default.h") == std::string::npos);
	INFO(twice.message);
	CHECK(twice.message.find("deadlock: cpu0 waits for m at "
				 "test_plain.cpp:") == 0);
	CHECK(others.message.find(
		      "failed: unlock of a lock that is not held") == 0);
	CHECK(again.found == bug::unseen);
}

TEST_CASE("plain: a function's static outlives the world that makes it")
{
	struct maker {
		static int &once()
		{
			static int *const made = new int(1);
			return *made;
		}
		int *at = &once(), *other = new int(2);
		std::atomic<int> both{0};
	};
	const auto adds = [](maker &m) {
		model::check(maker::once() == 1 && *m.other == 2);
		m.both.fetch_add(1);
	};
	const auto r = run<maker>(adds, adds);

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.complete == 2);
}

/* -- Every operation, of every width, with every order that it can have ------
 *
 * What was written is what arrives at the engine; what is found and left is
 * what C++ says.
 */

namespace {

using model::operation;

template <typename T>
struct cell {
	std::atomic<T> a{12};
	T w = 12;
	std::atomic_flag f;
	bool set = false;
};

template <typename T>
struct row {
	const char *name;
	operation kind;
	T (*does)(cell<T> &, std::memory_order);
	T finds, leaves;
};

#define ROW(KIND, FINDS, LEAVES, ...)                                          \
	row<T>                                                                 \
	{                                                                      \
		#__VA_ARGS__, operation::KIND,                                 \
			[]([[maybe_unused]] cell<T> &c,                        \
			   [[maybe_unused]] std::memory_order o) {             \
				[[maybe_unused]] const int as =                \
					static_cast<int>(o);                   \
				[[maybe_unused]] T was = 12;                   \
				return static_cast<T>(__VA_ARGS__);            \
			},                                                     \
			FINDS, LEAVES                                          \
	}
/* As a method, as C has it, as the compiler does. */
#define RMW(NAME, BUILTIN, LEAVES)                                             \
	ROW(rmw, 12, LEAVES, c.a.NAME(10, o)),                                 \
		ROW(rmw, 12, LEAVES,                                           \
		    std::atomic_##NAME##_explicit(&c.a, 10, o)),               \
		ROW(rmw, 12, LEAVES, BUILTIN(&c.w, 10, as))

template <typename T>
const row<T> any_order[] = {
	RMW(exchange, __atomic_exchange_n, 10),
	RMW(fetch_add, __atomic_fetch_add, 22),
	RMW(fetch_sub, __atomic_fetch_sub, 2),
	RMW(fetch_and, __atomic_fetch_and, 8),
	RMW(fetch_or, __atomic_fetch_or, 14),
	RMW(fetch_xor, __atomic_fetch_xor, 6),
	ROW(rmw, 22, 22, __atomic_add_fetch(&c.w, 10, as)),
	ROW(rmw, 0, 12, c.f.test_and_set(o)),
	ROW(rmw, 0, 12, std::atomic_flag_test_and_set_explicit(&c.f, o)),
	ROW(rmw, 0, 12, __atomic_test_and_set(&c.set, as)),
	ROW(rmw, 1, 7, c.a.compare_exchange_strong(was, 7, o)),
	ROW(rmw, 1, 7, c.a.compare_exchange_weak(was, 7, o, relaxed)),
	ROW(rmw, 1, 7,
	    std::atomic_compare_exchange_strong_explicit(&c.a, &was, T{7}, o,
							 relaxed)),
	ROW(rmw, 1, 7,
	    __atomic_compare_exchange_n(&c.w, &was, 7, true, as,
					__ATOMIC_RELAXED)),
	ROW(fence, 3, 12, (std::atomic_thread_fence(o), 3)),
	ROW(fence, 3, 12, (__atomic_thread_fence(as), 3)),
};

template <typename T>
const row<T> loads[] = {
	ROW(load, 12, 12, c.a.load(o)),
	ROW(load, 12, 12, std::atomic_load_explicit(&c.a, o)),
	ROW(load, 12, 12, __atomic_load_n(&c.w, as)),
	ROW(load, 0, 12, c.f.test(o)),
	/* The rows of a compare_exchange that fails. */
	ROW(load, 12, 12,
	    (was = 1, c.a.compare_exchange_strong(was, 7, seq_cst, o), was)),
	ROW(load, 12, 12,
	    (was = 1,
	     __atomic_compare_exchange_n(&c.w, &was, 7, false, __ATOMIC_SEQ_CST,
					 as),
	     was)),
};

template <typename T>
const row<T> stores[] = {
	ROW(store, 1, 5, (c.a.store(5, o), 1)),
	ROW(store, 1, 5, (std::atomic_store_explicit(&c.a, T{5}, o), 1)),
	ROW(store, 1, 5, (__atomic_store_n(&c.w, 5, as), 1)),
	ROW(store, 1, 12, (c.f.clear(o), 1)),
	ROW(store, 1, 12, (__atomic_clear(&c.set, as), 1)),
};

/* That say no order have the strongest. */
template <typename T>
const row<T> no_order[] = {
	ROW(load, 12, 12, c.a),
	ROW(load, 12, 12, c.a.load()),
	ROW(store, 5, 5, c.a = 5),
	ROW(rmw, 12, 13, c.a++),
	ROW(rmw, 11, 11, --c.a),
	ROW(rmw, 22, 22, c.a += 10),
	ROW(rmw, 8, 8, c.a &= 10),
	ROW(rmw, 12, 22, std::atomic_fetch_add(&c.a, 10)),
	ROW(rmw, 12, 2, __sync_fetch_and_sub(&c.w, 10)),
	ROW(rmw, 12, 7, __sync_val_compare_and_swap(&c.w, 12, 7)),
	ROW(fence, 1, 12, (__sync_synchronize(), 1)),
};

/* Returns how the row's accesses arrive otherwise than written, or "". */
template <typename T>
std::string otherwise(const row<T> &r, std::memory_order o)
{
	const auto order =
		static_cast<klock::order>(o == consume ? acquire : o);
	const auto got = model::explore_threads<cell<T>>(
		{.spurious = 0, .record_uses = true},
		[&r](cell<T> &c) {
			const T now = c.a == 12 ? c.w : c.a.load();
			model::check(now == r.leaves, "leaves");
		},
		[&r, o](cell<T> &c) {
			model::check(r.does(c, o) == r.finds, "finds");
		});
	unsigned alike = 0;

	for (const model::use &u : got.uses)
		alike += u.what == r.kind && u.written == order;
	const bool none = r.kind == operation::fence && o == relaxed;
	if (got.ok() && alike == !none)
		return "";
	return std::string(r.name) + " of order " +
	       std::to_string(static_cast<int>(o)) + ": " + got.message + "\n";
}

template <typename T>
std::string otherwise()
{
	std::string all;

	for (auto o : {relaxed, consume, acquire, release, acq_rel, seq_cst})
		for (const row<T> &r : any_order<T>)
			all += otherwise(r, o);
	for (auto o : {relaxed, consume, acquire, seq_cst})
		for (const row<T> &r : loads<T>)
			all += otherwise(r, o);
	for (auto o : {relaxed, release, seq_cst})
		for (const row<T> &r : stores<T>)
			all += otherwise(r, o);
	for (const row<T> &r : no_order<T>)
		all += otherwise(r, seq_cst);
	return all;
}

} // namespace

TEST_CASE("plain: a weak swap may fail though it finds what it expects")
{
	struct word {
		int x = 0;
	};
	const model::options how{.sections = {1}, .every_turn = true};
	const auto weak = model::explore<word>(how, [](word &w, unsigned) {
		int was = 0;
		model::check(__atomic_compare_exchange_n(&w.x, &was, 1, true,
							 __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED),
			     "swapped");
	});
	const auto strong = model::explore<word>(how, [](word &w, unsigned) {
		int was = 0;
		model::check(__atomic_compare_exchange_n(&w.x, &was, 1, false,
							 __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED),
			     "swapped");
	});

	CHECK(weak.found == model::bug::failed_check);
	CHECK(strong.ok());
}

namespace {

struct padded {
	int a;
	char b;
};
/* Its padding begins within a byte. */
struct divided {
	unsigned a : 3, b : 10;
};

/* The value (1, 2), with these bits where it has none. */
template <typename T>
T padded_with(int bits)
{
	T v;

	std::memset(static_cast<void *>(&v), bits, sizeof(v));
	v.a = 1;
	v.b = 2;
	return v;
}

/* Swaps values whose padding differs; the next swap finds what one has stored.
 */
template <typename T>
model::result swaps_padded()
{
	struct world {
		std::atomic<T> x{padded_with<T>(0xff)};
		T raw = padded_with<T>(0xff);
	};
	const auto twice = [](const auto &x) {
		for (const int bits : {0, 0xff, 0x55}) {
			T expected = padded_with<T>(bits);
			model::check(x.compare_exchange_strong(
					     expected, padded_with<T>(~bits)),
				     "swapped");
		}
		T other{3, 2};
		model::check(!x.compare_exchange_strong(other, T{4, 2}),
			     "another");
		model::check(other.a == 1 && other.b == 2, "what was found");
	};
	world outside;

	twice(outside.x);
	twice(std::atomic_ref(outside.raw));
	return model::explore<world>({.sections = {1}},
				     [=](world &w, unsigned) {
					     twice(w.x);
					     twice(std::atomic_ref(w.raw));
					     w.x.wait({3, 2});
				     });
}

} // namespace

TEST_CASE("plain: a swap compares values, whatever their padding has")
{
	verdict::right(swaps_padded<padded>());
#if !defined(__clang__) /* It does not tell the padding of bit-fields. */
	verdict::right(swaps_padded<divided>());
#endif
}

TEST_CASE("plain: each operation arrives as it was written")
{
	CHECK(otherwise<unsigned char>() == "");
	CHECK(otherwise<long>() == "");
}

TEST_CASE("plain: a static is one object, and gets its value back")
{
	struct nothing {};
	const auto counts = [](nothing &) { counted++; };

	CHECK(run<nothing>(counts, counts).found == bug::data_race);
	CHECK(counted == 0);
	CHECK(run<nothing>(counts).ok());
	CHECK(counted == 0);
}

/* A byte of a word is the word's. */
TEST_CASE("plain: accesses of other sizes meet")
{
	struct word {
		unsigned v = 0;
	};
	const auto found = run<word>(
		[](word &w) { w.v = 1; },
		[](word &w) { reinterpret_cast<char *>(&w.v)[3] = 2; });
	struct halves {
		short left = 0, right = 0;
	};
	const auto none = run<halves>([](halves &h) { h.left = 1; },
				      [](halves &h) { h.right = 1; });

	CHECK(found.found == bug::data_race);
	INFO(none.timeline);
	CHECK(none.ok());
}

TEST_CASE("plain: memory that was freed")
{
	struct owner {
		std::atomic<int *> p{new int(1)};
	};
	const auto found =
		run<owner>([](owner &o) { delete o.p.exchange(nullptr); },
			   [](owner &o) {
				   if (const int *p = o.p.load())
					   model::check(*p == 1);
			   });

	verdict::found(bug::dead_object, found, "use of freed memory: made.0");
}

TEST_CASE("plain: the compiler's atomics are the checker's")
{
	struct words {
		int x = 0, y = 0, r0 = 0, r1 = 0;
	};
	const auto buffered = [](auto left, auto right) {
		return model::explore_threads<words>(
			{}, [](words &w) { model::check(w.r0 || w.r1, "one"); },
			left, right);
	};
	const auto sc = buffered(
		[](words &w) {
			__atomic_store_n(&w.x, 1, __ATOMIC_SEQ_CST);
			w.r0 = __atomic_load_n(&w.y, __ATOMIC_SEQ_CST);
		},
		[](words &w) {
			int none = 0;
			__atomic_compare_exchange_n(&w.y, &none, 1, false,
						    __ATOMIC_SEQ_CST,
						    __ATOMIC_RELAXED);
			w.r1 = __atomic_load_n(&w.x, __ATOMIC_SEQ_CST);
		});
	const auto fenced = [](int o) {
		return [o](words &w) {
			__atomic_fetch_add(&w.x, 1, __ATOMIC_RELAXED);
			o == __ATOMIC_SEQ_CST
				? __atomic_thread_fence(__ATOMIC_SEQ_CST)
				: __atomic_thread_fence(__ATOMIC_ACQ_REL);
			w.r0 = __atomic_load_n(&w.y, __ATOMIC_RELAXED);
		};
	};
	const auto other = [](words &w) {
		__atomic_exchange_n(&w.y, 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		w.r1 = __atomic_load_n(&w.x, __ATOMIC_RELAXED);
	};

	INFO(sc.timeline);
	CHECK(sc.ok());
	CHECK(sc.complete == 3);
	CHECK(buffered(fenced(__ATOMIC_SEQ_CST), other).ok());
	CHECK(buffered(fenced(__ATOMIC_ACQ_REL), other).found ==
	      bug::failed_check);
}

/* Atomic values are in the graphs, plain ones in memory. */
TEST_CASE("plain: an atomic access and a plain one, or one of another size")
{
	struct word {
		unsigned v = 0;
		std::atomic<int> there{0};
	};
	const auto stores = [](word &w) {
		__atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
	};
	const auto both = run<word>(stores, [](word &w) {
		if (__atomic_load_n(&w.v, __ATOMIC_ACQUIRE))
			w.v = 2;
	});
	const auto part = run<word>(stores, [](word &w) {
		(void)__atomic_load_n(reinterpret_cast<char *>(&w.v),
				      __ATOMIC_RELAXED);
	});

	CHECK(both.found != bug::none);
	/* The plain one first, whatever the order of the CPUs. */
	const auto reads = run<word>(
		[](word &w) { w.there.store(static_cast<int>(w.v)); }, stores);

	verdict::found(bug::mixed_access, reads,
		       "an atomic access beside a plain one by cpu0 at "
		       "test_plain.cpp:");
	verdict::found(bug::mixed_access, part,
		       "an atomic access of another size than one by cpu0 at "
		       "test_plain.cpp:");
	const auto alone =
		run<word>([](word &) {},
			  [](word &w) {
				  __atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
				  w.v = 2;
			  });
	const auto looks = run<word>([](word &w) {
		__atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
		w.there.store(static_cast<int>(w.v));
	});

	verdict::found(bug::mixed_access, looks);
	verdict::found(bug::mixed_access, alone,
		       "a plain access beside an atomic one by cpu1 at "
		       "test_plain.cpp:");
}

TEST_CASE("plain: written before it is there for others, atomic from then on")
{
	struct word {
		unsigned v = 0;
		std::atomic<int> there{0};
	};
	const auto published = [](std::memory_order o) {
		return run<word>(
			[o](word &w) {
				w.v = 5;
				w.there.store(1, o);
			},
			[](word &w) {
				if (w.there.load(std::memory_order_acquire))
					model::check(5 ==
						     __atomic_load_n(
							     &w.v,
							     __ATOMIC_RELAXED));
			});
	};
	const auto right = published(std::memory_order_release);
	const auto wrong = published(std::memory_order_relaxed);

	INFO(right.timeline);
	CHECK(right.ok());
	CHECK(right.complete == 2);
	CHECK(wrong.found == bug::data_race);
}

} // namespace of_plain

namespace of_loops {

/* As C has them: nothing but the call's return address tells the line. */
TEST_CASE("loops: one that cannot be cut is named by its line, in C, too")
{
	struct words {
		int stop = 0, turns = 0;
	};
	const int above = __LINE__;
	const auto r = model::explore<words>(
		{.sections = {1, 1}, .max_events = 40},
		[](words &w, unsigned cpu) {
			for (int i = 1; !__atomic_load_n(&w.stop, 0); i++)
				if (cpu)
					__atomic_store_n(&w.turns, i, 0);
		});

	CHECK_FALSE(r.exhaustive);
	CHECK(r.limit.find("max_events: ") == 0);
	INFO(r.limit);
	const auto at = r.limit.find("test_plain.cpp:");
	REQUIRE(at != std::string::npos);
	const int line = std::stoi(r.limit.substr(at + 15));
	CHECK((line > above && line < __LINE__));
}

} // namespace of_loops

namespace of_foreign {

/*
 * Code by somebody who has never heard of klock (foreign.hpp, which includes
 * <atomic> and the like): checked as it is, its plain variables, too.
 * native/test_foreign.cpp runs the same with threads. And that the
 * checker sees into it: each of its orders that can be missed is reported.
 */

namespace {

using model::check;

struct queues {
	queue<int> q;
	int sum = 0;

	/* In order, as far as one thread sees it; and all that was put in. */
	void cpu(unsigned which)
	{
		if (which < 2) {
			q.push(1 + static_cast<int>(which) * 10);
			q.push(2 + static_cast<int>(which) * 10);
			return;
		}
		int last[2] = {0, 10};
		for (int i = 0; i < 2; i++) {
			if (const auto v = q.pop()) {
				check(*v > last[*v > 10], "in order");
				last[*v > 10] = *v;
				sum += *v;
			}
		}
	}
	void end()
	{
		while (const auto v = q.pop())
			sum += *v;
		check(sum == 26, "each once");
	}
};

struct takers {
	queue<int> q;
	int got[2] = {};

	takers()
	{
		q.push(1);
		q.push(2);
	}
	void cpu(unsigned which) { got[which] = q.pop().value_or(0); }
	void end() { check(got[0] + got[1] == 3, "each once"); }
};

struct sequences {
	seqlock s;
	unsigned seen = 0;

	void cpu(unsigned which)
	{
		pair_of_ints v;

		if (which == 0) {
			s.write({1, 1});
			s.write({2, 2});
			return;
		}
		if (which == 1 && !s.try_read(v))
			return;
		if (which == 2)
			v = s.read();
		check(v.left == v.right, "whole");
	}
	void end() {}
};

/* A reader that retries until no write disturbs it. */
struct spinning_reader : sequences {
	void cpu(unsigned which) { sequences::cpu(which ? 2 : 0); }
};

struct spinning {
	ttas_lock l;
	int count = 0;

	void cpu(unsigned)
	{
		l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count == 2, "each has counted"); }
};

struct locks {
	spin_lock l;
	int count = 0;

	void cpu(unsigned which)
	{
		if (which == 2 && !l.try_lock())
			return;
		if (which != 2)
			l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count >= 2, "each has counted"); }
};

struct stacks {
	hazard_stack<int, 2> s;
	int sum[2] = {};

	stacks() { s.push(1); }
	void cpu(unsigned which)
	{
		int v;

		if (which == 0)
			s.push(2);
		while (s.pop(v, which))
			sum[which] += v;
	}
	void end()
	{
		int v;

		while (s.pop(v, 0))
			sum[0] += v;
		check(sum[0] + sum[1] == 3, "each once");
	}
};

template <typename World>
model::result explore(model::options how)
{
	return model::explore<World>(
		how, [](World &w, unsigned which) { w.cpu(which); },
		[](World &w) { w.end(); });
}

template <typename World>
void check_right(std::vector<unsigned> cpus, model::u64 least, unsigned needed,
		 unsigned spurious = 0)
{
	const model::options how{.sections = cpus, .spurious = spurious};
	unsigned found = 0;

	verdict::right_by_at_least(
		least, verdict::each_weaker(how, explore<World>,
					    [&found](const model::weakening &,
						     const model::result &r) {
						    found += !r.ok();
					    }));
	CHECK(found >= needed);
}

} // namespace

TEST_CASE("foreign: a lock-free queue")
{
	check_right<queues>({1, 1, 1}, 300, 5);
	check_right<takers>({1, 1}, 4, 0, 1);
}

TEST_CASE("foreign: a seqlock") { check_right<sequences>({1, 1}, 50, 4); }

TEST_CASE("foreign: a spin lock") { check_right<locks>({1, 1, 1}, 600, 3); }

/* The loops are the code's own: waits, as they are. */
TEST_CASE("foreign: a lock that spins, a reader that tries again")
{
	check_right<spinning>({1, 1}, 2, 2);
	check_right<spinning_reader>({1, 1}, 3, 4);
}

TEST_CASE("foreign: a stack with hazard pointers")
{
	check_right<stacks>({1, 1}, 900, 6);
}

} // namespace of_foreign
