// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "heddle/config/config.h"
#include "heddle/config/dram_standard.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu.h"
#include "heddle/simt/texture/texture.h"
#include "testbench/exec/cuda_session.h"
#include "testbench/options/log.h"
#include "testbench/run/run_signals.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// An address range that no program uses, so that an address is the same for the program and the GPU: between the areas
// of the linker and of mmap(), and outside a sanitizer's shadow memory.
constexpr std::uint64_t first_address = std::uint64_t{1} << 45;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

double dram_gigabytes_per_second(const gpu_config& c) {
  if (c.memory.model != choice::memory_model::dram)
    return c.memory.channels * c.memory.bytes_per_cycle * c.gpu.core_clock_mhz / 1000;
  return c.memory.channels * c.dram.bytes_per_cycle * c.dram.clock_mhz / 1000;
}

/// Bits that a pin transfers in a cycle of dram.clock_mhz.
unsigned transfers_per_cycle(const gpu_config& c) {
  if (c.memory.model != choice::memory_model::dram) return 2;
  const std::string type = c.dram.standard == choice::dram_standard::generic ? preset_of(c.dram.preset).name
                                                                             : standard_of(c.dram.standard).memory.name;
  if (type == "gddr5") return 4;
  return type.compare(0, 4, "gddr") == 0 ? 8 : 2;
}

}  // namespace

cuda_machine::process_share cuda_machine::share_of(const std::string& text) {
  constexpr const char* variable = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
  constexpr double rounding = 1e-9;
  process_share p;
  const unsigned all = chip.config().gpu.sm_count;
  p.sms = all;
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  // MPS limits clients from Volta on.
  p.limited = !text.empty() && *end == '\0' && percent > 0 && percent < 100 && compute_capability(chip.config()) >= 70;
  if (p.limited) p.sms = static_cast<unsigned>(std::max(1.0, std::ceil(all * percent / 100 - rounding)));
  else if (!text.empty() && !(percent == 100 && *end == '\0') && warned.insert(variable).second)
    message_log::warning(
        std::string(variable) + " = " + printable(text) +
        " has no effect: expected a number above 0, up to 100, and a GPU of compute capability 7.0 or later");
  return p;
}

unsigned cuda_machine::join(const std::string& program, process_share p) {
  const auto is_taken = [this](const std::string& name) {
    return std::any_of(processes.begin(), processes.end(), [&](const process_share& o) { return o.name == name; });
  };
  p.name = program;
  for (unsigned n = 2; is_taken(p.name); ++n) p.name = program + " " + std::to_string(n);
  processes.push_back(p);
  return static_cast<unsigned>(processes.size());
}

std::vector<client_metrics> cuda_machine::clients() const {
  std::vector<client_metrics> all;
  const bool any_limit =
      std::any_of(processes.begin(), processes.end(), [](const process_share& p) { return p.limited; });
  if (processes.size() < 2 && !any_limit) return all;
  for (const process_share& p : processes) {
    client_metrics& c = all.emplace_back();
    c.name = p.name;
    c.sms = p.sms;
  }
  return all;
}

cuda_machine::cuda_machine(const run_options& o, const gpu_config& config)
    : chosen(o.chosen),
      chip(o, config, first_address, &in_place),
      // A copy within device memory reads and writes each byte.
      queues("queues", chip.driver(), config.host_link, dram_gigabytes_per_second(config) / 2, o.cold, chip.checks(),
             *this),
      memory(chip.driver(), config.memory.capacity_mib * mebibyte, o.exact_bounds, chip.checks()) {
  chip.driver().observe(*this);
  chip.serve(o.arguments.empty() ? "program" : o.arguments[0], *this);
}

void cuda_machine::kernel_begins(const queue_operation& op) {
  if (positions.size() <= op.launch) positions.resize(op.launch + 1);
  positions[op.launch] = op.call;
  chip.launched();
}

const std::string* cuda_machine::module_text(const std::string& file) const {
  const auto found = sources.find(file);
  return found != sources.end() ? &found->second : nullptr;
}

// NVIDIA, Multi-Process Service, "Volta MPS Execution Resource Provisioning": the attribute of the multiprocessors
// reflects the portion that the client may use.
wire::device_info cuda_machine::info(const process_share& share) const {
  const gpu_config& c = chip.config();
  wire::device_info d{};
  std::snprintf(d.name, sizeof d.name, "%s (Heddle)", c.gpu.name.c_str());
  d.major = compute_capability(c) / 10;
  d.minor = compute_capability(c) % 10;
  d.sms = static_cast<std::int32_t>(share.sms);
  d.clock_khz = static_cast<std::int32_t>(c.gpu.core_clock_mhz * 1000);
  // As in data sheets: the width is the number of pins, and each transfers two bits in a cycle of the memory clock.
  const double transfers_mhz = c.dram.clock_mhz * transfers_per_cycle(c);
  d.memory_clock_khz = static_cast<std::int32_t>(std::lround(transfers_mhz / 2 * 1000));
  d.memory_bus_bits = static_cast<std::int32_t>(std::lround(dram_gigabytes_per_second(c) * 8000 / transfers_mhz));
  d.max_threads_per_sm = static_cast<std::int32_t>(c.sm.max_threads);
  d.max_blocks_per_sm = static_cast<std::int32_t>(c.sm.max_blocks);
  d.max_threads_per_block = static_cast<std::int32_t>(c.sm.max_threads_per_block);
  d.registers_per_sm = static_cast<std::int32_t>(c.sm.registers);
  d.registers_per_block = static_cast<std::int32_t>(c.sm.registers_per_block);
  d.shared_per_sm = static_cast<std::int32_t>(c.shared_memory.size_bytes);
  d.shared_per_block = static_cast<std::int32_t>(c.shared_memory.max_per_block_bytes);
  d.shared_per_block_optin =
      static_cast<std::int32_t>(std::max(c.shared_memory.opt_in_per_block_bytes, c.shared_memory.max_per_block_bytes));
  d.reserved_shared_per_block = static_cast<std::int32_t>(c.shared_memory.reserved_per_block_bytes);
  d.l2_bytes = static_cast<std::int32_t>(c.l2.size_bytes);
  d.max_resident_grids = static_cast<std::int32_t>(c.cwd.max_resident_grids);
  d.preemption = c.context.preemption == choice::preemption::instruction;
  d.max_cluster_blocks = static_cast<std::int32_t>(c.cluster.max_blocks);
  d.memory_bytes = c.memory.capacity_mib * mebibyte;
  return d;
}

std::uint64_t cuda_machine::texture(const wire::texture_request& r) {
  simt::texture_descriptor d;
  d.address = r.address;
  d.width = r.width;
  d.height = r.height;
  d.depth = r.depth;
  d.type = static_cast<simt::texel_type>(r.type);
  d.channels = r.channels;
  d.linear = r.linear != 0;
  d.normalized = r.normalized != 0;
  for (unsigned k = 0; k < 3; ++k) d.mode[k] = static_cast<simt::texture_address>(r.mode[k]);
  d.pitch_bytes = r.pitch_bytes;
  d.levels = r.levels;
  d.levels_linear = r.levels_linear != 0;
  d.bias = r.bias;
  d.least_level = r.least_level;
  d.most_level = r.most_level;
  std::copy(std::begin(r.further), std::end(r.further), d.further.begin());
  // The GPU's table only grows, and programs create the same texture repeatedly.
  std::uint64_t& handle = textures[wire::writer().put(r).bytes()];
  if (handle == 0) handle = chip.driver().create_texture(d);
  return handle;
}

bool cuda_machine::reaches(std::uint64_t cycle) const {
  return chip.clock().cycle() >= cycle ||
         (sc_core::sc_pending_activity() &&
          sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity() > chip.clock().time_of(cycle));
}

std::uint64_t cuda_machine::launches_have_taken(std::uint64_t cycles) {
  const grid_distributor& cwd = chip.chip().cwd();
  if (cwd.blocks_completed() == cwd.blocks_submitted()) return never;
  const std::uint64_t first = cwd.grids().front().doorbell_cycle;
  return first + std::min(cycles, never - first);
}

void cuda_machine::restart() {
  const sc_core::sc_time question(1, sc_core::SC_US);
  for (bool begin = true; reset(chip.driver(), begin); begin = false) {
    const sc_core::sc_time end = sc_core::sc_time_stamp() + question;
    // It is paused now and then for the programs' calls.
    while (!chip.run_for(end - sc_core::sc_time_stamp()) && !run_signals::pending()) continue;
    machine::advance_time(end);
  }
  memory.restart();
  textures.clear();
  texts.clear();
}

std::int32_t cuda_machine::status_of_fault() const {
  const std::string& text = queues.fault();
  if (text.find("assertion failed") != std::string::npos) return wire::assertion;
  if (text.find("misaligned") != std::string::npos) return wire::misaligned_address;
  for (const char* where : {"address", "is outside the block's", "call stack overflow"})
    if (text.find(where) != std::string::npos) return wire::illegal_address;
  return wire::launch_failed;
}

}  // namespace heddle::testbench
