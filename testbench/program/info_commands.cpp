// SPDX-License-Identifier: MIT
#include "testbench/program/info_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_page.h"
#include "heddle/config/shipped.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/resolve/parameter_types.h"
#include "heddle/metrics/json.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/occupancy/limiter.h"
#include "heddle/occupancy/occupancy.h"
#include "testbench/options/log.h"
#include "testbench/options/options.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// Peak bandwidth of the configured memory, bytes per second.
double memory_bandwidth(const gpu_config& c) {
  if (c.memory.model == choice::memory_model::dram)
    return c.memory.channels * static_cast<double>(c.dram.bytes_per_cycle) * c.dram.clock_mhz * 1e6;
  if (c.memory.model == choice::memory_model::fixed)
    return c.memory.channels * c.memory.bytes_per_cycle * c.gpu.core_clock_mhz * 1e6;
  return 0;
}

/// Of an SM.
double fp32_lanes(const gpu_config& c) { return c.fp32.lanes * c.sm.sub_partitions + c.fp32.shared_lanes; }

void write_gpu(json_writer& w, const gpu_config& c) {
  w.begin_object();
  w.member("name", c.gpu.name)
      .member("compute_capability", compute_capability_text(c))
      .member("sm_count", c.gpu.sm_count);
  w.member("core_clock_mhz", c.gpu.core_clock_mhz).member("sub_partitions_per_sm", c.sm.sub_partitions);
  w.member("fp32_lanes_per_sm", fp32_lanes(c)).member("warp_size", 32);
  w.member("max_threads_per_sm", c.sm.max_threads).member("max_warps_per_sm", c.sm.max_warps);
  w.member("max_blocks_per_sm", c.sm.max_blocks).member("max_threads_per_block", c.sm.max_threads_per_block);
  w.member("registers_per_sm", c.sm.registers).member("registers_per_block", c.sm.registers_per_block);
  w.member("registers_per_thread", c.sm.registers_per_thread);
  w.member("shared_bytes_per_sm", c.shared_memory.size_bytes);
  w.member("shared_bytes_per_block", c.shared_memory.max_per_block_bytes);
  w.member("shared_bytes_per_block_opt_in", c.shared_memory.opt_in_per_block_bytes);
  w.member("l1_bytes", c.l1.size_bytes)
      .member("l2_bytes", c.l2.size_bytes)
      .member("memory_channels", c.memory.channels);
  w.member("memory_bandwidth_bytes_per_second", memory_bandwidth(c));
  w.end_object();
}

std::string limit_text(unsigned limit) { return limit == resource_limits::unlimited ? "-" : std::to_string(limit); }

std::string occupancy_json(const occupancy_result& r, const std::optional<std::uint64_t>& clusters) {
  json_writer w;
  w.begin_object();
  w.member("blocks_per_sm", r.blocks_per_sm).member("active_warps", r.active_warps);
  w.member("theoretical_occupancy", r.theoretical_occupancy);
  w.key("limiters").begin_array();
  for (const auto& name : r.limiters) w.value(name);
  w.end_array();
  w.key("limits").begin_object();
  each_limit(r.block.limits, [&w](const char* name, unsigned limit) {
    w.key(name);
    if (limit == resource_limits::unlimited) {
      w.null();
    } else {
      w.value(limit);
    }
  });
  w.end_object();
  w.member("registers_per_block", r.block.registers_per_block).member("shared_bytes_per_block", r.block.shared_bytes);
  w.member("carveout_bytes", r.block.carveout_bytes);
  if (clusters) w.member("max_active_clusters", *clusters);
  w.end_object();
  return w.text();
}

std::string occupancy_table(const occupancy_result& r, const gpu_config& c,
                            const std::optional<std::uint64_t>& clusters) {
  std::string text =
      fmt::format("{}: {} blocks per SM, {} of {} warps, occupancy {:.4g}\nlimited by {}\n\n", c.gpu.name,
                  r.blocks_per_sm, r.active_warps, c.sm.max_warps, r.theoretical_occupancy, join(r.limiters, ", "));
  text += fmt::format("{:<16}{:>14}\n", "resource", "blocks it fits");
  each_limit(r.block.limits, [&text](const char* name, unsigned limit) {
    text += fmt::format("{:<16}{:>14}\n", name, limit_text(limit));
  });
  text +=
      fmt::format("\na block takes {} registers and {} bytes of the {} bytes of shared memory\n",
                  grouped(r.block.registers_per_block), grouped(r.block.shared_bytes), grouped(r.block.carveout_bytes));
  if (clusters) text += fmt::format("the chip holds {} such clusters at a time\n", *clusters);
  return text;
}

std::string listing(const isa::program& p) {
  std::string text =
      fmt::format("// {} from {}: {} instructions, {} registers, {} bytes shared, {} bytes local, {} barriers\n",
                  p.kernel, p.file, p.code.size(), p.registers, p.shared_bytes, p.local_bytes, p.barriers);
  for (const auto& parameter : p.parameters) {
    text += fmt::format("// c[0x0][{:#x}] {} ({} bytes)\n", isa::bank0::parameters + parameter.offset, parameter.name,
                        parameter.size);
  }
  std::set<std::uint32_t> targets;
  for (const auto& i : p.code) targets.insert({i.target, i.reconverge});
  for (std::size_t i = 0; i < p.code.size(); ++i) {
    if (targets.count(static_cast<std::uint32_t>(i))) text += fmt::format("L{}:\n", i);
    text += fmt::format("{:>6}  {:<60} // line {}\n", i, isa::to_string(p.code[i]), p.code[i].line);
  }
  return text;
}

void write_kernel(json_writer& w, const isa::program& p, const std::vector<isa::dtype>& types) {
  w.begin_object();
  w.member("name", p.kernel).key("names").begin_array();
  for (const std::string& name : names_of_kernel(p.kernel)) w.value(name);
  w.end_array();
  w.member("registers_per_thread", p.registers).member("shared_bytes", p.shared_bytes);
  w.member("local_bytes", p.local_bytes).member("barriers", p.barriers).member("instructions", p.code.size());
  w.key("parameters").begin_array();
  for (std::size_t i = 0; i < p.parameters.size(); ++i) {
    w.begin_object().member("name", p.parameters[i].name).member("bytes", p.parameters[i].size).key("type");
    if (i < types.size() && types[i] != isa::dtype::none) {
      w.value(isa::name_of(types[i]));
    } else {
      w.null();  // a struct or an array
    }
    w.end_object();
  }
  w.end_array().end_object();
}

std::string kernels_json(const ptx::loaded_module& module, const std::vector<std::string>& names,
                         const gpu_config& config) {
  json_writer w;
  w.begin_array();
  for (const std::string& name : names)
    write_kernel(w, *ptx::lower(module, name, config), ptx::parameter_types(*module.ast, name));
  w.end_array();
  return w.text();
}

}  // namespace

int gpus_command(const std::vector<std::string>& arguments) {
  info_options o;
  std::string help;
  if (parse_gpus(arguments, o, help)) return print(help), 0;
  json_writer w;
  w.begin_array();
  std::string table = fmt::format("{:<12}{:>4}{:>5}{:>7}{:>10}{:>9}{:>11}{:>9}{:>9}\n", "name", "CC", "SMs", "MHz",
                                  "FP32/SM", "warps/SM", "shared KiB", "L2 KiB", "GB/s");
  const std::vector<std::string> names = shipped_gpus();
  if (names.empty()) throw input_error(no_shipped_gpus());
  for (const auto& name : names) {
    const gpu_config c = load_config(name);
    write_gpu(w, c);
    table +=
        fmt::format("{:<12}{:>4}{:>5}{:>7.6g}{:>10}{:>9}{:>11}{:>9}{:>9.4g}\n", printable(name),
                    compute_capability_text(c), c.gpu.sm_count, c.gpu.core_clock_mhz, fp32_lanes(c), c.sm.max_warps,
                    c.shared_memory.size_bytes / 1024, c.l2.size_bytes / 1024, memory_bandwidth(c) * 1e-9);
  }
  w.end_array();
  print(o.json ? w.text() : table);
  return 0;
}

gpu_config machine_of(const info_options& o) {
  config_reading how;
  gpu_config config = load_config(o.gpu, o.overrides, how);
  warn_of_former_names(how.former_names);
  return config;
}

int config_command(const std::vector<std::string>& arguments) {
  info_options o;
  std::string help;
  if (parse_config(arguments, o, help)) return print(help), 0;
  const gpu_config config = machine_of(o);
  print(o.describe ? to_described_ini(config) : to_ini(config));
  return 0;
}

int disasm_command(const std::vector<std::string>& arguments) {
  info_options o;
  std::string help;
  if (parse_disasm(arguments, o, help)) return print(help), 0;
  const gpu_config config = machine_of(o);
  auto ast = ptx::parse(read_file_or_stream(o.file, "disasm"), o.file);
  const std::uint64_t constants =
      isa::heap_base + (ptx::global_bytes(*ast).all + 255) / 256 * 256;  // as on a GPU that holds only this module
  const auto module = ptx::place(std::move(ast), isa::heap_base, constants);
  auto names = ptx::kernels(*module.ast);
  if (!o.kernel.empty()) names = {o.kernel};
  if (names.empty()) throw input_error(o.file + ": the module has no kernel");
  if (o.json) return print(kernels_json(module, names, config)), 0;
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : "\n") + listing(*ptx::lower(module, name, config));
  print(text);
  return 0;
}

int occupancy_command(const std::vector<std::string>& arguments) {
  info_options o;
  std::string help;
  if (parse_occupancy(arguments, o, help)) return print(help), 0;
  const gpu_config config = machine_of(o);
  block_demand demand;
  demand.threads = o.threads;
  demand.registers_per_thread = o.registers;
  demand.shared_bytes = o.shared_bytes;
  demand.carveout_percent = o.carveout;
  const occupancy_result result = compute(config, demand);
  std::optional<std::uint64_t> clusters;
  if (o.cluster_blocks != 0)
    clusters = o.cluster_blocks > std::max(1u, config.cluster.max_blocks)
                   ? 0
                   : max_active_clusters(config, result.blocks_per_sm, o.cluster_blocks);
  print(o.json ? occupancy_json(result, clusters) : occupancy_table(result, config, clusters));
  return 0;
}

}  // namespace heddle::testbench
