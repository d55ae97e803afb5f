# SPDX-License-Identifier: MIT
# Lists the suites of a test program that was just built, and writes one ctest test for each: a process for a suite in place of one for a
# test costs a fraction of the time. Called with PROGRAM, OUTPUT, FILTER, PROPERTIES (a list for set_tests_properties) and COSTS
# (suite=seconds ...), by which ctest starts what takes long first.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER} OUTPUT_VARIABLE listed RESULT_VARIABLE code
  ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  file(REMOVE ${PROGRAM})   # so that the next build asks again
  message(FATAL_ERROR "${PROGRAM} did not list its tests (${code}): ${said}")
endif()
string(REPLACE "\n" ";" lines "${listed}")
# A positive filter may choose some tests of a suite, which are then named; a negative one goes along.
string(REGEX MATCH "-.*$" unwanted "${FILTER}")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ].*)\\.( *#.*)?$")
    set(suite "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^  ([^ #]+)" AND NOT suite MATCHES "DISABLED_" AND NOT CMAKE_MATCH_1 MATCHES "^DISABLED_")
    if(NOT suite IN_LIST suites)
      list(APPEND suites "${suite}")
      set(tests_of_${suite} "")
    endif()
    string(REGEX MATCH "[^ #]+" test "${line}")
    string(APPEND tests_of_${suite} ":${suite}.${test}")
  endif()
endforeach()
set(text "")
foreach(suite IN LISTS suites)
  if(unwanted STREQUAL "")
    string(SUBSTRING "${tests_of_${suite}}" 1 -1 tests)
  else()
    set(tests "${suite}.*${unwanted}")
  endif()
  set(cost "")
  if(" ${COSTS} " MATCHES " ${suite}=([0-9]+) ")
    set(cost " COST ${CMAKE_MATCH_1}")
  endif()
  string(APPEND text "add_test([=[${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${tests}]=])\n"
    "set_tests_properties([=[${suite}]=] PROPERTIES ${PROPERTIES}${cost} SKIP_RETURN_CODE 77)\n")
endforeach()
# A suite that is lost here would be a test that cannot fail.
string(REGEX MATCHALL "add_test\\(" written "${text}")
list(LENGTH written written)
list(LENGTH suites wanted)
if(NOT written EQUAL wanted)
  message(FATAL_ERROR "${PROGRAM} has ${wanted} suites, and ${written} were written to ${OUTPUT}")
endif()
file(WRITE ${OUTPUT} "${text}")
