/* SPDX-License-Identifier: MIT */
/*
 * clock - how fast the time-stamp counter runs, and what it is measured by: x86
 *
 * Where CPUID says it, that is right: nothing can disturb it. Else a counter of
 * known frequency is read together with the time-stamp counter, twice, 10 ms
 * apart. A host that takes the CPU away in the middle of a reading spoils it:
 * of some readings the one that took the shortest time is used. A host that
 * takes it away between the two for longer than the 8254 counts spoils the
 * whole measurement, which the 8254's output shows; and two of them must agree.
 * Where there is no 8254, or none that agrees with itself, the counters that
 * ACPI names take its place.
 */
#include <boot/interrupts.hpp>
#include <boot/x86/apic.hpp>
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/format.hpp>
#include <boot/machine.hpp>
#include <boot/x86/reference_timers.hpp>
#include <boot/x86/x86.hpp>
#include <klock/cpu.hpp>
#include <boot/x86/acpi.hpp>
#include <boot/cpus.hpp>

namespace boot {

namespace {

constinit u64 frequency = 0;

struct reading {
	u64 tsc;
	u32 count;
};

reading read_with_tsc(u32 (*counter)())
{
	reading best = {};
	u64 shortest = ~u64{0};

	for (int i = 0; i < 8; i++) {
		const u64 before = klock::cycles();
		const u32 count = counter();
		const u64 took = klock::cycles() - before;

		if (took < shortest) {
			shortest = took;
			best = {before + took / 2, count};
		}
	}
	return best;
}

/* Intel SDM volume 2A, CPUID, leaf 15H: the crystal, and the TSC's ratio to it
 */
u64 tsc_hz_of_ratio()
{
	if (cpuid(0).eax < 0x15)
		return 0;
	const cpuid_result r = cpuid(0x15);

	return r.eax && r.ebx ? div_u64(u64{r.ecx} * r.ebx, r.eax) : 0;
}

/* The TSC's frequency in kHz by leaf 40000010H, as hypervisors agreed. */
u64 tsc_hz_of_hypervisor()
{
	constexpr u32 first = 0x40000000;
	constexpr u32 timing = first + 0x10;

	if (!(cpuid(1).ecx >> 31))
		return 0;
	const u32 last = cpuid(first).eax;

	return last >= timing && last < first + 0x10000
		       ? u64{cpuid(timing).eax} * 1000
		       : 0;
}

/* Intel SDM volume 2A, CPUID, leaf 16H: base frequency in MHz */
u64 tsc_hz_of_base()
{
	return cpuid(0).eax >= 0x16 ? u64{cpuid(0x16).eax & 0xffff} * 1'000'000
				    : 0;
}

/* Measurements by one timer, and what became of them. */
struct measurements {
	static constexpr unsigned most = 16;
	u64 hz[most] = {}; /* those that can be right */
	unsigned good = 0;
	unsigned ran_out = 0; /* the timer, in others */
	bool has_timer = true;
};

/* 10 ms of it. */
void measure_once(const reference_timer &timer, measurements &m)
{
	const u32 ticks = static_cast<u32>(div_u64(timer.hz, 100));

	timer.start();
	/* Some machines have the counter and not this bit: always 1 there. */
	const bool bit_works = timer.has_run_out && !timer.has_run_out();
	const reading first = read_with_tsc(timer.count);
	const auto since = [&](u32 now) {
		return (now - first.count) & timer.mask;
	};

	/* Without a timer its count never changes: give up some time. */
	for (u32 i = 0; since(timer.count()) < ticks; i++) {
		if (i == 100'000) {
			m.has_timer = false;
			return;
		}
		burn();
	}
	const reading last = read_with_tsc(timer.count);

	/* A timer that counts up from 0 has run out when its count is lower. */
	if (timer.has_run_out &&
	    ((bit_works && timer.has_run_out()) || last.count <= first.count))
		m.ran_out++;
	else
		m.hz[m.good++] = div_u64((last.tsc - first.tsc) * timer.hz,
					 since(last.count));
}

bool agree(u64 left, u64 right)
{
	const u64 apart = left > right ? left - right : right - left;

	return apart <= div_u64(left, 1000);
}

/* The last one if another agrees with it to a thousandth; 0: none does. */
u64 agreed(const measurements &m)
{
	for (unsigned i = 0; i + 1 < m.good; i++)
		if (agree(m.hz[m.good - 1], m.hz[i]))
			return m.hz[m.good - 1];
	return 0;
}

bool measure_by(const reference_timer &timer)
{
	measurements m;
	u64 found = 0;

	while (m.has_timer && !found && m.good + m.ran_out < m.most) {
		measure_once(timer, m);
		found = agreed(m);
	}
	if (found) {
		frequency = found;
		print("# boot: clock %u kHz, measured %u times by %s",
		      div_u64(found, 1000), m.good + m.ran_out, timer.name);
		if (m.ran_out)
			print(", which ran out in %u of them", m.ran_out);
		print("\n");
		return true;
	}
	if (m.has_timer)
		print("# boot: %u measurements of the clock by %s do not "
		      "agree, in %u it ran out\n",
		      m.good + m.ran_out, timer.name, m.ran_out);
	if (m.good)
		frequency = m.hz[m.good - 1];
	return false;
}

bool measure_tsc()
{
	reference_timer timer;

	for (unsigned i = 0; get_reference_timer(i, timer); i++)
		if (measure_by(timer))
			return true;
	return false;
}

/* Guesses the clock if there is nothing better. */
void guess_tsc()
{
	const char *from = "the last measurement";

	if (!frequency) {
		from = "CPUID's base frequency";
		frequency = tsc_hz_of_base();
	}
	if (!frequency) {
		from = "a guess of 1 GHz";
		frequency = 1'000'000'000;
	}
	print("# boot: the clock is not known: no timer measures it, time is "
	      "taken from %s\n",
	      from);
}

/* True: the frequency is right. */
bool find_tsc()
{
	frequency = tsc_hz_of_ratio();
	if (!frequency)
		frequency = tsc_hz_of_hypervisor();
	if (frequency) {
		print("# boot: clock %u kHz, by CPUID\n",
		      div_u64(frequency, 1000));
		return true;
	}
	if (measure_tsc())
		return true;
	guess_tsc();
	return false;
}

} // namespace

clock_found find_clock()
{
	const bool known = find_tsc();

	return {frequency, known};
}

void measure_timer()
{
	if (!has_ipis())
		return;
	timer_start_silent();
	const reading first = read_with_tsc(timer_count);

	delay_us(10'000);
	const reading last = read_with_tsc(timer_count);

	timer_stop();
	set_timer_hz(div_u64((first.count - last.count) * frequency,
			     last.tsc - first.tsc));
}

/*
 * -- Counters of known frequency: the 8254, the HPET, ACPI's PM timer --
 *
 * Source: Intel 8254 data sheet, Modes 0 and 2, Counter Latch Command; port 61H
 * (IBM PC AT Technical Reference): bit 0 is channel 2's gate, bit 1 the
 * speaker, bit 5 channel 2's output: in mode 0 low until it has run out. IA-PC
 * HPET Specification 1.0a, 2.3; ACPI Specification 6.5, 4.8.2.1.
 *
 * A PC has one of them at least; what it does not have reads as a constant,
 * which the measurement sees.
 */

/* -- The 8254: channel 2 for measurements, channel 0 for interrupts -- */

namespace {

constexpr u16 channel_0 = 0x40;
constexpr u16 channel_2 = 0x42;
constexpr u16 control = 0x43;
constexpr u16 system_control = 0x61;

u32 read_count(u16 channel, u8 latch)
{
	out8(control, latch);
	const u32 low = in8(channel);

	return low | static_cast<u32>(in8(channel)) << 8;
}

/* Counts down from 65535, once: for 54 ms. No sound, no interrupt. */
void pit_start()
{
	out8(system_control,
	     static_cast<u8>((in8(system_control) & ~0x03) | 0x01));
	out8(control, 0xb0); /* channel 2, low byte then high byte, mode 0 */
	out8(channel_2, 0xff);
	out8(channel_2, 0xff);
}

/* The count that is left; after 0 it goes on from 65535. */
u32 pit_count() { return read_count(channel_2, 0x80); }

/* Whether it has run out since pit_start(). */
bool pit_has_run_out() { return in8(system_control) & 0x20; }

} // namespace

bool pit_start_periodic(u32 ticks)
{
	out8(control, 0x34); /* channel 0, low byte then high byte, mode 2 */
	out8(channel_0, static_cast<u8>(ticks));
	out8(channel_0, static_cast<u8>(ticks >> 8));

	const u32 before = read_count(channel_0, 0x00);

	for (int i = 0; i < 10'000; i++)
		if (read_count(channel_0, 0x00) != before)
			return true;
	return false;
}

namespace {

constinit acpi_timers named = {};

/* It counts downwards. */
u32 pit_up() { return 0xffff - pit_count(); }

constexpr reference_timer pit = {"the 8254", pit_hz, 0xffff,
				 pit_start,  pit_up, pit_has_run_out};

/* -- The HPET: upwards, 32 bits of its 64 -- */

constexpr usize hpet_period = 0x004; /* in femtoseconds */
constexpr usize hpet_configuration = 0x010;
constexpr usize hpet_counter = 0x0f0;
constexpr u32 hpet_counts = 1 << 0;

volatile u32 &hpet_register(usize at)
{
	return *physical<volatile u32>(named.hpet + at);
}

/* 0: nothing that the specification allows. */
u64 hpet_hz()
{
	constexpr u64 femtoseconds = 1'000'000'000'000'000;
	constexpr u32 longest = 100'000'000;
	const u32 period = hpet_register(hpet_period);

	return period && period <= longest ? div_u64(femtoseconds, period) : 0;
}

void hpet_start()
{
	hpet_register(hpet_configuration) =
		hpet_register(hpet_configuration) | hpet_counts;
}

u32 hpet_count() { return hpet_register(hpet_counter); }

/* -- ACPI's: upwards, 24 bits or 32 -- */

constexpr u64 pm_timer_hz = 3'579'545;

void pm_timer_start() {}

u32 pm_timer_count()
{
	const u32 count = in32(named.pm_port);

	return named.pm_has_32_bits ? count : count & 0xffffff;
}

} // namespace

void find_reference_timers(const loader_info &loader)
{
	named = read_acpi_timers(mapped_memory(), loader.rsdp);
	if (named.hpet && !hpet_hz())
		named.hpet = 0;
}

bool get_reference_timer(unsigned number, reference_timer &timer)
{
	if (number-- == 0) {
		timer = pit;
		return true;
	}
	if (named.hpet && number-- == 0) {
		timer = {"the HPET", hpet_hz(),	 ~u32{0},
			 hpet_start, hpet_count, nullptr};
		return true;
	}
	if (named.pm_port && number-- == 0) {
		timer = {"ACPI's timer",
			 pm_timer_hz,
			 named.pm_has_32_bits ? ~u32{0} : 0xffffff,
			 pm_timer_start,
			 pm_timer_count,
			 nullptr};
		return true;
	}
	return false;
}

/*
 * -- An NMI to CPU 0 again and again, for a watchdog --
 *
 * Counter 0 of the 8254 (Intel 8254 data sheet, mode 2) raises the ISA's
 * interrupt 0; the firmware's tables say at which input of which I/O APIC
 * (Intel 82093AA data sheet, 3.2) that comes in, which sends it as an NMI.
 */

namespace {

constexpr u32 version_register = 1;
constexpr u32 first_entry = 0x10; /* two registers each */
constexpr u32 delivery_nmi = 4 << 8;
constexpr u32 active_low = 1 << 13;

u32 io_apic_read(usize base, u32 index)
{
	*physical<volatile u32>(base) = index;
	return *physical<volatile u32>(base + 0x10);
}

void io_apic_write(usize base, u32 index, u32 value)
{
	*physical<volatile u32>(base) = index;
	*physical<volatile u32>(base + 0x10) = value;
}

/* How many inputs; 0: nothing answers there. */
u32 inputs_of(usize base)
{
	const u32 version = io_apic_read(base, version_register);

	return version == 0 || version == ~0u ? 0 : (version >> 16 & 0xff) + 1;
}

/* Null: none has the timer's input. */
const io_apic *timers_io_apic()
{
	const acpi_found &machine = acpi_tables();

	for (unsigned i = 0; i < machine.io_apic_count; i++) {
		const io_apic &chip = machine.io_apics[i];
		const u32 input = machine.timer.input - chip.first_input;

		if (machine.timer.input >= chip.first_input &&
		    input < inputs_of(chip.address))
			return &chip;
	}
	return nullptr;
}

} // namespace

const char *nmi_clock_start(u32 period_us)
{
	const acpi_found &machine = acpi_tables();
	const u32 ticks =
		static_cast<u32>(div_u64(u64{period_us} * pit_hz, 1'000'000));

	if (!has_ipis())
		return "no local APIC";
	if (!machine.io_apic_count)
		return "the firmware names no I/O APIC";
	const io_apic *const chip = timers_io_apic();

	if (!chip)
		return "no I/O APIC has the timer's input";
	if (hardware_id_of(0) > 254)
		return "an I/O APIC does not reach the first CPU's id";
	if (!pit_start_periodic(ticks))
		return "no 8254 timer that counts";
	const u32 entry =
		first_entry + 2 * (machine.timer.input - chip->first_input);

	io_apic_write(chip->address, entry + 1,
		      static_cast<u32>(hardware_id_of(0)) << 24);
	io_apic_write(chip->address, entry,
		      delivery_nmi |
			      (machine.timer.active_low ? active_low : 0));
	return nullptr;
}

} // namespace boot
