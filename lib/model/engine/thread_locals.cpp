/* SPDX-License-Identifier: MIT */
#include "thread_locals.hpp"
#include "checker.hpp"
#include "crash.hpp"

#include <model/body.hpp>

#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <utility>

extern "C" [[gnu::weak]] void __asan_init();

namespace model {

namespace {

constexpr usize page_bytes = 4096;

/* The System V ABI's entry for a module, and glibc's for the vector. */
struct dtv_entry {
	char *at;
	void *to_free;
};

/* The head of what the thread pointer leads to. */
struct head {
	char *itself;
	dtv_entry *vector; /* [-1] has its length, [0] its generation */
	char *thread;
};

char *pointer()
{
	char *p = nullptr;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(p));
#endif
	return p;
}

head &head_of(char *of) { return *reinterpret_cast<head *>(of); }

usize length_of(const dtv_entry *vector)
{
	return reinterpret_cast<usize>(vector[-1].at);
}

bool is_of_standard_library(std::string_view file)
{
	return file.find("/libc.so") != file.npos ||
	       file.find("/libstdc++.so") != file.npos;
}

} // namespace

/* Finds what lies around the thread pointer. Returns why it cannot be copied;
 * null: it can. */
const char *thread_locals::find()
{
#if defined(__x86_64__)
	constexpr unsigned long may_set = 2; /* HWCAP2_FSGSBASE */
	using static_info = void (*)(usize *bytes, usize *aligned);
	const auto info = reinterpret_cast<static_info>(
		::dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info"));
	const auto *const of_thread = static_cast<const unsigned *>(
		::dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread"));
	usize bytes = 0, aligned = 0;

	if (__asan_init)
		return "AddressSanitizer has data of the thread";
	if (!(::getauxval(AT_HWCAP2) & may_set))
		return "the system does not let a program set its thread "
		       "pointer";
	if (!info || !of_thread)
		return "the C library does not tell where they are";
	info(&bytes, &aligned);
	above = *of_thread;
	below = bytes - above;
	return nullptr;
#else
	return "this machine's thread pointer is not set";
#endif
}

void thread_locals::start(unsigned cpus)
{
	const auto add = [](dl_phdr_info *one, std::size_t, void *to) {
		thread_locals &mine = *static_cast<thread_locals *>(to);
		const auto *const start =
			static_cast<const char *>(one->dlpi_tls_data);
		const std::string_view file = one->dlpi_name;
		for (unsigned i = 0; start && i < one->dlpi_phnum; i++) {
			const ElfW(Phdr) &header = one->dlpi_phdr[i];
			if (header.p_type != PT_TLS)
				continue;
			mine.modules.push_back(
				{start, header.p_memsz,
				 !file.empty() &&
					 !is_of_standard_library(file)});
			if (!file.empty())
				continue;
			const auto *const image =
				reinterpret_cast<const char *>(one->dlpi_addr +
							       header.p_vaddr);
			mine.program = {start - pointer(),
					{image, image + header.p_filesz}};
			mine.program.at_start.resize(header.p_memsz);
		}
		return 0;
	};

	/* This brings the vector up to date, too. */
	const char *const caught =
		reinterpret_cast<const char *>(abi::__cxa_get_globals());
	copies.clear();
	modules.clear();
	program = {};
	prevents = find();
	own = prevents ? nullptr : pointer();
	::dl_iterate_phdr(add, this);
	if (prevents)
		return;

	/* The engine's own, of this thread, if it is the program's. */
	const auto explorer =
		static_cast<usize>(reinterpret_cast<const char *>(&explores) -
				   (own + program.offset));
	if (explorer < program.at_start.size())
		program.at_start[explorer] = true;
	exceptions = {caught - own, {caught, caught + 2 * sizeof(void *)}};
	const usize vector =
		(2 + length_of(head_of(own).vector)) * sizeof(dtv_entry);
	/* Aligned as the host's. */
	const usize from = reinterpret_cast<usize>(own - below) % page_bytes;
	stride = (from + below + above + vector + page_bytes - 1) &
		 ~(page_bytes - 1);
	if (const usize all = stride * (cpus + 1); all > room_bytes) {
		room = static_cast<char *>(
			::mmap(nullptr, all, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		room_bytes = all;
	}
	for (unsigned c = 0; c <= cpus; c++) {
		char *const at = room + c * stride + from + below;
		copies.push_back(at);
		copy_to(at, at + above);
	}
	ends.assign(copies.size(), {});
}

void thread_locals::copy_to(char *to, char *vector)
{
	const head &mine = head_of(own);
	const usize length = length_of(mine.vector);
	auto *const entries = reinterpret_cast<dtv_entry *>(vector);

	std::memcpy(to - below, own - below, below + above);
	std::memcpy(entries, mine.vector - 1, (length + 2) * sizeof(*entries));
	for (usize i = 2; i < length + 2; i++)
		if (static_cast<usize>(entries[i].at - (own - below)) < below)
			entries[i].at += to - own;
	/* The C library knows the owner of its locks by the last: the host. */
	head_of(to) = {to, entries + 1, own};
}

void thread_locals::start_run()
{
	for (char *const to : copies)
		for (const part *const p : {&program, &exceptions})
			std::memcpy(to + p->offset, p->at_start.data(),
				    p->at_start.size());
	for (auto &of : ends)
		of.clear();
}

void thread_locals::close_others(unsigned cpu)
{
	const auto others = [&](char *from, const char *to, int how) {
		if (from < to)
			::mprotect(from, static_cast<usize>(to - from), how);
	};
	char *const end = room + copies.size() * stride;

	if (closed_but == cpu || copies.empty())
		return;
	open();
	closed_but = cpu;
	others(room, room + cpu * stride, PROT_NONE);
	others(room + (cpu + 1) * stride, end, PROT_NONE);
}

void thread_locals::open()
{
	if (std::exchange(closed_but, none) != none)
		::mprotect(room, copies.size() * stride,
			   PROT_READ | PROT_WRITE);
}

const char *thread_locals::refused(const void *at) const
{
	const unsigned of = owner(at);
	const auto *const byte = static_cast<const char *>(at) -
				 (of == none ? 0 : copies[of] - own);

	for (const range &r : modules)
		if (static_cast<usize>(byte - r.from) < r.bytes) {
			if (prevents)
				return prevents;
			if (of == none)
				return "it is of the thread that explores";
			if (r.is_shared)
				return "it is a library's";
		}
	return nullptr;
}

/* -- Destructors ----------------------------------------------------------- */

bool thread_locals::note_end(void (*end)(void *), void *of)
{
	if (owner(of) == none)
		return false;
	ends[owner(of)].push_back({end, of});
	return true;
}

void thread_locals::run_ends(unsigned cpu)
{
	if (copies.empty())
		return;
	while (!ends[cpu].empty()) {
		const destructor last = ends[cpu].back();
		ends[cpu].pop_back();
		const detail::body_runs now;
		last.end(last.of);
	}
}

} // namespace model

extern "C" {

/* The world's maker lives on: its own are never called. */
KLOCK_WRAPPED(int, __cxa_thread_atexit, void (*end)(void *), void *of,
	      void *library)
{
	{
		const model::detail::checker_runs now;
		if (model::the_checker().cpus.locals.note_end(end, of))
			return 0;
	}
	return __real___cxa_thread_atexit(end, of, library);
}

} /* extern "C" */
