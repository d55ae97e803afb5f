// SPDX-License-Identifier: MIT
// The job of testbench/workloads/sgemm as a CUDA program, to see what the API costs beside it:
// heddle exec -- cuda_sgemm FOLDER.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v2(void**, unsigned, int);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemcpyHtoD_v2(std::uint64_t, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, std::uint64_t, std::size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
}

namespace {

constexpr int size = 256;
constexpr std::size_t bytes = sizeof(float) * size * size;

void check(int status) {
  if (status == 0) return;
  std::printf("CUDA error %d\n", status);
  std::exit(1);
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t matrix(const std::string& contents) {
  std::uint64_t at = 0;
  check(cuMemAlloc_v2(&at, bytes));
  if (contents.size() >= bytes) check(cuMemcpyHtoD_v2(at, contents.data(), bytes));
  return at;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = std::string(argc > 1 ? argv[1] : ".") + "/";
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  check(cuInit(0));
  check(cuCtxCreate_v2(&context, 0, 0));
  check(cuModuleLoadData(&module, contents(folder + "sgemm.ptx").c_str()));
  check(cuModuleGetFunction(&kernel, module, "sgemm"));
  std::uint64_t a = matrix(contents(folder + "a.bin")), b = matrix(contents(folder + "b.bin")), c = matrix("");
  int n = size;
  void* arguments[] = {&n, &a, &b, &c};
  check(cuLaunchKernel(kernel, 16, 16, 1, 16, 16, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> result(bytes / sizeof(float));
  check(cuMemcpyDtoH_v2(result.data(), c, bytes));
  const std::string text = contents(folder + "c.ref.bin");
  const auto* expected = reinterpret_cast<const float*>(text.data());
  for (std::size_t k = 0; k < result.size(); ++k)
    if (text.size() < bytes || std::fabs(result[k] - expected[k]) > 1e-3f * (1 + std::fabs(expected[k]))) return 1;
  std::puts("right");
  return 0;
}
