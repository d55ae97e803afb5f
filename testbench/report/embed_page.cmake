# SPDX-License-Identifier: MIT
# cmake -DPAGE=... -DOUTPUT=... -P embed_page.cmake: writes the page as a C++ source, in string literals short enough
# for any compiler.
file(READ "${PAGE}" hex HEX)
string(LENGTH "${hex}" digits)
set(source "// SPDX-License-Identifier: MIT\n#include \"testbench/report/page_template.h\"\n\nnamespace heddle::testbench {\n\nstd::string_view page_template() {\n")
string(APPEND source "  static const char text[] =\n")
set(at 0)
while(at LESS digits)
  string(SUBSTRING "${hex}" ${at} 2000 piece)
  string(REGEX REPLACE "(..)" "\\\\x\\1" piece "${piece}")
  string(APPEND source "    \"${piece}\"\n")
  math(EXPR at "${at} + 2000")
endwhile()
string(APPEND source "  ;\n  return {text, sizeof text - 1};\n}\n\n}  // namespace heddle::testbench\n")
file(WRITE "${OUTPUT}" "${source}")
