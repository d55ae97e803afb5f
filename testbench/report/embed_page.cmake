# SPDX-License-Identifier: MIT
# cmake -DPAGE=... -DOUTPUT=... -P embed_page.cmake: writes the page as a C++ source, a string literal a line.
file(READ "${PAGE}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "?" "\\?" text "${text}")   # ??= would be a trigraph
string(REPLACE "\r" "\\r" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
set(source "// SPDX-License-Identifier: MIT\n#include \"testbench/report/page_template.h\"\n\nnamespace heddle::testbench {\n\nstd::string_view page_template() {\n")
string(APPEND source "  static const char text[] =\n    \"${text}\"\n  ;\n  return {text, sizeof text - 1};\n}\n\n}  // namespace heddle::testbench\n")
file(WRITE "${OUTPUT}" "${source}")
