// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "testbench/advice/time_model.h"

namespace heddle::testbench {

/// Code that few threads of a block go through while the others wait at the barrier behind it, or have ended.
struct serial_section {
  std::size_t branch = 0;        // the step at which the others part
  bool ends_kernel = false;      // and end
  std::size_t barrier = 0;       // the step at which they wait
  std::set<std::size_t> blocks;  // of the code
  double threads = 0;            // that go through it at a time, of a block
  double cycles = 0;             // that it takes once
  double then = 0;               // the same, divided among all threads of the block
  double saved = 0;              // warp-cycles if it was divided so: its own and others' at barriers
  double of_block = 0;           // at the kernel's end: the part of a block's life that it would not live

  std::map<std::string, double> parts;  // as relief::parts
  /// Of warp-cycles at barriers, by line of the source, those that would not be.
  std::map<std::string, double> waits;
};

/// Those whose work can be divided: it goes over many values, none of which says where the next one is.
std::vector<serial_section> serial_sections(const time_model& t);

}  // namespace heddle::testbench
