/* SPDX-License-Identifier: MIT */
/*
 * fake_memory - what a PC's firmware and loader leave, for tests
 *
 * Each piece has a block of the heap of its own size: AddressSanitizer sees
 * whoever reads beyond it. As the kernel's, it ends at 4 GiB.
 */
#pragma once

#include <boot/x86/firmware.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace testing {

using bytes = std::vector<std::uint8_t>;

/* Little-endian, as all of a PC's tables. */
inline void put(bytes &to, std::uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

inline void set(bytes &in, std::size_t at, std::uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		in.at(at + i) = static_cast<std::uint8_t>(value >> 8 * i);
}

struct fake_memory {
	void add(std::uint64_t address, const bytes &what)
	{
		piece &p = pieces[address];

		p.size = what.size();
		p.at = std::make_unique<std::uint8_t[]>(p.size);
		std::memcpy(p.at.get(), what.data(), p.size);
	}

	boot::firmware_memory view() const { return {find, this}; }

      private:
	struct piece {
		std::unique_ptr<std::uint8_t[]> at;
		std::size_t size = 0;
	};

	static const boot::u8 *find(const void *context, boot::u64 address,
				    boot::usize size)
	{
		const auto &all =
			static_cast<const fake_memory *>(context)->pieces;
		auto next = all.upper_bound(address);

		if (!boot::is_mapped(address, size) || next == all.begin())
			return nullptr;
		const auto &[from, p] = *--next;
		const std::uint64_t in = address - from;

		return in <= p.size && size <= p.size - in ? p.at.get() + in
							   : nullptr;
	}

	std::map<std::uint64_t, piece> pieces;
};

/* As tests do that must find the same every time. */
struct dice {
	std::uint64_t state;

	std::size_t below(std::size_t n)
	{
		state = state * 6364136223846793005u + 1442695040888963407u;
		return static_cast<std::size_t>(state >> 33) % n;
	}

	/* Some bytes become others, those that hurt above all. */
	void spoil(bytes &what, std::size_t from = 0)
	{
		for (std::size_t n = below(8) + 1; n > 0; n--) {
			const std::uint8_t values[] = {
				0,
				0xff,
				0x7f,
				0x80,
				static_cast<std::uint8_t>(below(256)),
				static_cast<std::uint8_t>(below(48))};

			what[from + below(what.size() - from)] =
				values[below(6)];
		}
	}
};

} // namespace testing
