// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "heddle/gpu/host/runtime/device_heap.h"
#include "heddle/sanitize/sanitizer.h"
#include "heddle/sub_partition/program_services.h"

namespace heddle {

/// The device runtime for a launch that is executed on a copy of the memory: nothing is printed, and the heap is a
/// copy.
class copied_services final : public program_services {
 public:
  copied_services(sanitizer& s, device_heap heap) : sanitizer_(s), heap_(std::move(heap)) {}
  bool inspect(std::uint64_t, void* data, unsigned bytes) override {
    std::memset(data, 0, bytes);  // only printed text is read by it
    return true;
  }
  void print(const simt::launch_context&, const std::string&) override {}
  std::uint64_t heap_allocate(const simt::launch_context&, std::uint64_t bytes) override {
    const std::uint64_t given = heap_.allocate(bytes);
    return given == 0 ? 0 : sanitizer_.spaced().place(given, bytes);
  }
  void heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w, const isa::instruction& i,
                  unsigned lane) override {
    sanitizer_.heap_given(address, bytes, w, i, lane);
  }
  void heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                    unsigned lane) override {
    sanitizer_.heap_freeing(address, w, i, lane);
  }
  bool heap_free(const simt::launch_context&, std::uint64_t address) override {
    const std::uint64_t given = sanitizer_.spaced().release(address);
    if (!heap_.free(given != 0 ? given : address)) return false;  // or of an earlier launch
    sanitizer_.heap_freed(address);
    return true;
  }
  bool heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                     unsigned lane) override {
    return sanitizer_.heap_misfreed(address, w, i, lane);
  }

 private:
  sanitizer& sanitizer_;
  device_heap heap_;
};

}  // namespace heddle
