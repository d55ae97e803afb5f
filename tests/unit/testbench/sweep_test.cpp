// SPDX-License-Identifier: MIT
// Sweep files, their points and constraints, and the stored results.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "heddle/config/error.h"
#include "testbench/sweep/plan/constraint.h"
#include "testbench/sweep/plan/launch_axes.h"
#include "testbench/sweep/plan/metric_leaves.h"
#include "testbench/sweep/plan/point_space.h"
#include "testbench/sweep/plan/sha256.h"
#include "testbench/sweep/plan/sweep_file.h"
#include "testbench/sweep/plan/sweep_plan.h"
#include "testbench/sweep/store/point_claims.h"

namespace sweep_test {

using namespace heddle::testbench;
using values = std::vector<std::string>;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const heddle::input_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

sweep_file parsed(const std::string& rest) {
  return parse_sweep_file("[sweep]\njob = j.json\nstore = s.sqlite\n" + rest, "dir/x.ini");
}

std::string refusal(const std::string& text) {
  return message_of([&] { parse_sweep_file(text, "x.ini"); });
}

TEST(sha256, gives_the_digests_of_the_standard) {
  const auto of = [](const std::string& text) {
    sha256 hash;
    for (const char c : text) hash.update(&c, 1);
    return hex(hash.finish());
  };
  EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(sweep_axes, are_lists_and_ranges) {
  EXPECT_EQ(axis_values("lrr, gto", "x"), (values{"lrr", "gto"}));
  EXPECT_EQ(axis_values("16:128:16", "x").size(), 8u);
  EXPECT_EQ(axis_values("1:6:2, 32", "x"), (values{"1", "3", "5", "32"}));
  EXPECT_EQ(axis_values("8:2:-3", "x"), (values{"8", "5", "2"}));
  EXPECT_EQ(axis_values("7:7:1", "x"), (values{"7"}));
  EXPECT_EQ(axis_values("\"0,8,16\", \"32\"", "x"), (values{"0,8,16", "32"}));
}

TEST(sweep_axes, that_are_empty_or_endless_are_refused) {
  for (const char* text : {"128:16:16", "1:5:0", "5:1", "16:128:-16"}) {
    EXPECT_NE(
        message_of([&] { axis_values(text, "F:1:2"); }).find("F:1:2: the range '" + std::string(text) + "' is empty"),
        std::string::npos)
        << text;
  }
  EXPECT_NE(message_of([] { axis_values("1:99999999999:1", "x"); }).find("more than 1,000,000"), std::string::npos);
  EXPECT_NE(message_of([] { axis_values("1:2:3:4", "x"); }).find("FIRST:LAST:STEP"), std::string::npos);
  EXPECT_NE(message_of([] { axis_values("1::3", "x"); }).find("FIRST:LAST:STEP"), std::string::npos);
  EXPECT_NE(message_of([] { axis_values("a,,b", "x"); }).find("between the commas"), std::string::npos);
  EXPECT_NE(message_of([] { axis_values("\"a", "x"); }).find("not closed"), std::string::npos);
}

TEST(sweep_files, are_refused_with_the_place) {
  EXPECT_EQ(refusal("[sweep]\njob = a\n"), "x.ini: expected 'store = FILE.sqlite' in section [sweep]");
  EXPECT_NE(refusal("[sweep]\nstore = s\n").find("expected one of 'job' and 'trace'"), std::string::npos);
  EXPECT_NE(refusal("[sweep]\nstore = s\njob = a\ntrace = b\n").find("got several"), std::string::npos);
  EXPECT_NE(refusal("[sweep]\nstore = s\njob = a\n[axes]\njob = b\n").find("got several"), std::string::npos);
  EXPECT_EQ(refusal("[sweep]\nstor = s\n"), "x.ini:2:1: unknown key 'stor' in section [sweep], did you mean 'store'?");
  EXPECT_EQ(refusal("[axis]\na = 1\n").substr(0, 9), "x.ini:1:2");
  EXPECT_NE(
      refusal("[sweep]\nstore = s\njob = a\n[axes]\ngpu = a, b, a\n").find("x.ini:5:7: the value 'a' is given twice"),
      std::string::npos);
  EXPECT_NE(refusal("[sweep]\nstore = s\njob = a\n[zip]\na.x = 1, 2\na.y = 1, 2, 3\n").find("of the same [zip] has"),
            std::string::npos);
  EXPECT_NE(refusal("[sweep]\nstore = s\njob = a\ntimeout_seconds = 0\n").find("from 1 to "), std::string::npos);
  EXPECT_EQ(refusal("[sweep]\nstore = s\njob = a\n[axes]\ngpu = \"v100\" x\n"),
            "x.ini:5:7: got '\"v100\" x', expected the whole value between quotation marks");
}

TEST(point_spaces, are_the_product_in_the_order_written_with_zips_as_one_factor) {
  const sweep_file f = parsed(
      "[axes]\ngpu = a, b\n[zip.sizes]\nl1.size_bytes = 1, 2, 3\nl1.ways = 4, 5, 4\n[axes]\nlaunch.block = 64, 128\n");
  EXPECT_EQ(f.name, "x");
  EXPECT_EQ(f.path("j.json"), "dir/j.json");
  const point_space space(f.axes);
  ASSERT_EQ(space.size(), 12u);
  values rows;
  for (std::uint64_t p : {0, 1, 2, 5, 11}) {
    rows.emplace_back();
    for (std::size_t a = 0; a < f.axes.size(); ++a) rows.back() += space.value(p, a) + " ";
  }
  EXPECT_EQ(rows, (values{"a 1 4 64 ", "a 1 4 128 ", "a 2 5 64 ", "a 3 4 128 ", "b 3 4 128 "}));
}

TEST(point_spaces, too_large_to_count_say_so) {
  std::string text = "[axes]\n";
  for (int i = 0; i < 8; ++i) text += "a.k" + std::to_string(i) + " = 1:1000:1\n";
  const sweep_file f = parsed(text);
  EXPECT_EQ(point_space(f.axes).size(), ~std::uint64_t{0});
}

bool holds(const std::string& text) {
  const auto value = [](const std::string& name) -> std::string {
    return name == "gpu" ? "v100" : name == "launch.block" ? "256" : "8";
  };
  return constraint({"c", text, "x.ini:1:1"},
                    [](const std::string& n) { return n == "gpu" || n == "launch.block" || n == "sm.max"; })
      .holds(value);
}

TEST(constraints, compare_compute_and_combine) {
  EXPECT_TRUE(holds("launch.block > 128 and gpu = v100"));
  EXPECT_FALSE(holds("launch.block > 256 and gpu = v100"));
  EXPECT_TRUE(holds("gpu = p100 or launch.block >= 256"));
  EXPECT_TRUE(holds("not (gpu = p100 or gpu = k80)"));
  EXPECT_TRUE(holds("launch.block * sm.max = 2048"));
  EXPECT_TRUE(holds("(launch.block + 6 - 2 * 3) / 2 <= 128"));
  EXPECT_TRUE(holds("((launch.block)) == 256.0 and gpu != \"a b\""));
  EXPECT_TRUE(holds("gpu = p100 and gpu = k80 or sm.max < 9"));  // "and" binds more tightly
  EXPECT_TRUE(holds("-sm.max < 0"));
}

TEST(constraints, that_make_no_sense_are_refused) {
  const auto refused = [](const std::string& text) { return message_of([&] { holds(text); }); };
  EXPECT_EQ(refused("launch.blok > 3"), "x.ini:1:1: 'launch.blok' is neither an axis nor a parameter");
  EXPECT_NE(refused("launch.block > many").find("'many' is neither an axis nor a parameter nor a number"),
            std::string::npos);
  EXPECT_NE(refused("3 < 4").find("names no axis"), std::string::npos);
  EXPECT_NE(refused("gpu > 3").find("'v100' is no number (gpu)"), std::string::npos);
  EXPECT_NE(refused("launch.block / (sm.max - 8) > 1").find("division by zero"), std::string::npos);
  for (const char* text :
       {"launch.block", "launch.block >", "(launch.block > 3", "launch.block > 3)", "gpu = v100 gpu = p100",
        "launch.block & 3", "and gpu = x", "gpu = \"a", "not", "()", "launch.block > (3"}) {
    EXPECT_EQ(refused(text).rfind("x.ini:1:1: ", 0), 0u) << text;
  }
  EXPECT_NE(refused(std::string(200, '(') + "gpu = a" + std::string(200, ')')).find("too deep"), std::string::npos);
  std::string lengthy = "gpu = a";
  for (int i = 0; i < 1000; ++i) lengthy += " or gpu = a";
  EXPECT_NE(refused(lengthy).find("longer than"), std::string::npos);
}

job job_of_block(std::uint32_t gx, std::uint32_t gy, std::uint32_t bx, std::uint32_t by) {
  job j;
  operation op;
  op.grid[0] = gx, op.grid[1] = gy, op.block[0] = bx, op.block[1] = by;
  operation loop;
  loop.what = operation::kind::repeat;
  loop.body.push_back(op);
  j.operations = {op, loop};
  return j;
}

TEST(launch_axis, a_block_takes_the_grid_with_it) {
  job j = job_of_block(10, 3, 100, 1);
  apply_launch_axis("launch.block", "64", j);
  for (const operation& op : {j.operations[0], j.operations[1].body[0]}) {
    EXPECT_EQ(op.block[0], 64u);
    EXPECT_EQ(op.grid[0], 16u);  // 1,000 threads need 15.6 blocks
    EXPECT_EQ(op.grid[1], 3u);
  }
  j = job_of_block(4, 4, 16, 16);
  apply_launch_axis("launch.block", "128", j);
  EXPECT_EQ(j.operations[0].block[0], 8u);
  EXPECT_EQ(j.operations[0].block[1], 16u);
  EXPECT_EQ(j.operations[0].grid[0], 8u);
  apply_launch_axis("launch.block", "32x8", j);
  EXPECT_EQ(j.operations[0].grid[0], 2u);
  EXPECT_EQ(j.operations[0].grid[1], 8u);
  EXPECT_NE(message_of([&] { apply_launch_axis("launch.block", "100", j); }).find("no multiple of the 8 threads"),
            std::string::npos);
}

TEST(launch_axis, values_are_checked_without_a_job) {
  for (const char* bad : {"0", "x", "16x", "1x2x3x4", "-4", ""}) {
    EXPECT_NE(message_of([&] { check_launch_value("launch.block", bad); }).find("expected threads"), std::string::npos)
        << bad;
  }
  EXPECT_NE(message_of([] { check_launch_value("launch.registers_per_thread", "0"); }).find("from 1 to 65535"),
            std::string::npos);
  EXPECT_NE(message_of([] { check_launch_value("launch.carveout", "101"); }).find("from 0 to 100"), std::string::npos);
  EXPECT_NE(message_of([] { check_launch_value("preempt.mode", "often"); }).find("drain, switch, flush, auto"),
            std::string::npos);
  check_launch_value("launch.registers_per_thread", "null");
  check_launch_value("launch.priority", "-3");
}

TEST(metric_leaves, are_the_single_values_in_the_order_of_their_paths) {
  metric_leaves leaves;
  ASSERT_TRUE(read_leaves(
      R"({"schema": "s", "gpu": {"name": "g", "list": [1, 2]}, "b": [{"x": 1.5}, [], {}, [7, "t"]], "a": {"n": null, "m": -3}})",
      leaves));
  std::vector<std::string> found;
  for (const auto& [path, value] : leaves) found.push_back(path + "=" + value.dump());
  EXPECT_EQ(found, (values{"a.m=-3", "a.n=null", "b.0.x=1.5", "b.3.0=7", "b.3.1=\"t\""}));
  for (const char* text : {"", "[1]", "7", "{\"a\": 1", "{\"a\": 1}}", "{\"a\" 1}"})
    EXPECT_FALSE(read_leaves(text, leaves)) << text;
}

class files_of_sweeps : public ::testing::Test {
 protected:
  files_of_sweeps() : place_(std::filesystem::temp_directory_path() / ("heddle-sweep-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(place_);
  }
  ~files_of_sweeps() override { std::filesystem::remove_all(place_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(place_ / name) << text;
    return (place_ / name).string();
  }
  std::filesystem::path place_;
};

TEST_F(files_of_sweeps, a_claim_is_one_holders_until_it_is_given_back) {
#if defined(F_OFD_SETLK)
  const std::string file = write("claims", "");
  const std::string id(32, 'a'), other = "b" + std::string(31, 'a');
  point_claims mine(file);
  auto theirs = std::make_unique<point_claims>(file);
  EXPECT_TRUE(mine.take(id));
  EXPECT_FALSE(theirs->take(id));
  EXPECT_TRUE(theirs->take(other));
  EXPECT_FALSE(mine.take(other));
  mine.release(id);
  EXPECT_TRUE(theirs->take(id));
  theirs.reset();
  EXPECT_TRUE(mine.take(id));
  EXPECT_TRUE(mine.take(other));
#endif
  point_claims nowhere((place_ / "none/claims").string());
  EXPECT_TRUE(nowhere.take(std::string(32, '0'))) << "without locks everything is granted";
}

TEST_F(files_of_sweeps, a_trace_that_changes_under_its_sweep_is_noticed) {
  const std::string trace = write("kernel-1.traceg", "one");
  write("kernelslist.g", "kernel-1.traceg\n");
  const std::string ini = "[sweep]\ntrace = kernelslist.g\nstore = s.sqlite\n[axes]\ngpu.sm_count = 1, 2\n";
  const sweep_plan plan(
      parse_sweep_file(ini, (place_ / "t.ini").string()), "1", [](const std::string&) { return job{}; }, false);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan.changed_input(1), "");
  write("kernel-1.traceg", "two and more");
  EXPECT_EQ(plan.changed_input(1), trace);
}

}  // namespace sweep_test
