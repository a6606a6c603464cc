/* SPDX-License-Identifier: MIT */
/*
 * places - from a return address to the line of the call
 *
 * By addr2line, of which every toolchain has one, and once for each address;
 * only where somebody wants to see places. Without it, or without debugging
 * information, the place is the address.
 */
#include "checker.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace model {

namespace {

struct line {
	std::string file;
	int number = 0;
};

/* What addr2line says: FILE:LINE, and perhaps more behind a space. */
line parsed(const std::string &answer)
{
	const auto colon = answer.rfind(':');

	if (answer.empty() || answer[0] == '?' || colon == std::string::npos)
		return {};
	return {answer.substr(0, colon), std::atoi(&answer[colon + 1])};
}

/* The line of this address in a program that was loaded at base. */
line asked(const char *program, std::uintptr_t address)
{
	char command[4096], answer[4096] = "";

	std::snprintf(command, sizeof(command),
		      "addr2line -e '%s' %#zx 2>/dev/null", program,
		      static_cast<usize>(address));
	FILE *const pipe = ::popen(command, "r");
	if (!pipe)
		return {};
	if (!std::fgets(answer, sizeof(answer), pipe))
		answer[0] = 0;
	::pclose(pipe);
	return parsed(answer);
}

line line_of(const void *returned_to)
{
	/* The call ends before it. */
	const auto address = reinterpret_cast<std::uintptr_t>(returned_to) - 1;
	Dl_info where{};
	link_map *map = nullptr;

	if (!::dladdr1(returned_to, &where, reinterpret_cast<void **>(&map),
		       RTLD_DL_LINKMAP) ||
	    !map)
		return {};
	/* The program itself has no name there. */
	char self[4096] = "";
	if (!map->l_name[0] &&
	    ::readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return {};
	line found = asked(map->l_name[0] ? map->l_name : self,
			   address - map->l_addr);
	if (found.number)
		return found;
	char hex[32];
	std::snprintf(hex, sizeof(hex), "%#zx",
		      static_cast<usize>(address - map->l_addr));
	return {hex, 0};
}

} // namespace

site checker::place_of_return(const void *to)
{
	if (!trace && !how->record_uses && !how->weaken)
		return {nullptr, 0};

	/* A site's file is a borrowed string: these are kept. */
	static std::map<const void *, line> known_lines;
	auto found = known_lines.find(to);
	if (found == known_lines.end())
		found = known_lines.emplace(to, line_of(to)).first;
	return {found->second.file.c_str(), found->second.number};
}

site detail::place_of_return(const void *to)
{
	const detail::checker_runs now;

	return the_checker().place_of_return(to);
}

} // namespace model
