// SPDX-License-Identifier: MIT
// Accesses to memory of any kind, lane by lane.
#include <algorithm>
#include <cstring>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/lanes_by_space.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/fault_text.h"

namespace heddle {

void functional_executor::put(std::uint8_t* to, const void* from, unsigned bytes) {
  if (watches_ && std::memcmp(to, from, bytes) != 0) changed_ = true;
  if (bytes == 4) std::memcpy(to, from, 4);  // one move
  else std::memcpy(to, from, bytes);
}

void functional_executor::check_global(block& b, warp& x, functional_step& s, simt::lane_mask mask,
                                       const std::uint64_t* addresses, unsigned bytes) {
  ranges_.refresh(s.where);
  std::uint64_t odd = 0;
  bool known = true;  // all lanes access the range of the last access
  for (const unsigned l : set_bits(mask)) {
    odd |= addresses[l] & (bytes - 1);
    known &= s.where.holds(addresses[l], addresses[l] + bytes - 1);
  }
  if (known && odd == 0) return;
  const isa::instruction& i = *s.decoded->instruction;
  for (const unsigned l : set_bits(mask)) {
    const bool misaligned = (addresses[l] & (bytes - 1)) != 0;
    if (!misaligned && ranges_.find(addresses[l], bytes, s.where)) continue;
    const bool atomic = isa::is_atomic(i.op);
    const bool stores = isa::is_store(i.op);
    fail(b, x.state, i, l,
         simt::global_fault(atomic   ? "atomic"
                            : stores ? "store"
                                     : "load",
                            misaligned, addresses[l], bytes));
  }
}

void functional_executor::any_access(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  simt::lane_addresses(i, x.state, mask, addresses);
  if (s.decoded->access == lsu_kind::constant_load) {
    const std::uint64_t bank_bytes = launch_->banks[i.sub].size();
    const unsigned lane = simt::outside_bank(addresses, mask, s.bytes, bank_bytes);
    if (lane != isa::warp_size) fail(b, x.state, i, lane, simt::constant_fault(addresses[lane], s.bytes, bank_bytes));
    return s.execute(i, x.state, mask);
  }
  if (follower_ != nullptr) note_lines(b, x, s, mask);
  access(b, x, s, mask, addresses);
}

namespace {

struct cell_change {
  std::uint64_t before;
  std::uint64_t after;
};

/// What the atomic leaves in a cell that held `before`. `words`: the operands by word and lane, `count` words each.
std::uint64_t atomic_result(const isa::instruction& i, std::uint64_t before,
                            const std::uint32_t (*words)[isa::warp_size], unsigned lane, unsigned count) {
  const auto op = static_cast<isa::atomic_op>(i.sub);
  const auto value = [&](unsigned k) {
    return words[k][lane] | (count == 2 ? std::uint64_t{words[k + 1][lane]} << 32 : 0);
  };
  return simt::global_atomic_result(op, i.type, before, value(0), op == isa::atomic_op::cas ? value(count) : 0);
}

/// The most frequent atomic.
bool adds_words(const isa::instruction& i) {
  const bool word = i.type == isa::dtype::u32 || i.type == isa::dtype::s32 || i.type == isa::dtype::b32;
  return word && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::add;
}

/// The same on memory that other threads may change.
template <class Word>
cell_change change_among_threads(const isa::instruction& i, std::uint8_t* at,
                                 const std::uint32_t (*words)[isa::warp_size], unsigned lane) {
  auto* const cell = reinterpret_cast<Word*>(at);
  Word before = __atomic_load_n(cell, __ATOMIC_RELAXED), after = 0;
  do {
    after = static_cast<Word>(atomic_result(i, before, words, lane, sizeof(Word) / 4));
  } while (!__atomic_compare_exchange_n(cell, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return {before, after};
}

}  // namespace

std::uint8_t* functional_executor::local_byte(warp& x, std::uint64_t offset, unsigned lane) const {
  return x.local + (offset / 4 * isa::warp_size + lane) * 4 + offset % 4;
}

// Any load, store, atomic or reduction; each lane in its own address space.
void functional_executor::access(block& b, warp& x, functional_step& s, simt::lane_mask mask,
                                 std::uint64_t* addresses) {
  const isa::instruction& i = *s.decoded->instruction;
  lanes_by_space lanes = divide_by_space(i.mem_space, mask, addresses);
  if (launch_->reaches_cluster && lanes.shared != 0) lanes.shared &= ~access_others(b, x, lanes.shared, addresses, i);
  for (const unsigned l : set_bits(lanes.local)) {
    if (addresses[l] + s.bytes > launch_->program->local_bytes || addresses[l] % s.bytes != 0)
      fail(b, x.state, i, l, simt::local_fault(addresses[l], s.bytes));
  }
  if (lanes.shared != 0) simt::shared_access(i, x.state, lanes.shared, addresses, bad_lane_);
  if ((lanes.global | lanes.local) == 0) return;
  check_global(b, x, s, lanes.global, addresses, s.bytes);
  if (i.op == isa::opcode::ld) load_cells(x, s, lanes, addresses);
  else if (i.op == isa::opcode::st) store_cells(x, s, lanes, addresses);
  else change_cells(x, s, lanes, addresses);
}

// All lanes' first, so that the host fetches their lines at the same time.
void functional_executor::find_cells(warp& x, const lanes_by_space& lanes, const std::uint64_t* addresses,
                                     unsigned bytes, bool writes, lane_cell* cells) {
  for (const unsigned l : set_bits(lanes.local)) cells[l] = {local_byte(x, addresses[l], l), 4 * isa::warp_size};
  for (const unsigned l : set_bits(lanes.global)) {
    cells[l] = {writes ? memory_.writable(addresses[l], bytes) : memory_.readable(addresses[l], bytes), 4};
    __builtin_prefetch(cells[l].bytes);
  }
}

void functional_executor::load_cells(warp& x, functional_step& s, const lanes_by_space& lanes,
                                     const std::uint64_t* addresses) {
  const simt::lane_mask mask = lanes.global | lanes.local;
  const unsigned chunk = std::min<unsigned>(s.bytes, 4), count = (s.bytes + 3) / 4;
  alignas(64) std::uint32_t words[4][isa::warp_size];
  lane_cell cells[isa::warp_size];
  find_cells(x, lanes, addresses, s.bytes, false, cells);
  memory_.fetch();
  if (chunk == 4) {
    for (unsigned k = 0; k < count; ++k)
      for (const unsigned l : set_bits(mask)) std::memcpy(&words[k][l], cells[l].bytes + k * cells[l].apart, 4);
  } else {
    for (const unsigned l : set_bits(mask)) {
      words[0][l] = 0;
      std::memcpy(&words[0][l], cells[l].bytes, chunk);
    }
  }
  simt::lane_write_back(*s.decoded->instruction, x.state, mask, words);
}

void functional_executor::store_cells(warp& x, functional_step& s, const lanes_by_space& lanes,
                                      const std::uint64_t* addresses) {
  const simt::lane_mask mask = lanes.global | lanes.local;
  const unsigned chunk = std::min<unsigned>(s.bytes, 4), count = (s.bytes + 3) / 4;
  alignas(64) std::uint32_t words[simt::operand_words][isa::warp_size];
  lane_cell cells[isa::warp_size];
  find_cells(x, lanes, addresses, s.bytes, true, cells);
  memory_.fetch();
  simt::lane_store_data(*s.decoded->instruction, x.state, words);
  for (unsigned k = 0; k < count; ++k)
    for (const unsigned l : set_bits(mask)) put(cells[l].bytes + k * cells[l].apart, &words[k][l], chunk);
  memory_.settle();
}

// Blocks with such atomics are not executed by several threads, as the order shows.
void functional_executor::exchange_cell(const isa::instruction& i, const lane_cell& c,
                                        const std::uint32_t (*words)[isa::warp_size], unsigned lane,
                                        std::uint32_t (*old)[isa::warp_size]) {
  const auto op = static_cast<isa::atomic_op>(i.sub);
  std::uint32_t cell[4];
  for (unsigned k = 0; k < 4; ++k) std::memcpy(&cell[k], c.bytes + k * c.apart, 4);
  for (unsigned k = 0; k < 4; ++k) old[k][lane] = cell[k];
  const simt::wide_cell swap = op == isa::atomic_op::cas ? simt::cell_operand(words, 4, lane) : simt::wide_cell{};
  const simt::wide_cell after =
      simt::atomic_result(op, simt::cell_operand(old, 0, lane), simt::cell_operand(words, 0, lane), swap);
  std::memcpy(cell, &after, sizeof cell);
  for (unsigned k = 0; k < 4; ++k) put(c.bytes + k * c.apart, &cell[k], 4);
}

void functional_executor::change_cells(warp& x, functional_step& s, const lanes_by_space& lanes,
                                       const std::uint64_t* addresses) {
  const isa::instruction& i = *s.decoded->instruction;
  const simt::lane_mask mask = lanes.global | lanes.local;
  const unsigned chunk = std::min<unsigned>(s.bytes, 4), count = (s.bytes + 3) / 4;
  alignas(64) std::uint32_t words[simt::operand_words][isa::warp_size], old[4][isa::warp_size];
  lane_cell cells[isa::warp_size];
  find_cells(x, lanes, addresses, s.bytes, true, cells);
  const auto alone = memory_.alone();
  memory_.fetch();
  simt::lane_store_data(i, x.state, words);
  if (adds_words(i) && !concurrent_ && !watches_) {
    for (const unsigned l : set_bits(mask)) {
      std::memcpy(&old[0][l], cells[l].bytes, 4);
      const std::uint32_t sum = old[0][l] + words[0][l];
      std::memcpy(cells[l].bytes, &sum, 4);
    }
    memory_.settle();
    if (i.op == isa::opcode::atom) simt::lane_write_back(i, x.state, mask, old);
    return;
  }
  for (const unsigned l : set_bits(mask)) {
    const lane_cell& c = cells[l];
    if (s.bytes == 16) {
      exchange_cell(i, c, words, l, old);
      continue;
    }
    cell_change change{0, 0};
    if (concurrent_ && c.apart == 4) {  // of 4 or 8 bytes, as it commutes
      change = s.bytes == 8 ? change_among_threads<std::uint64_t>(i, c.bytes, words, l)
                            : change_among_threads<std::uint32_t>(i, c.bytes, words, l);
      changed_ |= change.before != change.after;
    } else {
      std::uint32_t cell[2] = {0, 0};
      for (unsigned k = 0; k < count; ++k) std::memcpy(&cell[k], c.bytes + k * c.apart, chunk);
      change.before = cell[0] | std::uint64_t{cell[1]} << 32;
      change.after = atomic_result(i, change.before, words, l, count);
      for (unsigned k = 0; k < count; ++k) {
        const auto word = static_cast<std::uint32_t>(change.after >> (32 * k));
        put(c.bytes + k * c.apart, &word, chunk);
      }
    }
    old[0][l] = static_cast<std::uint32_t>(change.before);
    old[1][l] = static_cast<std::uint32_t>(change.before >> 32);
  }
  memory_.settle();
  if (i.op == isa::opcode::atom) simt::lane_write_back(i, x.state, mask, old);
}

}  // namespace heddle
