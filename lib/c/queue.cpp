/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_NODES(KLOCK_C_KIND, )

void klock_clh_node_init(klock_clh_node *node) { klock::c::init(node); }
