// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/generic_translator.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "heddle/frontend/ptx/hir/operand_counts.h"
#include "heddle/isa/cache_policy.h"

namespace heddle::ptx {

using isa::dtype;

/// createpolicy, as isa/cache_policy.h has it.
void generic_translator::create_policy(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  const value d = in_.destination(i.operands[0], i.where);
  if (i.has("cvt")) return steps.finish(ptx_op::mov, dtype::b64, d, {in_.operand(i.operands[1], dtype::b64, i.where)});
  const isa::eviction rest = h.m.evict_rest;
  if (h.m.evictions > 2 || (rest != isa::eviction::first && rest != isa::eviction::unchanged))
    code_.fail(i.where, "'" + i.mnemonic() +
                            "' with other eviction priorities, expected one, and perhaps "
                            "'.L2::evict_first' or '.L2::evict_unchanged'");
  const value upper = i.has("range") ? range(steps, h, i) : fraction(steps, h, i);
  if (upper.is_immediate()) return steps.finish(ptx_op::mov, dtype::b64, d, {immediate_value(upper.bits << 32)});
  steps.finish(ptx_op::pack, dtype::b64, d, {immediate_value(0), upper});
}

/// The policy's upper word. Sixteenths are rounded up.
value generic_translator::fraction(const expansion& steps, const hir_instruction& h, const ast_instruction& i) {
  namespace policy = isa::cache_policy;
  const auto of = [&h](unsigned sixteenths) {
    return immediate_value(policy::of_fraction(h.m.evict, h.m.evict_rest, sixteenths));
  };
  if (i.operands.size() == 1) return of(16);
  const value part = in_.operand(i.operands[1], dtype::f32, i.where);
  if (part.is_immediate()) {
    const auto bits = static_cast<std::uint32_t>(part.bits);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!(number > 0 && number <= 1))
      code_.fail(i.operands[1].where,
                 "'" + i.operands[1].text + "' in '" + i.mnemonic() + "', expected a number above 0, of at most 1");
    return of(static_cast<unsigned>(std::ceil(number * 16)));
  }
  const value scaled = steps.make(ptx_op::mul, dtype::f32, {part, immediate_value(0x41800000)});
  const value sixteenths = steps.word();
  hir_instruction rounded = in_place_of(h, ptx_op::cvt, dtype::s32, {sixteenths}, {scaled});
  rounded.m.type2 = dtype::f32;
  rounded.m.types = 2;
  rounded.m.round = isa::rounding::rp;
  rounded.m.rounded = rounded.m.to_integer = true;
  code_.append(std::move(rounded));
  const value most = steps.make(ptx_op::min, dtype::s32, {sixteenths, immediate_value(16)});
  const value amount = steps.make(
      ptx_op::sub, dtype::s32, {steps.make(ptx_op::max, dtype::s32, {most, immediate_value(1)}), immediate_value(1)});
  return steps.make(ptx_op::add, dtype::u32,
                    {steps.make(ptx_op::shl, dtype::b32, {amount, immediate_value(policy::amount_at)}), of(1)});
}

/// The policy's upper word: blocks of so many bytes that those of all addresses have different numbers. An address has
/// the primary eviction if its block holds one of the first `primary` bytes.
value generic_translator::range(const expansion& steps, const hir_instruction& h, const ast_instruction& i) {
  namespace policy = isa::cache_policy;
  using op = ptx_op;
  const auto number = [](std::uint64_t n) { return immediate_value(n); };
  const value primary = in_.operand(i.operands[2], dtype::u32, i.where),
              total = in_.operand(i.operands[3], dtype::u32, i.where);
  if (primary.is_immediate() && total.is_immediate() && primary.bits > total.bits)
    code_.fail(i.operands[2].where,
               "'" + i.operands[2].text + "' in '" + i.mnemonic() + "', expected at most '" + i.operands[3].text + "'");
  hir_instruction a;
  a.op = op::cp;
  a.m.space = state_space::global;
  in_.address(a, i.operands[1]);
  const value begin =
      steps.make(op::add, dtype::u64, {in_.wide_address(a.src[0]), number(static_cast<std::uint64_t>(a.offset))});
  // Half of the numbers are enough for `total` bytes from the beginning of a block on.
  constexpr unsigned bits = policy::least_block_bits + 6;
  const value last = steps.make(op::sub, dtype::u32, {total, number(1)});
  const value zeros = steps.make(op::clz, dtype::b32, {last});
  const value size =
      steps.make(op::max, dtype::s32, {steps.make(op::sub, dtype::s32, {number(32 - bits), zeros}), number(0)});
  const value shift = steps.make(op::add, dtype::u32, {size, number(policy::least_block_bits)});
  const value block = steps.make(op::shl, dtype::b64, {steps.make(op::mov, dtype::b64, {number(1)}), shift});
  const value wide = steps.pair();
  steps.put(op::pack, dtype::b64, {wide}, {steps.make(op::mov, dtype::b32, {primary}), number(0)});
  const value past = steps.make(op::add, dtype::u64, {steps.make(op::add, dtype::u64, {begin, wide}), block});
  const auto block_of = [&](const value& address) {
    const value shifted = steps.make(op::shr, dtype::u64, {address, shift}), low = steps.word();
    steps.put(op::unpack, dtype::b64, {low, steps.word()}, {shifted});
    return low;
  };
  const value first = block_of(begin), end = block_of(steps.make(op::sub, dtype::u64, {past, number(1)}));
  const value count =
      steps.make(op::min, dtype::u32, {steps.make(op::sub, dtype::u32, {end, first}), number(policy::block_mask)});
  const auto field = [&](const value& v, unsigned at) { return steps.make(op::shl, dtype::b32, {v, number(at)}); };
  const value start = steps.make(op::and_, dtype::b32, {first, number(policy::block_mask)});
  const value places =
      steps.make(op::add, dtype::u32, {field(start, policy::start_at), field(count, policy::count_at)});
  const value kind = number(policy::evictions(policy::range, h.m.evict, h.m.evict_rest));
  return steps.make(op::add, dtype::u32,
                    {places, steps.make(op::add, dtype::u32, {field(size, policy::amount_at), kind})});
}

void generic_translator::read_destination(hir_instruction& h, const ast_instruction& i) {
  if (i.operands.empty()) code_.fail(i.where, "'" + i.mnemonic() + "' without operands");
  const ast_operand& d = i.operands[0];
  if (d.what == ast_operand::kind::pair) {
    for (const ast_operand& e : d.list) h.dst.push_back(in_.destination(e, i.where));
  } else {
    h.dst.push_back(in_.destination(d, i.where));
  }
}

void generic_translator::translate(hir_instruction h, const ast_instruction& i) {
  switch (h.op) {  // hints, and guarantees that always hold: no computation and no wait
    case ptx_op::applypriority:
    case ptx_op::discard: return checker_.check_literal(i, 1, 128, 128);
    case ptx_op::prefetch:
    case ptx_op::prefetchu: return;
    case ptx_op::pmevent: checker_.check_literal(i, 0, 0, h.m.masked ? 0xffff : 15); break;
    case ptx_op::createpolicy: return create_policy(h, i);
    default: break;
  }
  const bool writes = info(h.op).operands == operand_use::result;
  if (writes) read_destination(h, i);
  for (std::size_t k = writes ? 1 : 0; k < i.operands.size(); ++k)
    h.src.push_back(in_.operand(i.operands[k], source_type(h, h.src.size()), i.where));
  if (h.op == ptx_op::isspacep && !h.src.empty()) h.src[0] = in_.wide_address(h.src[0]);
  if (h.src.size() < info(h.op).sources) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (h.src.size() > most_sources(h))
    code_.fail(i.operands.back().where, "'" + i.mnemonic() + "' with too many operands");
  code_.append(std::move(h));
}

}  // namespace heddle::ptx
