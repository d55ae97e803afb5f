// SPDX-License-Identifier: MIT
// The driver API: virtual memory. Addresses are reserved, memory is made, and memory is mapped at addresses. What is
// mapped where is known here; the simulator has the addresses, counts the memory and lets kernels access it. One memory
// is mapped at one place at a time, and is the same bytes when it is mapped elsewhere later.
#include <cstdio>
#include <map>
#include <mutex>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

using wire::virtual_step;

constexpr std::uint64_t granularity = std::uint64_t{2} << 20;
constexpr int pinned = 1, on_device = 1, by_descriptor = 1;  // of CUmemAllocationType and others
constexpr unsigned read_access = 1, all_access = 3;

struct location {
  int type, id;
};
struct memory_properties {  // CUmemAllocationProp
  int type, handle_types;
  location place;
  void* windows;
  unsigned char compression, remote;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(memory_properties) == 32, "as CUDA has it");
struct access_description {
  location place;
  unsigned flags;
};

struct physical_memory {
  std::uint64_t bytes = 0;
  unsigned references = 1;
  bool mapped = false;
  memory_properties properties{};
};
struct mapping {
  std::uint64_t bytes = 0, handle = 0;
  unsigned access = 0;
};

/// What the program has reserved, made and mapped.
struct virtual_memory {
  library_mutex mutex;
  std::map<address_t, std::uint64_t> reservations;    // bytes
  std::map<std::uint64_t, physical_memory> memories;  // by handle
  std::map<address_t, mapping> mappings;
  std::map<address_t, std::uint64_t> noted;  // mapped addresses without gaps, as the other functions know them
  std::uint64_t next = 1;
};
virtual_memory& all() {
  static auto* memory = new virtual_memory;
  return *memory;
}

reply ask(virtual_step what, address_t address, std::uint64_t bytes, std::uint64_t number) {
  return call(wire::call::virtual_memory, wire::writer().put(wire::virtual_request{what, 0, address, bytes, number}));
}

bool is_whole(std::uint64_t n) { return n % granularity == 0; }

error_t check(const memory_properties* p) {
  if (p == nullptr || p->type != pinned) return error::invalid_value;
  if (p->place.type != on_device) return error::not_supported;
  if (p->place.id != 0) return result::invalid_device;
  return (p->handle_types & ~by_descriptor) != 0 ? error::not_supported : error::none;
}

template <class Map>
typename Map::iterator holder(Map& map, address_t a) {
  auto found = map.upper_bound(a);
  if (found == map.begin()) return map.end();
  --found;
  return a - found->first < found->second.bytes ? found : map.end();
}

/// True if mappings fill the range, and none leaves it.
bool is_mapped(const virtual_memory& m, address_t begin, std::uint64_t bytes) {
  address_t at = begin;
  for (auto k = m.mappings.find(begin); k != m.mappings.end() && k->first == at && at - begin < bytes; ++k)
    at += k->second.bytes;
  return at - begin == bytes && bytes != 0;
}

/// A copy may go through several mappings side by side.
void note_again(virtual_memory& m) {
  for (const auto& [address, bytes] : m.noted) drop_allocation(address);
  m.noted.clear();
  address_t end = 0, begin = 0;
  for (const auto& [address, x] : m.mappings) {
    if (address != end || begin == 0) begin = address;
    end = address + x.bytes;
    m.noted[begin] = end - begin;
  }
  for (const auto& [address, bytes] : m.noted) note_allocation({address, bytes, device, 0, true, current_context()});
}

void drop_if_unused(virtual_memory& m, std::uint64_t number) {
  const auto memory = m.memories.find(number);
  if (memory->second.references != 0 || memory->second.mapped) return;
  ask(virtual_step::give, 0, memory->second.bytes, number);
  m.memories.erase(memory);
}

/// The range lies within a reservation and meets no mapping.
bool is_free(const virtual_memory& m, address_t a, std::uint64_t bytes) {
  auto place = m.reservations.upper_bound(a);
  if (place == m.reservations.begin()) return false;
  --place;
  const std::uint64_t before = a - place->first;
  if (before > place->second || bytes > place->second - before) return false;
  auto next = m.mappings.lower_bound(a);
  if (next != m.mappings.end() && next->first - a < bytes) return false;
  return next == m.mappings.begin() || (--next)->first + next->second.bytes <= a;
}

error_t give_access(mapping& x, address_t a, unsigned flags) {
  error_t e = error::none;
  if (x.access == 0 && flags != 0) e = ask(virtual_step::open, a, x.bytes, 0).status;
  if (x.access != 0 && flags == 0) e = ask(virtual_step::close, a, x.bytes, 0).status;
  if (e == error::none) x.access = flags;
  return e;
}

template <class F>
result_t with_memory(F&& f) {
  return driven([&] {
    virtual_memory& m = all();
    const std::lock_guard<std::mutex> lock(m.mutex);
    return error_t{f(m)};
  });
}

}  // namespace

HEDDLE_CUDA result_t cuMemGetAllocationGranularity(std::size_t* to, const memory_properties* p, int option) {
  return driven([&] {
    if (option < 0 || option > 1) return error::invalid_value;
    const error_t e = check(p);
    return e != error::none ? e : put_result(to, std::size_t{granularity});
  });
}

HEDDLE_CUDA result_t cuMemAddressReserve(address_t* to, std::size_t bytes, std::size_t alignment, address_t,
                                         unsigned long long flags) {
  return with_memory([&](virtual_memory& m) {
    if (to == nullptr || bytes == 0 || !is_whole(bytes) || (alignment & (alignment - 1)) != 0 || flags != 0)
      return error_t{error::invalid_value};
    const reply r = ask(virtual_step::reserve, 0, bytes, alignment > granularity ? alignment : granularity);
    if (r.status != error::none) return r.status;
    *to = r.read().get<std::uint64_t>();
    m.reservations[*to] = bytes;
    return error_t{error::none};
  });
}
HEDDLE_CUDA result_t cuMemAddressFree(address_t a, std::size_t bytes) {
  return with_memory([&](virtual_memory& m) {
    const auto found = m.reservations.find(a);
    if (found == m.reservations.end() || found->second != bytes) return error_t{error::invalid_value};
    const auto next = m.mappings.lower_bound(a);
    if (next != m.mappings.end() && next->first - a < bytes) return error_t{error::invalid_value};
    m.reservations.erase(found);
    return ask(virtual_step::forget, a, bytes, 0).status;
  });
}

HEDDLE_CUDA result_t cuMemCreate(std::uint64_t* handle, std::size_t bytes, const memory_properties* p,
                                 unsigned long long flags) {
  return with_memory([&](virtual_memory& m) {
    if (handle == nullptr || bytes == 0 || !is_whole(bytes) || flags != 0) return error_t{error::invalid_value};
    error_t e = check(p);
    if (e == error::none) e = ask(virtual_step::take, 0, bytes, 0).status;
    if (e != error::none) return e;
    *handle = m.next++;
    m.memories[*handle] = {bytes, 1, false, *p};
    return error_t{error::none};
  });
}
HEDDLE_CUDA result_t cuMemRelease(std::uint64_t handle) {
  return with_memory([&](virtual_memory& m) {
    const auto memory = m.memories.find(handle);
    if (memory == m.memories.end() || memory->second.references == 0) return error::invalid_value;
    --memory->second.references;
    drop_if_unused(m, handle);
    return error::none;
  });
}

HEDDLE_CUDA result_t cuMemMap(address_t a, std::size_t bytes, std::size_t offset, std::uint64_t handle,
                              unsigned long long flags) {
  return with_memory([&](virtual_memory& m) {
    const auto memory = m.memories.find(handle);
    const bool known = memory != m.memories.end() && memory->second.references != 0;
    if (!known || bytes == 0 || !is_whole(a) || !is_whole(bytes) || offset != 0 || bytes > memory->second.bytes ||
        flags != 0 || !is_free(m, a, bytes))
      return error_t{error::invalid_value};
    if (memory->second.mapped) {
      std::fprintf(stderr, "heddle: cuMemMap: memory that is mapped at two addresses is not modelled\n");
      return error_t{error::not_supported};
    }
    const error_t e = ask(virtual_step::map, a, bytes, handle).status;
    if (e != error::none) return e;
    memory->second.mapped = true;
    m.mappings[a] = {bytes, handle, 0};
    note_again(m);
    return error_t{error::none};
  });
}
HEDDLE_CUDA result_t cuMemUnmap(address_t a, std::size_t bytes) {
  return with_memory([&](virtual_memory& m) {
    if (!is_mapped(m, a, bytes)) return error_t{error::invalid_value};
    error_t e = error::none;
    for (auto k = m.mappings.find(a); k != m.mappings.end() && k->first - a < bytes; k = m.mappings.erase(k)) {
      physical_memory& memory = m.memories.at(k->second.handle);
      if (memory.references != 0) e = ask(virtual_step::unmap, k->first, k->second.bytes, k->second.handle).status;
      if (const error_t closed = give_access(k->second, k->first, 0); closed != error::none) e = closed;
      memory.mapped = false;
      drop_if_unused(m, k->second.handle);
    }
    note_again(m);
    return e;
  });
}

HEDDLE_CUDA result_t cuMemSetAccess(address_t a, std::size_t bytes, const access_description* all_of,
                                    std::size_t count) {
  return with_memory([&](virtual_memory& m) {
    if (all_of == nullptr || count == 0 || !is_mapped(m, a, bytes)) return error_t{error::invalid_value};
    for (std::size_t k = 0; k < count; ++k) {
      if (all_of[k].flags != 0 && all_of[k].flags != read_access && all_of[k].flags != all_access)
        return error_t{error::invalid_value};
      if (all_of[k].place.type != on_device) return error_t{error::not_supported};
      if (all_of[k].place.id != 0) return error_t{result::invalid_device};
    }
    for (auto x = m.mappings.find(a); x != m.mappings.end() && x->first - a < bytes; ++x)
      if (const error_t e = give_access(x->second, x->first, all_of[count - 1].flags); e != error::none) return e;
    return error_t{error::none};
  });
}
HEDDLE_CUDA result_t cuMemGetAccess(unsigned long long* flags, const location* place, address_t a) {
  return with_memory([&](virtual_memory& m) {
    if (flags == nullptr || place == nullptr) return error_t{error::invalid_value};
    if (place->type == on_device && place->id != 0) return error_t{result::invalid_device};
    const auto x = holder(m.mappings, a);
    if (x == m.mappings.end()) return error_t{error::invalid_value};
    *flags = place->type == on_device ? x->second.access : 0;
    return error_t{error::none};
  });
}

HEDDLE_CUDA result_t cuMemRetainAllocationHandle(std::uint64_t* handle, void* p) {
  return with_memory([&](virtual_memory& m) {
    const auto x = holder(m.mappings, reinterpret_cast<address_t>(p));
    if (handle == nullptr || x == m.mappings.end()) return error::invalid_value;
    ++m.memories.at(x->second.handle).references;
    *handle = x->second.handle;
    return error::none;
  });
}
HEDDLE_CUDA result_t cuMemGetAllocationPropertiesFromHandle(memory_properties* p, std::uint64_t handle) {
  return with_memory([&](virtual_memory& m) {
    const auto memory = m.memories.find(handle);
    return memory == m.memories.end() ? error::invalid_value : put_result(p, memory->second.properties);
  });
}
HEDDLE_CUDA result_t cuMemExportToShareableHandle(void*, std::uint64_t, int, unsigned long long) {
  return driven([] { return error::not_supported; });
}
HEDDLE_CUDA result_t cuMemImportFromShareableHandle(std::uint64_t*, void*, int) {
  return driven([] { return error::not_supported; });
}
