// SPDX-License-Identifier: MIT
// What nvcc's code has registered in this process: fat binaries, kernels, variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

/// A fat binary, or PTX that the program has loaded itself. It is handed to the simulator when something in it is first
/// wanted.
struct image {
  std::uint32_t what = 2;                                    // as wire::call::load_image has it
  std::vector<std::pair<const void*, std::uint64_t>> parts;  // in this process
  std::uint32_t module = 0;
  bool loaded = false;
  error_t status = error::none;
  std::string failure;          // what the simulator says against it
  const void* owner = nullptr;  // the context that it goes with
};

struct function_record {
  image* owner = nullptr;
  std::string name;
  bool found = false;
  error_t status = error::none;
  std::uint32_t number = 0;
  wire::function_info info{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters;  // offset, bytes
  int max_dynamic_shared = 0;                                       // 0: as the chip has it
  int carveout = -1;
};

struct variable_record {
  image* owner = nullptr;
  std::string name;
  std::size_t bytes = 0;
  std::uint64_t address = 0;  // 0: not asked for yet
  void** managed = nullptr;   // where the program keeps a managed one's address
};

class registry {
 public:
  static registry& get();
  std::recursive_mutex mutex;

  image* add_image(std::uint32_t what, std::vector<std::pair<const void*, std::uint64_t>> parts);
  void add_function(image* owner, const void* key, const char* name);
  void add_variable(image* owner, const void* key, const char* name, std::size_t bytes, void** managed);

  /// A kernel by the address of its host function, or by the handle that was given for it; null: there is none. Its
  /// module is loaded.
  function_record* function(const void* key);
  /// A kernel of an image by name, not registered by anybody; null: there is none.
  function_record* function(image* owner, const std::string& name, error_t& status);
  variable_record* variable(const void* key);
  /// The variables that programs share with kernels get their addresses.
  error_t place_managed();
  /// Kernels and variables are looked up anew: the device was reset, or this is a new process.
  error_t load(image& i);

  bool has(const image* i);
  std::vector<image*> images_of(const void* owner);
  /// Its kernels are invalid from now on.
  void unload(image* i);
  /// A variable of a loaded image; null address: there is none.
  variable_record variable(image& owner, const std::string& name);
  std::vector<std::string> kernels(image& owner);
  /// The program gets the memory of a variable, too, which the module has declared to be managed.
  error_t share(const variable_record& v);

 private:
  error_t find(function_record& f);
  std::vector<std::unique_ptr<image>> images_;
  std::vector<const image*> unloaded_;
  std::map<const void*, std::unique_ptr<function_record>> functions_;
  std::map<std::pair<image*, std::string>, std::unique_ptr<function_record>> by_name_;
  std::map<const void*, std::unique_ptr<variable_record>> variables_;
  bool managed_placed_ = true;
};

/// Memory at an address that means the same to kernels and to the program.
bool map_here(std::uint64_t address, std::uint64_t bytes);

/// Keeps what cudaGetLastError will say, and gives it back.
error_t noted(error_t e);
extern thread_local error_t last_error;

/// A function of ours that is not there yet: says so and ends the program.
[[noreturn]] void missing(const char* name);

/// Number of a stream by its handle: 0 the default one. `per_thread`: what 0 means in this function.
std::uint32_t stream_number(stream_t s, bool per_thread = false);
inline std::uint32_t event_number(event_t e) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(e) - 0x1000);
}

}  // namespace heddle::cuda

/// What programs see of us.
#define HEDDLE_CUDA extern "C" __attribute__((visibility("default")))
