// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

struct gpu_request;
struct lsu_transaction;

/// Hears how far the requests of warp instructions have come in the memory system.
class request_observer {
 public:
  virtual ~request_observer() = default;
  /// The L1 does not have all of it: it has asked the L2, or waits for what is on its way.
  virtual void left_l1(const lsu_transaction& transaction) = 0;
  /// A request is in a slice of the L2; an SM's L1 knows by its token who waits for it.
  virtual void reached_l2(const gpu_request& request) = 0;
  /// It waits there for the memory.
  virtual void reached_memory(const gpu_request& request) = 0;
};

}  // namespace heddle
