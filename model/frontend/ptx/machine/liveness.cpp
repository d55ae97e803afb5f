// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/liveness.h"

#include <algorithm>

namespace heddle::ptx {

bool overlap(const segments& a, const segments& b) {
  if (a.size() > b.size()) return overlap(b, a);
  for (const segment& s : a) {
    auto it =
        std::upper_bound(b.begin(), b.end(), s.begin, [](std::uint32_t at, const segment& t) { return at < t.end; });
    if (it != b.end() && it->begin < s.end) return true;
  }
  return false;
}

namespace {

/// First segment that ends at or after `at`.
segments::iterator reaching(segments& s, std::uint32_t at) {
  return std::lower_bound(s.begin(), s.end(), at, [](const segment& t, std::uint32_t v) { return t.end < v; });
}

}  // namespace

void merge_into(segments& to, const segments& from) {
  for (const segment& s : from) {
    auto first = reaching(to, s.begin);
    auto last = first;
    segment whole = s;
    while (last != to.end() && last->begin <= s.end) {
      whole.begin = std::min(whole.begin, last->begin);
      whole.end = std::max(whole.end, last->end);
      ++last;
    }
    if (first == last) {
      to.insert(first, whole);
    } else {
      *first = whole;
      to.erase(first + 1, last);
    }
  }
}

void take_out(segments& of, const segments& what) {
  for (const segment& s : what) {
    auto at = reaching(of, s.end);  // the one segment that holds s
    const segment whole = *at;
    const bool left = whole.begin < s.begin, right = s.end < whole.end;
    if (left && right) {
      *at = {s.end, whole.end};
      of.insert(at, {whole.begin, s.begin});
    } else if (left) {
      at->end = s.begin;
    } else if (right) {
      at->begin = s.end;
    } else {
      of.erase(at);
    }
  }
}

unit_map::unit_map(const std::vector<virtual_register>& registers) {
  first_.reserve(registers.size());
  for (const virtual_register& r : registers) {
    first_.push_back(count_);
    count_ += r.words == 0 ? 1 : r.words;
  }
}

namespace {

using bits = std::vector<std::uint64_t>;

bool is_live(const bits& b, std::uint32_t k) { return b[k / 64] >> (k % 64) & 1; }
void set(bits& b, std::uint32_t k) { b[k / 64] |= std::uint64_t{1} << (k % 64); }

/// Live-out sets of the blocks, over those units only that some block reads before it writes them.
struct block_liveness {
  std::vector<std::uint32_t> index;     // unit -> number among the crossing ones, or no_register
  std::vector<std::uint32_t> crossing;  // back
  std::vector<bits> in, out;
};

block_liveness solve(const machine_function& f, const unit_map& units) {
  block_liveness r;
  r.index.assign(units.count(), no_register);
  std::vector<std::uint32_t> defined_in(units.count(), no_register);
  std::vector<std::vector<std::uint32_t>> exposed(f.blocks.size());
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    for (const machine_instruction& i : f.blocks[b].code) {
      for_each_use(i, f.registers, units, [&](std::uint32_t u) {
        if (defined_in[u] == b) return;
        exposed[b].push_back(u);
        if (r.index[u] != no_register) return;
        r.index[u] = static_cast<std::uint32_t>(r.crossing.size());
        r.crossing.push_back(u);
      });
      for_each_definition(i, units, [&](std::uint32_t u) { defined_in[u] = b; });
    }
  }
  const std::size_t words = (r.crossing.size() + 63) / 64;
  std::vector<bits> kill(f.blocks.size(), bits(words));
  r.in.assign(f.blocks.size(), bits(words));
  r.out = r.in;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    for (std::uint32_t u : exposed[b]) set(r.in[b], r.index[u]);
    for (const machine_instruction& i : f.blocks[b].code)
      for_each_definition(i, units, [&](std::uint32_t u) {
        if (r.index[u] != no_register) set(kill[b], r.index[u]);
      });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = f.blocks.size(); b-- > 0;) {
      for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t out = 0;
        for (std::uint32_t s : f.blocks[b].successors) out |= r.in[s][w];
        const std::uint64_t in = r.in[b][w] | (out & ~kill[b][w]);
        changed = changed || in != r.in[b][w] || out != r.out[b][w];
        r.in[b][w] = in;
        r.out[b][w] = out;
      }
    }
  }
  return r;
}

}  // namespace

std::vector<segments> live_segments(const machine_function& f, const unit_map& units) {
  const block_liveness flow = solve(f, units);
  std::vector<segments> live(units.count());
  std::vector<std::uint32_t> end(units.count(), 0);  // of the stretch being built backwards; 0: not live
  std::uint32_t next = 0;
  for (const machine_block& b : f.blocks) next += static_cast<std::uint32_t>(b.code.size());
  std::vector<std::uint32_t> active;
  for (std::size_t b = f.blocks.size(); b-- > 0;) {
    const std::vector<machine_instruction>& code = f.blocks[b].code;
    const std::uint32_t first = next - static_cast<std::uint32_t>(code.size());
    active.clear();
    for (std::uint32_t k = 0; k < flow.crossing.size(); ++k) {
      if (!is_live(flow.out[b], k)) continue;
      end[flow.crossing[k]] = 2 * next;
      active.push_back(flow.crossing[k]);
    }
    for (std::size_t k = code.size(); k-- > 0;) {
      const std::uint32_t at = 2 * (first + static_cast<std::uint32_t>(k));
      for_each_definition(code[k], units, [&](std::uint32_t u) {
        live[u].push_back({at + 1, end[u] ? end[u] : at + 2});
        end[u] = 0;
      });
      for_each_use(code[k], f.registers, units, [&](std::uint32_t u) {
        if (end[u]) return;
        end[u] = at + 1;
        active.push_back(u);
      });
    }
    for (std::uint32_t u : active) {
      if (!end[u]) continue;
      if (end[u] > 2 * first) live[u].push_back({2 * first, end[u]});
      end[u] = 0;
    }
    next = first;
  }
  for (segments& s : live) {
    std::reverse(s.begin(), s.end());
    segments joined;
    for (const segment& t : s) {
      if (!joined.empty() && t.begin <= joined.back().end) joined.back().end = std::max(joined.back().end, t.end);
      else joined.push_back(t);
    }
    s = std::move(joined);
  }
  return live;
}

}  // namespace heddle::ptx
