# SPDX-License-Identifier: MIT
#
# One Python for all scripts: the distribution's, for which toolchain/setup
# installs z3 and matplotlib, or what -DPython3_EXECUTABLE= says. Another one in
# front on the PATH (pyenv) has neither, and its wrapper takes ten times as long
# to start.

find_program(Python3_EXECUTABLE NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(Python3_EXECUTABLE NAMES python3)
