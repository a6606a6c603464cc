/* SPDX-License-Identifier: MIT */
/*
 * sim_report - every lock at every size, as files
 *
 *	klock_sim_report FOLDER [MACHINE]
 *
 * Writes table.txt, table.md and table.csv into the folder, for the machine of
 * that name in <sim/sim.hpp>; without one for the first.
 */
#include "../every_lock.hpp"
#include "files.hpp"

#include <sim/table.hpp>

#include <cstdio>
#include <string>

namespace {

const sim::machine *machine_named(const std::string &name)
{
	static const sim::machine *const known[] = {
		&sim::xeon_8180, &sim::xeon_e5_2699v3, &sim::round_figures};

	for (const sim::machine *m : known)
		if (name == m->name)
			return m;
	std::fprintf(stderr, "klock_sim_report: no machine '%s'; there are:",
		     name.c_str());
	for (const sim::machine *m : known)
		std::fprintf(stderr, " %s", m->name);
	std::fprintf(stderr, "\n");
	return nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		std::fprintf(stderr, "usage: klock_sim_report FOLDER "
				     "[MACHINE]\n");
		return 2;
	}
	const sim::machine *const on =
		machine_named(argc == 3 ? argv[2] : sim::xeon_8180.name);
	if (!on)
		return 2;

	const std::string folder = std::string(argv[1]) + "/";
	const auto rows = sim::measure_every_lock(*on);
	const std::string text = sim::text(rows);

	std::printf("%s\n%s", on->name, text.c_str());
	const bool written =
		sim::write(folder + "table.txt", text) &&
		sim::write(folder + "table.md", sim::markdown(rows)) &&
		sim::write(folder + "table.csv", sim::csv(rows));
	return written ? 0 : 1;
}
