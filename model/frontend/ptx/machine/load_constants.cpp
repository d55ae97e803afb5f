// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "heddle/frontend/ptx/hir/control_flow.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

constexpr std::uint8_t literal_bank = 2;

/// Where blocks stand in the flow of a function.
class block_tree {
 public:
  explicit block_tree(const machine_function& f) {
    flow_graph g;
    for (const machine_block& b : f.blocks) g.push_back(b.successors);
    dominator_ = immediate_dominators(g, 0);
    depth_ = loop_depths(g, 0);
  }

  /// The block that dominates this one most closely; no_node: there is none.
  [[nodiscard]] std::uint32_t above(std::uint32_t b) const { return dominator_[b] == b ? no_node : dominator_[b]; }

  /// The nearest block before the loops around this one.
  [[nodiscard]] std::uint32_t before_loops(std::uint32_t b) const {
    while (depth_[b] > 0 && above(b) != no_node) b = above(b);
    return b;
  }

  /// The nearest block that dominates both.
  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    std::vector<std::uint32_t> over_a;
    for (; a != no_node; a = above(a)) over_a.push_back(a);
    while (b != no_node && std::find(over_a.begin(), over_a.end(), b) == over_a.end()) b = above(b);
    return b == no_node ? 0 : b;
  }

 private:
  std::vector<std::uint32_t> dominator_;
  std::vector<unsigned> depth_;
};

/// Where the branches at the end of a block begin.
std::size_t end_of(const std::vector<machine_instruction>& code) {
  std::size_t k = code.size();
  while (k > 0 && code[k - 1].base.op == opcode::bra) --k;
  return k;
}

machine_instruction load_at(const machine_instruction& place, virtual_operand value, register_part to) {
  machine_instruction m;
  m.base.op = opcode::mov;
  m.base.line = place.base.line;
  m.base.column = place.base.column;
  m.base.dst_count = 1;
  m.dst = to;
  value.negate = value.absolute = value.invert = false;
  m.src[0] = value;
  return m;
}

/// Words that must be in threads' registers because an instruction reads another value, too.
class constant_holder {
 public:
  explicit constant_holder(machine_function& f) : f_(f), tree_(f) {}

  void run() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (std::size_t k = 0; k < f_.blocks[b].code.size(); ++k) visit(f_.blocks[b].code[k], {b, k});
    while (!conflicts_.empty()) hold(most_wanted());
  }

 private:
  using key = std::pair<std::uint8_t, std::uint64_t>;  // bank, offset
  struct place {
    std::uint32_t block;
    std::size_t at;
  };

  static bool is_word(const virtual_operand& o) { return o.is_constant() && o.count == 1 && o.bank != literal_bank; }

  void visit(const machine_instruction& i, place p) {
    std::vector<key> words;
    std::size_t values = 0;
    bool pair = false;
    for (const virtual_operand& o : i.src) {
      values += is_value(o) ? 1 : 0;
      pair = pair || (o.is_constant() && o.count != 1);
      if (!is_word(o)) continue;
      words.emplace_back(o.bank, o.value);
      uses_[words.back()].push_back(p);
    }
    if (i.base.op == opcode::mov || values < 2 || pair || takes_many_constants(i.base.op) || is_uniform(i)) return;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    if (!words.empty()) conflicts_.push_back(words);
  }

  /// The word that most instructions need in a register, or that more instructions read.
  [[nodiscard]] key most_wanted() const {
    std::map<key, std::size_t> count;
    for (const std::vector<key>& c : conflicts_)
      for (const key& k : c) ++count[k];
    const auto less = [&](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : uses_.at(a.first).size() < uses_.at(b.first).size();
    };
    return std::max_element(count.begin(), count.end(), less)->first;
  }

  void hold(const key& k) {
    const std::vector<place>& uses = uses_.at(k);
    std::uint32_t block = uses.front().block;
    for (const place& p : uses) block = tree_.common(block, p.block);
    block = tree_.before_loops(block);
    const std::uint32_t reg = f_.new_register(1);
    std::vector<machine_instruction>& code = f_.blocks[block].code;
    std::size_t at = end_of(code);
    const machine_instruction reader = f_.blocks[uses.front().block].code[uses.front().at];
    virtual_operand value;
    for (const place& p : uses) {
      if (p.block == block) at = std::min(at, p.at);
      for (virtual_operand& o : f_.blocks[p.block].code[p.at].src)
        if (is_word(o) && key{o.bank, o.value} == k) value = o, to_register(o, reg);
    }
    code.insert(code.begin() + static_cast<std::ptrdiff_t>(at), load_at(reader, value, {reg, 0, 1}));
    for (auto& [other, places] : uses_)
      for (place& p : places)
        if (p.block == block && p.at >= at) ++p.at;
    conflicts_.erase(std::remove_if(conflicts_.begin(), conflicts_.end(),
                                    [&](const auto& c) { return std::find(c.begin(), c.end(), k) != c.end(); }),
                     conflicts_.end());
  }

  static void to_register(virtual_operand& o, std::uint32_t reg) {
    o.kind = isa::operand_kind::reg;
    o.reg = reg;
    o.part = 0;
    o.bank = 0;
    o.value = 0;
  }

  machine_function& f_;
  const block_tree tree_;
  std::map<key, std::vector<place>> uses_;
  std::vector<std::vector<key>> conflicts_;  // of each such instruction its words, of which one may stay
};

bool is_move(const machine_instruction& i) {
  return i.base.op == opcode::mov && i.src[0].is_constant() && i.dst.count == 1 && i.dst.reg != no_register;
}

/// The second of two moves that fetch the halves of a pair.
bool continues(const machine_instruction& a, const machine_instruction& b) {
  return is_move(b) && !a.guarded() && !b.guarded() && a.dst.reg == b.dst.reg && a.dst.part % 2 == 0 &&
         b.dst.part == a.dst.part + 1 && a.src[0].bank == b.src[0].bank && a.src[0].value % 8 == 0 &&
         b.src[0].value == a.src[0].value + 4;
}

void to_load(machine_instruction& i, std::uint8_t words) {
  const virtual_operand from = i.src[0];
  i.base.op = opcode::ldc;
  i.base.mem_space = isa::space::constant;
  i.base.type = words == 2 ? isa::dtype::b64 : isa::dtype::b32;
  i.base.sub = from.bank;
  i.base.offset = static_cast<std::int64_t>(from.value);
  i.base.dst_count = i.dst.count = words;
  i.src[0] = virtual_operand(register_part{no_register, 0, 1});
}

/// Loads into uniform registers, of which the machine has none: the instructions that read a constant name it
/// themselves, and its load is an instruction without a result.
class uniform_loader {
 public:
  explicit uniform_loader(machine_function& f) : f_(f), tree_(f), loaded_(f.blocks.size()) {}

  void run() {
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) scan(b);
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) place(b);
  }

 private:
  struct shared_constant {
    virtual_operand value;       // of kind none: the base of shared memory
    machine_instruction reader;  // the first
    std::size_t at;              // the reader's place in the block, or the block's end
    unsigned exits;              // before it
  };

  void scan(std::uint32_t block) {
    const std::vector<machine_instruction>& code = f_.blocks[block].code;
    unsigned exits = 0;
    for (std::size_t k = 0; k < code.size(); ++k) {
      exits += code[k].base.op == opcode::exit ? 1 : 0;
      if (in_shared_memory(code[k]) && !known(block, {})) want(block, {{}, code[k], k, exits});
      for (const virtual_operand& o : code[k].src)
        if (o.is_constant() && !known(block, o)) want(block, {o, code[k], k, exits});
    }
  }

  static bool in_shared_memory(const machine_instruction& i) {
    return (isa::names_address(i.base.op) || i.base.op == opcode::ldsm) && i.base.mem_space == isa::space::shared;
  }

  [[nodiscard]] bool known(std::uint32_t block, const virtual_operand& o) const {
    for (std::uint32_t b = block; b != no_node; b = tree_.above(b))
      for (const shared_constant& s : loaded_[b])
        if (s.value.kind == o.kind && s.value.bank == o.bank && s.value.value == o.value && s.value.count == o.count)
          return true;
    return false;
  }

  /// What a loop reads is loaded before it.
  void want(std::uint32_t block, shared_constant s) {
    const std::uint32_t b = tree_.before_loops(block);
    if (b != block) {
      s.at = end_of(f_.blocks[b].code);
      s.exits = no_node;
    }
    loaded_[b].push_back(std::move(s));
  }

  /// The shared memory of a block begins in the window of its cluster at a place that follows from its rank there:
  /// S2UR, UMOV, ULEA.
  static void put_base(const machine_instruction& reader, std::vector<machine_instruction>& code) {
    constexpr std::uint64_t reserved = 0x400;  // bytes that the system has
    virtual_operand first, zero;
    first.kind = isa::operand_kind::immediate;
    first.value = reserved;
    zero.kind = isa::operand_kind::reg;
    machine_instruction rank = load_at(reader, {}, {no_register, 0, 1}), base = rank;
    rank.base.op = opcode::s2r;
    rank.base.sub = static_cast<std::uint8_t>(isa::special::cluster_ctarank);
    base.base.op = opcode::lea;
    base.base.sub = 24;
    base.src[0] = zero;
    base.src[1] = first;
    code.push_back(rank);
    code.push_back(load_at(reader, first, rank.dst));
    code.push_back(base);
  }

  /// Numbers, which stand in the program's own bank, are moved word by word.
  void put(const shared_constant& s, std::vector<machine_instruction>& code) const {
    const register_part nowhere{no_register, 0, 1};
    if (s.value.kind == isa::operand_kind::none) return put_base(s.reader, code);
    if (s.value.bank != literal_bank) {
      code.push_back(load_at(s.reader, s.value, nowhere));
      return;
    }
    for (unsigned w = 0; w < s.value.count; ++w) {
      virtual_operand half;
      half.kind = isa::operand_kind::immediate;
      half.value = f_.literals[s.value.value / 8] >> (32 * w) & 0xffffffffu;
      code.push_back(load_at(s.reader, half, nowhere));
    }
  }

  static bool is_parameter(const virtual_operand& o) {
    return o.is_constant() && o.bank != literal_bank && (o.bank != 0 || o.value >= isa::bank0::parameters);
  }

  /// Both halves of a pair of parameters that are needed together.
  static bool one_load(const shared_constant& a, const shared_constant& b) {
    return is_parameter(a.value) && a.value.bank == b.value.bank && a.value.count == 1 && b.value.count == 1 &&
           a.value.value / 8 == b.value.value / 8 && a.exits == b.exits;
  }

  void place(std::uint32_t block) {
    std::vector<shared_constant>& wanted = loaded_[block];
    if (wanted.empty()) return;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      wanted.erase(std::remove_if(wanted.begin() + static_cast<std::ptrdiff_t>(k) + 1, wanted.end(),
                                  [&](const shared_constant& s) { return one_load(wanted[k], s); }),
                   wanted.end());
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const shared_constant& a, const shared_constant& b) { return a.at < b.at; });
    machine_block& b = f_.blocks[block];
    std::vector<machine_instruction> code;
    code.reserve(b.code.size() + wanted.size());
    auto next = wanted.begin();
    for (std::size_t k = 0; k <= b.code.size(); ++k) {
      for (; next != wanted.end() && next->at == k; ++next) put(*next, code);
      if (k < b.code.size()) code.push_back(std::move(b.code[k]));
    }
    b.code = std::move(code);
  }

  machine_function& f_;
  const block_tree tree_;
  std::vector<std::vector<shared_constant>> loaded_;  // by the block that loads them
};

}  // namespace

bool is_uniform(const machine_instruction& i) {
  if (isa::info(i.base.op).uniform == isa::uniform_use::no) return false;
  bool constant = false;
  for (const virtual_operand& o : i.src) {
    if (o.is_reg() || (o.kind != isa::operand_kind::none && o.count != 1)) return false;
    constant = constant || o.is_constant();
  }
  return constant && !i.guarded();
}

void hold_constants(machine_function& f) { constant_holder(f).run(); }

void load_constants(machine_function& f) {
  for (machine_block& b : f.blocks) {
    std::vector<machine_instruction> code;
    code.reserve(b.code.size());
    for (std::size_t k = 0; k < b.code.size(); ++k) {
      code.push_back(b.code[k]);
      machine_instruction& i = code.back();
      if (!is_move(i) || i.src[0].negate || i.src[0].bank == literal_bank) continue;
      const bool pair = k + 1 < b.code.size() && continues(i, b.code[k + 1]);
      to_load(i, pair ? 2 : 1);
      k += pair ? 1 : 0;
    }
    b.code = std::move(code);
  }
}

void load_uniform_constants(machine_function& f) { uniform_loader(f).run(); }

}  // namespace heddle::ptx
