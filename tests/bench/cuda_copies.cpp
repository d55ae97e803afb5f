// SPDX-License-Identifier: MIT
// How long a CUDA program's copies take on the host, beside the host's own: heddle exec -- cuda_copies [MIB]. Each is
// timed when nothing was written to its destination before (first touch), and again (warm: the best of ten, for other
// work on the machine takes its caches); what was copied is compared. Seconds are those of the processors, of this
// process and of the simulator that has started it, so that other work on the machine counts little. The host's own
// copy is timed again at the end: in a virtual machine, memory that its host must provide is slow for all.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tests/system/cuda/cuda_interface.h"

namespace {

void check(int status) {
  if (status == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(status));
  std::exit(1);
}

double of_this_process() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double of_the_simulator() {
  std::ifstream in("/proc/" + std::to_string(::getppid()) + "/schedstat");
  double nanoseconds = 0;
  in >> nanoseconds;
  return 1e-9 * nanoseconds;
}

template <class Action>
double seconds(Action&& action) {
  const double begin = of_this_process() + of_the_simulator();
  action();
  return of_this_process() + of_the_simulator() - begin;
}

struct pair {
  double first, warm;
};
template <class Action>
pair twice(Action&& action) {
  const double first = seconds(action);
  double warm = seconds(action);
  for (int k = 0; k < 9; ++k) warm = std::min(warm, seconds(action));
  return {first, warm};
}

std::uint8_t* memory(std::size_t bytes) {
  auto* p = static_cast<std::uint8_t*>(std::malloc(bytes));
  if (p == nullptr) std::exit(1);
  return p;
}

void print_row(const char* what, pair t, pair host) {
  std::printf("%-16s %6.3f s %6.3f s   %4.1f %4.1f times the host's\n", what, t.first, t.warm, t.first / host.first,
              t.warm / host.warm);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024) << 20;
  std::uint8_t *from = memory(bytes), *to = memory(bytes), *back = memory(bytes);
  for (std::size_t k = 0; k < bytes / 8; ++k) {
    const std::uint64_t word = k * 0x9e3779b97f4a7c15u + 1;
    std::memcpy(from + 8 * k, &word, 8);
  }
  void *device = nullptr, *other = nullptr;
  check(cudaMalloc(&device, bytes));
  check(cudaMalloc(&other, bytes));
  const pair host = twice([&] { std::memcpy(to, from, bytes); });
  std::printf("%zu MiB           first touch   warm\n", bytes >> 20);
  print_row("host memcpy", host, host);
  print_row("to the device", twice([&] { check(cudaMemcpy(device, from, bytes, cudaMemcpyHostToDevice)); }), host);
  print_row("on the device", twice([&] {
              check(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice));
              check(cudaDeviceSynchronize());
            }),
            host);
  print_row("to the host", twice([&] { check(cudaMemcpy(back, other, bytes, cudaMemcpyDeviceToHost)); }), host);
  std::uint8_t* const last = memory(bytes);
  print_row("host memcpy", twice([&] { std::memcpy(last, from, bytes); }), host);
  if (std::memcmp(from, back, bytes) != 0) {
    std::puts("the copy differs");
    return 1;
  }
  return 0;
}
