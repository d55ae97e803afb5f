// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "heddle/frontend/ptx/lower.h"
#include "heddle/isa/program.h"

namespace heddle {

/// A host driver's record of a loaded module.
struct module_record {
  ptx::loaded_module module;
  unsigned handle = 0;
  std::uint64_t constants_address = 0;
  bool allocates = false;  // functions of it may call malloc
  bool meets = false;      // blocks of its grids may wait for each other
  std::map<std::pair<std::string, unsigned>, std::shared_ptr<const isa::program>> programs;
};

}  // namespace heddle
