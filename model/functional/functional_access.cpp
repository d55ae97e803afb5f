// SPDX-License-Identifier: MIT
// The usual accesses to memory of a warp, copies to shared memory, and texture instructions.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sub_partition/device_runtime.h"

namespace heddle {

namespace {

constexpr std::uint64_t page_bytes = functional_memory::page_bytes;
constexpr std::uint64_t windows_end = isa::code_window_base + isa::window_bytes;

/// Loads whole words of all lanes from one page.
template <unsigned words>
void gather(const std::uint8_t* page, const std::uint64_t* addresses, std::uint32_t* to) {
  for (unsigned k = 0; k < words; ++k)
    for (unsigned l = 0; l < isa::warp_size; ++l)
      std::memcpy(to + k * isa::warp_size + l, page + addresses[l] % page_bytes + 4 * k, 4);
}

void gather_some(const std::uint8_t* page, const std::uint64_t* addresses, simt::lane_mask mask, unsigned bytes,
                 std::uint32_t words[4][isa::warp_size]) {
  if (bytes < 4) {
    for (const unsigned l : set_bits(mask)) {
      std::uint32_t v = 0;
      std::memcpy(&v, page + addresses[l] % page_bytes, bytes);
      words[0][l] = v;
    }
    return;
  }
  for (unsigned k = 0; k < bytes / 4; ++k)
    for (const unsigned l : set_bits(mask)) std::memcpy(&words[k][l], page + addresses[l] % page_bytes + 4 * k, 4);
}

template <unsigned chunk>
void scatter(std::uint8_t* page, const std::uint64_t* addresses, simt::lane_mask mask, const std::uint32_t* words,
             unsigned at) {
  if (mask == simt::all_lanes) {
    for (unsigned l = 0; l < isa::warp_size; ++l) std::memcpy(page + addresses[l] % page_bytes + at, &words[l], chunk);
  } else {
    for (const unsigned l : set_bits(mask)) std::memcpy(page + addresses[l] % page_bytes + at, &words[l], chunk);
  }
}

// Computes the addresses of all lanes; those outside `mask` are not used.
inline void addresses_of(const isa::instruction& i, const simt::warp_state& w, simt::lane_mask mask,
                         std::uint64_t* addresses) {
  const isa::operand& a = i.src[0];
  if (!a.is_reg() || a.reg == isa::rz || a.count < 2) return simt::lane_addresses(i, w, mask, addresses);
  const std::uint32_t* const low = w.regs + std::size_t{a.reg} * isa::warp_size;
  const std::uint32_t* const high = low + isa::warp_size;
  const auto offset = static_cast<std::uint64_t>(i.offset);
  for (unsigned l = 0; l < isa::warp_size; ++l) addresses[l] = (low[l] | std::uint64_t{high[l]} << 32) + offset;
}

// Fast path for the usual accesses to shared memory: whole words of all lanes, to or from registers. Returns false for
// any other access and for an illegal one.
bool quick_shared(const isa::instruction& i, simt::warp_state& w, unsigned bytes) {
  const isa::operand& a = i.src[0];
  const bool loads = i.op == isa::opcode::ld;
  if (bytes < 4 || (!loads && i.op != isa::opcode::st) || !a.is_reg() || a.reg == isa::rz || a.count != 1) return false;
  const std::uint32_t size = w.block->shared_bytes;
  const std::uint8_t first = loads ? i.dst : i.src[1].reg;
  if (size < bytes || first == isa::rz || (!loads && (!i.src[1].is_reg() || i.src[1].count * 4u != bytes)))
    return false;
  const std::uint32_t* const base = w.regs + std::size_t{a.reg} * isa::warp_size;
  const auto offset = static_cast<std::uint32_t>(i.offset);
  const std::uint32_t last = size - bytes;
  alignas(64) std::uint32_t at[isa::warp_size];
  std::uint32_t wrong = 0;
  for (unsigned l = 0; l < isa::warp_size; ++l) {
    at[l] = base[l] + offset;
    wrong |= (at[l] & (bytes - 1)) | (at[l] > last ? 1u : 0u);
  }
  if (wrong != 0) return false;
  std::uint32_t* const words = w.regs + std::size_t{first} * isa::warp_size;
  std::uint8_t* const memory = w.block->shared;
  // In lane order: if lanes store to the same place, the last one's data stays.
  for (unsigned k = 0; k < bytes / 4; ++k) {
    std::uint32_t* const row = words + k * isa::warp_size;
    std::uint8_t* const here = memory + 4 * k;
    if (loads)
      for (unsigned l = 0; l < isa::warp_size; ++l) std::memcpy(row + l, here + at[l], 4);
    else
      for (unsigned l = 0; l < isa::warp_size; ++l) std::memcpy(here + at[l], row + l, 4);
  }
  return true;
}

}  // namespace

// The page that contains all lanes' addresses if they are legal; else null.
functional_memory::page* functional_executor::common_page(functional_step& s, simt::lane_mask mask,
                                                          const std::uint64_t* addresses, unsigned bytes) {
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  std::uint64_t differ = 0, odd = 0;
  if (mask == simt::all_lanes) {
    for (unsigned l = 0; l < isa::warp_size; ++l) {
      differ |= addresses[l] ^ first;
      odd |= addresses[l];
    }
  } else {
    for (const unsigned l : set_bits(mask)) {
      differ |= addresses[l] ^ first;
      odd |= addresses[l];
    }
  }
  if (differ >= page_bytes || (odd & (bytes - 1)) != 0 || first < windows_end) return nullptr;
  ranges_.refresh(s.where);
  const std::uint64_t begin = first / page_bytes * page_bytes;
  if (!s.where.holds(begin, begin + page_bytes - 1)) {
    // The first or the last page of a range, or another range than the last access.
    std::uint64_t low = first, high = first;
    for (const unsigned l : set_bits(mask)) {
      low = std::min(low, addresses[l]);
      high = std::max(high, addresses[l]);
    }
    if (!s.where.holds(low, high + bytes - 1) && !ranges_.find(low, high - low + bytes, s.where)) return nullptr;
  }
  return &memory_.at(first);
}

void functional_executor::load(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  addresses_of(i, w, mask, addresses);
  const unsigned bytes = s.bytes;
  const functional_memory::page* const page = common_page(s, mask, addresses, bytes);
  if (page == nullptr) return access(b, x, s, mask, addresses);
  if (mask == simt::all_lanes && bytes >= 4 && i.dst != isa::rz) {
    std::uint32_t* const to = w.regs + std::size_t{i.dst} * isa::warp_size;
    switch (bytes) {
      case 4: return gather<1>(page->bytes, addresses, to);
      case 8: return gather<2>(page->bytes, addresses, to);
      default: return gather<4>(page->bytes, addresses, to);
    }
  }
  alignas(64) std::uint32_t words[4][isa::warp_size];
  gather_some(page->bytes, addresses, mask, bytes, words);
  simt::lane_write_back(i, w, mask, words);
}

void functional_executor::store(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  addresses_of(i, x.state, mask, addresses);
  const unsigned bytes = s.bytes;
  functional_memory::page* const page = watches_ ? nullptr : common_page(s, mask, addresses, bytes);
  if (page == nullptr) return access(b, x, s, mask, addresses);
  page->mark_dirty();
  alignas(64) std::uint32_t words[4][isa::warp_size];
  simt::lane_store_data(i, x.state, words);
  if (bytes == 1) return scatter<1>(page->bytes, addresses, mask, words[0], 0);
  if (bytes == 2) return scatter<2>(page->bytes, addresses, mask, words[0], 0);
  for (unsigned k = 0; k < bytes / 4; ++k) scatter<4>(page->bytes, addresses, mask, words[k], 4 * k);
}

void functional_executor::shared(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const isa::instruction& i = *s.decoded->instruction;
  if (mask == simt::all_lanes && quick_shared(i, x.state, s.bytes)) return;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  simt::lane_addresses(i, x.state, mask, addresses);
  if (launch_->reaches_cluster && i.op != isa::opcode::ldsm) return access(b, x, s, mask, addresses);
  simt::shared_access(i, x.state, mask, addresses, bad_lane_);
}

// A copy to shared memory is complete at once.
void functional_executor::copy(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t from[isa::warp_size], to[isa::warp_size];
  alignas(64) std::uint32_t words[4][isa::warp_size] = {};
  simt::copy_targets(i, x.state, mask, to, bad_lane_);
  const simt::lane_mask copying = simt::copying_lanes(i, x.state, mask);
  simt::lane_addresses(i, x.state, copying, from);
  check_global(b, x, s, copying, from, s.bytes);
  for (const unsigned l : set_bits(copying)) {
    const std::uint8_t* const here = memory_.readable(from[l]);
    for (unsigned k = 0; k < s.bytes / 4; ++k) std::memcpy(&words[k][l], here + 4 * k, 4);
  }
  simt::remote_shared_access(i, *x.state.block, mask, to, words, bad_lane_);
}

void functional_executor::texture(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const isa::instruction& i = *s.decoded->instruction;
  if (!texture_) texture_ = std::make_unique<simt::texture_access>();
  simt::texture_access& a = *texture_;
  simt::plan_texture(i, w, mask, a, bad_lane_);
  const bool stores = i.op == isa::opcode::sust;
  const unsigned count = (a.bytes + 3) / 4, chunk = std::min(a.bytes, 4u);
  for (unsigned t = 0; t < a.count; ++t) {
    if (watcher_ != nullptr && a.mask[t] != 0) watched_texels(b, w, i, a, t);
    if (a.mask[t] == 0) continue;
    check_global(b, x, s, a.mask[t], a.addresses[t], a.bytes);
    for (const unsigned l : set_bits(a.mask[t])) {
      if (stores) {
        std::uint8_t* const to = memory_.writable(a.addresses[t][l]);
        for (unsigned k = 0; k < count; ++k) put(to + 4 * k, &a.words[0][k][l], chunk);
        continue;
      }
      const std::uint8_t* const from = memory_.readable(a.addresses[t][l]);
      a.words[t][0][l] = 0;
      for (unsigned k = 0; k < count; ++k) std::memcpy(&a.words[t][k][l], from + 4 * k, chunk);
    }
  }
  if (!stores) simt::finish_texture(i, w, a);
}

simt::lane_reader functional_executor::memory_of(warp& x, unsigned lane) {
  return lane_memory(x.state, services_, [this, &x, lane](std::uint64_t offset, std::uint8_t* to) {
    if (offset >= launch_->program->local_bytes) return false;
    *to = *local_byte(x, offset, lane);
    return true;
  });
}

}  // namespace heddle
