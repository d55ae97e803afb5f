// SPDX-License-Identifier: MIT
// Every parameter at its smallest and its largest value, and every choice with each of its names, one at a time. A
// small GPU either runs kernels that use all units, or rejects the value and names it. Each value
// has an effect of its own, seen in the metrics, at the memory that is bound from outside, in what is allocated or in
// the modules that there are; extreme_values.h lists the others with their reasons.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"
#include "heddle/energy/power_cap.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/json.h"
#include "heddle/simt/texture/texture.h"
#include "tests/unit/common/all_units.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/config/extreme_scenarios.h"
#include "tests/unit/config/extreme_values.h"

namespace heddle::test {
namespace parameter_extremes_test {

/// An A100 with two SMs and little memory, or an H100 with a cluster's.
settings small_chip(scenario what = scenario::one_grid) {
  if (what == scenario::clusters)
    return {"gpu.sm_count=4", "gpu.gpc_count=1", "gpu.sms_per_tpc=2", "memory.channels=2", "l2.size_bytes=81920"};
  return {"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=65536", "l1.size_bytes=7168"};
}

/// The metrics without the configuration.
std::string without_configuration(std::string metrics) {
  const std::size_t begin = metrics.find("\"config\""), end = metrics.find('}', begin);
  return metrics.erase(begin, end - begin);
}

/// Core cycles from the first launch to the end of the last one; 0: the metrics have none.
double cycles_in(const std::string& metrics) {
  const std::string key = "\"cycles\": ";
  const std::size_t at = metrics.find(key);
  return at == std::string::npos ? 0 : std::strtod(metrics.c_str() + at + key.size(), nullptr);
}

/// Core cycles in a cycle of the parameter's clock.
double core_cycles_in_one_of(const parameter& p, const gpu_config& c) {
  if (p.unit == parameter_unit::l2_cycles) return c.gpu.core_clock_mhz / c.interconnect.clock_mhz;
  if (p.unit == parameter_unit::dram_cycles) return c.gpu.core_clock_mhz / c.dram.clock_mhz;
  return 1;
}

/// How many protocol monitors there are below an object of SystemC's hierarchy.
unsigned monitors(const std::vector<sc_core::sc_object*>& objects) {
  unsigned count = 0;
  for (const sc_core::sc_object* o : objects)
    count += (dynamic_cast<const protocol_monitor*>(o) != nullptr ? 1 : 0) + monitors(o->get_child_objects());
  return count;
}

class parameter_extremes : public fresh_simulation {
 protected:
  struct outcome {
    std::string metrics;  // without the configuration; empty: rejected
    std::string refusal;
  };

  /// Runs the kernel on the small chip. What the same chip has done is known: many settings are those of the chip.
  static outcome run(const settings& more, scenario what = scenario::one_grid) {
    settings all = small_chip(what);
    if (what == scenario::external) all.emplace_back("memory.model=external");
    all.insert(all.end(), more.begin(), more.end());
    gpu_config config;
    try {
      config = load_config(gpu_of(what), all);
    } catch (const input_error& e) {
      return {"", e.what()};
    }
    std::string chip;
    for (const parameter& p : parameters()) chip += text_of(p, config) + "\n";
    static std::map<std::pair<scenario, std::string>, outcome> known;
    const auto [at, is_new] = known.try_emplace({what, std::move(chip)});
    if (is_new) at->second = run_on(config, what);
    return at->second;
  }

  static outcome run_on(const gpu_config& config, scenario what) {
    outcome result;
    restart();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    try {
      gpu g("gpu", config);
      const auto cap = config.energy.power_cap_watts > 0 ? std::make_unique<power_cap>(g) : nullptr;
      std::vector<std::unique_ptr<outside_memory>> outside;
      for (auto& socket : g.memory_socket) {
        outside.push_back(std::make_unique<outside_memory>(sc_core::sc_gen_unique_name("outside")));
        socket.bind(outside.back()->socket);
      }
      // Both would lower the kernel, which takes longer than to run it.
      host_driver driver("driver", config, host_driver::default_first_address, 0, &g.parsed_modules());
      driver.host_socket.bind(g.host_socket);
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
      if (what == scenario::allocations) result.metrics = allocations(driver);
      result.metrics += launch_all(config, driver, what);
      g.check_invariants();
      result.metrics +=
          without_configuration(to_json(collect(g, cap != nullptr ? &cap->ledger() : nullptr))) + driver.fault();
      for (const auto& m : outside) result.metrics += std::to_string(m->digest);
      result.metrics += std::to_string(monitors(sc_core::sc_get_top_level_objects()));
    } catch (const input_error& e) {
      result.refusal = e.what();
    }
    return result;
  }

  /// Which of two large allocations device memory has addresses for.
  static std::string allocations(host_driver& driver) {
    std::string found;
    for (const std::uint64_t bytes : {std::uint64_t{1} << 30, std::uint64_t{1} << 41}) try {
        static_cast<void>(driver.allocate(bytes));
        found += "allocated ";
      } catch (const input_error& e) {
        found += std::string(e.what()) + " ";
      }
    return found;
  }

  /// Launches the kernel of the scenario. Returns what it computed, where its digits matter.
  static std::string launch_all(const gpu_config& config, host_driver& driver, scenario what) {
    launch_request r;
    const std::uint64_t out = driver.allocate(65536), in = driver.allocate(65536), texels = driver.allocate(4096);
    driver.fill(out, 0, 65536);
    driver.fill(in, 0, 65536);
    driver.fill(texels, 0, 4096);
    simt::texture_descriptor t;
    t.address = texels;
    t.width = t.height = 8;
    const std::uint64_t texture = driver.create_texture(t);
    r.block[0] = 64;
    r.carveout_percent = what == scenario::large_l1 ? 0 : 100;  // 100: an L1 smaller than the kernel's data
    if (what == scenario::waiting_lanes) {
      r.module = driver.load_module(flag_kernel, "flag.ptx");
      r.kernel = "flag";
      r.argument(out);
    } else if (what == scenario::external) {
      r.module = driver.load_module(scatter_kernel, "scatter.ptx");
      r.kernel = "scatter";
      r.grid[0] = 6;
      r.argument(out);
    } else if (what == scenario::clusters) {
      r.module = driver.load_module(cluster_kernel(), "clusters.ptx");
      r.kernel = "clusters";
      r.grid[0] = 8;
      r.block[0] = 128;
      r.cluster.blocks[0] = 4;
      r.cluster.blocks[1] = r.cluster.blocks[2] = 1;
      r.argument(out).argument(in);
    } else {
      r.module = driver.load_module(all_units_kernel, "all_units.ptx");
      r.kernel = "all_units";
      r.grid[0] = 6;
      r.argument(out).argument(in).argument(texture);
    }
    driver.check(r);
    driver.launch(r);
    const auto pass = [](double microseconds) { sc_core::sc_start(sc_core::sc_time(microseconds, sc_core::SC_US)); };
    if (what == scenario::two_grids) {
      pass(3);
      r.stream = 1;
      r.priority = 1;
      driver.launch(r);
    } else if (what == scenario::preempted) {
      pass(3);
      check_preemption(config, {}, preemption_mode::automatic);
      driver.preempt({}, preemption_mode::context_switch, 1000);
    }
    sc_core::sc_start();
    if (what != scenario::waiting_lanes) {
      EXPECT_EQ(driver.fault(), "");
    }
    EXPECT_TRUE(driver.finished(0) || !driver.fault().empty());
    std::string results(what == scenario::clusters ? 8 * 128 * 16 : 0, 0);
    if (!results.empty()) driver.read(out, results.data(), results.size());
    return results;
  }
};

TEST_F(parameter_extremes, run_or_are_refused_and_what_they_change_is_seen) {
  ASSERT_EQ(run({}).refusal, "");
  for (const parameter& p : parameters()) {
    const auto also = beside().find(p.name());
    const settings others = also == beside().end() ? settings{} : also->second;
    const scenario what = scenario_of(p.name());
    const outcome plain = run(others, what);
    EXPECT_EQ(plain.refusal, "") << p.name();
    const auto effective = [&p, what](settings all) {
      const settings chip = small_chip(what);
      all.insert(all.begin(), chip.begin(), chip.end());
      return text_of(p, load_config(gpu_of(what), all));
    };
    const std::string beside_it = effective(others);
    std::map<std::string, std::string> value_with;  // by effect
    for (const std::string& value : values_of(p)) {
      if (is_tried_elsewhere(p, value)) continue;
      const std::string setting = p.name() + "=" + value;
      SCOPED_TRACE(setting);
      settings all = others;
      all.push_back(setting);
      const outcome o = run(all, what);
      const bool none = without_effect().count(p.name()) != 0, listed = none || without_effect().count(setting) != 0;
      if (o.refusal.empty() && effective(all) != beside_it) {
        EXPECT_EQ(o.metrics == plain.metrics, listed) << (listed ? "has an effect" : "has no effect");
      }
      if (is_time(p) && o.refusal.empty()) {
        const auto [other, is_new] = value_with.emplace(o.metrics, value);
        if (!is_new && !none) {
          EXPECT_EQ(alike().count(p.name()), 1u) << "the same as with " << other->second;
        }
      }
      if (!o.refusal.empty()) {
        const bool by_name =
            o.refusal.rfind("--set " + setting + ": ", 0) == 0 && o.refusal.find("expected ") != std::string::npos;
        const bool by_mode = p.name() == "context.preemption" && o.refusal.rfind("mode 'switch': ", 0) == 0;
        const bool by_kernel =
            limits_of_a_block.count(p.name()) != 0 && o.refusal.find("kernel 'all_units'") != std::string::npos;
        const bool by_cluster =
            what == scenario::clusters && (o.refusal.find("kernel 'clusters'") != std::string::npos ||
                                           o.refusal.find(p.name() + " = ") != std::string::npos);
        const bool by_capability =
            p.name() == "gpu.compute_capability" && o.refusal.find("needs compute capability") != std::string::npos;
        EXPECT_TRUE(by_name || by_mode || by_kernel || by_cluster || by_capability) << o.refusal;
      }
    }
  }
}

// A time that is longer by n cycles makes the kernel longer by at least n: each is waited for once at the least. If the
// model cuts a value off before it acts, or keeps only its lower bits, the kernel does not grow so, even if something
// else differs. (The stall counts of control codes once cut off ldst.operand_latency_cycles at 11.)
TEST_F(parameter_extremes, of_times_are_waited_for_in_full) {
  std::set<std::string> needed;  // of the exceptions
  for (const parameter& p : parameters()) {
    if (!is_time(p) || p.is_list) continue;
    const scenario what = scenario_of(p.name());
    const auto also = beside().find(p.name());
    const settings others = also == beside().end() ? settings{} : also->second;
    double value_before = 0, cycles_before = 0;
    for (const std::string& value : values_of(p)) {
      settings all = others;
      all.push_back(p.name() + "=" + value);
      const outcome o = run(all, what);
      if (!o.refusal.empty()) continue;
      const double longer = std::stod(value), cycles = cycles_in(o.metrics);
      if (cycles_before != 0) {
        settings chip = small_chip(what);
        chip.insert(chip.end(), all.begin(), all.end());
        const double least =
            (longer - value_before) * core_cycles_in_one_of(p, load_config(gpu_of(what), chip)) - rounding;
        if (cycles - cycles_before < least) needed.insert(p.name());
        if (waited_for_in_part().count(p.name()) == 0) {
          EXPECT_GE(cycles - cycles_before, least) << p.name() << " from " << value_before << " to " << value;
        }
      }
      value_before = longer;
      cycles_before = cycles;
    }
  }
  for (const auto& [name, reason] : waited_for_in_part()) EXPECT_EQ(needed.count(name), 1u) << name << ": " << reason;
}

// Most shipped GPUs hide the refresh. With one, whatever else a DRAM's parameters say, the kernel ends or the value is
// rejected: no time makes the channel open rows that a refresh closes unused, for ever.
TEST_F(parameter_extremes, of_the_dram_end_or_are_refused_with_a_refresh_too) {
  for (const char* refresh : {"all_bank", "per_bank"}) {
    const settings refreshed = {std::string("dram.refresh=") + refresh, "dram.t_refi_cycles=2000",
                                "dram.t_rfc_cycles=300", "dram.t_rfc_pb_cycles=50"};
    ASSERT_EQ(run(refreshed).refusal, "");
    for (const parameter& p : parameters()) {
      if (p.section != "dram") continue;
      for (const std::string& value : values_of(p)) {
        const std::string setting = p.name() + "=" + value;
        SCOPED_TRACE(std::string(refresh) + ", " + setting);
        settings all = refreshed;
        all.push_back(setting);
        const std::string refusal = run(all).refusal;
        if (refusal.empty()) continue;
        EXPECT_EQ(refusal.find("--set " + setting + ": "), 0u) << refusal;
        EXPECT_NE(refusal.find("expected "), std::string::npos) << refusal;
      }
    }
  }
}

// Values one step outside the range are rejected, and the message gives the range.
TEST_F(parameter_extremes, have_nothing_beyond_them) {
  for (const parameter& p : parameters()) {
    if (!p.is_number()) continue;
    const gpu_config defaults;
    const bool whole = std::holds_alternative<unsigned*>(p.in(const_cast<gpu_config&>(defaults)));
    for (const double beyond : {p.range.lowest - (whole ? 1 : p.range.lowest / 2), p.range.highest + 1}) {
      if (beyond < 0 || beyond > 4294967295.0 || p.range.holds(beyond)) continue;
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", beyond);
      const std::string setting = p.name() + "=" + text;
      try {
        load_config("a100", {setting});
        ADD_FAILURE() << setting << " was accepted";
      } catch (const input_error& e) {
        const std::string message = e.what();
        EXPECT_EQ(message.find("--set " + setting + ": " + p.name() + " = "), 0u) << message;
        EXPECT_NE(message.find("is out of range, expected " + p.range.text()), std::string::npos) << message;
      }
    }
  }
}

TEST_F(parameter_extremes, together_may_not_take_more_lines_than_the_model_holds) {
  const auto refusal = [](const settings& all) -> std::string {
    try {
      load_config("a100", all);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  const settings large = {"l1.size_bytes=16777216", "l1.ways=1024", "shared_memory.unified_bytes=0"};
  EXPECT_EQ(refusal(large), "");
  settings larger = large;
  larger.push_back("gpu.sm_count=1024");
  const std::string message = refusal(larger);
  EXPECT_EQ(message.find("--set gpu.sm_count=1024: gpu.sm_count = 1024, "), 0u) << message;
  EXPECT_NE(message.find("expected at most 67108864 cache lines, translations and victim tags on the chip"),
            std::string::npos)
      << message;
  EXPECT_NE(refusal({"gpu.sm_count=1024", "tlb.entries=65536", "tlb.page_bytes=4096"}), "");
  EXPECT_NE(
      refusal({"instruction_cache.size_bytes=16777216", "instruction_cache.line_bytes=16", "instruction_cache.ways=1"}),
      "");
  // Each kind of memory counts: with 7.5 MB of first-level cache in lines of 128 bytes on each of 1,024 SMs the limit
  // is nearly reached.
  settings full = {"gpu.sm_count=1024",      "l1.size_bytes=7864320", "l1.ways=1024", "shared_memory.unified_bytes=0",
                   "l2.size_bytes=41943040", "tlb.entries=0"};
  EXPECT_EQ(refusal(full), "");
  for (const settings& more :
       std::vector<settings>{{"constant_cache.size_bytes=1048576", "constant_cache.line_bytes=64"},
                             {"tlb.entries=4096", "tlb.page_bytes=4096"},
                             {"instruction_cache.second_level_bytes=16777216",
                              "instruction_cache.second_level_line_bytes=16", "instruction_cache.second_level_ways=1"},
                             {"sub_partition.scheduler=ccws", "sub_partition.ccws_victim_tags=1024"}}) {
    settings all = full;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_NE(refusal(all).find("expected at most 67108864 cache lines"), std::string::npos)
        << more[0] << ": " << refusal(all);
  }
}

// A chip of 1,024 SMs takes seconds to elaborate.
class long_parameter_extremes : public parameter_extremes {};
TEST_F(long_parameter_extremes, the_largest_chip_runs) {
  const outcome o = run({"gpu.sm_count=1024"});
  EXPECT_EQ(o.refusal, "");
  EXPECT_NE(o.metrics, "");
}

}  // namespace parameter_extremes_test
}  // namespace heddle::test
