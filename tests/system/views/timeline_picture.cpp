// SPDX-License-Identifier: MIT
// A picture of a timeline in speedscope, for the documentation: timeline_picture TIMELINE.json TRACK WIDTH HEIGHT
// OUTPUT.png, where TRACK is a part of the track's name.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/system/common/speedscope.h"

int main(int argc, char* argv[]) {
  if (argc != 6) {
    std::fputs("usage: timeline_picture TIMELINE.json TRACK WIDTH HEIGHT OUTPUT.png\n", stderr);
    return 2;
  }
  try {
    heddle::tests::browser chromium(heddle::tests::browser::program(), std::filesystem::temp_directory_path());
    const auto width = static_cast<unsigned>(std::atoi(argv[3]));
    heddle::tests::speedscope viewer(chromium, argv[1], width);
    for (std::string first = viewer.track(); viewer.track().find(argv[2]) == std::string::npos;) {
      viewer.next();
      if (viewer.track() == first) throw std::runtime_error(std::string("no track has '") + argv[2] + "' in its name");
    }
    chromium.change(width, false);
    std::ofstream(argv[5], std::ios::binary) << chromium.picture(0, static_cast<unsigned>(std::atoi(argv[4])));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "timeline_picture: %s\n", e.what());
    return 1;
  }
  return 0;
}
