// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace heddle {

/// Independent tasks, numbered from 0.
class task_list {
 public:
  virtual ~task_list() = default;
  /// Runs task `number`, on any thread. Must not throw.
  virtual void run_task(std::size_t number) = 0;
};

}  // namespace heddle
