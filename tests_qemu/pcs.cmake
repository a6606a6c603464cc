# SPDX-License-Identifier: MIT
#
# The image for sticks and CDs, by way of GRUB: on BIOS and on UEFI.

set(image ${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-64.elf)
klock_lab_script(full menu menu.py --menu ${menu})
add_test(NAME qemu_iso_made COMMAND ${make_iso})
set_tests_properties(qemu_iso_made PROPERTIES LABELS qemu TIMEOUT 120
	SKIP_RETURN_CODE 77 FIXTURES_SETUP klock_iso)

# The same menu, started at once and with less to do, on machines of all ages:
# what is on the screen is what was printed, and the whole table is there.
foreach(kind IN ITEMS quick pixels)
	set(iso_${kind} ${CMAKE_CURRENT_BINARY_DIR}/klock-lab-${kind}.iso)
endforeach()
add_test(NAME qemu_pcs_made COMMAND sh -c "\"$@\" --out ${iso_quick} &&
\"$@\" --out ${iso_pixels} --pixels 800x600x24" sh ${Python3_EXECUTABLE}
	${scripts}/iso.py --quick --menu ${menu} --image ${image})
set_tests_properties(qemu_pcs_made PROPERTIES LABELS qemu TIMEOUT 600
	SKIP_RETURN_CODE 77 FIXTURES_SETUP klock_pcs)

# From the image to a stick to a table: README's commands, as they stand there.
add_test(NAME qemu_iso_to_table COMMAND ${Python3_EXECUTABLE} -B
	${scripts}/stick.py --iso ${iso_quick}
	--readme ${CMAKE_CURRENT_SOURCE_DIR}/README.md
	--out ${CMAKE_CURRENT_BINARY_DIR}/iso_to_table)
set_tests_properties(qemu_iso_to_table PROPERTIES LABELS qemu
	SKIP_RETURN_CODE 77 TIMEOUT 1000 FIXTURES_REQUIRED klock_pcs)

# klock_add_pc_test(<name> <ISO> MACHINE <pc or q35> RUN <arguments>...)
function(klock_add_pc_test name made)
	cmake_parse_arguments(PARSE_ARGV 2 ARG "" "MACHINE" "RUN")
	add_test(NAME qemu_pc_${name} COMMAND ${Python3_EXECUTABLE}
		${scripts}/screen.py --image ${iso_${made}} --cpus 4
		--log ${CMAKE_CURRENT_BINARY_DIR}/qemu_pc_${name}.log
		--machine ${ARG_MACHINE} ${ARG_RUN}
		--expect "# boot: 4 CPUs" --expect PASS)
	set_tests_properties(qemu_pc_${name} PROPERTIES LABELS qemu
		SKIP_RETURN_CODE 77 TIMEOUT 1000
		FIXTURES_REQUIRED klock_pcs)
endfunction()

set(by_font --font ${CMAKE_BINARY_DIR}/boot/font.psf)
set(size_1024 --expect "# boot: screen of 1024 x 768 pixels, 32 bits each")
klock_add_pc_test(bios_q35 quick MACHINE q35)
klock_add_pc_test(bios_pixels pixels MACHINE pc RUN ${by_font}
	--expect "# boot: screen of 800 x 600 pixels, 24 bits each")
klock_add_pc_test(uefi_pc quick MACHINE pc RUN --uefi ${by_font}
	${size_1024})
klock_add_pc_test(uefi_q35 quick MACHINE q35,hpet=off RUN --uefi ${by_font}
	${size_1024})
# A framebuffer alone, and nobody who listens: the screen says it all.
klock_add_pc_test(uefi_bare quick MACHINE q35 RUN --uefi ${by_font}
	--no-serial --qemu-arg=-vga --qemu-arg=none
	--qemu-arg=-device --qemu-arg=bochs-display ${size_1024})

# README's line for the image, as it stands there but without a window.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
file(STRINGS README.md by_hand REGEX "^qemu-system-x86_64 .*klock-lab[.]iso$")
string(REPLACE "build/default/tests_qemu/klock-lab.iso" "${iso}" by_hand
	"${by_hand} -display none")
add_test(NAME qemu_iso_by_hand COMMAND sh -c
	"command -v qemu-system-x86_64 && test -e ${iso} || exit 77; ${by_hand}
test $? -eq 85")
set_tests_properties(qemu_iso_by_hand PROPERTIES LABELS qemu TIMEOUT 180
	SKIP_RETURN_CODE 77 FIXTURES_REQUIRED klock_iso)
klock_level(full TESTS qemu_iso_by_hand qemu_iso_made qemu_pcs_made
	qemu_iso_to_table qemu_pc_bios_q35 qemu_pc_bios_pixels qemu_pc_uefi_pc
	qemu_pc_uefi_q35 qemu_pc_uefi_bare)
