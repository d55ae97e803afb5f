# SPDX-License-Identifier: MIT
# SystemC as the one target SystemC::systemc, from Accellera's CMake package or from pkg-config (Debian has only that).
# Versions 2.3.3 to 3.0.x. The library's ABI depends on the C++ standard that it was built with, and a program for another one
# does not link; so the link is tried here, where it can be explained.

if(NOT TARGET SystemC::systemc)
  find_package(SystemCLanguage CONFIG QUIET HINTS ${heddle_systemc_hint})
  if(TARGET SystemC::systemc)
    set(heddle_systemc_version ${SystemCLanguage_VERSION})
    set(heddle_systemc_place ${SystemCLanguage_DIR})
  else()
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(systemc QUIET IMPORTED_TARGET systemc)
    endif()
    if(NOT systemc_FOUND)
      message(FATAL_ERROR "SystemC was not found. On Debian: apt-get install libsystemc-dev pkg-config. "
        "Elsewhere: point CMAKE_PREFIX_PATH (CMake package SystemCLanguage) or PKG_CONFIG_PATH (systemc.pc) at it.")
    endif()
    add_library(SystemC::systemc INTERFACE IMPORTED)
    target_link_libraries(SystemC::systemc INTERFACE PkgConfig::systemc)
    set(heddle_systemc_version ${systemc_VERSION})
    set(heddle_systemc_place ${systemc_LINK_LIBRARIES})
  endif()

  if(heddle_systemc_version VERSION_LESS 2.3.3)
    message(FATAL_ERROR "SystemC ${heddle_systemc_version} (${heddle_systemc_place}) is too old: 2.3.3 or later is needed.")
  endif()

  # Tried again while it fails, so that a mended installation needs no fresh build folder.
  if(NOT "${heddle_systemc_links}" STREQUAL "${heddle_systemc_place}")
    file(WRITE ${CMAKE_BINARY_DIR}/systemc_links.cpp
      "#include <systemc>\n#include <tlm>\nint sc_main(int, char**) { tlm::tlm_generic_payload p; return p.get_data_length(); }\n")
    try_compile(heddle_systemc_tried ${CMAKE_BINARY_DIR}/systemc_links SOURCES ${CMAKE_BINARY_DIR}/systemc_links.cpp
      LINK_LIBRARIES SystemC::systemc CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
      OUTPUT_VARIABLE heddle_systemc_output)
    if(NOT heddle_systemc_tried)
      message(FATAL_ERROR "SystemC ${heddle_systemc_version} (${heddle_systemc_place}) does not link with a C++17 program. "
        "If the linker below misses a symbol sc_api_version_*, that library was built for another C++ standard: rebuild it with "
        "-DCMAKE_CXX_STANDARD=17, or install Debian's libsystemc-dev.\n${heddle_systemc_output}")
    endif()
    set(heddle_systemc_links ${heddle_systemc_place} CACHE INTERNAL "the SystemC that was seen to link with C++17")
    message(STATUS "Found SystemC: ${heddle_systemc_place} (version ${heddle_systemc_version}, links with C++17)")
  endif()
endif()
