// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/launch_axes.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "heddle/config/ini_reader.h"
#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t latest_cycle = 1'000'000'000'000;  // as in a job file
const std::vector<std::string> modes = {"drain", "switch", "flush", "auto"};

[[noreturn]] void wrong(const std::string& axis, const std::string& value, const std::string& expected) {
  throw input_error(axis + ": got '" + printable(value) + "', expected " + expected);
}

std::uint64_t number(const std::string& axis, const std::string& value, std::uint64_t least, std::uint64_t most) {
  std::uint64_t n = 0;
  if (!parse_unsigned(value, n) || n < least || n > most) {
    wrong(axis, value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return n;
}

// Parses "256" or "16x16" or "8x8x4".
std::vector<std::uint32_t> dimensions(const std::string& axis, const std::string& value) {
  std::vector<std::uint32_t> result;
  for (const std::string& part : split(value, 'x')) {
    std::uint64_t n = 0;
    if (!parse_unsigned(part, n) || n == 0 || n > largest_u32 || result.size() == 3)
      wrong(axis, value, "threads such as 256 or 16x16");
    result.push_back(static_cast<std::uint32_t>(n));
  }
  return result;
}

preemption_mode mode_of(const std::string& axis, const std::string& value) {
  const auto found = std::find(modes.begin(), modes.end(), value);
  if (found == modes.end()) wrong(axis, value, join(modes, ", ") + suggestion(value, modes));
  constexpr preemption_mode values[] = {preemption_mode::drain, preemption_mode::context_switch, preemption_mode::flush,
                                        preemption_mode::automatic};
  return values[found - modes.begin()];
}

void set_block(operation& op, const std::vector<std::uint32_t>& wanted) {
  std::uint32_t block[3] = {op.block[0], op.block[1], op.block[2]};
  if (wanted.size() > 1) {
    for (unsigned d = 0; d < 3; ++d) block[d] = d < wanted.size() ? wanted[d] : 1;
  } else {
    const std::uint64_t rest = std::uint64_t{op.block[1]} * op.block[2];
    if (wanted[0] % rest != 0) {
      refuse(op.where, "launch.block = " + std::to_string(wanted[0]) + " is no multiple of the " +
                           std::to_string(rest) + " threads of this launch's other dimensions");
    }
    block[0] = static_cast<std::uint32_t>(wanted[0] / rest);
  }
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t threads = std::uint64_t{op.grid[d]} * op.block[d];
    const std::uint64_t blocks = (threads + block[d] - 1) / block[d];
    if (blocks > largest_u32)
      refuse(op.where, "launch.block: the grid would have more than " + grouped(largest_u32) + " blocks");
    op.grid[d] = static_cast<std::uint32_t>(blocks);
    op.block[d] = block[d];
  }
}

void each_launch(std::vector<operation>& operations, const std::function<void(operation&)>& f) {
  for (operation& op : operations) {
    if (op.what == operation::kind::kernel) f(op);
    each_launch(op.body, f);
  }
}

}  // namespace

const std::vector<std::string>& launch_axes() {
  static const std::vector<std::string> names = {"launch.block",        "launch.registers_per_thread",
                                                 "launch.shared_bytes", "launch.carveout",
                                                 "launch.priority",     "preempt.mode",
                                                 "preempt.at_cycle",    "preempt.resume_after"};
  return names;
}

bool is_launch_axis(const std::string& name) {
  return std::find(launch_axes().begin(), launch_axes().end(), name) != launch_axes().end();
}

void check_launch_value(const std::string& axis, const std::string& value) {
  if (axis == "launch.block") {
    dimensions(axis, value);
  } else if (axis == "launch.registers_per_thread") {
    if (value != "null") number(axis, value, 1, 65535);
  } else if (axis == "launch.shared_bytes") {
    number(axis, value, 0, largest_u32);
  } else if (axis == "launch.carveout") {
    if (value != "null") number(axis, value, 0, 100);
  } else if (axis == "launch.priority") {
    std::int64_t n = 0;
    if (!parse_signed(value, n) || n != static_cast<std::int32_t>(n)) wrong(axis, value, "a whole number of 32 bits");
  } else if (axis == "preempt.mode") {
    mode_of(axis, value);
  } else {
    number(axis, value, 0, latest_cycle);
  }
}

void check_launch_axis(const std::string& axis, const job& j) {
  if (axis.rfind("preempt.", 0) == 0) {
    if (j.preemptions.empty()) throw input_error(axis + ": '" + j.name + "' has no 'preempt' that could be changed");
    return;
  }
  for (const operation& op : j.operations) {
    if (op.recording) throw input_error(axis + ": recorded kernels have the launch that they were recorded with");
  }
}

void apply_launch_axis(const std::string& axis, const std::string& value, job& j) {
  if (axis.rfind("preempt.", 0) == 0) {
    for (preemption& p : j.preemptions) {
      if (axis == "preempt.mode") p.mode = mode_of(axis, value);
      if (axis == "preempt.at_cycle") p.at_cycle = number(axis, value, 0, latest_cycle);
      if (axis == "preempt.resume_after") p.resume_after = number(axis, value, 0, latest_cycle);
    }
    return;
  }
  each_launch(j.operations, [&](operation& op) {
    if (axis == "launch.block") {
      set_block(op, dimensions(axis, value));
    } else if (axis == "launch.registers_per_thread") {
      op.registers = value == "null" ? 0 : static_cast<std::uint32_t>(number(axis, value, 1, 65535));
    } else if (axis == "launch.shared_bytes") {
      op.shared_bytes = static_cast<std::uint32_t>(number(axis, value, 0, largest_u32));
    } else if (axis == "launch.carveout") {
      op.carveout = value == "null" ? -1 : static_cast<std::int32_t>(number(axis, value, 0, 100));
    } else if (axis == "launch.priority") {
      std::int64_t n = 0;
      parse_signed(value, n);
      op.priority = static_cast<std::int32_t>(n);
    }
  });
}

}  // namespace heddle::testbench
