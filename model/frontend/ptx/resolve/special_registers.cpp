// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/special_registers.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

constexpr std::uint32_t reserved_shared_bytes = 1024;
constexpr std::uint32_t second_reserved_part = 512;

}  // namespace

/// Special registers of clusters, and the location of the system's shared memory: a part of the block's own shared
/// memory, reserved on first use.
bool special_registers::cluster_register(const std::string& name, value& v) {
  struct row {
    const char* name;
    std::uint32_t value;
  };
  if (name == "%is_explicit_cluster") {
    hir_instruction h;
    h.op = ptx_op::setp;
    h.m.type = isa::dtype::u32;
    h.m.types = 1;
    h.m.cmp = isa::compare::ne;
    v = register_value(code_.new_register(0, 1));
    h.dst = {v};
    h.src = {constant_value(0, isa::bank0::explicit_cluster, 1), immediate_value(0)};
    code_.append(std::move(h));
    return true;
  }
  static constexpr row reserved[] = {{"%reserved_smem_offset_begin", 0},
                                     {"%reserved_smem_offset_end", reserved_shared_bytes},
                                     {"%reserved_smem_offset_cap", reserved_shared_bytes},
                                     {"%reserved_smem_offset_0", 0},
                                     {"%reserved_smem_offset_1", second_reserved_part}};
  for (const row& r : reserved) {
    if (name != r.name) continue;
    if (reserved_shared_.what == value::kind::none) {
      ast_variable area;
      area.space = state_space::shared;
      area.type = isa::dtype::b8;
      area.align = 16;
      area.name = name;
      area.is_array = true;
      area.dims = {reserved_shared_bytes};
      if (code_.current()) area.where = code_.current()->where;
      reserved_shared_ = places_.place_shared(area);
    }
    const bool size = name == "%reserved_smem_offset_cap";
    v = immediate_value(r.value + (size ? 0 : reserved_shared_.bits));
    return true;
  }
  return false;
}

bool special_registers::is_special(const ast_operand& given) {
  static constexpr const char* names[] = {"%tid",
                                          "%ntid",
                                          "%ctaid",
                                          "%nctaid",
                                          "%laneid",
                                          "%warpid",
                                          "%nwarpid",
                                          "%smid",
                                          "%nsmid",
                                          "%gridid",
                                          "%lanemask_",
                                          "%clock",
                                          "%globaltimer",
                                          "%total_smem_size",
                                          "%aggr_smem_size",
                                          "%dynamic_smem_size",
                                          "%envreg",
                                          "%pm",
                                          "%cluster",
                                          "%is_explicit_cluster",
                                          "%reserved_smem_offset_"};
  return std::any_of(std::begin(names), std::end(names), [&](const char* n) { return given.text.rfind(n, 0) == 0; });
}

value special_registers::read_special(isa::special s, unsigned words) {
  hir_instruction h;
  h.op = ptx_op::s2r;
  h.m.sub = static_cast<std::uint8_t>(s);
  const std::uint32_t r = code_.new_register(words, words * 32);
  h.dst.push_back(register_value(r));
  code_.append(std::move(h));
  return register_value(r);
}

/// mov of a special register (or a function's address) accepts integers and bits of its width. Thread and block
/// indices are also accepted in 16 bits, as on the first GPUs, and %gridid also in 64 bits.
void special_registers::check_special(hir_instruction& h, const ast_operand& o) const {
  if (o.text.empty() || o.text[0] != '%' || h.op == ptx_op::unpack) return;
  const auto is = [&](const char* name) { return o.text == name; };
  if (is("%is_explicit_cluster")) {
    if (h.m.type == isa::dtype::pred) return;
    code_.fail(o.where, "'" + o.text + "' is a predicate, which '" + code_.current()->mnemonic() + "' does not move");
  }
  const unsigned bytes = is("%clock64") || is("%globaltimer") ? 8 : 4, asked = isa::size_of(h.m.type);
  const bool place = is("%tid") || is("%ntid") || is("%ctaid") || is("%nctaid");
  if (h.m.type == isa::dtype::pred || isa::is_float(h.m.type) ||
      (asked != bytes && !(asked == 2 && place) && !(asked == 8 && is("%gridid"))))
    code_.fail(o.where, "'" + o.text + "' has " + std::to_string(bytes * 8) + " bits, which '" +
                            code_.current()->mnemonic() + "' does not move");
  if (asked != 8 || bytes == 8) return;
  h.op = ptx_op::cvt;
  h.m.types = 2;
  h.m.type = isa::dtype::u64;
  h.m.type2 = isa::dtype::u32;
}

// Environment registers: 1 and 2 hold the address of the grid's synchronisation workspace (upper half first), others 0.
bool special_registers::environment_register(const std::string& number, value& v) {
  if (number.empty() || number.size() > 2 || number.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(number) > 31)
    return false;
  const bool high = number == "1";
  v = high || number == "2" ? constant_value(0, isa::bank0::grid_workspace + (high ? 4 : 0), 1) : immediate_value(0);
  return true;
}

bool special_registers::special_register(const std::string& name, value& v) {
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
                                                                 {"%aggr_smem_size", special::total_smem_size},
                                                                 {"%cluster_ctaid.x", special::cluster_ctaid_x},
                                                                 {"%cluster_ctaid.y", special::cluster_ctaid_y},
                                                                 {"%cluster_ctaid.z", special::cluster_ctaid_z},
                                                                 {"%cluster_ctarank", special::cluster_ctarank},
                                                                 {"%clusterid.x", special::clusterid_x},
                                                                 {"%clusterid.y", special::clusterid_y},
                                                                 {"%clusterid.z", special::clusterid_z}};
  static const std::unordered_map<std::string, special> wide = {{"%clock64", special::clock64},
                                                                {"%globaltimer", special::globaltimer}};
  static const std::unordered_map<std::string, std::uint32_t> constants = {
      {"%ntid.x", isa::bank0::ntid},
      {"%ntid.y", isa::bank0::ntid + 4},
      {"%ntid.z", isa::bank0::ntid + 8},
      {"%nctaid.x", isa::bank0::nctaid},
      {"%nctaid.y", isa::bank0::nctaid + 4},
      {"%nctaid.z", isa::bank0::nctaid + 8},
      {"%cluster_nctaid.x", isa::bank0::cluster_nctaid},
      {"%cluster_nctaid.y", isa::bank0::cluster_nctaid + 4},
      {"%cluster_nctaid.z", isa::bank0::cluster_nctaid + 8},
      {"%cluster_nctarank", isa::bank0::cluster_nctarank},
      {"%nclusterid.x", isa::bank0::nclusterid},
      {"%nclusterid.y", isa::bank0::nclusterid + 4},
      {"%nclusterid.z", isa::bank0::nclusterid + 8},
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
    const value low = register_value(code_.new_register(1, 32)), high = register_value(code_.new_register(1, 32));
    h.dst = {low, high};
    code_.append(std::move(h));
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
