/* SPDX-License-Identifier: MIT */
/*
 * packed - a graph as bytes, for another process that was forked off this one
 */
#include "graph.hpp"

#include <type_traits>

namespace model {

namespace {

struct writer {
	std::vector<u8> bytes;

	template <typename T>
	void put(const T *from, std::size_t many)
	{
		static_assert(std::is_trivially_copyable_v<T>);
		const auto *const first = reinterpret_cast<const u8 *>(from);
		bytes.insert(bytes.end(), first, first + many * sizeof(T));
	}
	template <typename T>
	void put(const std::vector<T> &all)
	{
		const std::size_t many = all.size();
		put(&many, 1);
		put(all.data(), many);
	}
};

struct reader {
	const u8 *at;

	template <typename T>
	void get(T *to, std::size_t many)
	{
		if (many)
			std::memcpy(static_cast<void *>(to), at,
				    many * sizeof(T));
		at += many * sizeof(T);
	}
	template <typename T>
	void get(std::vector<T> &all)
	{
		std::size_t many;
		get(&many, 1);
		all.resize(many);
		get(all.data(), many);
	}
};

} // namespace

std::vector<u8> graph::packed() const
{
	writer to;

	to.put(&cpus, 1);
	to.put(&sequence, 1);
	to.put(&any_sc, 1);
	to.put(&any_sc_access, 1);
	to.put(&share, 1);
	to.put(gate, max_cpus);
	to.put(&next_stamp, 1);
	to.put(&stride, 1);
	for (unsigned c = 0; c < cpus; c++)
		to.put(sb[c]);
	to.put(counts);
	to.put(orders);
	return std::move(to.bytes);
}

void graph::unpack(const u8 *bytes)
{
	reader from{bytes};

	from.get(&cpus, 1);
	from.get(&sequence, 1);
	from.get(&any_sc, 1);
	from.get(&any_sc_access, 1);
	from.get(&share, 1);
	from.get(gate, max_cpus);
	from.get(&next_stamp, 1);
	from.get(&stride, 1);
	for (unsigned c = 0; c < cpus; c++) {
		from.get(sb[c]);
		for (event &e : sb[c])
			e.step = 0;
	}
	from.get(counts);
	from.get(orders);
}

} // namespace model
