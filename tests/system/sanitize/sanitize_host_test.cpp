// SPDX-License-Identifier: MIT
// heddle exec --sanitize and job files: races between streams, host copies, textures and surfaces, memory of a program
// that is not freed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/sanitizer_remark.h"
#include "tests/system/common/text_file.h"
#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_host_test {

namespace fs = std::filesystem;
using heddle::test::content;
using json = nlohmann::ordered_json;

struct host_case {
  const char* name;
  std::vector<const char*> said;  // of the bad one
};

const host_case host_cases[] = {
    {"grid_steps", {"grids.cu:24", "race: write of global memory", "at grids.cu:22"}},
    {"grid_arrival", {"grids.cu:38", "race: read of global memory", "at grids.cu:36"}},
    {"grid_in_place", {"grids.cu:63", "race: ", "at grids.cu:61"}},
    {"lists", {"leak: 16 bytes of malloc at 0x", "grids.cu:43", "block (0,0,0), thread (61,0,0)"}},
    {"event",
     {"race between operations of two streams: read of global memory at 0x",
      "launch 1 of kernel 'sum', in stream 2: read by block (0,0,0), thread (", "at host_kernels.cu:10",
      "launch 0 of kernel 'fill', in stream 1: write by block (0,0,0), thread (", "at host_kernels.cu:8"}},
    {"old_event", {"race between operations of two streams: read of global memory"}},
    {"ended_event", {"race between operations of two streams: read of global memory"}},
    {"host_wait", {"race between operations of two streams: read of global memory"}},
    {"host_function", {"race between operations of two streams: read of global memory"}},
    {"query", {"race between operations of two streams: read of global memory"}},
    {"write_after_read", {"race between operations of two streams: write of global memory"}},
    {"chain", {"launch 0 of kernel 'fill', in stream 1: write"}},
    {"default_stream", {"launch 0 of kernel 'fill', in stream 0: write"}},
    {"copy_out", {"copy to the host, in stream 2: read", "launch 0 of kernel 'fill', in stream 1: write"}},
    {"copy_in", {"copy to the device, in stream 1: write", "launch 0 of kernel 'sum', in stream 2: read"}},
    {"fill", {"copy or fill of device memory, in stream 0: write"}},
    {"counter", {"launch 0 of kernel 'count', in stream 1: atomic"}},
    {"bytes", {"race between operations of two streams: write of global memory"}},
    {"texture", {"launch 1 of kernel 'fetch', in stream 2: read"}},
    {"unwritten_texture", {"uninitialised: texture read of 4 bytes of global memory"}},
    {"unwritten", {"uninitialised: read of 4 bytes of global memory", "0 bytes into an allocation (512 bytes at 0x"}},
    {"short_memset", {"uninitialised: read of 4 bytes of global memory", "that was never written"}},
    {"cut_memset", {"uninitialised: read of 4 bytes of global memory", "that was written in part"}},
    {"bounds", {"out of bounds: write of 4 bytes of global memory", "0 bytes behind an allocation (512 bytes at 0x"}},
    {"freed", {"in memory that was freed (512 bytes at 0x"}},
    {"leak",
     {"leak: 512 bytes of device memory at 0x", "that the program has allocated were never freed", "program+0x"}},
};

class sanitize_host : public ::testing::Test {
 protected:
  sanitize_host() {
    place_ =
        fs::path(HEDDLE_SCRATCH "/sanitize_host") / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
    for (const char* file : {"host_kernels.ptx", "clusters.ptx", "grids.ptx"})
      fs::copy_file(fs::path(HEDDLE_SOURCE "/tests/system/sanitize") / file, place_ / file);
  }

  int shell(const std::string& line) {
    const int status = std::system(("cd '" + place_.string() + "' && { " + line + "\n} > out 2> err").c_str());
    out_ = content(place_ / "out");
    err_ = without_sanitizer_remark(content(place_ / "err"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  bool compile() {
    if (shell("command -v cc") != 0) return false;
    const std::string libraries = (fs::path(HEDDLE_PROGRAM).parent_path() / "cuda").string();
    EXPECT_EQ(shell("cc -O1 -I'" HEDDLE_SOURCE "/tests/system/cuda' -o program '" HEDDLE_SOURCE
                    "/tests/system/sanitize/host_program.c' -L'" +
                    libraries + "' -Wl,-rpath-link,'" + libraries +
                    "' -Wl,--no-as-needed -Wl,--copy-dt-needed-entries -lcuda"),
              0)
        << err_;
    return true;
  }
  int run(const std::string& options, const std::string& name) {
    return shell("timeout 100 '" HEDDLE_PROGRAM "' exec --gpu a100 --quiet " + options + " -- ./program " + name);
  }

  fs::path place_;
  std::string out_, err_;
};

TEST_F(sanitize_host, programs_with_errors_are_told_from_correct_ones) {
  if (!compile()) GTEST_SKIP() << "there is no C compiler (cc) here";
  for (const char* more : {"", " --skip-functional"})
    for (const host_case& c : host_cases) {
      const std::string options =
          (c.name == std::string("leak") ? "--sanitize=memory,leaks" : "--sanitize") + std::string(more);
      SCOPED_TRACE(std::string(c.name) + " " + options);
      EXPECT_EQ(run(options, "bad_" + std::string(c.name)), 1) << out_ << err_;
      for (const char* text : c.said) EXPECT_NE(err_.find(text), std::string::npos) << text << "\n" << err_;
      EXPECT_EQ(run(options, "good_" + std::string(c.name)), 0) << out_ << err_;
      EXPECT_EQ(err_, "");
      EXPECT_EQ(out_, "ran to its end\n");
    }
}

TEST_F(sanitize_host, what_is_looked_for_and_files_are_chosen_as_for_jobs) {
  if (!compile()) GTEST_SKIP() << "there is no C compiler (cc) here";
  EXPECT_EQ(run("--sanitize=memory,init,sync,leaks", "bad_event"), 0) << err_;
  EXPECT_EQ(run("--sanitize=races", "bad_leak"), 0) << err_;
  EXPECT_EQ(run("--sanitize", "bad_leak"), 0) << err_;
  EXPECT_EQ(run("", "bad_event"), 0) << err_;
  ASSERT_EQ(run("--sanitize --sanitize-json f.json --metrics checked.json", "bad_event"), 1) << err_;
  const json found = json::parse(content(place_ / "f.json"));
  ASSERT_EQ(found["findings"].size(), 1u);
  EXPECT_EQ(found["findings"][0]["kind"], "races");
  EXPECT_EQ(found["findings"][0]["kernel"], "sum");
  EXPECT_EQ(found["findings"][0]["details"].size(), 3u);
  ASSERT_EQ(run("--metrics plain.json", "bad_event"), 0) << err_;
  json plain = json::parse(content(place_ / "plain.json")), checked = json::parse(content(place_ / "checked.json"));
  plain.erase("host");
  checked.erase("host");
  EXPECT_EQ(plain.dump(), checked.dump());
}

// Clusters whose blocks wait for each other, in detail and functionally.
TEST_F(sanitize_host, clusters_are_executed_and_checked) {
  if (!compile()) GTEST_SKIP() << "there is no C compiler (cc) here";
  for (const std::string options : {"", "--skip-functional "}) {
    const auto on_h100 = [&](const char* name, const char* checks) {
      return shell("timeout 100 '" HEDDLE_PROGRAM "' exec --gpu h100 --quiet " + options + checks + " -- ./program " +
                   name);
    };
    EXPECT_EQ(on_h100("good_cluster", ""), 0) << out_ << err_;
    EXPECT_EQ(on_h100("good_cluster", "--sanitize"), 0) << out_ << err_;
    EXPECT_EQ(err_, "");
    EXPECT_EQ(on_h100("bad_cluster", "--sanitize"), 1) << out_ << err_;
    EXPECT_NE(err_.find("race: "), std::string::npos) << err_;
    EXPECT_NE(err_.find("of shared memory at 0x"), std::string::npos) << err_;
  }
}

class sanitize_textures : public sanitize_host {
 protected:
  int run_pair(const std::string& kernel) {
    const json job = {
        {"module", HEDDLE_SOURCE "/tests/system/sanitize/host_kernels.ptx"},
        {"buffers", {{"image", {{"bytes", 256}, {"fill", "iota32"}}}, {"out", {{"bytes", 512}}}}},
        {"textures",
         {{"t",
           {{"buffer", "image"},
            {"type", "u32"},
            {"channels", 1},
            {"width", 8},
            {"height", 8},
            {"filter", "point"},
            {"address", {"clamp", "clamp"}},
            {"normalized", false}}}}},
        {"launches",
         {{{"kernel", kernel},
           {"grid", {1, 1, 1}},
           {"block", {64, 1, 1}},
           {"args", {{{"buffer", "image"}}, {{"buffer", "out"}}, {{"texture", "t"}}, {{"surface", "t"}}}}}}}};
    std::ofstream(place_ / "job.json") << job;
    return shell("'" HEDDLE_PROGRAM "' run job.json --gpu a100 --quiet --sanitize");
  }
};

TEST_F(sanitize_textures, races_are_told_from_kernels_without) {
  const host_case cases[] = {
      {"texture_and_store", {"race: write of global memory at 0x", "and a texture read that nothing orders"}},
      {"texture_after_store", {"that this launch has written: textures need not see it before the next launch"}},
      {"texture_after_surface", {"that this launch has written", ": surface write, at "}},
      {"surface_neighbours", {"race: surface ", "that nothing orders"}},
      {"surface_one_texel", {"race: surface write of global memory", "of another value in the same instruction"}},
      {"surface_and_store", {"race: surface write of global memory at 0x", "and a write that nothing orders"}},
  };
  for (const host_case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(run_pair("race_" + std::string(c.name)), 1) << err_;
    for (const char* text : c.said) EXPECT_NE(err_.find(text), std::string::npos) << text << "\n" << err_;
    EXPECT_EQ(run_pair("free_" + std::string(c.name)), 0) << err_;
    EXPECT_EQ(err_, "");
  }
}

// Streams of a job file are ordered by nothing.
TEST_F(sanitize_textures, streams_of_a_job_race) {
  const auto run_job = [this](unsigned second, const char* buffer) {
    const auto launch = [](const char* kernel, unsigned stream, const json& args) {
      return json{{"kernel", kernel}, {"grid", {2, 1, 1}}, {"block", {64, 1, 1}}, {"stream", stream}, {"args", args}};
    };
    const json job = {{"module", HEDDLE_SOURCE "/tests/system/sanitize/host_kernels.ptx"},
                      {"buffers", {{"a", {{"bytes", 512}}}, {"b", {{"bytes", 512}}}, {"c", {{"bytes", 512}}}}},
                      {"launches",
                       {launch("fill", 0, {{{"buffer", "a"}}, {{"u32", 3}}}),
                        launch("sum", second, {{{"buffer", "b"}}, {{"buffer", buffer}}}),
                        {{"memset", "a"}, {"byte", 0}, {"offset", 0}, {"bytes", 512}}}}};
    std::ofstream(place_ / "job.json") << job;
    return shell("'" HEDDLE_PROGRAM "' run job.json --gpu a100 --quiet --sanitize");
  };
  EXPECT_EQ(run_job(1, "a"), 1) << err_;
  EXPECT_NE(err_.find("launch 1 of kernel 'sum', in stream 1: read by block (0,0,0)"), std::string::npos) << err_;
  EXPECT_NE(err_.find("launch 0 of kernel 'fill', in stream 0: write by block (0,0,0)"), std::string::npos) << err_;
  EXPECT_NE(err_.find("memset, in stream 0: write"), std::string::npos) << err_;
  EXPECT_EQ(run_job(1, "c"), 0) << err_;
  EXPECT_EQ(run_job(0, "a"), 0) << err_;
}

}  // namespace sanitize_host_test
