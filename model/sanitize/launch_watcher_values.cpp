// SPDX-License-Identifier: MIT
// Values without a meaning: bytes of a word that were never written, while others of it have a value, and what a
// shuffle takes from a lane that has exited. They are followed until the program uses them (value_check.h).
#include "heddle/functional/functional_block.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/launch_watcher.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle::sanitize {

namespace {

constexpr std::uint64_t patience = 4096;  // instructions without such values, before they are no longer followed

// The lane whose value a shuffle takes; the own one if that is out of range (PTX ISA: shfl.sync).
unsigned lane_taken(const isa::instruction& i, const simt::warp_state& w, unsigned lane) {
  const auto by = static_cast<unsigned>(simt::lane_value(i.src[1], w, lane)) & 31;
  const auto c = static_cast<unsigned>(simt::lane_value(i.src[2], w, lane));
  const unsigned clamp = c & 31, segment = c >> 8 & 31, last = (lane & segment) | (clamp & ~segment);
  switch (static_cast<isa::shuffle_mode>(i.sub)) {
    case isa::shuffle_mode::up:
      return static_cast<int>(lane) - static_cast<int>(by) >= static_cast<int>(last) ? lane - by : lane;
    case isa::shuffle_mode::down: return lane + by <= last ? lane + by : lane;
    case isa::shuffle_mode::bfly: return (lane ^ by) <= last ? lane ^ by : lane;
    default: break;
  }
  const unsigned from = (lane & segment) | (by & ~segment);
  return from <= last ? from : lane;
}

}  // namespace

void launch_watcher::follow(const watched_step& s, unsigned reg, unsigned lane, std::uint32_t bits,
                            const valueless_source& from) {
  if (record_of(s).values.lacks(reg, lane, bits, from)) ++warps_followed_;
  following_ = true;
  steps_idle_ = 0;
}

void launch_watcher::forget_values(warp_record& w) {
  warps_followed_ -= !w.values.empty();
  w.values.clear();
}

void launch_watcher::executes(const watched_step& s, simt::execute_function execute) {
  if (warps_followed_ == 0) {
    following_ = ++steps_idle_ < patience;
    return;
  }
  warp_record& w = record_of(s);
  if (w.values.empty()) return;
  const valueless_source* const used = w.values.executes(s, execute, spare_);
  warps_followed_ -= w.values.empty();
  if (used != nullptr) report_valueless(s, *used);
  if (s.instruction.op == isa::opcode::exit && s.mask == s.warp.live) forget_values(w);
}

// Atomics that clear or set some bits of a word without a value: these have one from then on. A load of such a word has
// the others without one. False: it is another access.
bool launch_watcher::combines_bits(const watched_access& a, unsigned lane, place& holder) {
  const isa::instruction& i = a.instruction;
  const std::uint64_t at = a.addresses[lane];
  if (a.bytes != 4 || holder.shared.all(at, 4)) return false;
  const bool atomic = isa::is_atomic(i.op);
  const auto op = static_cast<isa::atomic_op>(i.sub);
  const bool clears = atomic && op == isa::atomic_op::and_, sets = atomic && op == isa::atomic_op::or_;
  const auto known = holder.valueless.find(at);
  if (!clears && !sets && (i.op != isa::opcode::ld || known == holder.valueless.end())) return false;
  std::uint32_t bits = known == holder.valueless.end() ? ~0u : known->second;
  for (unsigned k = 0; k < 4; ++k)
    if (holder.shared.all(at + k, 1)) bits &= ~(0xffu << (8 * k));
  if (i.op != isa::opcode::red && i.dst != isa::rz && bits != 0)
    follow(a, i.dst, lane, bits, {index_of(i), a.warp.thread(lane), at + __builtin_ctz(bits) / 8, false});
  if (!atomic) return true;
  const auto operand = static_cast<std::uint32_t>(simt::lane_value(i.src[1], a.warp, lane));
  bits &= clears ? operand : ~operand;
  holder.valueless[at] = bits;
  for (unsigned k = 0; k < 4; ++k)
    if ((bits >> (8 * k) & 0xff) == 0) holder.shared.write(at + k, 1);
  return true;
}

// The bytes of a load that lack a value while others have one. `has_value`: whether some of these bytes have.
template <class F>
void launch_watcher::follow_bytes(const watched_access& a, unsigned lane, F&& has_value) {
  const isa::instruction& i = a.instruction;
  if (i.op != isa::opcode::ld || i.dst == isa::rz) return;
  const unsigned word_bytes = a.bytes < 4 ? a.bytes : 4;
  for (unsigned k = 0; k < i.dst_count && k * 4 < a.bytes; ++k) {
    std::uint32_t bits = 0;
    for (unsigned b = 0; b < word_bytes; ++b)
      if (!has_value(4 * k + b, 1)) bits |= 0xffu << (8 * b);
    if (bits != 0 && has_value(4 * k, word_bytes)) follow_word(a, lane, k, bits);
  }
}

// `bits`: of the first register's word, or the k-th one behind it.
void launch_watcher::follow_word(const watched_access& a, unsigned lane, unsigned k, std::uint32_t bits) {
  const isa::instruction& i = a.instruction;
  const std::uint64_t place = a.addresses[lane] + 4 * k + static_cast<unsigned>(__builtin_ctz(bits)) / 8;
  const std::uint32_t sign = a.bytes < 4 ? 1u << (8 * a.bytes - 1) : 1u << 31;
  if (isa::is_signed(i.type) && (bits & sign) != 0) bits |= ~(sign - 1);
  follow(a, i.dst + k, lane, bits, {index_of(i), a.warp.thread(lane), place, false});
}

void launch_watcher::follow_local(const watched_access& a, unsigned lane, const written_bits& bits, std::size_t at) {
  const isa::instruction& i = a.instruction;
  if (i.op != isa::opcode::ld || i.dst == isa::rz) return;
  const unsigned word_bytes = a.bytes < 4 ? a.bytes : 4;
  const std::uint32_t all = ~0u >> (32 - 8 * word_bytes);
  for (unsigned k = 0; k < i.dst_count && k * 4 < a.bytes; ++k)
    if (const std::uint32_t lacking = bits.lacking(at + 4 * k, word_bytes); lacking != 0 && lacking != all)
      follow_word(a, lane, k, lacking);
}

void launch_watcher::follow_global(const watched_access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane];
  follow_bytes(a, lane,
               [&](unsigned offset, unsigned n) { return lacks(address + offset, n) != allocations::lack::all; });
}

// Lanes that have exited need not take part in a shuffle that names them. But they have no value. Nor does a shuffle
// give the value of a lane that its member mask leaves out.
void launch_watcher::takes_from_exited(const watched_step& s, simt::lane_mask named) {
  const isa::instruction& i = s.instruction;
  if (i.op != isa::opcode::shfl || i.dst == isa::rz) return;
  const std::uint64_t threads = std::uint64_t{launch_->block.x} * launch_->block.y * launch_->block.z;
  const std::uint64_t first = s.warp.thread(0);
  const simt::lane_mask started = threads >= first + isa::warp_size ? simt::all_lanes : (1u << (threads - first)) - 1;
  const simt::lane_mask exited = started & ~s.warp.live;
  const isa::operand* const members = simt::member_operand(i);
  if (members == nullptr || members->kind == isa::operand_kind::none) return;
  if (exited == 0 && (started & ~named) == 0) return;
  for (const unsigned lane : set_bits(s.mask & named)) {
    const unsigned from = lane_taken(i, s.warp, lane);
    const bool left_out = (simt::lane_value(*members, s.warp, lane) >> from & 1) == 0;
    if (from != lane && (left_out || (exited >> from & 1) != 0))
      follow(s, i.dst, lane, ~0u, {index_of(i), s.warp.thread(lane), from + (left_out ? isa::warp_size : 0), true});
  }
}

void launch_watcher::report_valueless(const watched_step& s, const valueless_source& from) {
  const unsigned kind = from.lane ? sanitize_kind::sync : sanitize_kind::init;
  if (!found_.counts({kind, launch_->program.get(), from.index, 0, 5})) return;
  const isa::program& program = *launch_->program;
  const isa::instruction& source = program.code[from.index];
  finding f = finding_at(kind, {s.block, s.warp, source, s.mask});
  const bool left_out = from.lane && from.place >= isa::warp_size;
  f.what = left_out    ? "shuffle that takes the value of a lane that its member mask leaves out"
           : from.lane ? "shuffle that takes the value of a lane that has exited"
                       : "uninitialised: read of " + std::to_string(isa::size_of(source.type)) +
                             " bytes, of which the one at " + hexadecimal(from.place) +
                             " was never written, and is computed with";
  f.details.push_back(
      thread_text(*launch_, s.block.number, from.thread) +
      (from.lane ? ": takes the value of lane " + std::to_string(from.place % isa::warp_size) : ": read"));
  f.details.push_back("used at " + place_in_source(program, s.instruction));
  found_.add(std::move(f));
}

}  // namespace heddle::sanitize
