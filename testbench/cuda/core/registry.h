// SPDX-License-Identifier: MIT
// Registrations by nvcc's code in this process: fat binaries, kernels, variables.
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

/// A fat binary, or PTX that the program has loaded itself. It is passed to the simulator when one of its parts is
/// first needed.
struct image {
  std::uint32_t what = 2;                                    // as for wire::call::load_image
  std::vector<std::pair<const void*, std::uint64_t>> parts;  // addresses in this process, with sizes
  std::uint32_t module = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> managed;  // addresses and bytes of its managed variables
  bool loaded = false;
  bool has_known_variables = false;  // their addresses
  error_t status = error::none;
  std::string failure;          // the simulator's message if loading failed
  const void* owner = nullptr;  // the context with which it is unloaded
};

struct function_record {
  image* owner = nullptr;
  std::string name;
  bool found = false;
  error_t status = error::none;
  std::uint32_t number = 0;
  wire::function_info info{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters;  // offset, bytes
  int max_dynamic_shared = 0;                                       // 0: the chip's default
  int carveout = -1;
  unsigned cluster[3] = {0, 0, 0};  // that the program requires of launches; 0: none
  bool non_portable_cluster = false;
  int cluster_policy = 0;
};

struct variable_record {
  image* owner = nullptr;
  std::string name;
  std::size_t bytes = 0;
  std::uint64_t address = 0;  // 0: not yet known
  void** managed = nullptr;   // location of the pointer through which the program accesses a managed variable
};

class registry {
 public:
  static registry& get();
  library_lock<std::recursive_mutex> mutex;

  image* add_image(std::uint32_t what, std::vector<std::pair<const void*, std::uint64_t>> parts);
  void add_function(image* owner, const void* key, const char* name);
  void add_variable(image* owner, const void* key, const char* name, std::size_t bytes, void** managed);

  /// The kernel with this address of its host function, or with this handle; null: none. Its module is loaded.
  function_record* function(const void* key);
  /// A kernel of an image by name, which need not be registered; null: none.
  function_record* function(image* owner, const std::string& name, error_t& status);
  variable_record* variable(const void* key);
  /// The library with these variables is closed.
  void forget_variables(const image* owner);
  /// Learns the addresses of all variables of loaded modules, also of those that the program cannot name.
  void find_variables();
  /// Assigns addresses to variables shared between program and kernels.
  error_t place_managed();
  error_t load(image& i);
  /// After a device reset: registered modules are loaded again when they are needed.
  void forget_modules();

  bool has(const image* i);
  std::vector<image*> images_of(const void* owner);
  /// Invalidates its kernels.
  void unload(image* i);
  /// A variable of a loaded image; null address: none.
  variable_record variable(image& owner, const std::string& name);
  std::vector<std::string> kernels(image& owner) { return names(owner).first; }

 private:
  error_t find(function_record& f);
  void release_managed(image& i);
  /// Of its kernels, and of its variables.
  std::pair<std::vector<std::string>, std::vector<std::string>> names(image& owner);
  std::vector<std::unique_ptr<image>> images_;
  std::vector<const image*> unloaded_;
  std::map<const void*, std::unique_ptr<function_record>> functions_;
  std::map<std::pair<image*, std::string>, std::unique_ptr<function_record>> by_name_;
  std::map<const void*, std::unique_ptr<variable_record>> variables_;
  bool managed_placed_ = true;
};

/// Records the error for cudaGetLastError and returns it. After a failure of the GPU it is that: functions that use the
/// context return noted(error::none), those that only ask for the device's properties return error::none.
error_t noted(error_t e);
/// The same for calls whose handle has been lost with the GPU.
error_t noted_lost_handle();
extern thread_local error_t last_error;

/// True if one of the pointers to arguments and results is null.
template <class... Pointer>
bool any_null(Pointer... all) {
  return ((all == nullptr) || ...);
}
/// Writes a result through the program's pointer; an error if that is null.
template <class T, class V>
error_t put_result(T* to, const V& value) {
  if (to == nullptr || in_host_function) return noted(error::invalid_value);
  *to = value;
  return error::none;
}

/// Reports a function that is not implemented and ends the program.
[[noreturn]] void missing(const char* name);

/// The number of a stream; 0 is the default stream. `per_thread`: the default stream in this function is the thread's
/// own.
std::uint32_t stream_number(stream_t s, bool per_thread = false);
/// The number in a stream's or event's handle; one that nothing has: the handle is none.
inline std::uint32_t number_in(void* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle) - 0x1000;
  return number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : UINT32_MAX;
}
inline std::uint32_t event_number(event_t e) { return number_in(e); }

}  // namespace heddle::cuda

/// Exported functions.
#define HEDDLE_CUDA extern "C" __attribute__((visibility("default")))
