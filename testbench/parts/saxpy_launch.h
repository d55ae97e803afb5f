// SPDX-License-Identifier: MIT
#pragma once

#include <heddle/frontend/ptx/lower.h>
#include <heddle/sub_partition/dependence/decode.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace parts {

constexpr std::uint64_t x_array = 0x1000'0000;
constexpr std::uint64_t y_array = 0x1001'0000;

/// The resident launch that a host interface creates from a launch descriptor: the lowered kernel, its geometry, its
/// constant banks. It computes y = a x + y for n elements, with the arrays at x_array and y_array.
inline std::shared_ptr<heddle::resident_launch> saxpy_launch(const heddle::gpu_config& config, const std::string& ptx,
                                                             std::uint32_t blocks, std::uint32_t threads,
                                                             std::uint32_t n, float a) {
  const auto module = heddle::ptx::place(heddle::ptx::parse(ptx, "saxpy.ptx"), 0);
  auto launch = std::make_shared<heddle::resident_launch>();
  launch->program = heddle::ptx::lower(module, "saxpy", config, 0);
  launch->decoded = heddle::decode(launch->program, config, 0);
  launch->grid = {blocks, 1, 1};
  launch->block = {threads, 1, 1};
  launch->sm_count = config.gpu.sm_count;
  launch->warps_per_sm = config.sm.max_warps;
  auto& bank = launch->banks[0];
  bank.resize(heddle::isa::bank0::parameters + launch->program->parameter_bytes);
  const auto put = [&](std::uint32_t at, const auto& value) { std::memcpy(&bank[at], &value, sizeof value); };
  put(heddle::isa::bank0::ntid, launch->block);
  put(heddle::isa::bank0::nctaid, launch->grid);
  put(heddle::isa::bank0::parameters, n);
  put(heddle::isa::bank0::parameters + 4, a);
  put(heddle::isa::bank0::parameters + 8, x_array);
  put(heddle::isa::bank0::parameters + 16, y_array);
  launch->banks[2] = launch->program->bank2;
  return launch;
}

}  // namespace parts
