// SPDX-License-Identifier: MIT
#include "bench_cases.h"

#include <filesystem>

#include "bench_traces.h"

namespace bench {

namespace {

// How large each kernel is made.
struct sizes {
  unsigned product;  // rows and columns, a multiple of 16
  unsigned blocks;   // of the streaming and of the divergent kernel
  unsigned rows;     // that are transposed, of 1024 elements each; a multiple of 32
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
  return {{"sgemm", "", "ptx",
           kernel("sgemm", "sgemm", tiles + "," + tiles, "16,16") + number(s.product) + buffer(square, ":iotaf") +
               buffer(square, ":iotaf") + buffer(square),
           ""},
          {"streaming", "", "ptx",
           kernel("vector_add", "vector_add", blocks, "256") + buffer(elements, ":iotaf") + buffer(elements, ":iotaf") +
               buffer(elements) + number(elements),
           ""},
          {"divergent", "", "ptx",
           kernel("divergent", "divergent", blocks, "128") + buffer(decisions, ":random:9") + buffer(decisions) +
               number(decisions),
           ""},
          {"transpose", "", "ptx",
           kernel("transpose", "transpose_padded", "32," + std::to_string(s.rows / 32), "32,8") +
               buffer(1024 * s.rows, ":iota32") + buffer(1024 * s.rows) + number(1024) + number(s.rows),
           ""}};
}

std::string replay(trace_kind kind, unsigned blocks, const std::string& folder) {
  const std::filesystem::path place = std::filesystem::path(folder) / (name_of(kind) + std::to_string(blocks));
  std::filesystem::create_directories(place);
  return "replay --log-level error '" + write_trace(kind, place, blocks) + "'";
}

constexpr trace_kind kinds[] = {trace_kind::tiled_product, trace_kind::streaming, trace_kind::divergent,
                                trace_kind::transpose};

std::string kernel_of(trace_kind kind) { return kind == trace_kind::tiled_product ? "sgemm" : name_of(kind); }

}  // namespace

std::vector<bench_case> filling_cases(const std::string& folder) {
  struct chip {
    const char* name;
    unsigned sms;
  };
  std::vector<bench_case> all;
  for (const chip& gpu : {chip{"gtx1080", 20}, chip{"v100", 80}, chip{"h100", 132}}) {
    for (bench_case c : programs({384, 1280, 640})) {
      c.gpu = gpu.name;
      c.part = c.arguments + " --max-cycles 4000";
      all.push_back(c);
    }
    for (const trace_kind kind : kinds)
      all.push_back(
          {kernel_of(kind), gpu.name, "trace", replay(kind, 1280, folder), replay(kind, 4 * gpu.sms, folder)});
  }
  return all;
}

std::vector<bench_case> short_cases(const std::string& folder) {
  std::vector<bench_case> all;
  for (const char* gpu : {"gtx1080", "v100"}) {
    for (bench_case c : programs({64, 64, 64})) {
      c.gpu = gpu;
      c.part = c.arguments;
      all.push_back(c);
    }
    for (const trace_kind kind : kinds) {
      const std::string line = replay(kind, 64, folder);
      all.push_back({kernel_of(kind), gpu, "trace", line, line});
    }
  }
  return all;
}

}  // namespace bench
