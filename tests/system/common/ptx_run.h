// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sanitizer_remark.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace ptx_runs {

namespace fs = std::filesystem;
using heddle::test::content;

struct outcome : heddle::test::outcome {
  std::vector<std::uint32_t> words;  // the out: buffer
};

inline std::string module_of(const std::string& declarations, const std::string& code) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + declarations +
         ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<8>; .reg .pred %p<8>; .reg .b64 %o;\n"
         "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r2, %r1, %r2, %r0;\n"
         "ld.param.u64 %o, [out]; mad.wide.u32 %o, %r2, 4, %o;\n" +
         code + "\nret;\n}\n";
}

/// The folder in which the current test runs its kernels.
inline fs::path place_of_test() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return fs::path(HEDDLE_SCRATCH "/ptx") / (std::string(info->test_suite_name()) + "." + info->name());
}

/// What a shell command line left in the folder, and its status.
inline outcome outcome_in(const fs::path& place, int status) {
  outcome o{{WIFEXITED(status) ? WEXITSTATUS(status) : 128, content(place / "stdout"),
             without_sanitizer_remark(content(place / "stderr"))},
            {}};
  const std::string bytes = content(place / "o.bin");
  o.words.resize(bytes.size() / 4);
  if (!o.words.empty()) std::memcpy(o.words.data(), bytes.data(), o.words.size() * 4);
  return o;
}

/// Runs kernel k with `blocks` blocks of `threads` threads and one output word per thread.
inline outcome run(const std::string& text, const std::string& gpu, unsigned blocks = 1, unsigned threads = 32,
                   const std::string& options = "") {
  const fs::path place = place_of_test();
  fs::create_directories(place);
  std::ofstream(place / "k.ptx") << text;
  fs::remove(place / "o.bin");
  const std::string command = "cd '" + place.string() +
                              "' && timeout 60 '" HEDDLE_PROGRAM "' run --kernel k.ptx:k --grid " +
                              std::to_string(blocks) + " --block " + std::to_string(threads) +
                              " --arg out:" + std::to_string(4 * blocks * threads) + ":o.bin --quiet --gpu " + gpu +
                              " " + options + " >stdout 2>stderr";
  const int status = std::system(command.c_str());
  return outcome_in(place, status);
}

inline const char* const both[] = {"gtx1080", "v100"};

inline void expect_words(const std::string& text, const std::function<std::uint32_t(unsigned)>& expected,
                         unsigned blocks = 1, unsigned threads = 32) {
  for (const char* gpu : both) {
    const outcome o = run(text, gpu, blocks, threads);
    ASSERT_EQ(o.code, 0) << gpu << "\n" << o.err;
    ASSERT_EQ(o.words.size(), blocks * threads);
    for (unsigned k = 0; k < o.words.size(); ++k) EXPECT_EQ(o.words[k], expected(k)) << gpu << ", thread " << k;
  }
}

/// Runs job.json in a separate folder that also contains these files.
inline outcome run_job(const std::vector<std::pair<std::string, std::string>>& files, const std::string& options = "") {
  const fs::path place = place_of_test();
  fs::remove_all(place);
  fs::create_directories(place);
  for (const auto& [name, text] : files) std::ofstream(place / name) << text;
  const int status =
      std::system(("cd '" + place.string() + "' && timeout 60 '" HEDDLE_PROGRAM "' run job.json --quiet " + options +
                   " >stdout 2>stderr")
                      .c_str());
  return outcome_in(place, status);
}

}  // namespace ptx_runs
