// SPDX-License-Identifier: MIT
// How the host's instructions are divided among the folders of the source tree.
#include "tests/bench/callgrind_profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using bench::part;
using bench::part_of;

/// All C++ files of these folders, relative to the root of the source tree.
std::vector<std::string> sources() {
  std::vector<std::string> all;
  for (const char* top : {"model", "tlm", "testbench"})
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(fs::path(HEDDLE_SOURCE) / top)) {
      const std::string kind = e.path().extension().string();
      if (kind == ".h" || kind == ".cpp" || kind == ".inc")
        all.push_back(e.path().lexically_relative(HEDDLE_SOURCE).generic_string());
    }
  return all;
}

TEST(callgrind_profile, each_path_that_is_told_apart_is_there) {
  const std::vector<std::string> files = sources();
  for (const std::string& path : bench::paths_of_parts()) {
    bool found = false;
    for (const std::string& file : files) found |= file.rfind(path, 0) == 0;
    EXPECT_TRUE(found) << "no file has a path that begins with '" << path << "'";
  }
}

// Headers are included by links below the build's include/heddle.
TEST(callgrind_profile, a_header_counts_the_same_by_each_of_its_paths) {
  for (const std::string& file : sources()) {
    const part here = part_of("heddle", "/home/me/heddle/" + file);
    EXPECT_NE(here, part::count) << file;
    EXPECT_EQ(part_of("heddle", file), here) << file;
    const bool model = file.rfind("model/", 0) == 0;
    if (!model && file.rfind("tlm/", 0) != 0) continue;
    const std::string name = model ? file.substr(6) : file;
    EXPECT_EQ(part_of("heddle", "/home/me/heddle/build/release/include/heddle/" + name), here) << file;
  }
}

TEST(callgrind_profile, parts_are_folders) {
  const std::map<std::string, part> expected = {
      {"/usr/include/c++/11/bits/stl_vector.h", part::count},
      {"/usr/include/sysc/kernel/sc_event.h", part::kernel},
      {"/usr/include/tlm_core/tlm_2/tlm_2_interfaces/tlm_fw_bw_ifs.h", part::kernel},
      {"/b/include/heddle/simt/warp/lanes.h", part::function},
      {"/b/include/heddle/sub_partition/account/issue_counters.h", part::observers},
      {"/b/include/heddle/sub_partition/sub_partition.h", part::issue},
      {"/b/include/heddle/sm/load_store_unit.h", part::memory},
      {"/b/include/heddle/tlm/kernel/ring.h", part::kernel},
      {"/b/include/heddle/tlm/port/at_target_port.h", part::kernel},
      {"/b/include/heddle/tlm/protocol/l1_protocol.h", part::memory},
      {"/b/include/heddle/tlm/protocol/issue_protocol.h", part::issue},
  };
  for (const auto& [file, is] : expected) EXPECT_EQ(part_of("heddle", file), is) << file;
  EXPECT_EQ(part_of("/usr/lib/libsystemc-2.3.3.so", "???"), part::kernel);
}

}  // namespace
