/* SPDX-License-Identifier: MIT */
/* once - is in seq.h; until the next release */
#pragma once
#include <klock/seq.h>
