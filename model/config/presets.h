// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Parameter values by hierarchical name, for platforms with several GPUs or with other IP whose parameters have
/// hierarchical names: `top.first.gpu.l2.hash` is the parameter `l2.hash` of the GPU named `top.first.gpu`. As with
/// CCI's brokers, values are set before their objects exist, and values that were never used can be listed.
class config_presets {
 public:
  /// Takes "top.first.gpu.l2.hash=xor"; the last value of a name wins. Throws input_error for any other form.
  void set(const std::string& text);
  /// Reads an INI file with sections such as [top.first.gpu.l2]. Throws input_error with FILE:LINE:COL.
  void read(const std::string& file);

  /// The configuration of the GPU named `instance`: a shipped one or a file, as in load_config, then all presets for
  /// that instance. Presets win over what `dram.preset` and `dram.standard` determine, before or after them; of these
  /// two the last one holds. Throws input_error naming the preset if its parameter does not exist or its value is not
  /// legal.
  gpu_config config_of(const std::string& instance, const std::string& name_or_file);

  /// Names of presets for instances whose configuration was never requested.
  [[nodiscard]] std::vector<std::string> unused() const;
  /// Throws input_error listing unused(), if there are any. Call it when the platform is built.
  void check_used() const;
  /// Throws input_error for presets of instances that are not the name of a module in this simulation. Call it after
  /// the platform is built and no later than the end of elaboration, in place of check_used(). This also checks the
  /// names passed to config_of against the modules.
  void check_built() const;

 private:
  struct preset {
    std::string instance;
    std::string text;  // as in load_config: SECTION.KEY=VALUE
    std::string file;  // "": set from C++
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool used = false;
  };
  static std::string name_of(const preset& p);
  static void refuse(const std::vector<std::string>& names);

  std::vector<preset> presets_;
};

/// The effective configuration of the GPU named `instance`, in the form that config_presets::read accepts.
std::string to_ini(const gpu_config& config, const std::string& instance);

}  // namespace heddle
