// SPDX-License-Identifier: MIT
// workload_data DIRECTORY [WORKLOAD...]: writes the inputs and expected outputs of all (or the named) workloads below
// DIRECTORY.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "testbench/workloads/reference.h"

namespace {

using namespace heddle::workloads;

struct entry {
  const char* name;
  void (*make)(const folder&);
};

constexpr entry entries[] = {
    {"bfs", make_bfs},
    {"bitonic_sort", make_bitonic_sort},
    {"black_scholes", make_black_scholes},
    {"convolution", make_convolution},
    {"divergent", make_divergent},
    {"fft", make_fft},
    {"histogram", make_histogram},
    {"hotspot", make_hotspot},
    {"intra_warp_lock", make_intra_warp_lock},
    {"kmeans", make_kmeans},
    {"lu_decomposition", make_lu_decomposition},
    {"mandelbrot", make_mandelbrot},
    {"nbody", make_nbody},
    {"needleman_wunsch", make_needleman_wunsch},
    {"pointer_chase", make_pointer_chase},
    {"reduction", make_reduction},
    {"saxpy", make_saxpy},
    {"scan", make_scan},
    {"sgemm", make_sgemm},
    {"spin_lock", make_spin_lock},
    {"spmv", make_spmv},
    {"stencil_f64", make_stencil_f64},
    {"texture_filter", make_texture_filter},
    {"transpose", make_transpose},
    {"vector_add", make_vector_add},
    {"wmma_gemm", make_wmma_gemm},
};

void make(const std::filesystem::path& directory, std::vector<std::string> wanted) {
  for (const entry& e : entries) {
    const auto found = std::find(wanted.begin(), wanted.end(), e.name);
    if (!wanted.empty() && found == wanted.end()) continue;
    e.make(folder(directory / e.name));
    std::printf("%s\n", e.name);
  }
  for (const std::string& name : wanted) {
    const auto same = [&name](const entry& e) { return e.name == name; };
    if (std::none_of(std::begin(entries), std::end(entries), same)) throw std::runtime_error("no workload " + name);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 2) {
    std::fputs("usage: workload_data DIRECTORY [WORKLOAD...]\n", stderr);
    return 2;
  }
  try {
    make(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "workload_data: %s\n", e.what());
    return 1;
  }
  return 0;
}
