// SPDX-License-Identifier: MIT
// The functional part of memory instructions: addresses, store data, write-back, shared memory, constant loads.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::atomic_op;
using isa::dtype;
using isa::instruction;
using isa::opcode;
using isa::operand_kind;

unsigned element_bytes(dtype t) {
  switch (t) {
    case dtype::u8:
    case dtype::s8:
    case dtype::b8: return 1;
    case dtype::u16:
    case dtype::s16:
    case dtype::b16:
    case dtype::f16:
    case dtype::bf16: return 2;
    case dtype::u64:
    case dtype::s64:
    case dtype::b64:
    case dtype::f64: return 8;
    case dtype::b128: return 16;
    default: return 4;
  }
}

std::uint32_t extended(dtype t, std::uint32_t v) {
  switch (t) {
    case dtype::u8:
    case dtype::b8: return v & 0xffu;
    case dtype::s8: return static_cast<std::uint32_t>(static_cast<std::int8_t>(v & 0xffu));
    case dtype::u16:
    case dtype::b16:
    case dtype::f16:
    case dtype::bf16: return v & 0xffffu;
    case dtype::s16: return static_cast<std::uint32_t>(static_cast<std::int16_t>(v & 0xffffu));
    default: return v;
  }
}

/// What the instruction does to memory whose address is checked; a copy writes shared memory.
const char* access_text(const instruction& i) {
  using isa::access_kind;
  switch (isa::info(i.op).access) {
    case access_kind::store:
    case access_kind::surface_store:
    case access_kind::copy: return "write";
    case access_kind::atomic:
    case access_kind::reduction:
    case access_kind::none: return "atomic";  // none: barriers
    case access_kind::load:
    case access_kind::matrix_load:
    case access_kind::constant_load:
    case access_kind::sample:
    case access_kind::surface_load: break;
  }
  return "read";
}

[[noreturn]] void fail_shared(const instruction& i, const block_context& block, std::uint64_t address, unsigned bytes,
                              unsigned lane) {
  char text[160];
  const char* what = access_text(i);
  if (address % bytes != 0) {
    std::snprintf(text, sizeof text, "misaligned shared memory %s of %u bytes at 0x%llx (lane %u)", what, bytes,
                  static_cast<unsigned long long>(address), lane);
  } else {
    std::snprintf(text, sizeof text, "shared memory %s of %u bytes at 0x%llx is outside the block's %u bytes (lane %u)",
                  what, bytes, static_cast<unsigned long long>(address), block.shared_bytes, lane);
  }
  throw program_error(text);
}

}  // namespace

bool all_lie_within(const std::uint64_t addresses[warp_size], std::uint64_t first, std::uint64_t last, unsigned bytes) {
  std::uint64_t bits = 0, beyond = 0;  // the highest bit of `beyond`: an address lies outside
  const std::uint64_t most = last - first;
  for (unsigned l = 0; l < warp_size; ++l) {
    bits |= addresses[l];
    beyond |= (addresses[l] - first) | (most - (addresses[l] - first));
  }
  return (bits & (bytes - 1)) == 0 && beyond >> 63 == 0;
}

namespace {

void check_shared(const instruction& i, const block_context& block, lane_mask mask, const std::uint64_t* addresses,
                  unsigned bytes, unsigned& bad_lane) {
  const std::uint64_t size = block.shared_bytes;
  const std::uint64_t last = size >= bytes ? size - bytes : 0;
  const std::uint64_t odd = bytes - 1;
  const auto wrong = [&](unsigned l) { return size < bytes || addresses[l] > last || (addresses[l] & odd) != 0; };
  if (mask == all_lanes && size >= bytes) {  // the common case, as in all_lie_within from 0 on
    std::uint64_t any = 0, beyond = 0;
    for (unsigned l = 0; l < warp_size; ++l) {
      any |= addresses[l];
      beyond |= last - addresses[l];
    }
    if ((any & odd) == 0 && (any | beyond) >> 63 == 0) return;
  }
  const lane_mask bad = lanes_where(mask, wrong);
  if (bad == 0) return;
  bad_lane = static_cast<unsigned>(__builtin_ctz(bad));
  fail_shared(i, block, addresses[bad_lane], bytes, bad_lane);
}

/// An atomic on 32-bit words whose result `f` computes from the word and the operand. Returns how many it changes.
template <class F>
unsigned atomic_words(std::uint8_t* memory, lane_mask mask, const std::uint64_t* addresses, const std::uint32_t* data,
                      std::uint32_t* old, F&& f) {
  unsigned changes = 0;
  for_each_lane(mask, [&](unsigned l) {
    std::memcpy(&old[l], memory + addresses[l], 4);
    const std::uint32_t after = f(old[l], data[l]);
    changes += after != old[l];
    std::memcpy(memory + addresses[l], &after, 4);
  });
  return changes;
}

/// The frequent atomics: of 32-bit integers, but for minima and maxima. False: it is none of them. `changes`: of words.
bool quick_atomic(const instruction& i, std::uint8_t* memory, lane_mask mask, const std::uint64_t* addresses,
                  const std::uint32_t* data, std::uint32_t* old, unsigned& changes) {
  if (i.type != dtype::u32 && i.type != dtype::s32 && i.type != dtype::b32) return false;
  const auto words = [&](auto&& f) {
    changes = atomic_words(memory, mask, addresses, data, old, f);
    return true;
  };
  switch (static_cast<atomic_op>(i.sub)) {
    case atomic_op::add: return words([](std::uint32_t a, std::uint32_t b) { return a + b; });
    case atomic_op::and_: return words([](std::uint32_t a, std::uint32_t b) { return a & b; });
    case atomic_op::or_: return words([](std::uint32_t a, std::uint32_t b) { return a | b; });
    case atomic_op::xor_: return words([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    default: return false;
  }
}

/// An atomic of 16 bytes on checked addresses. Returns how many it changes.
unsigned exchange_cells(const instruction& i, std::uint8_t* memory, lane_mask mask, const std::uint64_t* addresses,
                        const std::uint32_t (*data)[warp_size], std::uint32_t (*old)[warp_size]) {
  const auto op = static_cast<atomic_op>(i.sub);
  unsigned changes = 0;
  for_each_lane(mask, [&](unsigned l) {
    wide_cell before;
    std::memcpy(&before, memory + addresses[l], sizeof before);
    const wide_cell swap = op == atomic_op::cas ? cell_operand(data, 4, l) : wide_cell{};
    const wide_cell after = atomic_result(op, before, cell_operand(data, 0, l), swap);
    changes += !(after == before);
    std::memcpy(memory + addresses[l], &after, sizeof after);
    for (unsigned k = 0; k < 4; ++k)
      old[k][l] = static_cast<std::uint32_t>((k < 2 ? before.low : before.high) >> (32 * (k % 2)));
  });
  return changes;
}

/// An atomic on checked addresses: `data` are its operands, `old` becomes the values before. Returns how many it
/// changes.
unsigned atomic_cells(const instruction& i, std::uint8_t* memory, lane_mask mask, const std::uint64_t* addresses,
                      unsigned bytes, const std::uint32_t (*data)[warp_size], std::uint32_t (*old)[warp_size]) {
  unsigned changes = 0;
  if (quick_atomic(i, memory, mask, addresses, data[0], old[0], changes)) return changes;
  if (bytes == 16) return exchange_cells(i, memory, mask, addresses, data, old);
  const auto op = static_cast<atomic_op>(i.sub);
  const unsigned words = bytes == 8 ? 2 : 1;
  for_each_lane(mask, [&](unsigned l) {
    const auto value = [&](unsigned k) { return data[k][l] | (words == 2 ? std::uint64_t{data[k + 1][l]} << 32 : 0); };
    std::uint64_t cell = 0;
    std::memcpy(&cell, memory + addresses[l], bytes);
    const std::uint64_t before = cell;
    const std::uint64_t swap = op == atomic_op::cas ? value(words) : 0;
    cell = atomic_result(op, i.type, cell, value(0), swap);
    changes += std::memcmp(&cell, &before, bytes) != 0;
    std::memcpy(memory + addresses[l], &cell, bytes);
    old[0][l] = static_cast<std::uint32_t>(before);
    old[1][l] = static_cast<std::uint32_t>(before >> 32);
  });
  return changes;
}

unsigned shared_atomic(const instruction& i, warp_state& w, lane_mask mask, const std::uint64_t* addresses,
                       unsigned bytes) {
  std::uint32_t data[operand_words][warp_size];
  std::uint32_t old[4][warp_size];
  if (i.op == opcode::atom) std::memset(old, 0, sizeof old);
  lane_store_data(i, w, data);
  const unsigned changes = atomic_cells(i, w.block->shared, mask, addresses, bytes, data, old);
  if (i.op == opcode::atom) lane_write_back(i, w, mask, old);
  return changes;
}

/// A load or store of checked addresses. The width is a template parameter so that each copy is a single move.
template <unsigned bytes>
void move(const instruction& i, warp_state& w, lane_mask mask, const std::uint64_t* addresses) {
  constexpr unsigned count = (bytes + 3) / 4;
  constexpr unsigned chunk = bytes < 4 ? bytes : 4;
  alignas(64) std::uint32_t words[4][warp_size];
  std::uint8_t* memory = w.block->shared;
  if (i.op == opcode::st) {
    lane_store_data(i, w, words);
    const auto put = [&](unsigned l) {
      for (unsigned k = 0; k < count; ++k) std::memcpy(memory + addresses[l] + 4 * k, &words[k][l], chunk);
    };
    if (mask == all_lanes) {
      for (unsigned l = 0; l < warp_size; ++l) put(l);
    } else {
      for_each_lane(mask, put);
    }
    return;
  }
  const auto get = [&](unsigned l) {
    for (unsigned k = 0; k < count; ++k) std::memcpy(&words[k][l], memory + addresses[l] + 4 * k, chunk);
  };
  if (mask == all_lanes && chunk == 4) {
    for (unsigned l = 0; l < warp_size; ++l) get(l);
  } else {
    for (unsigned k = 0; k < count; ++k) std::memset(words[k], 0, sizeof words[k]);
    for_each_lane(mask, get);
  }
  lane_write_back(i, w, mask, words);
}

/// The execution function of accesses that name shared memory.
void shared_memory(const instruction& i, warp_state& w, lane_mask mask) {
  std::uint64_t addresses[warp_size];
  unsigned bad_lane = 0;
  lane_addresses(i, w, mask, addresses);
  shared_access(i, w, mask, addresses, bad_lane);
}

void ldc(const instruction& i, warp_state& w, lane_mask mask) {
  std::uint64_t addresses[warp_size];
  std::uint32_t words[4][warp_size] = {};
  lane_addresses(i, w, mask, addresses);
  const unsigned count = (access_bytes(i) + 3) / 4;
  for_each_lane(mask, [&](unsigned l) {
    for (unsigned k = 0; k < count; ++k) words[k][l] = constant_word(w, i.sub, addresses[l] + 4 * k);
  });
  lane_write_back(i, w, mask, words);
}

}  // namespace

unsigned access_bytes(const instruction& i) {
  if (i.op == opcode::ldsm) return 16;
  const unsigned element = element_bytes(i.type);
  if (element < 4 || isa::is_atomic(i.op)) return element;
  const unsigned registers = i.op == opcode::st ? i.src[1].count : i.dst_count;
  const unsigned bytes = element > 4 * registers ? element : 4 * registers;
  return bytes > 8 ? 16 : bytes;
}

void lane_addresses(const instruction& i, const warp_state& w, lane_mask, std::uint64_t addresses[warp_size]) {
  const isa::operand& a = i.src[0];
  const auto offset = static_cast<std::uint64_t>(i.offset);
  alignas(64) std::uint32_t low[warp_size], high[warp_size];
  if (a.kind != operand_kind::reg || a.reg == isa::rz) {
    const std::uint64_t base = scalar_word(a, w, 0) | std::uint64_t{scalar_word(a, w, 1)} << 32;
    for (unsigned l = 0; l < warp_size; ++l) addresses[l] = base + offset;
    return;
  }
  const wide_source base = fetch_wide(a, w, low, high);
  if (a.count > 1) {
    HEDDLE_EACH_LANE(l) addresses[l] = (base.low[l] | std::uint64_t{base.high[l]} << 32) + offset;
  } else {
    const auto short_offset = static_cast<std::uint32_t>(offset);
    HEDDLE_EACH_LANE(l) addresses[l] = base.low[l] + short_offset;
  }
}

void copy_targets(const instruction& i, const warp_state& w, lane_mask mask, std::uint64_t offsets[warp_size],
                  unsigned& bad_lane) {
  alignas(64) std::uint32_t scratch[warp_size];
  const std::uint32_t* const base = fetch(i.src[1], w, scratch);
  const auto offset = static_cast<std::uint32_t>(i.src[2].value);
  for (unsigned l = 0; l < warp_size; ++l) offsets[l] = base[l] + offset;
  check_shared(i, *w.block, mask, offsets, access_bytes(i), bad_lane);
}

lane_mask copying_lanes(const instruction& i, const warp_state& w, lane_mask mask) {
  return mask & read_predicate(i.psrc[0], w);
}

void lane_store_data(const instruction& i, const warp_state& w, std::uint32_t (*words)[warp_size]) {
  const unsigned count = (access_bytes(i) + 3) / 4;
  alignas(64) std::uint32_t scratch[warp_size];
  for (unsigned k = 0; k < count; ++k) {
    std::memcpy(words[k], fetch(i.src[1], w, scratch, k), sizeof scratch);
  }
  const bool compares = isa::is_atomic(i.op) && static_cast<atomic_op>(i.sub) == atomic_op::cas;
  if (!compares) return;
  for (unsigned k = 0; k < count; ++k) {
    std::memcpy(words[count + k], fetch(i.src[2], w, scratch, k), sizeof scratch);
  }
}

void lane_write_back(const instruction& i, warp_state& w, lane_mask mask, const std::uint32_t words[4][warp_size]) {
  if (i.dst == isa::rz) return;
  const unsigned bytes = access_bytes(i);
  if (bytes < 4) {
    alignas(64) std::uint32_t v[warp_size];
    for (unsigned l = 0; l < warp_size; ++l) v[l] = extended(i.type, words[0][l]);
    write_lanes(i, w, mask, v);
    return;
  }
  for (unsigned k = 0; k < bytes / 4; ++k) write_lanes(i, w, mask, words[k], k);
}

unsigned shared_access(const instruction& i, warp_state& w, lane_mask mask, const std::uint64_t addresses[warp_size],
                       unsigned& bad_lane) {
  const unsigned bytes = access_bytes(i);
  if (i.op == opcode::ldsm) {
    check_shared(i, *w.block, matrix_rows(i), addresses, bytes, bad_lane);
    load_matrices(i, w, mask, addresses);
    return 0;
  }
  check_shared(i, *w.block, mask, addresses, bytes, bad_lane);
  if (isa::is_atomic(i.op)) return shared_atomic(i, w, mask, addresses, bytes);
  switch (bytes) {
    case 1: move<1>(i, w, mask, addresses); break;
    case 2: move<2>(i, w, mask, addresses); break;
    case 4: move<4>(i, w, mask, addresses); break;
    case 8: move<8>(i, w, mask, addresses); break;
    default: move<16>(i, w, mask, addresses);
  }
  return 0;
}

void remote_shared_access(const instruction& i, const block_context& block, lane_mask mask,
                          const std::uint64_t addresses[warp_size], std::uint32_t (*words)[warp_size],
                          unsigned& bad_lane) {
  const unsigned bytes = access_bytes(i), chunk = bytes < 4 ? bytes : 4;
  check_shared(i, block, mask, addresses, bytes, bad_lane);
  if (isa::is_atomic(i.op)) {
    std::uint32_t old[4][warp_size] = {};
    atomic_cells(i, block.shared, mask, addresses, bytes, words, old);
    // The other lanes' operands stay: they may be for another block.
    for (unsigned k = 0; k < std::max(2u, bytes / 4); ++k)
      for_each_lane(mask, [&](unsigned l) { words[k][l] = old[k][l]; });
    return;
  }
  const bool writes = isa::is_store(i.op) || isa::info(i.op).access == isa::access_kind::copy;
  for (unsigned k = 0; k < (bytes + 3) / 4; ++k)
    for_each_lane(mask, [&](unsigned l) {
      std::uint8_t* const cell = block.shared + addresses[l] + 4 * k;
      if (writes) {
        std::memcpy(cell, &words[k][l], chunk);
      } else {
        words[k][l] = 0;
        std::memcpy(&words[k][l], cell, chunk);
      }
    });
}

execute_function select_memory(const instruction& i) {
  using isa::access_kind;
  switch (isa::info(i.op).access) {
    case access_kind::constant_load: return ldc;
    case access_kind::matrix_load: return shared_memory;
    case access_kind::load:
    case access_kind::store:
    case access_kind::atomic:
    case access_kind::reduction: return i.mem_space == isa::space::shared ? shared_memory : nullptr;
    case access_kind::none:
    case access_kind::copy:
    case access_kind::sample:
    case access_kind::surface_load:
    case access_kind::surface_store: break;
  }
  return nullptr;
}

}  // namespace heddle::simt
