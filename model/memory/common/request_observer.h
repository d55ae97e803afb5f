// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

struct gpu_request;
struct lsu_transaction;

/// Observes the progress of warp instructions' requests through the memory system.
class request_observer {
 public:
  virtual ~request_observer() = default;
  /// The L1 cannot serve the whole access: it has sent a request to the L2, or waits for a pending fill.
  virtual void left_l1(const lsu_transaction& transaction) = 0;
  /// A request has arrived in an L2 slice. Its token identifies the waiting accesses in the SM's L1.
  virtual void reached_l2(const gpu_request& request) = 0;
  /// The request waits in the L2 slice for the memory.
  virtual void reached_memory(const gpu_request& request) = 0;
};

}  // namespace heddle
