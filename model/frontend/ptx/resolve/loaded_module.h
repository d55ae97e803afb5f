// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// A module-scope variable (.global or .const) with its address after loading.
struct module_symbol {
  std::string name;
  state_space space = state_space::none;  // global or constant
  std::uint64_t address = 0;              // global: device address; constant: byte offset in bank 3
  std::uint64_t size = 0;
  bool opaque = false;  // a texture, surface or sampler reference: an 8-byte handle that the host writes
};

/// A parsed module placed in device memory: the state that the driver keeps for each loaded module.
struct loaded_module {
  std::shared_ptr<const ast_module> ast;
  std::map<std::string, module_symbol> symbols;
  std::uint64_t global_bytes = 0;            // size of the .global image
  std::uint64_t global_base = 0;             // its device address, 256-byte aligned, or as managed variables need it
  std::uint64_t managed_base = 0;            // device address of the managed variables, which are its last ones
  std::uint64_t managed_bytes = 0;           // theirs; 0: there are none
  std::vector<std::uint8_t> global_image;    // initial contents, addresses relocated
  std::vector<std::uint8_t> constant_image;  // bank 3 initial contents (at most 64 KiB)
  std::uint64_t constant_base =
      0;  // device address of that image, used for generic addresses of .const variables; 0: none
};

/// Bytes of the module's .global variables, from which the caller chooses the base address. Managed variables have
/// whole units of so many bytes, aligned as such, since the host maps them; they are the last ones.
struct global_size {
  static constexpr std::uint64_t managed_unit = 65536;
  std::uint64_t all = 0;
  std::uint64_t own = 0;      // of those that are not managed
  std::uint64_t managed = 0;  // whole units
  std::uint64_t managed_used = 0;
};
global_size global_bytes(const ast_module& m);

/// The address of function `name` as seen by a program; 0: no such function.
std::uint64_t function_address(const ast_module& m, const std::string& name);

/// The total size of the module's .const variables, bytes, at most 64 KiB.
std::uint64_t constant_bytes(const ast_module& m);

/// True if functions of the module may call malloc: the host must then provide a heap on the GPU.
bool calls_malloc(const ast_module& m);

/// Places module-scope variables from `global_base` on and builds the initial images. `constant_base` is the device
/// address of the constant image; if it is 0, generic addresses of .const variables are rejected. Throws input_error
/// (constants above 64 KiB, an initialiser naming an unknown symbol, texture references …).
loaded_module place(std::shared_ptr<const ast_module> m, std::uint64_t global_base, std::uint64_t constant_base = 0);

/// Names of the kernels (.entry with body) of a module, in order.
std::vector<std::string> kernels(const ast_module& m);

}  // namespace heddle::ptx
