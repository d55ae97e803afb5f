// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "heddle/frontend/ptx/machine/definitions.h"
#include "heddle/frontend/ptx/machine/machine_passes.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

/// By how many bits each one-word register is aligned, up to 16 bytes: the most that agrees with all definitions.
class alignment {
 public:
  explicit alignment(const machine_function& f) : bits_(f.registers.size(), most) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const machine_block& b : f.blocks)
        for (const machine_instruction& i : b.code) {
          if (i.dst.reg == no_register) continue;
          const unsigned of = i.dst.part == 0 && f.registers[i.dst.reg].words == 1 ? result_of(i) : 0;
          if (of >= bits_[i.dst.reg]) continue;
          bits_[i.dst.reg] = of;
          changed = true;
        }
    }
  }

  [[nodiscard]] unsigned of(const virtual_operand& o) const {
    if (o.is_zero_register()) return most;
    if (o.is_reg()) return o.invert ? 0 : bits_[o.reg];
    if (!o.is_immediate() || o.invert) return 0;
    return o.value == 0 ? most : std::min(most, static_cast<unsigned>(__builtin_ctzll(o.value)));
  }

 private:
  static constexpr unsigned most = 4;

  [[nodiscard]] unsigned result_of(const machine_instruction& i) const {
    const auto& s = i.src;
    using rule = isa::alignment_rule;
    switch (isa::info(i.base.op).alignment) {
      case rule::unknown: break;
      case rule::copied: return of(s[0]);
      case rule::shifted: return s[1].is_immediate() ? shifted(s[0], s[1].value) : 0;
      case rule::shifted_sum: return i.base.high || i.base.extended ? 0 : std::min(shifted(s[0], i.base.sub), of(s[1]));
      case rule::sum: return i.base.extended ? 0 : std::min({of(s[0]), of(s[1]), of(s[2])});
      case rule::product:
        if (i.base.high || i.base.wide || i.base.extended) return 0;
        return std::min(std::min(most, of(s[0]) + of(s[1])), of(s[2]));
      case rule::logic:
        if (i.base.sub == 0xc0) return std::max(of(s[0]), of(s[1]));
        return i.base.sub == 0xfc ? std::min(of(s[0]), of(s[1])) : 0;
    }
    return 0;
  }

  [[nodiscard]] unsigned shifted(const virtual_operand& o, std::uint64_t by) const {
    return static_cast<unsigned>(std::min<std::uint64_t>(most, of(o) + std::min<std::uint64_t>(by, most)));
  }

  std::vector<unsigned> bits_;
};

class load_widener {
 public:
  explicit load_widener(machine_function& f) : f_(f), units_(f.registers), defs_(f, units_), alignment_(f) {}

  void run() {
    for (machine_block& b : f_.blocks) {
      for (std::size_t k = 0; k < b.code.size(); ++k) visit(b, k);
      close_all(b);
      insert(b);
    }
  }

 private:
  using base = std::pair<std::uint32_t, unsigned>;  // register, bytes of a load
  struct wide_load {
    std::size_t at;
    machine_instruction load;
  };

  [[nodiscard]] bool is_candidate(const machine_instruction& i) const {
    const unsigned bytes = isa::size_of(i.base.type);
    if (i.base.op != opcode::ld || i.base.mem_space != isa::space::shared || i.guarded() ||
        (bytes != 4 && bytes != 8) || i.base.cache == isa::cache_op::volatile_ || i.dst.reg == no_register ||
        4u * i.dst.count != bytes)
      return false;
    if (!i.src[0].is_zero_register() && !(i.src[0].is_reg() && i.src[0].count == 1)) return false;
    for (unsigned w = 0; w < i.dst.count; ++w)
      if (!defs_.single(f_, i.dst.reg, units_.of(i.dst.reg, i.dst.part + w))) return false;
    return true;
  }

  /// After it, a load may find something else.
  static bool may_write(const machine_instruction& i) {
    using isa::access_kind;
    const isa::opcode_info& row = isa::info(i.base.op);
    if (row.effect == isa::effect_kind::order) return row.flow != isa::flow_kind::branch && i.base.op != opcode::exit;
    const bool elsewhere = i.base.mem_space == isa::space::global || i.base.mem_space == isa::space::local;
    return row.effect == isa::effect_kind::write && !(elsewhere && row.access != access_kind::copy);
  }

  void visit(machine_block& b, std::size_t k) {
    const machine_instruction& i = b.code[k];
    if (may_write(i)) close_all(b);
    if (is_candidate(i))
      groups_[{i.src[0].reg, isa::size_of(i.base.type)}].emplace(i.base.offset, k);  // the first of equal ones
    if (i.dst.reg == no_register) return;
    for (const unsigned bytes : {4u, 8u}) {
      const auto g = groups_.find({i.dst.reg, bytes});
      if (g == groups_.end()) continue;
      close(b, g->first, g->second);
      groups_.erase(g);
    }
  }

  void close_all(machine_block& b) {
    for (const auto& [of, loads] : groups_) close(b, of, loads);
    groups_.clear();
  }

  void close(machine_block& b, const base& of, const std::map<std::int64_t, std::size_t>& loads) {
    virtual_operand address;
    address.kind = isa::operand_kind::reg;
    address.reg = of.first;
    const std::int64_t known = std::int64_t{1} << alignment_.of(address);
    for (auto first = loads.begin(); first != loads.end();) {
      std::size_t count = 16 / of.second;
      while (count > 1 && !fits(loads, first, count, of.second, known)) count /= 2;
      if (count > 1) join(b, first, count);
      std::advance(first, count);
    }
  }

  static bool fits(const std::map<std::int64_t, std::size_t>& loads,
                   std::map<std::int64_t, std::size_t>::const_iterator k, std::size_t count, unsigned bytes,
                   std::int64_t known) {
    const auto all = static_cast<std::int64_t>(count * bytes);
    if (known < all || k->first % all != 0) return false;
    const std::int64_t start = k->first;
    for (std::size_t n = 0; n < count; ++n, ++k)
      if (k == loads.end() || k->first != start + static_cast<std::int64_t>(n * bytes)) return false;
    return true;
  }

  /// The loads become copies of the parts of one, which stands where the first of them did.
  void join(machine_block& b, std::map<std::int64_t, std::size_t>::const_iterator k, std::size_t count) {
    wide_load w{k->second, b.code[k->second]};
    const unsigned words = w.load.dst.count, all = words * static_cast<unsigned>(count);
    const std::uint32_t reg = f_.new_register(all);
    for (unsigned part = 0; part < all; part += words, ++k) {
      machine_instruction& i = b.code[k->second];
      w.at = std::min(w.at, k->second);
      const register_part to = i.dst;
      i.base.op = opcode::mov;
      i.base.type = isa::dtype::none;
      i.base.mem_space = {};
      i.base.offset = 0;
      i.base.dst_count = i.dst.count = 1;
      i.src[0] = virtual_operand(register_part{reg, static_cast<std::uint8_t>(part), 1});
      for (unsigned word = 1; word < words; ++word) {
        machine_instruction upper = i;
        upper.dst.part = static_cast<std::uint8_t>(to.part + word);
        upper.src[0].part = static_cast<std::uint8_t>(part + word);
        wide_.push_back({k->second + 1, upper});
      }
    }
    w.load.base.type = all == 4 ? isa::dtype::b128 : isa::dtype::b64;
    w.load.base.dst_count = static_cast<std::uint8_t>(all);
    w.load.dst = {reg, 0, static_cast<std::uint8_t>(all)};
    wide_.push_back(std::move(w));
  }

  void insert(machine_block& b) {
    if (wide_.empty()) return;
    std::stable_sort(wide_.begin(), wide_.end(), [](const wide_load& x, const wide_load& y) { return x.at < y.at; });
    std::vector<machine_instruction> code;
    code.reserve(b.code.size() + wide_.size());
    auto next = wide_.begin();
    for (std::size_t k = 0; k <= b.code.size(); ++k) {
      for (; next != wide_.end() && next->at == k; ++next) code.push_back(std::move(next->load));
      if (k < b.code.size()) code.push_back(std::move(b.code[k]));
    }
    b.code = std::move(code);
    wide_.clear();
  }

  machine_function& f_;
  const unit_map units_;
  const definitions defs_;
  const alignment alignment_;
  std::map<base, std::map<std::int64_t, std::size_t>> groups_;  // loads by their offsets, since the last store
  std::vector<wide_load> wide_;                                 // what is to be inserted
};

}  // namespace

void widen_shared_loads(machine_function& f) { load_widener(f).run(); }

}  // namespace heddle::ptx
