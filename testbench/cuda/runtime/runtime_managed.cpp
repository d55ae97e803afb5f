// SPDX-License-Identifier: MIT
// The runtime: advice on managed memory. All of it is checked; none of it says anything to the simulator, where managed
// memory always migrates to its user.
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// cudaMemLocation.
struct location_t {
  enum : int { none, device, host, host_numa, host_numa_current };
  int type, id;
  [[nodiscard]] bool is_known() const { return type >= device && type <= host_numa_current; }
  [[nodiscard]] bool is_missing_device() const { return type == device && id != 0; }
};

/// Before CUDA 13 a number in the same register: a device, or -1 for the host.
location_t location_of_number(location_t in_register) {
  const int number = in_register.type;
  return number == -1 ? location_t{location_t::host, 0} : location_t{location_t::device, number};
}
bool has_locations() { return runtime_version() >= 13000; }

bool is_managed(const void* p, std::size_t bytes) {
  const allocation a = device_allocation_of(p);
  return a.type == managed && bytes != 0 && bytes <= a.address + a.bytes - address_number(p);
}

error_t advise(const void* p, std::size_t bytes, int advice, location_t where) {
  constexpr int first = 1, preferred_location = 3, accessed_by = 5, last = 6;
  if (advice < first || advice > last || !where.is_known() || !is_managed(p, bytes)) return error::invalid_value;
  const bool uses_location = advice == preferred_location || advice >= accessed_by;  // the others ignore it
  return uses_location && where.is_missing_device() ? error::invalid_value : error::none;
}

error_t prefetch(const void* p, std::size_t bytes, location_t where, unsigned flags, std::uint32_t stream) {
  if (!is_stream(stream)) return error::invalid_handle;
  if (flags != 0 || !where.is_known()) return error::invalid_value;
  if (where.is_missing_device()) return error::invalid_device;
  return is_managed(p, bytes) ? error::none : error::invalid_value;
}

error_t attach(std::uint32_t stream, const void* p, std::size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2, single = 4;
  if (!is_stream(stream)) return error::invalid_handle;
  if (flags != global && flags != host && (flags != single || stream == 0)) return error::invalid_value;
  const allocation a = device_allocation_of(p);
  const bool is_whole = a.type == managed && address_number(p) == a.address && (bytes == 0 || bytes == a.bytes);
  return is_whole ? error::none : error::invalid_value;
}

}  // namespace

HEDDLE_CUDA error_t cudaMemAdvise(const void* p, std::size_t bytes, int advice, location_t where) {
  return noted(advise(p, bytes, advice, has_locations() ? where : location_of_number(where)));
}
HEDDLE_CUDA error_t cudaMemAdvise_v2(const void* p, std::size_t bytes, int advice, location_t where) {
  return noted(advise(p, bytes, advice, where));
}
/// From CUDA 13 on as cudaMemPrefetchAsync_v2; before, the stream stands where the flags are.
HEDDLE_BOTH(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz,
            (const void* p, std::size_t bytes, location_t where, std::uintptr_t flags, stream_t s), {
              if (!has_locations())
                return noted(prefetch(p, bytes, location_of_number(where), 0,
                                      stream_number(reinterpret_cast<stream_t>(flags), per_thread)));
              return noted(prefetch(p, bytes, where, static_cast<unsigned>(flags), stream_number(s, per_thread)));
            })
HEDDLE_BOTH(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz,
            (const void* p, std::size_t bytes, location_t where, unsigned flags, stream_t s),
            return noted(prefetch(p, bytes, where, flags, stream_number(s, per_thread)));)
HEDDLE_BOTH(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz,
            (stream_t s, void* p, std::size_t bytes, unsigned flags),
            return noted(attach(stream_number(s, per_thread), p, bytes, flags));)
