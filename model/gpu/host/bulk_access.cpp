// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/bulk_access.h"

#include <algorithm>
#include <cstring>

#include "heddle/memory/common/byte_store.h"
#include "heddle/memory/l2/l2_slice.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace heddle {

namespace {

constexpr unsigned large_bytes = 65536;
constexpr unsigned host_line_bytes = 64;

bool all_zero(const std::uint8_t* data, unsigned bytes) {
  return data[0] == 0 && std::memcmp(data, data + 1, bytes - 1) == 0;
}

// Past the caches, which need not fetch lines first that are written as a whole: 0.04 s a GiB instead of 0.12 (an AMD
// EPYC).
void copy_past_caches(std::uint8_t* to, const std::uint8_t* from, unsigned bytes) {
#if defined(__SSE2__)
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i) == 0 && bytes % sizeof(__m128i) == 0) {
    for (unsigned k = 0; k < bytes; k += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

// A block of the interleaving, whose size is a power of two of at least 128. Compilers make a string instruction of a
// copy whose size they do not know, which needs longer to begin than a block takes.
void copy_block(std::uint8_t* to, const std::uint8_t* from, unsigned bytes) {
  for (unsigned k = 0; k < bytes; k += host_line_bytes) std::memcpy(to + k, from + k, host_line_bytes);
}

}  // namespace

bulk_access::place bulk_access::place_of(unsigned slice, std::uint64_t number) const {
  const part& p = parts_[slice];
  place here{slice, number, p.slice->has_nothing_of(number * byte_store::page_bytes, byte_store::page_bytes), nullptr};
  if (here.in_memory_alone) here.bytes = p.bytes->page(number);
  return here;
}

// `n` bytes, in a block of the interleaving, from `address` on: byte `at` of the page `here`.
void bulk_access::move_block(request& r, place& here, unsigned at, std::uint64_t address, unsigned n) const {
  const auto position = static_cast<unsigned>(address - r.address);
  std::uint8_t* const data = r.data + position;
  if (!here.in_memory_alone) {
    const unsigned moved = r.through_l2(address, data, n);
    if (moved != n) r.good = std::min(r.good, position + moved);
    return;
  }
  // Zeros where nothing was written yet are there already.
  if (r.write && here.bytes == nullptr && !all_zero(data, n))
    here.bytes = parts_[here.slice].bytes->make_page(here.number);
  if (here.bytes == nullptr) {
    if (!r.write) std::memset(data, 0, n);
    return;
  }
  std::uint8_t* const there = here.bytes + at;
  if (!r.write) {
    std::memcpy(data, there, n);
  } else if (r.bytes >= large_bytes) {
    copy_past_caches(there, data, n);
  } else {
    std::memcpy(there, data, n);
  }
}

// Page by page and not in the order of addresses: what lies side by side in a page of the host's is written, or read,
// side by side. A processor does not fetch ahead beyond a page, so what is read next is asked for here.
void bulk_access::move_page(request& r, place here, const place& next) const {
  constexpr unsigned page_bytes = byte_store::page_bytes, most_blocks = page_bytes / line_bytes;
  const unsigned blocks = std::max(page_bytes / interleave_, 1u), block_bytes = std::min(interleave_, page_bytes);
  const bool fetches = !r.write && next.bytes != nullptr;
  std::uint64_t addresses[most_blocks];
  map_.global_addresses(here.slice, here.number * page_bytes, blocks, addresses);
  for (unsigned k = 0, at = 0; k < blocks; ++k, at += block_bytes) {
    if (fetches)
      for (unsigned line = 0; line < block_bytes; line += host_line_bytes) __builtin_prefetch(next.bytes + at + line);
    const std::uint64_t block = addresses[k] + (here.number * page_bytes + at) % interleave_;
    // Most blocks lie within the access, in memory that was written before.
    if (here.bytes != nullptr && block >= r.address && block - r.address + block_bytes <= r.bytes) {
      std::uint8_t *const there = here.bytes + at, *const data = r.data + (block - r.address);
      if (!r.write) copy_block(data, there, block_bytes);
      else if (r.bytes >= large_bytes) copy_past_caches(there, data, block_bytes);
      else copy_block(there, data, block_bytes);
      continue;
    }
    // Of the block what was asked for; positions count from the first address, for the last one may be the last there
    // is.
    const std::uint64_t skipped = block < r.address ? r.address - block : 0;
    if (skipped >= block_bytes || (skipped == 0 && block - r.address >= r.bytes)) continue;
    const auto position = static_cast<unsigned>(block + skipped - r.address);
    move_block(r, here, at + static_cast<unsigned>(skipped), block + skipped,
               std::min(block_bytes - static_cast<unsigned>(skipped), r.bytes - position));
  }
}

// In the order of addresses, for accesses that leave out most of the pages in which they lie.
void bulk_access::move_blocks(request& r) {
  std::vector<place> places(parts_.size(), place{0, ~std::uint64_t{0}, false, nullptr});
  for (unsigned done = 0; done < r.bytes;) {
    const std::uint64_t address = r.address + done;
    const auto n = static_cast<unsigned>(std::min<std::uint64_t>(map_.bytes_to_boundary(address), r.bytes - done));
    const std::uint64_t local = map_.local_address(address);
    place& here = places[map_.slice_of(address)];
    if (here.number != local / byte_store::page_bytes)
      here = place_of(map_.slice_of(address), local / byte_store::page_bytes);
    move_block(r, here, static_cast<unsigned>(local % byte_store::page_bytes), address, n);
    done += n;
  }
}

unsigned bulk_access::move(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                           const l2_access& through_l2) {
  request r{write, address, data, bytes, through_l2, bytes};
  const std::uint64_t row_bytes = byte_store::page_bytes * parts_.size();  // a page of each slice
  // Rows of a partition's memory are of its slices alone.
  const bool of_partition = address - first_partition_address < most_partitions * partition_bytes;
  if (of_partition || bytes <= row_bytes / 2) {
    move_blocks(r);
    return finished(r);
  }
  const std::uint64_t last = (address + (bytes - 1)) / row_bytes;
  place next = place_of(0, address / row_bytes);
  for (std::uint64_t row = address / row_bytes; row <= last; ++row)
    for (unsigned slice = 0; slice < parts_.size(); ++slice) {
      const place here = next;
      next = slice + 1 < parts_.size() ? place_of(slice + 1, row) : row < last ? place_of(0, row + 1) : place{};
      move_page(r, here, next);
    }
  return finished(r);
}

unsigned bulk_access::finished(const request& r) {
#if defined(__SSE2__)
  if (r.write && r.bytes >= large_bytes) _mm_sfence();
#endif
  return r.good;
}

}  // namespace heddle
