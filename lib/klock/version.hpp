/* SPDX-License-Identifier: MIT */
/*
 * version - which klock this is: semantic versioning, said here alone
 *
 * CMake, pkg-config and the single header read these lines (lib/version.cmake,
 * toolchain/single_header.py); CHANGELOG.md says what is new in it.
 */
#pragma once

namespace klock {

inline constexpr unsigned version_major = 0;
inline constexpr unsigned version_minor = 4;
inline constexpr unsigned version_patch = 0;

} // namespace klock
