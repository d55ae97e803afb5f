# SPDX-License-Identifier: MIT
# cmake -DSOURCE=... -DOUTPUT=... -P public_headers.cmake: writes the headers as users see them, below OUTPUT/heddle. Inside the
# project they include each other by their place in the house ("gpu/gpu.h"); outside, names as general as these could be anybody's.
foreach(root ${SOURCE}/model ${SOURCE}/tlm)
  if(root MATCHES "/tlm$")
    set(base ${SOURCE})
  else()
    set(base ${root})
  endif()
  file(GLOB_RECURSE headers RELATIVE ${base} ${root}/*.h)
  foreach(header IN LISTS headers)
    file(READ ${base}/${header} text)
    string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <heddle/\\1>" text "${text}")
    set(before "")
    if(EXISTS ${OUTPUT}/heddle/${header})
      file(READ ${OUTPUT}/heddle/${header} before)
    endif()
    # An unchanged file keeps its time, so that nothing is compiled again for it.
    if(NOT text STREQUAL before)
      file(WRITE ${OUTPUT}/heddle/${header} "${text}")
    endif()
  endforeach()
endforeach()
