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

const value_check::row* value_check::find(unsigned reg) const {
  const auto found = rows_.find(reg);
  return found == rows_.end() ? nullptr : &found->second;
}

void value_check::lacks(unsigned reg, unsigned lane, std::uint32_t bits, const valueless_source& from) {
  rows_[reg][lane] = {bits, 0, from};
}

void value_check::put(unsigned reg, simt::lane_mask lanes, const row& values) {
  const bool any = std::any_of(values.begin(), values.end(), [](const part& p) { return p.all() != 0; });
  const auto found = rows_.find(reg);
  if (found == rows_.end() && !any) return;
  row& own = found == rows_.end() ? rows_[reg] : found->second;
  for (const unsigned lane : set_bits(lanes)) own[lane] = values[lane];
  if (std::none_of(own.begin(), own.end(), [](const part& p) { return p.all() != 0; })) rows_.erase(reg);
}

void value_check::forget_results(const watched_step& s) {
  const isa::instruction& i = s.instruction;
  for (unsigned k = 0; i.dst != isa::rz && k < i.dst_count; ++k) put(i.dst + k, s.mask, {});
  for (const std::uint8_t p : i.pdst)
    if (p != isa::pt) put(first_predicate + p, s.mask, {});
}

// The registers and predicates that it reads and that lack a value.
std::vector<unsigned> value_check::sources(const isa::instruction& i) const {
  std::vector<unsigned> all;
  for (const isa::operand& o : i.src)
    for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k)
      if (find(o.reg + k) != nullptr) all.push_back(o.reg + k);
  for (const isa::predicate& p : i.psrc)
    if (p.reg != isa::pt && find(first_predicate + p.reg) != nullptr) all.push_back(first_predicate + p.reg);
  return all;
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
    if ((*guard)[lane].all() != 0) return &(*guard)[lane].from;
  return nullptr;
}

// `moved`: bits that were only moved count, too.
const valueless_source* value_check::used(const isa::operand& o, simt::lane_mask lanes, std::uint32_t bits,
                                          bool moved) const {
  for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k) {
    const row* const r = find(o.reg + k);
    for (const unsigned lane : set_bits(r == nullptr ? 0 : lanes)) {
      const part& p = (*r)[lane];
      if (p.alone && (p.moved & bits) != 0 && (bits & ~p.moved) != 0) return &p.from;
      if (((moved || p.from.lane ? p.all() : p.computed) & bits) != 0) return &p.from;
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

// Fills the registers and predicates that it reads, those without a value with one of the fillings.
simt::warp_state& value_check::filled(const watched_step& s, const std::vector<unsigned>& lacking, unsigned filling,
                                      spare_warp& spare) const {
  const isa::instruction& i = s.instruction;
  simt::warp_state& w = spare.as(s.warp);
  const auto copy = [&](unsigned reg) {
    const std::uint32_t* const from = s.warp.regs + std::size_t{reg} * isa::warp_size;
    std::copy(from, from + isa::warp_size, spare.reg(reg));
  };
  for (unsigned k = 0; i.dst != isa::rz && k < i.dst_count; ++k) copy(i.dst + k);
  for (const isa::operand& o : i.src)
    for (unsigned k = 0; o.is_reg() && o.reg != isa::rz && k < o.count; ++k) copy(o.reg + k);
  for (const unsigned reg : lacking) {
    const row& r = *find(reg);
    for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
      const std::uint32_t bits = r[lane].all();
      if (reg < first_predicate) {
        std::uint32_t& value = spare.reg(reg)[lane];
        value = (value & ~bits) | (fillings[filling] & bits);
      } else if (bits != 0) {
        simt::lane_mask& p = w.predicates[reg - first_predicate];
        p = (p & ~(1u << lane)) | (filling % 2) << lane;
      }
    }
  }
  return w;
}

// Where a result comes from: a source of the same lane, or of any.
value_check::part value_check::source_of(const std::vector<unsigned>& lacking, unsigned lane) const {
  part other;
  for (const unsigned reg : lacking) {
    const row& r = *find(reg);
    if (r[lane].all() != 0) return r[lane];
    for (const part& p : r)
      if (p.all() != 0) other = p;
  }
  return other;
}

// Bits of the result of a move that come from a source, whether that has a value or not; by lane. Of what was taken out
// of its word the other bits are constants.
std::vector<std::uint32_t> value_check::kept_bits(const watched_step& s, simt::execute_function execute,
                                                  spare_warp& spare) const {
  const isa::instruction& i = s.instruction;
  std::vector<std::uint32_t> kept(isa::warp_size);
  if (i.dst == isa::rz || i.dst_count != 1) return kept;
  for (const std::uint32_t bits : {0u, ~0u}) {
    simt::warp_state& w = filled(s, {}, 0, spare);
    for (const unsigned k : set_bits(moved_sources(i)))
      for (unsigned n = 0; i.src[k].is_reg() && i.src[k].reg != isa::rz && n < i.src[k].count; ++n) {
        const row* const r = find(i.src[k].reg + n);
        std::uint32_t* const to = spare.reg(i.src[k].reg + n);
        for (const unsigned lane : set_bits(s.mask)) {
          const std::uint32_t all = r != nullptr && (*r)[lane].alone ? (*r)[lane].moved : ~0u;
          to[lane] = (to[lane] & ~all) | (bits & all);
        }
      }
    execute(i, w, s.mask);
    for (const unsigned lane : set_bits(s.mask)) kept[lane] ^= spare.reg(i.dst)[lane];
  }
  return kept;
}

// Which results were only moved. `kept`: see kept_bits(); empty: whole registers were.
void value_check::find_moved(const watched_step& s, const std::vector<unsigned>& lacking,
                             const std::vector<std::uint32_t>& kept, row& result) const {
  const isa::instruction& i = s.instruction;
  const auto lacks = [&](unsigned k, unsigned lane) {
    bool any = false;
    for (unsigned n = 0; i.src[k].is_reg() && i.src[k].reg != isa::rz && n < i.src[k].count; ++n)
      if (const row* const r = find(i.src[k].reg + n); r != nullptr) any = any || (*r)[lane].all() != 0;
    return any;
  };
  for (unsigned lane = 0; lane < isa::warp_size; ++lane) {
    part& p = result[lane];
    if (p.computed == 0) continue;
    const part from = source_of(lacking, lane);
    bool moved = from.computed == 0;
    for (unsigned k = 0; moved && k < i.src.size(); ++k) moved = !lacks(k, lane) || !alters_bits(i, s.warp, lane, k);
    if (!moved) continue;
    std::swap(p.moved, p.computed);
    p.alone = kept.empty() ? from.alone : kept[lane] != 0 && (kept[lane] & ~p.moved) == 0;
  }
}

// Executes it with each of the fillings, and compares.
void value_check::compute(const watched_step& s, simt::execute_function execute, spare_warp& spare) {
  const isa::instruction& i = s.instruction;
  const std::vector<unsigned> lacking = sources(i);
  const unsigned words = i.dst == isa::rz ? 0 : i.dst_count;
  std::vector<row> results(words + i.pdst.size());  // registers, then predicates
  std::vector<std::array<std::uint32_t, isa::warp_size>> first(results.size());
  for (unsigned f = 0; f < fillings.size(); ++f) {
    simt::warp_state& w = filled(s, lacking, f, spare);
    execute(i, w, s.mask);
    for (unsigned k = 0; k < results.size(); ++k)
      for (const unsigned lane : set_bits(s.mask)) {
        const std::uint32_t now = k < words                      ? spare.reg(i.dst + k)[lane]
                                  : i.pdst[k - words] == isa::pt ? 0
                                                                 : w.predicates[i.pdst[k - words]] >> lane & 1;
        if (f == 0) first[k][lane] = now;
        results[k][lane].computed |= now ^ first[k][lane];
      }
  }
  const bool moves = moves_bits(i);
  std::vector<std::uint32_t> kept;
  if (moves && !moves_registers(i)) kept = kept_bits(s, execute, spare);
  for (row& r : results) {
    for (unsigned lane = 0; lane < isa::warp_size; ++lane)
      if (r[lane].computed != 0) r[lane].from = source_of(lacking, lane).from;
    if (moves) find_moved(s, lacking, kept, r);
  }
  for (unsigned k = 0; k < words; ++k) put(i.dst + k, s.mask, results[k]);
  for (std::size_t k = 0; k < i.pdst.size(); ++k)
    if (i.pdst[k] != isa::pt) put(first_predicate + i.pdst[k], s.mask, results[words + k]);
}

// Words are swapped as a whole where a part of them is changed.
bool value_check::is_of_swap(const isa::instruction& i) const {
  if (!swaps_ || i.op != isa::opcode::isetp || (i.cmp != isa::compare::eq && i.cmp != isa::compare::ne)) return false;
  for (const unsigned reg : sources(i))
    for (const part& p : *find(reg))
      if (p.computed != 0 || (p.moved != 0 && p.from.lane)) return false;
  return true;
}

// Whether results are written depends on a predicate without a value.
void value_check::blur(const watched_step& s) {
  const isa::instruction& i = s.instruction;
  const row* const guard = i.guarded() ? find(first_predicate + i.guard.reg) : nullptr;
  if (guard == nullptr) return;
  row values{};
  simt::lane_mask lanes = 0;
  for (const unsigned lane : set_bits(s.warp.active)) {
    if ((*guard)[lane].all() == 0) continue;
    values[lane] = {0, ~0u, (*guard)[lane].from};
    lanes |= 1u << lane;
  }
  for (unsigned k = 0; lanes != 0 && i.dst != isa::rz && k < i.dst_count; ++k) put(i.dst + k, lanes, values);
}

const valueless_source* value_check::executes(const watched_step& s, simt::execute_function execute,
                                              spare_warp& spare) {
  if (rows_.empty()) return nullptr;
  const valueless_source* use = decides(s);
  if (use == nullptr && is_memory(s.instruction)) use = used_by_memory(s);
  if (use != nullptr) found_ = *use;
  if (execute != nullptr && !is_memory(s.instruction) && s.mask != 0 && !sources(s.instruction).empty() &&
      !is_of_swap(s.instruction))
    compute(s, execute, spare);
  else forget_results(s);
  blur(s);
  return use == nullptr ? nullptr : &found_;
}

}  // namespace heddle::sanitize
