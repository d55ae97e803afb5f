// SPDX-License-Identifier: MIT
// The SM's part of bulk copies: descriptors from warps, shared memory, and what happens when a copy is complete.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/scalar/arrival.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/warp/fault_text.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

/// What a block of another SM performs for a segment of a bulk copy, and when all segments have been sent.
isa::instruction store_of(isa::dtype type) {
  isa::instruction i;
  i.op = isa::opcode::st;
  i.mem_space = isa::space::shared;
  i.type = type;
  return i;
}

isa::instruction arrival() {
  isa::instruction i = store_of(isa::dtype::b64);
  i.op = isa::opcode::red;
  i.sub = static_cast<std::uint8_t>(isa::atomic_op::arrive);
  return i;
}

const isa::instruction byte_store = store_of(isa::dtype::b8), half_store = store_of(isa::dtype::b16),
                       word_store = store_of(isa::dtype::b32), bytes_arrive = arrival();

/// The change of an mbarrier when `bytes` bytes have come.
std::uint64_t arrival_of(std::uint32_t bytes) { return std::uint64_t{0u - bytes} << 32; }

/// The bytes of a segment as the words of lanes.
void words_of(const simt::bulk_segment& p, std::uint32_t lanes, const std::uint8_t* bytes,
              std::uint32_t (*words)[isa::warp_size]) {
  for (const unsigned lane : set_bits(lanes))
    for (unsigned k = 0; k < (p.unit + 3u) / 4; ++k) {
      words[k][lane] = 0;
      std::memcpy(&words[k][lane], bytes + lane * p.unit + 4 * k, std::min<unsigned>(p.unit, 4));
    }
}

/// The blocks to which the command writes, bit by rank; 0: its own block alone.
std::uint32_t ranks_of(const simt::bulk_request& r, const simt::block_context& own) {
  if (!r.signals()) return 0;
  std::uint32_t ranks = r.blocks;
  const std::uint32_t place = r.shared >> isa::cluster_offset_bits;
  if (ranks == 0 && place != 0) ranks = 1u << (place - 1);
  return ranks == 1u << own.cluster_rank ? 0 : ranks;
}

}  // namespace

void name_bulk_instructions(state_image& image) {
  for (const isa::instruction* const i : {&byte_store, &half_store, &word_store, &bytes_arrive}) image.name(i);
}

void sm::bulk_copies(unsigned warp, const isa::instruction& i, simt::lane_mask mask, cycle_t cycle) {
  sub_partition& p = partition_of(warp);
  const unsigned slot = slot_of(warp), cta_slot = resource_manager.cta_slot_of(warp);
  invariant(tma != nullptr, "a bulk copy on a chip without a unit for it");
  resident_block& b = resource_manager.block(cta_slot);
  for (const unsigned lane : set_bits(mask)) {
    const simt::bulk_request r = simt::request_of(i, p.warp(slot), lane);
    const std::string problem = simt::problem_of(r, b.launch->shared_bytes);
    if (!problem.empty()) return p.fault(slot, lane, problem);
    const std::uint32_t ranks = ranks_of(r, b.context);
    if (ranks >> b.launch->cluster_blocks() != 0)
      return p.fault(slot, lane,
                     "a bulk copy to blocks " + std::to_string(ranks) + " (bit by rank) of a cluster of " +
                         std::to_string(b.launch->cluster_blocks()) + " blocks");
    bulk_command& c = tma->command();
    c.request = r;
    c.instruction = &i;
    c.launch = b.launch;
    c.traffic = p.at(slot).traffic_of(*p.at(slot).next);
    c.block = b.context.index;
    c.sequence = b.sequence;
    c.cta_slot = cta_slot;
    c.thread = p.warp(slot).thread(lane);
    c.warp = warp;
    c.residency = p.at(slot).residency;
    c.ranks = ranks;
    c.grouped = r.kind == simt::bulk_kind::store || r.kind == simt::bulk_kind::reduction;
    if (c.grouped) c.group = p.waits.bulk_begun(slot);
    ++b.unsettled;  // the block's context is not saved before the copy has ended
    tma->accept(c, cycle);
  }
}

/// The command's block, if it has not ended.
resident_block* sm::block_of(const bulk_command& c) {
  resident_block& b = resource_manager.block(c.cta_slot);
  return b.transaction != nullptr && b.sequence == c.sequence ? &b : nullptr;
}

cluster_access& sm::message_of(bulk_command& c, unsigned rank) {
  const resident_block* own = block_of(c);
  cluster_access& a = cluster_port->access();
  a.transaction = nullptr;
  a.bulk = &c;
  a.traffic = c.traffic;
  a.launch = c.launch;
  a.block = simt::block_of_rank(*c.launch, c.block, rank);
  a.from = id_;
  a.to = own->context.cluster_sms[rank];
  ++c.messages;
  return a;
}

cycle_t sm::bulk_write(bulk_command& c, const simt::bulk_segment& p, const std::uint8_t* bytes, lsu_transaction& t,
                       cycle_t cycle) {
  resident_block* const b = block_of(c);
  if (b == nullptr) return cycle;  // the program did not wait for it
  const std::uint32_t to = c.request.kind == simt::bulk_kind::cluster ? c.request.shared & isa::cluster_offset_mask : 0;
  const auto place = [&](std::uint32_t at) {
    return c.request.kind == simt::bulk_kind::cluster ? to + at : c.walk.place(at);
  };
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane * p.unit < p.bytes; ++lane) {
    lanes |= 1u << lane;
    t.own_addresses[lane] = place(p.at + lane * p.unit);
  }
  for (const unsigned rank : set_bits(c.ranks & ~(1u << b->context.cluster_rank))) {
    cluster_access& a = message_of(c, rank);
    a.instruction = c.request.reduces ? &c.atomic : p.unit == 1 ? &byte_store : p.unit == 2 ? &half_store : &word_store;
    a.kind = c.request.reduces ? lsu_kind::reduction : lsu_kind::store;
    a.lanes = lanes;
    a.bytes_per_lane = p.unit;
    std::copy(std::begin(t.own_addresses), std::end(t.own_addresses), std::begin(a.addresses));
    words_of(p, lanes, bytes, a.words);
    cluster_port->request(a, cycle);
  }
  if (c.ranks != 0 && (c.ranks >> b->context.cluster_rank & 1) == 0) return cycle;
  if (c.request.reduces) {
    unsigned bad_lane = 0;  // the addresses were checked when the copy issued
    words_of(p, lanes, bytes, t.words);
    simt::remote_shared_access(c.atomic, b->context, lanes, t.own_addresses, t.words, bad_lane);
  } else if (c.request.kind == simt::bulk_kind::cluster) std::memcpy(b->shared.data() + to + p.at, bytes, p.bytes);
  else c.walk.put(p, bytes, b->shared.data());
  t.kind = lsu_kind::store;
  t.shared_mask = lanes;
  t.differing_bits = lsu_transaction::not_known;
  load_store_unit.serve(t, cycle);
  return load_store_unit.banks_free();
}

cycle_t sm::bulk_read(bulk_command& c, const simt::bulk_segment& p, std::uint8_t* bytes, lsu_transaction& t,
                      cycle_t cycle) {
  resident_block* const b = block_of(c);
  if (b == nullptr) {
    std::memset(bytes, 0, p.bytes);
    return cycle + 1;
  }
  c.walk.get(p, bytes, b->shared.data());
  const lsu_kind kind = t.kind;
  std::uint64_t global[isa::warp_size];
  std::copy(std::begin(t.own_addresses), std::end(t.own_addresses), global);
  for (unsigned lane = 0; lane * p.unit < p.bytes; ++lane) {
    t.shared_mask |= 1u << lane;
    t.own_addresses[lane] = c.walk.place(p.at + lane * p.unit);
  }
  t.kind = lsu_kind::load;
  const cycle_t ready = load_store_unit.serve(t, cycle);
  t.kind = kind;
  t.shared_mask = 0;
  std::copy(global, global + isa::warp_size, std::begin(t.own_addresses));
  return ready;
}

void sm::bulk_has_read(const bulk_command& c, cycle_t cycle) {
  if (c.grouped) partition_of(c.warp).waits.bulk_answered(slot_of(c.warp), c.residency, c.group, true, cycle);
}

void sm::bulk_complete(bulk_command& c, cycle_t cycle) {
  if (c.grouped) partition_of(c.warp).waits.bulk_answered(slot_of(c.warp), c.residency, c.group, false, cycle);
  if (c.request.signals()) complete_bytes(c, cycle);
}

// The bytes arrive at the mbarriers of all blocks that have got them; a message to one comes after those with the
// bytes.
void sm::complete_bytes(bulk_command& c, cycle_t cycle) {
  resident_block* const b = block_of(c);
  if (b == nullptr) return;
  const std::uint32_t own = b->context.cluster_rank, at = c.request.barrier & isa::cluster_offset_mask;
  const std::uint64_t change = arrival_of(c.walk.bytes());
  for (const unsigned rank : set_bits(c.ranks & ~(1u << own))) {
    cluster_access& a = message_of(c, rank);
    a.instruction = &bytes_arrive;
    a.kind = lsu_kind::reduction;
    a.lanes = 1;
    a.bytes_per_lane = 8;
    a.addresses[0] = at;
    a.words[0][0] = static_cast<std::uint32_t>(change);
    a.words[1][0] = static_cast<std::uint32_t>(change >> 32);
    cluster_port->request(a, cycle);
  }
  if (c.ranks != 0 && (c.ranks >> own & 1) == 0) return;
  std::uint64_t object = 0;
  std::memcpy(&object, b->shared.data() + at, sizeof object);
  object = simt::arrival::result(object, change);
  std::memcpy(b->shared.data() + at, &object, sizeof object);
  mbarrier_changed(c.cta_slot, cycle);
}

void sm::bulk_failed(const bulk_command& c, const std::string& what) {
  simt::fault_text f = simt::describe_fault(*c.launch, c.block, c.thread, *c.instruction, what);
  fault_details details;
  details.at = f.front;
  program_fault_with(f.text, details);
}

}  // namespace heddle
