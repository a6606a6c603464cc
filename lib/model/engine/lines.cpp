/* SPDX-License-Identifier: MIT */
/*
 * lines - from a return address to the line of the call
 *
 * Every toolchain has an addr2line. It is asked once for each address, and only
 * if lines are to be shown. Without it, or without debugging information, the
 * address is shown.
 */
#include "lines.hpp"
#include "members.hpp"

#include <klock/types.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <spawn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace model {

using klock::usize;

namespace {

struct line {
	std::string file;
	int number = 0;
};

/* Parses addr2line's answer: FILE:LINE, and perhaps more after a space. */
line parsed(const std::string &answer)
{
	const auto colon = answer.rfind(':');

	if (answer.empty() || answer[0] == '?' || colon == std::string::npos)
		return {};
	return {answer.substr(0, colon), std::atoi(&answer[colon + 1])};
}

/* Starts addr2line for this program; returns its socket, or -1. */
int started(const std::string &program)
{
	int ends[2];
	posix_spawn_file_actions_t files;
	const char *const words[] = {"addr2line", "-e", program.c_str(),
				     nullptr};
	pid_t child;

	if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	::posix_spawn_file_actions_init(&files);
	for (const int to : {STDIN_FILENO, STDOUT_FILENO})
		::posix_spawn_file_actions_adddup2(&files, ends[1], to);
	::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
					   O_WRONLY, 0);
	if (::posix_spawnp(&child, words[0], &files, nullptr,
			   const_cast<char **>(words), environ)) {
		::close(ends[0]);
		ends[0] = -1;
	}
	::posix_spawn_file_actions_destroy(&files);
	::close(ends[1]);
	return ends[0];
}

/*
 * Returns the line of this address in a program loaded at 0. addr2line is
 * started once, as reading the debugging information takes longer than all
 * answers. Each worker has its own.
 */
line asked(const std::string &program, std::uintptr_t address)
{
	static auto &all =
		for_ever<std::map<std::pair<pid_t, std::string>, int>>();
	char question[32], c;
	std::string answer;
	const auto [one, is_new] = all.try_emplace({::getpid(), program}, -1);

	if (is_new)
		one->second = started(program);
	const int length = std::snprintf(question, sizeof(question), "%#zx\n",
					 static_cast<usize>(address));
	::send(one->second, question, static_cast<usize>(length), MSG_NOSIGNAL);
	while (::recv(one->second, &c, 1, 0) == 1 && c != '\n')
		answer += c;
	return parsed(answer);
}

line line_of(const void *returned_to)
{
	const file_place place = place_in_file(returned_to);

	if (place.file.empty())
		return {};
	/* The call ends before it. */
	line found = asked(place.file, place.at - 1);
	if (found.number)
		return found;
	char hex[32];
	std::snprintf(hex, sizeof(hex), "%#zx", place.at - 1);
	return {hex, 0};
}

} // namespace

/* A line in these headers is not shown, but its caller's: a mutex's, a
 * string's, an atomic's constructor. The checker has some of them itself. */
bool is_of_library(site s)
{
	const char *const file = s.file ? s.file : "";
	const char *const in = std::strstr(file, "/include/");

	return (in && std::strstr(in, "/c++/")) ||
	       std::strstr(file, "/model_std/");
}

site line_of_return(const void *to)
{
	static auto &known_lines = for_ever<std::map<const void *, line>>();
	auto found = known_lines.find(to);
	if (found == known_lines.end())
		found = known_lines.emplace(to, line_of(to)).first;
	return {found->second.file.c_str(), found->second.number};
}

} // namespace model
