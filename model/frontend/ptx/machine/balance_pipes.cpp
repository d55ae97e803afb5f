// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/balance_pipes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/isa/opcode.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

using isa::instruction;
using isa::multiply_rule;
using isa::opcode;
using isa::operand;
using isa::operand_kind;

/// A pipe for multiply-adds, and one for all other instructions on integers and for comparisons.
enum pipe : unsigned { multiply, alu, pipes };

bool is_plain(const operand& o) { return !o.negate && !o.absolute && !o.invert; }
bool is_register(const operand& o) { return o.kind == operand_kind::reg && !o.absolute && !o.invert && o.count <= 1; }
bool is_zero(const operand& o) { return o.kind == operand_kind::reg && o.reg == isa::rz; }
bool is_immediate(const operand& o) { return o.kind == operand_kind::immediate && is_plain(o); }

class balance {
 public:
  balance(std::vector<instruction>& code, const gpu_config& gpu)
      : code_(code), gpu_(gpu), has_viadd_(compute_capability(gpu) >= 90) {}

  void run() {
    for (instruction& i : code_) issue(i);
  }

 private:
  /// Cycles from issue to a dependent instruction, roughly.
  static constexpr unsigned near_result = 4, far_result = 20;

  void issue(instruction& i) {
    for (const operand& o : i.src)
      if (o.kind == operand_kind::reg && o.reg != isa::rz)
        for (unsigned k = 0; k < std::max<unsigned>(o.count, 1); ++k) now_ = std::max(now_, ready_[(o.reg + k) & 255u]);
    const auto [on, cycles] = pipe_of(i);
    if (on == alu && free_[multiply] < free_[alu] && now_ < free_[alu] && may_multiply(i)) {
      become_multiply(i);
      take(multiply, warp_cycles(gpu_.integer.multiply_lanes));
    } else if (on != pipes) {
      take(on, cycles);
    }
    for (unsigned k = 0; k < i.dst_count && i.dst != isa::rz; ++k)
      ready_[(i.dst + k) & 255u] = now_ + (on == pipes ? far_result : near_result);
    ++now_;
  }

  void take(unsigned on, unsigned cycles) {
    now_ = std::max(now_, free_[on]);
    free_[on] = now_ + cycles;
  }

  /// And the cycles for which it is held; `pipes`: another unit.
  [[nodiscard]] std::pair<unsigned, unsigned> pipe_of(const instruction& i) const {
    using isa::op_class;
    const op_class c = isa::info(i.op).timing;
    const auto& integer = gpu_.integer;
    if (c == op_class::fp32_add) return {multiply, warp_cycles(gpu_.fp32.lanes)};
    if (c == op_class::int_multiply)
      return {multiply, warp_cycles(i.wide || i.high ? integer.wide_multiply_lanes : integer.multiply_lanes)};
    const bool uniform = i.dst_count != 0 && i.dst == isa::rz;  // stands for an instruction on uniform registers
    const bool compares = c == op_class::fp32_minmax || c == op_class::fp32_compare;
    const bool others = isa::unit_of(c) == isa::unit::integer && c != op_class::special_register;
    return {(compares || others) && !uniform ? alu : pipes, warp_cycles(integer.lanes)};
  }

  [[nodiscard]] bool may_multiply(const instruction& i) const {
    if (i.dst_count != 1 || i.pdst[0] != isa::pt || i.extended) return false;
    const auto& s = i.src;
    switch (isa::info(i.op).multiply) {
      case multiply_rule::move: return is_plain(s[0]) && s[0].count <= 1;
      case multiply_rule::shift: return is_register(s[0]) && !s[0].negate && is_immediate(s[1]) && s[1].value - 1 < 31;
      case multiply_rule::sum: return is_zero(s[2]) && (is_sum(i) || becomes_viadd(i));
      case multiply_rule::no: break;
    }
    return false;
  }

  /// Of two registers, of which one may be subtracted: IMAD multiplies the other one by 1.
  [[nodiscard]] static bool is_sum(const instruction& i) {
    const operand &a = i.src[0], &b = i.src[1];
    return is_register(a) && is_register(b) && !is_zero(a) && !is_zero(b) && !(a.negate && b.negate);
  }
  [[nodiscard]] bool becomes_viadd(const instruction& i) const {
    return has_viadd_ && is_register(i.src[0]) && !i.src[0].negate && !is_zero(i.src[0]) && is_immediate(i.src[1]);
  }

  static void become_multiply(instruction& i) {
    auto& s = i.src;
    const operand zero = isa::make_reg(isa::rz, 1);
    switch (isa::info(i.op).multiply) {
      case multiply_rule::no: throw internal_error(std::string(isa::info(i.op).mnemonic) + " cannot become an IMAD");
      case multiply_rule::move: s = {zero, zero, s[0]}; break;
      case multiply_rule::shift: s = {s[0], isa::make_immediate(std::uint64_t{1} << s[1].value), zero}; break;
      case multiply_rule::sum:
        if (!is_sum(i)) {
          i.op = opcode::viadd;
          s[2] = {};
          return;
        }
        if (s[0].negate) std::swap(s[0], s[1]);
        s = {s[0], isa::make_immediate(1), s[1]};
        break;
    }
    i.op = opcode::imad;
    i.type = isa::dtype::u32;
    i.wrap = false;
  }

  std::vector<instruction>& code_;
  const gpu_config& gpu_;
  const bool has_viadd_;
  std::array<std::uint64_t, pipes> free_{};
  std::array<std::uint64_t, 256> ready_{};  // of registers
  std::uint64_t now_ = 0;
};

}  // namespace

void balance_pipes(std::vector<instruction>& code, const gpu_config& gpu) {
  if (compute_capability(gpu) >= 70 && gpu.integer.multiply_on_fp32) balance(code, gpu).run();
}

}  // namespace heddle::ptx
