# SPDX-License-Identifier: MIT
# Debian packages, by `cpack` in the build folder: libheddle0 (shared library, configurations), libheddle-dev (headers, CMake package,
# heddle.pc, archive), heddle (the program, example kernels).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR "the Heddle developers")
set(CPACK_PACKAGE_CONTACT "the Heddle developers <heddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library dev tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libheddle${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libheddle${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libsystemc-dev, pkg-config, libfmt-dev, zlib1g-dev, liblzma-dev, libzstd-dev")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libheddle${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
# Which packages hold the shared libraries is asked of the system, where the tool for it is there.
find_program(HEDDLE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(HEDDLE_SHLIBDEPS)
if(HEDDLE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/model)
endif()
# Each Debian package says under which licence it stands.
foreach(part library dev tools)
  string(TOUPPER ${part} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} RENAME copyright
    COMPONENT ${part})
endforeach()

# What the program carries of others: the report's page.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/testbench/report/licenses/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_TOOLS_PACKAGE_NAME}/report_page
  COMPONENT tools)

include(CPack)
