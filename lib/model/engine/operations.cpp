/* SPDX-License-Identifier: MIT */
#include "operations.hpp"

#include <cstring>

namespace model {

void operation_table::forget()
{
	all.assign(1, {});
	std::memset(recent, 0, sizeof(recent));
}

static bool is(const operation_table::one &o, site s, operation what,
	       order written)
{
	return o.where.line == s.line && o.where.file == s.file &&
	       o.what == what && o.written == written;
}

u16 operation_table::number(site s, operation what, order written)
{
	const auto mixed = reinterpret_cast<usize>(s.file) +
			   static_cast<usize>(s.line) * 0x9e3779b1u +
			   static_cast<usize>(what) * 8 +
			   static_cast<usize>(written);
	u16 &near = recent[(mixed ^ mixed >> 8) & 0xff];

	if (!near || !is(all[near], s, what, written))
		near = make(s, what, written);
	return near;
}

u16 operation_table::make(site s, operation what, order written)
{
	constexpr usize most = 0xffff;

	for (usize i = 1; i < all.size(); i++)
		if (is(all[i], s, what, written))
			return static_cast<u16>(i);
	if (all.size() == most)
		return 0;
	all.push_back({s, what, written});
	return static_cast<u16>(all.size() - 1);
}

} // namespace model
