// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace heddle {
class gpu;
struct client_metrics;
}  // namespace heddle

namespace heddle::testbench {

// What the units do now, as JSON, between two cycles. All SMs must be at the same cycle.

/// {"cycle", "blocks_done", "blocks", "warp_instructions", "launches": [those that have not ended], "sms": [{"blocks",
/// "warps", "issuing", "eligible", "stalled"}], "warp_states": {state: warps}, "places": [{"place", "warps"}]}
/// `clients`: the processes that share the GPU, by their numbers from 1 on, whose name and slice their launches have.
nlohmann::ordered_json state_of(const gpu& g, const std::vector<client_metrics>& clients);
/// {"sm", "warps": [{"warp", "sub_partition", "kernel", "block": [x, y, z], "warp_in_block", "state", "places":
/// [text]}]}; null: there is no SM of this number.
nlohmann::ordered_json state_of_sm(const gpu& g, unsigned number);

}  // namespace heddle::testbench
