// SPDX-License-Identifier: MIT
// Checks for the parts of a test program.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t e_ = (call);                                                                    \
    if (e_ != cudaSuccess) std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(e_)), ++wrong; \
  } while (0)
#define EXPECT(condition) \
  do {                    \
    if (!(condition)) std::printf("line %d: not so: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)

inline int wrong = 0;

inline std::vector<float> numbers(int n) {
  std::vector<float> v(n);
  for (int k = 0; k < n; ++k) v[k] = static_cast<float>(k);
  return v;
}

inline float* device_floats(int n) {
  float* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(float)));
  CHECK(cudaMemset(p, 0, n * sizeof(float)));
  return p;
}
inline std::vector<float> read(const float* p, int n) {
  std::vector<float> v(n);
  CHECK(cudaMemcpy(v.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost));
  return v;
}

/// Runs the part named by the program's argument.
inline int run_part(const std::map<std::string, void (*)()>& parts, const char* name) {
  parts.at(name)();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetLastError());
  std::puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
