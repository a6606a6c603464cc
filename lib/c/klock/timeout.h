/* SPDX-License-Identifier: MIT */
/* timeout - is in bakery.h; until the next release */
#pragma once
#include <klock/bakery.h>
