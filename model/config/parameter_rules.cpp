// SPDX-License-Identifier: MIT
#include "heddle/config/parameter_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "heddle/config/dram_standard.h"
#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"

namespace heddle {
namespace {

using names = std::vector<std::string>;

/// Reports the first violated rule. Every rule is one line of one of the functions.
class rule_checker {
 public:
  rule_checker(const gpu_config& config, const rule_violation& violated) : config_(config), violated_(violated) {}

  void each_alone() const {
    gpu_config copy = config_;
    for (const parameter_reference& p : parameters_of(copy)) {
      if (p.about->is_number()) check_range(p);
      if (p.about->is_choice()) check_choice(p);
      if (p.about->is_list) check_list(p);
    }
    const std::string& name = config_.gpu.name;
    const bool plain = !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
    });
    require(plain, {"gpu.name"}, "expected a name of up to 64 letters, digits and '_', '-', '.', '+'");
  }

  void sm() const {
    const sm_parameters& sm = config_.sm;
    require(sm.max_warps % sm.sub_partitions == 0, {"sm.max_warps", "sm.sub_partitions"},
            "expected sm.sub_partitions to divide sm.max_warps");
    require(sm.max_warps / sm.sub_partitions <= 64, {"sm.max_warps", "sm.sub_partitions"},
            "expected at most 64 warps in one sub-partition (sm.max_warps / sm.sub_partitions)");
    require(sm.max_threads <= sm.max_warps * 32, {"sm.max_threads", "sm.max_warps"},
            "expected sm.max_threads to be at most 32 x sm.max_warps");
    require(sm.max_threads_per_block <= sm.max_threads, {"sm.max_threads_per_block", "sm.max_threads"},
            "expected sm.max_threads_per_block to be at most sm.max_threads");
    require(sm.register_allocation == choice::register_allocation::block || sm.registers % sm.sub_partitions == 0,
            {"sm.registers", "sm.sub_partitions", "sm.register_allocation"},
            "expected sm.sub_partitions to divide sm.registers");
    require(sm.registers_per_block <= sm.registers, {"sm.registers_per_block", "sm.registers"},
            "expected sm.registers_per_block to be at most sm.registers");
    require(config_.integer.shared_lanes <= config_.fp32.shared_lanes, {"int.shared_lanes", "fp32.shared_lanes"},
            "expected int.shared_lanes to be at most fp32.shared_lanes");
    require(config_.integer.shared_lanes == 0 || config_.integer.on_fp32_lanes,
            {"int.shared_lanes", "int.on_fp32_lanes"},
            "expected int.shared_lanes to be 0 where integers are not on the lanes of fp32");
    require((config_.fp64.lanes > 0) == (config_.fp64.compare_lanes > 0), {"fp64.lanes", "fp64.compare_lanes"},
            "expected fp64.lanes and fp64.compare_lanes both 0 (no such unit) or both larger");
    require((config_.half.lanes > 0) == (config_.half.compare_lanes > 0), {"half.lanes", "half.compare_lanes"},
            "expected half.lanes and half.compare_lanes both 0 (no such unit) or both larger");
    shared_unit("fp64.shared", config_.fp64.shared,
                {{"fp64.lanes", config_.fp64.lanes},
                 {"fp64.compare_lanes", config_.fp64.compare_lanes},
                 {"fp64.conversion_lanes", config_.fp64.conversion_lanes}});
    shared_unit("half.shared", config_.half.shared,
                {{"half.lanes", config_.half.lanes}, {"half.compare_lanes", config_.half.compare_lanes}});
  }

  void shared_memory() const {
    const shared_memory_parameters& shared = config_.shared_memory;
    require(shared.carveouts_kb.back() * 1024 == shared.size_bytes,
            {"shared_memory.carveouts_kb", "shared_memory.size_bytes"},
            "expected the largest of shared_memory.carveouts_kb to be shared_memory.size_bytes");
    require(shared.max_per_block_bytes <= shared.opt_in_per_block_bytes,
            {"shared_memory.max_per_block_bytes", "shared_memory.opt_in_per_block_bytes"},
            "expected shared_memory.opt_in_per_block_bytes to be at least shared_memory.max_per_block_bytes");
    require(
        shared.opt_in_per_block_bytes + shared.reserved_per_block_bytes <= shared.size_bytes,
        {"shared_memory.opt_in_per_block_bytes", "shared_memory.reserved_per_block_bytes", "shared_memory.size_bytes"},
        "expected a block's shared memory (opt-in limit and reserved bytes) to fit shared_memory.size_bytes");
    require(shared.unified_bytes == 0 || config_.l1.size_bytes + shared.size_bytes <= shared.unified_bytes,
            {"l1.size_bytes", "shared_memory.size_bytes", "shared_memory.unified_bytes"},
            "expected l1.size_bytes and shared_memory.size_bytes together to fit shared_memory.unified_bytes");
    require(shared.latency_cycles > config_.ldst.address_latency_cycles,
            {"shared_memory.latency_cycles", "ldst.address_latency_cycles"},
            "expected shared_memory.latency_cycles to be larger than ldst.address_latency_cycles, which is part of it");
  }

  void caches() const {
    check_cache("l1", config_.l1.size_bytes, config_.l1.line_bytes, config_.l1.ways);
    check_cache("constant_cache", config_.constant_cache.size_bytes, config_.constant_cache.line_bytes,
                config_.constant_cache.ways);
    check_cache("instruction_cache", config_.instruction_cache.size_bytes, config_.instruction_cache.line_bytes,
                config_.instruction_cache.ways);
    const instruction_cache_parameters& code = config_.instruction_cache;
    require(config_.sub_partition.register_banks * config_.sub_partition.register_write_ports <= most_write_ports,
            {"sub_partition.register_banks", "sub_partition.register_write_ports"},
            fmt::format("expected at most {} write ports in all banks together", most_write_ports));
    require(code.second_level_bytes % (code.second_level_line_bytes * code.second_level_ways) == 0,
            {"instruction_cache.second_level_bytes", "instruction_cache.second_level_ways",
             "instruction_cache.second_level_line_bytes"},
            "expected instruction_cache.second_level_bytes to be a multiple of its line times its ways");
    const unsigned slices = slices_of(config_);
    require(
        config_.l2.size_bytes % (slices * config_.l2.line_bytes * config_.l2.ways) == 0,
        {"l2.size_bytes", "memory.channels", "l2.slices_per_channel", "l2.ways"},
        "expected l2.size_bytes to be a multiple of memory.channels x l2.slices_per_channel x l2.line_bytes x l2.ways");
    const bool partitions = config_.l2.far_latency_cycles != 0;
    require(!partitions || config_.memory.channels % 2 == 0, {"memory.channels", "l2.far_latency_cycles"},
            "expected an even number of memory.channels for the two partitions of l2.far_latency_cycles");
    require(!partitions || config_.l2.partition_bytes >= config_.l2.interleave_bytes,
            {"l2.partition_bytes", "l2.interleave_bytes", "l2.far_latency_cycles"},
            "expected l2.partition_bytes of at least l2.interleave_bytes");
    require(config_.l1.latency_cycles > config_.ldst.address_latency_cycles,
            {"l1.latency_cycles", "ldst.address_latency_cycles"},
            "expected l1.latency_cycles to be larger than ldst.address_latency_cycles, which is part of it");
    require(config_.constant_cache.miss_latency_cycles >= config_.constant_cache.latency_cycles,
            {"constant_cache.miss_latency_cycles", "constant_cache.latency_cycles"},
            "expected constant_cache.miss_latency_cycles to be at least constant_cache.latency_cycles");
  }

  /// The model holds up to some 60 bytes for each cache line, translation or victim tag; a chip must fit into the
  /// host's memory.
  void size() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 26;
    const auto lines = [](std::uint64_t bytes, unsigned line_bytes) { return bytes / line_bytes; };
    const sm_parameters& sm = config_.sm;
    const instruction_cache_parameters& code = config_.instruction_cache;
    const std::uint64_t first_signals = code.per_sub_partition ? sm.sub_partitions : 1;
    const bool tags = config_.sub_partition.scheduler == choice::scheduler::ccws;
    const std::uint64_t each =
        lines(std::max<std::uint64_t>(config_.l1.size_bytes, config_.shared_memory.unified_bytes),
              config_.l1.line_bytes) +
        first_signals * lines(code.size_bytes, code.line_bytes) +
        lines(code.second_level_bytes, code.second_level_line_bytes) +
        lines(config_.constant_cache.size_bytes, config_.constant_cache.line_bytes) + config_.tlb.entries +
        (tags ? std::uint64_t{sm.max_warps} * config_.sub_partition.ccws_victim_tags : 0);
    require(
        config_.gpu.sm_count * each + lines(config_.l2.size_bytes, config_.l2.line_bytes) <= most,
        {"gpu.sm_count", "l1.size_bytes", "shared_memory.unified_bytes", "instruction_cache.size_bytes",
         "instruction_cache.line_bytes", "instruction_cache.second_level_bytes",
         "instruction_cache.second_level_line_bytes", "constant_cache.size_bytes", "tlb.entries",
         "sub_partition.ccws_victim_tags", "l2.size_bytes"},
        fmt::format(
            "expected at most {} cache lines, translations and victim tags on the chip, for which the model needs memory",
            most));
  }

  void memory() const {
    const dram_parameters& dram = config_.dram;
    const double crossing =
        2.0 * config_.interconnect.latency_cycles * config_.gpu.core_clock_mhz / config_.interconnect.clock_mhz;
    require(
        config_.l2.latency_cycles > crossing + config_.ldst.address_latency_cycles,
        {"l2.latency_cycles", "interconnect.latency_cycles", "interconnect.clock_mhz", "gpu.core_clock_mhz",
         "ldst.address_latency_cycles"},
        fmt::format("expected l2.latency_cycles to be larger than the minimum round trip (interconnect, both ways, and "
                    "ldst.address_latency_cycles: {:.0f} core cycles)",
                    std::ceil(crossing + config_.ldst.address_latency_cycles)));
    require(dram.burst_bytes <= dram.row_bytes, {"dram.burst_bytes", "dram.row_bytes"},
            "expected dram.burst_bytes to be at most dram.row_bytes");
    const context_parameters& context = config_.context;
    const bool stops = context.priority_preemption == choice::priority_preemption::switch_ ||
                       context.priority_preemption == choice::priority_preemption::flush ||
                       context.time_slice_cycles != 0;
    require(context.preemption == choice::preemption::instruction || !stops,
            {"context.preemption", "context.priority_preemption", "context.time_slice_cycles"},
            "expected context.preemption = instruction where running blocks are to be switched out or dropped");
    require(dram.t_refi_cycles == 0 || dram.t_rfc_cycles < dram.t_refi_cycles,
            {"dram.t_refi_cycles", "dram.t_rfc_cycles"},
            "expected dram.t_rfc_cycles to be less than dram.t_refi_cycles (0: no refresh)");
    dram_levels();
    dram_refresh();
  }

  /// The power cap measures by the energy account, and keeps the time of the device memory's clock.
  void energy() const {
    const std::vector<unsigned>&clocks = config_.energy.voltage_clocks_mhz, &volts = config_.energy.voltage_points_mv;
    require(config_.energy.voltage_curve == choice::voltage_curve::line ||
                (clocks.size() >= 2 && clocks.size() == volts.size() && clocks[0] != 0 && volts[0] >= 100),
            {"energy.voltage_curve", "energy.voltage_clocks_mhz", "energy.voltage_points_mv"},
            "expected energy.voltage_clocks_mhz and energy.voltage_points_mv, where energy.voltage_curve = points, to "
            "have equally many numbers, two at least, clocks above 0 and voltages from 100 mV on");
    if (config_.energy.power_cap_watts == 0) return;
    require(config_.energy.account, {"energy.power_cap_watts", "energy.account"},
            "expected energy.account = true, and a file with a section [energy], where there is a power cap");
    require(config_.memory.model == choice::memory_model::dram, {"energy.power_cap_watts", "memory.model"},
            "expected memory.model = dram where there is a power cap");
    require(config_.energy.power_cap_watts > config_.energy.constant_watts,
            {"energy.power_cap_watts", "energy.constant_watts"},
            "expected energy.power_cap_watts (0: no cap) to be more than energy.constant_watts, which no clock lowers");
    require(config_.energy.least_clock_mhz <= config_.gpu.core_clock_mhz,
            {"energy.least_clock_mhz", "gpu.core_clock_mhz", "energy.power_cap_watts"},
            "expected energy.least_clock_mhz to be at most gpu.core_clock_mhz where there is a power cap");
  }

 private:
  /// A unit of all sub-partitions has the lanes of all, and accepts one instruction in a cycle at most, too.
  void shared_unit(const std::string& flag, bool shared,
                   const std::vector<std::pair<std::string, double>>& all_lanes) const {
    const unsigned parts = config_.sm.sub_partitions;
    for (const auto& [key, lanes] : all_lanes)
      require(
          !shared || lanes == 0 || is_warp_rate(lanes * parts), {key, flag, "sm.sub_partitions"},
          fmt::format("expected {} x sm.sub_partitions, the lanes of one unit for all of them ({} = true), to be 32 / "
                      "a whole number of cycles",
                      key, flag));
  }

  void dram_levels() const {
    const dram_parameters& dram = config_.dram;
    const dram_standard& standard = standard_of(dram.standard);
    require(dram.banks % (dram.ranks * dram.bank_groups) == 0, {"dram.banks", "dram.ranks", "dram.bank_groups"},
            "expected dram.banks to be a multiple of dram.ranks x dram.bank_groups");
    require(dram.ranks == 1 || standard.has(dram_level::rank), {"dram.ranks", "dram.standard"},
            "expected dram.ranks = 1: a channel of this standard has no ranks");
    if (dram.refresh != choice::refresh::per_bank || dram.t_refi_cycles == 0) return;
    require(standard.has(dram_command::refpb), {"dram.refresh", "dram.standard"},
            "expected dram.refresh = none or all_bank: the standard has no refresh of a single bank");
    require(dram.t_refi_cycles >= dram.banks, {"dram.refresh", "dram.t_refi_cycles", "dram.banks"},
            "expected dram.t_refi_cycles to be at least dram.banks, where they are refreshed one by one");
    require(dram.t_rfc_pb_cycles < dram.t_refi_cycles, {"dram.refresh", "dram.t_refi_cycles", "dram.t_rfc_pb_cycles"},
            "expected dram.t_rfc_pb_cycles to be less than dram.t_refi_cycles");
  }

  // A row that is opened right before a refresh closes unused. What opens the next one, and its first column command,
  // must fit between two refreshes of a bank; otherwise rows are opened and closed for ever.
  void dram_refresh() const {
    const dram_parameters& dram = config_.dram;
    if (dram.refresh == choice::refresh::none || dram.t_refi_cycles == 0) return;
    const bool single = dram.refresh == choice::refresh::per_bank;
    const unsigned group_delay = dram.bank_groups > 1 ? dram.t_rrd_l_cycles : 0;
    const std::uint64_t closing = std::uint64_t{dram.t_ras_cycles} + dram.t_rp_cycles;
    const std::uint64_t activate = std::max({single ? dram.t_rfc_pb_cycles : dram.t_rfc_cycles, dram.t_rc_cycles,
                                             dram.t_rrd_cycles, group_delay, dram.t_faw_cycles});
    const std::uint64_t needed = closing + activate + dram.t_rcd_cycles;
    require(needed < dram.t_refi_cycles,
            {"dram.t_refi_cycles", "dram.t_rcd_cycles", "dram.t_ras_cycles", "dram.t_rp_cycles", "dram.t_rfc_cycles",
             "dram.t_rfc_pb_cycles", "dram.t_rc_cycles", "dram.t_rrd_cycles", "dram.t_rrd_l_cycles",
             "dram.t_faw_cycles", "dram.refresh", "dram.preset", "dram.standard"},
            fmt::format("dram.t_refi_cycles = {} leaves no time to use a row between two refreshes, expected more than "
                        "{}: t_ras + t_rp + t_rcd + the longest of {}, t_rc, t_rrd, t_rrd_l and t_faw",
                        dram.t_refi_cycles, needed, single ? "t_rfc_pb" : "t_rfc"));
    if (!single) return;
    const unsigned interval = dram.t_refi_cycles / dram.banks;
    require(closing <= interval && dram.t_rrd_cycles < interval,
            {"dram.t_refi_cycles", "dram.banks", "dram.t_ras_cycles", "dram.t_rp_cycles", "dram.t_rrd_cycles",
             "dram.refresh", "dram.preset", "dram.standard"},
            fmt::format("refreshes of single banks come each {} cycles (dram.t_refi_cycles / dram.banks), expected at "
                        "least t_ras + t_rp = {} and more than t_rrd = {}",
                        interval, closing, dram.t_rrd_cycles));
  }

  void require(bool holds, const names& about, const std::string& message) const {
    if (holds) return;
    violated_(about, message);
    throw internal_error("a violated rule of the configuration was passed over");
  }

  void check_range(const parameter_reference& p) const {
    double value = 0;
    if (const auto* whole = std::get_if<unsigned*>(&p.value)) value = **whole;
    if (const auto* real = std::get_if<double*>(&p.value)) value = **real;
    const std::string name = p.about->name();
    require(p.about->range.holds(value), {name},
            fmt::format("{} = {} is out of range, expected {}", name, text_of(p), p.about->range.text()));
  }

  // Only a C++ program can set an enumerator that does not exist.
  void check_choice(const parameter_reference& p) const {
    require(*std::get<choice_value>(p.value).number < p.about->choices.size(), {p.about->name()},
            fmt::format("unknown {} '{}', expected {}", p.about->key, text_of(p), p.about->values()));
  }

  void check_list(const parameter_reference& p) const {
    require(p.about->holds(*std::get<std::vector<unsigned>*>(p.value)), {p.about->name()},
            "expected " + p.about->values());
  }

  void check_cache(const std::string& section, unsigned size, unsigned line, unsigned ways) const {
    require(size % (line * ways) == 0, {section + ".size_bytes", section + ".ways", section + ".line_bytes"},
            fmt::format("expected {0}.size_bytes to be a multiple of {0}.line_bytes x {0}.ways", section));
  }

  const gpu_config& config_;
  const rule_violation& violated_;
};

}  // namespace

std::vector<unsigned> carveout_sizes(const gpu_config& config) {
  static const parameter& about = *find_parameter("shared_memory.carveouts_kb");
  std::vector<unsigned> sizes = config.shared_memory.carveouts_kb;
  if (!about.holds(sizes)) throw input_error(about.name() + ": expected " + about.values());
  for (unsigned& size : sizes) size *= 1024;
  return sizes;
}

void check_rules(const gpu_config& config, const rule_violation& violated) {
  const rule_checker checker(config, violated);
  checker.each_alone();
  checker.sm();
  checker.shared_memory();
  checker.caches();
  checker.memory();
  checker.energy();
  checker.size();
}

}  // namespace heddle
