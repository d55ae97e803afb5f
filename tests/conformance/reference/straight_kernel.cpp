// SPDX-License-Identifier: MIT
#include "straight_kernel.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/lower.h"

namespace heddle::conformance {

namespace {

bool names(const conformance_case& c, const std::string& reg) { return c.code.find(reg) != std::string::npos; }

void require(bool holds, const std::string& what) {
  if (!holds) throw internal_error(what);
}

constexpr std::int64_t result_at = 16;

}  // namespace

std::string straight_module_of(const conformance_case& c) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in) {\n"
      ".reg .b64 %in, %o; .reg .b32 %r<4>, %q; .reg .b16 %h<4>, %g; .reg .pred %c;\nld.param.u64 %in, [in];\n";
  for (unsigned k = 0; k < 4; ++k) {
    const std::string n = std::to_string(k), from = n + ", [%in+" + std::to_string(4 * k) + "];\n";
    if (names(c, "%h" + n)) text += "ld.global.u16 %h" + from;
    else if (names(c, "%r" + n)) text += "ld.global.u32 %r" + from;
  }
  text += c.code + "\n";
  if (c.result_bits == 1) text += "selp.u32 %q, 1, 0, %c; ";
  const char* const store = c.result_bits == 16   ? "u16 [%in+16], %g;"
                            : c.result_bits == 64 ? "u64 [%in+16], %o;"
                                                  : "u32 [%in+16], %q;";
  return text + "st.global." + store + " ret;\n}\n";
}

straight_kernel::straight_kernel(const conformance_case& c, const std::shared_ptr<const ptx::ast_module>& module,
                                 const gpu_config& gpu)
    : program_(ptx::lower(ptx::place(module, isa::heap_base), "k", gpu)) {
  launch_.program = program_;
  launch_.banks[0].resize(isa::bank0::parameters + 64);
  launch_.banks[2] = program_->bank2;
  block_.launch = &launch_;
  storage_.assign((program_->registers + 1) * simt::warp_size, 0xdeadbeef);
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  warp_.regs = reinterpret_cast<std::uint32_t*>((address + 63) / 64 * 64);
  warp_.predicates[isa::pt] = simt::all_lanes;
  warp_.start(simt::all_lanes, false);
  warp_.block = &block_;
  for (unsigned r = 0; r < value_of_.size(); ++r) value_of_[r] = static_cast<std::uint8_t>(r);
  for (const isa::instruction& i : program_->code) take(i);
  require(stored_, c.name + ": the lowered kernel stores nothing");
  require(!loads_.empty(), c.name + ": the lowered kernel loads nothing");
  check_loads();
}

void straight_kernel::take(const isa::instruction& i) {
  if (i.op == isa::opcode::exit || stored_) return;
  if (i.op == isa::opcode::ld && i.mem_space == isa::space::global) {
    require(i.dst_count == 1 && !i.guarded() && i.offset >= 0 && i.offset < result_at,
            "an unforeseen load: " + isa::to_string(i));
    inputs_.push_back({static_cast<unsigned>(i.offset / 4), i.dst});
    loads_.push_back(&i);
    note(i);
    return;
  }
  if (i.op == isa::opcode::st) {
    require(i.src[1].is_reg() && i.offset == result_at, "an unforeseen store: " + isa::to_string(i));
    result_ = i.src[1].reg;
    wide_ = i.src[1].count == 2;
    if (isa::size_of(i.type) == 2) result_mask_ = 0xffff;
    note(i);
    stored_ = true;
    return;
  }
  require(i.op != isa::opcode::bra && i.op != isa::opcode::bar, "not straight: " + isa::to_string(i));
  steps_.push_back({&i, simt::select(i)});
  note(i);
}

/// If values have several registers, or registers keep old values in some lanes, registers are compared instead of
/// values.
void straight_kernel::note(isa::instruction i) {
  if (i.op == isa::opcode::ld || i.op == isa::opcode::st) i.src[0] = {};  // the address of operands and result
  text_ += isa::to_string(i) + "\n";
  renamed_ &= !i.guarded() && i.dst_count <= 1;
  for (isa::operand& o : i.src) {
    renamed_ &= !o.is_reg() || o.count == 1;
    if (o.is_reg()) o.reg = value_of_[o.reg];
  }
  if (i.dst_count > 0 && i.dst != isa::rz) {
    value_of_[i.dst] = next_value_;
    i.dst = next_value_++;
  }
  values_ += isa::to_string(i) + "\n";
}

/// Checks that a load writes its data unchanged to the register, because operands are placed in registers directly.
void straight_kernel::check_loads() {
  for (const isa::instruction* i : loads_) {
    std::uint32_t words[4][simt::warp_size] = {};
    for (unsigned lane = 0; lane < simt::warp_size; ++lane) words[0][lane] = lane * 0x0401 + 0x7ff0;
    simt::lane_write_back(*i, warp_, simt::all_lanes, words);
    const std::uint32_t* const loaded = &warp_.regs[i->dst * simt::warp_size];
    require(std::equal(words[0], words[0] + simt::warp_size, loaded),
            "a load that changes its value: " + isa::to_string(*i));
  }
}

}  // namespace heddle::conformance
