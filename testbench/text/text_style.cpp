// SPDX-License-Identifier: MIT
#include "testbench/text/text_style.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace heddle::testbench {

text_style style_of(int stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  text_style style;
  style.colour = ::isatty(stream) && !(no_color && *no_color) && terminal && std::strcmp(terminal, "dumb") != 0;
  return style;
}

text_style stdout_style() { return style_of(STDOUT_FILENO); }

}  // namespace heddle::testbench
