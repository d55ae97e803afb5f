// SPDX-License-Identifier: MIT
#include "heddle/memory/common/byte_store.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace heddle {

namespace {
constexpr std::size_t least_chunk_bytes = 16384;
constexpr std::size_t most_chunk_bytes = std::size_t{2} << 20;

#if defined(__linux__)
// A chunk that begins at a multiple of its size, as large pages do.
std::uint8_t* map_chunk() {
  constexpr std::size_t size = most_chunk_bytes;
  void* const all = mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::uint8_t*>(all);
  const std::size_t before = (size - reinterpret_cast<std::uintptr_t>(begin) % size) % size;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + size, size - before);
  // A copy of a gigabyte touches 512 pages of this size, or 262,144 of 4 KiB.
  madvise(begin + before, size, MADV_HUGEPAGE);  // fails where the kernel has none
  return begin + before;
}

std::uint8_t* zeroed_chunk(std::size_t bytes) {
  return bytes == most_chunk_bytes ? map_chunk() : static_cast<std::uint8_t*>(std::calloc(bytes, 1));
}

void release(std::uint8_t* chunk, std::size_t bytes) {
  if (bytes == most_chunk_bytes) munmap(chunk, bytes);
  else std::free(chunk);
}
#else
std::uint8_t* zeroed_chunk(std::size_t bytes) { return static_cast<std::uint8_t*>(std::calloc(bytes, 1)); }
void release(std::uint8_t* chunk, std::size_t) { std::free(chunk); }
#endif
}  // namespace

byte_store::byte_store() : recent_(recent_pages) {}

void byte_store::release_chunk::operator()(std::uint8_t* p) const { release(p, bytes); }

std::uint8_t* byte_store::find(std::uint64_t number) const {
  recent& r = recent_[number % recent_pages];
  if (r.number == number) return r.data;
  if (region_number_ != number / region_pages) {
    const auto it = regions_.find(number / region_pages);
    if (it == regions_.end()) return nullptr;
    region_number_ = number / region_pages;
    region_ = &it->second;  // stays in its place
  }
  std::uint8_t* const data = region_->pages[number % region_pages];
  if (data != nullptr) r = {number, data};
  return data;
}

std::uint8_t* byte_store::make(std::uint64_t number) {
  if (fresh_pages_ == 0) {
    const std::size_t bytes =
        std::clamp<std::size_t>(pages_ * page_bytes, least_chunk_bytes, most_chunk_bytes) / page_bytes * page_bytes;
    chunks_.emplace_back(zeroed_chunk(bytes), release_chunk{bytes});
    if (chunks_.back() == nullptr) {
      chunks_.pop_back();
      throw std::bad_alloc();
    }
    fresh_ = chunks_.back().get();
    fresh_pages_ = bytes / page_bytes;
  }
  std::uint8_t* const data = fresh_;
  regions_[number / region_pages].pages[number % region_pages] = data;
  fresh_ += page_bytes;
  --fresh_pages_;
  ++pages_;
  recent_[number % recent_pages] = {number, data};
  return data;
}

void byte_store::read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) const {
  while (bytes != 0) {
    const std::uint64_t offset = address % page_bytes;
    const std::size_t n = std::min<std::size_t>(bytes, page_bytes - offset);
    if (const std::uint8_t* p = find(address / page_bytes)) std::memcpy(data, p + offset, n);
    else std::memset(data, 0, n);
    address += n;
    data += n;
    bytes -= n;
  }
}

void byte_store::write(std::uint64_t address, const std::uint8_t* data, std::size_t bytes) {
  while (bytes != 0) {
    const std::uint64_t offset = address % page_bytes;
    const std::size_t n = std::min<std::size_t>(bytes, page_bytes - offset);
    // Writing zeros to a page that does not exist changes nothing, so no page is made. Replays write only zeros,
    // anywhere.
    std::uint8_t* p = find(address / page_bytes);
    if (p == nullptr && std::any_of(data, data + n, [](std::uint8_t b) { return b != 0; }))
      p = make(address / page_bytes);
    if (p != nullptr) std::memcpy(p + offset, data, n);
    address += n;
    data += n;
    bytes -= n;
  }
}

// The pages with a byte that is not zero, in ascending order.
std::vector<std::uint64_t> byte_store::pages_in_use() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, r] : regions_)
    for (unsigned i = 0; i < region_pages; ++i) {
      const std::uint8_t* const p = r.pages[i];
      if (p == nullptr || (p[0] == 0 && std::memcmp(p, p + 1, page_bytes - 1) == 0)) continue;
      numbers.push_back(number * region_pages + i);
    }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void byte_store::remove_all() {
  regions_.clear();
  chunks_.clear();
  fresh_ = nullptr;
  fresh_pages_ = 0;
  pages_ = 0;
  recent_.assign(recent_pages, recent{});
  region_number_ = ~std::uint64_t{0};
  region_ = nullptr;
}

void byte_store::exchange(state_image& image) {
  std::vector<std::uint64_t> numbers;
  if (image.reading()) remove_all();
  else numbers = pages_in_use();
  image(numbers);
  for (const std::uint64_t n : numbers) image.raw(image.reading() ? make(n) : find(n), page_bytes);
}

void byte_store::serve(tlm::tlm_generic_payload& payload, std::uint64_t address) {
  const unsigned length = payload.get_data_length();
  const unsigned width = payload.get_streaming_width();
  const bool reads = payload.is_read();
  if (!reads && !payload.is_write()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  if (length == 0 || width == 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  std::uint8_t* data = payload.get_data_ptr();
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  const unsigned enable_length = payload.get_byte_enable_length();
  if (enables != nullptr && enable_length == 0) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  if (enables == nullptr && width >= length) {
    if (reads) read(address, data, length);
    else write(address, data, length);
  } else {
    for (unsigned i = 0; i < length; ++i) {
      if (enables != nullptr && enables[i % enable_length] != TLM_BYTE_ENABLED) continue;
      if (reads) read(address + i % width, data + i, 1);
      else write(address + i % width, data + i, 1);
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace heddle
