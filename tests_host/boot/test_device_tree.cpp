/* SPDX-License-Identifier: MIT */
/*
 * test_device_tree - what boards with a device tree share: the tree, and the
 * mail
 *
 * What is in a tree is found, what is not is not. Nothing outside of a tree is
 * read, every walk ends: AddressSanitizer watches, each tree ends where its
 * memory does. A walk that goes on for longer than the tree has tokens would
 * not end.
 */
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>
#include <boot/board/device_tree.hpp>
#include <catch.hpp>
#include <boot/board/vector_mail.hpp>
#include <thread>

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

/* A machine as QEMU's virt says it is, with what boot asks for. */
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

namespace {

std::vector<int> taken(boot::vector_mail &mail)
{
	std::vector<int> all;

	mail.take_vectors([&](klock::u8 vector) { all.push_back(vector); });
	return all;
}

} // namespace

TEST_CASE("vector_mail: what was posted, once, the lowest first")
{
	boot::vector_mail mail;

	mail.post(boot::last_mail_vector);
	mail.post(boot::first_mail_vector);
	mail.post(klock::u8{0x31});
	mail.post(klock::u8{0x31});
	CHECK(taken(mail) == std::vector<int>{0x30, 0x31, 0x4f});
	CHECK(taken(mail).empty());
}

TEST_CASE("vector_mail: boot's orders are apart from the vectors")
{
	boot::vector_mail mail;

	mail.post(boot::mail_stop);
	mail.post(boot::first_mail_vector);
	CHECK(taken(mail) == std::vector<int>{0x30});
	CHECK(mail.take_orders() == boot::mail_stop);
	CHECK(mail.take_orders() == 0);
	mail.post(boot::mail_wake);
	mail.post(boot::mail_stop);
	CHECK(mail.take_orders() == (boot::mail_wake | boot::mail_stop));
}

TEST_CASE("vector_mail: a vector posted while others are handled comes next")
{
	boot::vector_mail mail;
	std::vector<int> first;

	mail.post(klock::u8{0x32});
	mail.take_vectors([&](klock::u8 vector) {
		first.push_back(vector);
		mail.post(klock::u8{0x30});
		mail.post(klock::u8{0x32});
	});
	CHECK(first == std::vector<int>{0x32});
	CHECK(taken(mail) == std::vector<int>{0x30, 0x32});
}

TEST_CASE("vector_mail: of two senders none is lost")
{
	constexpr int rounds = 2000;
	boot::vector_mail mail;
	klock::atomic<unsigned> answered[2];
	const auto send = [&](unsigned who) {
		for (unsigned round = 1; round <= rounds; round++) {
			mail.post(static_cast<klock::u8>(0x30 + who));
			answered[who].await_eq_acquire(round);
		}
	};
	std::thread senders[] = {std::thread(send, 0u), std::thread(send, 1u)};

	for (int left = 2 * rounds; left > 0; std::this_thread::yield()) {
		mail.take_vectors([&](klock::u8 vector) {
			answered[vector - 0x30].fetch_add_release(1);
			left--;
		});
	}
	for (std::thread &sender : senders)
		sender.join();
	CHECK(taken(mail).empty());
}
