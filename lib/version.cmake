# SPDX-License-Identifier: MIT
#
# KLOCK_VERSION, from klock/version.hpp.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/klock/version.hpp lines
	REGEX "constexpr unsigned version_")
foreach(part IN ITEMS major minor patch)
	string(REGEX MATCH "version_${part} = ([0-9]+)" match "${lines}")
	set(version_${part} ${CMAKE_MATCH_1})
endforeach()
set(KLOCK_VERSION ${version_major}.${version_minor}.${version_patch})
# A change of version is a reason to configure again.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${CMAKE_CURRENT_LIST_DIR}/klock/version.hpp)
