# SPDX-License-Identifier: MIT
# Lists the suites of a test program that was just built, and writes one ctest test for each: a process for a suite in place of one for a
# test costs a fraction of the time. Called with PROGRAM, OUTPUT, FILTER, and PROPERTIES (a list for set_tests_properties).
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER} OUTPUT_VARIABLE listed RESULT_VARIABLE code
  ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  file(REMOVE ${PROGRAM})   # so that the next build asks again
  message(FATAL_ERROR "${PROGRAM} did not list its tests (${code}): ${said}")
endif()
string(REPLACE "\n" ";" lines "${listed}")
# A positive filter may choose some tests of a suite, which are then named; a negative one goes along.
string(REGEX MATCH "-.*$" unwanted "${FILTER}")
set(text "")
set(suite "")
set(cases "")
macro(write_suite)
  if(NOT suite STREQUAL "" AND NOT cases STREQUAL "")
    string(REGEX REPLACE "^:" "" cases "${cases}")
    string(APPEND text "add_test([=[${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${cases}]=])\n"
      "set_tests_properties([=[${suite}]=] PROPERTIES ${PROPERTIES} SKIP_RETURN_CODE 77)\n")
  endif()
endmacro()
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ].*)\\.( *#.*)?$")
    write_suite()
    set(suite "${CMAKE_MATCH_1}")
    set(cases "")
  elseif(line MATCHES "^  ([^ #]+)" AND NOT suite MATCHES "DISABLED_" AND NOT CMAKE_MATCH_1 MATCHES "^DISABLED_")
    if(unwanted STREQUAL "")
      string(APPEND cases ":${suite}.${CMAKE_MATCH_1}")
    else()
      set(cases "${suite}.*${unwanted}")
    endif()
  endif()
endforeach()
write_suite()
file(WRITE ${OUTPUT} "${text}")
