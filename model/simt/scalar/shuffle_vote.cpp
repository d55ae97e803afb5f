// SPDX-License-Identifier: MIT
// Exchange between the lanes of a warp (PTX ISA: shfl.sync, match.sync, redux.sync, vote.sync, activemask).
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::opcode;
using isa::shuffle_mode;
using isa::vote_mode;

/// The lane that each lane reads, and whether it lies in its segment; `b` and `c`: PTX's operands.
template <shuffle_mode mode>
void shuffle_sources(const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* from, std::uint32_t* valid) {
  HEDDLE_EACH_LANE(l) {
    const auto lane = static_cast<int>(l);
    const int by = static_cast<int>(b[l] & 31);
    const int clamp = static_cast<int>(c[l] & 31);
    const int segment = static_cast<int>(c[l] >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    const int source = mode == shuffle_mode::up     ? lane - by
                       : mode == shuffle_mode::down ? lane + by
                       : mode == shuffle_mode::bfly ? lane ^ by
                                                    : (lane & segment) | (by & ~segment);
    const bool good = mode == shuffle_mode::up ? source >= last : source <= last;
    from[l] = static_cast<std::uint32_t>(good ? source : lane) & 31;
    valid[l] = good ? 1 : 0;
  }
}

void shfl(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size], sc[warp_size];
  alignas(64) std::uint32_t result[warp_size], from[warp_size], valid[warp_size];
  const std::uint32_t* a = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  const std::uint32_t* c = fetch_modified<modifiers::integer>(i.src[2], w, sc);
  switch (static_cast<shuffle_mode>(i.sub)) {
    case shuffle_mode::up: shuffle_sources<shuffle_mode::up>(b, c, from, valid); break;
    case shuffle_mode::down: shuffle_sources<shuffle_mode::down>(b, c, from, valid); break;
    case shuffle_mode::bfly: shuffle_sources<shuffle_mode::bfly>(b, c, from, valid); break;
    case shuffle_mode::idx: shuffle_sources<shuffle_mode::idx>(b, c, from, valid); break;
  }
  // PTX leaves the value of an inactive source lane undefined; 0 is what reductions over the first lanes of a warp,
  // including NVIDIA's, rely on. A lane outside `mask` that reads itself is not written.
  lane_mask in_range = 0;
  for (unsigned l = 0; l < warp_size; ++l) {
    result[l] = (mask >> from[l] & 1) != 0 ? a[from[l]] : 0u;
    in_range |= valid[l] << l;
  }
  write_lanes(i, w, mask, result);
  write_predicate(i.pdst[0], w, mask, in_range & mask);
}

void match(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sb[warp_size];
  alignas(64) std::uint32_t result[warp_size] = {};
  const wide_operand a(i.src[0], w);
  const std::uint32_t* members = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  const bool all = i.sub == static_cast<unsigned>(isa::match_mode::all);
  lane_mask agree = 0;
  for_each_lane(mask, [&](unsigned l) {
    const lane_mask named = mask & members[l];
    const lane_mask same = lanes_where(named, [&](unsigned k) { return a[k] == a[l]; });
    result[l] = !all || same == named ? same : 0;
    agree |= same == named ? lane_bit[l] : 0u;
  });
  write_lanes(i, w, mask, result);
  write_predicate(i.pdst[0], w, mask, agree);
}

void redux(const instruction& i, warp_state& w, lane_mask mask) {
  using isa::redux_op;
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size];
  alignas(64) std::uint32_t result[warp_size] = {};
  const std::uint32_t* a = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const std::uint32_t* members = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  const auto op = static_cast<redux_op>(i.sub);
  const std::uint32_t flip = i.type == isa::dtype::s32 ? 0x80000000u : 0u;  // maps signed order to unsigned order
  for_each_lane(mask, [&](unsigned l) {
    std::uint32_t r = op == redux_op::and_  ? 0xffffffffu
                      : op == redux_op::min ? 0xffffffffu ^ flip
                      : op == redux_op::max ? flip
                                            : 0u;
    for_each_lane(mask & members[l], [&](unsigned k) {
      switch (op) {
        case redux_op::add: r += a[k]; break;
        case redux_op::min: r = (a[k] ^ flip) < (r ^ flip) ? a[k] : r; break;
        case redux_op::max: r = (a[k] ^ flip) > (r ^ flip) ? a[k] : r; break;
        case redux_op::and_: r &= a[k]; break;
        case redux_op::or_: r |= a[k]; break;
        case redux_op::xor_: r ^= a[k]; break;
      }
    });
    result[l] = r;
  });
  write_lanes(i, w, mask, result);
}

void vote(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size];
  alignas(64) std::uint32_t result[warp_size] = {};
  const bool everyone = i.src[0].kind == isa::operand_kind::none;
  const std::uint32_t* members = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const lane_mask p = read_predicate(i.psrc[0], w);
  const auto mode = static_cast<vote_mode>(i.sub);
  lane_mask truth = 0;
  for_each_lane(mask, [&](unsigned l) {
    const lane_mask voters = everyone ? mask : mask & members[l];
    const lane_mask yes = p & voters;
    bool r = false;
    switch (mode) {
      case vote_mode::any: r = yes != 0; break;
      case vote_mode::all: r = yes == voters; break;
      case vote_mode::uni: r = yes == voters || yes == 0; break;
      case vote_mode::ballot:
        result[l] = yes;
        r = yes != 0;
        break;
      case vote_mode::activemask:
        result[l] = mask;
        r = true;
        break;
    }
    truth |= r ? lane_bit[l] : 0u;
  });
  if (mode == vote_mode::ballot || mode == vote_mode::activemask) write_lanes(i, w, mask, result);
  write_predicate(i.pdst[0], w, mask, truth);
}

}  // namespace

void write_reduction(const instruction& i, warp_state& w, lane_mask mask, std::uint32_t count, std::uint32_t threads) {
  if (i.sub == 2 && i.dst != isa::rz)
    for_each_lane(mask, [&](unsigned l) { w.regs[std::size_t{i.dst} * warp_size + l] = count; });
  if (i.sub >= 3 && i.pdst[0] != isa::pt) {
    const bool holds = i.sub == 3 ? count == threads : count != 0;
    lane_mask& p = w.predicates[i.pdst[0]];
    p = holds ? p | mask : p & ~mask;
  }
}

execute_function select_shuffle_vote(const instruction& i) {
  switch (i.op) {
    case opcode::shfl: return shfl;
    case opcode::match: return match;
    case opcode::redux: return redux;
    case opcode::vote: return vote;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
