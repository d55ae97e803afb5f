// SPDX-License-Identifier: MIT
// Runs do not go on with a trace, or by a program, other than those that they began with.
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testbench/sweep/plan/sha256.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"
#include "tests/system/run/replay_fixture.h"

namespace changed_program_test {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;
using json = nlohmann::json;

class changed : public ::testing::Test {
 protected:
  changed()
      : place_(fs::path(HEDDLE_SCRATCH "/changed") / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  outcome heddle(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
    heddle::test::program_start how;
    how.folder = place_;
    return heddle::test::run_program(arguments, how);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }
  void refused(const std::string& part) const {
    const outcome o = heddle({"resume", "c", "--metrics", "m.json"});
    EXPECT_EQ(2, o.code) << o.err;
    EXPECT_NE(std::string::npos, o.err.find(part)) << o.err;
    EXPECT_FALSE(fs::exists(place_ / "m.json"));
  }
  fs::path place_;
};

// 300 KB of a trace, of which the last address is changed, and nothing that a folder shows.
TEST_F(changed, a_trace_is_compared_as_a_whole) {
  replay_fixture::kernel k;
  replay_fixture::warp_lines lines;
  for (unsigned n = 0; n < 5000; ++n) lines.mem("LDG.E.SYS", 2, {4}, 4, "0x7f4000000000", 4);
  k.threads = 32;
  k.block({lines.mem("STG.E.SYS", -1, {8, 5}, 4, "0x7f4200000000", 4).exit()});
  const fs::path trace = place_ / "kernel-1.traceg";
  const std::string text = k.text();
  write("kernel-1.traceg", text);
  write("kernelslist.g", "kernel-1.traceg\n");
  ASSERT_EQ(1, heddle({"replay", "kernelslist.g", "--gpu", "v100", "--quiet", "--checkpoint", "c", "--checkpoint-every",
                       "2000", "--max-cycles", "6000"})
                   .code);
  const fs::file_time_type time = fs::last_write_time(trace);
  std::string other = text;
  other[text.find("0x7f4200000000") + 5] = '3';
  write("kernel-1.traceg", other);
  fs::last_write_time(trace, time);
  refused("'kernel-1.traceg' has changed since the checkpoint was written");
  write("kernel-1.traceg", text);
  EXPECT_EQ(0, heddle({"resume", "c", "--max-cycles", "100000000"}).code);
}

// The checkpoint with another description.
std::string described(const std::string& checkpoint, const std::string& key, const std::string& value) {
  const std::size_t line = checkpoint.find('\n') + 1, begin = line + sizeof(heddle::testbench::sha256::digest);
  std::string all(ZSTD_getFrameContentSize(checkpoint.data() + begin, checkpoint.size() - begin), '\0');
  ZSTD_decompress(all.data(), all.size(), checkpoint.data() + begin, checkpoint.size() - begin);
  std::uint64_t length = 0;
  std::memcpy(&length, all.data(), sizeof length);
  json about = json::parse(all.substr(sizeof length, length));
  about.at(key) = value;
  const std::string text = about.dump();
  const std::uint64_t longer = text.size();
  all.replace(0, sizeof length + length, std::string(reinterpret_cast<const char*>(&longer), sizeof longer) + text);
  std::string packed(ZSTD_compressBound(all.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), all.data(), all.size(), 1));
  const auto digest = heddle::testbench::sha256().update(packed.data(), packed.size()).finish();
  return checkpoint.substr(0, line) + std::string(digest.begin(), digest.end()) + packed;
}

TEST_F(changed, a_program_of_other_source_does_not_go_on) {
  ASSERT_EQ(1, heddle({"run", HEDDLE_WORKLOADS "/bfs/job.json", "--gpu", "gtx1080", "--quiet", "--checkpoint", "c",
                       "--checkpoint-every", "3000", "--max-cycles", "9000"})
                   .code);
  const std::string good = content(place_ / "c");
  write("c", described(good, "program", std::string(64, '0')));
  refused("built from other source, whose state may mean something else to this one");
  write("c", described(good, "version", "0.0.9"));
  refused("the checkpoint is of Heddle 0.0.9");
  write("c", good);
  EXPECT_EQ(0, heddle({"resume", "c", "--max-cycles", "1000000000"}).code);
}

}  // namespace changed_program_test
