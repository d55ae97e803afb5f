// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>

#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace sass_trace_texts {

using namespace sass_trace_test;

// Three instructions in each version's format: an addition, a load of lanes 0 to 3, the end.
inline std::string lines_of(const std::string& version) {
  const std::string front = version == "1.2" || version == "2" ? "0 0 0 0 " : "";
  const std::string back = version == "5" ? "7 " : version == "5 hopper" ? "7 0 " : version == "6" ? "7 -1 NoVal " : "";
  const std::string loaded = version == "6" ? "0 0 Val 1 3f800000 2 0 -1 " : back;
  return front + "0000 ffffffff 1 R4 IADD3 2 R5 R255 0 " + back + "\n" + front +
         "0010 0000000f 1 R8 LDG.E.64 1 R4 8 1 0x7f4000000100 8 " + loaded + "\n" + front +
         "0020 ffffffff 0 EXIT 0 0 " + back + "\n";
}

inline std::string text_of_version(const std::string& version) {
  const std::string extra = version == "5 hopper" ? "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n" : "";
  return head_of_version(version).text() + thread_block("0,0,0", extra + warp(0, 3, lines_of(version)));
}

}  // namespace sass_trace_texts
}  // namespace heddle::sass_trace
