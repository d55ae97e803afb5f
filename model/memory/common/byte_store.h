// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

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
  /// The bytes of page `number`; null: it was never written, its bytes are zero.
  static constexpr std::uint64_t page_bytes = 4096;
  std::uint8_t* page(std::uint64_t number) { return find(number); }
  /// The same; a page that does not exist yet is made, with zeros.
  std::uint8_t* make_page(std::uint64_t number) { return make(number); }
  /// Host memory allocated for pages, in bytes.
  [[nodiscard]] std::uint64_t allocated_bytes() const { return pages_ * page_bytes; }
  /// All bytes. Pages of zeros are left out: they do not exist after reading. Pointers to pages become invalid.
  void exchange(state_image& image);

 private:
  static constexpr unsigned recent_pages = 64;
  static constexpr unsigned region_pages = 64;
  struct region {
    std::uint8_t* pages[region_pages] = {};
  };
  struct release_chunk {
    std::size_t bytes = 0;
    void operator()(std::uint8_t* p) const;
  };
  struct recent {
    std::uint64_t number = ~std::uint64_t{0};
    std::uint8_t* data = nullptr;
  };

  [[nodiscard]] std::uint8_t* find(std::uint64_t number) const;
  std::uint8_t* make(std::uint64_t number);
  [[nodiscard]] std::vector<std::uint64_t> pages_in_use() const;
  void remove_all();

  std::unordered_map<std::uint64_t, region> regions_;
  // Pages are cut from chunks, each as large as all before it, up to what the system has a page of its own for.
  std::vector<std::unique_ptr<std::uint8_t[], release_chunk>> chunks_;
  std::uint8_t* fresh_ = nullptr;  // of the last chunk
  std::size_t fresh_pages_ = 0;
  std::uint64_t pages_ = 0;
  mutable std::vector<recent> recent_;
  // The region of the last page that was not recent: a large copy goes through each page once, region by region.
  mutable std::uint64_t region_number_ = ~std::uint64_t{0};
  mutable const region* region_ = nullptr;
};

}  // namespace heddle
