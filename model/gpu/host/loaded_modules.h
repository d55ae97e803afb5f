// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The modules that a host has loaded, and the programs of their kernels, which are lowered when they are first
/// launched. Programs lie in code memory one after another, each on its own line.
class loaded_modules {
 public:
  explicit loaded_modules(const gpu_config& config) : config_(config) {}

  /// The PTX modules that are in use.
  ptx::parsed_modules& parsed() { return parsed_; }
  /// Adds a module whose variables begin at these device addresses; returns its number. Its code lies in the memory of
  /// `partition` of a divided GPU, from 1 on; 0: of none. Throws input_error.
  std::uint64_t add(const std::string& texts, const std::string& names, std::uint64_t globals_address,
                    std::uint64_t constants_address, unsigned partition = 0);
  /// The program of a kernel. Throws input_error.
  std::shared_ptr<const decoded_program> program(std::uint32_t module, const std::string& kernel,
                                                 std::uint32_t max_registers);
  /// The program of a recorded kernel. Launches of one recording share it in the instruction caches.
  std::shared_ptr<const decoded_program> recorded(const std::shared_ptr<const isa::program>& program);
  /// Forgets all modules and programs.
  void clear() {
    modules_.clear();
    recorded_.clear();
    code_bytes_ = {};
  }
  /// What the host has written to the variables of the loaded modules.
  void exchange(state_image& image);
  /// Device address and size of a module's constants.
  [[nodiscard]] std::pair<std::uint64_t, std::size_t> constants(std::uint32_t module) const;
  /// The host has written device memory: the modules' variables keep their values.
  void written(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// A byte of a variable as the host has written it; null if there is no variable.
  const std::uint8_t* variable_byte(std::uint64_t address);

 private:
  struct loaded {
    ptx::loaded_module module;
    std::uint64_t constants_address = 0;
    unsigned partition = 0;
    std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<const decoded_program>> programs;
    /// Its variables in device memory: start address and values written by the host.
    std::array<std::pair<std::uint64_t, std::vector<std::uint8_t>*>, 2> images() {
      return {{{module.global_base, &module.global_image}, {constants_address, &module.constant_image}}};
    }
  };
  std::shared_ptr<const decoded_program> place_code(std::shared_ptr<const isa::program> program, unsigned partition);

  const gpu_config& config_;
  std::vector<loaded> modules_;
  ptx::parsed_modules parsed_;
  std::map<const isa::program*, std::shared_ptr<const decoded_program>> recorded_;
  std::array<std::uint64_t, most_partitions + 1> code_bytes_{};  // by partition
};

}  // namespace heddle
