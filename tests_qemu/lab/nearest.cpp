/* SPDX-License-Identifier: MIT */
/*
 * nearest - the name that was probably meant by one that is not known
 */
#include "nearest.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

/* Longer names are compared up to here. */
constexpr unsigned longest = 40;

char small(char c)
{
	return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

unsigned length_of(const char *text)
{
	unsigned length = 0;

	while (text[length] && length < longest)
		length++;
	return length;
}

bool begins_with(const char *name, const char *text)
{
	while (*text && small(*name) == small(*text)) {
		name++;
		text++;
	}
	return !*text;
}

unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/*
 * Characters that are missing, too many, wrong, or two that changed places
 * (optimal string alignment). A row of its table per character of `left`; the
 * last three are kept.
 */
unsigned mistakes(const char *left, const char *right)
{
	const unsigned columns = length_of(right);
	unsigned rows[3][longest + 1];

	for (unsigned j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= length_of(left); i++) {
		unsigned *const now = rows[i % 3];
		const unsigned *const above = rows[(i + 2) % 3];
		const unsigned *const two_above = rows[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= columns; j++) {
			const char l = small(left[i - 1]);
			const char r = small(right[j - 1]);

			now[j] = least(least(now[j - 1], above[j]) + 1,
				       above[j - 1] + (l != r));
			if (i > 1 && j > 1 && l == small(right[j - 2]) &&
			    r == small(left[i - 2]))
				now[j] = least(now[j], two_above[j - 2] + 1);
		}
	}
	return rows[length_of(left) % 3][columns];
}

/* 0: the same; 1: it begins so; else mistakes, from 2 on. */
unsigned distance_of(const char *text, const char *name)
{
	if (boot::same_text(text, name))
		return 0;
	return *text && begins_with(name, text) ? 1 : 1 + mistakes(text, name);
}

} // namespace

nearest::nearest(const char *unknown) : text(unknown), distance(3)
{
	const unsigned bearable = length_of(unknown) / 3;

	if (bearable > 1)
		distance = bearable + 2;
}

void nearest::offer(const char *name)
{
	const unsigned found = distance_of(text, name);

	if (found >= distance)
		return;
	distance = found;
	best = name;
}

} // namespace lab
