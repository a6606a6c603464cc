/* SPDX-License-Identifier: MIT */
/*
 * tree_writer - makes flattened device trees for tests
 *
 * Source: Devicetree Specification 0.4, chapter 5.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace testing {

using bytes = std::vector<std::uint8_t>;

inline void put(bytes &to, std::uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		to.push_back(static_cast<std::uint8_t>(value >> shift));
}

inline void put_text(bytes &to, const std::string &text)
{
	to.insert(to.end(), text.begin(), text.end());
	to.push_back(0);
}

/* begin("").cells("reg", {1, 2}).text("status", "okay").end() */
struct tree_writer {
	bytes structure;
	bytes strings;

	tree_writer &begin(const std::string &name)
	{
		put(structure, 1);
		put_text(structure, name);
		return align();
	}

	tree_writer &end()
	{
		put(structure, 2);
		return *this;
	}

	tree_writer &nop()
	{
		put(structure, 4);
		return *this;
	}

	tree_writer &value(const std::string &name, const bytes &value)
	{
		put(structure, 3);
		put(structure, static_cast<std::uint32_t>(value.size()));
		put(structure, static_cast<std::uint32_t>(strings.size()));
		put_text(strings, name);
		structure.insert(structure.end(), value.begin(), value.end());
		return align();
	}

	tree_writer &cells(const std::string &name,
			   const std::vector<std::uint32_t> &numbers)
	{
		bytes of;

		for (const std::uint32_t number : numbers)
			put(of, number);
		return value(name, of);
	}

	tree_writer &texts(const std::string &name,
			   const std::vector<std::string> &list)
	{
		bytes of;

		for (const std::string &one : list)
			put_text(of, one);
		return value(name, of);
	}

	tree_writer &text(const std::string &name, const std::string &one)
	{
		return texts(name, {one});
	}

	/* The whole, with header, empty memory reservations and the end. */
	bytes tree() const
	{
		bytes all;
		const auto size = [](const bytes &of) {
			return static_cast<std::uint32_t>(of.size());
		};
		const std::uint32_t structure_size = size(structure) + 4;
		const std::uint32_t strings_at = 56 + structure_size;

		for (const std::uint32_t field :
		     {0xd00dfeedu, strings_at + size(strings), 56u, strings_at,
		      40u, 17u, 16u, 0u, size(strings), structure_size, 0u, 0u,
		      0u, 0u})
			put(all, field);
		all.insert(all.end(), structure.begin(), structure.end());
		put(all, 9);
		all.insert(all.end(), strings.begin(), strings.end());
		return all;
	}

      private:
	tree_writer &align()
	{
		while (structure.size() % 4)
			structure.push_back(0);
		return *this;
	}
};

/*
 * Bytes that end where their memory does: AddressSanitizer sees the first one
 * that is read behind them.
 */
struct exact_copy {
	explicit exact_copy(const bytes &of)
	    : at(std::make_unique<std::uint8_t[]>(of.size())), size(of.size())
	{
		std::copy(of.begin(), of.end(), at.get());
	}

	std::unique_ptr<std::uint8_t[]> at;
	std::size_t size;
};

/* A machine as QEMU's virt says it is, with what the rooms ask for. */
inline tree_writer virt_tree(unsigned cpus)
{
	tree_writer w;

	w.begin("").cells("#size-cells", {2}).cells("#address-cells", {2});
	w.text("compatible", "linux,dummy-virt");
	w.begin("psci").text("method", "hvc");
	w.texts("compatible", {"arm,psci-1.0", "arm,psci-0.2", "arm,psci"});
	w.end().begin("memory@40000000").cells("reg", {0, 0x40000000, 1, 0});
	w.text("device_type", "memory").end();
	w.begin("intc@8000000").cells("#address-cells", {2});
	w.cells("#size-cells", {2}).value("ranges", {});
	w.cells("reg", {0, 0x8000000, 0, 0x10000, 0, 0x80a0000, 0, 0xf60000,
			0x40, 0, 0, 0x8400000});
	w.text("compatible", "arm,gic-v3").begin("its@8080000");
	w.cells("reg", {0, 0x8080000, 0, 0x20000}).end().end().nop();
	w.begin("soc").value("ranges", {0, 0, 0, 0}).begin("far@0");
	w.text("compatible", "far,away").cells("reg", {0, 0, 0x10}).end();
	w.end().begin("cpus").cells("#address-cells", {1});
	w.cells("#size-cells", {0}).cells("timebase-frequency", {10'000'000});
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const unsigned id = (cpu / 16) << 8 | cpu % 16;

		w.begin("cpu@" + std::to_string(id)).cells("reg", {id});
		w.text("device_type", "cpu").text("enable-method", "psci");
		w.begin("interrupt-controller").end().end();
	}
	w.end().begin("pl011@9000000").text("status", "disabled");
	w.text("compatible", "arm,pl011").end().begin("pl011@9010000");
	w.cells("reg", {0, 0x9010000, 0, 0x1000});
	w.texts("compatible", {"arm,pl011", "arm,primecell"}).end();
	w.begin("chosen").text("bootargs", "run=locks mode=tap").end();
	return w.end();
}

} // namespace testing
