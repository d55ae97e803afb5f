// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/host/host_driver.h"

namespace heddle::testbench {

/// Throw input_error if a kernel's code is no PTX, as CUDA's compiler finds when a program loads it. Code that the
/// lowering alone does not support concerns only those who launch the kernel.
void check_kernels(host_driver& driver, const std::vector<unsigned>& modules);
/// The same for texts that are not loaded, as the inputs of a link: each may name what another one defines.
void check_texts(const std::vector<module_text>& texts, const gpu_config& config);

/// Throws input_error if two of the texts, which are linked, define the same name, or if a function that is used is
/// defined nowhere.
void check_link(const std::vector<module_text>& texts);

/// Adds what the texts call of CUDA's device runtime and Heddle has.
void add_device_runtime(std::vector<module_text>& texts);

/// Bytes of the constants of a text that the driver has loaded.
std::uint64_t constant_bytes_of(ptx::parsed_modules& loaded, const module_text& text);

/// The compute capability, times ten, of a text's .target; 0: it has none.
unsigned target_of(const std::string& ptx);

}  // namespace heddle::testbench
