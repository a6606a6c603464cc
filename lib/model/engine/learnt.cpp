/* SPDX-License-Identifier: MIT */
#include "learnt.hpp"

#include <cstring>

namespace model {

void learnt::forget()
{
	steps.clear();
	steps.resize(1 + max_cpus);
	accesses.clear();
	accesses.resize(1);
	for (step &s : steps)
		s.accesses = &accesses.front();
	locations.clear();
	plains.clear();
	plain_numbers.clear();
}

u32 learnt::went(u32 from, u64 value)
{
	if (const u32 to = steps[from].after(value))
		return to;
	if (full())
		return 0;

	const u32 to = static_cast<u32>(steps.size());
	steps.emplace_back();
	steps.back().accesses = steps[from].accesses;
	steps[from].next.push_back({value, to});
	return to;
}

u32 learnt::accessed(u32 from, unsigned epoch, u64 value)
{
	const step &s = steps[from];
	const bool writes = s.what == step::does::write_plain;

	if (const u32 to = s.after(writes ? 0 : value))
		return to;

	const u32 to = went(from, writes ? 0 : value);
	if (!to)
		return 0;
	auto those = *s.accesses;
	if (those.size() <= s.location)
		those.resize(s.location + 1u);
	if (writes) {
		those[s.location].written = static_cast<u8>(epoch);
		those[s.location].value = value;
	} else {
		those[s.location].read = static_cast<u8>(epoch);
	}
	accesses.push_back(std::move(those));
	steps[to].accesses = &accesses.back();
	return to;
}

void learnt::meet(unsigned location, const window &w)
{
	if (location >= locations.size())
		locations.resize(location + 1);

	known_location &l = locations[location];
	if (l.at)
		return;
	l.at = w.at;
	l.bytes = w.bytes;
	std::memcpy(&l.initial, w.at, w.bytes);
}

unsigned learnt::plain_at(const void *at, usize bytes)
{
	const auto [number, is_new] = plain_numbers.try_emplace(
		at, static_cast<unsigned>(plains.size()));

	if (bytes > sizeof(u64))
		return none;
	if (is_new) {
		plains.push_back({at, bytes, 0});
		std::memcpy(&plains.back().initial, at, bytes);
	}
	return plains[number->second].bytes == bytes ? number->second : none;
}

} // namespace model
