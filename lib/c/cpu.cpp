/* SPDX-License-Identifier: MIT */
#include <klock/verbs.h>
#include <klock/irq.hpp>
#include <klock/cpu.hpp>
#include <klock/version.hpp>

unsigned long klock_irq_save() { return klock::irq_save(); }

void klock_irq_restore(unsigned long before)
{
	klock::irq_restore(static_cast<klock::irq_state>(before));
}

int klock_irqs_enabled() { return klock::irqs_enabled(); }

unsigned long long klock_cycles() { return klock::cycles(); }

namespace {

/* "major.minor.patch", out of the numbers. */
struct version_text {
	char text[32] = {};
	unsigned length = 0;

	constexpr version_text()
	{
		put(klock::version_major);
		text[length++] = '.';
		put(klock::version_minor);
		text[length++] = '.';
		put(klock::version_patch);
	}

	constexpr void put(unsigned number)
	{
		if (number >= 10)
			put(number / 10);
		text[length++] = static_cast<char>('0' + number % 10);
	}
};
constexpr version_text version;

} // namespace

const char *klock_version() { return version.text; }
