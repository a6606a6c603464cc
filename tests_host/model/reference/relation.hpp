/* SPDX-License-Identifier: MIT */
/*
 * relation - a set of pairs of events, as a matrix, with the paper's operators
 */
#pragma once

#include <array>
#include <cstdint>

namespace reference {

inline constexpr unsigned most = 20;

/* A relation over at most so many events. */
struct relation {
	std::array<std::uint32_t, most> row{};

	bool has(unsigned a, unsigned b) const { return row[a] >> b & 1; }
	void add(unsigned a, unsigned b) { row[a] |= 1u << b; }

	friend relation operator|(relation a, const relation &b)
	{
		for (unsigned i = 0; i < most; i++)
			a.row[i] |= b.row[i];
		return a;
	}
	friend relation operator&(relation a, const relation &b)
	{
		for (unsigned i = 0; i < most; i++)
			a.row[i] &= b.row[i];
		return a;
	}
	/* a; b */
	friend relation operator*(const relation &a, const relation &b)
	{
		relation c;
		for (unsigned i = 0; i < most; i++)
			for (std::uint32_t m = a.row[i]; m; m &= m - 1)
				c.row[i] |= b.row[__builtin_ctz(m)];
		return c;
	}
	relation inverse() const
	{
		relation c;
		for (unsigned i = 0; i < most; i++)
			for (unsigned j = 0; j < most; j++)
				if (has(i, j))
					c.add(j, i);
		return c;
	}
	relation maybe() const /* r? */
	{
		relation c = *this;
		for (unsigned i = 0; i < most; i++)
			c.add(i, i);
		return c;
	}
	relation plus() const /* r+ */
	{
		relation c = *this;
		for (unsigned k = 0; k < most; k++)
			for (unsigned i = 0; i < most; i++)
				if (c.has(i, k))
					c.row[i] |= c.row[k];
		return c;
	}
	bool irreflexive() const
	{
		for (unsigned i = 0; i < most; i++)
			if (has(i, i))
				return false;
		return true;
	}
	bool empty() const
	{
		for (std::uint32_t r : row)
			if (r)
				return false;
		return true;
	}
	bool acyclic() const { return plus().irreflexive(); }
};

} // namespace reference
