# SPDX-License-Identifier: MIT
#
# The font of a screen made of pixels, from the host's packages: GNU Unifont
# (psf-unifont), or any other PSF font. What is in an image's font has the font's
# licence: README.md, "Licence".

find_file(KLOCK_FONT NAMES Unifont-APL8x16.psf.gz
	PATHS /usr/share/consolefonts /usr/share/kbd/consolefonts NO_DEFAULT_PATH
	DOC "A PSF font for screens made of pixels, packed by gzip or not")
set(KLOCK_FONT_UNPACKED ${CMAKE_CURRENT_BINARY_DIR}/font.psf)
if(KLOCK_FONT)
	set(unpack ${CMAKE_CURRENT_LIST_DIR}/unpack.py)
	add_custom_command(OUTPUT ${KLOCK_FONT_UNPACKED}
		COMMAND ${Python3_EXECUTABLE} ${unpack} ${KLOCK_FONT}
			${KLOCK_FONT_UNPACKED}
		DEPENDS ${KLOCK_FONT} ${unpack} VERBATIM)
	add_custom_target(font DEPENDS ${KLOCK_FONT_UNPACKED})
else()
	message(WARNING "no font: on a screen made of pixels (UEFI) the lab "
		"will show boxes for letters; apt-get install psf-unifont, or "
		"-DKLOCK_FONT=<a PSF font>")
endif()

# klock_add_font(<objects> <toolchain>): appends the font, if there is one.
function(klock_add_font objects_variable toolchain)
	klock_target_of(target ${toolchain})
	if(NOT KLOCK_FONT OR NOT target MATCHES "^(x86_64|i686)$")
		return()
	endif()
	klock_compile_freestanding(font TOOLCHAIN ${toolchain}
		NAME ${toolchain} SOURCES x86/font/font.S
		FLAGS "-DFONT_FILE=\"${KLOCK_FONT_UNPACKED}\"")
	add_custom_command(OUTPUT ${font} APPEND
		DEPENDS ${KLOCK_FONT_UNPACKED})
	set(${objects_variable} ${${objects_variable}} ${font} PARENT_SCOPE)
endfunction()
