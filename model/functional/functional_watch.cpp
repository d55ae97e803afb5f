// SPDX-License-Identifier: MIT
// Reports instructions to the watcher of an execution (execution_watcher.h).
#include <algorithm>
#include <cstring>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/lanes_by_space.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/tensor/warpgroup.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle {

namespace {

// The lanes of each tile, if a warp of all its lanes meets in tiles.
unsigned tile_of(const lane_meeting& m) {
  const std::size_t count = m.groups.size();
  if (count < 2 || count > isa::warp_size / 2 || (count & (count - 1)) != 0) return 0;
  const auto size = static_cast<unsigned>(isa::warp_size / count);
  simt::lane_mask all = 0;
  for (const lane_meeting::group& g : m.groups) {
    const simt::lane_mask tile = simt::all_lanes >> (isa::warp_size - size) << (__builtin_ctz(g.naming) & ~(size - 1));
    if (g.named != tile || g.naming != tile) return 0;
    all |= tile;
  }
  return all == simt::all_lanes ? size : 0;
}

}  // namespace

// The watcher follows all instructions. Returns how this one executes.
functional_kind functional_executor::followed(const block& b, const simt::warp_state& w, const functional_step& s,
                                              simt::lane_mask mask) {
  const functional_kind usual = s.usual;
  if (usual != functional_kind::other) notify_watcher(b, w, s, mask);  // others may have to wait first
  if (!watcher_->follows()) program_->follow(false);
  return usual;
}

void functional_executor::notify_watcher(const block& b, const simt::warp_state& w, const functional_step& s,
                                         simt::lane_mask mask) {
  const decoded_instruction& d = *s.decoded;
  watcher_->executes({b, w, *d.instruction, mask}, d.kind == issue_kind::arithmetic ? s.execute : nullptr);
}

// Returns the lanes that execute the instruction.
simt::lane_mask functional_executor::watched(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  if (s.kind == functional_kind::followed) notify_watcher(b, x.state, s, mask);
  if (mask == 0) return mask;
  mask = watched_kind(b, x, s, mask);
  if (s.kind != functional_kind::followed && watcher_->follows()) program_->follow(true);
  return mask;
}

simt::lane_mask functional_executor::watched_kind(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  const simt::warp_state& w = x.state;
  const decoded_instruction& d = *s.decoded;
  const watched_step step{b, w, *d.instruction, mask};
  const bool product = isa::is_warpgroup_product(step.instruction.op);
  if (product) watched_product(step);
  if (s.touches_products) watcher_->touches_products(step);
  if (product && (step.instruction.sub & isa::gmma::commits) != 0) watcher_->closes_copies(step);
  if (s.synchronises) watched_meeting(step);
  switch (d.kind) {
    case issue_kind::memory:
      if (d.unit == isa::unit::texture || d.access == lsu_kind::constant_load) return mask;
      return watched_access_of(b, x, s, mask);
    case issue_kind::fence: watcher_->fences(step); break;
    case issue_kind::copy_commit:
    case issue_kind::product_commit: watcher_->closes_copies(step); break;
    case issue_kind::copy_wait:
    case issue_kind::product_wait: watcher_->awaits_copies(step); break;
    case issue_kind::system_call: watcher_->calls_runtime(step); break;
    case issue_kind::barrier: {
      if (d.instruction->op == isa::opcode::syncs) return watched_access_of(b, x, s, mask);
      const isa::operand& number = d.instruction->src[0];
      const bool of_block = d.instruction->op == isa::opcode::bar;
      const unsigned first = first_bit(mask);
      if (d.instruction->op == isa::opcode::ucgabar_wait) watcher_->awaits_cluster(step);
      if (of_block || d.instruction->op == isa::opcode::ucgabar_arv)
        watcher_->arrives(
            step, of_block ? static_cast<std::uint32_t>(simt::lane_value(number, w, first)) : simt::cluster_barrier);
      break;
    }
    default: break;
  }
  return mask;
}

// Lanes that name different members meet apart: the tiles of a warp, say. Most meetings are like the last one.
void functional_executor::watched_meeting(const watched_step& step) {
  const isa::operand& members = *simt::member_operand(step.instruction);
  const simt::warp_state& w = step.warp;
  known_meeting& m = meeting_;
  const bool by_lane = members.is_reg() && members.reg != isa::rz && members.count == 1 && !members.negate &&
                       !members.invert && !members.absolute;
  const std::uint32_t* const named = by_lane ? w.regs + std::size_t{members.reg} * isa::warp_size : nullptr;
  if (!by_lane || m.mask != step.mask || m.live != w.live || std::memcmp(named, m.named.data(), sizeof m.named) != 0) {
    m.meeting.groups.clear();
    for (simt::lane_mask left = step.mask; left != 0;) {
      const simt::lane_mask alike = simt::lanes_naming_alike(members, w, left);
      m.meeting.groups.push_back({simt::named_lanes(members, w, left & -left), alike});
      left &= ~alike;
    }
    m.meeting.tile = tile_of(m.meeting);
    m.mask = by_lane ? step.mask : 0;
    m.live = w.live;
    if (by_lane) std::copy_n(named, isa::warp_size, m.named.begin());
  }
  watcher_->lanes_meet(step, m.meeting);
}

simt::lane_mask functional_executor::watched_access_of(block& b, warp& x, functional_step& s, simt::lane_mask mask) {
  simt::warp_state& w = x.state;
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  watched_access a{{b, w, i, mask}};
  a.addresses = addresses;
  a.bytes = i.op == isa::opcode::syncs ? 8 : s.bytes;
  if (i.op == isa::opcode::ldgsts) {
    a.global = simt::copying_lanes(i, w, mask);
    simt::lane_addresses(i, w, a.global, addresses);
    simt::lane_mask good = a.global == 0 ? mask : mask & (~a.global | watcher_->accesses(a));
    simt::copy_targets(i, w, good, addresses, bad_lane_);
    a.mask = a.shared = good;
    a.global = 0;
    a.copies_in = true;
    return good == 0 ? good : watcher_->accesses(a);
  }
  simt::lane_addresses(i, w, mask, addresses);
  const simt::lane_mask executing = i.op == isa::opcode::ldsm ? simt::matrix_rows(i) : mask;
  const lanes_by_space lanes = divide_by_space(i.mem_space, executing, addresses);
  a.mask = executing;
  a.shared = lanes.shared;
  a.local = lanes.local;
  a.global = lanes.global;
  const simt::lane_mask good = launch_->reaches_cluster && a.shared != 0 ? watched_others(a) : watcher_->accesses(a);
  if (i.op == isa::opcode::ldsm) return good == executing ? mask : 0;
  if (good != mask && i.dst != isa::rz)
    for (const unsigned lane : set_bits(mask & ~good))
      for (unsigned k = 0; k < i.dst_count; ++k) w.regs[(std::size_t{i.dst} + k) * isa::warp_size + lane] = 0;
  return good;
}

// Reports the accesses by the blocks whose shared memory they name. Addresses of another block become offsets for the
// report alone.
simt::lane_mask functional_executor::watched_others(watched_access& a) {
  std::uint64_t offsets[isa::warp_size];
  std::copy(a.addresses, a.addresses + isa::warp_size, offsets);
  const lanes_by_block lanes(a.shared, offsets, a.block.context.cluster_rank);
  watched_access part = a;
  part.addresses = offsets;
  part.shared &= ~lanes.others;
  part.mask &= ~lanes.others;
  simt::lane_mask good = part.mask != 0 ? watcher_->accesses(part) : 0;
  part.local = part.global = 0;
  const functional_cluster* const all = a.block.siblings;
  for (simt::lane_mask left = lanes.others; left != 0;) {
    std::uint32_t rank = 0;
    part.shared = part.mask = lanes.next(left, offsets, rank);
    if (all == nullptr || rank >= all->blocks.size()) {
      good |= part.mask;  // the access itself fails
      continue;
    }
    part.holder = all->blocks[rank];
    for (const unsigned l : set_bits(part.mask)) offsets[l] &= isa::cluster_offset_mask;
    if (part.holder->ended) watcher_->reaches_ended(part);
    else good |= watcher_->accesses(part);
  }
  return good;
}

// A segment that a bulk copy moves: what it reads, then what it writes. False: it is left out.
bool functional_executor::watched_bulk(const watched_step& step, const simt::bulk_request& r,
                                       const simt::bulk_walk& walk, const simt::bulk_segment& p, const block& target) {
  const auto moves = [&](const functional_block* holder, std::uint64_t address, unsigned bytes, bool writes) {
    const bool atomic = writes && r.reduces;
    return watcher_->transfer_moves(step, {holder, address, bytes, writes, atomic});
  };
  const auto in_shared = [&](const functional_block& b, bool writes) {
    for (std::uint32_t k = 0, n = 0; k < p.bytes; k += n) {
      const std::uint32_t place = walk.place(p.at + k);
      for (n = p.unit; k + n < p.bytes && walk.place(p.at + k + n) == place + n;) n += p.unit;
      moves(&b, place, n, writes);
    }
    return true;
  };
  switch (r.kind) {
    case simt::bulk_kind::prefetch: return true;
    case simt::bulk_kind::load:
      if (!p.outside && !moves(nullptr, p.global, p.bytes, false)) return false;
      return in_shared(target, true);
    case simt::bulk_kind::cluster:
      moves(&step.block, (r.source & isa::cluster_offset_mask) + p.at, p.bytes, false);
      return moves(&target, (r.shared & isa::cluster_offset_mask) + p.at, p.bytes, true);
    case simt::bulk_kind::store:
    case simt::bulk_kind::reduction:
      in_shared(step.block, false);
      return p.outside || moves(nullptr, p.global, p.bytes, true);
  }
  return true;
}

// One texel of each lane. Lanes that are left out read zero.
void functional_executor::watched_texels(const block& b, const simt::warp_state& w, const isa::instruction& i,
                                         simt::texture_access& t, unsigned which) {
  watched_access a{{b, w, i, t.mask[which]}};
  a.global = t.mask[which];
  a.addresses = t.addresses[which];
  a.bytes = t.bytes;
  const simt::lane_mask good = watcher_->accesses(a);
  for (const unsigned l : set_bits(t.mask[which] & ~good))
    for (auto& word : t.words[which]) word[l] = 0;
  t.mask[which] &= good;
}

// The rows of 16 bytes that a product of a warpgroup reads from shared memory.
void functional_executor::watched_product(const watched_step& step) {
  watcher_->transfer_begins(step);
  simt::each_row_read(step.instruction, step.warp, step.mask, [&](std::uint64_t address, unsigned bytes) {
    if (address + bytes <= launch_->shared_bytes) watcher_->transfer_moves(step, {&step.block, address, bytes});
  });
}

}  // namespace heddle
