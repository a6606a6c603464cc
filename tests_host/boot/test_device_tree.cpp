/* SPDX-License-Identifier: MIT */
/*
 * test_device_tree - what is in a tree is found, what is not is not
 */
#include <boot/board/device_tree.hpp>
#include <catch.hpp>
#include "tree_writer.hpp"

using testing::bytes;
using testing::exact_copy;
using testing::put;
using testing::tree_writer;
using testing::virt_tree;

namespace {

struct opened {
	explicit opened(const bytes &of) : copy(of)
	{
		trouble = tree.open(copy.at.get(), copy.size);
	}

	exact_copy copy;
	boot::device_tree tree;
	const char *trouble;
};

std::string ending_of(const tree_writer &w)
{
	const opened o(w.tree());
	boot::tree_walk node(o.tree);

	REQUIRE(!o.trouble);
	while (node.next()) {
	}
	REQUIRE(!node.next());
	return node.trouble() ? node.trouble() : "whole";
}

bytes with(bytes tree, std::size_t at, std::uint32_t value)
{
	bytes field;

	put(field, value);
	std::copy(field.begin(), field.end(),
		  tree.begin() + static_cast<std::ptrdiff_t>(at));
	return tree;
}

} // namespace

TEST_CASE("device_tree: CPUs in the tree's order, by hardware id")
{
	const opened o(virt_tree(18).tree());
	boot::u64 ids[17] = {};

	REQUIRE(!o.trouble);
	CHECK(boot::find_tree_cpus(o.tree, ids, 17) == 18);
	CHECK(ids[0] == 0);
	CHECK(ids[15] == 15);
	CHECK(ids[16] == 0x100);
}

TEST_CASE("device_tree: a CPU that is switched off is none; ids of two cells")
{
	tree_writer w;

	w.begin("").begin("cpus").cells("#address-cells", {2}).begin("cpu@0");
	w.text("device_type", "cpu").cells("reg", {0x12, 0x34}).end();
	for (const char *status : {"disabled", "fail", "fail-no-clock"}) {
		w.begin("cpu@1").text("device_type", "cpu");
		w.cells("reg", {0, 1}).text("status", status).end();
	}
	w.begin("cpu@2").text("device_type", "cpu").cells("reg", {7}).end();
	w.begin("cpu-map").end().end().end();

	const opened o(w.tree());
	boot::u64 ids[4] = {};

	CHECK(boot::find_tree_cpus(o.tree, ids, 4) == 1);
	CHECK(ids[0] == 0x12'0000'0034);
}

TEST_CASE("device_tree: the regions of a device, by its bus's cells")
{
	const opened o(virt_tree(1).tree());
	boot::tree_walk gic(o.tree);
	boot::tree_region region;

	REQUIRE(boot::find_compatible(o.tree, "arm,gic-v3", gic));
	REQUIRE(gic.region(0, region));
	CHECK(region.address == 0x8000000);
	CHECK(region.size == 0x10000);
	REQUIRE(gic.region(2, region));
	CHECK(region.address == 0x40'0000'0000);
	CHECK(region.size == 0x8400000);
	CHECK(!gic.region(3, region));

	/* Its child, through an empty "ranges"; behind another, nothing. */
	REQUIRE(gic.next());
	CHECK(gic.is("its"));
	CHECK(gic.depth() == 2);
	REQUIRE(gic.region(0, region));
	CHECK(region.address == 0x8080000);
	REQUIRE(boot::find_compatible(o.tree, "far,away", gic));
	CHECK(!gic.region(0, region));
}

TEST_CASE("device_tree: the first device that is not switched off")
{
	const opened o(virt_tree(1).tree());
	boot::tree_walk node(o.tree);
	boot::tree_region region;

	REQUIRE(boot::find_compatible(o.tree, "arm,pl011", node));
	REQUIRE(node.region(0, region));
	CHECK(region.address == 0x9010000);
	CHECK(node.is_compatible("arm,primecell"));
	CHECK(!node.is_compatible("arm,prime"));
	CHECK(!boot::find_compatible(o.tree, "ns16550a", node));
	REQUIRE(boot::find_compatible(o.tree, "arm,psci-0.2", node));
	CHECK(std::string(node.property("method").text()) == "hvc");
}

TEST_CASE("device_tree: numbers, the command line, what is not there")
{
	const opened o(virt_tree(2).tree());
	boot::tree_walk node(o.tree);
	boot::u64 value = 0;

	CHECK(std::string(boot::tree_command_line(o.tree)) ==
	      "run=locks mode=tap");
	while (node.next() && !node.is("cpus"))
		CHECK(!node.is("cpu"));
	REQUIRE(node.property("timebase-frequency").number(0, 1, value));
	CHECK(value == 10'000'000);
	CHECK(!node.property("timebase-frequency").number(0, 2, value));
	CHECK(!node.property("timebase-frequency").number(1, 1, value));
	CHECK(!node.property("timebase"));
	CHECK(std::string(node.property("timebase").text()).empty());
	CHECK(!node.property("reg").number(0, 1, value));
	CHECK(!node.trouble());
}

TEST_CASE("device_tree: a text that does not end is none")
{
	tree_writer w;

	w.begin("").begin("chosen").value("bootargs", {'a', 'b', 'c', 'd'});
	w.texts("list", {"one", "two"}).end().end();
	const opened o(w.tree());
	boot::tree_walk node(o.tree);

	CHECK(std::string(boot::tree_command_line(o.tree)).empty());
	REQUIRE(node.next());
	REQUIRE(node.next());
	CHECK(!node.property("bootargs").has_text("abcd"));
	CHECK(node.property("list").has_text("two"));
	CHECK(!node.property("list").has_text("wo"));
}

TEST_CASE("device_tree: what a walk ends at is told")
{
	tree_writer deep;
	tree_writer unended;
	tree_writer cut;

	CHECK(ending_of(virt_tree(3)) == "whole");
	CHECK(ending_of(tree_writer()) == "the device tree ends in a node");
	CHECK(ending_of(unended.begin("")) == "the device tree ends in a node");
	CHECK(ending_of(tree_writer().begin("").end().end()) ==
	      "the device tree ends no node");
	CHECK(ending_of(tree_writer().begin("").end().begin("").end()) ==
	      "the device tree has two roots");
	for (int i = 0; i < 17; i++)
		deep.begin("deeper");
	CHECK(ending_of(deep) == "the device tree is too deep");
	put(cut.begin("").structure, 5);
	CHECK(ending_of(cut) == "the device tree is damaged");
}

TEST_CASE("device_tree: a header that lies is refused")
{
	const bytes good = virt_tree(1).tree();
	const auto trouble = [&](std::size_t at, std::uint32_t value) {
		const opened o(with(good, at, value));

		return std::string(o.trouble ? o.trouble : "none");
	};
	const auto size = static_cast<std::uint32_t>(good.size());
	boot::device_tree tree;

	CHECK(trouble(0, 0xd00dfeec) == "there is no device tree");
	CHECK(tree.open(nullptr, 100) != nullptr);
	CHECK(trouble(20, 16) == "the device tree's version is not 17");
	CHECK(trouble(24, 18) == "the device tree's version is not 17");
	CHECK(trouble(4, size + 1) ==
	      "the device tree is larger than the room it may have");
	for (const std::size_t field : {8u, 12u, 32u, 36u}) {
		CHECK(trouble(field, size + 1) ==
		      "the device tree's parts lie outside of it");
		CHECK(trouble(field, ~0u) ==
		      "the device tree's parts lie outside of it");
	}
	CHECK(trouble(8, 0) == "the device tree's parts lie outside of it");
}
