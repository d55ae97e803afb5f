// SPDX-License-Identifier: MIT
#pragma once

#include "tests/system/common/ptx_run.h"

namespace ptx_program_texts {

using namespace ptx_runs;

inline std::string bytes_of(const std::string& name, const std::string& text) {
  std::string list;
  for (const char c : text) list += std::to_string(static_cast<int>(c)) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + list + "0};\n";
}

inline const std::string runtime =
    ".extern .func (.param .b32 v) vprintf(.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 v) malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n";

}  // namespace ptx_program_texts
