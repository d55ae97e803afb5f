// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/warp_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void warp_selector::shuffle() {
  in_.need(3);
  const bool has_mask = in_.now().src.size() > 3;
  const register_part d = in_.dst();
  const std::uint32_t p = in_.predicate_dst(1);
  machine_instruction& i = out_.put(opcode::shfl, d,
                                    {in_.src(0, dtype::b32), in_.src(1, dtype::b32), in_.src(2, dtype::b32),
                                     has_mask ? in_.src(3, dtype::b32) : virtual_operand()});
  i.pdst[0] = p;
  i.base.sub = in_.now().m.sub;
}

void warp_selector::vote() {
  if (in_.now().op == ptx_op::activemask) {
    out_.put(opcode::vote, in_.dst(), {immediate(0xffffffffu)}).base.sub =
        static_cast<std::uint8_t>(isa::vote_mode::activemask);
    return;
  }
  in_.need(1);
  const virtual_operand mask = in_.now().src.size() > 1 ? in_.src(1, dtype::b32) : virtual_operand();
  const bool ballot = in_.now().m.sub == static_cast<unsigned>(isa::vote_mode::ballot);
  machine_instruction& i = ballot ? out_.put(opcode::vote, in_.dst(), {mask})
                                  : out_.put_predicate(opcode::vote, in_.predicate_dst(), {mask});
  i.psrc[0] = in_.predicate(in_.now().src[0]);
  i.base.sub = in_.now().m.sub;
}

/// Elects the lowest lane of the member mask.
void warp_selector::elect() {
  chip_.require_capability(9);
  in_.need(1);
  const register_part reversed = out_.temp(), leader = out_.temp(), lane = out_.temp();
  out_.put(opcode::brev, reversed, {in_.src(0, dtype::b32)});
  machine_instruction& first = out_.put(opcode::flo, leader, {reversed});
  first.base.type = dtype::u32;
  first.base.sub = 1;
  out_.put(opcode::s2r, lane, {}).base.sub = static_cast<std::uint8_t>(isa::special::laneid);
  const std::uint32_t p = in_.predicate_dst(1);
  out_.copy(in_.dst(), leader);
  out_.put_predicate(opcode::isetp, p, {lane, leader}).base.cmp = isa::compare::eq;
}

void warp_selector::match() {
  chip_.require_capability(7);
  in_.need(2);
  const bool all = in_.now().m.sub == static_cast<unsigned>(isa::match_mode::all);
  if (in_.now().m.type != dtype::b32 && in_.now().m.type != dtype::b64) in_.unsupported();
  register_part d = in_.dst();
  if (d.count > 1) in_.fail("destination of '" + in_.now().source->mnemonic() + "' must have 32 bits");
  if (!all && in_.now().dst.size() > 1) in_.fail("'" + in_.now().source->mnemonic() + "' has no predicate");
  const virtual_operand a = in_.src(0);
  machine_instruction& i = out_.put(opcode::match, d, {a, in_.src(1, dtype::b32)});
  i.base.sub = in_.now().m.sub;
  if (all) i.pdst[0] = in_.predicate_dst(1);
}

void warp_selector::reduce() {
  chip_.require_capability(8);
  in_.need(2);
  const dtype t = in_.now().m.type;
  const auto op = static_cast<isa::redux_op>(in_.now().m.sub);
  const bool bitwise = op == isa::redux_op::and_ || op == isa::redux_op::or_ || op == isa::redux_op::xor_;
  if (bitwise ? t != dtype::b32 : t != dtype::u32 && t != dtype::s32) in_.unsupported();
  machine_instruction& i = out_.put(opcode::redux, in_.dst(), {in_.src(0), in_.src(1, dtype::b32)});
  i.base.sub = in_.now().m.sub;
  i.base.type = t == dtype::s32 ? dtype::s32 : dtype::u32;
}

// What the threads did before they arrived is visible to the cluster after they have waited.
void warp_selector::cluster_barrier() {
  using order = modifiers::order_kind;
  chip_.require_capability(9);
  const modifiers& m = in_.now().m;
  const auto fence = [this](unsigned how) {
    out_.put(opcode::membar, {no_register, 0, 0}, {}).base.sub = static_cast<std::uint8_t>(1 | how);
  };
  if (m.order == order::release) fence(0);
  out_.put(m.sub == cluster_wait ? opcode::ucgabar_wait : opcode::ucgabar_arv, {no_register, 0, 0}, {});
  if (m.order == order::acquire) fence(isa::membar_acquires);
}

// Other chips begin a launch after the end of the one before it: there is nothing to wait for.
void warp_selector::grid_dependence() {
  if (!chip_.has_capability(9, 0)) return;
  out_.put(in_.now().m.sub == grid_wait ? opcode::acqbulk : opcode::preexit, {no_register, 0, 0}, {});
}

void warp_selector::barrier() {
  if (in_.now().m.uniform) {
    out_.put(opcode::nop, {no_register, 0, 0}, {in_.now().src.empty() ? virtual_operand() : in_.src(0, dtype::b32)});
    return;
  }
  if (in_.now().m.sub >= cluster_arrive) return cluster_barrier();
  const bool reduces = in_.now().m.sub >= 2, counts = in_.now().m.sub == 2;
  const std::size_t sources = in_.now().src.size() - (reduces ? 1 : 0);
  if (in_.now().src.empty() || sources < 1 || sources > 2)
    in_.fail("'" + in_.now().source->mnemonic() + "' with the wrong number of operands");
  machine_instruction& i =
      out_.put(opcode::bar, counts ? in_.dst() : register_part{no_register, 0, 0},
               {in_.src(0, dtype::u32), sources == 2 ? in_.src(1, dtype::u32) : virtual_operand()});
  if (i.src[0].is_zero_register()) i.src[0] = immediate(0);
  i.base.sub = in_.now().m.sub;
  i.base.aligned = in_.now().op == ptx_op::bar || in_.now().m.aligned;
  if (reduces) i.psrc[0] = in_.predicate(in_.now().src.back());
  if (reduces && !counts) i.pdst[0] = in_.predicate_dst();
}

}  // namespace heddle::ptx
