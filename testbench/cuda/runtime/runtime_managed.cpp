// SPDX-License-Identifier: MIT
// The runtime: advice on managed memory. All of it is checked and kept; none of it says anything to the simulator,
// where managed memory always migrates to its user.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
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

/// What the program has said of a page.
struct advice_t {
  bool read_mostly = false, used_by_device = false, used_by_host = false;
  location_t preferred{location_t::none, unknown}, prefetched{location_t::none, unknown};
  static constexpr int unknown = -2;
};
bool is_same(const location_t& a, const location_t& b) { return a.type == b.type && a.id == b.id; }

/// From each address on, until the next one.
using advice_map = std::map<std::uint64_t, advice_t>;
library_mutex advice_mutex;
advice_map& advised() {
  static auto* all = new advice_map{{0, advice_t{}}};
  return *all;
}
advice_map::iterator advice_from(std::uint64_t address) {
  const auto before = std::prev(advised().upper_bound(address));
  return before->first == address ? before : advised().emplace(address, advice_t{before->second}).first;
}

constexpr std::uint64_t page = 4096;
template <class F>
void for_pages(const void* p, std::size_t bytes, F&& f) {
  const std::uint64_t begin = address_number(p) / page * page,
                      end = (address_number(p) + bytes + page - 1) / page * page;
  const std::lock_guard<std::mutex> lock(advice_mutex);
  const auto last = advice_from(end);
  for (auto k = advice_from(begin); k != last; ++k) f(k->second);
}

bool is_managed(const void* p, std::size_t bytes) {
  const allocation a = device_allocation_of(p);
  return a.type == managed && bytes != 0 && bytes <= a.address + a.bytes - address_number(p);
}

error_t advise(const void* p, std::size_t bytes, int advice, location_t where) {
  constexpr int first = 1, preferred_location = 3, accessed_by = 5, last = 6;
  if (advice < first || advice > last || !where.is_known() || !is_managed(p, bytes)) return error::invalid_value;
  const bool uses_location = advice == preferred_location || advice >= accessed_by;  // the others ignore it
  if (uses_location && where.is_missing_device()) return error::invalid_value;
  for_pages(p, bytes, [&](advice_t& a) {
    const bool sets = advice % 2 != 0;  // the others take it back
    if (advice < preferred_location) a.read_mostly = sets;
    if (advice >= accessed_by) (where.type == location_t::device ? a.used_by_device : a.used_by_host) = sets;
    if (advice == preferred_location || advice == preferred_location + 1)
      a.preferred = sets ? where : advice_t().preferred;
  });
  return error::none;
}

int old_number(const location_t& l) {
  constexpr int host_number = -1;
  return l.type == location_t::none || l.type == location_t::device ? l.id : host_number;
}

/// cudaMemRangeAttribute: of all pages of a range, where they agree.
error_t attribute_of(void* data, std::size_t data_bytes, int attribute, const void* p, std::size_t bytes) {
  enum : int {
    read_mostly = 1,
    preferred,
    accessed_by,
    prefetched,
    preferred_type,
    preferred_id,
    prefetched_type,
    last
  };
  const bool fits =
      attribute == accessed_by ? data_bytes != 0 && data_bytes % sizeof(int) == 0 : data_bytes == sizeof(int);
  if (data == nullptr || !fits || attribute < read_mostly || attribute > last || !is_managed(p, bytes))
    return error::invalid_value;
  std::vector<advice_t> all;
  for_pages(p, bytes, [&all](const advice_t& a) { all.push_back(a); });
  advice_t a = all.front();
  for (const advice_t& other : all) {
    a.read_mostly &= other.read_mostly;
    a.used_by_device &= other.used_by_device;
    a.used_by_host &= other.used_by_host;
    if (!is_same(a.preferred, other.preferred)) a.preferred = advice_t().preferred;
    if (!is_same(a.prefetched, other.prefetched)) a.prefetched = advice_t().prefetched;
  }
  std::vector<int> users(std::max<std::size_t>(data_bytes / sizeof(int), 2), advice_t::unknown);
  auto next = users.begin();
  if (a.used_by_device) *next++ = 0;
  if (a.used_by_host) *next++ = -1;
  const int values[] = {
      a.read_mostly,     old_number(a.preferred), 0, old_number(a.prefetched), a.preferred.type, a.preferred.id,
      a.prefetched.type, a.prefetched.id};
  std::memcpy(data, attribute == accessed_by ? users.data() : &values[attribute - read_mostly], data_bytes);
  return error::none;
}

error_t prefetch(const void* p, std::size_t bytes, location_t where, unsigned flags, std::uint32_t stream) {
  if (!is_stream(stream)) return error::invalid_handle;
  if (flags != 0 || !where.is_known()) return error::invalid_value;
  if (where.is_missing_device()) return error::invalid_device;
  if (!is_managed(p, bytes)) return error::invalid_value;
  if (const error_t e = refused_in(stream); e != error::none) return e;
  for_pages(p, bytes, [&](advice_t& a) { a.prefetched = where; });
  return error::none;
}

struct range_batch {
  void* const* at;
  const std::size_t* bytes;
  std::size_t count;
};
error_t discard(const range_batch& r, std::uint32_t stream) {
  if (any_null(r.at, r.bytes) || r.count == 0) return error::invalid_value;
  if (!is_stream(stream)) return error::invalid_handle;
  for (std::size_t k = 0; k < r.count; ++k)
    if (!is_managed(r.at[k], r.bytes[k])) return error::invalid_value;
  return refused_in(stream);
}
/// Each location is that of the ranges from one on.
error_t prefetch(const range_batch& r, const location_t* where, const std::size_t* first_ranges,
                 std::size_t where_count, std::uint32_t stream) {
  if (any_null(r.at, r.bytes, where, first_ranges) || r.count == 0 || where_count == 0 || where_count > r.count ||
      first_ranges[0] != 0)
    return error::invalid_value;
  for (std::size_t k = 0, place = 0; k < r.count; ++k) {
    while (place + 1 < where_count && first_ranges[place + 1] <= k) ++place;
    if (const error_t e = prefetch(r.at[k], r.bytes[k], where[place], 0, stream); e != error::none) return e;
  }
  return error::none;
}

error_t attach(std::uint32_t stream, const void* p, std::size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, host = 2, single = 4;
  if (!is_stream(stream)) return error::invalid_handle;
  if (flags != global && flags != host && (flags != single || stream == 0)) return error::invalid_value;
  if (const error_t e = refused_in(stream); e != error::none) return e;
  const allocation a = device_allocation_of(p);
  const bool is_whole = a.type == managed && address_number(p) == a.address && (bytes == 0 || bytes == a.bytes);
  return is_whole ? error::none : error::invalid_value;
}

}  // namespace

void heddle::cuda::forget_advice(const allocation& was) {
  if (was.type == managed) for_pages(pointer_at(was.address), was.bytes, [](advice_t& a) { a = advice_t(); });
}

HEDDLE_CUDA error_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute, const void* p,
                                             std::size_t bytes) {
  return noted(attribute_of(data, data_bytes, attribute, p, bytes));
}
HEDDLE_CUDA error_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, const int* attributes,
                                              std::size_t count, const void* p, std::size_t bytes) {
  if (any_null(data, data_bytes, attributes) || count == 0) return noted(error::invalid_value);
  for (std::size_t k = 0; k < count; ++k)
    if (const error_t e = attribute_of(data[k], data_bytes[k], attributes[k], p, bytes); e != error::none)
      return noted(e);
  return noted(error::none);
}
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
HEDDLE_BOTH(cudaMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync_ptsz,
            (void* const* at, const std::size_t* bytes, std::size_t count, const location_t* where,
             const std::size_t* first_ranges, std::size_t where_count, unsigned long long flags, stream_t s),
            return noted(flags != 0 ? error::invalid_value
                                    : prefetch({at, bytes, count}, where, first_ranges, where_count,
                                               stream_number(s, per_thread)));)
/// What is discarded may have any value, the one before among them.
HEDDLE_BOTH(cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz,
            (void* const* at, const std::size_t* bytes, std::size_t count, unsigned long long flags, stream_t s),
            return noted(flags != 0 ? error::invalid_value
                                    : discard({at, bytes, count}, stream_number(s, per_thread)));)
HEDDLE_BOTH(cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz,
            (void* const* at, const std::size_t* bytes, std::size_t count, const location_t* where,
             const std::size_t* first_ranges, std::size_t where_count, unsigned long long flags, stream_t s),
            return noted(flags != 0 ? error::invalid_value
                                    : prefetch({at, bytes, count}, where, first_ranges, where_count,
                                               stream_number(s, per_thread)));)
HEDDLE_BOTH(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz,
            (stream_t s, void* p, std::size_t bytes, unsigned flags),
            return noted(attach(stream_number(s, per_thread), p, bytes, flags));)
