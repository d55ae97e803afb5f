// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "heddle/gpu/host/runtime/device_heap.h"
#include "heddle/sub_partition/program_services.h"

namespace heddle {

class sanitizer;
class state_image;

/// What the services of the device runtime need of the host interface.
class services_host {
 public:
  /// As program_services::inspect().
  virtual bool inspect_memory(std::uint64_t address, void* data, unsigned bytes) = 0;
  /// A kernel of this client has printed.
  virtual void printed(std::uint32_t client, const std::string& text) = 0;

 protected:
  ~services_host() = default;
};

/// The services of the device runtime for launches: the heaps of malloc, and what a sanitizer learns of them.
class device_services final : public program_services {
 public:
  explicit device_services(services_host& host) : host_(host) {}

  /// Reports to `sanitizer` from now on.
  void sanitize(sanitizer& sanitizer) { sanitizer_ = &sanitizer; }
  /// A launch is executed functionally from now on, or no longer: it is the one that the sanitizer checks.
  void executes(bool now) { executing_ = now; }
  [[nodiscard]] bool executing() const { return executing_; }
  /// Where the next heap begins.
  void set_heap_base(std::uint64_t address) { heap_base_ = address; }
  [[nodiscard]] std::uint64_t heap_base() const { return heap_base_; }
  /// Places the heap of a client there, or that of no client (0); it is empty.
  void place_heap(std::uint32_t client, std::uint64_t bytes);
  /// A client without a heap of its own uses that of no client.
  device_heap& heap_of(const simt::launch_context& launch);
  /// As constructed, but for the sanitizer.
  void clear();
  void exchange(state_image& image);

  bool inspect(std::uint64_t address, void* data, unsigned bytes) override {
    return host_.inspect_memory(address, data, bytes);
  }
  void print(const simt::launch_context& launch, const std::string& text) override;
  std::uint64_t heap_allocate(const simt::launch_context& launch, std::uint64_t bytes) override {
    return heap_of(launch).allocate(bytes);
  }
  void heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w, const isa::instruction& i,
                  unsigned lane) override;
  void heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                    unsigned lane) override;
  bool heap_free(const simt::launch_context& launch, std::uint64_t address) override;
  bool heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                     unsigned lane) override;

 private:
  services_host& host_;
  sanitizer* sanitizer_ = nullptr;
  std::map<std::uint32_t, device_heap> heaps_;  // by client
  std::uint64_t heap_base_ = 0;
  bool executing_ = false;
};

}  // namespace heddle
