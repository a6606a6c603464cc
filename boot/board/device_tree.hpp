/* SPDX-License-Identifier: MIT */
/*
 * device_tree - what the firmware says of the machine, on AArch64 and RISC-V
 *
 * Source: Devicetree Specification 0.4: chapter 5 (the flattened format), 2.3
 * (standard properties), 3.6 (/chosen), 3.8 (CPUs).
 *
 * Nothing in a tree is believed: whatever its bytes are, nothing outside of
 * them is read, and each walk ends. A tree that is damaged ends the walk at the
 * damage; trouble() then says what is wrong.
 *
 *	boot::device_tree tree;
 *	const char *trouble = tree.open(blob, 2 << 20);
 *	...
 *	for (boot::tree_walk node(tree); node.next();) {
 *		if (node.is_compatible("arm,pl011"))
 *			...
 *	}
 *
 * Needs no stack to speak of, no lock, no other part of boot.
 */
#pragma once

#include <klock/types.hpp>

namespace boot {

using klock::u32;
using klock::u64;
using klock::u8;
using klock::usize;

struct tree_region {
	u64 address = 0;
	u64 size = 0;
};

/* A property's value. `at` is null where the node has no such property. */
struct tree_property {
	const u8 *at = nullptr;
	usize size = 0;

	explicit operator bool() const { return at != nullptr; }

	/*
	 * The number that `count` cells of 32 bits make, from cell `first` on;
	 * one or two of them. False: there are not so many.
	 */
	bool number(usize first, usize count, u64 &value) const;

	/* The first text in it; "" where it is none. Lives as the tree does. */
	const char *text() const;

	/* Whether one of the texts in it is this one. */
	bool has_text(const char *wanted) const;
};

/* The places of a tree's parts; tree_walk walks it. */
struct device_tree {
	const u8 *structure = nullptr;
	usize structure_size = 0;
	const u8 *strings = nullptr;
	usize strings_size = 0;

	/*
	 * Null, or why that is no tree; `at_most` bytes there may be read. The
	 * tree must stay where it is for as long as it is looked at.
	 */
	const char *open(const void *blob, usize at_most);
};

/* Goes from node to node, in the tree's order: a parent, then its children. */
struct tree_walk {
	explicit tree_walk(const device_tree &t) : tree(&t) {}

	/* To the first node (the root), to the next. False: there is none. */
	bool next();

	/* Null, or what ended the walk before the tree's end. */
	const char *trouble() const { return damage; }

	/* -- The node that next() has reached -- */

	/* 0: the root; 1: its children. */
	unsigned depth() const { return open_nodes - 1; }

	/* Whether that is its name, less the address behind an '@'. */
	bool is(const char *name) const;

	tree_property property(const char *name) const;

	bool is_compatible(const char *with) const
	{
		return property("compatible").has_text(with);
	}

	/* Whether its status is neither switched off nor broken. */
	bool is_usable() const;

	/* A CPU's number in the hardware: its whole reg. False: it has none. */
	bool hardware_id(u64 &id) const;

	/*
	 * Its n-th region of memory. False: it has not so many, or they lie on
	 * a bus with addresses of its own.
	 */
	bool region(unsigned n, tree_region &found) const;

      private:
	static constexpr unsigned deepest = 16;

	/* A node's sizes for its children's reg. */
	struct bus {
		u32 address_cells;
		u32 size_cells;
		bool is_memory; /* their addresses are the CPU's */
	};

	bool enter(usize name_at, usize properties_at);
	bool fail(const char *why);
	u32 cells(const char *name, u32 without) const;
	const bus *parent() const;

	const device_tree *tree;
	usize at = 0;		 /* the next token */
	usize name = 0;		 /* this node's */
	usize properties = 0;	 /* this node's first */
	unsigned open_nodes = 0; /* this node and its ancestors */
	const char *damage = nullptr;
	bus buses[deepest] = {}; /* this node's and its ancestors', by depth */
};

/* The first usable node that is compatible with that; false: none is. */
bool find_compatible(const device_tree &tree, const char *with,
		     tree_walk &found);

/*
 * Puts the hardware ids of the usable CPUs there, in the tree's order, as many
 * as there is room for. Returns how many there are.
 */
unsigned find_tree_cpus(const device_tree &tree, u64 *ids, unsigned room);

/* The words that the kernel was started with; "" if the tree has none. */
const char *tree_command_line(const device_tree &tree);

} // namespace boot
