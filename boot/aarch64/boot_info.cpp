/* SPDX-License-Identifier: MIT */
/*
 * boot_info - the device tree, from which boot has all it knows: AArch64
 *
 * Source: Linux's boot protocol for arm64, which loaders follow: the tree is at
 * most 2 MiB large.
 */
#include <boot/aarch64/machine_tree.hpp>
#include <boot/aarch64/system.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

constexpr usize largest_tree = 2 << 20;

constinit device_tree tree;

} // namespace

const device_tree &machine_tree() { return tree; }

boot_info read_boot_info(usize, usize tree_address)
{
	boot_info found;
	const void *const blob = physical<const void>(tree_address);

	found.trouble = tree.open(blob, largest_tree);
	if (!found.trouble)
		found.command_line = tree_command_line(tree);
	return found;
}

} // namespace boot
