// SPDX-License-Identifier: MIT
// The driver API: lookup of functions by name.
#include <cstdio>
#include <cstring>

#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/driver/driver.h"
#include "testbench/cuda/driver/driver_table.h"

using namespace heddle::cuda;

namespace heddle::cuda {

entry_point find_entry_point(const char* name, int version, bool per_thread, void*& address) {
  address = nullptr;
  bool known = false;
  const driver_function* best = nullptr;
  for (const driver_function& f : driver_table()) {
    if (std::strcmp(f.name, name) != 0) continue;
    known = true;
    // Functions for per-thread default streams are variants of the others, whichever version introduced them.
    if (f.per_thread && !per_thread) continue;
    if (f.since > version) continue;
    const bool better = best == nullptr || (f.per_thread && !best->per_thread) ||
                        (f.per_thread == best->per_thread && f.since > best->since);
    if (better) best = &f;
  }
  if (best == nullptr) return known ? entry_point::too_new : entry_point::unknown;
  address = best->address;
  return entry_point::found;
}

}  // namespace heddle::cuda

namespace {

// The ids of the tables that a CUDA runtime asks for; they are in every program with a static runtime.
constexpr unsigned char tables_of_runtime[][16] = {
    {0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9},
    {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
    {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}};

// The id of a table that NVIDIA's compiler library asks for and can do without.
constexpr unsigned char table_of_compiler[16] = {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41,
                                                 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28};

constexpr std::uint64_t per_thread_default_stream = 2;  // of the flags

result_t proc_address(const char* name, void** address, int version, std::uint64_t flags, int* status) {
  constexpr int next_release = 14000;
  if (name == nullptr || address == nullptr || version >= next_release || flags > 3) return result::invalid_value;
  const entry_point found = find_entry_point(name, version, (flags & per_thread_default_stream) != 0, *address);
  if (status != nullptr) *status = static_cast<int>(found);  // the values are those of the driver
  // A program that takes the status looks there.
  return found == entry_point::found || status != nullptr ? result::success : result::not_found;
}

error_t runtime_entry(const char* name, void** address, int version, unsigned long long flags, int* status) {
  const error_t e = proc_address(name, address, version, flags, status);
  return e == result::not_found || e == result::success ? error::none : noted(e);
}

}  // namespace

HEDDLE_CUDA result_t cuGetProcAddress(const char* name, void** address, int version, std::uint64_t flags) {
  return proc_address(name, address, version, flags, nullptr);
}
HEDDLE_CUDA result_t cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t flags,
                                         int* status) {
  return proc_address(name, address, version, flags, status);
}

HEDDLE_CUDA result_t cuGetExportTable(const void** table, const void* id) {
  if (table != nullptr) *table = nullptr;
  if (id == nullptr) return result::invalid_value;
  if (std::memcmp(id, table_of_compiler, sizeof table_of_compiler) == 0) return result::not_found;
  static bool warned = false;
  for (const auto& own : tables_of_runtime)
    if (!warned && std::memcmp(id, own, sizeof own) == 0) warned = refuse_hidden_runtime(__builtin_return_address(0));
  if (!warned)
    std::fputs(
        "heddle: the program requests a private table of NVIDIA's driver (cuGetExportTable), which Heddle does not have\n",
        stderr);
  warned = true;
  return result::not_found;
}

HEDDLE_CUDA error_t cudaGetExportTable(const void** table, const void* id) {
  return noted(any_null(table, id) ? error::invalid_value : error_t{cuGetExportTable(table, id)});
}

HEDDLE_CUDA error_t cudaGetDriverEntryPoint(const char* name, void** address, unsigned long long flags, int* status) {
  return runtime_entry(name, address, runtime_version(), flags, status);
}
HEDDLE_CUDA error_t cudaGetDriverEntryPoint_ptsz(const char* name, void** address, unsigned long long flags,
                                                 int* status) {
  return runtime_entry(name, address, runtime_version(), flags != 0 ? flags : per_thread_default_stream, status);
}
HEDDLE_CUDA error_t cudaGetDriverEntryPointByVersion(const char* name, void** address, unsigned version,
                                                     unsigned long long flags, int* status) {
  return runtime_entry(name, address, static_cast<int>(version), flags, status);
}
HEDDLE_CUDA error_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** address, unsigned version,
                                                          unsigned long long flags, int* status) {
  return runtime_entry(name, address, static_cast<int>(version), flags != 0 ? flags : per_thread_default_stream,
                       status);
}
