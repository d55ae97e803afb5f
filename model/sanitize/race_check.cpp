// SPDX-License-Identifier: MIT
#include "heddle/sanitize/race_check.h"

#include <algorithm>
#include <bitset>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/simt/execute.h"

namespace heddle::sanitize {

namespace {

// Accesses of which PTX says that they do not race with others of their kind.
bool is_strong(const isa::instruction& i) {
  return isa::is_atomic(i.op) || i.op == isa::opcode::syncs || i.cache == isa::cache_op::volatile_ ||
         i.cache == isa::cache_op::cv || i.cache == isa::cache_op::wt;
}

bool is_texture_read(const isa::instruction& i) { return isa::samples_texture(i.op); }

// What the instruction does to shared memory is in flight while the program goes on, also past barriers.
bool copies_in_bulk(const isa::instruction& i) {
  return isa::info(i.op).flow == isa::flow_kind::bulk_copy || isa::is_warpgroup_product(i.op);
}
bool copies_by_threads(const isa::instruction& i) { return i.op == isa::opcode::ldgsts; }

// Without any of these, strong accesses order nothing.
bool releases(const isa::instruction& i) {
  return i.op == isa::opcode::membar || i.op == isa::opcode::syncs || is_arrival(i) || copies_in_bulk(i) ||
         copies_by_threads(i);
}

// It may order some threads of a block, or of several, without the others.
bool orders_some(const isa::instruction& i) {
  if (i.op == isa::opcode::bar) return i.src[1].kind != isa::operand_kind::none || !i.aligned;
  return i.op == isa::opcode::membar || i.op == isa::opcode::syncs;
}

bool writes_one_of(const isa::instruction& i, const std::bitset<256>& registers) {
  for (unsigned k = 0; k < i.dst_count && i.dst != isa::rz; ++k)
    if (registers[i.dst + k]) return true;
  return false;
}

void add_registers(const isa::operand& o, std::bitset<256>& registers) {
  for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k) registers.set(o.reg + k);
}

// True if the data of the store at `write` are computed from what the load at `read` before it gives, as far as the
// order of the instructions tells.
bool stores_what_it_reads(const isa::program& p, std::uint32_t read, std::uint32_t write) {
  std::bitset<256> needed;
  add_registers(p.code[write].src[1], needed);
  if (read >= write) return true;
  for (std::uint32_t k = write; k-- > read;) {
    const isa::instruction& i = p.code[k];
    if (!writes_one_of(i, needed)) continue;
    if (k == read) return true;
    const std::size_t first = i.op == isa::opcode::ld ? i.src.size() : 0;  // not the address
    for (std::size_t s = first; s < i.src.size(); ++s) add_registers(i.src[s], needed);
  }
  return false;
}

}  // namespace

std::string race_check::begin(const resident_launch& launch, functional_memory::view& memory, bool independent) {
  end();
  launch_ = &launch;
  program_ = launch.program.get();
  memory_ = &memory;
  independent_ = independent;
  warps_per_block_ = launch.warps_per_block();
  now_ = data_of_ = 0;
  reaches_cluster_ = launch.reaches_cluster;
  signals_.begin(*program_);
  uses_phases_ = !reaches_cluster_ && !signals_.any_sends() &&
                 std::none_of(program_->code.begin(), program_->code.end(), copies_in_bulk);
  copies_ = std::any_of(program_->code.begin(), program_->code.end(), copies_by_threads);
  releases_ = reaches_cluster_ || std::any_of(program_->code.begin(), program_->code.end(), releases);
  keeps_many_ = reaches_cluster_ || std::any_of(program_->code.begin(), program_->code.end(), orders_some);
  const auto reads_strong = [](const isa::instruction& i) { return i.op == isa::opcode::ld && is_strong(i); };
  reads_strong_ = !keeps_many_ && std::any_of(program_->code.begin(), program_->code.end(), reads_strong);
  uses_words_ = program_->code.size() <= word_mark::most_instructions;
  known_.begin(program_->code.size());
  has_marks_ = false;
  marks_.clear();
  last_check_ = ~std::uint64_t{0};
  if (launch.blocks() * warps_per_block_ >= 0xffffffffu) return "it has more than 2^32 warps";
  return {};
}

void race_check::end() {
  if (program_ != nullptr && known_.any()) found_.counts_in_part(program_, known_.often());
  program_ = nullptr;
  places_.clear();
  last_place_ = nullptr;
  global_.clear();
  logs_.clear();
  cluster_logs_.clear();
  free_logs_.clear();
  all_logs_.clear();
}

race_check::place& race_check::place_of(const functional_block& block) {
  if (last_place_ != nullptr && block.slot == last_slot_) return *last_place_;
  if (block.slot >= places_.size()) places_.resize(block.slot + 1);
  last_slot_ = block.slot;
  return *(last_place_ = &places_[block.slot]);
}

void race_check::block_begins(const functional_block& block) {
  place& p = place_of(block);
  p.block = &block;
  const bool synchronised = p.clock && !p.clock->logs.empty();
  free_logs(p);
  if (!p.clock || synchronised || !p.clock->restart(block.number))
    p.clock = std::make_unique<block_clock>(block.number, warps_per_block_, independent_);
  if (reaches_cluster_) p.shared.reset();  // other blocks' marks are not old ones there
  if (!p.shared && launch_->shared_bytes != 0) p.shared = std::make_unique<shadow_cells>(launch_->shared_bytes);
  if (uses_phases_) p.phase.open(launch_->shared_bytes);
  p.copies.clear();
  p.of_threads.clear();
  for (auto& groups : p.groups) groups.clear();
  p.products.clear();
  p.from_others.clear();
  p.handed.clear();
  p.handed_words.clear();
  p.promised.reset();
  p.promised_at.clear();
}

race_check::current race_check::start(const watched_access& a) {
  place& at = place_of(a.block);
  const unsigned warp = a.warp.warp_in_block;
  place* const holder = a.holder == nullptr ? &at : &place_of(*a.holder);
  current c{&a,
            &at,
            holder,
            warp,
            {},
            false,
            4,
            is_texture_read(a.instruction),
            frees_memory(a.instruction),
            at.clock->first_warp(),
            at.clock->block_sync(),
            at.clock->warp_sync(warp),
            at.clock->last_release(warp),
            at.clock->tile_sync(warp),
            at.clock->tile(warp)};
  c.mark.warp = at.clock->first_warp() + warp;
  c.mark.number = now_;
  c.mark.what = index_of(a.instruction) & access_mark::index_mask;
  return c;
}

// Plain loads and stores that have raced often.
bool race_check::skips(const watched_access& a) {
  const isa::instruction& i = a.instruction;
  if ((i.op != isa::opcode::ld && i.op != isa::opcode::st) || is_strong(i) || a.copies_in) return false;
  if (has_marks_ && a.global != 0) return false;
  return known_.skips(index_of(i));
}

void race_check::accesses(const watched_access& a, simt::lane_mask lanes, const access_shape& shape) {
  const isa::instruction& i = a.instruction;
  ++now_;
  if (known_.any() && skips(a)) return;
  current c = start(a);
  c.at->clock->accessed(c.warp, now_);
  if (keeps_many_ && a.global != 0) global_.begin_phase(c.at->clock->last_learned(c.warp), now_);
  if (is_strong(i)) c.mark.what |= access_mark::strong;
  if (isa::is_atomic(i.op)) c.mark.what |= access_mark::atomic | access_mark::writes;
  if (isa::is_store(i.op) || a.copies_in || frees_memory(i)) c.mark.what |= access_mark::writes;
  // An mbarrier that others of the cluster reach is ordered for all of them.
  if (i.block_scope && !(reaches_cluster_ && a.shared != 0)) c.mark.what |= access_mark::of_block;
  const bool copying = i.op == isa::opcode::ldgsts;
  const bool sends_data = signals_.sends(c.mark.index());
  if (copying || sends_data) c.mark.what |= access_mark::copying;
  if (sends_data && !c.mark.is(access_mark::atomic)) c.mark.what &= ~access_mark::strong;
  if (sends_data) sends(c, a.shared & lanes);
  simt::lane_mask rest = (a.shared | a.global) & lanes;
  const bool strong = c.mark.is(access_mark::strong);
  if (is_arrival(i)) arrives_at_mbarriers(c, a.shared & lanes);
  if (const simt::lane_mask shared = a.shared & lanes; shared != 0 && c.at->phase.is_open()) {
    if (copying) leave_phase(*c.at, a, shared);
    else if (passes_phase(c, shared, shared == a.mask ? shape : access_shape::of(a.addresses, shared, a.bytes))) {
      rest &= ~shared;
      c.in_shared = true;
      if (strong && releases_) synchronise(c, shared);
    }
  }
  if (copying && (a.global & rest) != 0) {
    access_copied(c, a.global & rest);
    rest &= ~a.global;
  }
  if (!copying && !c.texture) {
    if ((a.shared & rest) != 0) access_shared(c, a.shared & rest);
    rest &= ~a.shared;
    if (!strong && rest != 0) {
      access_global(c, rest, shape);
      rest = 0;
    }
  }
  if (strong && rest != 0) {
    const bool reads = !keeps_many_ && !c.mark.is(access_mark::writes);  // with fences, each may learn something
    rest &= ~a.global | global_.uncrowded(a.addresses, rest & a.global, a.bytes, reads, true);
  }
  for (const unsigned lane : set_bits(rest)) {
    c.in_shared = (a.shared >> lane & 1) != 0;
    if (strong && releases_ && !sends_data) synchronise(c, 1u << lane);
    if (strong && !copying && !c.in_shared && access_word(c, lane)) continue;
    access_lane(c, lane);
    if (copying) copies(c, 1u << lane);
  }
  if (c.holder == c.at || (a.shared & lanes) == 0 || signals_.ends_sent(c.mark.index())) return;
  access_mark& last = c.holder->from_others[c.mark.warp];
  last = c.mark;
  last.lanes = a.shared & lanes;
}

void race_check::touch(current& c, shadow_cells& cells, shadow_cell& cell, unsigned lane, std::uint64_t address) {
  // Shared memory keeps the marks of blocks that ran there before.
  if (c.in_shared && !reaches_cluster_) {
    if (cell.write.number != 0 && !c.at->clock->holds(cell.write)) cell.write = {};
    if (cell.read.number != 0 && !c.at->clock->holds(cell.read)) cell.read = {};
    if (cell.read.number == 0 && cell.more_reads != nullptr) cell.more_reads->clear();
  }
  if (c.mark.is(access_mark::writes)) write(c, cell, lane, address);
  else read(c, cells, cell, lane, address);
}

bool race_check::conflicts(const current& c, const access_mark& earlier, unsigned lane) const {
  if (earlier.number == 0) return false;
  if (earlier.is(access_mark::strong) && c.mark.is(access_mark::strong)) {
    const bool narrow = earlier.is(access_mark::of_block) || c.mark.is(access_mark::of_block);
    if (!narrow || c.at->clock->holds(earlier)) return false;
  }
  const block_clock& clock = *c.at->clock;
  const bool copying = earlier.is(access_mark::copying);
  if (synced(c, earlier) || is_past(c, earlier, lane)) return false;
  if (!clock.ordered(earlier, c.warp, lane)) return true;
  if (earlier.warp == c.mark.warp && !copying) return false;
  // What the lane has acquired has answered it. Its words have often been accessed by one instruction.
  access_mark whole = earlier;
  whole.lanes = simt::all_lanes;
  if (!c.passed.of_some && (copying ? !signals_.sends(earlier.index()) : clock.ordered(whole, c.warp, lane)))
    c.passed = {earlier.warp, earlier.number, copying, false, clock.known_by(c.warp, lane)};
  else c.passed.of_some = true;
  return false;
}

void race_check::read(current& c, shadow_cells& cells, shadow_cell& cell, unsigned lane, std::uint64_t address) {
  const simt::lane_mask bit = 1u << lane;
  access_mark& r = cell.read;
  if (r.number == now_ && r.warp == c.mark.warp) {  // another lane has read it in this instruction
    r.lanes |= bit;
    if (conflicts(c, cell.write, lane)) report(c, cell.write, lane, address);
    return;
  }
  if (conflicts(c, cell.write, lane)) report(c, cell.write, lane, address);
  else if (cell.write.number != 0 && c.texture) report_stale(c, cell.write, lane, address);
  else if (r.is(access_mark::writes) && conflicts(c, r, lane)) report(c, r, lane, address);  // hidden by an atomic
  access_mark own = c.mark;
  own.lanes = bit;
  // A strong read does not stand for a weak one.
  const auto stands_for = [&](const access_mark& m) {
    return c.at->clock->ordered(m, c.warp, lane) && (m.is(access_mark::strong) || !own.is(access_mark::strong));
  };
  const auto joins = [&](access_mark& m) {
    if (m.warp != own.warp || m.what != own.what || m.is(access_mark::copying)) return false;
    m.lanes |= bit;  // as of the earlier instruction: nothing has ordered it with this one
    return true;
  };
  // Who knows of the one knows of the other: the warp has released nothing between them.
  const auto again = [&](access_mark& m) { return m.number > c.last_release && joins(m); };
  if (again(r)) return;
  const auto earlier = cell.more_reads != nullptr ? cell.more_reads->of(own.warp) : later_reads::range{};
  if (std::any_of(earlier.begin(), earlier.end(), again)) return;
  // Reads of shared memory by other warps are kept as well unless a barrier has ordered them: to find out costs more.
  const bool other = c.in_shared && r.warp != own.warp;
  if (r.number == 0 ||
      (other ? synced(c, r) && (r.is(access_mark::strong) || !own.is(access_mark::strong)) : stands_for(r))) {
    r = own;
    return;
  }
  if (joins(r)) return;
  if (cell.more_reads != nullptr)
    for (access_mark& m : earlier) {
      if (m.number == now_) return void(m.lanes |= bit);
      if (stands_for(m)) return void(m = own);
      if (joins(m)) return;
    }
  if (c.in_shared) return cells.add_read(cell, own);
  if (keep_read(c, cells, cell, own) || cell.write.number != 0 || c.cell_bytes != 4) return;
  if (own.is(access_mark::strong)) global_.set_crowded_for_strong(address);
  else global_.set_crowded(address, true);
}

void race_check::write(current& c, shadow_cell& cell, unsigned lane, std::uint64_t address) {
  const simt::lane_mask bit = 1u << lane;
  access_mark& w = cell.write;
  const unsigned bytes = c.cell_bytes;
  if (w.number == now_ && w.warp == c.mark.warp) {
    // Two lanes in one instruction. Which of them is last is undefined.
    marks_insufficient_ = true;
    if (!c.mark.is(access_mark::strong) && isa::is_store(c.access->instruction.op)) {
      const auto other = static_cast<unsigned>(__builtin_ctz(w.lanes));
      if (!same_value_as(c, lane, other, address, bytes)) report(c, w, lane, address);
    }
    return;
  }
  access_mark hidden;
  if (hides(c, w)) hidden = w;
  else if (hides(c, cell.read) && cell.read.is(access_mark::writes)) hidden = cell.read;
  if (conflicts(c, w, lane)) {
    hidden = {};
    marks_insufficient_ = true;
    const bool plain = isa::is_store(c.access->instruction.op) && !w.is(access_mark::copying);
    if (!plain || !same_value(c, lane, address, bytes)) report(c, w, lane, address);
  }
  if (!c.in_shared && is_own_check(c, cell, bit)) c.mark.what |= access_mark::marking;
  else c.mark.what &= ~access_mark::marking;
  if (conflicts(c, cell.read, lane)) {
    report(c, cell.read, lane, address);
    hidden = {};
  }
  if (cell.more_reads != nullptr) {
    for (const access_mark& m : *cell.more_reads)
      if (conflicts(c, m, lane)) report(c, m, lane, address);
    cell.more_reads->clear();
  }
  cell.read = hidden;
  w = c.mark;
  w.lanes = bit;
}

// The thread has read the cell, and what it stores does not depend on that.
bool race_check::is_own_check(const current& c, const shadow_cell& cell, simt::lane_mask bit) {
  const auto own = [&](const access_mark& m) {
    return m.number != 0 && !m.is(access_mark::writes) && m.warp == c.mark.warp && (m.lanes & bit) != 0 &&
           marks_with(c, m);
  };
  if (own(cell.read)) return true;
  return cell.more_reads != nullptr && std::any_of(cell.more_reads->begin(), cell.more_reads->end(), own);
}

bool race_check::marks_with(const current& c, const access_mark& read) {
  const std::uint64_t both = std::uint64_t{read.index()} << 32 | c.mark.index();
  if (both == last_check_) return last_marks_;
  last_check_ = both;
  const auto [entry, is_new] = marks_.emplace(both, false);
  if (is_new) entry->second = !stores_what_it_reads(*program_, read.index(), c.mark.index());
  has_marks_ = has_marks_ || entry->second;
  return last_marks_ = entry->second;
}

const std::uint8_t* race_check::byte_at(const current& c, std::uint64_t address) const {
  return c.in_shared ? c.holder->block->context.shared + address : memory_->readable(address, 1);
}

// What the lanes store, or write to a surface.
void race_check::store_data(const watched_access& a) const {
  if (a.instruction.op == isa::opcode::st) return simt::lane_store_data(a.instruction, a.warp, words_);
  const isa::operand& from = a.instruction.src[2];
  for (unsigned k = 0; k < 4; ++k)
    for (const unsigned lane : set_bits(a.mask)) {
      if (from.is_reg() && from.reg != isa::rz && k < from.count)
        words_[k][lane] = a.warp.regs[(std::size_t{from.reg} + k) * isa::warp_size + lane];
      else
        words_[k][lane] =
            from.is_reg() ? 0 : static_cast<std::uint32_t>(simt::lane_value(from, a.warp, lane) >> (32 * (k % 2)));
    }
}

// A byte that the lane's store writes.
std::uint8_t race_check::new_byte(const current& c, unsigned lane, std::uint64_t address) const {
  if (data_of_ != now_) store_data(*c.access);
  data_of_ = now_;
  const auto at = static_cast<unsigned>(address - c.access->addresses[lane]);
  return static_cast<std::uint8_t>(words_[at / 4][lane] >> (8 * (at % 4)));
}

bool race_check::same_value(const current& c, unsigned lane, std::uint64_t address, unsigned bytes) const {
  const std::uint8_t* const now = byte_at(c, address);
  for (unsigned k = 0; k < bytes; ++k)
    if (now[k] != new_byte(c, lane, address + k)) return false;
  return true;
}

}  // namespace heddle::sanitize
