/* SPDX-License-Identifier: MIT */
/*
 * files - what a report is written into
 */
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

namespace sim {

/* Whether it could be written; else it is said why not. */
inline bool write(const std::string &path, const std::string &content)
{
	std::ofstream file(path);

	file << content;
	file.close();
	if (file)
		return true;
	std::fprintf(stderr, "cannot write %s\n", path.c_str());
	return false;
}

} // namespace sim
