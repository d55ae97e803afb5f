// SPDX-License-Identifier: MIT
// Launches with arguments, and memory of every kind.
#include "programs.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace cuda_programs {

void vectors() {
  const int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 3 * i;
  auto *x = device<float>(n), *y = device<float>(n), *z = device<float>(n);
  const float two = 2;
  RIGHT(cudaMemcpyToSymbol(&factor, &two, 4, 0, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(x, a.data(), 4 * n, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(y, b.data(), 4 * n, cudaMemcpyDefault));
  RIGHT(launch(add, (n + 127) / 128, 128, 0, nullptr, x, y, z, n));
  RIGHT(cudaMemcpy(c.data(), z, 4 * n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) HOLDS(c[i] == 7.0f * i);
  RIGHT(cudaFree(x));
  GIVES(cudaErrorInvalidValue, cudaFree(x));
}

void arguments() {
  struct {
    char c = 1;
    double d = 0.5;
    short s[3] = {2, 3, 4};
  } m;
  auto* out = device<double>(32);
  RIGHT(launch(takes_struct, 1, 32, 0, nullptr, m, char{7}, out));
  double back[32];
  RIGHT(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  HOLDS(back[31] == 17.5);
  // Dynamic shared memory; more than the default only on request.
  std::vector<int> data(15000), turned(15000);
  for (int i = 0; i < 15000; ++i) data[i] = i;
  auto* d = device<int>(data.size());
  RIGHT(cudaMemcpy(d, data.data(), 60000, cudaMemcpyHostToDevice));
  int optin = 0;
  RIGHT(cudaDeviceGetAttribute(&optin, 97, 0));
  GIVES(cudaErrorInvalidValue, launch(reverse, 1, 256, 60000, nullptr, d, 15000));
  GIVES(cudaErrorInvalidValue, cudaGetLastError());
  if (optin >= 60000) {
    RIGHT(cudaFuncSetAttribute(&reverse, 8, 60000));
    RIGHT(launch(reverse, 1, 256, 60000, nullptr, d, 15000));
    RIGHT(cudaMemcpy(turned.data(), d, 60000, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 15000; ++i) HOLDS(turned[i] == 14999 - i);
  }
}

void memory() {
  void* p = nullptr;
  std::size_t pitch = 0, before = 0, after = 0, total = 0;
  RIGHT(cudaMemGetInfo(&before, &total));
  RIGHT(cudaMallocPitch(&p, &pitch, 100, 20));
  HOLDS(pitch >= 100 && pitch % 256 == 0);
  RIGHT(cudaMemGetInfo(&after, &total));
  HOLDS(before - after == pitch * 20);
  unsigned char host[20][120] = {}, back[20][100] = {};
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 100; ++x) host[y][x] = static_cast<unsigned char>(y * 7 + x);
  RIGHT(cudaMemcpy2D(p, pitch, host, 120, 100, 20, cudaMemcpyHostToDevice));
  RIGHT(cudaMemset2D(static_cast<char*>(p) + 3 * pitch, pitch, 9, 50, 2));
  RIGHT(cudaMemcpy2D(back, 100, p, pitch, 100, 20, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 100; ++x) HOLDS(back[y][x] == (x < 50 && (y == 3 || y == 4) ? 9 : host[y][x]));
  RIGHT(cudaFree(p));
  GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
  HOLDS(p == nullptr);
  RIGHT(cudaMalloc(&p, 0));
  cudaPointerAttributes a{};
  int local = 0;
  RIGHT(cudaPointerGetAttributes(&a, &local));
  HOLDS(a.type == 0);
  auto* d = device<int>(4);
  RIGHT(cudaPointerGetAttributes(&a, d + 3));
  HOLDS(a.type == 2 && a.devicePointer == d + 3);
  // Freed memory is reused.
  for (int k = 0; k < 1000; ++k) {
    RIGHT(cudaMalloc(&p, total / 2));
    RIGHT(cudaFree(p));
  }
}

// Copies that the waiting thread makes itself, from and to memory of all kinds, and those that it must not make.
void large_copies() {
  const std::size_t bytes = (std::size_t{5} << 20) + 12345;
  auto* d = device<unsigned char>(bytes + 100);
  std::vector<unsigned char> from(bytes + 100), to(bytes + 100);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(k * 2654435761u >> 13);
  const std::size_t shifts[][3] = {{0, 0, 0}, {1, 7, 3}, {64, 33, 99}};
  for (const auto& [a, b, c] : shifts) {
    std::fill(to.begin(), to.end(), 0);
    RIGHT(cudaMemcpy(d + b, from.data() + a, bytes, cudaMemcpyHostToDevice));
    RIGHT(cudaMemcpy(to.data() + c, d + b, bytes, cudaMemcpyDeviceToHost));
    HOLDS(std::memcmp(to.data() + c, from.data() + a, bytes) == 0);
    HOLDS((c == 0 || to[c - 1] == 0) && to[c + bytes] == 0);
  }
  // Rows with gaps.
  const std::size_t width = (std::size_t{1} << 20) + 1, pitch = width + 77;
  RIGHT(cudaMemcpy2D(d, width, from.data(), pitch, width, 4, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy2D(to.data(), pitch, d, width, width, 4, cudaMemcpyDeviceToHost));
  for (std::size_t y = 0; y < 4; ++y) HOLDS(std::memcmp(&to[y * pitch], &from[y * pitch], width) == 0);
  // Pinned memory, later than the call.
  RIGHT(cudaHostRegister(to.data(), to.size(), 0));
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  RIGHT(cudaMemcpyAsync(to.data(), d, 4 * width, cudaMemcpyDeviceToHost, s));
  RIGHT(cudaStreamSynchronize(s));
  for (std::size_t y = 0; y < 4; ++y) HOLDS(std::memcmp(&to[y * width], &from[y * pitch], width) == 0);
  RIGHT(cudaHostUnregister(to.data()));
  // The thread may be on the processors that it was allowed before.
  cpu_set_t all, one, now;
  HOLDS(::sched_getaffinity(0, sizeof all, &all) == 0);
  RIGHT(cudaMemcpy(to.data(), d, bytes, cudaMemcpyDeviceToHost));
  HOLDS(::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&all, &now));
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    HOLDS(::sched_setaffinity(0, sizeof one, &one) == 0);
    RIGHT(cudaMemcpy(d, from.data(), bytes, cudaMemcpyHostToDevice));
    HOLDS(::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&one, &now));
    HOLDS(::sched_setaffinity(0, sizeof all, &all) == 0);
    RIGHT(cudaMemcpy(to.data(), d, bytes, cudaMemcpyDeviceToHost));
    HOLDS(::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&all, &now));
    if (processor >= 8) break;
  }
  // Memory of a file, and memory that may only be read.
  std::FILE* file = std::tmpfile();
  HOLDS(file != nullptr && std::fwrite(from.data(), 1, bytes, file) == bytes && std::fflush(file) == 0);
  void* of_file = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, ::fileno(file), 0);
  RIGHT(cudaMemcpy(d, of_file, bytes, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(to.data(), d, bytes, cudaMemcpyDeviceToHost));
  HOLDS(std::memcmp(to.data(), from.data(), bytes) == 0);
  auto* fixed = static_cast<unsigned char*>(::mmap(nullptr, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  // The copy is not made, and no process is killed.
  GIVES(cudaErrorInvalidValue, cudaMemcpy(fixed, d, 2 << 20, cudaMemcpyDeviceToHost));
  HOLDS(fixed[0] == 0 && fixed[(2 << 20) - 1] == 0);
  // A child has a window of its own.
  const pid_t child = ::fork();
  RIGHT(cudaMemcpy(to.data(), d, bytes, cudaMemcpyDeviceToHost));
  HOLDS(std::memcmp(to.data(), from.data(), bytes) == 0);
  if (child == 0) std::_Exit(0);
  int status = 0;
  HOLDS(::waitpid(child, &status, 0) == child && status == 0);
}

// Ends while another thread copies.
void ends_in_a_copy() {
  const std::size_t bytes = std::size_t{256} << 20;
  auto* d = device<unsigned char>(bytes);
  std::vector<unsigned char> from(bytes, 1);
  std::thread([&] {
    for (;;) RIGHT(cudaMemcpy(d, from.data(), bytes, cudaMemcpyHostToDevice));
  }).detach();
  ::usleep(300000);
  std::_Exit(7);
}

void managed() {
  // The host fills one while a kernel uses another.
  int *first = nullptr, *second = nullptr;
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&first), 4096, 1));
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&second), 4096, 1));
  for (int i = 0; i < 1024; ++i) first[i] = 1, second[i] = 0;
  RIGHT(launch(linger, 1, 128, 0, nullptr, first, 1000));
  for (int i = 0; i < 1024; ++i) second[i] = 2 * i;
  RIGHT(launch(linger, 1, 128, 0, nullptr, second, 5));
  first[700] = 9;
  RIGHT(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) HOLDS(first[i] == 2 && second[i] == 2 * i + 1);
  HOLDS(first[700] == 9 && second[500] == 1000);
  int* m = nullptr;
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&m), 4096 * 4, 1));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4096; ++i) m[i] += i;
    RIGHT(launch(linger, 32, 128, 0, nullptr, m, 10));
    RIGHT(cudaDeviceSynchronize());
    for (int i = 0; i < 4096; ++i) HOLDS(m[i] == (round + 1) * (i + 1));
  }
  HOLDS(*shared_with_host == 5);
  *shared_with_host = 10;
  int back = 0, four = 4;
  RIGHT(launch(count, 1, 64, 0, nullptr, four));
  RIGHT(cudaMemcpyFromSymbol(&back, &counter, 4, 0, cudaMemcpyDeviceToHost));
  HOLDS(back == 256);
  HOLDS(*shared_with_host == 14);
  // Managed memory has its own pages, independent of earlier variables of modules: it can be freed and allocated
  // again.
  for (std::size_t round = 0; round < 3; ++round) {
    char *a = nullptr, *b = nullptr;
    RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&a), 7424 + 4096 * round, 1));
    RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&b), 100, 1));
    HOLDS(reinterpret_cast<std::uintptr_t>(a) % 4096 == 0 && reinterpret_cast<std::uintptr_t>(b) % 4096 == 0);
    a[0] = b[99] = 1;
    RIGHT(cudaFree(a));
    RIGHT(cudaFree(b));
  }
}

void pinned() {
  int* h = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&h), 1024 * 4, 2));
  for (int i = 0; i < 1024; ++i) h[i] = i;
  void* seen = nullptr;
  RIGHT(cudaHostGetDevicePointer(&seen, h, 0));
  RIGHT(launch(linger, 8, 128, 0, nullptr, seen, 5));
  RIGHT(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; ++i) HOLDS(h[i] == i + 1);
  RIGHT(cudaFreeHost(h));
  std::vector<int> own(1000, 6);
  RIGHT(cudaHostRegister(own.data(), 4000, 0));
  auto* d = device<int>(1000);
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  RIGHT(cudaMemcpyAsync(d, own.data(), 4000, cudaMemcpyHostToDevice, s));
  RIGHT(launch(linger, 10, 100, 0, s, d, 5));
  RIGHT(cudaMemcpyAsync(own.data(), d, 4000, cudaMemcpyDeviceToHost, s));
  HOLDS(own[0] == 6);  // copied when the operation runs
  RIGHT(cudaStreamSynchronize(s));
  for (const int w : own) HOLDS(w == 7);
  RIGHT(cudaHostUnregister(own.data()));
}

// The program writes pinned memory that kernels use while they have not ended.
void pinned_and_written() {
  // Bytes of one word, of memory of an odd size.
  unsigned char* odd = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&odd), 4099, 2));
  std::fill(odd, odd + 4099, 0);
  RIGHT(launch(linger, 1, 128, 0, nullptr, odd, 100));
  odd[1] = 7, odd[4098] = 8;
  RIGHT(launch(linger, 1, 128, 0, nullptr, odd, 100));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(odd[0] == 2 && odd[1] == 7 && odd[2] == 0 && odd[4] == 2 && odd[4097] == 0 && odd[4098] == 8);
  int *a = nullptr, *b = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&a), 4096, 2));
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&b), 4096, 2));
  for (int i = 0; i < 1024; ++i) a[i] = b[i] = 0;
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 1000));
  for (int i = 0; i < 1024; ++i) b[i] = 2 * i;
  RIGHT(launch(linger, 1, 128, 0, nullptr, b, 5));
  a[700] = 9, b[500] = 42;
  RIGHT(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) HOLDS(a[i] == 1 && b[i] == 2 * i + 1);
  HOLDS(a[128] == 0 && a[700] == 9 && b[128] == 256 && b[500] == 42);
  // A buffer that is filled again for each copy.
  auto* d = device<int>(1024);
  RIGHT(cudaMemset(d, 0, 4096));
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 1000));
  for (int part = 1; part < 4; ++part) {
    for (int i = 0; i < 256; ++i) a[256 * part + i] = part;
    RIGHT(cudaMemcpyAsync(d + 256 * part, a + 256 * part, 1024, cudaMemcpyHostToDevice, nullptr));
  }
  int got[1024];
  RIGHT(cudaMemcpy(got, d, 4096, cudaMemcpyDeviceToHost));
  for (int i = 256; i < 1024; ++i) HOLDS(got[i] == i / 256);
  // A kernel writes it, a copy overwrites part of that, and a kernel reads it: all before the program waits.
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 100));
  RIGHT(cudaMemcpyAsync(a, d, 256, cudaMemcpyDeviceToHost, nullptr));
  RIGHT(launch(linger, 1, 128, 0, nullptr, a, 100));
  RIGHT(cudaMemcpyAsync(d, a, 512, cudaMemcpyHostToDevice, nullptr));
  RIGHT(cudaMemcpy(got, d, 512, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) HOLDS(a[i] == (i < 64 ? 1 : 4) && got[i] == a[i]);
}

namespace {

// A host function between two kernels of a stream writes what the second one reads; cudaFree waits for both.
void write_between_kernels(int* words) {
  for (int k = 0; k < 128; ++k) words[k] = 0;
  RIGHT(launch(linger, 1, 128, 0, nullptr, words, 50));
  RIGHT(cudaLaunchHostFunc(
      nullptr,
      [](void* data) {
        for (int k = 0; k < 128; ++k) static_cast<int*>(data)[k] *= 10;
      },
      words));
  RIGHT(launch(linger, 1, 128, 0, nullptr, words, 50));
  RIGHT(cudaFree(device<int>(1)));
  for (int k = 0; k < 128; ++k) HOLDS(words[k] == 11);
}

}  // namespace

void memory_in_place() {
  int *pinned = nullptr, *managed = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4096, 0));
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&managed), 100 << 20, 1));  // larger than any cache
  for (int* words : {pinned, managed}) {
    write_between_kernels(words);
    // Both count in one word.
    constexpr unsigned turns = 3000;
    auto* word = reinterpret_cast<unsigned*>(words) + 200;
    *word = 0;
    RIGHT(launch(tally, 1, 32, 0, nullptr, word, turns));
    std::thread counts([word] {
      for (unsigned k = 0; k < 100 * turns; ++k) __atomic_fetch_add(word, 1u, __ATOMIC_SEQ_CST);
    });
    RIGHT(cudaDeviceSynchronize());
    counts.join();
    HOLDS(*word == 132 * turns);
    // A copy from there to there, and a fill.
    for (int k = 0; k < 64; ++k) words[k] = k;
    RIGHT(cudaMemcpyAsync(words + 500, words, 256, cudaMemcpyDefault, nullptr));
    RIGHT(cudaMemset(words, 1, 128));
    RIGHT(cudaDeviceSynchronize());
    for (int k = 0; k < 64; ++k) HOLDS(words[500 + k] == k && words[k] == (k < 32 ? 0x01010101 : k));
  }
  managed[(25 << 20) - 1] = 5;
  RIGHT(launch(linger, 1, 1, 0, nullptr, managed + (25 << 20) - 1, 1));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(managed[(25 << 20) - 1] == 6);
  // What takes its place is new.
  RIGHT(cudaFreeHost(pinned));
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4096, 0));
  HOLDS(pinned[500] == 0);
  RIGHT(launch(linger, 1, 1, 0, nullptr, pinned + 500, 1));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(pinned[500] == 1);
  RIGHT(cudaFreeHost(pinned));
  RIGHT(cudaFree(managed));
}

// Registered memory, which stays where it is.
void registered_in_order() {
  std::vector<int> own(128);
  RIGHT(cudaHostRegister(own.data(), 512, 0));
  RIGHT(launch(linger, 1, 128, 0, nullptr, own.data(), 1));
  RIGHT(cudaDeviceSynchronize());
  write_between_kernels(own.data());
  RIGHT(cudaHostUnregister(own.data()));
}

// Device memory that no name of the program's stands for.
void literals() {
  const char** const place = device<const char*>(1);
  RIGHT(launch(literal, 1, 1, 0, nullptr, place));
  const char* text = nullptr;
  RIGHT(cudaMemcpy(&text, place, sizeof text, cudaMemcpyDeviceToHost));
  char copy[10] = {};
  RIGHT(cudaMemcpy(copy, text, sizeof copy, cudaMemcpyDeviceToHost));
  HOLDS(std::strcmp(copy, "a literal") == 0);
  cudaPointerAttributes a{};
  RIGHT(cudaPointerGetAttributes(&a, text));
  HOLDS(a.type == 2);  // cudaMemoryTypeDevice
  RIGHT(cudaFree(place));
}

}  // namespace cuda_programs
