// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/system/common/browser.h"

namespace heddle::tests {

/// speedscope in a headless Chromium, with a timeline loaded. All functions throw std::runtime_error.
class speedscope {
 public:
  /// The page installed by `./dev viewers` or named by $HEDDLE_SPEEDSCOPE; empty: none.
  static std::string page();

  /// Opens the page and drops a timeline file onto it, as a user does with the mouse.
  speedscope(browser& chromium, const std::string& file, unsigned width);

  /// The imported data in speedscope's own export format: one profile per track, and the frames.
  nlohmann::json exported();
  /// The visible track, such as "gtx1080 (pid 0), stream 0 (tid 0)".
  std::string track();
  /// Switches to the next track.
  void next();
  /// The number of pixels of text that is drawn over the slices.
  unsigned drawn();

 private:
  browser& chromium_;
};

}  // namespace heddle::tests
