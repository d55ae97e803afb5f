// SPDX-License-Identifier: MIT
// How long a CUDA program's copies take on the host, beside the host's own: heddle exec -- cuda_copies [MIB]. Each is
// timed when nothing was written to its destination before (first touch), and warm, in ten rounds of all copies, the
// host's among them: the best of each, for other work on the machine takes its caches and its memory's bandwidth. What
// was copied is compared. Processor time is that of this process and of the simulator that has started it; by the
// clock, a copy takes less where both work at the same time. The host's own copy is timed again at the end: in a
// virtual machine, memory that its host must provide is slow for all.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
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

double clock_now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

struct times {
  double processors = 1e9, clock = 1e9;
};
struct copy_times {
  const char* what;
  std::function<void()> action;
  times first{}, warm{};
};

times timed(const std::function<void()>& action) {
  const double processors = of_this_process() + of_the_simulator(), begin = clock_now();
  action();
  const double end = clock_now();
  return {of_this_process() + of_the_simulator() - processors, end - begin};
}

void repeat(copy_times& c) {
  const times t = timed(c.action);
  c.warm.processors = std::min(c.warm.processors, t.processors);
  c.warm.clock = std::min(c.warm.clock, t.clock);
}

std::uint8_t* memory(std::size_t bytes) {
  auto* p = static_cast<std::uint8_t*>(std::malloc(bytes));
  if (p == nullptr) std::exit(1);
  return p;
}

void print_row(const copy_times& c, const copy_times& host) {
  std::printf("%-14s %6.3f %6.3f %6.3f %6.3f s %6.1f %4.1f %6.1f %4.1f\n", c.what, c.first.processors,
              c.warm.processors, c.first.clock, c.warm.clock, c.first.processors / host.first.processors,
              c.warm.processors / host.warm.processors, c.first.clock / host.first.clock,
              c.warm.clock / host.warm.clock);
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
  constexpr int rounds = 10;
  copy_times copies[] = {
      {"host memcpy", [&] { std::memcpy(to, from, bytes); }},
      {"to the device", [&] { check(cudaMemcpy(device, from, bytes, cudaMemcpyHostToDevice)); }},
      {"on the device",
       [&] {
         check(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice));
         check(cudaDeviceSynchronize());
       }},
      {"to the host", [&] { check(cudaMemcpy(back, other, bytes, cudaMemcpyDeviceToHost)); }},
  };
  for (copy_times& c : copies) c.first = timed(c.action);
  for (int k = 0; k < rounds; ++k)
    for (copy_times& c : copies) repeat(c);
  std::uint8_t* const last = memory(bytes);
  copy_times at_the_end{"host memcpy", [&] { std::memcpy(last, from, bytes); }};
  at_the_end.first = timed(at_the_end.action);
  for (int k = 0; k < rounds; ++k) repeat(at_the_end);
  std::printf("%-14s processor     clock           times the host's\n%5zu MiB      first  warm   first  warm\n", "",
              bytes >> 20);
  for (const copy_times& c : copies) print_row(c, copies[0]);
  print_row(at_the_end, copies[0]);
  if (std::memcmp(from, back, bytes) != 0) {
    std::puts("the copy differs");
    return 1;
  }
  return 0;
}
