/* SPDX-License-Identifier: MIT */
#include "progress.hpp"

#include <cstdio>
#include <unistd.h>

namespace model {

static std::string in_thousands(u64 n)
{
	std::string digits = std::to_string(n);

	for (std::size_t at = digits.size(); at > 3;)
		digits.insert(at -= 3, ",");
	return digits;
}

/*
 * The share is what the branches that are done stand for, if each branch had as
 * much behind it as its siblings. Nobody knows: it is said only roughly.
 */
std::string progress_text(u64 executions, double seconds, double share)
{
	const auto rate = static_cast<double>(executions) / seconds;
	std::string line = in_thousands(executions) + " executions, " +
			   in_thousands(static_cast<u64>(rate)) + " per second";

	if (share < 0.001)
		return line + ", under 0.1 %";
	char rest[64];
	std::snprintf(rest, sizeof(rest), ", about %.*f %%, %.0f s left",
		      share < 0.1, share * 100, seconds * (1 - share) / share);
	return line + rest;
}

void progress::at(u64 executions, double share)
{
	using seconds = std::chrono::duration<double>;
	const auto now = clock::now();

	if (now - last < std::chrono::seconds(1) || !::isatty(STDERR_FILENO))
		return;
	last = now;
	shown = true;
	std::fprintf(
		stderr, "\r\033[K%s",
		progress_text(executions, seconds(now - start).count(), share)
			.c_str());
}

progress::~progress()
{
	if (shown)
		std::fputs("\r\033[K", stderr);
}

} // namespace model
