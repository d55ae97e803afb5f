// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/isa/program.h"

namespace heddle::sanitize {

/// Whether it arrives at an mbarrier.
inline bool is_arrival(const isa::instruction& i) {
  return isa::is_atomic(i.op) && static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::arrive;
}

/// Which instructions of a program belong together: those of st.async, red.async and cp.async.mbarrier.arrive are
/// several, with one place in the PTX. What they write is in flight until its end is known at the mbarrier.
class copy_signals {
 public:
  void begin(const isa::program& p);
  /// st.async, red.async: the store.
  [[nodiscard]] bool sends(std::uint32_t index) const { return has(index, send); }
  [[nodiscard]] bool any_sends() const { return any_sends_; }
  /// The arrival that tells of its end, or of the end of copies (cp.async).
  [[nodiscard]] bool ends_sent(std::uint32_t index) const { return has(index, end_sent); }
  [[nodiscard]] bool ends_copies(std::uint32_t index) const { return has(index, end_copies); }
  /// The thread hands its copies (cp.async) over to an mbarrier.
  [[nodiscard]] bool hands_over(std::uint32_t index) const { return has(index, hand_over); }
  /// The same, and the program arrives there by itself, at any mbarrier.
  [[nodiscard]] bool leaves_arrival(std::uint32_t index) const { return has(index, leave_arrival); }
  /// A wait for copies that is the machine's alone.
  [[nodiscard]] bool is_no_wait(std::uint32_t index) const { return has(index, no_wait); }
  /// The program waits for groups of copies.
  [[nodiscard]] bool any_waits() const { return any_waits_; }

 private:
  enum role : std::uint8_t { send = 1, end_sent = 2, end_copies = 4, hand_over = 8, leave_arrival = 16, no_wait = 32 };
  [[nodiscard]] bool has(std::uint32_t index, role r) const { return !roles_.empty() && (roles_[index] & r) != 0; }
  std::vector<std::uint8_t> roles_;  // by instruction; empty: none has one
  bool any_sends_ = false, any_waits_ = false;
};

}  // namespace heddle::sanitize
