// SPDX-License-Identifier: MIT
#include "bench_cases.h"

#include <filesystem>

#include "bench_traces.h"

namespace bench {

namespace {

// How large each kernel is made.
struct sizes {
  unsigned product;     // rows and columns, a multiple of 16
  unsigned blocks;      // of the streaming and of the divergent kernel
  unsigned rows;        // that are transposed, of 1024 elements each; a multiple of 32
  unsigned recorded;    // blocks of the traces
};

std::string kernel(const std::string& workload, const std::string& entry, const std::string& grid,
                   const std::string& block) {
  return "run --kernel '" HEDDLE_WORKLOADS "/" + workload + "/" + workload + ".ptx:" + entry + "' --grid " + grid +
         " --block " + block;
}

std::string buffer(unsigned words, const char* fill = "") { return " --arg buf:" + std::to_string(4 * words) + fill; }
std::string number(unsigned n) { return " --arg s32:" + std::to_string(n); }

std::vector<bench_case> programs(const sizes& s) {
  const std::string tiles = std::to_string(s.product / 16), blocks = std::to_string(s.blocks);
  const unsigned square = s.product * s.product, elements = s.blocks * 256, decisions = s.blocks * 128;
  return {
      {"sgemm", "", "ptx", kernel("sgemm", "sgemm", tiles + "," + tiles, "16,16") + number(s.product) +
                               buffer(square, ":iotaf") + buffer(square, ":iotaf") + buffer(square)},
      {"streaming", "", "ptx", kernel("vector_add", "vector_add", blocks, "256") + buffer(elements, ":iotaf") +
                                   buffer(elements, ":iotaf") + buffer(elements) + number(elements)},
      {"divergent", "", "ptx", kernel("divergent", "divergent", blocks, "128") + buffer(decisions, ":random:9") +
                                   buffer(decisions) + number(decisions)},
      {"transpose", "", "ptx", kernel("transpose", "transpose_padded", "32," + std::to_string(s.rows / 32), "32,8") +
                                   buffer(1024 * s.rows, ":iota32") + buffer(1024 * s.rows) + number(1024) +
                                   number(s.rows)}};
}

std::vector<bench_case> recordings(const sizes& s, const std::string& folder) {
  std::vector<bench_case> all;
  for (const trace_kind kind : {trace_kind::tiled_product, trace_kind::streaming, trace_kind::divergent, trace_kind::transpose}) {
    const std::filesystem::path place = std::filesystem::path(folder) / name_of(kind);
    std::filesystem::create_directories(place);
    const std::string name = kind == trace_kind::tiled_product ? "sgemm" : name_of(kind);
    all.push_back({name, "", "trace", "replay --log-level error '" + write_trace(kind, place, s.recorded) + "'"});
  }
  return all;
}

std::vector<bench_case> on(const std::vector<std::string>& gpus, const sizes& s, const std::string& folder) {
  std::vector<bench_case> kernels = programs(s);
  for (const bench_case& c : recordings(s, folder)) kernels.push_back(c);
  std::vector<bench_case> all;
  for (const std::string& gpu : gpus)
    for (const bench_case& c : kernels) {
      all.push_back(c);
      all.back().gpu = gpu;
    }
  return all;
}

}  // namespace

std::vector<bench_case> filling_cases(const std::string& folder) {
  return on({"gtx1080", "v100", "h100"}, {384, 1280, 640, 1280}, folder);
}

std::vector<bench_case> short_cases(const std::string& folder) {
  return on({"gtx1080", "v100"}, {64, 64, 64, 64}, folder);
}

}  // namespace bench
