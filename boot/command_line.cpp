/* SPDX-License-Identifier: MIT */
/*
 * command_line - the words that the kernel was started with
 */
#include <boot/command_line.hpp>
#include <boot/format.hpp>
#include <boot/machine.hpp>
#include <boot/panic.hpp>

namespace boot {

namespace {

constexpr usize max_length = 2048;
constexpr usize max_words = 128;

constinit char text[max_length];
constinit word list[max_words];
constinit usize count = 0;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* Cuts the text into words, in place. */
void split(char *at)
{
	while (*at) {
		if (is_blank(*at)) {
			*at++ = 0;
			continue;
		}
		if (count == max_words)
			panic("the command line has more than %u words",
			      max_words);
		word &w = list[count++];

		w = {at, nullptr};
		for (; *at && !is_blank(*at); at++) {
			if (*at == '=' && !w.value) {
				*at = 0;
				w.value = at + 1;
			}
		}
	}
}

void drop_first(usize n)
{
	for (usize i = n; i < count; i++)
		list[i - n] = list[i];
	count -= n;
}

bool is_path(const word &w)
{
	for (const char *at = w.name; *at && !w.value; at++) {
		if (*at == '/')
			return true;
	}
	return false;
}

/* One word, if it looks like one. */
void drop_path()
{
	if (count && is_path(list[0]))
		drop_first(1);
}

/* Whatever it looks like; blanks in it make several words, and the last has a
 * slash. */
void drop_file_name()
{
	usize name_words = count ? 1 : 0;

	for (usize i = 0; i < count; i++) {
		if (is_path(list[i]))
			name_words = i + 1;
	}
	drop_first(name_words);
}

} // namespace

void command_line_init(const boot_info &info)
{
	const char *const from = info.command_line;

	if (!from)
		return;

	for (usize i = 0; (text[i] = from[i]); i++) {
		if (i == max_length - 2)
			panic("the command line has more than %u characters",
			      max_length - 2);
	}
	split(text);
	if (info.names_file == file_name::of_qemu)
		drop_file_name();
	else if (info.names_file == file_name::if_path)
		drop_path();
}

words command_line() { return {list, list + count}; }

bool words::has(const char *name) const { return find(name) != nullptr; }

const char *words::find(const char *name) const
{
	const char *found = nullptr;

	for (const word &w : *this) {
		if (same_text(w.name, name))
			found = w.value ? w.value : "";
	}
	return found;
}

} // namespace boot
