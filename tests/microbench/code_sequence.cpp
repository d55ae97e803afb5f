// SPDX-License-Identifier: MIT
#include "code_sequence.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/system/common/text_file.h"

namespace microbench {

namespace {

namespace fs = std::filesystem;
using heddle::test::content;

std::string of_chain(std::string text, unsigned chain) {
  const std::string number = std::to_string(chain);
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) text.replace(at, 1, number);
  return text;
}

constexpr unsigned record_bytes = 16;  // first clock, last clock, their difference, value

constexpr unsigned word_bytes = 512;  // size of the buffer whose address is every kernel's seed

}  // namespace

std::string kernel(const std::string& name, const code_sequence& p, unsigned operations, unsigned chains) {
  std::string text =
      ".visible .entry " + name + "(.param .u64 " + name + "_out, .param .u64 " + name + "_seed)\n{\n  " +
      of_chain(p.declarations, chains) +
      "\n  .reg .u32 %pass, %start, %end, %elapsed, %value, %thread, %place, %size;\n  .reg .u64 %out, %seed;\n  .reg .pred %again;\n"
      "  mov.u32 %pass, 2;\n  mov.u32 %thread, %tid.x;\n  ld.param.u64 %seed, [" +
      name + "_seed];\n  " + p.before + "\n";
  for (unsigned c = 0; c < chains; ++c) text += "  " + of_chain(p.begin, c) + "\n";
  text += "again:\n  .pragma \"nounroll\";\n  bar.sync 0;\n  mov.u32 %start, %clock;\n";
  for (unsigned n = 0; n < operations; ++n)
    text += "  " + of_chain(p.steps[n / chains % p.steps.size()], n % chains) + "\n";
  text +=
      "  mov.u32 %end, %clock;\n  sub.u32 %elapsed, %end, %start;\n  sub.u32 %pass, %pass, 1;\n  setp.ne.u32 %again, %pass, 0;\n"
      "  @%again bra again;\n  mov.u32 %value, 0;\n";
  for (unsigned c = 0; c < chains; ++c) text += "  " + of_chain(p.end, c) + "\n";
  text += "  ld.param.u64 %out, [" + name +
          "_out];\n  mov.u32 %place, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n"
          "  mad.lo.u32 %place, %place, %size, %thread;\n  mad.wide.u32 %out, %place, 16, %out;\n"
          "  st.global.v4.u32 [%out], {%start, %end, %elapsed, %value};\n  ret;\n}\n\n";
  return text;
}

std::string module(const std::string& kernels) { return ".version 9.0\n.target sm_75\n.address_size 64\n\n" + kernels; }

std::vector<std::vector<clocks>> clocks_of(const std::string& name, const std::string& gpu, const std::string& text,
                                           const std::vector<launch>& launches, const std::string& options) {
  // Unique to this process: tests of one GPU run in parallel.
  const fs::path place = fs::path(HEDDLE_SCRATCH) / (gpu + "_" + name + "_" + std::to_string(::getpid()));
  fs::create_directories(place);
  std::ofstream(place / "kernels.ptx") << text;
  nlohmann::ordered_json job{{"module", "kernels.ptx"}};
  std::size_t bytes = 0;
  for (const launch& l : launches) {
    job["launches"].push_back({{"kernel", l.kernel},
                               {"grid", {l.blocks, 1, 1}},
                               {"block", {l.threads, 1, 1}},
                               {"args", {{{"buffer", "clocks"}, {"offset", bytes}}, {{"buffer", "words"}}}}});
    bytes += std::size_t{l.threads} * l.blocks * record_bytes;
  }
  // Words that contain their own address, for chains of loads.
  nlohmann::ordered_json pointers;
  for (unsigned k = 0; k < word_bytes / 8; ++k) pointers.push_back({{"at", 8 * k}, {"to", "words"}, {"offset", 8 * k}});
  job["buffers"] = {{"clocks", {{"bytes", bytes}}}, {"words", {{"bytes", word_bytes}, {"pointers", pointers}}}};
  job["outputs"] = {{{"buffer", "clocks"}, {"file", "clocks.bin"}}};
  std::ofstream(place / "job.json") << job.dump(2);
  const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place / "job.json").string() +
                              "' --quiet --set gpu.sm_count=1 --gpu " + gpu + " " + options + " >'" +
                              (place / "log.txt").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const bool ran = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const std::string result = content(place / "clocks.bin");
  EXPECT_TRUE(ran && result.size() == bytes) << command << "\n" << content(place / "log.txt");
  std::vector<std::vector<clocks>> all;
  if (!ran || result.size() != bytes) return all;
  std::size_t at = 0;
  for (const launch& l : launches) {
    all.emplace_back(std::size_t{l.threads} * l.blocks);
    for (clocks& c : all.back()) {
      std::uint32_t pair[2] = {};
      result.copy(reinterpret_cast<char*>(pair), sizeof pair, at);
      c = {pair[0], pair[1]};
      at += record_bytes;
    }
  }
  fs::remove_all(place);
  return all;
}

std::vector<double> run(const std::string& name, const std::string& gpu, const std::string& text,
                        const std::vector<launch>& launches, const std::string& options) {
  std::vector<double> cycles;
  for (const auto& threads : clocks_of(name, gpu, text, launches, options)) {
    std::uint32_t first = UINT32_MAX, last = 0;
    for (const clocks& c : threads) {
      first = std::min(first, c.first);
      last = std::max(last, c.last);
    }
    cycles.push_back(static_cast<double>(last) - first);
  }
  return cycles;
}

}  // namespace microbench
