// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Values of parameters by hierarchical name, for platforms with several GPUs or with other IP whose parameters are
/// named so: `top.first.gpu.l2.hash` is the parameter `l2.hash` of the GPU named `top.first.gpu`. As with CCI's brokers
/// values are set before what they are for exists, and names that nothing has ever asked for can be listed.
class config_presets {
 public:
  /// "top.first.gpu.l2.hash=xor"; the last one of a name holds. Throws input_error for what has not this form.
  void set(const std::string& text);
  /// An INI file with sections such as [top.first.gpu.l2]. Throws input_error with FILE:LINE:COL.
  void read(const std::string& file);

  /// The configuration of the GPU named `instance`: a shipped one or a file, as load_config takes it, then all presets
  /// for that instance. Throws input_error naming the preset for a parameter that there is not, or a value that it
  /// cannot have.
  gpu_config config_of(const std::string& instance, const std::string& name_or_file);

  /// Names of presets for instances that no configuration has been asked for.
  std::vector<std::string> unused() const;
  /// Throws input_error that lists unused(), if there are any: to be called when the platform is built.
  void check_used() const;
  /// Throws input_error for presets of instances whose name no module of this simulation has: to be called when the
  /// platform is built and by the end of elaboration, in place of check_used(). So a name that config_of was asked with
  /// is held against the modules.
  void check_built() const;

 private:
  struct preset {
    std::string instance;
    std::string text;  // as load_config takes it: SECTION.KEY=VALUE
    std::string file;  // "": set from C++
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool used = false;
  };
  static std::string name_of(const preset& p);
  static void refuse(const std::vector<std::string>& names);

  std::vector<preset> presets_;
};

/// The effective configuration of the GPU named `instance`, in the form that config_presets::read takes.
std::string to_ini(const gpu_config& config, const std::string& instance);

}  // namespace heddle
