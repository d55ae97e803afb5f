// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <tlm>
#include <vector>

#include "heddle/functional/functional_memory.h"
#include "heddle/gpu/host/bulk_access.h"
#include "heddle/gpu/host/loaded_modules.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/tlm/port/blocking_initiator.h"

namespace heddle {

class sanitizer;

/// Device memory as the host and the device runtime see it: the ranges that kernels may access, and untimed accesses.
/// These pass through the L2, or past it for large images, but for pages that functional execution holds.
class host_memory {
 public:
  using socket = tlm::tlm_initiator_socket<32>;
  static constexpr std::uint64_t most_name = std::uint64_t{1} << 16;  // bytes of a name in a descriptor

  host_memory(socket& below, loaded_modules& modules);

  [[nodiscard]] const address_ranges& ranges() const { return ranges_; }
  functional_memory& functional() { return functional_; }
  /// Large images bypass the L2 where it holds nothing of them.
  void move_images_by(bulk_access& bulk) { bulk_ = &bulk; }
  /// These are accessed where they are. Their addresses are unmapped before they are removed.
  void access_in_place(const host_regions& regions);
  /// Writes are reported to `sanitizer` from now on.
  void sanitize(sanitizer& sanitizer) { sanitizer_ = &sanitizer; }
  /// Reads the memory itself for a sanitizer's copy.
  backing_memory& reader() { return read_only_; }

  /// Adds a range (`what` 1) or removes it (2). Throws input_error.
  void change_map(std::uint64_t what, std::uint64_t base, std::uint64_t bytes);
  void exchange(state_image& image) {
    image(ranges_);
    inspected_ = {};
  }
  /// Removes all ranges.
  void unmap_all();
  /// Returns the number of bytes transferred; if they are not all, `status` tells why.
  unsigned access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                  tlm::tlm_response_status* status = nullptr);
  /// Reads what a kernel may access; false if it may not. Throws program_error. May be called by several threads.
  bool inspect(std::uint64_t address, void* data, unsigned bytes);
  /// `bytes` of `what`, which a command descriptor names, at most `most`. Throws input_error.
  std::vector<std::uint8_t> fetch(std::uint64_t address, std::uint64_t bytes, std::uint64_t most, const char* what);
  template <class T>
  T descriptor(std::uint64_t address) {
    T d;
    const auto bytes = fetch(address, sizeof d, sizeof d, "descriptor");
    std::memcpy(&d, bytes.data(), sizeof d);
    return d;
  }

 private:
  /// The memory itself, past the pages of functional execution.
  class direct_memory final : public backing_memory {
   public:
    direct_memory(host_memory& of, bool writable) : of_(of), writable_(writable) {}
    unsigned access(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) override;

   private:
    host_memory& of_;
    const bool writable_;  // if not, a write moves no bytes
  };

  unsigned plain_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                        tlm::tlm_response_status& status);
  unsigned device_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                         tlm::tlm_response_status& status);
  unsigned access_through_l2(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                             tlm::tlm_response_status& status);

  socket& below_;
  blocking_initiator<> backward_;
  loaded_modules& modules_;
  address_ranges ranges_;
  address_ranges::hint inspected_;
  std::mutex inspecting_;
  bulk_access* bulk_ = nullptr;
  const host_regions* regions_ = nullptr;
  sanitizer* sanitizer_ = nullptr;
  direct_memory direct_{*this, true}, read_only_{*this, false};
  functional_memory functional_{direct_};
};

}  // namespace heddle
