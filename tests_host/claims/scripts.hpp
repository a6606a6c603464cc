/* SPDX-License-Identifier: MIT */
/*
 * scripts - the schedules of the two timelines of source text 003
 *
 * Who moves at t1, t2, ..; the outcome is the lock's. Rows t2, t4, .. of those
 * tables say where a thread is after its step: it rests.
 */
#pragma once

#include "timeline.hpp"

namespace claims {

inline constexpr unsigned A = 0, B = 1, C = 2;

/* A, B and C come one after another; each works and leaves. */
inline constexpr cue one_after_another[] = {
	{A, move::goes},     {A, move::rests}, {B, move::goes},
	{B, move::rests},    {C, move::goes},  {C, move::rests},
	{A, move::finishes}, {A, move::goes},  {B, move::goes},
	{B, move::finishes}, {B, move::goes},  {C, move::goes},
};

/* A comes back at once, twice, before B and C look again; and once more. */
inline constexpr cue one_comes_back[] = {
	{A, move::goes},  {A, move::rests}, {B, move::goes}, {B, move::rests},
	{C, move::goes},  {C, move::rests}, {A, move::goes}, {A, move::goes},
	{A, move::rests}, {A, move::goes},  {A, move::goes}, {A, move::rests},
	{B, move::goes},  {B, move::rests}, {C, move::goes}, {C, move::rests},
	{A, move::goes},  {A, move::goes},
};

} // namespace claims
