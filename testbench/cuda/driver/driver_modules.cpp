// SPDX-License-Identifier: MIT
// The driver API: modules and libraries, which are equivalent here, and the PTX linker.
#include "testbench/cuda/driver/driver_modules.h"
#include "testbench/cuda/core/client.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/driver/driver.h"
#include "testbench/cuda/driver/driver_calls.h"
#include "testbench/cuda/driver/driver_image.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// A link in progress.
struct link_state {
  link_state(unsigned count, const int* names, void** values) : options(count, names, values) { options.finish(); }
  jit_options options;
  std::vector<std::string> texts;
  std::string image;
  result_t failed = result::success;  // of an input
  bool complete = false;
};

library_mutex links_mutex;
/// Links that are not destroyed.
std::set<link_state*>& links() {
  static auto* all = new std::set<link_state*>;
  return *all;
}
bool is_link(link_state* s) {
  const std::lock_guard<std::mutex> hold(links_mutex);
  return links().count(s) != 0;
}

template <class F>
result_t loaded(image** to, F&& load) {
  if (to == nullptr) return result::invalid_value;
  result_t r = ready();
  if (r != result::success) return r;
  image* i = nullptr;
  const error_t before = last_error;
  r = load(i);
  last_error = before;
  if (r == result::success) *to = i;
  return r;
}

result_t load_data(image** to, const void* data, unsigned count, const int* names, void** values, const char* caller) {
  constexpr int least_option = 0, most_option = 63;
  if (count != 0 && any_null(names, values)) return result::invalid_value;
  for (unsigned k = 0; k < count; ++k)
    if (names[k] < least_option || names[k] > most_option) return result::invalid_value;
  return loaded(to, [&](image*& i) {
    jit_options options(count, names, values);
    const result_t r = load_image(data, caller, options, i);
    options.finish();
    return r;
  });
}

result_t unload(image* i) {
  return driven_release([&] {
    if (!registry::get().has(i)) return error::invalid_handle;
    registry::get().unload(i);
    return error::none;
  });
}

result_t get_function(void** function, image* i, const char* name) {
  return driven([&] {
    if (function == nullptr || name == nullptr || *name == '\0') return error::invalid_value;
    if (!registry::get().has(i)) return error::invalid_handle;
    error_t status = error::none;
    if (function_record* f = registry::get().function(i, name, status)) *function = f;
    return status;
  });
}

result_t get_global(address_t* address, std::size_t* bytes, image* i, const char* name) {
  return driven([&] {
    if (name == nullptr || (address == nullptr && bytes == nullptr)) return error::invalid_value;
    if (!registry::get().has(i)) return error::invalid_handle;
    const variable_record v = registry::get().variable(*i, name);
    if (v.address == 0) {
      const std::vector<std::string> kernels = registry::get().kernels(*i);
      const bool is_kernel = std::find(kernels.begin(), kernels.end(), name) != kernels.end();
      return is_kernel ? error::invalid_value : error::not_found;
    }
    if (address != nullptr) *address = v.address;
    if (bytes != nullptr) *bytes = v.bytes;
    return error::none;
  });
}

result_t count_kernels(unsigned* count, image* i) {
  return driven([&] {
    if (!registry::get().has(i)) return error::invalid_handle;
    return put_result(count, static_cast<unsigned>(registry::get().kernels(*i).size()));
  });
}

result_t list_kernels(void** functions, unsigned most, image* i) {
  return driven([&] {
    if (!registry::get().has(i)) return error::invalid_handle;
    if (functions == nullptr) return error::invalid_value;
    unsigned at = 0;
    for (const std::string& name : registry::get().kernels(*i)) {
      error_t status = error::none;
      if (at == most) break;
      functions[at++] = registry::get().function(i, name, status);
      if (status != error::none) return status;
    }
    return error::none;
  });
}

enum input : int { cubin, ptx, fat_binary, object, library, nvvm };

/// The device runtime is part of the simulator, with or without a toolkit's file; missing functions are reported when
/// the module is loaded.
bool is_device_runtime(int type, const std::string& name) {
  return type == library && name.find("cudadevrt") != std::string::npos;
}

result_t add_input(link_state* s, int type, const char* data, std::size_t bytes, const char* name) {
  if (!is_link(s)) return result::invalid_handle;
  if (data == nullptr || bytes == 0 || type < cubin || type > nvvm) return result::invalid_value;
  if (type == ptx) {
    std::string text(data, ::strnlen(data, bytes));
    const result_t r = check_ptx(text, s->options);
    if (r == result::success) s->texts.push_back(std::move(text));
    // A text that ends before it tells its target is no source.
    const bool is_source = text.find(".target") != std::string::npos;
    if (r != result::success) s->failed = is_source ? r : result::invalid_source;
    s->options.finish();
    return s->failed;
  }
  const std::string called = name != nullptr ? name : "input";
  if (is_device_runtime(type, called)) return result::success;
  const std::string why = "the program links '" + called + "', which is not PTX; Heddle links PTX alone";
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: %s\n", why.c_str());
  s->options.mistake(why + "\n");
  s->options.finish();
  return s->failed = result::no_binary_for_gpu;
}

result_t create_link(unsigned count, const int* names, void** values, link_state** to) {
  return driven([&] {
    if (to == nullptr) return error::invalid_value;
    *to = new link_state(count, names, values);
    const std::lock_guard<std::mutex> hold(links_mutex);
    links().insert(*to);
    return error::none;
  });
}

result_t add_file(link_state* s, int type, const char* path) {
  return driven([&] {
    if (!is_link(s)) return error::invalid_handle;
    if (path != nullptr && is_device_runtime(type, path)) return error::none;
    std::string bytes;
    if (const result_t r = read_file(path, bytes); r != result::success) return error_t{r};
    return error_t{add_input(s, type, bytes.data(), bytes.size(), path)};
  });
}

}  // namespace

namespace heddle::cuda {

void unload_of(const void* owner) {
  for (image* i : registry::get().images_of(owner)) registry::get().unload(i);
}

}  // namespace heddle::cuda

HEDDLE_CUDA result_t cuModuleLoad(image** m, const char* path) {
  return loaded(m, [&](image*& i) {
    jit_options none(0, nullptr, nullptr);
    return load_file(path, "cuModuleLoad", none, i);
  });
}
HEDDLE_CUDA result_t cuModuleLoadData(image** m, const void* data) {
  return load_data(m, data, 0, nullptr, nullptr, "cuModuleLoadData");
}
HEDDLE_CUDA result_t cuModuleLoadDataEx(image** m, const void* data, unsigned count, const int* names, void** values) {
  return load_data(m, data, count, names, values, "cuModuleLoadDataEx");
}
HEDDLE_CUDA result_t cuModuleLoadFatBinary(image** m, const void* data) {
  return load_data(m, data, 0, nullptr, nullptr, "cuModuleLoadFatBinary");
}
HEDDLE_CUDA result_t cuModuleUnload(image* m) { return unload(m); }
HEDDLE_CUDA result_t cuModuleGetFunction(void** f, image* m, const char* name) { return get_function(f, m, name); }
HEDDLE_CUDA result_t cuModuleGetGlobal_v2(address_t* a, std::size_t* bytes, image* m, const char* name) {
  return get_global(a, bytes, m, name);
}
HEDDLE_CUDA result_t cuModuleGetFunctionCount(unsigned* count, image* m) { return count_kernels(count, m); }
HEDDLE_CUDA result_t cuModuleEnumerateFunctions(void** functions, unsigned most, image* m) {
  return list_kernels(functions, most, m);
}
HEDDLE_CUDA result_t cuModuleGetLoadingMode(int* mode) {
  if (!driver_is_initialized()) return result::not_initialized;
  if (mode == nullptr) return result::invalid_value;
  *mode = 1;  // eager loading
  return result::success;
}

HEDDLE_CUDA result_t cuLibraryLoadData(image** l, const void* data, const int* names, void** values, unsigned count,
                                       const int*, void**, unsigned) {
  return load_data(l, data, count, names, values, "cuLibraryLoadData");
}
HEDDLE_CUDA result_t cuLibraryLoadFromFile(image** l, const char* path, const int* names, void** values, unsigned count,
                                           const int*, void**, unsigned) {
  return loaded(l, [&](image*& i) {
    jit_options options(count, names, values);
    const result_t r = load_file(path, "cuLibraryLoadFromFile", options, i);
    options.finish();
    return r;
  });
}
HEDDLE_CUDA result_t cuLibraryUnload(image* l) { return unload(l); }
HEDDLE_CUDA result_t cuLibraryGetKernel(void** kernel, image* l, const char* name) {
  return get_function(kernel, l, name);
}
HEDDLE_CUDA result_t cuLibraryGetKernelCount(unsigned* count, image* l) { return count_kernels(count, l); }
HEDDLE_CUDA result_t cuLibraryEnumerateKernels(void** kernels, unsigned most, image* l) {
  return list_kernels(kernels, most, l);
}
HEDDLE_CUDA result_t cuLibraryGetModule(image** m, image* l) {
  return driven([&] { return registry::get().has(l) ? put_result(m, l) : error::invalid_handle; });
}
HEDDLE_CUDA result_t cuLibraryGetGlobal(address_t* a, std::size_t* bytes, image* l, const char* name) {
  return get_global(a, bytes, l, name);
}

HEDDLE_CUDA result_t cuLibraryGetManaged(address_t* a, std::size_t* bytes, image* l, const char* name) {
  const result_t r = get_global(a, bytes, l, name);
  if (r != result::success || a == nullptr || allocation_of(pointer_of(*a)).type == managed) return r;
  return result::not_found;
}

HEDDLE_CUDA result_t cuLinkCreate(unsigned count, const int* names, void** values, link_state** s) {
  return create_link(count, names, values, s);
}
HEDDLE_CUDA result_t cuLinkCreate_v2(unsigned count, const int* names, void** values, link_state** s) {
  return create_link(count, names, values, s);
}
HEDDLE_CUDA result_t cuLinkAddData(link_state* s, int type, void* data, std::size_t bytes, const char* name, unsigned,
                                   const int*, void**) {
  return driven([&] { return error_t{add_input(s, type, static_cast<const char*>(data), bytes, name)}; });
}
HEDDLE_CUDA result_t cuLinkAddData_v2(link_state* s, int type, void* data, std::size_t bytes, const char* name,
                                      unsigned count, const int* names, void** values) {
  return cuLinkAddData(s, type, data, bytes, name, count, names, values);
}
HEDDLE_CUDA result_t cuLinkAddFile(link_state* s, int type, const char* path, unsigned, const int*, void**) {
  return add_file(s, type, path);
}
HEDDLE_CUDA result_t cuLinkAddFile_v2(link_state* s, int type, const char* path, unsigned, const int*, void**) {
  return add_file(s, type, path);
}
/// The link object owns the image until it is destroyed.
HEDDLE_CUDA result_t cuLinkComplete(link_state* s, void** data, std::size_t* bytes) {
  return driven([&] {
    if (!is_link(s)) return error::invalid_handle;
    if (s->complete) return error::invalid_handle;
    if (s->failed == result::success) s->failed = check_link(s->texts, s->options);
    s->options.finish();
    if (s->failed != result::success) return error_t{s->failed};
    s->complete = true;
    s->image = linked_image(s->texts, s->options);
    s->options.finish();
    if (data != nullptr) *data = s->image.data();
    if (bytes != nullptr) *bytes = s->image.size();
    return error::none;
  });
}
HEDDLE_CUDA result_t cuLinkDestroy(link_state* s) {
  return driven([&] {
    const std::lock_guard<std::mutex> hold(links_mutex);
    if (links().erase(s) == 0) return error::invalid_handle;
    delete s;
    return error::none;
  });
}
