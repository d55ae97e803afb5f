// SPDX-License-Identifier: MIT
// State images of the memory path, from the L1s to the device memory: one is written while the path is idle, or with
// requests in flight, and a new path that reads it goes on as the path that wrote it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <ostream>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/isa/instruction.h"
#include "heddle/memory/dram/dram_channel.h"
#include "heddle/memory/dram/fixed_memory.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/memory/noc/interconnect.h"
#include "heddle/memory/protocol/l1_port.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/memory/protocol/random_delay.h"
#include "heddle/simt/warp/warp_state.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/random_numbers.h"

namespace heddle::test {
namespace memory_state_test {

constexpr std::uint64_t base = 0x10000;
constexpr std::uint64_t bytes = 0x20000;
constexpr unsigned sms = 3;
constexpr cycle_t end = 400000;

/// In place of a load/store unit: sends random accesses to an L1, in order.
class requester : public sc_core::sc_module, public clocked {
 public:
  struct answer {
    std::size_t number;
    cycle_t cycle;
    std::uint64_t data;
    bool operator==(const answer& o) const { return number == o.number && cycle == o.cycle && data == o.data; }
    void exchange(state_image& image) { image(number, cycle, data); }
  };

  requester(sc_core::sc_module_name name, unit_clock& clock)
      : sc_module(name), socket({"socket", this}), clock_(clock, *this), port_(socket, *this) {
    add_.op = isa::opcode::atom;
    add_.sub = static_cast<std::uint8_t>(isa::atomic_op::add);
    add_.type = isa::dtype::u32;
    for (unsigned k = 0; k < 3; ++k) launches_[k].launch_id = k;
  }
  l1_port<requester>::socket socket;
  std::vector<answer> answers;

  void plan(std::uint64_t seed, cycle_t at) {
    answers.clear();
    accesses_.clear();
    transactions_.clear();
    random_numbers random(seed);
    for (unsigned n = 0; n < 300; ++n) {
      at += random.below(20);
      lsu_transaction& t = make(random);
      coalesced_access lines;
      coalesce(t.addresses(), t.global_mask, t.bytes_per_lane, lines);
      for (unsigned k = 0; k < lines.count; ++k) {
        accesses_.emplace_back();
        l1_access& a = accesses_.back();
        a.transaction = &t;
        a.line = lines.parts[k].line;
        a.lanes = lines.parts[k].lanes;
        a.words = lines.parts[k].words;
        a.sectors = lines.parts[k].sectors();
        a.launch = static_cast<std::uint32_t>(accesses_.size());  // its number
        queue_.emplace_back(&a, at);
      }
    }
    clock_.wake_at(queue_.front().second);
  }
  void on_cycle(cycle_t cycle) override {
    if (queue_.empty() || port_.nacked()) return;
    l1_access& a = *queue_.front().first;
    const cycle_t from = std::max(queue_.front().second, free_);
    if (from > cycle) return clock_.wake_at(from);
    a.free_cycle = cycle + 1;
    const l1_answer got = port_.send(a, cycle);
    if (got == l1_answer::nacked) return;
    if (got == l1_answer::hit) l1_responds(a);
    free_ = a.free_cycle;
    queue_.pop_front();
    if (!queue_.empty()) clock_.wake_at(std::max(free_, cycle + 1));
  }
  [[nodiscard]] bool idle() const { return queue_.empty(); }
  /// What it has planned, which another one has planned in the same way before it reads.
  void name_objects(state_image& image) {
    for (auto& l : launches_) image.name(&l);
    image.name(&add_);
    for (lsu_transaction& t : transactions_) image.name(&t);
    for (l1_access& a : accesses_) image.name(&a);
  }
  void exchange(state_image& image) {
    std::uint64_t left = queue_.size();
    bool is_busy = answers.size() < accesses_.size();
    image(port_, free_, left, answers, is_busy);
    if (!is_busy) return;
    while (queue_.size() > left) queue_.pop_front();
    for (lsu_transaction& t : transactions_) image(t);
    for (l1_access& a : accesses_) image(a);
  }

 private:
  friend class l1_port<requester>;
  void l1_responds(l1_access& a) {
    std::uint64_t data = 0;
    const lsu_transaction& t = *a.transaction;
    if (t.kind == lsu_kind::load || t.kind == lsu_kind::atomic)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned w = 0; w < (t.bytes_per_lane + 3u) / 4; ++w)
          if ((a.lanes >> lane & 1) != 0) data = hash_with(data, t.words[w][lane]);
    answers.push_back({a.launch, a.ready_cycle, data});
  }
  void l1_retries() { clock_.wake_at(clock_.cycle()); }

  lsu_transaction& make(random_numbers& random) {
    transactions_.emplace_back();
    lsu_transaction& t = transactions_.back();
    const auto choice = random.below(16);
    t.kind = choice < 9    ? lsu_kind::load
             : choice < 14 ? lsu_kind::store
             : choice < 15 ? lsu_kind::atomic
                           : lsu_kind::reduction;
    const bool atomic = t.kind == lsu_kind::atomic || t.kind == lsu_kind::reduction;
    t.bytes_per_lane = static_cast<std::uint8_t>(atomic ? 4 : 1u << random.below(4));
    t.warp = static_cast<std::uint16_t>(random.below(8));
    t.read_only = t.kind == lsu_kind::load && random.below(4) == 0;
    t.local = random.below(3) == 0;
    t.launch = &launches_[random.below(3)];
    t.instruction = &add_;
    t.global_mask = static_cast<std::uint32_t>(random.next()) | 1;
    const std::uint64_t first = base + random.below(bytes / 4096) * 4096, stride = 1u << random.below(6);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const std::uint64_t at = first + lane * stride;
      t.own_addresses[lane] = at / t.bytes_per_lane * t.bytes_per_lane;
      for (auto& word : t.words) word[lane] = static_cast<std::uint32_t>(random.next());
    }
    return t;
  }

  clock_port clock_;
  l1_port<requester> port_;
  isa::instruction add_;
  simt::launch_context launches_[3];
  std::deque<lsu_transaction> transactions_;
  std::deque<l1_access> accesses_;
  std::deque<std::pair<l1_access*, cycle_t>> queue_;
  cycle_t free_ = 0;
};

/// What a test does before the state is written, and what differs from the defaults.
struct variant {
  const char* name;
  void (*change)(gpu_config& config);
  bool watches_locality = false;
  unsigned far_cycles = 0;
  unsigned resized_to = 0;  // bytes of the L1s; 0: they keep their size
  friend void PrintTo(const variant& v, std::ostream* to) { *to << v.name; }
};

gpu_config config_of(const variant& v) {
  gpu_config c;
  c.gpu.sm_count = sms;
  c.memory.channels = 2;
  c.l1.size_bytes = 8192;
  c.l1.ways = 4;
  c.l1.cache_global_loads = true;
  c.l1.mshr_entries = 8;
  c.l2.size_bytes = 32768;
  c.l2.ways = 4;
  c.l2.mshr_entries = 8;
  v.change(c);
  return c;
}

/// L1s, the interconnect, L2 slices, and the memory, where the configuration says so behind monitors and delays.
struct memory_path : lost_locality_observer {
  explicit memory_path(const variant& v) : of(v), config(config_of(v)), net("net", l2_clock, config) {
    for (unsigned i = 0; i < sms; ++i) {
      l1s.push_back(std::make_unique<l1_cache>(("l1_" + std::to_string(i)).c_str(), clock, config, i));
      users.push_back(std::make_unique<requester>(("user" + std::to_string(i)).c_str(), clock));
      users[i]->socket.bind(l1s[i]->access_socket);
      l1s[i]->memory_socket.bind(net.sm_socket[i]);
      l1s[i]->prefetch_within(ranges);
      if (v.watches_locality) l1s[i]->watch_locality(64, 2, *this);
    }
    for (unsigned m = 0; m < slices_of(config); ++m) {
      slices.push_back(std::make_unique<l2_slice>(("slice" + std::to_string(m)).c_str(), l2_clock, config, m, 20));
      slices[m]->add_far({false, true, true}, v.far_cycles);
      net.slice_socket[m].bind(slices[m]->request_socket);
    }
    for (unsigned m = 0; m < config.memory.channels; ++m) {
      const std::string name = "channel" + std::to_string(m);
      if (config.memory.model == choice::memory_model::fixed)
        channels.push_back(std::make_unique<fixed_memory>(name.c_str(), clock, config, m));
      else channels.push_back(std::make_unique<dram_channel>(name.c_str(), dram_clock, config, m));
    }
    for (unsigned m = 0; m < slices.size(); ++m) bind_memory(m);
    net.announce_responses(sms, slices[0]->least_response_cycles());
    ranges.add(base, bytes);
  }
  void bind_memory(unsigned m) {
    auto& target = channels[m / config.l2.slices_per_channel]->socket_of_slice(m);
    if (!config.tlm.check) return slices[m]->memory_socket.bind(target);
    const std::string number = std::to_string(m);
    monitors.push_back(std::make_unique<protocol_monitor>(("monitor" + number).c_str()));
    delays.push_back(
        std::make_unique<random_delay>(("delay" + number).c_str(), sc_core::sc_time(40, sc_core::SC_NS), m));
    slices[m]->memory_socket.bind(monitors[m]->target_socket);
    monitors[m]->initiator_socket.bind(delays[m]->target_socket);
    delays[m]->initiator_socket.bind(target);
  }
  void locality_lost(unsigned warp, cycle_t cycle) override { lost = hash_with(lost, cycle + warp); }

  void exchange(state_image& image) {
    image.name(&net);
    for (const auto& u : users) u->name_objects(image);
    for (const auto& u : l1s) u->name_objects(image);
    for (const auto& u : slices) u->name_objects(image);
    for (clock_domain* c : {&clock, &l2_clock, &dram_clock}) image(*c);
    for (const auto& u : l1s) image(*u);
    for (const auto& u : users) image(*u);
    image(net);
    for (const auto& u : slices) image(*u);
    for (const auto& u : monitors) image(*u);
    for (const auto& u : delays) image(*u);
    for (const auto& u : channels) image(*u);
    image(ranges, lost);
  }
  [[nodiscard]] std::vector<std::uint8_t> state() {
    state_image image;
    exchange(image);
    return image.take();
  }
  void run_to(cycle_t cycle) { sc_core::sc_start(clock.time_of(cycle) - sc_core::sc_time_stamp()); }
  [[nodiscard]] bool idle() const {
    const auto all = [](const auto& units) {
      return std::all_of(units.begin(), units.end(), [](const auto& u) { return u->idle(); });
    };
    return net.idle() && all(users) && all(l1s) && all(slices) && all(monitors) && all(delays) && all(channels);
  }
  /// Runs to the first cycle in which all is idle.
  cycle_t run_to_idle(cycle_t cycle) {
    for (run_to(cycle); !idle() && cycle < end; run_to(cycle)) ++cycle;
    check();
    return cycle;
  }
  void check() {
    EXPECT_TRUE(idle());
    for (const auto& u : l1s) u->check_invariants();
    for (const auto& u : slices) u->check_invariants();
    for (const auto& u : channels) u->check_invariants();
    net.check_invariants();
  }
  void plan(std::uint64_t seed, cycle_t at) {
    for (unsigned i = 0; i < sms; ++i) users[i]->plan(seed * sms + i, at);
  }
  [[nodiscard]] std::vector<std::vector<requester::answer>> answers() const {
    std::vector<std::vector<requester::answer>> all;
    for (const auto& u : users) all.push_back(u->answers);
    return all;
  }

  const variant& of;
  gpu_config config;
  clock_domain clock{"clock", 1000};
  clock_domain l2_clock{"l2_clock", 1607};
  clock_domain dram_clock{"dram_clock", 1251};
  address_ranges ranges;
  interconnect net;
  std::vector<std::unique_ptr<l1_cache>> l1s;
  std::vector<std::unique_ptr<requester>> users;
  std::vector<std::unique_ptr<l2_slice>> slices;
  std::vector<std::unique_ptr<protocol_monitor>> monitors;
  std::vector<std::unique_ptr<random_delay>> delays;
  std::vector<std::unique_ptr<memory_model>> channels;
  std::uint64_t lost = 0;
};

class memory_state : public fresh_simulation, public ::testing::WithParamInterface<variant> {};

TEST_P(memory_state, a_path_that_reads_it_goes_on_as_the_one_that_wrote_it) {
  std::vector<std::uint8_t> middle, last;
  cycle_t written_at = 0;
  std::vector<std::vector<requester::answer>> answers;
  {
    memory_path path(GetParam());
    path.run_to(1);
    path.plan(1, 10);
    written_at = path.run_to_idle(100);
    if (GetParam().resized_to != 0)
      for (const auto& l1 : path.l1s) l1->resize(GetParam().resized_to);
    middle = path.state();
    path.plan(2, written_at + 2);
    path.run_to(end);
    path.check();
    answers = path.answers();
    last = path.state();
  }
  for (const bool reads : {true, false}) {
    SCOPED_TRACE(reads ? "read" : "not read");
    restart();
    memory_path path(GetParam());
    path.run_to(written_at);
    if (reads) {
      state_image image(middle);
      path.exchange(image);
      EXPECT_TRUE(image.at_end());
      EXPECT_TRUE(path.state() == middle) << "what was read is what is written";
    }
    path.plan(2, written_at + 2);
    path.run_to(end);
    path.check();
    EXPECT_EQ(path.answers() == answers, reads);
    EXPECT_EQ(path.state() == last, reads);
  }
}

TEST_P(memory_state, requests_in_flight_go_on) {
  random_numbers random(5);
  for (unsigned round = 0; round < 4; ++round) {
    const cycle_t cut = 20 + random.below(4000);
    restart();
    auto one = std::make_unique<memory_path>(GetParam());
    one->run_to(1);
    one->plan(1, 10);
    one->run_to(cut);
    if (!one->monitors.empty()) return;  // what monitors and delays hold is not described
    const std::vector<std::uint8_t> middle = one->state();
    one->run_to(end);
    const auto answers = one->answers();
    const std::vector<std::uint8_t> last = one->state();
    one.reset();
    restart();
    memory_path path(GetParam());
    path.run_to(cut);
    path.plan(1, 10);
    state_image image(middle);
    path.exchange(image);
    EXPECT_TRUE(path.state() == middle) << "what was read is what is written";
    path.run_to(end);
    EXPECT_TRUE(path.answers() == answers && path.state() == last) << "cut in cycle " << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, memory_state,
    ::testing::Values(variant{"lru",
                              [](gpu_config& c) {
                                c.l1.store_hit = choice::store_hit::update;
                                c.l1.read_cycles = 1.3;
                                c.l1.atomic_return_cycles = 3;
                                c.dram.t_refi_cycles = 3000;
                                c.dram.t_rfc_cycles = 200;
                              }},
                      variant{"random_replacement",
                              [](gpu_config& c) {
                                c.l1.replacement = c.l2.replacement = choice::replacement::random;
                                c.l1.store_allocates = true;
                                c.l2.slices_per_channel = 2;
                                c.l2.fills_parts = true;
                                c.l2.write_interval_cycles = 2;
                                c.dram.row_policy = choice::row_policy::timeout;
                                c.dram.refresh = choice::refresh::per_bank;
                                c.dram.t_refi_cycles = 3200;
                                c.dram.t_rfc_pb_cycles = 60;
                                c.dram.bank_groups = 4;
                                c.dram.t_ccd_l_cycles = 3;
                                c.dram.t_faw_cycles = 40;
                                c.interconnect.sm_response_bytes_per_cycle = 40;
                                c.interconnect.gpc_response_bytes_per_cycle = 50;
                              }},
                      variant{"locality_and_prefetches",
                              [](gpu_config& c) {
                                c.l1.prefetch_lines = 2;
                                c.l1.sector_bytes = 64;
                                c.l2.replacement = choice::replacement::fifo;
                                c.dram.row_policy = choice::row_policy::closed;
                                c.dram.scheduler = choice::dram_scheduler::fcfs;
                                c.dram.ranks = 2;
                              },
                              true},
                      variant{"delays_and_monitors", [](gpu_config& c) { c.tlm.check = true; }, false, 30},
                      variant{"fixed_memory", [](gpu_config& c) { c.memory.model = choice::memory_model::fixed; },
                              false, 0, 3072}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace memory_state_test
}  // namespace heddle::test
