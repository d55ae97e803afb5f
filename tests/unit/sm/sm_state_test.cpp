// SPDX-License-Identifier: MIT
// The state of an idle SM, read into a fresh one: both then do the same in the same cycles.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decode.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "tests/unit/common/fake_memory.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/random_numbers.h"

namespace heddle::test {
namespace sm_state_test {

// Loads, shared memory, barriers, divergence, atomics and stores, among them one of the time.
const char* const working_kernel = R"(
.version 6.0
.target sm_20
.address_size 64
.visible .entry work(.param .u64 data, .param .u32 turns, .param .u32 stride)
{
  .reg .b32 %r<16>;
  .reg .b64 %rd<10>;
  .reg .pred %p<3>;
  .shared .align 4 .b8 words[1024];
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [turns];
  ld.param.u32 %r2, [stride];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mad.lo.u32 %r5, %r4, 257, %r3;
  shl.b32 %r6, %r3, 2;
  mov.u32 %r7, words;
  add.u32 %r7, %r7, %r6;
turn:
  mad.lo.u32 %r5, %r3, %r2, %r5;
  and.b32 %r8, %r5, 16383;
  mul.wide.u32 %rd2, %r8, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r9, [%rd3];
  st.shared.u32 [%r7], %r9;
  bar.sync 0;
  ld.shared.u32 %r10, [words+64];
  and.b32 %r11, %r3, 1;
  setp.eq.u32 %p1, %r11, 0;
  @%p1 bra even;
  mul.lo.u32 %r10, %r10, %r9;
  red.global.add.u32 [%rd3], 1;
  bra joined;
even:
  add.u32 %r10, %r10, 3;
  st.global.u32 [%rd3], %r10;
joined:
  bar.sync 0;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra turn;
  mov.u64 %rd4, %clock64;
  st.global.u64 [%rd1], %rd4;
  ret;
}
)";

constexpr std::uint64_t data_bytes = 65536;

std::shared_ptr<resident_launch> launch_of(const gpu_config& config, const std::shared_ptr<const isa::program>& program,
                                           const std::shared_ptr<const decoded_program>& decoded, std::uint32_t id,
                                           random_numbers& random) {
  auto launch = std::make_shared<resident_launch>();
  launch->program = program;
  launch->decoded = decoded;
  launch->launch_id = id;
  launch->grid = {1 + static_cast<std::uint32_t>(random.below(6)), 1, 1};
  launch->block = {32 * (1 + static_cast<std::uint32_t>(random.below(4))), 1, 1};
  launch->shared_bytes = program->shared_bytes;
  launch->sm_count = 1;
  launch->warps_per_sm = config.sm.max_warps;
  auto& bank = launch->banks[0];
  bank.resize(isa::bank0::parameters + program->parameter_bytes);
  const auto put = [&](std::uint32_t at, const auto& value) { std::memcpy(&bank[at], &value, sizeof value); };
  put(isa::bank0::ntid, launch->block);
  put(isa::bank0::nctaid, launch->grid);
  put(isa::bank0::parameters, isa::heap_base);
  put(isa::bank0::parameters + 8, 1 + static_cast<std::uint32_t>(random.below(4)));
  put(isa::bank0::parameters + 12, static_cast<std::uint32_t>(random.below(40)));
  return launch;
}

/// Launches that both machines run.
std::vector<std::shared_ptr<resident_launch>> launches_of(const gpu_config& config, unsigned count) {
  const auto module = ptx::place(ptx::parse(working_kernel, "work.ptx"), 0);
  const std::shared_ptr<const isa::program> program = ptx::lower(module, "work", config, 0);
  const std::shared_ptr<const decoded_program> first = decode(program, config, 0);
  const std::shared_ptr<const decoded_program> second = decode(program, config, 1 << 16);
  random_numbers random(9);
  std::vector<std::shared_ptr<resident_launch>> launches;
  for (unsigned id = 0; id < count; ++id)
    launches.push_back(launch_of(config, program, random.below(3) == 0 ? second : first, id, random));
  return launches;
}

/// An SM between a memory that answers after 100 cycles and a work distributor that gives it a launch at a time.
struct machine : sc_core::sc_module, phase_initiator<cta_protocol_types> {
  machine(sc_core::sc_module_name name, const gpu_config& c, std::vector<std::shared_ptr<resident_launch>> of)
      : sc_module(name),
        config(c),
        launches(std::move(of)),
        clock("clock", c.gpu.core_clock_mhz),
        unit("sm", clock, c, 0, ranges),
        memory("memory", clock.time_of(1)),
        cta_socket("cta_socket") {
    cta_socket.bind(*this);
    cta_socket.bind(unit.resource_manager.cta_socket);
    unit.l1.memory_socket.bind(memory.socket);
    ranges.add(isa::heap_base, data_bytes);
  }
  void run(std::uint32_t launch) {
    dispatch(launch);
    sc_core::sc_start();
    unit.check_invariants();
  }
  void dispatch(std::uint32_t launch) {
    const std::shared_ptr<const resident_launch>& l = launches[launch];
    for (std::uint64_t block = 0; block < l->grid.x; ++block) {
      cta_transaction& t = blocks.emplace_back();
      t.launch = l.get();
      t.block = block;
      cta_phase phase = cta_phase::dispatch;
      sc_core::sc_time delay = clock.time_of(2 * config.cwd.dispatch_latency_cycles);
      cta_socket->nb_transport_fw(t, phase, delay);
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(cta_transaction& t, cta_phase& phase, sc_core::sc_time& delay) override {
    EXPECT_EQ(t.fault, "");
    answers.emplace_back(static_cast<const resident_launch*>(t.launch)->launch_id, t.block, phase,
                         (sc_core::sc_time_stamp() + delay).value());
    return tlm::TLM_ACCEPTED;
  }
  void exchange(state_image& image) {
    clock.exchange(image);
    exchange_unit(image);
  }
  void exchange_unit(state_image& image) {
    const auto by_number = [this](std::uint32_t launch) -> const resident_launch& { return *launches[launch]; };
    for (const auto& l : launches) {
      image.name(l.get());
      image.name<simt::launch_context>(l.get());
      image.name(l->decoded->code.data(), l->decoded->code.size());
    }
    name_bulk_instructions(image);
    name_objects(unit, image, by_number);
    unit.exchange(image, by_number);
  }
  [[nodiscard]] std::vector<std::uint8_t> state() {
    state_image image;
    exchange(image);
    return image.take();
  }

  const gpu_config config;
  const std::vector<std::shared_ptr<resident_launch>> launches;
  address_ranges ranges;
  clock_domain clock;
  sm unit;
  fake_memory memory;
  tlm::tlm_initiator_socket<32, cta_protocol_types> cta_socket;
  std::deque<cta_transaction> blocks;
  std::vector<std::tuple<std::uint32_t, std::uint64_t, cta_phase, std::uint64_t>> answers;
};

std::vector<std::uint8_t> bytes_of(machine& m) {
  std::vector<std::uint8_t> bytes(data_bytes);
  for (std::uint64_t k = 0; k < data_bytes; ++k) bytes[k] = m.memory.byte(isa::heap_base + k);
  return bytes;
}

struct chip {
  const char* name;
  std::vector<std::string> overrides;
  bool counts_apart = false;
};

std::ostream& operator<<(std::ostream& to, const chip& c) { return to << c.name; }

class sm_state : public fresh_simulation, public testing::WithParamInterface<chip> {};

TEST_P(sm_state, goes_on_in_a_fresh_sm) {
  std::vector<std::string> overrides = GetParam().overrides;
  overrides.push_back("gpu.sm_count=1");
  const gpu_config config = load_config(GetParam().name, overrides);
  constexpr unsigned before = 8, all = 14;
  const auto launches = launches_of(config, all);
  auto one = std::make_unique<machine>("machine", config, launches);
  if (GetParam().counts_apart) one->unit.resource_manager.count_executions(1);
  for (unsigned launch = 0; launch < before; ++launch) one->run(launch);
  const sc_core::sc_time time = sc_core::sc_time_stamp();
  const std::vector<std::uint8_t> state = one->state(), memory = bytes_of(*one);
  one->answers.clear();
  for (unsigned launch = before; launch < all; ++launch) one->run(launch);
  const auto answers = one->answers;
  const std::vector<std::uint8_t> last_state = one->state(), last_memory = bytes_of(*one);
  one.reset();

  restart();
  machine other("machine", config, launches);
  if (GetParam().counts_apart) other.unit.resource_manager.count_executions(1);
  sc_core::sc_start(time, sc_core::SC_RUN_TO_TIME);
  state_image image(state);
  other.exchange(image);
  EXPECT_TRUE(image.at_end());
  EXPECT_TRUE(other.state() == state);
  for (std::uint64_t k = 0; k < data_bytes; ++k) other.memory.byte(isa::heap_base + k) = memory[k];
  for (unsigned launch = before; launch < all; ++launch) other.run(launch);
  EXPECT_EQ(other.answers, answers);
  EXPECT_TRUE(bytes_of(other) == last_memory);
  EXPECT_TRUE(other.state() == last_state);
}

std::vector<std::uint8_t> state_of(machine& m) {
  state_image image;
  m.exchange_unit(image);
  return image.take();
}

TEST_P(sm_state, does_not_depend_on_when_accounts_are_settled) {
  const gpu_config config = load_config(GetParam().name, GetParam().overrides);
  const auto launches = launches_of(config, 1);
  std::vector<std::uint8_t> state;
  {
    machine one("machine", config, launches);
    one.run(0);
    state = state_of(one);
  }
  restart();
  machine other("machine", config, launches);
  other.dispatch(0);
  do {
    sc_core::sc_start(other.clock.time_of(37));
    other.unit.settle_accounts(other.clock.cycle());
  } while (!other.unit.idle());
  EXPECT_TRUE(state_of(other) == state);
}

INSTANTIATE_TEST_SUITE_P(chips, sm_state,
                         testing::Values(chip{"gtx480", {}}, chip{"gtx1080", {"sub_partition.scheduler=lrr"}, true},
                                         chip{"gtxtitan", {"sub_partition.scheduler=ccws"}},
                                         chip{"gtx1080",
                                              {"sub_partition.scheduler=memory_aware", "ldst.reexecution_entries=4"}},
                                         chip{"gtx980", {"sub_partition.scheduler=two_level"}},
                                         chip{"rtx3080", {"sub_partition.scheduler=prefetch_aware"}, true},
                                         chip{"v100", {"sub_partition.scheduler=oldest"}}, chip{"h100", {}, true}),
                         [](const auto& row) { return std::string(row.param.name) + "_" + std::to_string(row.index); });

class block_counts_of_slots : public fresh_simulation {};

// The slots are the same, but the second launch does not count its blocks apart.
TEST_F(block_counts_of_slots, end_with_their_launch) {
  const gpu_config config = load_config("v100");
  machine m("machine", config, launches_of(config, 2));
  m.unit.resource_manager.count_executions(1);
  m.run(0);
  m.unit.resource_manager.count_executions(0);
  EXPECT_NO_THROW(m.run(1));
}

}  // namespace sm_state_test
}  // namespace heddle::test
