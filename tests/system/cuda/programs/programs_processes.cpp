// SPDX-License-Identifier: MIT
// Processes that fork, replace themselves, end early or never.
#include "programs.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace cuda_programs {

// A process that has not used CUDA may fork; then both it and its children may use CUDA.
void forks_once() {
  const pid_t child = ::fork();
  if (child == 0) {
    vectors();
    std::exit(0);
  }
  int status = 0;
  HOLDS(::waitpid(child, &status, 0) == child && status == 0);
}

void forks() {
  pid_t children[2];
  for (pid_t& c : children) {
    c = ::fork();
    if (c == 0) {
      vectors();
      std::_Exit(0);
    }
  }
  vectors();
  for (const pid_t c : children) {
    int status = 0;
    HOLDS(::waitpid(c, &status, 0) == c && status == 0);
  }
}

// Registered memory lies at its address in the memory of the GPU, which processes share. A process that ends frees it.
void registers_one_address() {
  constexpr int not_supported = 801;
  static int words[1024];
  int ready[2], go[2];
  char byte = 0;
  HOLDS(::pipe(ready) == 0 && ::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    RIGHT(cudaHostRegister(words, sizeof words, 0));
    for (int& w : words) w = 3;
    RIGHT(launch(linger, 8, 128, 0, nullptr, words, 5));
    RIGHT(cudaDeviceSynchronize());
    for (const int w : words) HOLDS(w == 4);
    HOLDS(::write(ready[1], "r", 1) == 1 && ::read(go[0], &byte, 1) == 1);
    std::_Exit(0);
  }
  HOLDS(::read(ready[0], &byte, 1) == 1);
  HOLDS(cudaHostRegister(words, sizeof words, 0) == not_supported);
  HOLDS(::write(go[1], "g", 1) == 1);
  int status = 0;
  HOLDS(::waitpid(child, &status, 0) == child && status == 0);
  RIGHT(cudaHostRegister(words, sizeof words, 0));
  RIGHT(launch(linger, 8, 128, 0, nullptr, words, 5));
  RIGHT(cudaDeviceSynchronize());
  for (const int w : words) HOLDS(w == 1);
}

// A process is killed while its host function runs. The child that it has forked uses the same stream.
void leaves_a_child_behind() {
  cudaStream_t stream = nullptr;
  RIGHT(cudaStreamCreate(&stream));
  auto* d = device<int>(128);
  RIGHT(cudaMemset(d, 0, 512));
  int begun[2];
  char byte = 0;
  HOLDS(::pipe(begun) == 0);
  RIGHT(cudaLaunchHostFunc(
      stream,
      [](void* to) {
        if (::write(*static_cast<int*>(to), "b", 1) == 1) ::sleep(100);
      },
      &begun[1]));
  HOLDS(::read(begun[0], &byte, 1) == 1);
  const pid_t parent = ::getpid();
  if (::fork() != 0) {
    static_cast<void>(cudaDeviceSynchronize());
    return;
  }
  RIGHT(launch(linger, 1, 128, 0, stream, d, 1));
  HOLDS(cudaStreamQuery(stream) == cudaErrorNotReady);
  HOLDS(::kill(parent, SIGKILL) == 0);
  RIGHT(cudaStreamSynchronize(stream));
  int there[128];
  RIGHT(cudaMemcpy(there, d, sizeof there, cudaMemcpyDeviceToHost));
  for (const int v : there) HOLDS(v == 1);
}

// The memory of a child that has ended is free, though its parent has work to wait for.
void forks_for_memory() {
  auto* d = device<int>(128);
  RIGHT(launch(linger, 1, 128, 0, nullptr, d, 100));
  std::size_t left = 0, all = 0;
  RIGHT(cudaMemGetInfo(&left, &all));
  for (int k = 0; k < 3; ++k) {
    const pid_t child = ::fork();
    if (child == 0) {
      void* most = nullptr;
      RIGHT(cudaMalloc(&most, all / 5 * 3));
      std::_Exit(0);
    }
    int status = 0;
    HOLDS(::waitpid(child, &status, 0) == child && status == 0);
  }
  RIGHT(cudaDeviceSynchronize());
}

// A child has something behind its parent's kernel when it ends: the parent still waits for the kernel.
void forks_behind_a_kernel() {
  cudaStream_t s = nullptr, t = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&s, 1));
  RIGHT(cudaStreamCreateWithFlags(&t, 1));
  auto* d = device<int>(256);
  RIGHT(cudaMemset(d, 0, 1024));
  RIGHT(cudaDeviceSynchronize());
  for (int round = 1; round < 4; ++round) {
    RIGHT(launch(linger, 1, 128, 0, s, d, 5000));
    const pid_t child = ::fork();
    if (child == 0) {
      RIGHT(cudaMemsetAsync(d + 128, 1, 512, s));
      std::_Exit(0);
    }
    int status = 0;
    HOLDS(::waitpid(child, &status, 0) == child && status == 0);
    if (round == 1) RIGHT(cudaStreamSynchronize(s));
    if (round == 2) RIGHT(cudaDeviceSynchronize());
    if (round == 3) {
      cudaEvent_t e = nullptr;
      RIGHT(cudaEventCreate(&e));
      RIGHT(cudaEventRecord(e, s));
      RIGHT(cudaStreamWaitEvent(t, e, 0));
    }
    int got = 0;
    RIGHT(cudaMemcpyAsync(&got, d + 127, 4, cudaMemcpyDeviceToHost, t));
    RIGHT(cudaStreamSynchronize(t));
    HOLDS(got == round);
  }
}

// A child of a process that has used CUDA calls CUDA itself.
void forks_late() {
  int devices = 0;
  RIGHT(cudaGetDeviceCount(&devices));
  auto* kept = device<int>(100);
  forks_once();
  RIGHT(cudaFree(kept));
  vectors();
}

namespace {

// The child uses what its parent has made before fork(), and what it makes itself.
void use_all(int* counts, int* shared, cudaStream_t stream, cudaEvent_t event, int before) {
  static int told = 0;
  int back = 0;
  cudaStream_t own = nullptr;
  RIGHT(launch(linger, 1, 1, 0, nullptr, counts, 1));
  RIGHT(launch(linger, 1, 1, 0, stream, counts, 1));
  RIGHT(cudaEventRecord(event, stream));
  RIGHT(cudaStreamCreate(&own));
  RIGHT(cudaStreamWaitEvent(own, event, 0));
  RIGHT(launch(linger, 1, 1, 0, own, counts, 1));
  RIGHT(cudaLaunchHostFunc(
      own, [](void* to) { ++*static_cast<int*>(to); }, &told));
  RIGHT(cudaStreamSynchronize(own));
  GIVES(1, told);
  RIGHT(cudaMemcpy(&back, counts, 4, cudaMemcpyDeviceToHost));
  GIVES(before + 3, back);
  *shared = 40;
  RIGHT(launch(linger, 1, 1, 0, own, shared, 1));
  RIGHT(cudaDeviceSynchronize());
  GIVES(41, *shared);
  RIGHT(cudaStreamDestroy(stream));
  vectors();
}

}  // namespace

void forks_after_launches() {
  auto* counts = device<int>(1);
  int* shared = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int told = 0, back = 0, status = 0;
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&shared), 4, 1));
  RIGHT(cudaMemset(counts, 0, 4));
  RIGHT(cudaStreamCreate(&stream));
  RIGHT(cudaEventCreate(&event));
  RIGHT(launch(linger, 1, 1, 0, stream, counts, 1));
  RIGHT(cudaLaunchHostFunc(
      stream, [](void* to) { ++*static_cast<int*>(to); }, &told));
  RIGHT(cudaStreamSynchronize(stream));
  for (int k = 0; k < 2; ++k) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (k == 1 && ::fork() == 0) std::_Exit(0);
      use_all(counts, shared, stream, event, 1 + 4 * k);
      std::_Exit(0);
    }
    HOLDS(::waitpid(child, &status, 0) == child && status == 0);
    RIGHT(launch(linger, 1, 1, 0, stream, counts, 1));
    RIGHT(cudaStreamSynchronize(stream));
    RIGHT(cudaMemcpy(&back, counts, 4, cudaMemcpyDeviceToHost));
    GIVES(1 + 4 * (k + 1), back);
  }
  GIVES(1, told);
}

// A child that only uses memory of its own leaves its parent's as it is.
void forks_with_memory_in_place() {
  int *pinned = nullptr, status = 0, go[2];
  static int registered[128];
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 512, 0));
  RIGHT(cudaHostRegister(registered, 512, 0));
  for (int k = 0; k < 128; ++k) pinned[k] = registered[k] = 1;
  RIGHT(launch(linger, 1, 128, 0, nullptr, pinned, 1));
  RIGHT(launch(linger, 1, 128, 0, nullptr, registered, 1));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char none = 0;
    HOLDS(::read(go[0], &none, 1) == 1);
    RIGHT(launch(linger, 1, 128, 0, nullptr, device<int>(128), 1));
    RIGHT(cudaDeviceSynchronize());
    HOLDS(pinned[0] == 11 && registered[0] == 2);
    std::_Exit(0);
  }
  for (int k = 0; k < 128; ++k) pinned[k] = registered[k] = 10;
  RIGHT(launch(linger, 1, 128, 0, nullptr, pinned, 1));
  RIGHT(launch(linger, 1, 128, 0, nullptr, registered, 1));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(::write(go[1], "", 1) == 1 && ::waitpid(child, &status, 0) == child && status == 0);
  RIGHT(launch(linger, 1, 128, 0, nullptr, registered, 1));
  RIGHT(cudaDeviceSynchronize());
  for (int k = 0; k < 128; ++k) HOLDS(pinned[k] == 11 && registered[k] == 12);
}

// A launch that is not waited for is simulated after the program has ended.
void leaves_early() {
  auto* a = device<int>(4096);
  RIGHT(launch(linger, 32, 128, 0, nullptr, a, 100));
  std::_Exit(9);
}

// Allocates more than half of the device's memory and does not free it.
void keeps_memory() {
  std::size_t free = 0, total = 0;
  RIGHT(cudaMemGetInfo(&free, &total));
  device<char>(total / 8 * 5);
}

void prints_memory() {
  std::size_t free = 0, total = 0;
  RIGHT(cudaMemGetInfo(&free, &total));
  void* p = nullptr;
  GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
  std::printf("%zu bytes; an allocation of %zu is refused\n", total, total + 1);
}

// exec() releases the program's resources on the GPU.
void replaces_itself() {
  keeps_memory();
  ::execl("/proc/self/exe", "programs", kernels_file, "keeps_memory", nullptr);
}

// Its kernel would take hours.
void becomes_another() {
  RIGHT(launch(linger, 1, 128, 0, nullptr, device<int>(128), 1 << 30));
  GIVES(600, cudaStreamQuery(nullptr));
  ::execl("/bin/echo", "echo", "another", nullptr);
}

// Heddle's processes are not children of the program.
void has_no_children() {
  static volatile sig_atomic_t told = 0;
  ::signal(SIGCHLD, [](int) { told = 1; });
  vectors();
  GIVES(-1, ::waitpid(-1, nullptr, 0));
  HOLDS(errno == ECHILD && told == 0);
}

// Static objects are destroyed after thread-local ones.
void frees_at_exit() {
  static struct memory_at_exit {
    int* p = device<int>(100);
    ~memory_at_exit() { RIGHT(cudaFree(p)); }
  } m;
}

// Processes that use the GPU until all have; those that Heddle cannot serve end by themselves.
void many_children() {
  constexpr int children = 24;
  int ready[2], line[2];
  HOLDS(::pipe(ready) == 0 && ::pipe(line) == 0);
  for (int k = 0; k < children; ++k) {
    if (::fork() != 0) continue;
    ::close(line[1]);
    device<int>(256);
    ::close(ready[1]);
    char none = 0;
    ::_exit(static_cast<int>(::read(line[0], &none, 1)));
  }
  ::close(ready[1]);
  char none = 0;
  HOLDS(::read(ready[0], &none, 1) == 0);
  ::close(line[1]);
  int served = 0, refused = 0, status = 0;
  while (::wait(&status) > 0) {
    if (status == 0) ++served;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) ++refused;
  }
  HOLDS(served > 0 && served + refused == children);
  std::printf("%d refused\n", refused);
}

void unknown_name() { cudaGraphicsGLRegisterBuffer(nullptr, 0, 0); }

void crashes() {
  auto* a = device<int>(4096);
  RIGHT(launch(linger, 32, 128, 0, nullptr, a, 100));
  std::abort();
}

void nothing() {}

// Runs until it is stopped by a signal.
// Its memory is then that of a process whose first thread is gone.
void ends_its_first_thread() {
  std::thread([main = ::pthread_self()] {
    ::pthread_join(main, nullptr);
    int there[256], back[256] = {};
    for (int k = 0; k < 256; ++k) there[k] = k;
    auto* a = device<int>(256);
    RIGHT(cudaMemcpy(a, there, sizeof there, cudaMemcpyHostToDevice));
    RIGHT(launch(linger, 2, 128, 0, nullptr, a, 20));
    RIGHT(cudaMemcpy(back, a, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back[255] == 256);
    std::puts("right");
    std::exit(0);
  }).detach();
  ::pthread_exit(nullptr);
}

namespace {

// A kernel that takes as good as for ever, behind a short one.
void lingers(unsigned blocks) {
  auto* a = device<int>(blocks * 128);
  std::puts("started");
  std::fflush(stdout);
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 1));
  RIGHT(launch(linger, blocks, 128, 0, nullptr, a, 2'000'000'000));
  RIGHT(cudaDeviceSynchronize());
}

}  // namespace

// Of more blocks than a GPU holds.
void endless_kernel() { lingers(4000); }

void endless_block() { lingers(1); }

// Whatever CUDA says.
void never_asks() {
  auto* a = device<int>(4096);
  std::puts("started");
  std::fflush(stdout);
  for (;;) {
    static_cast<void>(launch(linger, 32, 128, 0, nullptr, a, 1000));
    static_cast<void>(cudaDeviceSynchronize());
  }
}

void endless() {
  auto* a = device<int>(4096);
  std::puts("started");
  std::fflush(stdout);
  for (;;) {
    RIGHT(launch(linger, 32, 128, 0, nullptr, a, 1000));
    RIGHT(cudaDeviceSynchronize());
  }
}

}  // namespace cuda_programs
