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

/// Where the lanes' words lie if their addresses follow each other (row) or are the same (uniform).
struct lane_pattern {
  bool row = false;
  bool uniform = false;
};

/// Four words in a vector register: the compiler makes scalar code of the loop below without it.
using quad = std::uint32_t __attribute__((vector_size(16)));

bool is_zero(quad q) {
  std::uint64_t halves[2];
  std::memcpy(halves, &q, sizeof q);
  return (halves[0] | halves[1]) == 0;
}

// Of `lanes` lanes that access `bytes` bytes each, from the low words of their addresses.
template <unsigned lanes>
lane_pattern pattern_of(const std::uint32_t* low, unsigned bytes) {
  const std::uint32_t first = low[0];
  const quad same = {first, first, first, first};
  quad next = same + quad{0, bytes, 2 * bytes, 3 * bytes};
  quad differs = {}, moves = {};
  for (unsigned l = 0; l < lanes; l += 4) {
    quad here;
    std::memcpy(&here, low + l, sizeof here);
    differs |= here ^ same;
    moves |= here ^ next;
    next += 4 * bytes;
  }
  return {is_zero(moves) && first <= ~std::uint32_t{0} - (lanes - 1) * bytes, is_zero(differs)};
}

// Loads `words` words of each of the lanes from `from`, into rows of the register file.
template <unsigned lanes, unsigned words>
void load_row(const std::uint8_t* from, std::uint32_t* to) {
  if (words == 1) {
    std::memcpy(to, from, lanes * 4);
    return;
  }
  alignas(64) std::uint32_t data[lanes * words];
  std::memcpy(data, from, sizeof data);
  for (unsigned k = 0; k < words; ++k)
    for (unsigned l = 0; l < lanes; ++l) to[k * isa::warp_size + l] = data[l * words + k];
}

template <unsigned lanes, unsigned words>
void store_row(const std::uint32_t* from, std::uint8_t* to) {
  if (words == 1) {
    std::memcpy(to, from, lanes * 4);
    return;
  }
  alignas(64) std::uint32_t data[lanes * words];
  for (unsigned k = 0; k < words; ++k)
    for (unsigned l = 0; l < lanes; ++l) data[l * words + k] = from[k * isa::warp_size + l];
  std::memcpy(to, data, sizeof data);
}

template <unsigned lanes, unsigned words>
void load_same(const std::uint8_t* from, std::uint32_t* to) {
  for (unsigned k = 0; k < words; ++k) {
    std::uint32_t v = 0;
    std::memcpy(&v, from + 4 * k, 4);
    for (unsigned l = 0; l < lanes; ++l) to[k * isa::warp_size + l] = v;
  }
}

constexpr unsigned half_warp = isa::warp_size / 2;

// Each half of the warp accesses a row of shared memory, or loads one place. Returns false, and has done nothing, if
// not both do, and for illegal addresses.
template <unsigned words>
bool quick_halves(const std::uint32_t* base, std::uint32_t offset, bool loads, std::uint32_t size, std::uint8_t* memory,
                  std::uint32_t* registers) {
  constexpr unsigned bytes = 4 * words;
  std::uint32_t at[2];
  bool row[2];
  for (unsigned h = 0; h < 2; ++h) {
    const lane_pattern p = pattern_of<half_warp>(base + h * half_warp, bytes);
    if (!p.row && !(p.uniform && loads)) return false;
    row[h] = p.row;
    at[h] = base[h * half_warp] + offset;
    const std::uint32_t extent = p.row ? half_warp * bytes : bytes;
    if (at[h] % bytes != 0 || size < extent || at[h] > size - extent) return false;
  }
  for (unsigned h = 0; h < 2; ++h) {
    std::uint32_t* const to = registers + h * half_warp;
    if (!loads) store_row<half_warp, words>(to, memory + at[h]);
    else if (row[h]) load_row<half_warp, words>(memory + at[h], to);
    else load_same<half_warp, words>(memory + at[h], to);
  }
  return true;
}

bool quick_halves(unsigned words, const std::uint32_t* base, std::uint32_t offset, bool loads, std::uint32_t size,
                  std::uint8_t* memory, std::uint32_t* registers) {
  switch (words) {
    case 1: return quick_halves<1>(base, offset, loads, size, memory, registers);
    case 2: return quick_halves<2>(base, offset, loads, size, memory, registers);
    default: return quick_halves<4>(base, offset, loads, size, memory, registers);
  }
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
  std::uint32_t* const words = w.regs + std::size_t{first} * isa::warp_size;
  std::uint8_t* const memory = w.block->shared;
  if (quick_halves(bytes / 4, base, offset, loads, size, memory, words)) return true;
  const std::uint32_t last = size - bytes;
  alignas(64) std::uint32_t at[isa::warp_size];
  std::uint32_t wrong = 0;
  for (unsigned l = 0; l < isa::warp_size; ++l) {
    at[l] = base[l] + offset;
    wrong |= (at[l] & (bytes - 1)) | (at[l] > last ? 1u : 0u);
  }
  if (wrong != 0) return false;
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

// The page that contains all lanes' addresses if they are legal and in this process; else null.
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
  return memory_.at(first);
}

// The page of the `bytes` bytes from `first` on if they are legal, aligned to `alignment`, in one page and in this
// process; else null.
functional_memory::page* functional_executor::page_of(functional_step& s, std::uint64_t first, unsigned bytes,
                                                      unsigned alignment) {
  if ((first & (alignment - 1)) != 0 || first < windows_end || first % page_bytes + bytes > page_bytes) return nullptr;
  ranges_.refresh(s.where);
  if (!s.where.holds(first, first + bytes - 1) && !ranges_.find(first, bytes, s.where)) return nullptr;
  return memory_.at(first);
}

// The usual access: all lanes, whole words, in a row or of one place. Returns false, and has done nothing, for others.
bool functional_executor::quick_global(const isa::instruction& i, simt::warp_state& w, functional_step& s, bool loads) {
  const isa::operand& a = i.src[0];
  const unsigned bytes = s.bytes;
  if (bytes < 4 || !a.is_reg() || a.reg == isa::rz || a.count < 2 || (loads && i.dst == isa::rz)) return false;
  const std::uint32_t* const low = w.regs + std::size_t{a.reg} * isa::warp_size;
  const std::uint32_t* const high = low + isa::warp_size;
  const lane_pattern p = pattern_of<isa::warp_size>(low, bytes);
  if (!(p.row || (p.uniform && loads)) || !pattern_of<isa::warp_size>(high, 0).uniform) return false;
  const std::uint64_t first = (low[0] | std::uint64_t{high[0]} << 32) + static_cast<std::uint64_t>(i.offset);
  functional_memory::page* const page = page_of(s, first, p.row ? isa::warp_size * bytes : bytes, bytes);
  if (page == nullptr) return false;
  std::uint8_t* const here = page->bytes + first % page_bytes;
  if (loads) {
    std::uint32_t* const to = w.regs + std::size_t{i.dst} * isa::warp_size;
    if (p.row)
      bytes == 4   ? load_row<isa::warp_size, 1>(here, to)
      : bytes == 8 ? load_row<isa::warp_size, 2>(here, to)
                   : load_row<isa::warp_size, 4>(here, to);
    else
      bytes == 4   ? load_same<isa::warp_size, 1>(here, to)
      : bytes == 8 ? load_same<isa::warp_size, 2>(here, to)
                   : load_same<isa::warp_size, 4>(here, to);
    return true;
  }
  page->mark_dirty();
  alignas(64) std::uint32_t words[4][isa::warp_size];
  simt::lane_store_data(i, w, words);
  bytes == 4   ? store_row<isa::warp_size, 1>(words[0], here)
  : bytes == 8 ? store_row<isa::warp_size, 2>(words[0], here)
               : store_row<isa::warp_size, 4>(words[0], here);
  return true;
}

void functional_executor::load(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const isa::instruction& i = *s.decoded->instruction;
  if (__builtin_expect(follower_ != nullptr, 0)) note_lines(b, x, s, mask);
  if (mask == simt::all_lanes && quick_global(i, w, s, true)) return;
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
  if (__builtin_expect(follower_ != nullptr, 0)) note_lines(b, x, s, mask);
  if (mask == simt::all_lanes && !watches_ && quick_global(i, x.state, s, false)) return;
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
  if (follower_ != nullptr) b.lines.add(from, copying, s.bytes, line_use::reads);
  const std::uint8_t* here[isa::warp_size];
  for (const unsigned l : set_bits(copying)) here[l] = memory_.readable(from[l], s.bytes);
  memory_.fetch();
  for (const unsigned l : set_bits(copying))
    for (unsigned k = 0; k < s.bytes / 4; ++k) std::memcpy(&words[k][l], here[l] + 4 * k, 4);
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
    if (follower_ != nullptr)
      b.lines.add(a.addresses[t], a.mask[t], a.bytes, stores ? line_use::writes : line_use::reads);
    for (const unsigned l : set_bits(a.mask[t])) {
      if (stores) {
        std::uint8_t* const to = memory_.writable(a.addresses[t][l], a.bytes);
        memory_.fetch();
        for (unsigned k = 0; k < count; ++k) put(to + 4 * k, &a.words[0][k][l], chunk);
        memory_.settle();
        continue;
      }
      const std::uint8_t* const from = memory_.readable(a.addresses[t][l], a.bytes);
      memory_.fetch();
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
