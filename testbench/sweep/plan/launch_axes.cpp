// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/launch_axes.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/suggestion.h"
#include "testbench/job/part_parsers.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

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
  const std::vector<std::string>& modes = preemption_modes();
  const auto found = std::find(modes.begin(), modes.end(), value);
  if (found == modes.end()) wrong(axis, value, join(modes, ", ") + suggestion(value, modes));
  return static_cast<preemption_mode>(found - modes.begin());
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

/// An axis: what a value of it does to a launch, or to a preemption. Both throw input_error for a value that no job can
/// have.
struct launch_axis {
  const char* name;
  bool is_number;
  void (*of_launch)(const std::string& axis, const std::string& value, operation& op);
  void (*of_preemption)(const std::string& axis, const std::string& value, preemption& p);
};

constexpr launch_axis all_axes[] = {
    {"launch.block", false,
     [](const std::string& axis, const std::string& value, operation& op) { set_block(op, dimensions(axis, value)); },
     nullptr},
    {"launch.registers_per_thread", true,
     [](const std::string& axis, const std::string& value, operation& op) {
       op.registers = value == "null" ? 0 : narrow<std::uint32_t>(number(axis, value, 1, 65535));
     },
     nullptr},
    {"launch.shared_bytes", true,
     [](const std::string& axis, const std::string& value, operation& op) {
       op.shared_bytes = narrow<std::uint32_t>(number(axis, value, 0, largest_u32));
     },
     nullptr},
    {"launch.carveout", true,
     [](const std::string& axis, const std::string& value, operation& op) {
       op.carveout = value == "null" ? -1 : narrow<std::int32_t>(number(axis, value, 0, 100));
     },
     nullptr},
    {"launch.priority", true,
     [](const std::string& axis, const std::string& value, operation& op) {
       std::int64_t n = 0;
       if (!parse_signed(value, n) || n < std::numeric_limits<std::int32_t>::min() ||
           n > std::numeric_limits<std::int32_t>::max())
         wrong(axis, value, "a whole number of 32 bits");
       op.priority = narrow<std::int32_t>(n);
     },
     nullptr},
    {"preempt.mode", false, nullptr,
     [](const std::string& axis, const std::string& value, preemption& p) { p.mode = mode_of(axis, value); }},
    {"preempt.at_cycle", true, nullptr,
     [](const std::string& axis, const std::string& value, preemption& p) {
       p.at_cycle = number(axis, value, 0, latest_cycle);
     }},
    {"preempt.resume_after", true, nullptr,
     [](const std::string& axis, const std::string& value, preemption& p) {
       p.resume_after = number(axis, value, 0, latest_cycle);
     }},
};

const launch_axis* find_axis(const std::string& name) {
  for (const launch_axis& axis : all_axes)
    if (name == axis.name) return &axis;
  return nullptr;
}

const launch_axis& axis_named(const std::string& name) {
  const launch_axis* axis = find_axis(name);
  invariant(axis != nullptr, "an axis of launches has a row");
  return *axis;
}

}  // namespace

std::vector<std::string> launch_axes() {
  std::vector<std::string> names;
  for (const launch_axis& axis : all_axes) names.emplace_back(axis.name);
  return names;
}

bool is_launch_axis(const std::string& name) { return find_axis(name) != nullptr; }

bool has_numbers(const std::string& name) { return axis_named(name).is_number; }

void check_launch_value(const std::string& name, const std::string& value) {
  const launch_axis& axis = axis_named(name);
  operation any_launch;
  preemption any_preemption;
  if (axis.of_launch != nullptr) axis.of_launch(name, value, any_launch);
  else axis.of_preemption(name, value, any_preemption);
}

void check_launch_axis(const std::string& name, const job& j) {
  if (axis_named(name).of_preemption != nullptr) {
    if (j.preemptions.empty()) throw input_error(name + ": '" + j.name + "' has no 'preempt' that could be changed");
    return;
  }
  for (const operation& op : j.operations) {
    if (op.recording) throw input_error(name + ": recorded kernels have the launch that they were recorded with");
  }
}

void apply_launch_axis(const std::string& name, const std::string& value, job& j) {
  const launch_axis& axis = axis_named(name);
  if (axis.of_launch != nullptr) {
    each_launch(j.operations, [&](operation& op) { axis.of_launch(name, value, op); });
    return;
  }
  for (preemption& p : j.preemptions) axis.of_preemption(name, value, p);
}

}  // namespace heddle::testbench
