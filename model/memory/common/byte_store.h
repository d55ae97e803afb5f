// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <unordered_map>
#include <vector>

namespace heddle {

/// The bytes of a memory, in pages that are allocated at the first write of a nonzero byte; all other bytes are zero.
class byte_store {
 public:
  byte_store();
  void read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) const;
  void write(std::uint64_t address, const std::uint8_t* data, std::size_t bytes);
  /// Performs a read or write at `address` (the payload's own address is ignored) with its byte enables and streaming
  /// width, and sets the response status.
  void serve(tlm::tlm_generic_payload& payload, std::uint64_t address);
  /// Host memory allocated for pages, in bytes.
  std::uint64_t allocated_bytes() const { return pages_.size() * page_bytes; }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr unsigned recent_pages = 64;
  using page = std::unique_ptr<std::uint8_t[]>;
  struct recent {
    std::uint64_t number = ~std::uint64_t{0};
    std::uint8_t* data = nullptr;
  };

  std::uint8_t* find(std::uint64_t number) const;
  std::uint8_t* make(std::uint64_t number);

  std::unordered_map<std::uint64_t, page> pages_;
  mutable std::vector<recent> recent_;
};

}  // namespace heddle
