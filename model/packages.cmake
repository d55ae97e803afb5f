# SPDX-License-Identifier: MIT
# Debian packages, by `./dev package` or `cpack` in the build folder: libheddle0 (shared library, configurations), libheddle-dev (headers,
# CMake package, heddle.pc, archive), heddle (the program with its manual pages, example kernels, sweeps, waveform layouts), heddle-doc,
# python3-heddle (the Python module).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR "the Heddle developers")
set(CPACK_PACKAGE_CONTACT "the Heddle developers <heddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")   # each package has a synopsis of its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library dev tools docs python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# The first line is the synopsis; the others keep within the 80 columns that Debian asks for.
set(about "Heddle runs CUDA kernels (PTX) on a SystemC TLM-2.0 model of a GPU, cycle by
cycle: streaming multiprocessors, caches, DRAM. It says how long they take and
what they wait for, in metrics, reports, waveforms and timelines.
.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libheddle${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "cycle-level model of a GPU, shared library\n${about}\nThis package has the library and the configurations of the shipped GPUs.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "cycle-level model of a GPU, for SystemC programs\n${about}\nThis package has what a SystemC program of one's own is compiled with.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libheddle${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libsystemc-dev, pkg-config, libfmt-dev, zlib1g-dev, liblzma-dev, libzstd-dev")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "cycle-level model of a GPU's streaming multiprocessors\n${about}\nThis package has the program, and kernels to begin with.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libheddle${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "heddle-doc")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "gtkwave")
set(CPACK_DEBIAN_DOCS_PACKAGE_NAME heddle-doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCS_DESCRIPTION "cycle-level model of a GPU, pages and examples\n${about}\nThis package has the pages, and examples in C++.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-heddle)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "cycle-level model of a GPU, for Python and notebooks\n${about}\nThis package has the Python module.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "heddle (= ${PROJECT_VERSION}), python3 (>= 3.9)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib, clang, libclc-14")
# Which packages hold the shared libraries is asked of the system, where the tool for it is there.
find_program(HEDDLE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(HEDDLE_SHLIBDEPS)
if(HEDDLE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/model)
endif()
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DOCS_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
# What links with the library depends on its package, and the loader's cache learns of it. CPack would generate the
# first of these files (CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS), but starts two programs for each file of every package
# to do so, half of the time that it takes.
file(WRITE ${PROJECT_BINARY_DIR}/shlibs
  "libheddle ${PROJECT_VERSION_MAJOR} ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/shlibs ${PROJECT_BINARY_DIR}/triggers)
# Each Debian package says under which licence it stands, and which version it is.
find_program(HEDDLE_GZIP gzip)
string(TIMESTAMP changed "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/changelog
  "heddle (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * Built from its source tree.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${changed}\n")
if(HEDDLE_GZIP)
  execute_process(COMMAND ${HEDDLE_GZIP} -9 -n -k -f ${PROJECT_BINARY_DIR}/changelog)
endif()
foreach(part library dev tools docs python)
  string(TOUPPER ${part} upper)
  set(place ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${place} RENAME copyright COMPONENT ${part})
  if(HEDDLE_GZIP)
    install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${place} COMPONENT ${part})
  endif()
endforeach()

# What the program carries of others: the report's page.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/testbench/report/licenses/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_TOOLS_PACKAGE_NAME}/report_page
  COMPONENT tools)

include(CPack)
