/* SPDX-License-Identifier: MIT */
/* queued - is in queue.h; until the next release */
#pragma once
#include <klock/queue.h>
