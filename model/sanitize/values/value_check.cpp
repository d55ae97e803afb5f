// SPDX-License-Identifier: MIT
#include "heddle/sanitize/values/value_check.h"

#include <algorithm>
#include <initializer_list>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/values/bit_moves.h"

namespace heddle::sanitize {

namespace {

constexpr std::size_t register_count = 256;

// What stands for bits without a value. Both bits of each pair differ, and so do neighbours.
constexpr std::array<std::uint32_t, 4> fillings{0, 0xffffffffu, 0x5a3c6996u, 0xa5c39669u};

std::uint32_t low_bits(unsigned bytes) { return bytes >= 4 ? 0xffffffffu : (1u << (8 * bytes)) - 1; }

bool is_memory(const isa::instruction& i) {
  return isa::info(i.op).access != isa::access_kind::none && isa::info(i.op).access != isa::access_kind::constant_load;
}

}  // namespace

spare_warp::spare_warp() : memory_(register_count * isa::warp_size + alignment / 4) {
  auto first = reinterpret_cast<std::uintptr_t>(memory_.data());
  first = (first + alignment - 1) / alignment * alignment;
  registers_ = reinterpret_cast<std::uint32_t*>(first);
}

simt::warp_state& spare_warp::as(const simt::warp_state& w) {
  state_.regs = registers_;
  state_.predicates = w.predicates;
  state_.pc = w.pc;
  state_.active = w.active;
  state_.live = w.live;
  state_.independent = w.independent;
  state_.warp_in_block = w.warp_in_block;
  state_.block = w.block;
  state_.clock_low = w.clock_low;
  state_.cycle = w.cycle;
  state_.time_ns = w.time_ns;
  return state_;
}

value_check::row& value_check::lacking_row(unsigned place) {
  if (rows_.empty()) rows_.resize(places);
  std::unique_ptr<row>& r = rows_[place];
  if (!r) r = std::make_unique<row>();
  else if (!lacking_[place]) r->reset();
  lacking_.set(place);
  return *r;
}

bool value_check::lacks(unsigned reg, unsigned lane, std::uint32_t bits, const valueless_source& from) {
  const bool first = !lacking_[reg] && empty();
  row& r = lacking_row(reg);
  r.moved[lane] = bits;
  r.computed[lane] = 0;
  r.alone &= ~(1u << lane);
  r.from[lane] = from;
  return first;
}

void value_check::put(unsigned place, simt::lane_mask lanes, const row& values) {
  if (!values.any()) return forget(place, lanes);
  row& own = lacking_row(place);
  for (const unsigned lane : set_bits(lanes)) own.take(lane, values);
  if (!own.any()) lacking_.reset(place);
}

void value_check::forget(unsigned place, simt::lane_mask lanes) {
  if (!lacking_[place]) return;
  row& own = *rows_[place];
  for (const unsigned lane : set_bits(lanes)) own.moved[lane] = own.computed[lane] = 0;
  own.alone &= ~lanes;
  if (!own.any()) lacking_.reset(place);
}

void value_check::forget_results(const watched_step& s) {
  const isa::instruction& i = s.instruction;
  for (unsigned k = 0; i.dst != isa::rz && k < i.dst_count; ++k) forget(i.dst + k, s.mask);
  for (const std::uint8_t p : i.pdst)
    if (p != isa::pt) forget(first_predicate + p, s.mask);
}

void value_check::find_sources(const isa::instruction& i) {
  sources_.clear();
  for (const isa::operand& o : i.src)
    for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k)
      if (lacking_[o.reg + k]) sources_.push_back(o.reg + k);
  for (const isa::predicate& p : i.psrc)
    if (p.reg != isa::pt && lacking_[first_predicate + p.reg]) sources_.push_back(first_predicate + p.reg);
}

// Whether it executes depends on such a value: of a branch, an exit, or what it does to memory.
const valueless_source* value_check::decides(const watched_step& s) const {
  const isa::instruction& i = s.instruction;
  const row* const guard = i.guarded() ? find(first_predicate + i.guard.reg) : nullptr;
  const isa::opcode_info& about = isa::info(i.op);
  const bool matters = about.flow == isa::flow_kind::branch || about.flow == isa::flow_kind::exit ||
                       about.access == isa::access_kind::store || about.access == isa::access_kind::atomic ||
                       about.access == isa::access_kind::reduction;
  if (guard == nullptr || !matters) return nullptr;
  for (const unsigned lane : set_bits(s.warp.active))
    if (guard->all(lane) != 0) return &guard->from[lane];
  return nullptr;
}

// `moved`: bits that were only moved count, too.
const valueless_source* value_check::used(const isa::operand& o, simt::lane_mask lanes, std::uint32_t bits,
                                          bool moved) const {
  for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k) {
    const row* const r = find(o.reg + k);
    for (const unsigned lane : set_bits(r == nullptr ? 0 : lanes)) {
      const bool alone = (r->alone >> lane & 1) != 0;
      if (alone && (r->moved[lane] & bits) != 0 && (bits & ~r->moved[lane]) != 0) return &r->from[lane];
      const std::uint32_t counting = moved || r->from[lane].lane ? r->all(lane) : r->computed[lane];
      if ((counting & bits) != 0) return &r->from[lane];
    }
  }
  return nullptr;
}

const valueless_source* value_check::used_by_memory(const watched_step& s) {
  const isa::instruction& i = s.instruction;
  if (!isa::names_address(i.op)) return nullptr;
  if (const auto* const address = used(i.src[0], s.mask, ~0u, true)) return address;
  if (i.op == isa::opcode::ld || i.op == isa::opcode::ldgsts || i.mem_space == isa::space::local) return nullptr;
  const std::uint32_t bits = low_bits(isa::size_of(i.type));
  if (const auto* const data = used(i.src[1], s.mask, bits, false)) return data;
  return i.op == isa::opcode::st ? nullptr : used(i.src[2], s.mask, bits, false);
}

// The registers that it reads and writes, to be changed.
simt::warp_state& value_check::copied(const watched_step& s, spare_warp& spare) const {
  const isa::instruction& i = s.instruction;
  const auto copy = [&](unsigned reg) {
    const std::uint32_t* const from = s.warp.regs + std::size_t{reg} * isa::warp_size;
    std::copy(from, from + isa::warp_size, spare.reg(reg));
  };
  for (unsigned k = 0; i.dst != isa::rz && k < i.dst_count; ++k) copy(i.dst + k);
  for (const isa::operand& o : i.src)
    for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k) copy(o.reg + k);
  return spare.as(s.warp);
}

// The same, of which bits without a value have one of the fillings.
simt::warp_state& value_check::filled(const watched_step& s, unsigned filling, spare_warp& spare) const {
  simt::warp_state& w = copied(s, spare);
  for (const unsigned place : sources_) {
    const row& r = *find(place);
    if (place < first_predicate) {
      std::uint32_t* const values = spare.reg(place);
      for (unsigned lane = 0; lane < isa::warp_size; ++lane)
        values[lane] = (values[lane] & ~r.all(lane)) | (fillings[filling] & r.all(lane));
      continue;
    }
    simt::lane_mask lanes = 0;
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) lanes |= simt::lane_mask{r.all(lane) != 0} << lane;
    simt::lane_mask& p = w.predicates[place - first_predicate];
    p = (p & ~lanes) | (filling % 2 != 0 ? lanes : 0);
  }
  return w;
}

// Where a result comes from: a source of the same lane, or of any.
value_check::origin value_check::origin_of(unsigned lane) const {
  for (const unsigned place : sources_)
    if (const row* const r = find(place); r->all(lane) != 0) return {r, lane};
  for (auto place = sources_.rbegin(); place != sources_.rend(); ++place)
    for (unsigned other = isa::warp_size; other-- > 0;)
      if (const row* const r = find(*place); r->all(other) != 0) return {r, other};
  return {find(sources_.front()), lane};
}

// Bits of the result of a move that come from a source, whether that has a value or not; by lane. Of what was taken out
// of its word the other bits are constants.
value_check::lane_words value_check::kept_bits(const watched_step& s, simt::execute_function execute,
                                               spare_warp& spare) const {
  const isa::instruction& i = s.instruction;
  lane_words kept{};
  if (i.dst == isa::rz || i.dst_count != 1) return kept;
  for (const std::uint32_t bits : {0u, ~0u}) {
    simt::warp_state& w = copied(s, spare);
    for (const unsigned k : set_bits(moved_sources(i)))
      for (unsigned n = 0; i.src[k].is_reg() && i.src[k].reg != isa::rz && n < i.src[k].count; ++n) {
        const row* const r = find(i.src[k].reg + n);
        std::uint32_t* const to = spare.reg(i.src[k].reg + n);
        for (unsigned lane = 0; lane < isa::warp_size; ++lane) to[lane] = bits;
        for (const unsigned lane : set_bits(r == nullptr ? 0 : r->alone)) {
          const std::uint32_t* const now = s.warp.regs + (std::size_t{i.src[k].reg} + n) * isa::warp_size;
          to[lane] = (now[lane] & ~r->moved[lane]) | (bits & r->moved[lane]);
        }
      }
    execute(i, w, s.mask);
    const std::uint32_t* const result = spare.reg(i.dst);
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) kept[lane] ^= result[lane];
  }
  return kept;
}

// The result has what it was given by this lane's sources as it was there.
bool value_check::is_moved(const watched_step& s, unsigned lane) const {
  const isa::instruction& i = s.instruction;
  const auto lacks = [&](const isa::operand& o) {
    bool any = false;
    for (unsigned n = 0; o.is_reg() && o.reg != isa::rz && n < o.count; ++n)
      if (const row* const r = find(o.reg + n); r != nullptr) any = any || r->all(lane) != 0;
    return any;
  };
  for (unsigned k = 0; k < i.src.size(); ++k)
    if (lacks(i.src[k]) && alters_bits(i, s.warp, lane, k)) return false;
  return true;
}

// Which results were only moved. `kept`: see kept_bits(); null: whole registers were.
void value_check::find_moved(const watched_step& s, const lane_words* kept, row& result) const {
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    if (result.computed[lane] == 0) continue;
    const origin from = origin_of(lane);
    if (from.of->computed[from.lane] != 0 || !is_moved(s, lane)) continue;
    std::swap(result.moved[lane], result.computed[lane]);
    const bool alone = kept == nullptr ? (from.of->alone >> from.lane & 1) != 0
                                       : (*kept)[lane] != 0 && ((*kept)[lane] & ~result.moved[lane]) == 0;
    result.alone |= simt::lane_mask{alone} << lane;
  }
}

// Executes it with each of the fillings, and compares.
void value_check::execute_filled(const watched_step& s, simt::execute_function execute, spare_warp& spare,
                                 unsigned words) {
  const isa::instruction& i = s.instruction;
  first_.resize(std::max<std::size_t>(first_.size(), words));
  std::array<simt::lane_mask, 2> first_predicates{}, changed{};
  for (unsigned f = 0; f < fillings.size(); ++f) {
    simt::warp_state& w = filled(s, f, spare);
    execute(i, w, s.mask);
    for (unsigned k = 0; k < words; ++k) {
      const std::uint32_t* const now = spare.reg(i.dst + k);
      lane_words& first = first_[k];
      if (f == 0) std::copy(now, now + isa::warp_size, first.begin());
      for (unsigned lane = 0; lane < isa::warp_size; ++lane) results_[k].computed[lane] |= now[lane] ^ first[lane];
    }
    for (std::size_t k = 0; k < changed.size(); ++k) {
      const simt::lane_mask now = i.pdst[k] == isa::pt ? 0 : w.predicates[i.pdst[k]];
      if (f == 0) first_predicates[k] = now;
      changed[k] |= now ^ first_predicates[k];
    }
  }
  for (std::size_t k = 0; k < changed.size(); ++k)
    for (const unsigned lane : set_bits(changed[k])) results_[words + k].computed[lane] = 1;
}

void value_check::compute(const watched_step& s, simt::execute_function execute, spare_warp& spare) {
  const isa::instruction& i = s.instruction;
  const unsigned words = i.dst == isa::rz ? 0 : i.dst_count;
  const std::size_t count = words + i.pdst.size();
  results_.resize(std::max(results_.size(), count));
  std::for_each_n(results_.begin(), count, [](row& r) { r.reset(); });
  execute_filled(s, execute, spare, words);
  const bool moves = moves_bits(i), of_words = moves && !moves_registers(i);
  lane_words kept;
  if (of_words) kept = kept_bits(s, execute, spare);
  for (std::size_t k = 0; k < count; ++k) {
    row& r = results_[k];
    for (const unsigned lane : set_bits(~s.mask)) r.computed[lane] = 0;
    for (const unsigned lane : set_bits(r.any() ? s.mask : 0))
      if (r.computed[lane] != 0) {
        const origin from = origin_of(lane);
        r.from[lane] = from.of->from[from.lane];
      }
    if (moves) find_moved(s, of_words ? &kept : nullptr, r);
  }
  for (unsigned k = 0; k < words; ++k) put(i.dst + k, s.mask, results_[k]);
  for (std::size_t k = 0; k < i.pdst.size(); ++k)
    if (i.pdst[k] != isa::pt) put(first_predicate + i.pdst[k], s.mask, results_[words + k]);
}

// Words are swapped as a whole where a part of them is changed.
bool value_check::is_of_swap(const isa::instruction& i) const {
  if (!swaps_ || i.op != isa::opcode::isetp || (i.cmp != isa::compare::eq && i.cmp != isa::compare::ne)) return false;
  for (const unsigned place : sources_) {
    const row& r = *find(place);
    for (unsigned lane = 0; lane < isa::warp_size; ++lane)
      if (r.computed[lane] != 0 || (r.moved[lane] != 0 && r.from[lane].lane)) return false;
  }
  return true;
}

// Whether results are written depends on a predicate without a value.
void value_check::blur(const watched_step& s) {
  const isa::instruction& i = s.instruction;
  const row* const guard = i.guarded() ? find(first_predicate + i.guard.reg) : nullptr;
  if (guard == nullptr) return;
  row values;
  simt::lane_mask lanes = 0;
  for (const unsigned lane : set_bits(s.warp.active)) {
    if (guard->all(lane) == 0) continue;
    values.computed[lane] = ~0u;
    values.from[lane] = guard->from[lane];
    lanes |= 1u << lane;
  }
  for (unsigned k = 0; lanes != 0 && i.dst != isa::rz && k < i.dst_count; ++k) put(i.dst + k, lanes, values);
}

const valueless_source* value_check::executes(const watched_step& s, simt::execute_function execute,
                                              spare_warp& spare) {
  if (empty()) return nullptr;
  const valueless_source* use = decides(s);
  if (use == nullptr && is_memory(s.instruction)) use = used_by_memory(s);
  if (use != nullptr) found_ = *use;
  find_sources(s.instruction);
  if (execute != nullptr && !is_memory(s.instruction) && s.mask != 0 && !sources_.empty() && !is_of_swap(s.instruction))
    compute(s, execute, spare);
  else forget_results(s);
  blur(s);
  return use == nullptr ? nullptr : &found_;
}

}  // namespace heddle::sanitize
