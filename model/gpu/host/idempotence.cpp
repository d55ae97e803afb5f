// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/idempotence.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "heddle/isa/opcode.h"

namespace heddle {

namespace {

using isa::access_kind;
using isa::opcode;
using isa::operand_kind;

constexpr std::uint64_t unknown = std::uint64_t{1} << 63;  // bits 0 to 62 are parameter slots
constexpr unsigned slots_followed = 63;
constexpr unsigned slot_bytes = 8;
constexpr std::uint8_t module_constants = 3;  // bank of .const variables

/// The parameters from which the value of each register may have been computed, before one instruction.
using origins = std::array<std::uint64_t, 256>;

bool is_global(const isa::instruction& i) {
  return i.mem_space == isa::space::global || i.mem_space == isa::space::generic;
}

/// Words of the bank of parameters from `byte` on.
std::uint64_t origin_of_constants(std::uint64_t byte, unsigned words) {
  std::uint64_t from = 0;
  for (; words != 0; --words, byte += 4) {
    if (byte < isa::bank0::parameters) continue;
    const std::uint64_t slot = (byte - isa::bank0::parameters) / slot_bytes;
    from |= slot < slots_followed ? std::uint64_t{1} << slot : unknown;
  }
  return from;
}

std::uint64_t origin_of(const isa::operand& o, const origins& at) {
  std::uint64_t from = 0;
  if (o.kind == operand_kind::reg && o.reg != isa::rz)
    for (unsigned k = 0; k < o.count; ++k) from |= at[std::min(o.reg + k, 255u)];
  if (o.kind == operand_kind::constant && o.bank == module_constants) from = unknown;
  if (o.kind == operand_kind::constant && o.bank == 0)
    from |= origin_of_constants(o.value, std::max<unsigned>(o.count, 1));
  return from;
}

/// Of LDC: known where it names a place.
std::uint64_t origin_of_constant_load(const isa::instruction& i) {
  if (i.sub != 0 || !i.src[0].is_reg() || i.src[0].reg != isa::rz || i.offset < 0) return unknown;
  return origin_of_constants(static_cast<std::uint64_t>(i.offset), std::max(1u, (isa::size_of(i.type) + 3) / 4));
}

/// Forward data-flow analysis of the origins of values, to a fixed point.
class origin_flow {
 public:
  explicit origin_flow(const isa::program& program) : code_(program.code), before_(code_.size()) {
    if (code_.empty()) return;
    before_[0].emplace();
    before_[0]->fill(0);
    // All values kept in shared and local memory form one pool, which grows until nothing changes.
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (std::size_t k = 0; k < code_.size(); ++k)
        if (before_[k]) step(k);
    }
  }
  [[nodiscard]] global_footprint footprint() const {
    global_footprint f;
    for (std::size_t k = 0; k < code_.size(); ++k)
      if (before_[k]) note(code_[k], *before_[k], f);
    return f;
  }

 private:
  static std::uint64_t address_of(const isa::instruction& i, const origins& at) { return origin_of(i.src[0], at); }

  static void note(const isa::instruction& i, const origins& at, global_footprint& f) {
    const auto irrevocable = [&] {
      if (f.irrevocable_line == 0) f.irrevocable_line = std::max(i.line, 1u);
    };
    const std::uint64_t from = address_of(i, at);
    const access_origin access{from & ~unknown, (from & unknown) != 0, i.line};
    const isa::flow_kind flow = isa::info(i.op).flow;
    if (flow == isa::flow_kind::system_call || flow == isa::flow_kind::bulk_copy) irrevocable();
    switch (isa::info(i.op).access) {
      case access_kind::none:
      case access_kind::matrix_load:
      case access_kind::constant_load: break;
      case access_kind::load:
      case access_kind::copy:
        if (is_global(i) && i.cache != isa::cache_op::nc) f.loads.push_back(access);
        break;
      case access_kind::store:
        if (is_global(i)) f.stores.push_back(access);
        break;
      case access_kind::atomic:
      case access_kind::reduction:
        if (is_global(i)) irrevocable();
        break;
      case access_kind::sample:
      case access_kind::surface_load: f.samples = true; break;
      case access_kind::surface_store: irrevocable(); break;
    }
  }

  // The possible origins of an instruction's result.
  [[nodiscard]] std::uint64_t result_of(const isa::instruction& i, const origins& at) const {
    if (i.op == opcode::syscall) return unknown;
    switch (isa::info(i.op).access) {
      case access_kind::none:
      case access_kind::copy:
      case access_kind::store:
      case access_kind::reduction:
      case access_kind::surface_store: break;
      case access_kind::load:
        if (!is_global(i)) return pool_;
        return isa::size_of(i.type) >= 8 ? unknown : 0;
      case access_kind::matrix_load: return pool_;
      case access_kind::atomic: return is_global(i) ? unknown : pool_;
      case access_kind::constant_load: return origin_of_constant_load(i);
      case access_kind::sample:
      case access_kind::surface_load: return unknown;
    }
    std::uint64_t from = 0;
    for (const isa::operand& o : i.src) from |= origin_of(o, at);
    return from;
  }

  void step(std::size_t k) {
    const isa::instruction& i = code_[k];
    const origins& at = *before_[k];
    if (!is_global(i) && (i.op == opcode::st || isa::is_atomic(i.op))) {
      const std::uint64_t pool = pool_ | origin_of(i.src[1], at);
      changed_ = changed_ || pool != pool_;
      pool_ = pool;
    }
    if (i.op == opcode::ldgsts && isa::size_of(i.type) >= 8) {
      changed_ = changed_ || (pool_ & unknown) == 0;
      pool_ |= unknown;
    }
    // A generic store may also write shared or local memory.
    if (i.op == opcode::st && i.mem_space == isa::space::generic) {
      const std::uint64_t pool = pool_ | origin_of(i.src[1], at);
      changed_ = changed_ || pool != pool_;
      pool_ = pool;
    }
    origins after = at;
    std::uint64_t from = result_of(i, at);
    if (i.op == opcode::ld && i.mem_space == isa::space::generic) from |= pool_;
    if (i.dst != isa::rz)
      for (unsigned r = i.dst; r < std::min(unsigned{i.dst} + i.dst_count, 256u); ++r)
        after[r] = i.guard.reg == isa::pt ? from : after[r] | from;
    if (i.op == opcode::bra && i.target < code_.size()) reach(i.target, after);
    const bool always = i.guard.reg == isa::pt && !i.guard.negate;
    const bool ends = always && (i.op == opcode::exit || (i.op == opcode::bra && i.target != isa::no_target));
    if (!ends && k + 1 < code_.size()) reach(k + 1, after);
  }

  void reach(std::size_t k, const origins& with) {
    if (!before_[k]) {
      before_[k] = with;
      changed_ = true;
      return;
    }
    for (std::size_t r = 0; r < with.size(); ++r) {
      const std::uint64_t both = (*before_[k])[r] | with[r];
      changed_ = changed_ || both != (*before_[k])[r];
      (*before_[k])[r] = both;
    }
  }

  const std::vector<isa::instruction>& code_;
  std::vector<std::optional<origins>> before_;  // no value: not reached
  std::uint64_t pool_ = 0;
  bool changed_ = false;
};

/// The allocations that an access can reach; empty if it may reach any.
std::vector<std::uint64_t> reach_of(const access_origin& a, const std::vector<std::uint8_t>& parameters,
                                    const address_ranges& ranges) {
  std::vector<std::uint64_t> bases;
  if (a.unknown) return bases;
  for (unsigned s = 0; s < slots_followed; ++s) {
    if ((a.slots >> s & 1) == 0 || (s + 1) * slot_bytes > parameters.size()) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, &parameters[s * slot_bytes], sizeof value);
    address_ranges::hint where;
    if (ranges.find(value, 1, where)) bases.push_back(where.begin);
  }
  return bases;
}

bool meet(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  if (a.empty() || b.empty()) return true;
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

global_footprint footprint_of(const isa::program& program) { return origin_flow(program).footprint(); }

std::string why_not_idempotent(const global_footprint& footprint, const std::vector<std::uint8_t>& parameters,
                               const address_ranges& ranges, const simt::texture_table* textures) {
  if (footprint.irrevocable_line != 0)
    return "line " + std::to_string(footprint.irrevocable_line) + " has an effect that cannot be repeated";
  for (const access_origin& s : footprint.stores) {
    const auto stored = reach_of(s, parameters, ranges);
    for (const access_origin& l : footprint.loads)
      if (meet(stored, reach_of(l, parameters, ranges)))
        return "line " + std::to_string(l.line) + " may load what line " + std::to_string(s.line) + " stores";
    if (!footprint.samples) continue;
    std::vector<std::uint64_t> sampled;
    for (std::size_t k = 0; textures != nullptr && k < textures->size(); ++k) {
      address_ranges::hint where;
      if (ranges.find((*textures)[k].address, 1, where)) sampled.push_back(where.begin);
    }
    if (meet(stored, sampled))
      return "line " + std::to_string(s.line) + " may store into a texture that the kernel reads";
  }
  return {};
}

}  // namespace heddle
