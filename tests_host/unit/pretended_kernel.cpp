/* SPDX-License-Identifier: MIT */
/*
 * pretended_kernel - the functions that a kernel with checked locks needs, and
 * those of a kernel that has a lock order
 */
#include "order_kernel.hpp"

#include <klock/detail/checked.hpp>
#include <klock/os.hpp>

#include "../watchdog.hpp"

#include <cstring>

void forget_locks()
{
	std::memset(static_cast<void *>(&klock::spins_held), 0,
		    sizeof(klock::spins_held));
	std::memset(static_cast<void *>(&klock::nodes_in_use), 0,
		    sizeof(klock::nodes_in_use));
}

[[maybe_unused]] static const bool is_set = [] {
	watchdog::before_each = forget_locks;
	return true;
}();

std::string panic_of(block misuse)
{
	try {
		misuse();
	} catch (const std::runtime_error &e) {
		return e.what();
	}
	return "";
}

bool has(const std::string &text, const std::string &part)
{
	INFO(text);
	INFO("lacks: " << part);
	CHECK(text.find(part) != std::string::npos);
	return text.find(part) != std::string::npos;
}

std::string site_text(const char *file, int line)
{
	return klock::misuse_text().add(klock::call_site{file, line}).c_str();
}

std::string shown(const char *file)
{
	const std::string with_line = site_text(file, 0);

	return with_line.substr(0, with_line.size() - 2);
}

void as(unsigned cpu, klock::context where, block code)
{
	running here(cpu, where);

	code();
}

extern "C" unsigned klock_os_cpu_id(void) { return current_cpu; }

extern "C" int klock_os_context(void) { return static_cast<int>(running_in); }

extern "C" void klock_os_panic(const char *lock_name, const void *,
			       unsigned cpu, const char *what)
{
	/* No second report comes if it prints with what it uses wrongly. */
	CHECK(klock::checks_are_off());
	klock::set_checks(true);
	throw std::runtime_error(std::string(lock_name) + ", CPU " +
				 std::to_string(cpu) + ": " + what);
}

klock::lock_order *klock_os_lock_order(void) { return order_now; }

void klock_os_note(const char *text)
{
	notes.push_back(text);
	if (then_noted)
		then_noted();
}
