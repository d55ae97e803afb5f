// SPDX-License-Identifier: MIT
// Processes that are forked while other threads call CUDA, and processes that end before their kernels.
#include "programs.h"

#include <signal.h>
#include <sys/prctl.h>
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

// A child is killed while the simulator, which is stopped, has not seen that its thread calls CUDA.
void killed_within_a_call() {
  int called[2], go[2];
  char byte = 0;
  HOLDS(::pipe(called) == 0 && ::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([] { device<int>(16); }).join();  // its connection ends with it
    if (::write(called[1], &byte, 1) == 1 && ::read(go[0], &byte, 1) == 1) device<int>(16);
    ::pause();
  }
  HOLDS(::read(called[0], &byte, 1) == 1);
  vectors();
  ::kill(::getppid(), SIGSTOP);
  HOLDS(::write(go[1], &byte, 1) == 1);
  ::usleep(500000);
  ::kill(child, SIGKILL);
  HOLDS(::waitpid(child, nullptr, 0) == child);
  ::kill(::getppid(), SIGCONT);
  vectors();
}

// Servers show their state by their name.
void leaves_with_another_name() {
  auto* a = device<int>(4096);
  ::prctl(PR_SET_NAME, "busy", 0, 0, 0);
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 100));
  std::_Exit(9);
}

void leaves_quickly() {
  RIGHT(launch(linger, 1, 128, 0, nullptr, device<int>(4096), 100));
  ::prctl(PR_SET_NAME, "idle", 0, 0, 0);
  std::quick_exit(9);
}

void clears_its_environment() {
  HOLDS(::clearenv() == 0);
  vectors();
}

void becomes_another_user() {
  HOLDS(::setgid(65534) == 0 && ::setuid(65534) == 0);
  vectors();
}

void closes_descriptors() {
  vectors();
  for (int k = 3; k < 1000; ++k) ::close(k);
  vectors();
}

namespace {

void do_nothing(void*) {}
void leave(void*) { ::exit(3); }
void stay(void*) { ::pause(); }

void leave_with(void (*function)(void*)) {
  RIGHT(launch(linger, 1, 128, 0, nullptr, device<int>(128), 100));
  RIGHT(cudaLaunchHostFunc(nullptr, function, nullptr));
}

}  // namespace

void leaves_a_host_function() {
  leave_with(do_nothing);
  ::exit(3);
}

void leaves_in_a_host_function() {
  leave_with(leave);
  RIGHT(cudaDeviceSynchronize());
}

void leaves_while_a_host_function_runs() {
  leave_with(stay);
  std::thread([] { static_cast<void>(cudaDeviceSynchronize()); }).detach();
  ::usleep(300000);
  ::exit(3);
}

// In a stream of its parent, which then waits for it.
void child_leaves_a_host_function() {
  cudaStream_t s{};
  RIGHT(cudaStreamCreate(&s));
  const pid_t child = ::fork();
  if (child == 0) {
    RIGHT(cudaLaunchHostFunc(s, stay, nullptr));
    ::exit(0);
  }
  end_in_time(child, "a child that leaves a host function");
  RIGHT(cudaStreamSynchronize(s));
}

// More blocks than a small GPU holds.
void leaves_endless_blocks() { RIGHT(launch(linger, 64, 128, 0, nullptr, device<int>(64 * 128), 2'000'000'000)); }

namespace {

std::atomic<bool> other_stream_is_done{false};

void wait_for_byte(void* socket) {
  char byte = 0;
  HOLDS(::read(*static_cast<int*>(socket), &byte, 1) == 1);
}

void wait_for_other_stream(void*) {
  while (!other_stream_is_done) ::usleep(10000);
}

// A thread waits for a kernel of its own, for which a host function of another stream waits.
void host_function_waits_for(int (*wait)(cudaStream_t)) {
  cudaStream_t one{}, other{};
  RIGHT(cudaStreamCreate(&one));
  RIGHT(cudaStreamCreate(&other));
  RIGHT(cudaLaunchHostFunc(one, wait_for_other_stream, nullptr));
  std::thread([&] {
    ::usleep(100000);
    RIGHT(launch(linger, 1, 128, 0, other, device<int>(128), 100));
    RIGHT(wait(other));
    other_stream_is_done = true;
  }).join();
  RIGHT(cudaStreamSynchronize(one));
}

}  // namespace

void host_function_waits_for_a_child() {
  static int ends[2];
  HOLDS(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::usleep(200000);
    vectors();
    ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  RIGHT(launch(linger, 1, 128, 0, nullptr, device<int>(128), 100));
  RIGHT(cudaLaunchHostFunc(nullptr, wait_for_byte, ends));
  RIGHT(cudaDeviceSynchronize());
  end_in_time(child, "a child for which a host function waits");
}

void host_function_waits_for_a_thread() { host_function_waits_for(cudaStreamSynchronize); }

void host_function_waits_for_a_query() {
  host_function_waits_for([](cudaStream_t s) {
    int e = cudaErrorNotReady;
    while (e == cudaErrorNotReady) e = cudaStreamQuery(s);
    return e;
  });
}

}  // namespace cuda_programs
