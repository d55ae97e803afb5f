// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/system/common/browser.h"

namespace heddle::tests {

/// speedscope in a headless Chromium, with a timeline in it. Everything throws std::runtime_error.
class speedscope {
 public:
  /// Its page, as `./dev viewers` brings it or $HEDDLE_SPEEDSCOPE names it; empty: it is not here.
  static std::string page();

  /// Opens the page and drops a timeline into it, as a person does with the mouse.
  speedscope(browser& chromium, const std::string& file, unsigned width);

  /// What it took from the file, by its own export: profiles, a track each, and the frames that they name.
  nlohmann::json exported();
  /// The track that is on the screen, such as "gtx1080 (pid 0), stream 0 (tid 0)".
  std::string track();
  /// Goes on to the track after it.
  void next();
  /// Pixels of words that are drawn over the slices.
  unsigned drawn();

 private:
  browser& chromium_;
};

}  // namespace heddle::tests
