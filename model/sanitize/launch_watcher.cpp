// SPDX-License-Identifier: MIT
#include "heddle/sanitize/launch_watcher.h"

#include <algorithm>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/sanitize/values/code_paths.h"
#include "heddle/simt/execute.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle::sanitize {

namespace {

std::string bytes_text(unsigned bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

const char* access_text(const watched_access& a) {
  using isa::access_kind;
  switch (isa::info(a.instruction.op).access) {
    case access_kind::store: return "write";
    case access_kind::atomic:
    case access_kind::reduction: return "atomic";
    case access_kind::surface_store: return "surface write";
    case access_kind::surface_load: return "surface read";
    case access_kind::sample: return "texture read";
    case access_kind::copy: return a.copies_in ? "write" : "read";
    case access_kind::load:
    case access_kind::matrix_load:
    case access_kind::constant_load:
    case access_kind::none: break;  // of barriers, which read their words
  }
  return "read";
}

const char* space_text(const watched_access& a, unsigned lane) {
  return (a.shared >> lane & 1) != 0 ? "shared" : (a.local >> lane & 1) != 0 ? "local" : "global";
}

bool reads(const watched_access& a) { return !isa::is_store(a.instruction.op) && !a.copies_in; }
bool writes(const watched_access& a) {
  return a.copies_in || isa::is_store(a.instruction.op) || isa::is_atomic(a.instruction.op);
}

}  // namespace

unsigned launch_watcher::slot_of(const functional_block& block) { return block.slot; }

std::uint32_t launch_watcher::index_of(const isa::instruction& i) const {
  return static_cast<std::uint32_t>(&i - launch_->program->code.data());
}

void launch_watcher::launch_begins(const resident_launch& launch, functional_memory::view& memory, bool independent) {
  launch_ = &launch;
  independent_ = independent;
  partial_ = false;
  steps_ = 0;
  where_ = {};
  unchecked_.clear();
  follows_.clear();
  computes_.clear();
  patterns_.clear();
  places_.clear();
  following_ = false;
  warps_followed_ = 0;
  const auto swaps = [](const isa::instruction& i) {
    return i.op == isa::opcode::atom && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::cas;
  };
  swaps_ = std::any_of(launch.program->code.begin(), launch.program->code.end(), swaps);
  checks_races_ = (kinds_ & sanitize_kind::races) != 0;
  if (!checks_races_) return;
  unchecked_ = races_.begin(launch, memory, independent);
  checks_races_ = unchecked_.empty();
}

void launch_watcher::end() {
  if (checks_races_ && launch_ != nullptr) works_.ends(*launch_, races_.global());
  launch_ = nullptr;
  races_.end();
  places_.clear();
}

void launch_watcher::block_begins(const functional_block& block) {
  steps_ = 0;
  if (checks_races_) races_.block_begins(block);
  if (block.slot >= places_.size()) places_.resize(block.slot + 1);
  place& p = places_[block.slot];
  p.warps.resize(block.warps.size());
  const std::uint32_t local = launch_->program->local_bytes;
  for (warp_record& w : p.warps) {
    w.met_barrier = 0;
    w.waiting.clear();
    w.passed.clear();
    w.products = product_check();
    forget_values(w);
    w.values.begin(swaps_);
    if ((kinds_ & sanitize_kind::init) != 0) w.local.reset(std::size_t{local} * isa::warp_size);
  }
  if ((kinds_ & sanitize_kind::init) != 0) p.shared.reset(launch_->shared_bytes);
  p.valueless.clear();
}

simt::lane_mask launch_watcher::accesses(const watched_access& a) {
  ++steps_;
  polls_global_ = polls_global_ || a.global != 0;
  if (partial_) bypasses(a);
  if (!a.warp.paths.empty()) passes_meetings(a);
  const access_pattern* const pattern = patterns_.find(index_of(a.instruction), a.addresses, a.mask, a.bytes);
  const access_shape shape = pattern != nullptr ? pattern->at(a.addresses[__builtin_ctz(a.mask)])
                                                : access_shape::of(a.addresses, a.mask, a.bytes);
  const bool passes = passes_heap(a, shape);
  const simt::lane_mask good = passes ? a.mask : legal(a, shape);
  if (!passes && good != 0 && (kinds_ & sanitize_kind::init) != 0) check_written(a, good, shape);
  if (good != 0 && checks_races_) races_.accesses(a, good, shape);
  // Without the check the executor itself stops at an illegal access.
  return (kinds_ & sanitize_kind::memory) != 0 ? good : a.mask;
}

// The access is of memory of malloc alone, it is legal, and what it reads was written. Also notes what it writes.
bool launch_watcher::passes_heap(const watched_access& a, const access_shape& shape) {
  return a.global == a.mask && (shape.ored & (a.bytes - 1)) == 0 && of_heap(shape.begin) && of_heap(shape.end - 1) &&
         heap_.passes(a.addresses, a.mask, a.bytes, reads(a), writes(a));
}

simt::lane_mask launch_watcher::legal(const watched_access& a, const access_shape& shape) {
  if ((shape.ored & (a.bytes - 1)) == 0) {
    if (a.shared == a.mask && shape.end <= launch_->shared_bytes) return a.mask;
    if (a.local == a.mask && shape.end <= launch_->program->local_bytes) return a.mask;
  }
  ranges_->refresh(where_);
  if (a.global == a.mask && (shape.ored & (a.bytes - 1)) == 0 && !of_heap(shape.begin) && !of_heap(shape.end - 1) &&
      is_allocated(shape.begin, shape.end - shape.begin))
    return a.mask;
  simt::lane_mask good = 0;
  for (const unsigned lane : set_bits(a.mask))
    if (is_legal(a, lane)) good |= 1u << lane;
  return good;
}

std::string launch_watcher::nearest(std::uint64_t address) const {
  if (!of_heap(address)) return host_.nearest(address);
  return nearest_text(address, heap_.live(), heap_.freed(), [](const auto& block) {
    return std::pair<std::uint64_t, std::string>{block.second, "memory of malloc"};
  });
}

// Also reports it.
bool launch_watcher::is_legal(const watched_access& a, unsigned lane) {
  const std::uint64_t address = a.addresses[lane];
  const simt::lane_mask bit = 1u << lane;
  const bool misaligned = (address & (a.bytes - 1)) != 0;
  if ((a.shared & bit) != 0 || (a.local & bit) != 0) {
    const bool in_shared = (a.shared & bit) != 0;
    const std::uint64_t size = in_shared ? launch_->shared_bytes : launch_->program->local_bytes;
    if (!misaligned && address + a.bytes <= size) return true;
    report_illegal(
        a, lane, misaligned,
        misaligned ? ""
                   : "the " + std::string(in_shared ? "block" : "thread") + " has " + std::to_string(size) + " bytes");
    return false;
  }
  if (!misaligned && is_allocated(address, a.bytes)) return true;
  std::string where = misaligned ? "" : nearest(address);
  if (!misaligned && is_of_another(address)) where = "memory of another client" + (where.empty() ? "" : ", " + where);
  report_illegal(a, lane, misaligned, where);
  return false;
}

bool launch_watcher::is_allocated(std::uint64_t address, std::uint64_t bytes) {
  if (!where_.holds(address, address + bytes - 1) && !ranges_->find(address, bytes, where_)) return false;
  if (of_heap(address)) return heap_.all_allocated(address, bytes);
  std::uint64_t begin = 0;
  // An allocation may have fewer bytes than are mapped for it, before and behind them.
  const allocation* const whole = host_.containing(address, begin);
  if (whole != nullptr)
    return address - begin + bytes <= whole->bytes && (whole->client == 0 || whole->client == launch_->client);
  return !host_.begins_in(where_.begin, where_.end);
}

finding launch_watcher::finding_at(unsigned kind, const watched_step& s) const {
  finding f;
  f.kind = kind;
  f.place = place_in_source(*launch_->program, s.instruction);
  f.kernel = launch_->program->kernel;
  f.launch = launch_->launch_id;
  return f;
}

void launch_watcher::report_illegal(const watched_access& a, unsigned lane, bool misaligned, const std::string& near) {
  if ((kinds_ & sanitize_kind::memory) == 0) return;
  if (!found_.counts({sanitize_kind::memory, launch_->program.get(), index_of(a.instruction), misaligned, 0})) return;
  finding f = finding_at(sanitize_kind::memory, a);
  f.what = std::string(misaligned ? "misaligned " : "out of bounds: ") + access_text(a) + " of " + bytes_text(a.bytes) +
           " of " + space_text(a, lane) + " memory at " + hexadecimal(a.addresses[lane]);
  f.details.push_back(thread_text(*launch_, a.block.number, a.warp.thread(lane)) + (near.empty() ? "" : ": " + near));
  found_.add(std::move(f));
}

// All lanes at once: true if what they read has a value. Also notes what they write.
bool launch_watcher::check_shared(written_bits& shared, const watched_access& a, const access_shape& shape) {
  if (shape.end <= shared.written_up_to()) return true;
  if (shape.how != access_shape::kind::other) {
    const auto bytes = static_cast<unsigned>(shape.end - shape.begin);
    if (reads(a) && !shared.all(shape.begin, bytes)) return false;
    if (writes(a)) shared.write(shape.begin, bytes);
    return true;
  }
  if (reads(a) && !shared.all_of_each(a.addresses, a.mask, a.bytes)) return false;
  if (writes(a))
    for (const unsigned lane : set_bits(a.mask)) shared.write(a.addresses[lane], a.bytes);
  return true;
}

// Lanes that are far apart are checked one by one.
bool launch_watcher::written_by_all(const watched_access& a, const access_shape& shape) {
  constexpr std::uint64_t near = 4096;
  if (shape.end - shape.begin <= near) return host_.all_written(shape.begin, shape.end - shape.begin);
  bool all = true;
  for (const unsigned lane : set_bits(a.mask)) all = all && host_.all_written(a.addresses[lane], a.bytes);
  return all;
}

bool launch_watcher::check_global(const watched_access& a, const access_shape& shape) {
  if (!heap_.tracks() && !host_.tracks()) return true;
  if (of_heap(shape.begin) || of_heap(shape.end - 1)) return false;
  if (shape.how == access_shape::kind::other && writes(a))
    return host_.known_written(shape.begin, shape.end - shape.begin);
  if (reads(a) && !written_by_all(a, shape)) return false;
  if (writes(a)) host_.written(shape.begin, shape.end - shape.begin);
  return true;
}

void launch_watcher::check_written(const watched_access& a, simt::lane_mask lanes, const access_shape& shape) {
  place& p = places_[a.block.slot];
  if (lanes == a.mask) {
    if (a.global == a.mask && check_global(a, shape)) return;
    if (a.shared == a.mask && a.holder == nullptr && check_shared(p.shared, a, shape)) return;
  }
  written_bits& local = p.warps[a.warp.warp_in_block].local;
  const std::size_t local_bytes = launch_->program->local_bytes;
  const auto check = [&](written_bits& bits, unsigned lane, std::uint64_t at) {
    if (reads(a) && !bits.all(at, a.bytes)) {
      check_words(a, lane, [&](unsigned offset, unsigned n) { return bits.any(at + offset, n); });
      follow_local(a, lane, bits, at);
    }
    if (writes(a)) bits.write(at, a.bytes);
  };
  for (const unsigned lane : set_bits(lanes)) {
    const std::uint64_t address = a.addresses[lane];
    const simt::lane_mask bit = 1u << lane;
    if ((a.shared & bit) != 0) {
      place& holder = a.holder == nullptr ? p : places_[a.holder->slot];
      if (!combines_bits(a, lane, holder)) check(holder.shared, lane, address);
    } else if ((a.local & bit) != 0) check(local, lane, lane * local_bytes + address);
    else check_lane(a, lane);
  }
}

// Of global memory.
void launch_watcher::check_lane(const watched_access& a, unsigned lane) {
  if (!heap_.tracks() && !host_.tracks()) return;
  const std::uint64_t address = a.addresses[lane];
  const auto all_written = [&] {
    return of_heap(address) ? heap_.all_written(address, a.bytes) : host_.all_written(address, a.bytes);
  };
  if (reads(a) && !all_written()) {
    if (lacks(address, a.bytes) == allocations::lack::some) {
      report_unwritten(a, lane, " that was written in part", 1);
    } else {
      check_words(a, lane,
                  [&](unsigned offset, unsigned n) { return lacks(address + offset, n) != allocations::lack::all; });
      follow_global(a, lane);
    }
  }
  if (writes(a)) written(address, a.bytes);
}

// The host writes no memory of malloc, so that its words never lack a part of what was copied.
allocations::lack launch_watcher::lacks(std::uint64_t address, unsigned bytes) {
  if (!of_heap(address)) return host_.lacks(address, bytes);
  return heap_.any_written(address, bytes) ? allocations::lack::nothing : allocations::lack::all;
}

void launch_watcher::written(std::uint64_t address, std::uint64_t bytes) {
  if (!of_heap(address)) return host_.written(address, bytes);
  heap_.write(address, bytes);
}

// A load is reported if none of its bytes was written; if it is of several words, also if the program computes with one
// of them that was not. Gaps in structures are loaded with their neighbours, and copied.
template <class F>
void launch_watcher::check_words(const watched_access& a, unsigned lane, F&& has_value) {
  if (!has_value(0, a.bytes)) return report_unwritten(a, lane, " that was never written", 0);
  if (a.bytes < 8 || a.instruction.op != isa::opcode::ld) return;
  for (unsigned k = 0; k < a.bytes / 4; ++k)
    if (!has_value(4 * k, 4) && computes_with_word(a.instruction, k))
      return report_unwritten(
          a, lane, ", of which 4 bytes at " + hexadecimal(a.addresses[lane] + 4 * k) + " were never written", 2);
}

bool launch_watcher::computes_with_word(const isa::instruction& load, unsigned word) {
  if (load.dst == isa::rz || word >= load.dst_count) return false;
  const std::uint32_t index = index_of(load);
  const auto [entry, is_new] = computes_.emplace(std::uint64_t{index} << 32 | word, false);
  if (is_new) entry->second = computes_with(*launch_->program, index, load.dst + word);
  return entry->second;
}

void launch_watcher::report_unwritten(const watched_access& a, unsigned lane, const std::string& lack, unsigned group) {
  if (!found_.counts({sanitize_kind::init, launch_->program.get(), index_of(a.instruction), group, 0})) return;
  finding f = finding_at(sanitize_kind::init, a);
  const std::uint64_t address = a.addresses[lane];
  f.what = std::string("uninitialised: ") + access_text(a) + " of " + bytes_text(a.bytes) + " of " +
           space_text(a, lane) + " memory at " + hexadecimal(address) + lack;
  std::string where = thread_text(*launch_, a.block.number, a.warp.thread(lane));
  if ((a.global >> lane & 1) != 0) where += ": " + nearest(address);
  f.details.push_back(std::move(where));
  found_.add(std::move(f));
}

void launch_watcher::fences(const watched_step& s) {
  if (checks_races_) races_.fences(s);
}

void launch_watcher::lanes_meet(const watched_step& s, const lane_meeting& m) {
  if (checks_races_) races_.lanes_meet(s, m);
  if ((kinds_ & sanitize_kind::sync) == 0 || !independent_) return;
  if (warp_record& w = record_of(s); !w.passed.empty()) w.passed.erase(index_of(s.instruction));
  const bool shuffles = s.instruction.op == isa::opcode::shfl;
  simt::lane_mask outside = 0;
  for (const lane_meeting::group& g : m.groups) {
    outside |= g.naming & ~g.named;
    if (!s.warp.paths.empty()) meets_others(s, g.named | g.naming);
    if (shuffles) takes_from_exited(s, g.named | g.naming);
  }
  const isa::operand* const members = outside == 0 ? nullptr : simt::member_operand(s.instruction);
  if (members == nullptr || members->kind == isa::operand_kind::none) return;
  if (!found_.counts({sanitize_kind::sync, launch_->program.get(), index_of(s.instruction), 0, 1})) return;
  finding f = finding_at(sanitize_kind::sync, s);
  const auto first = static_cast<unsigned>(__builtin_ctz(outside));
  f.what = "synchronisation of lanes by a thread that its member mask " +
           hexadecimal(simt::lane_value(*members, s.warp, first)) + " leaves out";
  f.details.push_back(thread_text(*launch_, s.block.number, s.warp.thread(first)));
  found_.add(std::move(f));
}

void launch_watcher::calls_runtime(const watched_step& s) {
  ++steps_;
  calling_ = &s.block;
}

}  // namespace heddle::sanitize
