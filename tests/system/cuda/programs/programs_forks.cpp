// SPDX-License-Identifier: MIT
// Processes that are forked while other threads call CUDA.
#include "programs.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace cuda_programs {

namespace {

// A minute is ample.
void end_in_time(pid_t child, const char* what) {
  int status = 0;
  for (int k = 0; k < 6000; ++k) {
    if (::waitpid(child, &status, WNOHANG) == child) {
      HOLDS(status == 0);
      return;
    }
    ::usleep(10000);
  }
  fail(__FILE__, __LINE__, what, status);
}

}  // namespace

// What the library knows is whole in each child, and none waits for a thread of its parent.
void forks_among_threads() {
  std::atomic<bool> ends{false};
  int* const known = device<int>(16);
  const auto repeat = [&ends](auto call) {
    return std::thread([&ends, call] {
      while (!ends) call();
    });
  };
  std::vector<std::thread> others;
  others.push_back(repeat([] {
    int count = 0;
    RIGHT(cudaGetDeviceCount(&count));
  }));
  others.push_back(repeat([known] {
    cudaPointerAttributes a{};
    RIGHT(cudaPointerGetAttributes(&a, known));
  }));
  others.push_back(repeat([] {
    void* pinned = nullptr;
    RIGHT(cudaHostAlloc(&pinned, 64, 0));
    RIGHT(cudaFreeHost(pinned));
  }));
  for (int k = 0; k < 12; ++k) {
    const pid_t child = ::fork();
    if (child == 0 && k % 2 == 0) ::exit(0);
    if (child == 0) {
      void* pinned = nullptr;
      RIGHT(cudaHostAlloc(&pinned, 64, 0));
      RIGHT(cudaFreeHost(pinned));
      ::_exit(0);
    }
    end_in_time(child, k % 2 == 0 ? "a child that ends" : "a child that calls CUDA");
  }
  ends = true;
  for (std::thread& t : others) t.join();
  RIGHT(cudaFree(known));
}

}  // namespace cuda_programs
