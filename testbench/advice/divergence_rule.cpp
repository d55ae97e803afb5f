// SPDX-License-Identifier: MIT
// Advice about branches at which the threads of a warp part: what each of their sides takes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

using blocks_of_code = std::set<std::size_t>;

constexpr double all_of_them = 0.98;  // of the threads that come to a branch

/// What it would save if each warp took one side of a branch only.
struct saved_cycles {
  double alone = 0, queues = 0;  // warp-cycles
  double instructions = 0;

  void add(const saved_cycles& o) {
    alone += o.alone;
    queues += o.queues;
    instructions += o.instructions;
  }
};

/// A branch at which threads part, or whose loop they leave after different numbers of iterations.
struct parting {
  std::size_t block = 0;
  bool is_loop = false;
  struct side {
    blocks_of_code blocks;
    double executed = 0;  // by warps
    double threads = 0;   // of a warp, on average
    double cycles = 0;    // of a warp
  };
  std::vector<side> sides;  // of a loop: its body
  blocks_of_code region;
  saved_cycles saved;
};

class partings {
 public:
  explicit partings(const machine_code& code) : code_(code) {
    blocks_of_code all;
    for (std::size_t k = 0; k < code.blocks.size(); ++k) all.insert(k);
    outermost = in(all);
  }

  std::vector<parting> outermost;

 private:
  [[nodiscard]] double executed(std::size_t block) const { return code_.steps[code_.blocks[block].first].executed; }
  // Threads of a warp there; some instructions are for a part of them.
  [[nodiscard]] double threads(std::size_t block) const {
    double most = 0;
    for (std::size_t k = code_.blocks[block].first; k <= code_.blocks[block].last; ++k)
      most = std::max(most, ratio(code_.steps[k].lanes, code_.steps[k].executed));
    return most;
  }

  // The partings among blocks that are in no other one's region.
  std::vector<parting> in(const blocks_of_code& blocks) const {
    std::vector<parting> found;
    blocks_of_code covered;
    for (const std::size_t block : blocks) {
      if (covered.count(block) != 0 || code_.blocks[block].next.size() < 2 || executed(block) == 0) continue;
      parting p = at(block);
      if (p.sides.empty()) continue;
      // An inner loop's branch lies behind the blocks of its body.
      found.erase(std::remove_if(found.begin(), found.end(),
                                 [&p](const parting& inner) { return p.region.count(inner.block) != 0; }),
                  found.end());
      covered.insert(p.region.begin(), p.region.end());
      found.push_back(std::move(p));
    }
    return found;
  }

  // Without sides: threads do not part there.
  [[nodiscard]] parting at(std::size_t block) const {
    parting p;
    p.block = block;
    const std::size_t end = code_.meeting(block);
    const std::vector<std::size_t>& next = code_.blocks[block].next;
    blocks_of_code first = code_.reached(next[0], end), second = code_.reached(next[1], end);
    for (const blocks_of_code* body : {&first, &second})
      if (body->count(block) != 0) return loop_around(block, *body, end);
    blocks_of_code both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::inserter(both, both.end()));
    for (const std::size_t shared : both) {
      first.erase(shared);
      second.erase(shared);
    }
    const double come = threads(block);
    bool parts = false;
    for (std::size_t k = 0; k < 2; ++k) {
      blocks_of_code& blocks = k == 0 ? first : second;
      p.region.insert(blocks.begin(), blocks.end());
      if (blocks.count(next[k]) == 0 || executed(next[k]) == 0) continue;
      p.sides.push_back({std::move(blocks), executed(next[k]), threads(next[k]), 0});
      parts = parts || p.sides.back().threads < all_of_them * come;
    }
    if (!parts) return {};
    weigh(p, come);
    return p;
  }

  [[nodiscard]] parting loop_around(std::size_t block, const blocks_of_code& body, std::size_t end) const {
    parting p;
    p.block = block;
    p.is_loop = true;
    const double come = threads(end < code_.blocks.size() ? end : 0);
    // What threads miss on one side of a branch in the loop is that branch's.
    if (threads(block) >= all_of_them * come) return {};
    const sums now = sums_of(body, come);
    if (now.idle < (1 - all_of_them) * now.instructions) return {};
    p.region = body;
    p.sides.push_back({body, executed(block), come * (1 - ratio(now.idle, now.instructions)), 0});
    p.saved = {now.idle_alone, now.idle_queues, now.idle};
    return p;
  }

  struct sums {
    double alone = 0, queues = 0, instructions = 0;
    double idle_alone = 0, idle_queues = 0, idle = 0;  // times the share of threads that are not there
  };
  [[nodiscard]] sums sums_of(const blocks_of_code& blocks, double come) const {
    sums s;
    for (const std::size_t block : blocks) {
      const double idle = 1 - std::min(1.0, ratio(threads(block), come));
      for (std::size_t k = code_.blocks[block].first; k <= code_.blocks[block].last; ++k) {
        const machine_step& step = code_.steps[k];
        s.alone += step.alone;
        s.queues += step.queues;
        s.instructions += step.executed;
        s.idle_alone += idle * step.alone;
        s.idle_queues += idle * step.queues;
        s.idle += idle * step.executed;
      }
    }
    return s;
  }

  // A block stays until its longest warp has ended. So a warp that takes one side saves the shorter one. Its waits
  // behind others go with the work of all.
  void weigh(parting& p, double come) const {
    double shortest = 0, warps = -executed(p.block);
    for (parting::side& side : p.sides) {
      const sums now = sums_of(side.blocks, come);
      saved_cycles inner;
      for (const parting& i : in(side.blocks)) inner.add(i.saved);
      p.saved.alone += inner.alone;
      p.saved.queues += now.idle_queues;
      p.saved.instructions += now.idle;
      side.cycles = ratio(now.alone + now.queues, side.executed);
      const double alone = ratio(now.alone - inner.alone, side.executed);
      shortest = &side == &p.sides.front() ? alone : std::min(shortest, alone);
      warps += side.executed;
    }
    if (p.sides.size() < 2) return;
    const double both = std::clamp(warps, 0.0, std::min(p.sides[0].executed, p.sides[1].executed));
    p.saved.alone += both * shortest;
  }

  const machine_code& code_;
};

// Copies of a branch, as an unrolled loop has them, are one: what they save is added.
std::vector<parting> by_place(const time_model& t, std::vector<parting> all) {
  std::vector<parting> found;
  std::map<std::pair<std::string, bool>, std::size_t> known;
  for (parting& p : all) {
    const std::string place = t.place_of(t.code.steps[t.code.blocks[p.block].last].line);
    const auto [at, is_new] = known.try_emplace({place, p.is_loop}, found.size());
    if (is_new) found.push_back(std::move(p));
    else found[at->second].saved.add(p.saved);
  }
  return found;
}

std::string finding_of(const parting& p) {
  const parting::side& one = p.sides.front();
  if (p.is_loop)
    return fmt::format(
        "threads of a warp leave its loop after different numbers of iterations: {} of {:.0f} are in it on "
        "average",
        rounded(one.threads), warp_threads);
  std::string text = fmt::format("threads of a warp take different ways: {} of {:.0f} one of {:.0f} cycles",
                                 rounded(one.threads), warp_threads, one.cycles);
  if (p.sides.size() > 1) text += fmt::format(", {} one of {:.0f}", rounded(p.sides[1].threads), p.sides[1].cycles);
  return text;
}

}  // namespace

void divergence(const time_model& t, std::vector<advice>& to) {
  if (number_at(t.kernel, {"metrics", "branch_efficiency"}) >= 1) return;
  const double all = number_at(t.kernel, {"warp_cycles", "active"});
  const double waves = number_at(t.kernel, {"waves"});
  for (const parting& p : by_place(t, partings(t.code).outermost)) {
    const machine_step& branch = t.code.steps[t.code.blocks[p.block].last];
    relief r;
    // Sorted by length, work is as long in the longest block as it was: only a grid of several waves has less of it.
    const double alone = p.is_loop && waves <= 1 ? 0 : p.saved.alone;
    r.lifetime = ratio(alone + p.saved.queues, all);
    for (const char* part : {"issue slots", "fp32", "int", "fp64", "half", "sfu", "ldst"})
      r.parts[part] = ratio(p.saved.instructions, number_at(t.kernel, {"metrics", "inst_executed"}));
    const double speedup = t.speedup(r);
    to.push_back({"divergence", t.place_of(branch.line), finding_of(p),
                  p.is_loop ? "sort the work by its length, so that the threads of a warp have as many iterations"
                            : "let the threads of a warp take the same way: branch by warp, sort the work",
                  p.is_loop && waves > 1 ? std::min(speedup, waves) : speedup});
  }
}

}  // namespace heddle::testbench
