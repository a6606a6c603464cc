/* SPDX-License-Identifier: MIT */
/*
 * device_tree - what the firmware says of the machine
 *
 * Source: Devicetree Specification 0.4, 5.2 (header), 5.4 (structure block),
 * 5.5 (strings block). Numbers are big-endian, and are read byte by byte:
 * nothing promises their alignment.
 */
#include <boot/board/device_tree.hpp>

namespace boot {

namespace {

constexpr usize header_size = 40;
constexpr u32 magic = 0xd00dfeed;
constexpr u32 version = 17;

enum token_kind : u32 {
	begin_node = 1,
	end_node = 2,
	property_token = 3,
	nop = 4,
	end = 9,
};

/* One token of the structure block; what it says lies in the block. */
struct token {
	u32 kind = 0;
	usize value = 0; /* a node's name, a property's value */
	usize size = 0;	 /* of a property's value */
	u32 name = 0;	 /* of a property, in the strings block */
	usize next = 0;
};

u32 read_u32(const u8 *at)
{
	return u32{at[0]} << 24 | u32{at[1]} << 16 | u32{at[2]} << 8 | at[3];
}

/* How long the text there is; `size`: it does not end within so many bytes. */
usize text_length(const u8 *at, usize size)
{
	usize length = 0;

	while (length < size && at[length])
		length++;
	return length;
}

/* Reads no more of either than is there. */
bool is_text(const u8 *at, usize size, const char *wanted)
{
	for (usize i = 0; i < size; i++) {
		if (at[i] != static_cast<u8>(wanted[i]))
			return false;
		if (!at[i])
			return true;
	}
	return false;
}

usize aligned(usize offset) { return (offset + 3) & ~usize{3}; }

bool read_node(const device_tree &tree, usize at, token &t)
{
	const usize room = tree.structure_size - at;
	const usize length = text_length(tree.structure + at, room);

	t.value = at;
	t.next = aligned(at + length + 1);
	return length < room;
}

bool read_property(const device_tree &tree, usize at, token &t)
{
	if (tree.structure_size - at < 8)
		return false;
	t.size = read_u32(tree.structure + at);
	t.name = read_u32(tree.structure + at + 4);
	t.value = at + 8;
	t.next = aligned(t.value + t.size);
	return t.size <= tree.structure_size - t.value;
}

/* False: what lies there is no token, or does not end within the block. */
bool read_token(const device_tree &tree, usize at, token &t)
{
	if (at > tree.structure_size || tree.structure_size - at < 4)
		return false;
	t.kind = read_u32(tree.structure + at);
	t.next = at + 4;
	if (t.kind == begin_node)
		return read_node(tree, at + 4, t);
	if (t.kind == property_token)
		return read_property(tree, at + 4, t);
	return t.kind == end_node || t.kind == nop || t.kind == end;
}

/* Whether the block from `at` on, so long, lies in a tree of that size. */
bool lies_within(usize at, usize size, usize total)
{
	return at >= header_size && at <= total && size <= total - at;
}

} // namespace

const char *device_tree::open(const void *blob, usize at_most)
{
	const u8 *const bytes = static_cast<const u8 *>(blob);

	if (!blob || at_most < header_size || read_u32(bytes) != magic)
		return "there is no device tree";
	const usize total = read_u32(bytes + 4);
	const usize structure_at = read_u32(bytes + 8);
	const usize strings_at = read_u32(bytes + 12);

	if (read_u32(bytes + 20) < version || read_u32(bytes + 24) > version)
		return "the device tree's version is not 17";
	strings_size = read_u32(bytes + 32);
	structure_size = read_u32(bytes + 36);
	if (total > at_most)
		return "the device tree is larger than the room it may have";
	if (!lies_within(structure_at, structure_size, total) ||
	    !lies_within(strings_at, strings_size, total))
		return "the device tree's parts lie outside of it";
	structure = bytes + structure_at;
	strings = bytes + strings_at;
	return nullptr;
}

bool tree_property::number(usize first, usize count, u64 &value) const
{
	const usize cells = size / 4;

	if (count < 1 || count > 2 || first > cells || cells - first < count)
		return false;
	value = read_u32(at + first * 4);
	if (count == 2)
		value = value << 32 | read_u32(at + first * 4 + 4);
	return true;
}

const char *tree_property::text() const
{
	if (text_length(at, size) == size)
		return "";
	return reinterpret_cast<const char *>(at);
}

bool tree_property::has_text(const char *wanted) const
{
	for (usize from = 0; from < size;
	     from += text_length(at + from, size - from) + 1) {
		if (is_text(at + from, size - from, wanted))
			return true;
	}
	return false;
}

bool tree_walk::fail(const char *why)
{
	damage = why;
	return false;
}

bool tree_walk::next()
{
	token t;

	for (; !damage && read_token(*tree, at, t); at = t.next) {
		if (t.kind == begin_node)
			return enter(t.value, t.next);
		if (t.kind == end)
			return name && !open_nodes
				       ? false
				       : fail("the device tree ends in a node");
		if (t.kind == end_node && open_nodes-- == 0)
			return fail("the device tree ends no node");
	}
	return damage ? false : fail("the device tree is damaged");
}

bool tree_walk::enter(usize name_at, usize properties_at)
{
	if (name && !open_nodes)
		return fail("the device tree has two roots");
	if (open_nodes == deepest)
		return fail("the device tree is too deep");
	name = name_at;
	properties = properties_at;
	at = properties_at;
	open_nodes++;

	/* 2.3.5: what holds where the node says nothing; 2.3.8: an empty
	 * "ranges" means the same addresses, none that they are others. */
	const tree_property ranges = property("ranges");
	const bus *const above = parent();

	buses[open_nodes - 1] = {
		cells("#address-cells", 2), cells("#size-cells", 1),
		!above || (above->is_memory && ranges && ranges.size == 0)};
	return true;
}

/* Null: this node is the root. */
const tree_walk::bus *tree_walk::parent() const
{
	return open_nodes > 1 ? &buses[open_nodes - 2] : nullptr;
}

u32 tree_walk::cells(const char *of, u32 without) const
{
	u64 value;

	return property(of).number(0, 1, value) ? static_cast<u32>(value)
						: without;
}

bool tree_walk::is(const char *wanted) const
{
	const u8 *const own = tree->structure + name;
	usize i = 0;

	/* The name ends by a null within the block: read_node(). */
	while (own[i] && own[i] == static_cast<u8>(wanted[i]))
		i++;
	return !wanted[i] && (!own[i] || own[i] == '@');
}

/* 5.4.2: a node's properties stand before its children. */
tree_property tree_walk::property(const char *wanted) const
{
	token t;

	for (usize from = properties; read_token(*tree, from, t);
	     from = t.next) {
		if (t.kind == nop)
			continue;
		if (t.kind != property_token)
			break;
		if (t.name < tree->strings_size &&
		    is_text(tree->strings + t.name, tree->strings_size - t.name,
			    wanted))
			return {tree->structure + t.value, t.size};
	}
	return {};
}

/* 2.3.4: no status means "okay". */
bool tree_walk::is_usable() const
{
	const tree_property status = property("status");

	return !status || status.has_text("okay") || status.has_text("ok");
}

bool tree_walk::hardware_id(u64 &id) const
{
	const bus *const above = parent();

	return above && property("reg").number(0, above->address_cells, id);
}

bool tree_walk::region(unsigned n, tree_region &found) const
{
	const bus *const above = parent();

	if (!above || !above->is_memory)
		return false;
	const usize address_cells = above->address_cells;
	const usize size_cells = above->size_cells;

	const tree_property reg = property("reg");
	const usize first = n * (address_cells + size_cells);

	return reg.number(first, address_cells, found.address) &&
	       reg.number(first + address_cells, size_cells, found.size);
}

bool find_compatible(const device_tree &tree, const char *with,
		     tree_walk &found)
{
	for (tree_walk node(tree); node.next();) {
		if (node.is_compatible(with) && node.is_usable()) {
			found = node;
			return true;
		}
	}
	return false;
}

/* 3.8: a CPU's node, a child of /cpus, has the device_type "cpu". */
unsigned find_tree_cpus(const device_tree &tree, u64 *ids, unsigned room)
{
	unsigned count = 0;

	for (tree_walk node(tree); node.next();) {
		u64 id;

		if (!node.property("device_type").has_text("cpu") ||
		    !node.is_usable() || !node.hardware_id(id))
			continue;
		if (count < room)
			ids[count] = id;
		count++;
	}
	return count;
}

const char *tree_command_line(const device_tree &tree)
{
	for (tree_walk node(tree); node.next();) {
		if (node.depth() == 1 && node.is("chosen"))
			return node.property("bootargs").text();
	}
	return "";
}

} // namespace boot
