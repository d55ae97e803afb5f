// SPDX-License-Identifier: MIT
// Launches a kernel as a CUDA program does: heddle exec -- cuda_launches PTX KERNEL GRID BLOCK LAUNCHES ARGUMENT...
// GRID, BLOCK: X or X,Y. ARGUMENT: buf:BYTES (memory filled with small numbers) or s32:VALUE.
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
int cuCtxSynchronize();
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
}

namespace {

void check(int status) {
  if (status == 0) return;
  std::printf("CUDA error %d\n", status);
  std::exit(1);
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t buffer(std::size_t bytes) {
  std::vector<float> values(bytes / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  std::uint64_t at = 0;
  check(cuMemAlloc_v2(&at, bytes));
  check(cuMemcpyHtoD_v2(at, values.data(), values.size() * sizeof(float)));
  return at;
}

std::uint64_t value_of(const std::string& argument) {
  const std::uint64_t number = std::stoull(argument.substr(4));
  return argument.rfind("buf:", 0) == 0 ? buffer(number) : number;
}

struct size {
  unsigned x = 1, y = 1;
  explicit size(const std::string& text) : x(static_cast<unsigned>(std::stoul(text))) {
    if (const auto comma = text.find(','); comma != std::string::npos)
      y = static_cast<unsigned>(std::stoul(text.substr(comma + 1)));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 5) return 2;
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  check(cuInit(0));
  check(cuCtxCreate_v2(&context, 0, 0));
  check(cuModuleLoadData(&module, contents(words[0]).c_str()));
  check(cuModuleGetFunction(&kernel, module, words[1].c_str()));
  const size grid(words[2]), block(words[3]);
  std::vector<std::uint64_t> values;
  for (std::size_t i = 5; i < words.size(); ++i) values.push_back(value_of(words[i]));
  std::vector<void*> arguments;
  for (std::uint64_t& v : values) arguments.push_back(&v);
  for (unsigned left = static_cast<unsigned>(std::stoul(words[4])); left > 0; --left)
    check(cuLaunchKernel(kernel, grid.x, grid.y, 1, block.x, block.y, 1, 0, nullptr, arguments.data(), nullptr));
  check(cuCtxSynchronize());
}
