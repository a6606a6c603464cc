/* SPDX-License-Identifier: MIT */
/*
 * test_multiboot - what both protocols say, and what damaged information does
 */
#include <boot/x86/firmware.hpp>
#include <boot/x86/multiboot.hpp>
#include <array>
#include <catch.hpp>
#include <string>
#include "fake_memory.hpp"

using testing::bytes;
using testing::dice;
using testing::fake_memory;
using testing::put;
using testing::set;

namespace {

constexpr std::uint64_t info_at = 0x9500;
constexpr std::uint64_t map_at = 0x9000;
constexpr std::uint64_t name_at = 0x9300;
constexpr std::uint64_t line_at = 0x9400;

bytes text(const std::string &of)
{
	bytes b(of.begin(), of.end());

	b.push_back(0);
	return b;
}

bytes joined(bytes first, const bytes &second)
{
	first.insert(first.end(), second.begin(), second.end());
	return first;
}

/* Free below 9F000H, but for the page at 8000H. */
bytes ranges(unsigned size_field)
{
	bytes map;

	for (auto [base, length, type] :
	     {std::array<std::uint64_t, 3>{0, 0x9f000, 1},
	      {0x8800, 0x10, 2},
	      {0x100000, 0x7f00000, 1}}) {
		if (size_field)
			put(map, 20, 4);
		put(map, base, 8);
		put(map, length, 8);
		put(map, type, size_field ? 4 : 8);
	}
	return map;
}

/* A screen of pixels: 1024 x 768 x 32. */
bytes pixels(unsigned reserved, unsigned type = 1)
{
	bytes b;

	put(b, 0xc0000000, 8);
	put(b, 4096, 4);
	put(b, 1024, 4);
	put(b, 768, 4);
	put(b, 32, 1);
	put(b, type, 1 + reserved);
	for (unsigned first : {16u, 8u, 0u}) {
		put(b, first, 1);
		put(b, 8, 1);
	}
	return b;
}

/* info_2().tag(1, text("words")).whole() */
struct info_2 {
	bytes tags;

	info_2 &tag(unsigned type, const bytes &body)
	{
		put(tags, type, 4);
		put(tags, 8 + body.size(), 4);
		tags = joined(tags, body);
		tags.resize((tags.size() + 7) & ~std::size_t{7});
		return *this;
	}

	bytes unended() const
	{
		bytes all;

		put(all, 8 + tags.size(), 8);
		return joined(all, tags);
	}

	bytes whole() const
	{
		info_2 with_end = *this;

		return with_end.tag(0, {}).unended();
	}
};

bytes map_tag(unsigned entry_size)
{
	bytes b;

	put(b, entry_size, 8);
	return joined(b, ranges(0));
}

struct outcome {
	boot::loader_info found;
	std::string trouble;
	std::string line;
};

template <typename READ>
outcome look(const fake_memory &memory, READ *read, bool line_is_whole = true)
{
	outcome o;
	const char *const why = read(memory.view(), info_at, o.found);

	o.trouble = why ? why : "";
	/* Copying the line reads it up to its zero byte. */
	if (o.found.command_line && line_is_whole)
		o.line = o.found.command_line;
	return o;
}

outcome look_at_2(const bytes &info)
{
	fake_memory memory;

	memory.add(info_at, info);
	return look(memory, boot::read_multiboot2);
}

bytes info_1(unsigned flags)
{
	bytes info(116);

	set(info, 0, flags, 4);
	set(info, 16, line_at, 4);
	set(info, 44, ranges(1).size(), 4);
	set(info, 48, map_at, 4);
	set(info, 64, name_at, 4);
	const bytes screen = pixels(0);

	std::copy(screen.begin(), screen.end(), info.begin() + 88);
	return info;
}

fake_memory memory_1(const bytes &info, const std::string &loader = "qemu")
{
	fake_memory memory;

	memory.add(info_at, info);
	memory.add(map_at, ranges(1));
	memory.add(name_at, text(loader));
	memory.add(line_at, text("lab.elf help"));
	return memory;
}

outcome look_at_1(const fake_memory &memory)
{
	return look(memory, boot::read_multiboot1);
}

info_2 everything()
{
	info_2 all;

	all.tag(1, text("run=locks")).tag(6, map_tag(24));
	all.tag(8, pixels(2)).tag(14, bytes(20, 0x11));
	return all.tag(15, bytes(36, 0x22)).tag(99, bytes(5));
}

} // namespace

TEST_CASE("multiboot2: words, map, screen, RSDP")
{
	const outcome o = look_at_2(everything().whole());

	CHECK(o.trouble == "");
	CHECK(o.line == "run=locks");
	CHECK(o.found.names_file == boot::file_name::if_path);
	CHECK(o.found.free_pages.find(0x7000) == 0x7000);
	CHECK(o.found.free_pages.find(0x8000) == 0x1000);
	CHECK(!o.found.text_screen);
	CHECK(o.found.pixels.address == 0xc0000000);
	CHECK(o.found.pixels.pitch == 4096);
	CHECK(o.found.pixels.width == 1024);
	CHECK(o.found.pixels.height == 768);
	CHECK(o.found.pixels.bits == 32);
	CHECK(o.found.pixels.red.first == 16);
	CHECK(o.found.pixels.blue.count == 8);
	CHECK(o.found.rsdp.size == 36);
	CHECK(o.found.rsdp.bytes[35] == 0x22);
}

TEST_CASE("multiboot2: ACPI 2.0's RSDP, in whatever order they come")
{
	info_2 new_first;
	const outcome o = look_at_2(
		new_first.tag(15, bytes(36, 2)).tag(14, bytes(20, 1)).whole());

	CHECK(o.found.rsdp.size == 36);
	CHECK(o.found.rsdp.bytes[0] == 2);
	CHECK(look_at_2(info_2().tag(14, bytes(20)).whole()).found.rsdp.size ==
	      20);
	CHECK(look_at_2(info_2().tag(15, bytes(35)).whole()).found.rsdp.size ==
	      20);
	CHECK(look_at_2(info_2().tag(14, bytes(19)).whole()).found.rsdp.size ==
	      0);
}

TEST_CASE("multiboot2: a text screen, and screens that boot cannot use")
{
	const outcome text_mode =
		look_at_2(info_2().tag(8, pixels(2, 2)).whole());
	const outcome palette =
		look_at_2(info_2().tag(8, pixels(2, 0)).whole());
	const outcome none = look_at_2(info_2().whole());

	CHECK(text_mode.found.text_screen);
	CHECK(text_mode.found.pixels.address == 0);
	CHECK(!palette.found.text_screen);
	CHECK(palette.found.pixels.address == 0);
	CHECK(none.found.text_screen);
}

TEST_CASE("multiboot2: damaged information, and what is wrong with it")
{
	const std::string reach = "the Multiboot 2 information is out of reach";
	const std::string size =
		"the Multiboot 2 information has a tag of a wrong size";
	const std::string end = "the Multiboot 2 information has no end";
	bytes whole = everything().whole();

	CHECK(look_at_2(bytes(7)).trouble == reach);
	set(whole, 0, whole.size() + 1, 4);
	CHECK(look_at_2(whole).trouble == reach);
	set(whole, 0, 0x100001, 4);
	CHECK(look_at_2(whole).trouble == reach);
	set(whole, 0, 3, 4);
	CHECK(look_at_2(whole).trouble == end);
	CHECK(look_at_2(everything().unended()).trouble == end);

	for (std::uint32_t wrong : {0u, 7u, 0x1000u, 0xffffffffu}) {
		whole = everything().whole();
		set(whole, 12, wrong, 4);
		CHECK(look_at_2(whole).trouble == size);
	}
	CHECK(look_at_2(info_2().tag(1, {'a', 'b'}).whole()).trouble ==
	      "the loader's command line has no end");
	CHECK(look_at_2(info_2().tag(1, {}).whole()).trouble ==
	      "the loader's command line has no end");
}

TEST_CASE("multiboot2: a map of longer entries, and of too short ones")
{
	bytes longer;

	put(longer, 40, 8);
	put(longer, 0x3000, 8);
	put(longer, 0x1000, 8);
	put(longer, 1, 8);
	longer.resize(longer.size() + 16, 0xff);
	put(longer, 0x5000, 8);
	put(longer, 0x1000, 8);
	put(longer, 1, 8); /* and 16 bytes more, which are not there */
	const outcome o = look_at_2(info_2().tag(6, longer).whole());

	CHECK(o.found.free_pages.find(0x8000) == 0x3000);
	CHECK(o.found.free_pages.find(0x5000) == 0x5000);
	CHECK(look_at_2(info_2().tag(6, map_tag(23)).whole())
		      .found.free_pages.find(0x8000) == 0x8000);
	CHECK(look_at_2(info_2().tag(6, bytes(7)).whole())
		      .found.free_pages.find(0x8000) == 0x8000);
}

TEST_CASE("multiboot2: cut short anywhere, its size made right")
{
	const bytes whole = everything().whole();

	for (std::size_t cut = 8; cut < whole.size(); cut++) {
		bytes part(whole.begin(),
			   whole.begin() + static_cast<std::ptrdiff_t>(cut));

		set(part, 0, cut, 4);
		CHECK(look_at_2(part).trouble != "");
	}
}

TEST_CASE("multiboot1: as QEMU and GRUB leave it")
{
	const outcome o = look_at_1(memory_1(info_1(0x1244)));

	CHECK(o.trouble == "");
	CHECK(o.line == "lab.elf help");
	CHECK(o.found.names_file == boot::file_name::of_qemu);
	CHECK(o.found.free_pages.find(0x8000) == 0x1000);
	CHECK(o.found.pixels.width == 1024);
	CHECK(!o.found.text_screen);

	const outcome grub = look_at_1(memory_1(info_1(0x204), "GRUB"));

	CHECK(grub.found.names_file == boot::file_name::if_path);
	CHECK(grub.found.free_pages.find(0x8000) == 0x8000);
	CHECK(grub.found.text_screen);
	CHECK(look_at_1(memory_1(info_1(0))).found.command_line == nullptr);
}

TEST_CASE("multiboot1: what is out of reach is not there")
{
	bytes info = info_1(0x1244);
	fake_memory nothing;

	nothing.add(info_at, bytes(80));
	CHECK(look_at_1(nothing).trouble ==
	      "the Multiboot information is out of reach");
	for (unsigned field : {16u, 48u, 64u})
		set(info, field, 0xfffffff0, 4);
	const outcome o = look_at_1(memory_1(info));

	CHECK(o.found.command_line == nullptr);
	CHECK(o.found.names_file == boot::file_name::if_path);
	CHECK(o.found.free_pages.find(0x8000) == 0x8000);
}

TEST_CASE("multiboot: 10,000 of each with bytes changed at random")
{
	const bytes whole = everything().whole();
	const bytes info = info_1(0x1244);
	const bytes map = ranges(1);
	dice random{1};
	unsigned right = 0;

	for (int i = 0; i < 10'000; i++) {
		bytes second = whole;
		bytes first = info;
		bytes spoiled_map = map;
		fake_memory memory;

		random.spoil(second);
		right += look_at_2(second).trouble.empty();
		random.spoil(first);
		random.spoil(spoiled_map);
		memory.add(info_at, first);
		memory.add(map_at, spoiled_map);
		memory.add(line_at, {'x'});
		(void)look(memory, boot::read_multiboot1, false);
	}
	CHECK(right > 3000);
}

TEST_CASE("low_pages: a page that is free from end to end, and page 0 never")
{
	boot::low_pages pages;

	CHECK(pages.find(0x8000) == 0x8000); /* nobody has said anything */
	pages.add(0, 0x1fff, true);
	CHECK(pages.find(0x8000) == 0); /* page 1 is a byte too short */
	pages.add(0x1800, 0x1800, true);
	CHECK(pages.find(0x8000) == 0x2000);
	pages.add(0x2fff, 1, false);
	CHECK(pages.find(0x8000) == 0);
	pages.add(0x9e000, ~std::uint64_t{0}, true);
	CHECK(pages.find(0x8000) == 0x9e000);
	pages.add(~std::uint64_t{0} - 1, 0x9f000, false);
	CHECK(pages.find(0x8000) == 0x9e000);
}
