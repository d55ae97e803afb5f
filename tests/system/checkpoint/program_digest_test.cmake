# SPDX-License-Identifier: MIT
# The digest of a program's source: the same wherever the source lies, another one for other source.
#   cmake -DSCRIPT=.../program_digest.cmake -DPLACE=... -P program_digest_test.cmake
file(REMOVE_RECURSE ${PLACE})
foreach(copy one two other renamed)
  file(WRITE ${PLACE}/${copy}/model/deep/a.cpp "int a;\n")
  file(WRITE ${PLACE}/${copy}/tlm/b.h "int b;\n")
  file(WRITE ${PLACE}/${copy}/docs/c.h "${copy}\n")
endforeach()
file(WRITE ${PLACE}/other/model/deep/a.cpp "int aa;\n")
file(RENAME ${PLACE}/renamed/tlm/b.h ${PLACE}/renamed/tlm/c.h)
foreach(copy one two other renamed)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${PLACE}/${copy} "-DFOLDERS=model|tlm" -DOUTPUT=${PLACE}/${copy}.cpp -P ${SCRIPT}
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${PLACE}/${copy}.cpp ${copy})
endforeach()
if(NOT one STREQUAL two)
  message(FATAL_ERROR "the same source in two folders has two digests")
endif()
if(one STREQUAL other OR one STREQUAL renamed)
  message(FATAL_ERROR "other source has the same digest")
endif()
