// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

struct resident_launch;

/// Interface from the host interface to the GPU that contains it.
class host_supervisor {
 public:
  /// A launch has been accepted and has not begun.
  virtual void launch_accepted(const resident_launch& launch) = 0;
  /// The grid of a launch has ended. The callee must call host_interface::report_end(launch), which tells the host, at
  /// once or later.
  virtual void grid_ended(std::uint32_t launch) = 0;
  /// The host empties the caches while the GPU is idle. The callee must call host_interface::caches_flushed() when they
  /// are empty.
  virtual void flush_caches() = 0;
  /// The host has set the address of the context area.
  virtual void context_area_set(std::uint64_t address) = 0;
  /// The host resets the GPU, which then drops everything and calls host_interface::end_reset(). Ignored during a
  /// reset.
  virtual void reset() = 0;
  /// The reset line is high, also before the GPU has begun the reset at this instant.
  [[nodiscard]] virtual bool held_in_reset() const { return false; }
  /// The host ends a launch. The callee must see that its grid ends.
  virtual void terminate(std::uint32_t launch) = 0;
  /// The simulated program has failed with `message`, which the callee may extend.
  virtual void program_failed(std::string& message) = 0;
  /// True if nothing in the GPU will happen any more, or a reset waits for a silent memory; sets `why` to what waits
  /// for what.
  virtual bool stuck(std::string& why) = 0;

 protected:
  ~host_supervisor() = default;
};

}  // namespace heddle
