// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/interval_scan.h"

#include <algorithm>

#include "heddle/frontend/ptx/hir/control_flow.h"

namespace heddle::ptx {

namespace {

flow_graph graph_of(const machine_function& f) {
  flow_graph g;
  for (const machine_block& b : f.blocks) g.push_back(b.successors);
  return g;
}

/// True if the instruction reads its sources after later instructions have issued: its source registers may not be
/// overwritten until then.
bool reads_late(const machine_instruction& i) {
  switch (isa::info(i.base.op).timing) {
    case isa::op_class::load_store:
    case isa::op_class::texture:
    case isa::op_class::shuffle: return true;
    default: return false;
  }
}

bool covers(const segments& s, std::uint32_t position) {
  const auto after =
      std::upper_bound(s.begin(), s.end(), position, [](std::uint32_t at, const segment& t) { return at < t.end; });
  return after != s.end() && after->begin <= position;
}

/// True if nothing reads what is written at `position`.
bool is_dead(const segments& s, std::uint32_t position) { return covers(s, position) && !covers(s, position + 1); }

std::uint64_t length_of(const segments& s) {
  std::uint64_t n = 0;
  for (const segment& t : s) n += t.end - t.begin;
  return n;
}

}  // namespace

interval_scan::interval_scan(const machine_function& f, const unit_map& units, const std::vector<segments>& live,
                             bool predicates, unsigned limit)
    : f_(f),
      predicates_(predicates),
      limit_(limit),
      group_of_(f.registers.size(), no_register),
      offset_(f.registers.size(), 0),
      occupied_(limit),
      held_(limit) {
  for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
    const unsigned words = f.registers[r].words;
    if ((words == 0) != predicates) continue;
    group g;
    g.width = static_cast<std::uint8_t>(std::max(words, 1u));
    bool lives = false;
    for (unsigned k = 0; k < g.width; ++k) {
      g.words.push_back(live[units.of(r, k)]);
      lives = lives || !g.words.back().empty();
    }
    if (!lives) continue;
    g.members.push_back(r);
    group_of_[r] = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(std::move(g));
  }
  const std::vector<unsigned> depth = loop_depths(graph_of(f), 0);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    double weight = 1;
    for (unsigned k = 0; k < std::min(depth[b], 6u); ++k) weight *= 10;
    const auto touch = [&](std::uint32_t r) {
      if (r != no_register && group_of_[r] != no_register) groups_[group_of_[r]].weight += weight;
    };
    for (const machine_instruction& i : f.blocks[b].code) {
      for (const virtual_operand& o : i.src)
        if (o.is_reg()) touch(o.reg);
      touch(i.dst.reg);
      for (const virtual_predicate& p : i.psrc) touch(p.reg);
      for (std::uint32_t p : i.pdst) touch(p);
      touch(i.guard.reg);
    }
  }
}

bool interval_scan::try_join(std::uint32_t a, unsigned a_part, std::uint32_t b, unsigned b_part) {
  std::uint32_t ga = group_of_[a], gb = group_of_[b];
  if (ga == no_register || gb == no_register || ga == gb) return false;
  int shift = int(offset_[a] + a_part) - int(offset_[b] + b_part);  // where b's group begins within a's
  if (groups_[gb].width > groups_[ga].width) {
    std::swap(ga, gb);
    shift = -shift;
  }
  group& big = groups_[ga];
  group& small = groups_[gb];
  if (shift < 0 || shift + small.width > big.width || shift % alignment_of(small.width) != 0) return false;
  for (unsigned k = 0; k < small.width; ++k)
    if (overlap(small.words[k], big.words[shift + k])) return false;
  for (unsigned k = 0; k < small.width; ++k) merge_into(big.words[shift + k], small.words[k]);
  for (std::uint32_t m : small.members) {
    group_of_[m] = ga;
    offset_[m] = static_cast<std::uint8_t>(offset_[m] + shift);
    big.members.push_back(m);
  }
  big.weight += small.weight;
  small.members.clear();
  small.words.clear();
  return true;
}

void interval_scan::join_copies() {
  if (predicates_) return;
  const std::vector<unsigned> depth = loop_depths(graph_of(f_), 0);
  std::vector<std::uint32_t> order;
  for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) order.push_back(b);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return depth[a] > depth[b]; });
  for (std::uint32_t b : order)
    for (const machine_instruction& i : f_.blocks[b].code)
      if (i.base.op == isa::opcode::mov && i.dst.reg != no_register && i.src[0].is_reg() && !i.src[0].negate &&
          i.dst.count == 1)
        try_join(i.dst.reg, i.dst.part, i.src[0].reg, i.src[0].part);
}

bool interval_scan::fits(const group& g, unsigned base) const {
  if (base + g.width > limit_) return false;
  for (unsigned k = 0; k < g.width; ++k)
    if (base + k == reserved_ || overlap(g.words[k], occupied_[base + k])) return false;
  return true;
}

void interval_scan::mark_late_reads() {
  for (group& g : groups_) g.held.assign(g.width, {});
  std::uint32_t position = 0;
  for (const machine_block& b : f_.blocks)
    for (const machine_instruction& i : b.code) {
      position += 2;  // of the next instruction
      if (!reads_late(i)) continue;
      for (const virtual_operand& o : i.src) {
        if (!o.is_reg() || group_of_[o.reg] == no_register) continue;
        for (unsigned k = 0; k < o.count; ++k)
          merge_into(groups_[group_of_[o.reg]].held[offset_[o.reg] + o.part + k],
                     {{position, position + held_positions}});
      }
      if (i.dst.reg == no_register || group_of_[i.dst.reg] == no_register) continue;
      group& result = groups_[group_of_[i.dst.reg]];
      for (unsigned k = 0; k < i.dst.count; ++k) {
        const unsigned word = offset_[i.dst.reg] + i.dst.part + k;
        if (is_dead(result.words[word], position - 1))
          merge_into(result.held[word], {{position, position + held_positions}});
      }
    }
}

bool interval_scan::rested(const group& g, unsigned base) const {
  for (unsigned k = 0; k < g.width; ++k)
    if (!g.words[k].empty() && covers(held_[base + k], g.words[k].front().begin)) return false;
  return true;
}

void interval_scan::occupy(group& g, unsigned base) {
  g.base = base;
  for (unsigned k = 0; k < g.width; ++k) merge_into(occupied_[base + k], g.words[k]);
  for (unsigned k = 0; k < g.held.size(); ++k) merge_into(held_[base + k], g.held[k]);
}

void interval_scan::release(group& g) {
  for (unsigned k = 0; k < g.width; ++k) take_out(occupied_[g.base + k], g.words[k]);
  g.base = no_register;
}

bool interval_scan::find_place(group& g) {
  for (unsigned base = 0; base + g.width <= limit_; base += alignment_of(g.width)) {
    if (!fits(g, base)) continue;
    occupy(g, base);
    return true;
  }
  return false;
}

bool interval_scan::may_spill(const group& g, const std::vector<char>& unspillable) const {
  if (g.width > 4) return false;  // no access to memory moves it at once
  for (std::uint32_t m : g.members)
    if (m < unspillable.size() && unspillable[m]) return false;
  return !g.members.empty();
}

std::uint32_t interval_scan::victim(const group& wanted, const std::vector<char>& unspillable) const {
  std::uint32_t best = no_register;
  double best_score = -1;
  for (std::uint32_t k : active_) {
    const group& g = groups_[k];
    if (&g != &wanted && g.base == no_register) continue;
    if (!may_spill(g, unspillable)) continue;
    bool meets = &g == &wanted;
    std::uint64_t length = 0;
    for (const segments& w : g.words) {
      length += length_of(w);
      for (const segments& v : wanted.words) meets = meets || overlap(w, v);
    }
    if (!meets) continue;
    const double score = static_cast<double>(length) / (g.weight + 1);
    if (score > best_score) best = k, best_score = score;
  }
  return best;
}

std::vector<std::uint32_t> interval_scan::by_start() const {
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < groups_.size(); ++k)
    if (!groups_[k].members.empty()) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return groups_[a].start != groups_[b].start ? groups_[a].start < groups_[b].start
                                                : groups_[a].width > groups_[b].width;
  });
  return order;
}

bool interval_scan::place(const std::vector<char>& unspillable) {
  for (std::uint32_t k = 0; k < groups_.size(); ++k) {
    group& g = groups_[k];
    if (g.members.empty()) continue;
    for (const segments& w : g.words)
      if (!w.empty()) g.start = std::min(g.start, w.front().begin), g.last = std::max(g.last, w.back().end);
  }
  const std::vector<std::uint32_t> order = by_start();
  std::size_t prune_at = 512;
  for (std::uint32_t k : order) {
    group& g = groups_[k];
    active_.push_back(k);
    if (active_.size() >= prune_at) {  // what has ended occupies no register any more
      active_.erase(
          std::remove_if(active_.begin(), active_.end(), [&](std::uint32_t a) { return groups_[a].last <= g.start; }),
          active_.end());
      prune_at = std::max<std::size_t>(512, 2 * active_.size());
    }
    while (!find_place(g)) {
      const std::uint32_t v = victim(g, unspillable);
      if (v == no_register) return false;
      for (std::uint32_t m : groups_[v].members) spilled_.push_back(m);
      if (v == k) break;
      release(groups_[v]);
      groups_[v].members.clear();
    }
  }
  count_used();
  return true;
}

// By group: with which others an instruction reads it. Of a pair that is no address both banks are read in any case.
std::vector<std::vector<interval_scan::bank_conflict>> interval_scan::bank_conflicts() const {
  std::vector<std::vector<bank_conflict>> found(groups_.size());
  const std::vector<unsigned> depth = loop_depths(graph_of(f_), 0);
  for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
    double weight = 1;
    for (unsigned k = 0; k < std::min(depth[b], 6u); ++k) weight *= 10;
    for (const machine_instruction& i : f_.blocks[b].code)
      for (const virtual_operand& x : i.src)
        for (const virtual_operand& y : i.src) {
          if (&x == &y || !x.is_reg() || !y.is_reg()) continue;
          if (!isa::names_address(i.base.op) && (x.count > 1 || y.count > 1)) continue;
          const std::uint32_t gx = group_of_[x.reg], gy = group_of_[y.reg];
          if (gx != no_register && gy != no_register && gx != gy)
            found[gx].push_back({gy, 0u + offset_[x.reg] + x.part, 0u + offset_[y.reg] + y.part, weight});
        }
  }
  return found;
}

// The weight of the bank conflicts that are left; negative: they do not fit.
double interval_scan::place_apart(const std::vector<std::uint32_t>& order,
                                  const std::vector<std::vector<bank_conflict>>& bank_conflicts, unsigned banks,
                                  unsigned registers) {
  // A bank conflict counts most, then a write to a register that an earlier instruction may still read; then fresh
  // registers.
  constexpr double recently_read = 0.5, fresh = 0.1;
  for (segments& s : occupied_) s.clear();
  for (segments& s : held_) s.clear();
  for (group& g : groups_) g.base = no_register;
  unsigned high = 0;
  double left = 0;
  std::vector<double> in_bank(banks);  // weight of the bank conflicts if the place begins there
  for (const std::uint32_t k : order) {
    group& g = groups_[k];
    std::uint32_t best = no_register;
    double least = 0;
    std::fill(in_bank.begin(), in_bank.end(), 0);
    for (const bank_conflict& m : bank_conflicts[k])
      if (groups_[m.other].base != no_register)
        in_bank[(groups_[m.other].base + m.other_word + banks - m.own % banks) % banks] += m.weight;
    for (unsigned base = 0; base + g.width <= registers && (best == no_register || least > 0);
         base += alignment_of(g.width)) {
      double cost = in_bank[base % banks] + (base + g.width > high ? fresh * (base + g.width - high) : 0);
      if ((best != no_register && cost >= least) || !fits(g, base)) continue;
      if (!rested(g, base)) cost += recently_read;
      if (best != no_register && cost >= least) continue;
      best = base;
      least = cost;
    }
    if (best == no_register) return -1;
    left += in_bank[best % banks];
    occupy(g, best);
    high = std::max(high, best + g.width);
  }
  return left;
}

void interval_scan::spread(unsigned banks, unsigned registers) {
  const std::vector<std::vector<bank_conflict>> conflicts = bank_conflicts();
  mark_late_reads();
  const auto bases = [this] {
    std::vector<std::uint32_t> b;
    for (const group& g : groups_) b.push_back(g.base);
    return b;
  };
  std::vector<double> weight(groups_.size(), 0);
  for (std::size_t k = 0; k < groups_.size(); ++k)
    for (const bank_conflict& m : conflicts[k]) weight[k] += m.weight;
  // In the order of their starts; where that leaves bank conflicts or does not fit, pairs and quads choose first, or
  // those with most conflicts.
  std::vector<std::uint32_t> best = bases(), order = by_start();
  double least = -1;
  for (unsigned attempt = 0; attempt < 3 && least != 0; ++attempt) {
    if (attempt == 1)
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return groups_[a].width > groups_[b].width; });
    if (attempt == 2)
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weight[a] > weight[b]; });
    const double left = place_apart(order, conflicts, banks, std::min(registers, limit_));
    if (left < 0 || (least >= 0 && left >= least)) continue;
    least = left;
    best = bases();
  }
  for (std::size_t k = 0; k < groups_.size(); ++k) groups_[k].base = best[k];
  count_used();
}

void interval_scan::count_used() {
  used_ = 0;
  for (const group& g : groups_)
    for (unsigned k = 0; g.base != no_register && k < g.width; ++k)
      if (!g.words[k].empty()) used_ = std::max(used_, g.base + k + 1);
}

std::uint32_t interval_scan::place_of(std::uint32_t reg) const {
  const std::uint32_t g = group_of_[reg];
  if (g == no_register || groups_[g].base == no_register) return no_register;
  return groups_[g].base + offset_[reg];
}

}  // namespace heddle::ptx
