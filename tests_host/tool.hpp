/* SPDX-License-Identifier: MIT */
/*
 * tool - how a program ends that a person runs
 *
 * What its user has caused is one line and status 2: a mistake of the command
 * line, or a file that cannot be written. No file is left half-written. The
 * scripts have the same from toolchain/tool.py.
 */
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace tool {

/* Other threads may run: nothing is destroyed. */
[[noreturn]] inline void fail(const std::string &why)
{
	std::fflush(stdout);
	std::fprintf(stderr, "%s: error: %s\n", program_invocation_short_name,
		     why.c_str());
	std::_Exit(2);
}

[[noreturn]] inline void fail(const std::string &what, int error)
{
	fail(what + ": " + std::strerror(error));
}

[[noreturn]] inline void mistake(const std::string &what)
{
	fail(what + " (--help names the options)");
}

/* Writes what was printed until now. */
inline void flush()
{
	if (std::fflush(stdout) != 0)
		fail("standard output", errno);
	if (std::ferror(stdout))
		fail("standard output could not be written");
}

/* main()'s status. */
inline int end(int status)
{
	flush();
	if (std::fclose(stdout) != 0)
		fail("standard output", errno);
	return status;
}

/*
 * First of all: ends the program where it was asked for help, and where the
 * first file that it opens would be its standard output.
 */
inline void begin(int argc, char **argv, const char *usage)
{
	std::signal(SIGXFSZ, SIG_IGN); /* as any other disk that is full */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		fail("standard output is closed");
	for (int i = 1; i < argc; i++)
		if (std::string_view(argv[i]) == "--help") {
			std::fputs(usage, stdout);
			std::exit(end(0));
		}
}

inline unsigned long number(const char *text, unsigned long least,
			    unsigned long most)
{
	char *rest = nullptr;

	errno = 0;
	const unsigned long value = std::strtoul(text, &rest, 10);
	if (*text < '0' || *text > '9' || *rest || errno || value < least ||
	    value > most)
		mistake(std::string(text) + ": not a number from " +
			std::to_string(least) + " to " + std::to_string(most));
	return value;
}

/* A folder for files that are written when much time has gone. */
inline void make_folder(const std::filesystem::path &folder)
{
	std::error_code error;

	std::filesystem::create_directories(folder, error);
	if (!error && access(folder.c_str(), W_OK | X_OK) != 0)
		error.assign(errno, std::generic_category());
	if (error)
		fail(folder, error.value());
}

/*
 * A whole file: written beside its place, and renamed. A device is written as
 * it is.
 */
inline void write(const std::string &path, const std::string &text)
{
	std::error_code none;
	const auto kind = std::filesystem::status(path, none).type();
	const bool aside = kind == std::filesystem::file_type::regular ||
			   kind == std::filesystem::file_type::not_found;
	const std::string part = aside ? path + ".part" : path;
	std::FILE *const file = std::fopen(part.c_str(), "w");

	if (!file)
		fail(path, errno);
	bool good = std::fputs(text.c_str(), file) >= 0;
	good = std::fclose(file) == 0 && good;
	if (good && aside)
		good = std::rename(part.c_str(), path.c_str()) == 0;
	if (good)
		return;
	const int error = errno;
	if (aside)
		std::remove(part.c_str());
	fail(path, error);
}

} // namespace tool
