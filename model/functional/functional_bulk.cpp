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

namespace heddle {

// A wait that is not over lets others run, and is tried again by the program.
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
  if (r.blocks > 1 || r.shared >> isa::cluster_offset_bits > 1)
    refuse("a bulk copy to another block of the cluster in functional execution");
  isa::tensor_map map;
  const auto check = [&](std::uint64_t address, unsigned bytes) {
    if (!ranges_.find(address, bytes, s.where)) refuse(simt::global_fault("bulk copy", false, address, bytes));
  };
  const auto each_piece = [&](simt::bulk_walk walk, auto&& f) {
    for (simt::bulk_piece p; walk.next(p);) {
      if (!p.outside && r.kind != simt::bulk_kind::cluster) check(p.global, p.bytes);
      f(walk, p);
    }
  };
  if (r.tensor && !simt::parameter_map(*launch_, r.global, map)) {
    simt::bulk_request whole;
    whole.global = r.global;
    whole.bytes = sizeof map;
    if (r.global % 64 != 0) refuse("misaligned tensor map");
    each_piece(simt::bulk_walk(whole), [&](const simt::bulk_walk&, const simt::bulk_piece& p) {
      std::memcpy(reinterpret_cast<std::uint8_t*>(&map) + p.at, memory_.readable(p.global), p.bytes);
    });
  }
  if (r.tensor) refuse(simt::problem_of(r, map, b.context.shared_bytes));
  const simt::bulk_walk first = r.tensor ? simt::bulk_walk(r, map) : simt::bulk_walk(r);
  isa::instruction atomic;
  if (r.kind == simt::bulk_kind::reduction) atomic.type = simt::reduction_type(r, r.tensor ? &map : nullptr);
  each_piece(first, [&](const simt::bulk_walk& walk, const simt::bulk_piece& p) {
    move_piece(r, walk, p, atomic, b.context.shared);
    if (watcher_ != nullptr) watched_piece(b, r, walk, p);
  });
  changed_ = true;
  if (!r.signals()) return;
  std::uint8_t* const at = b.context.shared + (r.barrier & isa::cluster_offset_mask);
  std::uint64_t object = 0;
  std::memcpy(&object, at, sizeof object);
  object = simt::arrival::result(object, std::uint64_t{0u - first.bytes()} << 32);
  std::memcpy(at, &object, sizeof object);
}

// Tells the watcher what the piece has written.
void functional_executor::watched_piece(const block& b, const simt::bulk_request& r, const simt::bulk_walk& walk,
                                        const simt::bulk_piece& p) {
  switch (r.kind) {
    case simt::bulk_kind::prefetch: return;
    case simt::bulk_kind::load:
      for (std::uint32_t k = 0; k < p.bytes; k += p.unit) watcher_->bulk_written(b, true, walk.place(p.at + k), p.unit);
      return;
    case simt::bulk_kind::cluster:
      return watcher_->bulk_written(b, true, (r.shared & isa::cluster_offset_mask) + p.at, p.bytes);
    case simt::bulk_kind::store:
    case simt::bulk_kind::reduction:
      if (!p.outside) watcher_->bulk_written(b, false, p.global, p.bytes);
      return;
  }
}

void functional_executor::move_piece(const simt::bulk_request& r, const simt::bulk_walk& walk,
                                     const simt::bulk_piece& p, const isa::instruction& atomic, std::uint8_t* shared) {
  std::uint8_t bytes[2 * simt::bulk_walk::line];
  switch (r.kind) {
    case simt::bulk_kind::prefetch: return;
    case simt::bulk_kind::load:
      if (p.outside) walk.fill(p, bytes);
      else std::memcpy(bytes, memory_.readable(p.global), p.bytes);
      return walk.put(p, bytes, shared);
    case simt::bulk_kind::cluster:
      return static_cast<void>(std::memmove(shared + (r.shared & isa::cluster_offset_mask) + p.at,
                                            shared + (r.source & isa::cluster_offset_mask) + p.at, p.bytes));
    case simt::bulk_kind::store:
      if (p.outside) return;
      walk.get(p, bytes, shared);
      std::memcpy(memory_.writable(p.global), bytes, p.bytes);
      return;
    case simt::bulk_kind::reduction: break;
  }
  if (p.outside) return;
  walk.get(p, bytes, shared);
  const unsigned size = isa::size_of(atomic.type);
  for (unsigned k = 0; k + size <= p.bytes; k += size) {
    std::uint8_t* const cell = memory_.writable(p.global + k);
    std::uint64_t old = 0, operand = 0;
    std::memcpy(&old, cell, size);
    std::memcpy(&operand, bytes + k, size);
    old = simt::atomic_result(r.op, atomic.type, old, operand, 0);
    std::memcpy(cell, &old, size);
  }
}

}  // namespace heddle
