// SPDX-License-Identifier: MIT
// report_picture PAGE.html WIDTH light|dark TOP HEIGHT OUTPUT.png: a browser's picture of a report, for
// docs/use/report.md. A separate program, so that the pictures can be made again; not a test.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/system/common/browser.h"

int main(int argc, char* argv[]) {
  if (argc != 7) {
    std::fputs("usage: report_picture PAGE.html WIDTH light|dark TOP HEIGHT OUTPUT.png\n", stderr);
    return 2;
  }
  try {
    heddle::tests::browser chromium(heddle::tests::browser::program(), std::filesystem::temp_directory_path());
    chromium.open(std::filesystem::absolute(argv[1]), static_cast<unsigned>(std::atoi(argv[2])),
                  std::string(argv[3]) == "dark");
    std::ofstream(argv[6], std::ios::binary)
        << chromium.picture(static_cast<unsigned>(std::atoi(argv[4])), static_cast<unsigned>(std::atoi(argv[5])));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "report_picture: %s\n", e.what());
    return 1;
  }
  return 0;
}
