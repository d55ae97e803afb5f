// SPDX-License-Identifier: MIT
// The waveform shows what the metrics count: sums over a sub-partition's signals are the metrics' numbers.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::uint64_t cycle_ps = 1000;   // the core clock is set to 1000 MHz

/// For each signal of a VCD file: the value's ones, and whether it is not zero, each summed over the cycles.
struct signal_sums {
  std::uint64_t ones = 0;
  std::uint64_t cycles = 0;
};

class waveform {
 public:
  explicit waveform(const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) read(line);
  }
  const signal_sums& operator[](const std::string& name) const { return sums_.at(ids_.at(name)); }

 private:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string first, type, width, id, name;
    words >> first;
    if (first == "$timescale") {
      EXPECT_NE(line.find("1 ps"), std::string::npos) << line;
    } else if (first == "$scope") {
      words >> type >> name;
      scope_ += name + ".";
    } else if (first == "$upscope") {
      scope_.erase(scope_.rfind('.', scope_.size() - 2) + 1);
    } else if (first == "$var") {
      words >> type >> width >> id >> name;
      ids_[scope_ + name] = id;
    } else if (!first.empty() && first[0] == '#') {
      advance(std::stoull(first.substr(1)));
    } else if (!first.empty() && first[0] == 'b') {
      words >> id;
      ones_[id] = static_cast<std::uint64_t>(std::count(first.begin(), first.end(), '1'));
    } else if (!first.empty() && (first[0] == '0' || first[0] == '1')) {
      ones_[first.substr(1)] = first[0] == '1';
    }
  }
  void advance(std::uint64_t time) {
    const std::uint64_t cycles = (time + cycle_ps / 2) / cycle_ps - (time_ + cycle_ps / 2) / cycle_ps;
    time_ = time;
    for (const auto& [id, ones] : ones_) {
      sums_[id].ones += ones * cycles;
      if (ones != 0) sums_[id].cycles += cycles;
    }
  }

  std::string scope_;
  std::map<std::string, std::string> ids_;
  std::map<std::string, std::uint64_t> ones_;
  std::map<std::string, signal_sums> sums_;
  std::uint64_t time_ = 0;
};

class waveforms : public ::testing::TestWithParam<const char*> {};

TEST_P(waveforms, show_what_the_metrics_count) {
  const std::string gpu = GetParam();
  const fs::path place = fs::path(HEDDLE_SCRATCH) / gpu;
  fs::create_directories(place);
  const std::string command = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/reduction/job.json' --gpu " + gpu +
                              " --set gpu.core_clock_mhz=1000 --set gpu.sm_count=2 --quiet --trace-scope 'gpu.sm0*'" + " --vcd '" +
                              (place / "w.vcd").string() + "' --metrics '" + (place / "m.json").string() + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  std::ifstream in(place / "m.json");
  const json sm = json::parse(in)["sms"][0];
  const waveform w(place / "w.vcd");
  std::uint64_t issued = 0;
  for (unsigned p = 0; p < sm["sub_partitions"].size(); ++p) {
    const std::string base = "gpu.sm0.partition" + std::to_string(p) + ".";
    const json& cycles = sm["sub_partitions"][p]["warp_cycles"];
    EXPECT_EQ(w[base + "active"].ones, cycles["active"].get<std::uint64_t>()) << base;
    EXPECT_EQ(w[base + "issued"].cycles, cycles["selected"].get<std::uint64_t>()) << base;
    issued += w[base + "issued"].cycles;
  }
  EXPECT_GT(issued, 1000u);
}

INSTANTIATE_TEST_SUITE_P(all, waveforms, ::testing::Values("gtx1080", "v100"));

}  // namespace
