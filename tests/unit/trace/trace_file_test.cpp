// SPDX-License-Identifier: MIT
// Traces of a list: read once, forgotten, and opened for their launches.
#include "heddle/frontend/sass_trace/replay/trace_file.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace trace_file_test {

using namespace sass_trace_test;

std::shared_ptr<trace_store> store() { return std::make_shared<trace_store>(64 << 20, 32 << 20); }

std::string text_of_kernel(unsigned loads) {
  std::string lines;
  for (unsigned k = 0; k < loads; ++k) lines += "0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 4 0\n";
  return head().text() + thread_block("0,0,0", warp(0, loads + 1, lines + "0030 ffffffff 0 EXIT 0 0 0\n"));
}

TEST(trace_file, knows_what_a_job_asks_without_being_open) {
  const trace_folder folder;
  head h;
  h.grid = "(3,1,1)";
  h.stream = 7;
  const std::string file =
      folder.write("k.traceg", h.text() + thread_block("1,0,0", warp(0, 1, "0030 ffffffff 0 BARNEW 0 0 0\n")));
  const auto set = std::make_shared<trace_set>(false, store(), 0);
  const trace_file t(file, set);
  EXPECT_EQ(t.kernel(), "_Z4testPf");
  EXPECT_EQ(t.blocks(), 1u);
  EXPECT_EQ(t.traits().grid_blocks(), 3u);
  EXPECT_EQ(t.warp_instructions(), 1u);
  EXPECT_EQ(t.stream(), 7u);
  EXPECT_EQ(t.traits().program.registers, 32u);
  EXPECT_TRUE(t.traits().program.code.empty());
  ASSERT_NE(t.oddities(), nullptr);
  EXPECT_EQ(t.oddities()->warps_without_exit, 1u);
  EXPECT_EQ(t.oddities()->unknown.count("BARNEW"), 1u);
  const trace_file plain(folder.write("p.traceg", text_of_kernel(1)), set),
      same(folder.write("q.traceg", text_of_kernel(2)), set);
  EXPECT_EQ(plain.oddities(), nullptr);
  EXPECT_EQ(&plain.traits(), &same.traits());
}

// Launches of one trace share its program, whether it stayed open between them or not.
TEST(trace_file, is_read_again_for_a_launch) {
  const trace_folder folder;
  const std::string file = folder.write("k.traceg", text_of_kernel(3));
  for (const std::size_t room : {std::size_t{0}, trace_set::usual_open_bytes}) {
    trace_file t(file, std::make_shared<trace_set>(true, store(), room));
    for (unsigned n = 0; n < 3; ++n) t.add_launch();
    std::weak_ptr<const trace_kernel> first = t.open();
    EXPECT_EQ(first.expired(), room == 0);
    const auto program = t.open()->program;
    const auto last = t.open();
    EXPECT_EQ(last->program, program);
    EXPECT_EQ(block_source(last).next()->records(), 4u);
    EXPECT_EQ(t.open(), last);  // a launch more than was announced shares what is open
  }
}

TEST(trace_file, is_forgotten_after_its_last_launch) {
  const trace_folder folder;
  const auto kept = store();
  const auto set = std::make_shared<trace_set>(true, kept);
  const std::size_t room = kept->kept_room();
  trace_file t(folder.write("k.traceg", text_of_kernel(3)), set);
  EXPECT_LT(kept->kept_room(), room);
  t.add_launch();
  std::weak_ptr<const trace_kernel> k;
  {
    const auto launched = t.open();
    k = launched;
  }
  EXPECT_TRUE(k.expired());
  EXPECT_EQ(kept->kept_room(), room);
}

TEST(trace_file, a_file_that_has_changed_is_refused) {
  const trace_folder folder;
  const auto set = std::make_shared<trace_set>(true, store(), 0);
  const std::string file = folder.write("k.traceg", text_of_kernel(3));
  const trace_file t(file, set);
  folder.write("k.traceg", text_of_kernel(4));
  EXPECT_NE(refusal([&] { static_cast<void>(t.open()); }).find("was changed while in use"), std::string::npos);
  std::filesystem::remove(file);
  EXPECT_NE(refusal([&] { static_cast<void>(t.open()); }).find("cannot be read"), std::string::npos);
}

// Lists of a million traces are to fit a gigabyte.
TEST(trace_file, takes_little_memory) {
  const trace_folder folder;
  const std::string file = folder.write("k.traceg", text_of_kernel(20));
  const auto set = std::make_shared<trace_set>(true, store(), 0);
  constexpr std::size_t count = 1000;
  std::vector<std::unique_ptr<trace_file>> all(count + 1);
  all[count] = std::make_unique<trace_file>(file, set);
  const auto used = [] { return static_cast<std::size_t>(::mallinfo2().uordblks); };
  const std::size_t before = used();
  for (std::size_t n = 0; n < count; ++n) all[n] = std::make_unique<trace_file>(file, set);
  EXPECT_LT(used() - before, 400 * count);
}

}  // namespace trace_file_test
}  // namespace heddle::sass_trace
