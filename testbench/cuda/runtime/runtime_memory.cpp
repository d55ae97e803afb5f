// SPDX-License-Identifier: MIT
// The runtime: allocation, copies, fills, symbols.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/pool.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

namespace {

struct side {
  std::uint64_t address;
  std::uint64_t pitch, layer;
  bool on_host;
  bool pinned;
  bool is_valid;  // in the allocation in which it begins; on the device, in an allocation at all
};

side side_of(const void* p, std::size_t pitch, std::size_t layer, const copy_work& w, bool said_host,
             bool said_device) {
  const allocation a = said_device ? device_allocation_of(p) : allocation_of(p);
  // A known pointer determines its memory regardless of the direction given; an unknown one is host memory, unless the
  // direction says otherwise.
  const bool on_host = a.type == unregistered ? said_host || !said_device : a.type == host;
  const bool is_valid = (on_host || a.type != unregistered) && !leaves(a, p, pitch, layer, w.width, w.height, w.depth);
  return {address_number(p), pitch, layer, on_host, a.type == host, is_valid};
}

struct sides {
  side from{}, to{};
};
error_t sides_of(const copy_work& w, sides& both) {
  if (w.kind < host_to_host || w.kind > by_pointers) return error::invalid_copy_direction;
  if (w.to == nullptr || w.from == nullptr || (w.height > 1 && (w.to_pitch < w.width || w.from_pitch < w.width)))
    return error::invalid_value;
  const bool from_host = w.kind == host_to_host || w.kind == host_to_device,
             from_device = w.kind == device_to_host || w.kind == device_to_device;
  const bool to_host = w.kind == host_to_host || w.kind == device_to_host,
             to_device = w.kind == host_to_device || w.kind == device_to_device;
  both.from = side_of(w.from, w.from_pitch, w.from_layer, w, from_host, from_device);
  both.to = side_of(w.to, w.to_pitch, w.to_layer, w, to_host, to_device);
  return both.from.is_valid && both.to.is_valid ? error::none : error::invalid_value;
}
bool is_empty(const copy_work& w) { return w.width == 0 || w.height == 0 || w.depth == 0; }

error_t copy_row(void* to, const void* from, std::size_t bytes, int kind, std::uint32_t stream, bool asynchronous) {
  return copy(copy_of_row(to, from, bytes, kind), stream, asynchronous ? manner::asynchronous : manner::waits);
}

error_t fill(void* to, std::size_t pitch, std::size_t layer, unsigned value, unsigned value_bytes, std::size_t width,
             std::size_t height, std::size_t depth, std::uint32_t stream, bool asynchronous) {
  return fill({to, pitch, layer, value, value_bytes, width, height, depth}, stream,
              asynchronous ? manner::asynchronous : manner::waits);
}

error_t symbol_pointer(const void* symbol, std::size_t offset, std::size_t bytes, char*& at) {
  registry::get().place_managed();
  const variable_record* v = registry::get().variable(symbol);
  if (v == nullptr) return error::invalid_symbol;
  if (bytes != 0 && (offset > v->bytes || bytes > v->bytes - offset)) return error::invalid_value;
  at = reinterpret_cast<char*>(v->address) + offset;
  return error::none;
}

error_t copy_symbol(const void* symbol, std::size_t offset, void* to, const void* from, std::size_t bytes, int kind,
                    std::uint32_t stream, bool asynchronous) {
  const int own = to == nullptr ? host_to_device : device_to_host;
  if (kind != own && kind != device_to_device && kind != by_pointers) return noted(error::invalid_copy_direction);
  if (kind == by_pointers) kind = own;
  char* at = nullptr;
  const error_t e = symbol_pointer(symbol, offset, bytes, at);
  if (e != error::none) return noted(e);
  return to == nullptr ? copy_row(at, from, bytes, kind, stream, asynchronous)
                       : copy_row(to, at, bytes, kind, stream, asynchronous);
}

error_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                  std::size_t height, int kind, std::uint32_t stream, bool asynchronous) {
  if (height > 1 && (width > to_pitch || width > from_pitch)) return noted(error::invalid_pitch);
  return copy({to, to_pitch, to_pitch * height, from, from_pitch, from_pitch * height, width, height, 1, kind}, stream,
              asynchronous ? manner::asynchronous : manner::waits);
}

error_t copy_between_devices(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                             std::uint32_t stream, bool asynchronous) {
  if (to_device != 0 || from_device != 0) return noted(error::invalid_device);
  return copy_row(to, from, bytes, device_to_device, stream, asynchronous);
}

/// False: some of it is no memory of the program. Does nothing else: the pages are written back anyway.
bool is_mapped(const void* p, std::size_t bytes) {
  const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
                      begin = address_number(p) / page * page;
  return ::msync(reinterpret_cast<void*>(begin), address_number(p) + bytes - begin, MS_ASYNC) == 0;
}

struct mapping {
  bool readable = true;  // all of it
  bool shared = false;   // some of it is mapped so that other processes can map it, too
};
mapping mapping_of(std::uint64_t address, std::uint64_t bytes) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return {true, true};
  mapping m;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long first = 0, last = 0;
    char rights[5] = "";
    if (std::sscanf(line, "%llx-%llx %4s", &first, &last, rights) != 3) continue;
    if (first >= address + bytes || last <= address) continue;
    m.readable = m.readable && rights[0] == 'r';
    m.shared = m.shared || rights[3] == 's';
  }
  std::fclose(maps);
  return m;
}

}  // namespace

copy_work copy_of_row(void* to, const void* from, std::size_t bytes, int kind) {
  return {to, bytes, bytes, from, bytes, bytes, bytes, 1, 1, kind};
}

error_t checked(const copy_work& w) {
  sides both;
  return is_empty(w) ? error::invalid_value : sides_of(w, both);
}

std::pair<bool, bool> on_host(const copy_work& w) {
  sides both;
  sides_of(w, both);
  return {both.from.on_host, both.to.on_host};
}

error_t checked(const fill_work& w) {
  const allocation a = device_allocation_of(w.to);
  const bool is_valid = w.width != 0 && w.height != 0 && address_number(w.to) % w.value_bytes == 0 &&
                        (w.height == 1 || (w.pitch >= w.width && w.pitch % w.value_bytes == 0));
  return !is_valid || a.type == unregistered || leaves(a, w.to, w.pitch, w.layer, w.width, w.height, w.depth)
             ? error::invalid_value
             : error::none;
}

// An asynchronous copy returns when the source may be reused.
error_t copy(const copy_work& w, std::uint32_t stream, manner how) {
  if (is_empty(w)) return error::none;  // even after a failure
  sides both;
  const error_t wrong = sides_of(w, both);
  const auto& [s, d] = both;
  if (wrong != error::none) return noted(wrong);
  error_t result = error::none;
  if (captured(stream, how, w, result)) return result;
  wire::copy_request r{};
  r.stream = stream;
  r.source_on_host = s.on_host;
  r.destination_on_host = d.on_host;
  // A call that waits leaves the source as it is until then.
  r.source_is_kept = (s.pinned && !w.is_read_at_once) || how != manner::asynchronous;
  r.source = s.address;
  r.destination = d.address;
  r.source_pitch = s.pitch;
  r.source_layer = s.layer;
  r.destination_pitch = d.pitch;
  r.destination_layer = d.layer;
  r.width = w.width;
  r.height = w.height;
  r.depth = w.depth;
  if (s.on_host != d.on_host && w.width >= wire::least_for_window / w.height / w.depth) offer_window();
  const error_t e = call(wire::call::copy, wire::writer().put(r)).status;
  if (e != error::none) return noted(e);
  // A copy to unpinned host memory is never asynchronous, except in a graph.
  const bool waits = how == manner::waits || (how == manner::asynchronous && d.on_host && !d.pinned);
  return waits ? noted(wait(wire::wait_kind::stream, stream)) : error::none;
}

error_t fill(const fill_work& w, std::uint32_t stream, manner how) {
  if (w.width == 0 || w.height == 0 || w.depth == 0) return noted(error::none);
  error_t result = error::none;
  if (captured(stream, how, w, result)) return result;
  const bool rows_overlap = w.height * w.depth > 1 && w.pitch < w.width;
  const bool layers_overlap = w.depth > 1 && w.layer < w.pitch * w.height;
  if (rows_overlap || layers_overlap) return noted(error::invalid_value);
  const allocation a = device_allocation_of(w.to);
  if (a.type == unregistered || leaves(a, w.to, w.pitch, w.layer, w.width, w.height, w.depth))
    return noted(error::invalid_value);
  wire::fill_request r{};
  r.stream = stream;
  r.value = w.value;
  r.value_bytes = w.value_bytes;
  r.address = address_number(w.to);
  r.pitch = w.pitch;
  r.layer = w.layer;
  r.width = w.width;
  r.height = w.height;
  r.depth = w.depth;
  const error_t e = call(wire::call::fill, wire::writer().put(r)).status;
  if (e != error::none || how != manner::waits || a.type == device) return noted(e);
  return noted(wait(wire::wait_kind::stream, stream));
}

}  // namespace heddle::cuda

error_t heddle::cuda::allocate_device(void** p, std::size_t bytes) {
  return allocate(p, bytes, wire::memory_kind::device, device, 0);
}

error_t heddle::cuda::free_memory(void* p) {
  if (const auto of_graph = graph_memory_at(p)) {  // the graph still owns it
    if (!of_graph->live) return noted(error::invalid_value);
    of_graph->live = false;
    return noted(wait(wire::wait_kind::device, 0));
  }
  leave_pool(p);
  return release(p, ended_by::free);
}

HEDDLE_CUDA error_t cudaMalloc(void** p, std::size_t bytes) {
  const error_t e = bytes != 0 ? refused_by_capture() : error::none;
  return e != error::none ? e : allocate_device(p, bytes);
}
HEDDLE_CUDA error_t cudaMallocManaged(void** p, std::size_t bytes, unsigned flags) {
  constexpr unsigned global = 1, on_host = 2;
  if (flags != global && flags != on_host) return noted(error::invalid_value);
  const error_t e = refused_by_capture();
  return e != error::none ? e : allocate(p, bytes, wire::memory_kind::managed, managed, flags);
}
HEDDLE_CUDA error_t cudaHostAlloc(void** p, std::size_t bytes, unsigned flags) {
  if (flags > most_host_flags) return noted(error::invalid_value);
  const error_t e = refused_by_capture();
  return e != error::none ? e : allocate(p, bytes, wire::memory_kind::host, host, flags);
}
HEDDLE_CUDA error_t cudaMallocHost(void** p, std::size_t bytes) { return cudaHostAlloc(p, bytes, 0); }
HEDDLE_CUDA error_t cudaFree(void* p) {
  const error_t e = refused_by_capture();
  return e != error::none ? e : free_memory(p);
}
HEDDLE_CUDA error_t cudaFreeHost(void* p) {
  const error_t e = refused_by_capture();
  return e != error::none ? e : release(p, ended_by::free_host);
}
HEDDLE_CUDA error_t cudaMallocPitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (any_null(p, pitch)) return noted(error::invalid_value);
  *pitch = height == 0 ? 0 : (width + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * height);
}
HEDDLE_CUDA error_t cudaMalloc3D(pitched_pointer* p, extent_t e) {
  if (p == nullptr) return noted(error::invalid_value);
  p->width = e.width;
  p->height = e.height;
  return cudaMallocPitch(&p->pointer, &p->pitch, e.width, e.height * e.depth);
}

HEDDLE_CUDA error_t cudaHostRegister(void* p, std::size_t bytes, unsigned flags) {
  constexpr unsigned known_flags = 1 | 2 | 8;  // portable, mapped, read-only; memory of a device (4) there is none
  if (p == nullptr || bytes == 0 || (flags & ~known_flags) != 0) return noted(error::invalid_value);
  if (const error_t e = refused_by_capture(); e != error::none) return e;
  const std::uint64_t address = address_number(p);
  if (bytes > ~address || !is_mapped(p, bytes)) return noted(error::invalid_value);
  if (overlaps_registered(address, bytes)) return noted(error::already_registered);
  const mapping there = mapping_of(address, bytes);
  if (allocation_of(p).type != unregistered || !there.readable) return noted(error::invalid_value);
  const error_t e = call(wire::call::host_range, wire::writer()
                                                     .put(address)
                                                     .put(std::uint64_t{bytes})
                                                     .put(wire::range_step::registered)
                                                     .put(std::uint32_t{there.shared}))
                        .status;
  if (e == error::none) note_allocation({address, bytes, host, flags, true, nullptr});
  return noted(e);
}
HEDDLE_CUDA error_t cudaHostUnregister(void* p) {
  allocation a;
  if (!forget_allocation(p, ended_by::unregister, a))
    return noted(p == nullptr || allocation_of(p).type != unregistered ? error::invalid_value : error::not_registered);
  const error_t e =
      call(wire::call::host_range, wire::writer().put(a.address).put(a.bytes).put(wire::range_step::forget)).status;
  return noted(e);
}
HEDDLE_CUDA error_t cudaHostGetDevicePointer(void** to, void* p, unsigned flags) {
  if (to != nullptr) *to = nullptr;
  if (to == nullptr || flags != 0 || allocation_of(p).type != host) return noted(error::invalid_value);
  *to = p;
  return noted(error::none);
}
HEDDLE_CUDA error_t cudaHostGetFlags(unsigned* flags, void* p) {
  const allocation a = allocation_of(p);
  return noted(a.type != host ? error::invalid_value : put_result(flags, a.flags | host_flag_mapped));
}
HEDDLE_CUDA error_t cudaPointerGetAttributes(pointer_attributes* out, const void* p) {
  const allocation a = allocation_of(p);
  void* const own = const_cast<void*>(p);
  const bool is_known = a.type != unregistered;
  const error_t e = put_result(
      out, pointer_attributes{a.type, is_known ? 0 : -2, is_known ? own : nullptr, a.type == device ? nullptr : own});
  return is_known ? noted(e) : e;
}
HEDDLE_CUDA error_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const reply r = call(wire::call::memory_info, wire::writer());
  if (r.status != error::none) return noted(r.status);
  wire::reader in = r.read();
  const std::uint64_t bytes[] = {in.get<std::uint64_t>(), in.get<std::uint64_t>()};
  if (free != nullptr) *free = bytes[0];
  if (total != nullptr) *total = bytes[1];
  return error::none;
}

HEDDLE_BOTH(cudaMemcpy, cudaMemcpy_ptds, (void* to, const void* from, std::size_t bytes, int kind),
            return copy_row(to, from, bytes, kind, stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemcpyAsync, cudaMemcpyAsync_ptsz,
            (void* to, const void* from, std::size_t bytes, int kind, stream_t s),
            return copy_row(to, from, bytes, kind, stream_number(s, per_thread), true);)
HEDDLE_BOTH(cudaMemcpy2D, cudaMemcpy2D_ptds,
            (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
             std::size_t height, int kind),
            return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream_number(nullptr, per_thread),
                             false);)
HEDDLE_BOTH(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz,
            (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
             std::size_t height, int kind, stream_t s),
            return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream_number(s, per_thread), true);)
HEDDLE_CUDA error_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return copy_between_devices(to, to_device, from, from_device, bytes, 0, false);
}
HEDDLE_CUDA error_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                        stream_t s) {
  return copy_between_devices(to, to_device, from, from_device, bytes, stream_number(s), true);
}

HEDDLE_BOTH(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds,
            (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind),
            return copy_symbol(symbol, offset, nullptr, from, bytes, kind, stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz,
            (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind, stream_t s),
            return copy_symbol(symbol, offset, nullptr, from, bytes, kind, stream_number(s, per_thread), true);)
HEDDLE_BOTH(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds,
            (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind),
            return copy_symbol(symbol, offset, to, nullptr, bytes, kind, stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz,
            (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind, stream_t s),
            return copy_symbol(symbol, offset, to, nullptr, bytes, kind, stream_number(s, per_thread), true);)
HEDDLE_CUDA error_t cudaGetSymbolAddress(void** p, const void* symbol) {
  char* at = nullptr;
  const error_t e = symbol_pointer(symbol, 0, 0, at);
  return noted(e != error::none ? e : put_result(p, static_cast<void*>(at)));
}
HEDDLE_CUDA error_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  const variable_record* v = registry::get().variable(symbol);
  return noted(v == nullptr ? error::invalid_symbol : put_result(bytes, v->bytes));
}

HEDDLE_BOTH(cudaMemset, cudaMemset_ptds, (void* to, int value, std::size_t bytes),
            return fill(to, bytes, bytes, static_cast<std::uint8_t>(value), 1, bytes, 1, 1,
                        stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemsetAsync, cudaMemsetAsync_ptsz, (void* to, int value, std::size_t bytes, stream_t s),
            return fill(to, bytes, bytes, static_cast<std::uint8_t>(value), 1, bytes, 1, 1,
                        stream_number(s, per_thread), true);)
HEDDLE_BOTH(cudaMemset2D, cudaMemset2D_ptds,
            (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
            return fill(to, pitch, pitch* height, static_cast<std::uint8_t>(value), 1, width, height, 1,
                        stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemset2DAsync, cudaMemset2DAsync_ptsz,
            (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, stream_t s),
            return fill(to, pitch, pitch* height, static_cast<std::uint8_t>(value), 1, width, height, 1,
                        stream_number(s, per_thread), true);)
HEDDLE_BOTH(cudaMemset3D, cudaMemset3D_ptds, (pitched_pointer p, int value, extent_t e),
            return fill(p.pointer, p.pitch, p.pitch* p.height, static_cast<std::uint8_t>(value), 1, e.width, e.height,
                        e.depth, stream_number(nullptr, per_thread), false);)
HEDDLE_BOTH(cudaMemset3DAsync, cudaMemset3DAsync_ptsz, (pitched_pointer p, int value, extent_t e, stream_t s),
            return fill(p.pointer, p.pitch, p.pitch* p.height, static_cast<std::uint8_t>(value), 1, e.width, e.height,
                        e.depth, stream_number(s, per_thread), true);)
