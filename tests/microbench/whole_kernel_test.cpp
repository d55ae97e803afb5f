// SPDX-License-Identifier: MIT
// Whole kernels against figures measured on silicon: tests/hardware/whole_kernels.csv, whose columns its README
// explains.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "memory_figures.h"

namespace heddle::test::whole_kernel_test {

struct measured_kernel {
  std::string gpu, kernel, unit, use, origin;
  unsigned blocks_per_sm = 0, threads = 0, size = 0;
  double figure = 0;
};

void PrintTo(const measured_kernel& k, std::ostream* out) {
  *out << k.gpu << " " << k.kernel << " " << k.threads << " " << k.size;
}

std::vector<measured_kernel> rows(bool large) {
  std::ifstream in(HEDDLE_HARDWARE "/whole_kernels.csv");
  std::string line;
  std::getline(in, line);
  std::vector<measured_kernel> all;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::stringstream cut(line);
    for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
    if (cells.size() != 9) throw std::runtime_error("whole_kernels.csv: a row without nine cells: " + line);
    const auto whole = [&](unsigned n) { return static_cast<unsigned>(std::stoul(cells[n])); };
    measured_kernel k{cells[0], cells[1], cells[6], cells[7],           cells[8],
                      whole(2), whole(3), whole(4), std::stod(cells[5])};
    // A few of each kind are in the normal suite; the others run with the labels microbench and long.
    const bool small = (k.kernel == "stream_init" || k.kernel == "stream_read")
                           ? k.threads <= 64 && k.gpu == "v100"
                           : k.kernel == "gauss_rows" && k.size <= 128;
    if (small != large) all.push_back(k);
  }
  return all;
}

class whole_kernel : public memory_figures, public ::testing::WithParamInterface<measured_kernel> {
 protected:
  void check() {
    const measured_kernel& k = GetParam();
    const unsigned sms = k.gpu == "v100" ? 80 : 108;  // and the largest shared memory of a block
    const unsigned shared = k.gpu == "v100" ? 98304 : 163 * 1024;
    const auto begin = [&](json arguments, unsigned blocks) {
      json l = launch(k.kernel.c_str(), blocks, k.threads, std::move(arguments));
      l.erase("carveout");
      return l;
    };
    const auto signed_number = [](unsigned v) { return json{{"s32", v}}; };
    json buffers, l;
    double work = 0;
    if (k.kernel.rfind("sum_", 0) == 0) {
      const unsigned rounds = k.kernel == "sum_64_kib" ? 512 : 8;
      buffers = {{"out", {{"bytes", 4096}}}, {"in", {{"bytes", 8 * k.size}, {"fill", "iotaf"}}}};
      l = begin({argument("out"), argument("in"), signed_number(0)}, sms);
      work = 8.0 * k.size * rounds;
    } else if (k.kernel == "gauss_rows") {
      const unsigned n = k.size;
      buffers = {{"m", {{"bytes", 4 * n * n}, {"fill", "iotaf"}}},
                 {"a", {{"bytes", 4 * n * n}, {"fill", "iotaf"}}},
                 {"b", {{"bytes", 4 * n}}}};
      l = begin({argument("m"), argument("a"), argument("b"), signed_number(n), signed_number(n), signed_number(0)}, 1);
      l["grid"] = {(n + 3) / 4, (n + 3) / 4, 1};
      l["block"] = {4, 4, 1};
    } else {
      const unsigned blocks = sms * k.blocks_per_sm * k.size, n = blocks * k.threads;
      buffers = {{"a", {{"bytes", 8 * n}}}, {"b", {{"bytes", 8 * n}}}};
      l = k.kernel == "stream_init" ? begin({argument("a"), number(n)}, blocks)
                                    : begin({argument("a"), argument("b"), number(n)}, blocks);
      l["shared_bytes"] = (shared / k.blocks_per_sm - 1024) / 256 * 256;
      work = 8.0 * n;
    }
    run(k.gpu, buffers, json::array({l}), false, HEDDLE_HARDWARE "/kernels.ptx");
    if (HasFatalFailure()) return;
    const json& kernel = metrics_["kernels"][0];
    const double cycles =
        kernel["end_cycle"].get<double>() - kernel["start_cycle"].get<double>();  // from the first block on an SM on
    const double gigahertz = metrics_["gpu"]["config"]["gpu.core_clock_mhz"].get<double>() * 1e-3;
    const double model = k.unit == "cycles" ? cycles : k.unit == "GB/s" ? work / cycles * gigahertz : work / cycles;
    compare(k.gpu, k.kernel + " " + std::to_string(k.threads) + " " + std::to_string(k.size), model, k.figure, 0.12,
            k.unit + "; " + k.use + "; " + k.origin);
  }
};

TEST_P(whole_kernel, takes_what_the_chip_takes) { check(); }

std::string name_of(const ::testing::TestParamInfo<measured_kernel>& info) {
  const measured_kernel& k = info.param;
  return k.gpu + "_" + k.kernel + "_" + std::to_string(k.blocks_per_sm) + "x" + std::to_string(k.threads) + "_" +
         std::to_string(k.size);
}
INSTANTIATE_TEST_SUITE_P(silicon, whole_kernel, ::testing::ValuesIn(rows(false)), name_of);
INSTANTIATE_TEST_SUITE_P(silicon_large, whole_kernel, ::testing::ValuesIn(rows(true)), name_of);

}  // namespace heddle::test::whole_kernel_test
