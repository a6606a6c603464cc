# SPDX-License-Identifier: MIT
#
# What CPack packs: what cmake --install installs, for /usr.

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME libklock-dev)
set(CPACK_PACKAGE_VENDOR "The klock authors")
set(CPACK_PACKAGE_CONTACT "The klock authors <klock@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Headers and static libraries need no other package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_STRIP_FILES OFF)
include(CPack)
