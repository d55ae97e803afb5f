// SPDX-License-Identifier: MIT
// Random schedules of the CWD: grids of many shapes, streams and priorities, SMs that are preempted at random. No SM is
// given more than it has, every block runs exactly once, nothing is lost, and no block arrives before the time that the
// CWD has announced as safe.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/gpu/cwd/policies/placement_policy.h"
#include "heddle/hash/splitmix64.h"
#include "heddle/tlm/port/phase_target.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle {
namespace cwd_schedule_test {

/// Stands in for an SM: keeps blocks for random times, releases them on request, and sums up its resources.
class counting_sm : public sc_core::sc_module, public clocked, public phase_target<cta_protocol_types> {
 public:
  counting_sm(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, splitmix64& random)
      : sc_module(name), socket("socket"), config_(config), clock_(clock, *this), random_(random) {
    socket.bind(*this);
  }
  tlm::tlm_target_socket<32, cta_protocol_types> socket;
  std::map<std::pair<std::uint32_t, std::uint64_t>, unsigned> runs;  // completions of each block
  unsigned switches = 0;
  unsigned some = 0;  // of these, preemptions that left other blocks running
  std::array<unsigned, 4> by_mode{};
  cycle_t nothing_until = 0;  // safe time last announced by the CWD

  tlm::tlm_sync_enum nb_transport_fw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) override {
    const cycle_t at = clock_.domain().arrival(delay);
    EXPECT_GT(at, nothing_until) << name();
    arrivals_.push({at, order_++, &t, phase});
    clock_.wake_at(at);
    return tlm::TLM_ACCEPTED;
  }

  void on_cycle(cycle_t cycle) override {
    while (!arrivals_.empty() && arrivals_.top().cycle <= cycle) {
      const event e = arrivals_.top();
      arrivals_.pop();
      if (e.phase == cta_phase::dispatch) {
        add(*e.transaction, cycle + 1 + random_.below(400));
      } else if (e.phase == cta_phase::preempt) {
        preempt(static_cast<context_transaction&>(*e.transaction), cycle);
      } else {
        restore(static_cast<context_transaction&>(*e.transaction), cycle);
      }
    }
    for (auto b = blocks_.begin(); b != blocks_.end();) {
      if (b->second > cycle) {
        ++b;
        continue;
      }
      cta_transaction& t = *b->first;
      b = blocks_.erase(b);
      ++runs[{t.launch->launch_id, t.block}];
      send(t, cta_phase::complete, cycle);
    }
    cycle_t next = arrivals_.empty() ? never : arrivals_.top().cycle;
    for (const auto& b : blocks_) next = std::min(next, b.second);
    if (next != never) clock_.wake_at(std::max(next, cycle + 1));
  }

 private:
  struct event {
    cycle_t cycle;
    std::uint64_t order;
    cta_transaction* transaction;
    cta_phase phase;
    bool operator<(const event& o) const { return cycle != o.cycle ? cycle > o.cycle : order > o.order; }
  };

  void add(cta_transaction& t, cycle_t ends) {
    EXPECT_TRUE(blocks_.emplace(&t, ends).second);
    std::uint64_t threads = 0, warps = 0, registers = 0, shared = 0;
    for (const auto& [b, end] : blocks_) {
      const simt::launch_context& l = *b->launch;
      threads += l.threads_per_block();
      warps += l.warps_per_block();
      const unsigned unit = config_.sm.register_allocation_unit;
      registers += l.warps_per_block() * ((l.program->registers * 32 + unit - 1) / unit * unit);
      shared += l.shared_bytes + (l.shared_bytes != 0 ? config_.shared_memory.reserved_per_block_bytes : 0);
    }
    EXPECT_LE(threads, config_.sm.max_threads);
    EXPECT_LE(warps, config_.sm.max_warps);
    EXPECT_LE(registers, config_.sm.registers);
    EXPECT_LE(shared, config_.shared_memory.size_bytes);
    EXPECT_LE(blocks_.size(), config_.sm.max_blocks);
  }
  void preempt(context_transaction& t, cycle_t cycle) {
    auto& away = away_[&t];
    ++by_mode[static_cast<std::size_t>(t.mode)];
    for (auto b = blocks_.begin(); b != blocks_.end();) {
      if (!t.leaving.empty() && std::find(t.leaving.begin(), t.leaving.end(), b->first) == t.leaving.end()) {
        ++b;
        continue;
      }
      switched_block record;
      record.transaction = b->first;
      record.launch = b->first->launch->launch_id;
      record.block = b->first->block;
      t.blocks.push_back(record);
      away.push_back({b->first, b->second > cycle ? b->second - cycle : 1});
      b = blocks_.erase(b);
    }
    if (!t.leaving.empty()) ++some;
    ++switches;
    t.saved_cycle = cycle;
    send(t, cta_phase::saved, cycle);
  }
  void restore(context_transaction& t, cycle_t cycle) {
    for (const auto& [b, left] : away_.at(&t))
      add(*b, cycle + (t.mode == preemption_mode::flush ? 1 + random_.below(400) : left));
    away_.erase(&t);
    send(t, cta_phase::resumed, cycle);
  }
  void send(cta_transaction& t, cta_phase phase, cycle_t cycle) {
    sc_core::sc_time delay = clock_.domain().delay_until(cycle + config_.cwd.dispatch_latency_cycles - 1);
    nothing_until = std::min(nothing_until,
                             cycle + 2 * cycle_t{config_.cwd.dispatch_latency_cycles} - 1);  // earliest possible answer
    socket->nb_transport_bw(t, phase, delay);
  }

  // Ordered by arrival, so that runs are reproducible.
  struct by_block {
    bool operator()(const cta_transaction* a, const cta_transaction* b) const {
      return std::make_pair(a->launch->launch_id, a->block) < std::make_pair(b->launch->launch_id, b->block);
    }
  };
  const gpu_config& config_;
  clock_port clock_;
  splitmix64& random_;
  std::priority_queue<event> arrivals_;
  std::uint64_t order_ = 0;
  std::map<cta_transaction*, cycle_t, by_block> blocks_;
  std::map<context_transaction*, std::vector<std::pair<cta_transaction*, cycle_t>>> away_;
};

struct schedules : grid_observer, cycle_observer {
  /// `requests`: preemptions are requested at random.
  schedules(gpu_config c, std::uint64_t seed, bool requests)
      : config(std::move(c)), random(seed), requests(requests), clock("clock", 1000), cwd("cwd", clock, config, *this) {
    clock.observe(*this);
    for (unsigned i = 0; i < config.gpu.sm_count; ++i) {
      sms.push_back(std::make_unique<counting_sm>(("sm" + std::to_string(i)).c_str(), clock, config, random));
      cwd.cta_socket[i].bind(sms.back()->socket);
    }
  }
  void after_cycle() override {
    for (unsigned i = 0; i < sms.size(); ++i) {
      const cycle_t until = cwd.nothing_arrives_until(i, clock.cycle(), requests);
      sms[i]->nothing_until = std::max(sms[i]->nothing_until, until);
    }
  }
  void grid_finished(const grid_record&, cycle_t) override { ++finished; }
  void program_fault(const std::string& text) override { FAIL() << text; }
  bool idempotent(const resident_launch& l) override { return l.launch_id % 4 != 0; }

  void submit() {
    auto program = std::make_shared<isa::program>();
    program->registers = static_cast<unsigned>(1 + random.below(64));
    auto l = std::make_shared<resident_launch>();
    l->program = program;
    l->grid = {static_cast<std::uint32_t>(1 + random.below(40)), 1, 1};
    l->block = {static_cast<std::uint32_t>(1 + random.below(512)), 1, 1};
    l->shared_bytes = random.below(3) == 0 ? static_cast<std::uint32_t>(random.below(20000)) : 0;
    l->stream = static_cast<std::uint32_t>(random.below(4));
    l->priority = static_cast<std::int32_t>(random.below(3));
    l->launch_id = static_cast<std::uint32_t>(cwd.grids().size());
    cwd.submit(l);
  }
  /// One schedule: some grids arrive, some SMs are preempted, everything completes.
  void one() {
    for (std::uint64_t n = 1 + random.below(4); n != 0; --n) {
      submit();
      if (requests && random.below(3) == 0) {
        preempt_request r;
        for (unsigned i = 0; i < config.gpu.sm_count; ++i)
          if (random.below(2) == 0) r.sms.push_back(i);
        r.mode = static_cast<preemption_mode>(random.below(4));
        r.resume_after = random.below(500);
        cwd.preempt(r);
      }
      sc_core::sc_start(static_cast<double>(random.below(300)), sc_core::SC_NS);
    }
    sc_core::sc_start();
    cwd.check_invariants();
    ASSERT_TRUE(cwd.idle()) << "the CWD has stopped with blocks to run";
    ASSERT_EQ(cwd.grids().size(), finished);
  }
  void check_runs() {
    std::map<std::pair<std::uint32_t, std::uint64_t>, unsigned> runs;
    for (const auto& s : sms)
      for (const auto& [block, n] : s->runs) runs[block] += n;
    std::uint64_t expected = 0;
    for (const grid_record& g : cwd.grids()) expected += g.blocks();
    EXPECT_EQ(expected, runs.size());
    for (const auto& [block, n] : runs) EXPECT_EQ(1u, n) << "block " << block.second << " of launch " << block.first;
  }

  gpu_config config;
  splitmix64 random;
  bool requests;
  clock_domain clock;
  compute_work_distributor cwd;
  std::vector<std::unique_ptr<counting_sm>> sms;
  std::size_t finished = 0;
};

class cwd_schedules : public fresh_simulation {
 protected:
  static void run(unsigned count) {
    const std::vector<std::vector<std::string>> kinds = {
        {"cwd.placement=breadth_first"},
        {"cwd.placement=depth_first", "context.priority_preemption=switch"},
        {"cwd.placement=most_free", "context.time_slice_cycles=150"},
        {"cwd.placement=breadth_first", "context.priority_preemption=drain", "sm.warp_assignment=by_id"},
        {"cwd.placement=depth_first", "context.priority_preemption=switch", "context.time_slice_cycles=90"},
        {"cwd.placement=breadth_first", "context.priority_preemption=flush"},
        {"cwd.placement=most_free", "context.priority_preemption=auto", "context.time_slice_cycles=300"}};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      std::vector<std::string> set = kinds[k];
      set.push_back("gpu.sm_count=3");
      set.push_back("cwd.launch_latency_cycles=20");
      const gpu_config config = load_config(k % 2 == 0 ? "v100" : "gtx1080", set);
      unsigned switches = 0, flushed = 0, some = 0;
      // Creates a new GPU periodically, because launch records accumulate.
      for (unsigned n = 0; n < count / kinds.size(); n += at_a_time) {
        restart();
        schedules s(config, 17 + k + 100 * n, true);
        for (unsigned m = 0; m < at_a_time; ++m) {
          s.one();
          if (HasFatalFailure()) FAIL() << "schedule " << n + m << " of kind " << k;
        }
        s.check_runs();
        for (const auto& m : s.sms) {
          switches += m->switches;
          some += m->some;
          flushed += m->by_mode[static_cast<std::size_t>(preemption_mode::flush)];
          EXPECT_EQ(0u, m->by_mode[static_cast<std::size_t>(preemption_mode::automatic)]) << "auto reached an SM";
        }
      }
      EXPECT_GT(some, count / kinds.size() / 100) << "kind " << k << ": auto decided by block";
      EXPECT_GT(flushed, count / kinds.size() / 100) << "kind " << k;
      EXPECT_GT(switches, count / kinds.size() / 10) << "kind " << k;
    }
  }

  static constexpr unsigned at_a_time = 143;
};
class long_cwd_schedules : public cwd_schedules {};

TEST_F(cwd_schedules, complete_every_block_and_overcommit_no_sm) { run(1001); }

// Many SMs, and no preemption requests: the CWD knows how many blocks are placed elsewhere first.
TEST_F(cwd_schedules, nothing_arrives_where_blocks_go_elsewhere_first) {
  for (const auto& [interval, end] :
       {std::pair("1", "0"), std::pair("1.75", "0"), std::pair("2.2", "0"), std::pair("3", "0"), std::pair("0.3", "0"),
        std::pair("0.187", "1.187"), std::pair("1.5", "2.6")}) {
    restart();
    schedules s(load_config("v100", {"gpu.sm_count=12", "cwd.launch_latency_cycles=20",
                                     std::string("cwd.dispatch_interval_cycles=") + interval,
                                     std::string("cwd.end_interval_cycles=") + end}),
                5, false);
    for (unsigned n = 0; n < 1000 && !HasFailure(); ++n) s.one();
    s.check_runs();
  }
}

TEST(placement_policy, counts_the_sms_that_are_served_before) {
  const auto any = [](unsigned) { return true; };
  const auto turn = make_placement_policy(choice::placement::breadth_first);
  EXPECT_EQ(5u, turn->served_before(5, 8, 32, any));
  EXPECT_EQ(3u, turn->served_before(5, 8, 3, any)) << "as far as it is asked";
  EXPECT_EQ(2, turn->choose({0, 0, 0, 0, 0, 0, 0, 0}, [](unsigned i) { return i >= 2; }));
  EXPECT_EQ(0u, turn->served_before(3, 8, 32, any)) << "it is its turn";
  EXPECT_EQ(7u, turn->served_before(2, 8, 32, any));
  EXPECT_EQ(2u, turn->served_before(0, 8, 32, [](unsigned i) { return i == 4 || i == 6; }));
  for (const auto other : {choice::placement::depth_first, choice::placement::most_free})
    EXPECT_EQ(0u, make_placement_policy(other)->served_before(5, 8, 32, any)) << static_cast<int>(other);
}
TEST_F(long_cwd_schedules, complete_every_block_and_overcommit_no_sm) { run(100100); }

}  // namespace cwd_schedule_test
}  // namespace heddle
