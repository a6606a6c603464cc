/* SPDX-License-Identifier: MIT */
/*
 * pin - which CPUs take part, and in which order
 */
#include <boot/command_line.hpp>
#include <boot/cpus.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

/* Too large for a stack. */
constinit cpu_list pinned = {};

bool has(const cpu_list &list, u64 id)
{
	for (unsigned i = 0; i < list.count; i++)
		if (list.ids[i] == id)
			return true;
	return false;
}

void add(u64 id)
{
	if (!has(pinned, id))
		pinned.ids[pinned.count++] = id;
}

void pin_cores(const cpu_list &cpus, place_finder place)
{
	for (unsigned i = 0; i < cpus.count; i++) {
		bool is_new = true;

		for (unsigned k = 0; k < pinned.count; k++)
			is_new &= place(pinned.ids[k]).core !=
				  place(cpus.ids[i]).core;
		if (is_new)
			add(cpus.ids[i]);
	}
}

void pin_threads(const cpu_list &cpus, place_finder place)
{
	for (unsigned i = 0; i < cpus.count; i++)
		for (unsigned k = i; k < cpus.count; k++)
			if (place(cpus.ids[k]).core == place(cpus.ids[i]).core)
				add(cpus.ids[k]);
}

void pin_l3(const cpu_list &cpus, place_finder place)
{
	for (unsigned i = 0; i < cpus.count; i++)
		if (place(cpus.ids[i]).l3 == place(cpus.ids[0]).l3)
			add(cpus.ids[i]);
}

/* A list of numbers; commas are between them. */
const char *pin_numbers(const cpu_list &cpus, const char *how)
{
	while (*how) {
		char digits[8];
		unsigned length = 0;
		u64 number = 0;

		while (*how && *how != ',' && length < sizeof(digits) - 1)
			digits[length++] = *how++;
		digits[length] = 0;
		if ((*how && *how != ',') || !parse_u64(digits, number))
			return "cores, threads, l3, or CPUs' numbers: 0,2,4";
		if (number >= cpus.count)
			return "there is no CPU of that number";
		add(cpus.ids[number]);
		if (*how == ',' && !*++how)
			return "ends in a comma";
	}
	return nullptr;
}

} // namespace

const char *pin_cpus(cpu_list &cpus, const char *how, place_finder place)
{
	const bool is_list = *how >= '0' && *how <= '9';
	const char *wrong = nullptr;

	pinned.count = 0;
	add(cpus.ids[0]);
	if (!is_list && !place)
		return "this machine does not say which CPUs share what";
	if (is_list || !*how)
		wrong = *how ? pin_numbers(cpus, how) : "its value is missing";
	else if (same_text(how, "cores"))
		pin_cores(cpus, place);
	else if (same_text(how, "threads"))
		pin_threads(cpus, place);
	else if (same_text(how, "l3"))
		pin_l3(cpus, place);
	else
		wrong = "cores, threads, l3, or CPUs' numbers: 0,2,4";
	if (!wrong)
		cpus = pinned;
	return wrong;
}

} // namespace boot
