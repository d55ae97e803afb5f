# SPDX-License-Identifier: MIT
# What another project uses: headers, libheddle.so and libheddle.a, the CMake package, heddle.pc, the Debian packages.
include(CMakePackageConfigHelpers)

# The program links the archive; others get the shared library, which finds its configurations wherever it is installed.
add_library(heddle_shared SHARED ${objects})
target_link_libraries(heddle_shared PUBLIC SystemC::systemc PRIVATE $<BUILD_INTERFACE:fmt::fmt> $<BUILD_INTERFACE:${heddle_compression}>)
set_target_properties(heddle_shared PROPERTIES OUTPUT_NAME heddle VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  EXPORT_NAME heddle)
set_target_properties(heddle PROPERTIES EXPORT_NAME heddle_static)
foreach(library heddle heddle_shared)
  target_compile_features(${library} INTERFACE cxx_std_17)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${heddle_include}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(TARGETS heddle_shared EXPORT heddle_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS heddle EXPORT heddle_static_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT heddle_targets FILE heddleTargets.cmake NAMESPACE heddle:: DESTINATION ${package_directory} COMPONENT dev)
install(EXPORT heddle_static_targets FILE heddleStaticTargets.cmake NAMESPACE heddle:: DESTINATION ${package_directory} COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heddle-config.cmake.in ${PROJECT_BINARY_DIR}/heddleConfig.cmake
  INSTALL_DESTINATION ${package_directory} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddleConfig.cmake ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/find_systemc.cmake DESTINATION ${package_directory} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/model/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tlm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle COMPONENT dev FILES_MATCHING PATTERN "*.h")

# heddle.pc says where it is by its own place, so that the tree can be moved.
file(RELATIVE_PATH heddle_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# SystemC's ABI changes with its version, of which the CMake package knows a date besides.
string(REGEX MATCH "^([0-9]+\\.[0-9]+)\\.([0-9]+)" heddle_systemc_first "${heddle_systemc_version}")
math(EXPR heddle_systemc_next "${CMAKE_MATCH_2} + 1")
set(heddle_systemc_next ${CMAKE_MATCH_1}.${heddle_systemc_next})
configure_file(${CMAKE_CURRENT_LIST_DIR}/heddle.pc.in ${PROJECT_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/configs COMPONENT library
  FILES_MATCHING PATTERN "*.ini")

# The reference of the headers, where doxygen is found.
find_program(HEDDLE_DOXYGEN doxygen)
mark_as_advanced(HEDDLE_DOXYGEN)
if(HEDDLE_DOXYGEN)
  set(doxyfile ${PROJECT_BINARY_DIR}/Doxyfile)
  file(WRITE ${doxyfile} "@INCLUDE = ${PROJECT_SOURCE_DIR}/docs/Doxyfile\nOUTPUT_DIRECTORY = \"${PROJECT_BINARY_DIR}/reference\"\nINCLUDE_PATH = \"${PROJECT_BINARY_DIR}/include\"\n")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/reference)
  add_custom_target(reference COMMAND ${HEDDLE_DOXYGEN} ${doxyfile} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM
    COMMENT "Writing the reference")
  if(HEDDLE_BUILD_TESTS)
    add_test(NAME docs.reference COMMAND ${HEDDLE_DOXYGEN} ${doxyfile} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(docs.reference PROPERTIES FAIL_REGULAR_EXPRESSION "warning:;error:" TIMEOUT 300)
  endif()
endif()
