# SPDX-License-Identifier: MIT
# Writes program_digest.cpp: a digest of the names and contents of all sources in folders.
#   cmake -DROOT=... "-DFOLDERS=model|tlm" -DOUTPUT=... -P program_digest.cmake
string(REPLACE "|" ";" FOLDERS "${FOLDERS}")
set(text "")
foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h)
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 ${ROOT}/${file} digest)
    string(APPEND text "${file} ${digest}\n")
  endforeach()
endforeach()
string(SHA256 digest "${text}")
file(WRITE ${OUTPUT} "#include \"testbench/checkpoint/program_digest.h\"

namespace heddle::testbench {

const char* program_digest() { return \"${digest}\"; }

}  // namespace heddle::testbench
")
