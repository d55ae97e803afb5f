// SPDX-License-Identifier: MIT
// Bulk copies and waits at mbarriers without timing: a copy is complete at once.
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/bulk/arrival_test.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/scalar/arrival.h"
#include "heddle/simt/warp/divergence.h"
#include "heddle/simt/warp/fault_text.h"

namespace heddle {

// A wait that is not over lets others run, and is tried again by the program.
namespace {
void reduce(isa::atomic_op op, isa::dtype type, const std::uint8_t* from, unsigned bytes, std::uint8_t* to) {
  const unsigned size = isa::size_of(type);
  for (unsigned k = 0; k + size <= bytes; k += size) {
    std::uint64_t old = 0, operand = 0;
    std::memcpy(&old, to + k, size);
    std::memcpy(&operand, from + k, size);
    old = simt::global_atomic_result(op, type, old, operand, 0);
    std::memcpy(to + k, &old, size);
  }
}
}  // namespace

functional_executor::pause functional_executor::mbarrier_wait(warp& x, const isa::instruction& i,
                                                              simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const simt::arrival_test t = simt::test_arrival(i, w, mask, bad_lane_);
  simt::write_arrival(i, w, mask, t.complete);
  simt::advance(w);
  return t.complete == 0 ? pause::spins : pause::none;
}

void functional_executor::bulk_copies(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  for (const unsigned lane : set_bits(mask)) bulk_copy(b, x, s, lane);
}

void functional_executor::bulk_copy(block& b, warp& x, functional_step& s, unsigned lane) {
  const isa::instruction& i = *s.decoded->instruction;
  const simt::bulk_request r = simt::request_of(i, x.state, lane);
  const auto refuse = [&](const std::string& what) {
    if (!what.empty()) fail(b, x.state, i, lane, what);
  };
  refuse(simt::problem_of(r, b.context.shared_bytes));
  isa::tensor_map map;
  const watched_step step{b, x.state, i, 1u << lane};
  if (watcher_ != nullptr) watcher_->transfer_begins(step);
  const auto check = [&](std::uint64_t address, unsigned bytes) {
    if (!ranges_.find(address, bytes, s.where)) refuse(simt::global_fault("bulk copy", false, address, bytes));
  };
  if (r.tensor && !simt::parameter_map(*launch_, r.global, map)) {
    simt::bulk_request whole;
    whole.global = r.global;
    whole.bytes = sizeof map;
    if (r.global % 64 != 0) refuse("misaligned tensor map");
    simt::bulk_walk walk(whole);
    for (simt::bulk_segment p; walk.next(p);) {
      check(p.global, p.bytes);
      const std::uint8_t* const from = memory_.readable(p.global, p.bytes);
      memory_.fetch();
      std::memcpy(reinterpret_cast<std::uint8_t*>(&map) + p.at, from, p.bytes);
    }
  }
  if (r.tensor) refuse(simt::problem_of(r, map, b.context.shared_bytes));
  const simt::bulk_walk first = r.tensor ? simt::bulk_walk(r, map) : simt::bulk_walk(r);
  isa::instruction atomic;
  if (r.reduces) atomic.type = simt::reduction_type(r, r.tensor ? &map : nullptr);
  const auto copy_to = [&](block& target, block& waiting) {
    simt::bulk_walk walk = first;
    for (simt::bulk_segment p; walk.next(p);) {
      if (watcher_ != nullptr && !watched_bulk(step, r, walk, p, target)) continue;
      if (!p.outside && r.kind != simt::bulk_kind::cluster) check(p.global, p.bytes);
      if (follower_ != nullptr) note_segment(b, r, p);
      move_segment(r, walk, p, atomic, b.context.shared, target.context.shared);
    }
    if (!r.signals()) return;
    const std::uint32_t offset = r.barrier & isa::cluster_offset_mask;
    if (watcher_ != nullptr) watcher_->transfer_signals(step, waiting, offset);
    std::uint8_t* const at = waiting.context.shared + offset;
    std::uint64_t object = 0;
    std::memcpy(&object, at, sizeof object);
    object = simt::arrival::result(object, std::uint64_t{0u - first.bytes()} << 32);
    std::memcpy(at, &object, sizeof object);
  };
  changed_ = true;
  if (r.blocks == 0) return copy_to(block_at(b, r.shared, lane), block_at(b, r.barrier, lane));
  for (const unsigned rank : set_bits(r.blocks)) {
    block& target = block_of_rank(b, rank, lane);
    copy_to(target, target);
  }
}

void functional_executor::move_segment(const simt::bulk_request& r, const simt::bulk_walk& walk,
                                       const simt::bulk_segment& p, const isa::instruction& atomic,
                                       const std::uint8_t* own, std::uint8_t* shared) {
  std::uint8_t bytes[2 * simt::bulk_walk::line];
  switch (r.kind) {
    case simt::bulk_kind::prefetch: return;
    case simt::bulk_kind::load:
      if (p.outside) {
        walk.fill(p, bytes);
      } else {
        const std::uint8_t* const from = memory_.readable(p.global, p.bytes);
        memory_.fetch();
        std::memcpy(bytes, from, p.bytes);
      }
      return walk.put(p, bytes, shared);
    case simt::bulk_kind::cluster: {
      std::uint8_t* const to = shared + (r.shared & isa::cluster_offset_mask) + p.at;
      const std::uint8_t* const from = own + (r.source & isa::cluster_offset_mask) + p.at;
      if (r.reduces) reduce(r.op, atomic.type, from, p.bytes, to);
      else std::memmove(to, from, p.bytes);
      return;
    }
    case simt::bulk_kind::store:
    case simt::bulk_kind::reduction: break;
  }
  if (p.outside) return;
  walk.get(p, bytes, shared);
  std::uint8_t* const to = memory_.writable(p.global, p.bytes);
  const auto alone = memory_.alone();
  memory_.fetch();
  if (r.kind == simt::bulk_kind::store) std::memcpy(to, bytes, p.bytes);
  else reduce(r.op, atomic.type, bytes, p.bytes, to);
  memory_.settle();
}

}  // namespace heddle
