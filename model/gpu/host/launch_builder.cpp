// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/launch_builder.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/gpu/host/launch_check.h"

namespace heddle {

namespace {
constexpr std::uint64_t constant_bank_bytes = 65536;
// Local memory of recorded launches lies above all addresses that programs use.
constexpr std::uint64_t recorded_local_base = std::uint64_t{1} << 47;
constexpr std::uint64_t recorded_local_bytes = std::uint64_t{1} << 40;  // per stream
template <class T>
simt::dim3 dim3_of(const T v[3]) {
  return {static_cast<std::uint32_t>(v[0]), static_cast<std::uint32_t>(v[1]), static_cast<std::uint32_t>(v[2])};
}
}  // namespace

std::uint64_t local_base_of(const sass_trace::kernel_header& h, std::uint64_t stream) {
  return h.own ? h.local_address : recorded_local_base + stream % 64 * recorded_local_bytes;
}

// Running launches keep the table that they started with. A handle is an index into the table, counted from 1.
std::uint64_t launch_builder::create_texture(const create_texture_descriptor& d) {
  simt::texture_descriptor t;
  t.address = d.address;
  t.width = d.width;
  t.height = d.height;
  t.depth = d.depth;
  t.type = static_cast<simt::texel_type>(d.type);
  t.channels = d.channels;
  t.linear = d.linear != 0;
  t.normalized = d.normalized != 0;
  t.pitch_bytes = d.pitch_bytes;
  for (unsigned k = 0; k < 3; ++k) t.mode[k] = static_cast<simt::texture_address>(d.mode[k]);
  t.levels = std::max<std::uint8_t>(d.levels, 1);
  t.levels_linear = d.levels_linear != 0;
  t.bias = d.bias;
  t.least_level = d.least_level;
  t.most_level = d.most_level;
  std::copy(std::begin(d.further), std::end(d.further), t.further.begin());
  simt::check_texture(t);
  auto table = textures_ ? std::make_shared<simt::texture_table>(*textures_) : std::make_shared<simt::texture_table>();
  table->push_back(t);
  textures_ = std::move(table);
  return textures_->size();
}

void launch_builder::add_client(resident_launch& l) const {
  const client_register c(client_);
  l.client = c.client;
  l.client_sms = c.sms;
  l.partition = c.partition;
  if (l.partition > config_.partitions.size())
    throw input_error("the GPU has no partition " + std::to_string(l.partition));
}

std::uint64_t launch_builder::workspace_of(std::uint32_t client) const {
  auto found = workspaces_.find(client);
  if (found == workspaces_.end()) found = workspaces_.find(0);
  return found != workspaces_.end() ? found->second : 0;
}

std::shared_ptr<resident_launch> launch_builder::prepared(const launch_descriptor& d, std::uint32_t launch) {
  const auto name = memory_.fetch(d.kernel_address, d.kernel_bytes, host_memory::most_name, "kernel name");
  auto l = std::make_shared<resident_launch>();
  l->decoded = modules_.program(d.module, std::string(name.begin(), name.end()), d.max_registers);
  l->program = l->decoded->program;
  l->block = {d.block[0], d.block[1], d.block[2]};
  l->stream = d.stream;
  l->priority = d.priority;
  l->programmatic = d.programmatic != 0;
  l->carveout_percent = d.carveout_percent;
  l->dynamic_shared_bytes = d.dynamic_shared_bytes;
  l->shared_bytes = l->program->shared_bytes + d.dynamic_shared_bytes;
  l->local_base = d.local_address;
  const cluster_request cluster{{d.cluster[0], d.cluster[1], d.cluster[2]}, d.non_portable_cluster != 0};
  add_client(*l);
  check_launch(config_, *l->program, d.grid, d.block, d.dynamic_shared_bytes, d.carveout_percent, cluster,
               {l->client_sms, l->partition});
  const launch_shape shape = shape_of(*l->program, d.grid, cluster);
  l->grid = dim3_of(shape.grid);
  l->cluster = dim3_of(shape.cluster);
  l->explicit_cluster = shape.explicit_cluster;
  l->reaches_cluster = l->cluster_blocks() > 1 && l->program->leaves_block;
  if (d.parameter_bytes != l->program->parameter_bytes)
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.parameter_bytes) +
                      " bytes of parameters, expected " + std::to_string(l->program->parameter_bytes));
  auto& bank = l->banks[0];
  bank.assign(isa::bank0::parameters + d.parameter_bytes, 0);
  const auto put32 = [&](std::uint32_t at, std::uint32_t v) { std::memcpy(&bank[at], &v, sizeof v); };
  const auto put64 = [&](std::uint32_t at, std::uint64_t v) { std::memcpy(&bank[at], &v, sizeof v); };
  for (unsigned i = 0; i < 3; ++i) {
    put32(isa::bank0::ntid + 4 * i, d.block[i]);
    put32(isa::bank0::nctaid + 4 * i, static_cast<std::uint32_t>(shape.grid[i]));
    put32(isa::bank0::cluster_nctaid + 4 * i, shape.cluster[i]);
    put32(isa::bank0::nclusterid + 4 * i, static_cast<std::uint32_t>(shape.grid[i] / shape.cluster[i]));
  }
  put32(isa::bank0::cluster_nctarank, l->cluster_blocks());
  put32(isa::bank0::explicit_cluster, l->explicit_cluster);
  put64(isa::bank0::shared_window, isa::shared_window_base);
  put64(isa::bank0::local_window, isa::local_window_base);
  put32(isa::bank0::dynamic_shared, d.dynamic_shared_bytes);
  if (const std::uint64_t workspace = workspace_of(l->client); workspace != 0)
    put64(isa::bank0::grid_workspace, workspace + launch % workspace_slots * workspace_bytes);
  const auto parameters = memory_.fetch(d.parameter_address, d.parameter_bytes, d.parameter_bytes, "parameters");
  std::copy(parameters.begin(), parameters.end(), bank.begin() + isa::bank0::parameters);
  l->banks[2] = l->program->bank2;
  l->textures = textures_;
  const auto [constants, bytes] = modules_.constants(d.module);
  invariant(bytes <= constant_bank_bytes, "a module has more constant memory than a bank holds");
  l->banks[3] = memory_.fetch(constants, bytes, constant_bank_bytes, "constants");
  l->sm_count = config_.gpu.sm_count;
  l->warps_per_sm = config_.sm.max_warps;
  return l;
}

std::shared_ptr<resident_launch> launch_builder::recorded(const launch_recording_descriptor& d,
                                                          const sass_trace::trace_kernel& kernel) {
  const sass_trace::kernel_header& h = kernel.header;
  auto l = std::make_shared<resident_launch>();
  l->program = kernel.program;
  l->dynamic_shared_bytes = h.shared_bytes - l->program->shared_bytes;
  check_launch(config_, *l->program, h.grid, h.block, l->dynamic_shared_bytes, d.carveout_percent);
  l->decoded = modules_.recorded(l->program);
  l->grid = {h.grid[0], h.grid[1], h.grid[2]};
  l->block = {h.block[0], h.block[1], h.block[2]};
  l->stream = d.stream;
  l->priority = d.priority;
  l->carveout_percent = d.carveout_percent;
  l->shared_bytes = h.shared_bytes;
  add_client(*l);
  l->local_base = local_base_of(h, d.stream);
  l->sm_count = config_.gpu.sm_count;
  l->warps_per_sm = config_.sm.max_warps;
  return l;
}

}  // namespace heddle
