/* SPDX-License-Identifier: MIT */
/*
 * test_device_tree_fuzz - nothing outside of a tree is read, every walk ends
 *
 * AddressSanitizer watches: each tree ends where its memory does. A walk that
 * goes on for longer than the tree has tokens would not end.
 */
#include <boot/board/device_tree.hpp>
#include <catch.hpp>
#include "tree_writer.hpp"

using testing::bytes;
using testing::exact_copy;
using testing::virt_tree;

namespace {

/* Asks all that can be asked of a node. */
void ask(const boot::tree_walk &node)
{
	boot::tree_region region;
	boot::u64 id;

	(void)node.is("chosen");
	(void)node.is_compatible("arm,gic-v3");
	(void)node.is_usable();
	(void)node.hardware_id(id);
	(void)std::strlen(node.property("method").text());
	for (unsigned n = 0; n < 4; n++)
		(void)node.region(n, region);
}

/* Whether it was a tree; asked all the same. */
bool look_at(const bytes &blob)
{
	const exact_copy copy(blob);
	boot::device_tree tree;
	boot::u64 ids[4];

	if (tree.open(copy.at.get(), copy.size))
		return false;
	std::size_t nodes = 0;

	for (boot::tree_walk node(tree); node.next(); ask(node))
		REQUIRE(++nodes <= blob.size() / 4);
	(void)boot::find_tree_cpus(tree, ids, 4);
	(void)std::strlen(boot::tree_command_line(tree));
	return true;
}

/* As tests do that must find the same every time. */
struct dice {
	klock::u64 state;

	std::size_t below(std::size_t n)
	{
		state = state * 6364136223846793005u + 1442695040888963407u;
		return static_cast<std::size_t>(state >> 33) % n;
	}
};

} // namespace

TEST_CASE("device_tree: cut short anywhere, and its header made to fit")
{
	const bytes whole = virt_tree(2).tree();
	unsigned trees = 0;

	for (std::size_t size = 0; size < whole.size(); size++) {
		bytes cut(whole.begin(),
			  whole.begin() + static_cast<std::ptrdiff_t>(size));

		CHECK(!look_at(cut));
		if (size < 60)
			continue;
		/* The strings are gone, the structure reaches to the end. */
		bytes fields;

		testing::put(fields, static_cast<std::uint32_t>(size));
		std::copy(fields.begin(), fields.end(), cut.begin() + 4);
		std::fill(cut.begin() + 32, cut.begin() + 36, std::uint8_t{0});
		std::fill(cut.begin() + 12, cut.begin() + 16, std::uint8_t{0});
		cut[15] = 40;
		fields.clear();
		testing::put(fields, static_cast<std::uint32_t>(size - 56));
		std::copy(fields.begin(), fields.end(), cut.begin() + 36);
		trees += look_at(cut);
	}
	CHECK(trees == whole.size() - 60);
}

TEST_CASE("device_tree: with bytes changed at random")
{
	const bytes whole = virt_tree(2).tree();
	dice random{1};
	unsigned trees = 0;

	for (int i = 0; i < 4000; i++) {
		bytes spoiled = whole;

		for (std::size_t n = random.below(8) + 1; n > 0; n--) {
			const std::size_t at = random.below(spoiled.size());
			const std::uint8_t values[] = {
				0,
				0xff,
				0x7f,
				0x80,
				static_cast<std::uint8_t>(random.below(256)),
				static_cast<std::uint8_t>(random.below(10))};

			spoiled[at] = values[random.below(6)];
		}
		trees += look_at(spoiled);
	}
	/* Most headers are left as they were: the walks were made. */
	CHECK(trees > 3000);
}

TEST_CASE("device_tree: of tokens at random")
{
	dice random{2};

	for (int i = 0; i < 2000; i++) {
		testing::tree_writer w;

		for (std::size_t n = random.below(40); n > 0; n--) {
			const std::uint32_t kinds[] = {1, 1, 2, 3, 4, 0x2f, 0};

			testing::put(w.structure, kinds[random.below(7)]);
		}
		testing::put_text(w.strings, "reg");
		REQUIRE(look_at(w.tree()));
	}
}
