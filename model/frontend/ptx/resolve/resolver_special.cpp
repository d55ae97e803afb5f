// SPDX-License-Identifier: MIT
// Special registers: those of a thread and a grid, clocks, environment.
#include <unordered_map>

#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

value resolver::read_special(isa::special s, unsigned words) {
  hir_instruction h;
  h.op = ptx_op::s2r;
  h.m.sub = static_cast<std::uint8_t>(s);
  const std::uint32_t r = out_.new_register(words, words * 32);
  h.dst.push_back(register_value(r));
  append(std::move(h));
  return register_value(r);
}

/// mov of a special register (or a function's address) accepts integers and bits of its width. Thread and block
/// indices are also accepted in 16 bits, as on the first GPUs, and %gridid also in 64 bits.
void resolver::check_special(hir_instruction& h, const ast_operand& o) const {
  if (o.text.empty() || o.text[0] != '%' || h.op == ptx_op::unpack) return;
  const auto is = [&](const char* name) { return o.text == name; };
  if (is("%is_explicit_cluster")) {
    if (h.m.type == isa::dtype::pred) return;
    fail(o.where, "'" + o.text + "' is a predicate, which '" + current_->mnemonic() + "' does not move");
  }
  const unsigned bytes = is("%clock64") || is("%globaltimer") ? 8 : 4, asked = isa::size_of(h.m.type);
  const bool place = is("%tid") || is("%ntid") || is("%ctaid") || is("%nctaid");
  if (h.m.type == isa::dtype::pred || isa::is_float(h.m.type) ||
      (asked != bytes && !(asked == 2 && place) && !(asked == 8 && is("%gridid"))))
    fail(o.where, "'" + o.text + "' has " + std::to_string(bytes * 8) + " bits, which '" + current_->mnemonic() +
                      "' does not move");
  if (asked != 8 || bytes == 8) return;
  h.op = ptx_op::cvt;
  h.m.types = 2;
  h.m.type = isa::dtype::u64;
  h.m.type2 = isa::dtype::u32;
}

// Environment registers: 1 and 2 hold the address of the grid's synchronisation workspace (upper half first), others 0.
bool resolver::environment_register(const std::string& number, value& v) const {
  if (number.empty() || number.size() > 2 || number.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(number) > 31)
    return false;
  const bool high = number == "1";
  v = high || number == "2" ? constant_value(0, isa::bank0::grid_workspace + (high ? 4 : 0), 1) : immediate_value(0);
  return true;
}

bool resolver::special_register(const std::string& name, value& v) {
  using isa::special;
  static const std::unordered_map<std::string, special> table = {{"%tid.x", special::tid_x},
                                                                 {"%tid.y", special::tid_y},
                                                                 {"%tid.z", special::tid_z},
                                                                 {"%ctaid.x", special::ctaid_x},
                                                                 {"%ctaid.y", special::ctaid_y},
                                                                 {"%ctaid.z", special::ctaid_z},
                                                                 {"%laneid", special::laneid},
                                                                 {"%warpid", special::warpid},
                                                                 {"%nwarpid", special::nwarpid},
                                                                 {"%smid", special::smid},
                                                                 {"%nsmid", special::nsmid},
                                                                 {"%lanemask_eq", special::lanemask_eq},
                                                                 {"%lanemask_lt", special::lanemask_lt},
                                                                 {"%lanemask_le", special::lanemask_le},
                                                                 {"%lanemask_gt", special::lanemask_gt},
                                                                 {"%lanemask_ge", special::lanemask_ge},
                                                                 {"%clock", special::clock},
                                                                 {"%clock_hi", special::clock_hi},
                                                                 {"%total_smem_size", special::total_smem_size},
                                                                 {"%aggr_smem_size", special::total_smem_size}};
  static const std::unordered_map<std::string, special> wide = {{"%clock64", special::clock64},
                                                                {"%globaltimer", special::globaltimer}};
  static const std::unordered_map<std::string, std::uint32_t> constants = {
      {"%ntid.x", isa::bank0::ntid},
      {"%ntid.y", isa::bank0::ntid + 4},
      {"%ntid.z", isa::bank0::ntid + 8},
      {"%nctaid.x", isa::bank0::nctaid},
      {"%nctaid.y", isa::bank0::nctaid + 4},
      {"%nctaid.z", isa::bank0::nctaid + 8},
      {"%dynamic_smem_size", isa::bank0::dynamic_shared}};
  if (auto it = constants.find(name); it != constants.end()) {
    v = constant_value(0, it->second, 1);
    return true;
  }
  if (auto it = table.find(name); it != table.end()) {
    v = read_special(it->second, 1);
    return true;
  }
  if (auto it = wide.find(name); it != wide.end()) {
    v = read_special(it->second, 2);
    return true;
  }
  if (name == "%globaltimer_lo" || name == "%globaltimer_hi") {
    const value whole = read_special(special::globaltimer, 2);
    hir_instruction h;
    h.op = ptx_op::unpack;
    h.src.push_back(whole);
    const value low = register_value(out_.new_register(1, 32)), high = register_value(out_.new_register(1, 32));
    h.dst = {low, high};
    append(std::move(h));
    v = name == "%globaltimer_lo" ? low : high;
    return true;
  }
  if (cluster_register(name, v)) return true;
  if (name.rfind("%envreg", 0) == 0) return environment_register(name.substr(7), v);
  if (name == "%gridid") {
    v = read_special(special::gridid, 1);
    return true;
  }
  return false;
}

}  // namespace heddle::ptx
