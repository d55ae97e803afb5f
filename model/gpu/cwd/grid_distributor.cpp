// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/grid_distributor.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

bool calls_runtime(const resident_launch& launch) {
  return launch.decoded && std::any_of(launch.decoded->code.begin(), launch.decoded->code.end(),
                                       [](const decoded_instruction& d) { return d.kind == issue_kind::system_call; });
}

grid_distributor::grid_distributor(sc_core::sc_module_name name, const gpu_config& config) : sc_module(name) {
  for (unsigned i = 0; i < config.gpu.sm_count; ++i) cta_socket.emplace_back(part_name{"cta_socket_", this, i});
}

void grid_distributor::hand_over(std::uint32_t launch, std::shared_ptr<const isa::recorded_block> block) {
  grid_record& g = grids_.at(launch);
  invariant(g.next_block == nullptr, "a block was handed to the CWD before the one before it was dispatched");
  g.next_block = std::move(block);
}

void grid_distributor::keep(std::uint32_t launch, std::shared_ptr<const ended_profile> counts) {
  grids_.at(launch).ended = std::move(counts);
}

void grid_distributor::end(grid_record& grid, cycle_t cycle) {
  grid.end_cycle = cycle;
  grid.finished = true;
  --unfinished_;
  end_order_.push_back(grid.launch->launch_id);
}

void grid_distributor::count_client(const simt::launch_context& launch, unsigned sm, bool comes) {
  if (launch.client == 0) return;
  client_use& use = clients_[launch.client];
  if (use.blocks.empty()) use.blocks.resize(cta_socket.size());
  if (comes && use.blocks[sm]++ == 0) use.most_sms = std::max(use.most_sms, ++use.sms);
  if (!comes && --use.blocks[sm] == 0) --use.sms;
}

void grid_distributor::sample_blocks(double, sampled_cache&) {
  throw input_error("this GPU's CWD cannot leave blocks out");
}

void grid_distributor::preempt(const preempt_request&) { throw input_error("this GPU's CWD cannot preempt SMs"); }

}  // namespace heddle
