/* SPDX-License-Identifier: MIT */
/*
 * A kernel that Limine loads: x86-64, higher half. The loader starts the other
 * CPUs; all of them log under one lock.
 *
 * The requests are those of the Limine boot protocol: the base revision, the
 * two delimiters, the MP request. A kernel that asks for more takes Limine's
 * own limine.h.
 */
#include <klock/atomic.hpp>
#include <klock/irq_guard.hpp>
#include <klock/preemptable_ticket_lock.hpp>

namespace {

using klock::u32, klock::u64, klock::u8;

/* One CPU. The loader keeps it in a loop until goto_address is written. */
struct mp_cpu {
	u32 processor_id;
	u32 lapic_id;
	u64 reserved;
	void (*goto_address)(mp_cpu *);
	u64 extra_argument;
};

struct mp_response {
	u64 revision;
	u32 flags;
	u32 bsp_lapic_id;
	u64 cpu_count;
	mp_cpu **cpus;
};

struct mp_request {
	u64 id[4];
	u64 revision;
	mp_response *response;
	u64 flags;
};

/* kernel.ld puts the delimiters around the requests. The loader writes into
 * what lies between, behind the compiler's back: volatile. */
[[gnu::used,
  gnu::section(".requests_start")]] volatile u64 requests_start[4] = {
	0xf6b8f4b39de7d1ae, 0xfab91a6940fcb9cf, 0x785c6ed015d3e316,
	0x181e920a7852b9d9};

/* The loader writes 0 into the last word if it knows revision 3. */
[[gnu::used, gnu::section(".requests")]] volatile u64 base_revision[3] = {
	0xf9562b2d5c95a6c8, 0x6a7b384944536bdc, 3};

[[gnu::used, gnu::section(".requests")]] volatile mp_request mp = {
	{0xc7b1dd30df4c8b88, 0x0a82e883a194f07b, 0x95a67b819a1b857e,
	 0xa0b61b723b6a73e0},
	0,
	nullptr,
	0};

[[gnu::used, gnu::section(".requests_end")]] volatile u64 requests_end[2] = {
	0xadc0e0531bb10d03, 0x9572709f31764c62};

constexpr unsigned max_cpus = 32;
constexpr u64 events_each = 20000;

/* A thread and a handler of each CPU may want it at once. */
constinit klock::preemptable_ticket_lock_for<2 * max_cpus> log_lock;
u64 log_events;

constinit klock::atomic<u32> finished;

void out(klock::u16 port, u8 value)
{
	asm volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

u8 in(klock::u16 port)
{
	u8 value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

/* Prints on COM1, as the firmware set it up. */
void print(const char *text)
{
	for (; *text; text++) {
		while ((in(0x3fd) & 0x20) == 0)
			;
		out(0x3f8, static_cast<u8>(*text));
	}
}

/* QEMU's isa-debug-exit ends the machine; any other stops here. */
[[noreturn]] void end(const char *text)
{
	print(text);
	out(0xf4, 0x2a);
	for (;;)
		asm volatile("cli; hlt");
}

void log_events_of_this_cpu()
{
	for (u64 i = 0; i < events_each; i++) {
		klock::irq_guard held(log_lock);

		log_events++;
	}
	finished.fetch_add_release(1);
}

/* The other CPUs start here, each on a stack that the loader gave it. */
void cpu_entry(mp_cpu *)
{
	log_events_of_this_cpu();
	for (;;)
		asm volatile("cli; hlt");
}

} // namespace

extern "C" void kmain()
{
	const mp_response *cpus = mp.response;
	u32 started = 1;

	if (base_revision[2] != 0 || !cpus)
		end("FAIL: the loader does not know these requests\n");
	for (u64 i = 0; i < cpus->cpu_count && started < max_cpus; i++) {
		if (cpus->cpus[i]->lapic_id == cpus->bsp_lapic_id)
			continue;
		__atomic_store_n(&cpus->cpus[i]->goto_address, &cpu_entry,
				 __ATOMIC_SEQ_CST);
		started++;
	}
	log_events_of_this_cpu();
	finished.await_eq_acquire(started);
	end(log_events == started * events_each ? "PASS\n"
						: "FAIL: an event is lost\n");
}
