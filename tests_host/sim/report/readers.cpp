/* SPDX-License-Identifier: MIT */
/*
 * sim_readers - every lock that readers share, at every size, at every share of
 * writers, as files
 *
 *	klock_sim_readers FOLDER
 *
 * Writes readers.txt and readers.csv into the folder.
 */
#include "../every_lock.hpp"
#include "files.hpp"

#include <sim/table.hpp>

#include <cstdio>
#include <string>

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: klock_sim_readers FOLDER\n");
		return 2;
	}
	const std::string folder = std::string(argv[1]) + "/";
	const auto rows = sim::measure_every_shared_lock(sim::xeon_8180);
	const std::string text = sim::text(rows);

	std::printf("%s\n%s", sim::xeon_8180.name, text.c_str());
	const bool written = sim::write(folder + "readers.txt", text) &&
			     sim::write(folder + "readers.csv", sim::csv(rows));
	return written ? 0 : 1;
}
