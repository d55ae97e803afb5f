# SystemC as SystemC::systemc, from Accellera's CMake package or from pkg-config (Debian).
find_package(SystemCLanguage CONFIG QUIET)
if(NOT TARGET SystemC::systemc)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::systemc)
endif()
