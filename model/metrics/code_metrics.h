// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/isa/flops.h"
#include "heddle/metrics/run_metrics.h"

namespace heddle {

struct decoded_instruction;
struct instruction_profile;
struct launch_code;
struct resident_launch;

/// Bytes that the lanes of an instruction asked for; 0 for a bulk copy, whose size is in registers.
std::uint64_t requested_bytes(const decoded_instruction& d, const instruction_profile& counts);

/// Machine programs as text, each made once.
class program_texts {
 public:
  struct instruction {
    std::string text;
    isa::flops flops;
  };
  const std::vector<instruction>& of(const isa::program& p);

 private:
  std::map<const isa::program*, std::vector<instruction>> known_;
};

/// Fills in a kernel's `code` and `flops` from what its instructions have counted. `joules`: of each instruction; empty
/// if they are not known.
void fill_code(kernel_metrics& k, const resident_launch& l, const launch_code& code, const std::vector<double>& joules,
               program_texts& texts);

}  // namespace heddle
