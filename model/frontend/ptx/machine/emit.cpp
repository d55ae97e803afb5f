// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/emit.h"

#include <algorithm>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/convergence.h"
#include "heddle/isa/convergence.h"

namespace heddle::ptx {

namespace {

std::uint8_t place(const register_allocation& a, std::uint32_t reg, unsigned part, std::uint8_t none) {
  if (reg == no_register) return none;
  const std::uint8_t at = a.physical[reg];
  return at == none ? none : static_cast<std::uint8_t>(at + part);
}

isa::instruction convert(const machine_instruction& m, const register_allocation& a) {
  isa::instruction i = m.base;
  i.dst_count = m.dst.count;
  i.dst = place(a, m.dst.reg, m.dst.part, isa::rz);
  if (i.dst_count == 0) i.dst = isa::rz;
  i.guard = {place(a, m.guard.reg, 0, isa::pt), m.guard.negate};
  for (unsigned k = 0; k < m.pdst.size(); ++k) i.pdst[k] = place(a, m.pdst[k], 0, isa::pt);
  for (unsigned k = 0; k < m.psrc.size(); ++k) i.psrc[k] = {place(a, m.psrc[k].reg, 0, isa::pt), m.psrc[k].negate};
  for (unsigned k = 0; k < m.src.size(); ++k) {
    const virtual_operand& from = m.src[k];
    isa::operand& to = i.src[k];
    to.kind = from.kind;
    to.count = from.count;
    to.bank = from.bank;
    to.negate = from.negate;
    to.absolute = from.absolute;
    to.invert = from.invert;
    to.value = from.value;
    to.reg = from.kind == isa::operand_kind::reg ? place(a, from.reg, from.part, isa::rz) : isa::rz;
  }
  return i;
}

bool does_nothing(const isa::instruction& i) {
  return i.op == isa::opcode::mov && i.src[0].is_reg() && i.src[0].reg == i.dst && !i.src[0].negate;
}

block_end end_of(const machine_block& b) {
  if (b.code.empty() || !b.successors.empty()) return block_end::continues;
  const machine_instruction& last = b.code.back();
  if (last.base.op == isa::opcode::trap) return block_end::fails;
  return b.code.size() == 1 && last.base.op == isa::opcode::exit ? block_end::leaves : block_end::continues;
}

/// The call at the end of a block, or null.
const machine_instruction* call_of(const machine_block& b) {
  return !b.code.empty() && b.code.back().return_block != isa::no_target ? &b.code.back() : nullptr;
}

bool leaves_within(const machine_block& b) {
  return std::any_of(b.code.begin(), b.code.end(),
                     [](const machine_instruction& m) { return m.base.op == isa::opcode::exit && m.guarded(); });
}

/// Blocks that an end of the kernel or of a function can be reached from.
std::vector<char> ending(const flow_graph& g, const std::vector<block_end>& ends) {
  const flow_graph backwards = reversed(g);
  std::vector<char> seen(g.size(), 0);
  std::vector<std::uint32_t> work;
  for (std::uint32_t b = 0; b < g.size(); ++b)
    if (g[b].empty() && ends[b] != block_end::fails) seen[b] = 1, work.push_back(b);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t p : backwards[b])
      if (!seen[p]) seen[p] = 1, work.push_back(p);
  }
  return seen;
}

/// Blocks that are left by a guarded exit alone, as a loop whose only end is that, get a node before them from where
/// lanes leave. Returns these blocks in the order of their nodes, which follow the blocks; the last node of all is the
/// exit.
std::vector<std::uint32_t> add_exits(const machine_function& f, flow_graph& g, std::vector<block_end>& ends) {
  const std::vector<char> ended = ending(g, ends);
  const auto n = static_cast<std::uint32_t>(f.blocks.size());
  std::vector<std::uint32_t> left, node(n);
  for (std::uint32_t b = 0; b < n; ++b) {
    node[b] = b;
    if (ended[b] || !leaves_within(f.blocks[b])) continue;
    node[b] = n + static_cast<std::uint32_t>(left.size());
    left.push_back(b);
  }
  if (left.empty()) return left;
  for (auto& successors : g)
    for (std::uint32_t& s : successors) s = node[s];
  for (const std::uint32_t b : left) {
    g.push_back({b, n + static_cast<std::uint32_t>(left.size())});
    ends.push_back(block_end::continues);
  }
  g.emplace_back();
  ends.push_back(block_end::leaves);
  return left;
}

/// The flow within the kernel and within each function: a call leads to its return point, a function's return
/// nowhere.
std::vector<std::uint32_t> reconvergence_points(const machine_function& f) {
  std::vector<char> is_return_point(f.blocks.size(), 0);
  for (const machine_block& b : f.blocks)
    if (const machine_instruction* call = call_of(b)) is_return_point[call->return_block] = 1;
  flow_graph g;
  std::vector<block_end> ends;
  for (const machine_block& b : f.blocks) {
    ends.push_back(end_of(b));
    g.emplace_back();
    if (const machine_instruction* call = call_of(b)) {
      g.back().push_back(call->return_block);
      continue;
    }
    for (const std::uint32_t s : b.successors)
      if (!is_return_point[s]) g.back().push_back(s);
  }
  const std::vector<std::uint32_t> left = add_exits(f, g, ends);
  std::vector<std::uint32_t> reconvergence = reconvergence_points(g, ends);
  const std::size_t n = f.blocks.size();
  reconvergence.resize(n);
  for (std::uint32_t& m : reconvergence)
    if (m != no_node && m >= n) m = m - n < left.size() ? left[m - n] : no_node;
  return reconvergence;
}

/// Where lanes wait that come back from a call before the others. They go on behind it, which keeps apart those that
/// wait for the rest of their own call and those of a call within it that comes back to the same place.
isa::instruction waiting_place(const machine_instruction& call) {
  isa::instruction i;
  i.op = isa::opcode::nop;
  i.line = call.base.line;
  i.column = call.base.column;
  return i;
}

isa::instruction plain(isa::opcode op, const machine_instruction* at, std::uint8_t sub = 0) {
  isa::instruction i;
  i.op = op;
  i.sub = sub;
  if (at == nullptr) return i;
  i.line = at->base.line;
  i.column = at->base.column;
  return i;
}

/// The branches and the exit that a block ends with begin here.
std::size_t first_of_end(const machine_block& b) {
  std::size_t k = b.code.size();
  while (k > 0 && b.code[k - 1].base.op == isa::opcode::bra) --k;
  return k;
}

class emitter {
 public:
  emitter(const machine_function& f, const register_allocation& a, const code_rules& rules)
      : f_(f),
        a_(a),
        rules_(rules),
        reconvergence_(reconvergence_points(f)),
        called_(f.blocks.size(), nullptr),
        start_(f.blocks.size()) {
    if (rules.convergence != convergence_code::none)
      convergence_ = find_convergence(f, reconvergence_, rules.exits_apart);
    else convergence_ = {std::vector<std::vector<std::uint32_t>>(f.blocks.size()), std::vector<char>(f.blocks.size())};
    for (const machine_block& b : f.blocks)
      if (const machine_instruction* call = call_of(b)) called_[call->return_block] = call;
  }

  std::vector<isa::instruction> run() {
    if (rules_.stack_pointer) load_stack_pointer();
    if (rules_.descriptor) load_descriptor();
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      start_[b] = static_cast<std::uint32_t>(code_.size());
      const machine_block& block = f_.blocks[b];
      if (called_[b]) code_.push_back(waiting_place(*called_[b]));
      if (convergence_.waits[b]) code_.push_back(plain(isa::opcode::nop, near(b), isa::nop_bsync));
      const std::size_t end = first_of_end(block);
      for (std::size_t k = 0; k < end; ++k) put(block.code[k]);
      for (const std::uint32_t reconvergence : convergence_.opens[b]) open_region(b, reconvergence);
      for (std::size_t k = end; k < block.code.size(); ++k) branch(block.code[k], b);
    }
    for (const jump& j : jumps_) {
      isa::instruction& i = code_[j.at];
      i.target = start_[j.target];
      // Lanes wait behind the instruction for it.
      if (j.reconvergence != no_node)
        i.reconverge = start_[j.reconvergence] + (convergence_.waits[j.reconvergence] ? 1 : 0);
    }
    return std::move(code_);
  }

 private:
  struct jump {
    std::size_t at;
    std::uint32_t target, reconvergence;
  };

  void load_stack_pointer() {
    const machine_block& first = f_.blocks.front();
    isa::instruction i = plain(isa::opcode::mov, first.code.empty() ? nullptr : &first.code.front());
    i.dst = stack_pointer;
    i.dst_count = 1;
    i.src[0] = isa::make_constant(0, isa::bank0::local_window);
    code_.push_back(i);
  }

  /// The chip reads it into a register that all lanes share, of which the machine has none.
  void load_descriptor() {
    constexpr std::uint64_t descriptor = 0x118;  // in constant bank 0
    for (const machine_block& b : f_.blocks)
      for (const machine_instruction& m : b.code) {
        if (!reaches_global(m.base)) continue;
        isa::instruction i = plain(isa::opcode::mov, &m);
        i.dst_count = 1;  // RZ
        i.src[0] = isa::make_constant(0, descriptor);
        code_.push_back(i);
        return;
      }
  }

  static bool reaches_global(const isa::instruction& i) {
    return isa::names_address(i.op) && (i.mem_space == isa::space::global || i.mem_space == isa::space::generic);
  }

  [[nodiscard]] const machine_instruction* near(std::uint32_t b) const {
    for (; b < f_.blocks.size(); ++b)
      if (!f_.blocks[b].code.empty()) return &f_.blocks[b].code.front();
    return nullptr;
  }

  void put(const machine_instruction& m) {
    const isa::instruction i = convert(m, a_);
    if (!does_nothing(i)) code_.push_back(i);
  }

  void open_region(std::uint32_t b, std::uint32_t reconvergence) {
    const machine_instruction* at = f_.blocks[b].code.empty() ? near(b) : &f_.blocks[b].code.back();
    if (rules_.convergence == convergence_code::saved_barriers)
      code_.push_back(plain(isa::opcode::nop, at, isa::nop_bmov));
    jumps_.push_back({code_.size(), reconvergence, no_node});
    code_.push_back(plain(isa::opcode::nop, at, isa::nop_bssy));
  }

  void branch(const machine_instruction& m, std::uint32_t b) {
    bool next = m.target_block > b;  // only empty blocks between
    for (std::uint32_t k = b + 1; next && k < m.target_block; ++k)
      next = f_.blocks[k].code.empty() && !called_[k] && !convergence_.waits[k] && convergence_.opens[k].empty();
    const bool calls = m.return_block != isa::no_target;
    if (next && !calls) return;
    jumps_.push_back({code_.size(), m.target_block,
                      calls         ? m.return_block
                      : m.guarded() ? reconvergence_[b]
                                    : no_node});
    code_.push_back(convert(m, a_));
  }

  const machine_function& f_;
  const register_allocation& a_;
  const code_rules& rules_;
  const std::vector<std::uint32_t> reconvergence_;
  std::vector<const machine_instruction*> called_;  // by the block that the call comes back to
  convergence convergence_;
  std::vector<std::uint32_t> start_;
  std::vector<isa::instruction> code_;
  std::vector<jump> jumps_;
};

}  // namespace

std::vector<isa::instruction> emit(const machine_function& f, const register_allocation& a, const code_rules& rules) {
  return emitter(f, a, rules).run();
}

}  // namespace heddle::ptx
