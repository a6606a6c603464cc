/* SPDX-License-Identifier: MIT */
/* checked_readers - is in checked.h; until the next release */
#pragma once
#include <klock/checked.h>
