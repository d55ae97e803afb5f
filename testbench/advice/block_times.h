// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/advice/time_model.h"

namespace heddle::testbench {

/// How long blocks last, in core cycles, and what keeps the kernel longer.
struct block_times {
  double kernel = 0;
  double block = 0;  // mean, from a block's start to its end
  double ended = 0;  // share of it in which a warp has ended, on average
  double waves = 0, whole_waves = 0;
  double start = 0;   // until as many warps are there as ever
  double sm = 0;      // mean time in which an SM has blocks, of those that ever have
  double late = 0;    // the longest such time of an SM with the mean of instructions or less; 0: unknown
  double queues = 0;  // share of a warp's time in which it waits behind others

  explicit block_times(const time_model& t);
  /// The time that blocks of equal length would take.
  [[nodiscard]] double even() const;
  /// The time of the last wave beyond its share of a full one. Its blocks are shorter, since fewer wait less behind
  /// each other.
  [[nodiscard]] double partial() const;
  /// The time that SMs with as much to do would take, where some have a block more than others. Within an SM blocks end
  /// one after another even if they are equal, since schedulers prefer some warps. An SM that has no more than the mean
  /// to do and is late all the same waits for something else, and gets no less to do.
  [[nodiscard]] double even_sms(double blocks, double sms) const;
};

}  // namespace heddle::testbench
