/* SPDX-License-Identifier: MIT */
/*
 * sim_report - every lock at every size, as files
 *
 *	klock_sim_report FOLDER [MACHINE | readers]
 *
 * Writes table.txt, table.md and table.csv into the folder, for the machine of
 * that name in <sim/sim.hpp>; without one for the first. Of locks that readers
 * share, at every share of writers: readers.txt and readers.csv.
 */
#include "every_lock.hpp"

#include <sim/table.hpp>

#include <cstdio>
#include <fstream>
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

/* Whether it could be written; else it is said why not. */
bool write(const std::string &path, const std::string &content)
{
	std::ofstream file(path);

	file << content;
	file.close();
	if (file)
		return true;
	std::fprintf(stderr, "cannot write %s\n", path.c_str());
	return false;
}

template <typename Rows>
bool write_rows(const sim::machine &on, const std::string &path,
		const Rows &rows)
{
	const std::string text = sim::text(rows);

	std::printf("%s\n%s", on.name, text.c_str());
	return write(path + ".txt", text) &&
	       write(path + ".csv", sim::csv(rows));
}

bool write_report(const sim::machine &on, const std::string &folder)
{
	const auto rows = sim::measure_every_lock(on);

	return write_rows(on, folder + "/table", rows) &&
	       write(folder + "/table.md", sim::markdown(rows));
}

bool write_readers(const std::string &folder)
{
	const sim::machine &on = sim::xeon_8180;

	return write_rows(on, folder + "/readers",
			  sim::measure_every_shared_lock(on));
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		std::fprintf(stderr, "usage: klock_sim_report FOLDER "
				     "[MACHINE | readers]\n");
		return 2;
	}
	const std::string what = argc == 3 ? argv[2] : sim::xeon_8180.name;
	if (what == "readers")
		return write_readers(argv[1]) ? 0 : 1;
	const sim::machine *const on = machine_named(what);
	if (!on)
		return 2;
	return write_report(*on, argv[1]) ? 0 : 1;
}
