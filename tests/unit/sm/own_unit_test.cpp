// SPDX-License-Identifier: MIT
// An execution unit of a program's own: what it annotates is seen in cycles.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace own_unit_test {

class own_units : public fresh_simulation {};

/// What the own units of all sub-partitions do.
struct behaviour {
  unsigned more_latency = 0;
  unsigned more_initiation = 0;
  unsigned instructions = 0;
  sc_core::sc_time delay;
};

/// Executes like Heddle's unit and adds cycles to what it is asked for.
class own_unit : public sc_core::sc_module, tlm::tlm_fw_transport_if<issue_protocol_types> {
 public:
  own_unit(sc_core::sc_module_name name, behaviour& b) : sc_module(name), socket("socket"), b_(b) {
    socket.bind(*this);
  }
  tlm::tlm_target_socket<32, issue_protocol_types> socket;

  void b_transport(issue_transaction& t, sc_core::sc_time& d) override {
    if (t.mask != 0) t.execute(*t.instruction, *t.warp, t.mask);
    t.latency_cycles += b_.more_latency;
    t.initiation_cycles += b_.more_initiation;
    d += b_.delay;
    ++b_.instructions;
  }
  tlm::tlm_sync_enum nb_transport_fw(issue_transaction&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(issue_transaction&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(issue_transaction&) override { return 0; }

 private:
  behaviour& b_;
};

struct bench {
  explicit bench(isa::unit which, const char* dependence = "scoreboard")
      : h([&] {
          gpu_config c = load_config("gtx1080", {std::string("sub_partition.dependence=") + dependence});
          c.instruction_cache.size_bytes = 1 << 20;
          c.instruction_cache.miss_latency_cycles = 0;
          c.instruction_cache.second_level_bytes = 0;
          return c;
        }()) {
    for (sub_partition& p : h.sm.partitions) {
      units.push_back(std::make_unique<own_unit>(("own" + std::to_string(p.index())).c_str(), unit));
      p.dispatch_socket[static_cast<std::size_t>(which)].bind(units.back()->socket);
    }
  }
  template <class Make>
  std::uint64_t cycles(unsigned length, Make&& make) {
    std::vector<isa::instruction> code;
    for (unsigned i = 0; i < length; ++i) code.push_back(make(i));
    code.push_back(exit_instruction());
    const grid_record& g = h.run(std::move(code), 32);
    EXPECT_TRUE(g.finished);
    return g.end_cycle - g.start_cycle;
  }
  /// Of 100 instructions; the difference of two runs cancels start and end costs.
  template <class Make>
  std::uint64_t cycles_of_100(Make&& make) {
    const std::uint64_t shorter = cycles(64, make);
    return cycles(164, make) - shorter;
  }
  sm_harness h;
  behaviour unit;
  std::vector<std::unique_ptr<own_unit>> units;
};

isa::instruction dependent(unsigned) { return ffma(0, 0, 1, 2); }
isa::instruction independent(unsigned i) {
  const auto r = static_cast<std::uint8_t>(i % 8 * 3);
  return ffma(r, r, static_cast<std::uint8_t>(r + 1), static_cast<std::uint8_t>(r + 2));
}

TEST_F(own_units, execute_as_the_parameters_say_if_they_change_nothing) {
  bench b(isa::unit::fp32);
  EXPECT_EQ(600u, b.cycles_of_100(dependent));
  EXPECT_EQ(64u + 164u, b.unit.instructions);
  for (const sub_partition& p : b.h.sm.partitions)
    EXPECT_EQ(0u, p.units[static_cast<std::size_t>(isa::unit::fp32)].input.instructions) << "not the own unit";
}

TEST_F(own_units, lengthen_a_latency) {
  bench b(isa::unit::fp32);
  b.unit.more_latency = 5;
  EXPECT_EQ(1100u, b.cycles_of_100(dependent));
}

TEST_F(own_units, hold_their_input_longer) {
  bench b(isa::unit::fp32);
  b.unit.more_initiation = 9;  // in place of 1 cycle, and longer than the latency of 6
  EXPECT_EQ(1000u, b.cycles_of_100(independent));
  b.unit.more_latency = 20;
  EXPECT_EQ(2600u, b.cycles_of_100(dependent));
}

TEST_F(own_units, lengthen_a_branch) {
  const auto next = [](unsigned i) {
    isa::instruction bra;
    bra.op = isa::opcode::bra;
    bra.target = i + 1;
    return bra;
  };
  bench b(isa::unit::branch);
  const std::uint64_t before = b.cycles_of_100(next);
  b.unit.more_latency = 7;
  EXPECT_EQ(before + 700, b.cycles_of_100(next));
}

/// What the run of `b` is refused for; "": nothing.
std::string refusal(bench& b) {
  try {
    b.cycles(4, dependent);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// The program's stall counts were made for the parameters' latency.
TEST_F(own_units, may_not_take_longer_than_control_codes_allow) {
  bench b(isa::unit::fp32, "software");
  EXPECT_EQ("", refusal(b));
  b.unit.more_latency = 1;
  EXPECT_NE(refusal(b).find("stall counts"), std::string::npos);
}

TEST_F(own_units, may_not_delay_their_answer) {
  bench b(isa::unit::fp32);
  b.unit.delay = sc_core::sc_time(1, sc_core::SC_NS);
  EXPECT_NE(refusal(b).find("latency_cycles"), std::string::npos);
}

}  // namespace own_unit_test
}  // namespace heddle::test
