/* SPDX-License-Identifier: MIT */
/*
 * sim_report - every lock at every size, as files
 */
#include "../tool.hpp"
#include "every_lock.hpp"

#include <sim/table.hpp>

#include <cstdio>
#include <string>

namespace {

const char usage[] =
	"usage: klock_sim_report FOLDER [MACHINE | readers]\n"
	"\n"
	"Writes table.txt, table.md and table.csv into the folder, for the\n"
	"machine of that name in <sim/sim.hpp>; without one for the first. Of\n"
	"locks that readers share, at every share of writers: readers.txt and\n"
	"readers.csv. It takes some minutes.\n";

const sim::machine &machine_named(const std::string &name)
{
	std::string names;
	static const sim::machine *const known[] = {
		&sim::xeon_8180, &sim::xeon_e5_2699v3, &sim::round_figures};

	for (const sim::machine *m : known) {
		if (name == m->name)
			return *m;
		names += std::string(" ") + m->name;
	}
	tool::fail("no machine '" + name + "'; there are:" + names);
}

template <typename Rows>
void write_rows(const sim::machine &on, const std::string &path,
		const Rows &rows)
{
	const std::string text = sim::text(rows);

	std::printf("%s\n%s", on.name, text.c_str());
	tool::write(path + ".txt", text);
	tool::write(path + ".csv", sim::csv(rows));
}

void write_report(const sim::machine &on, const std::string &folder)
{
	const auto rows = sim::measure_every_lock(on);

	write_rows(on, folder + "/table", rows);
	tool::write(folder + "/table.md", sim::markdown(rows));
}

void write_readers(const std::string &folder)
{
	const sim::machine &on = sim::xeon_8180;

	write_rows(on, folder + "/readers", sim::measure_every_shared_lock(on));
}

} // namespace

int main(int argc, char **argv)
{
	tool::begin(argc, argv, usage);
	if (argc < 2 || argc > 3 || *argv[1] == '-')
		tool::mistake("not FOLDER [MACHINE | readers]");
	const std::string what = argc == 3 ? argv[2] : sim::xeon_8180.name;
	const bool readers = what == "readers";
	const sim::machine &on = readers ? sim::xeon_8180 : machine_named(what);

	tool::make_folder(argv[1]);
	if (readers)
		write_readers(argv[1]);
	else
		write_report(on, argv[1]);
	return tool::end(0);
}
