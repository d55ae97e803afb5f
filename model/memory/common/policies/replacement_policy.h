// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "heddle/config/choices.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Chooses the line of a set that a cache replaces. The cache keeps the lines of a set in an order, of which an
/// allocated line is the last.
class replacement_policy {
 public:
  virtual ~replacement_policy() = default;
  /// True if a use, too, makes a line the last in the order. Does not change.
  [[nodiscard]] virtual bool renews() const = 0;
  /// True if the first line in the order that may be replaced is replaced. If not, an empty line is, or else choose()
  /// is asked. Does not change.
  [[nodiscard]] virtual bool in_order() const { return true; }
  /// One of `candidates` lines, at least one, that may be replaced: 0 is that of the lowest way.
  virtual unsigned choose(unsigned candidates) {
    (void)candidates;
    return 0;
  }
  /// A policy with state describes it here.
  virtual void exchange(state_image& image) { static_cast<void>(image); }
};

/// Creates the policy of a name. Each policy's source file specialises it; the names are in parameter_list.h.
template <choice::replacement name>
[[nodiscard]] std::unique_ptr<replacement_policy> create_replacement_policy();
#define HEDDLE_X(name) \
  template <>          \
  std::unique_ptr<replacement_policy> create_replacement_policy<choice::replacement::name>();
HEDDLE_REPLACEMENTS(HEDDLE_X)
#undef HEDDLE_X

/// Creates the policy of `l1.replacement` or `l2.replacement`.
[[nodiscard]] std::unique_ptr<replacement_policy> make_replacement_policy(choice::replacement which);

}  // namespace heddle
