// SPDX-License-Identifier: MIT
// Streams, events, host functions, threads, and how errors are reported.
#include "programs.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cuda_programs {

void streams() {
  auto *a = device<int>(4096), *b = device<int>(64);
  RIGHT(cudaMemset(a, 0, 4096 * 4));
  RIGHT(cudaMemset(b, 0, 64 * 4));
  RIGHT(cudaDeviceSynchronize());  // non-blocking streams would overtake them
  cudaStream_t one = nullptr, two = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&one, 1));
  RIGHT(cudaStreamCreateWithFlags(&two, 1));
  cudaEvent_t begin = nullptr, middle = nullptr, end = nullptr, alone = nullptr;
  for (cudaEvent_t* e : {&begin, &middle, &end, &alone}) RIGHT(cudaEventCreate(e));
  float ms = 0;
  GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, end));
  RIGHT(cudaEventRecord(begin, one));
  for (int k = 0; k < 3; ++k) RIGHT(launch(linger, 32, 128, 0, one, a, 400));
  RIGHT(cudaEventRecord(middle, one));
  GIVES(cudaErrorNotReady, cudaStreamQuery(one));
  // The second stream ends long before the first, except for operations that wait for it.
  RIGHT(launch(linger, 1, 64, 0, two, b, 1));
  RIGHT(cudaEventRecord(alone, two));
  RIGHT(cudaStreamWaitEvent(two, middle, 0));
  RIGHT(launch(linger, 1, 64, 0, two, b, 1));
  RIGHT(cudaEventRecord(end, two));
  RIGHT(cudaEventSynchronize(alone));
  GIVES(cudaErrorNotReady, cudaEventQuery(middle));
  int polls = 0;
  while (cudaEventQuery(end) == cudaErrorNotReady) HOLDS(++polls < 10'000'000);
  float whole = 0, first = 0, early = 0;
  RIGHT(cudaEventElapsedTime(&whole, begin, end));
  RIGHT(cudaEventElapsedTime(&first, begin, middle));
  RIGHT(cudaEventElapsedTime(&early, begin, alone));
  HOLDS(early > 0 && early < first && first < whole);
  std::vector<int> back(4096);
  RIGHT(cudaMemcpy(back.data(), a, 4096 * 4, cudaMemcpyDeviceToHost));
  for (const int w : back) HOLDS(w == 3);
  RIGHT(cudaMemcpy(back.data(), b, 64 * 4, cudaMemcpyDeviceToHost));
  HOLDS(back[63] == 2);
  for (const cudaStream_t s : {one, two}) RIGHT(cudaStreamDestroy(s));
  GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(one));
  // Blocking streams and the default stream wait for each other.
  cudaStream_t three = nullptr;
  RIGHT(cudaStreamCreate(&three));
  RIGHT(cudaMemset(b, 0, 64 * 4));
  for (int k = 0; k < 20; ++k) RIGHT(launch(linger, 1, 64, 0, k % 2 != 0 ? three : nullptr, b, 10 + 10 * (k % 3)));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaMemcpy(back.data(), b, 64 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) HOLDS(back[i] == 20);
  std::printf("%.3f us\n", 1000.0 * whole);
}

namespace {

std::mutex seen_mutex;
std::condition_variable seen_changed;
std::string seen;
void note(void* what) {
  const std::lock_guard<std::mutex> lock(seen_mutex);
  seen += *static_cast<const char*>(what);
  seen_changed.notify_all();
}

}  // namespace

void host_functions() {
  auto* a = device<int>(4096);
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  static char letters[] = "abc";
  for (int k = 0; k < 3; ++k) {
    RIGHT(launch(linger, 32, 128, 0, s, a, 50));
    if (k == 1)
      RIGHT(cudaStreamAddCallback(
          s,
          [](cudaStream_t, int e, void* what) {
            HOLDS(e == 0);
            note(what);
          },
          letters + k, 0));
    else RIGHT(cudaLaunchHostFunc(s, note, letters + k));
  }
  // No CUDA function is called here; simulated time advances anyway.
  std::unique_lock<std::mutex> lock(seen_mutex);
  seen_changed.wait(lock, [] { return seen.size() == 3; });
  HOLDS(seen == "abc");
  lock.unlock();
  RIGHT(cudaStreamSynchronize(s));
}

void errors() {
  auto* a = device<int>(64);
  GIVES(cudaErrorInvalidValue, launch(linger, 1, 2000, 0, nullptr, a, 1));
  GIVES(cudaErrorInvalidValue, cudaPeekAtLastError());
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  GIVES(cudaSuccess, cudaGetLastError());
  GIVES(cudaErrorInvalidValue, launch(linger, 0, 32, 0, nullptr, a, 1));
  RIGHT(launch(linger, 1, 32, (std::size_t{1} << 32) + 16, nullptr, a, 1));  // 16 bytes, as in CUDA
  HOLDS(std::string(cudaGetErrorName(2)) == "cudaErrorMemoryAllocation" &&
        std::string(cudaGetErrorString(2)) == "out of memory");
  char handle[64];
  GIVES(801, cudaIpcGetMemHandle(handle, a));
  GIVES(801, cudaGetLastError());
  char unknown = 0;
  GIVES(cudaErrorInvalidResourceHandle, launch(unknown, 1, 1, 0, nullptr));
  cudaGetLastError();
  int blocks = 0;
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &linger, 256, 0));
  HOLDS(blocks >= 4);
  cudaFuncAttributes f{};
  RIGHT(cudaFuncGetAttributes(&f, &linger));
  HOLDS(f.numRegs > 4 && f.maxThreadsPerBlock == 1024);
  // CUB chooses its kernels by the architecture of the PTX, not by that of the chip.
  int major = 0, minor = 0;
  RIGHT(cudaDeviceGetAttribute(&major, 75, 0));
  RIGHT(cudaDeviceGetAttribute(&minor, 76, 0));
  HOLDS(f.ptxVersion == 75 && f.binaryVersion == 10 * major + minor);
  // All later calls return the fault.
  RIGHT(launch(wrong_address, 1, 32, 0, nullptr, static_cast<int*>(nullptr)));
  GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  void* p = nullptr;
  GIVES(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
}

// Writes 64 bytes, half of them before an allocation and then behind it, 4 bytes 64 KiB behind a large one, and 4 bytes
// two pages behind the first.
void writes_around() {
  constexpr int words = 8192 / 4;
  void *place = nullptr, *next = nullptr;
  RIGHT(cudaMalloc(&place, 8192));
  RIGHT(cudaMalloc(&next, 8192));
  int* const p = static_cast<int*>(place);
  RIGHT(cudaMemset(next, 7, 8192));
  RIGHT(launch(wrong_address, 1, 16, 0, nullptr, p - 8));
  const int before = cudaDeviceSynchronize();
  std::printf("before %d\n", before);
  if (before != cudaSuccess) return;
  RIGHT(launch(wrong_address, 1, 16, 0, nullptr, p + words - 8));
  RIGHT(cudaDeviceSynchronize());
  void* large = nullptr;
  RIGHT(cudaMalloc(&large, 1 << 20));
  RIGHT(launch(wrong_address, 1, 1, 0, nullptr, static_cast<int*>(large) + ((1 << 20) + 65532) / 4));
  RIGHT(cudaDeviceSynchronize());
  std::vector<int> host(words);
  RIGHT(cudaMemcpy(host.data(), next, 8192, 2));
  for (const int word : host) HOLDS(word == 0x07070707);
  RIGHT(launch(wrong_address, 1, 1, 0, nullptr, p + words + 1024));
  std::printf("far behind %d\n", cudaDeviceSynchronize());
}

void fails_assertion() {
  RIGHT(launch(claim, 1, 32, 0, nullptr, 1));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(launch(claim, 1, 32, 0, nullptr, 2));
  GIVES(cudaErrorAssert, cudaDeviceSynchronize());
}

void prints() {
  std::puts("before");
  RIGHT(launch(say, 1, 2, 0, nullptr, 1));
  RIGHT(cudaDeviceSynchronize());
  std::puts("between");
  RIGHT(launch(say, 1, 1, 0, nullptr, 2));
  RIGHT(cudaDeviceSynchronize());
  std::puts("behind");
}

// Without waiting for it.
void prints_and_leaves() { RIGHT(launch(say, 1, 1, 0, nullptr, 7)); }

void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t] {
      auto* a = device<int>(256);
      RIGHT(cudaMemset(a, 0, 1024));
      RIGHT(cudaDeviceSynchronize());
      cudaStream_t s = nullptr;
      RIGHT(cudaStreamCreateWithFlags(&s, 1));
      for (int k = 0; k <= t; ++k) RIGHT(launch(linger, 2, 128, 0, s, a, 20));
      RIGHT(cudaStreamSynchronize(s));
      int back[256];
      RIGHT(cudaMemcpy(back, a, 1024, cudaMemcpyDeviceToHost));
      HOLDS(back[255] == t + 1);
    });
  for (std::thread& t : all) t.join();
}

// While some threads ask whether their work has ended, others wait for theirs.
void threads_that_ask() {
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t)
    all.emplace_back([t] {
      auto* a = device<int>(256);
      cudaStream_t s = nullptr;
      RIGHT(cudaStreamCreateWithFlags(&s, 1));
      RIGHT(cudaMemsetAsync(a, 0, 1024, s));
      for (int k = 0; k < 8; ++k) {
        RIGHT(launch(linger, 2, 128, 0, s, a, 20));
        if (t % 2 == 0) {
          int e = cudaErrorNotReady;
          while (e == cudaErrorNotReady) e = cudaStreamQuery(s);
          RIGHT(e);
        } else {
          RIGHT(cudaStreamSynchronize(s));
        }
      }
      int back[256];
      RIGHT(cudaMemcpy(back, a, 1024, cudaMemcpyDeviceToHost));
      HOLDS(back[255] == 8);
    });
  for (std::thread& t : all) t.join();
}

namespace {

/// What a thread gives back when it ends, as pools of memory do.
struct of_thread {
  int* memory = nullptr;
  ~of_thread() {
    int* more = device<int>(256);
    RIGHT(launch(linger, 2, 128, 0, nullptr, more, 20));
    RIGHT(cudaDeviceSynchronize());
    RIGHT(cudaFree(more));
    RIGHT(cudaFree(memory));
  }
};

thread_local of_thread pool;

}  // namespace

// The thread's variable is older than all that its calls leave in the library, so it goes after that.
void threads_that_call_at_their_end() {
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([t] {
        pool.memory = nullptr;
        const std::vector<long> junk(static_cast<std::size_t>(t) * 7);
        pool.memory = device<int>(256);
      });
    for (std::thread& t : all) t.join();
  }
}

namespace {

// Longer than gpu.watchdog_cycles of a kernel that waits take the simulator.
void rest() { ::usleep(400'000); }

}  // namespace

// A kernel waits, for as long as the program likes, for a word that the program writes.
void flag_of_the_host() {
  int *pinned = nullptr, *managed = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 64, 2));
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&managed), 64, 1));
  for (int* word : {pinned, managed}) {
    word[0] = word[1] = 0;
    RIGHT(launch(answer, 1, 1, 0, nullptr, word));
    std::thread writes([word] {
      rest();
      *static_cast<volatile int*>(word) = 5;
    });
    RIGHT(cudaDeviceSynchronize());
    writes.join();
    HOLDS(word[1] == 6);
  }
  // The thread that asks writes it.
  pinned[0] = pinned[1] = 0;
  RIGHT(launch(answer, 1, 1, 0, nullptr, pinned));
  const auto begin = std::chrono::steady_clock::now();
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady)
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(400))
      *static_cast<volatile int*>(pinned) = 7;
  RIGHT(cudaStreamQuery(nullptr));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(pinned[1] == 8);
}

// A thread writes memory of the GPU by a copy while another one waits.
void flag_by_a_copy() {
  auto* d = device<int>(2);
  RIGHT(cudaMemset(d, 0, 8));
  cudaStream_t s = nullptr, t = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&s, 1));
  RIGHT(launch(answer, 1, 1, 0, s, d));
  std::thread copies([&t, d] {
    const int value = 9;
    RIGHT(cudaStreamCreateWithFlags(&t, 1));
    rest();
    RIGHT(cudaMemcpyAsync(d, &value, sizeof value, cudaMemcpyHostToDevice, t));
  });
  while (t == nullptr) ::usleep(1000);
  RIGHT(cudaStreamSynchronize(s));
  copies.join();
  int got[2] = {};
  RIGHT(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  HOLDS(got[1] == 10);
}

// The only thread waits, too.
void unset_flag() {
  int* word = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&word), 64, 2));
  word[0] = 0;
  RIGHT(launch(answer, 1, 1, 0, nullptr, word));
  constexpr int launch_failed = 719;
  GIVES(launch_failed, cudaDeviceSynchronize());
}

}  // namespace cuda_programs
