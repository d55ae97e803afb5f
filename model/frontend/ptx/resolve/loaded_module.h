// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// A variable of module scope (.global or .const) with its place once the module is loaded.
struct module_symbol {
  std::string name;
  state_space space = state_space::none;  // global or constant
  std::uint64_t address = 0;              // global: device address; constant: byte offset in bank 3
  std::uint64_t size = 0;
  bool opaque = false;  // a texture, surface or sampler reference: a handle of 8 bytes, written by the host
};

/// A parsed module placed in device memory: what the driver of a GPU keeps per loaded module.
struct loaded_module {
  std::shared_ptr<const ast_module> ast;
  std::map<std::string, module_symbol> symbols;
  std::uint64_t global_bytes = 0;            // size of the .global image
  std::uint64_t global_base = 0;             // its device address, 256-byte aligned
  std::vector<std::uint8_t> global_image;    // initial contents, addresses relocated
  std::vector<std::uint8_t> constant_image;  // bank 3 initial contents (at most 64 KiB)
  std::uint64_t constant_base =
      0;  // device address of that image: what generic addresses of .const variables are; 0: none
};

/// Bytes of .global variables that the module needs (so that the caller can choose the base address).
std::uint64_t global_bytes(const ast_module& m);

/// What a program sees as the address of function `name` of the module; 0: there is none.
std::uint64_t function_address(const ast_module& m, const std::string& name);

/// Bytes of .const variables that the module needs, 64 KiB at most.
std::uint64_t constant_bytes(const ast_module& m);

/// Whether functions of the module may call malloc: the host then has to give the GPU a heap.
bool calls_malloc(const ast_module& m);

/// Lays out module-scope variables from `global_base` on and builds the initial images. `constant_base` is where the
/// image of the constants lies in device memory; with 0 generic addresses of .const variables are refused. Throws
/// input_error (constants above 64 KiB, an initialiser naming an unknown symbol, texture references …).
loaded_module place(std::shared_ptr<const ast_module> m, std::uint64_t global_base, std::uint64_t constant_base = 0);

/// Names of the kernels (.entry with body) of a module, in order.
std::vector<std::string> kernels(const ast_module& m);

}  // namespace heddle::ptx
