// SPDX-License-Identifier: MIT
// Memory that kernels and a running thread of the program write: managed variables, registered memory.
#include "programs.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace cuda_programs {

namespace {

constexpr int all = 3000, rounds = 20;

// The host and a kernel use the rows in turn, as pinned words say.
void talk(int* rows) {
  int* flag = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&flag), 8, 0));
  long wrong = 0;
  std::thread host([&] {
    int* const own = rows != nullptr ? rows : shared_rows;
    for (int round = 1; round <= rounds; ++round) {
      for (int k = 0; k < all; ++k) own[k] = round;
      __atomic_store_n(&flag[0], round, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&flag[1], __ATOMIC_SEQ_CST) != round) ::usleep(10);
      for (int k = 0; k < all; ++k) wrong += own[k] != (k % 100 == 0 ? -30 * round : round);
    }
  });
  RIGHT(launch(rounds_with_host, 1, 1, 0, nullptr, flag, rounds, rows));
  RIGHT(cudaDeviceSynchronize());
  host.join();
  HOLDS(wrong == 0);
  RIGHT(cudaFreeHost(flag));
}

}  // namespace

// Of which one has several pages.
void managed_variables() {
  HOLDS(shared_rows[0] == 1 && shared_rows[2] == 3 && shared_rows[all - 1] == 0);
  HOLDS(*shared_with_host == 5 && *shared_last == 2.5);
  talk(nullptr);
  HOLDS(*shared_last == 2.5 + rounds);
  std::vector<int> back(all);
  RIGHT(cudaMemcpyFromSymbol(back.data(), &shared_rows, 4 * all, 0, cudaMemcpyDeviceToHost));
  HOLDS(back[100] == -30 * rounds && back[101] == rounds);
}

namespace {

// On the stack, in static memory and in memory that several processes share, with the program's own data around it.
void register_anywhere() {
  static int fixed[200];
  int local[200] = {};
  void* const shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HOLDS(shared != MAP_FAILED);
  for (int* const words : {fixed, local, static_cast<int*>(shared)}) {
    RIGHT(cudaHostRegister(words + 1, 512, 0));
    words[0] = words[129] = 6;
    RIGHT(launch(linger, 1, 128, 0, nullptr, words + 1, 1));
    RIGHT(launch(tally, 1, 32, 0, nullptr, words + 100, 10));
    RIGHT(cudaHostUnregister(words + 1));
    for (int k = 1; k < 129; ++k) HOLDS(words[k] == (k == 100 ? 321 : 1));
    HOLDS(words[0] == 6 && words[129] == 6);
  }
  ::munmap(shared, 4096);
}

}  // namespace

// A kernel gets zeros from memory that is registered, but no longer there.
void registered_and_unmapped() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RIGHT(cudaHostRegister(page, 4096, 0));
  ::munmap(page, 4096);
  RIGHT(launch(linger, 1, 128, 0, nullptr, static_cast<int*>(page), 1));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaHostUnregister(page));
}

// Host and kernel write different bytes of it at the same time. Its address may lie anywhere in the arguments.
void registered_memory() {
  register_anywhere();
  constexpr int already_registered = 712;
  std::vector<unsigned char> bytes(256);
  RIGHT(cudaHostRegister(bytes.data(), bytes.size(), 0));
  GIVES(already_registered, cudaHostRegister(bytes.data() + 255, 16, 0));
  std::atomic<bool> ends{false};
  long lost = 0;
  std::thread host([&] {
    volatile unsigned char* const own = bytes.data();
    for (unsigned round = 0; !ends; ++round)
      for (unsigned k = 1; k < 256; k += 2) {
        own[k] = static_cast<unsigned char>(round);
        ::usleep(1);
        lost += own[k] != static_cast<unsigned char>(round);
      }
  });
  for (int k = 0; k < 20; ++k) {
    RIGHT(launch(even_bytes, 1, 128, 0, nullptr, bytes.data(), 100 + k));
    RIGHT(cudaDeviceSynchronize());
  }
  ends = true;
  host.join();
  HOLDS(lost == 0 && bytes[0] == 119 && bytes[254] == 119);
  std::vector<int> words(32);
  RIGHT(cudaHostRegister(words.data(), 128, 0));
  struct __attribute__((packed)) {
    char c = 42;
    int* p;
  } in;
  in.p = words.data();
  RIGHT(launch(takes_packed, 1, 32, 0, nullptr, in));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(words[0] == 42 && words[31] == 42);
  // Rows around a multiple of 64 KiB, which a copy and kernels cross. What lies beside them stays.
  std::vector<int> many(40000, 1);
  const auto begin = reinterpret_cast<std::uintptr_t>(many.data());
  int* const rows = many.data() + ((begin + 65536 + 8191) / 65536 * 65536 - begin) / 4 - all / 2;
  RIGHT(cudaHostRegister(rows, 4 * all, 0));
  talk(rows);
  int* const d = device<int>(all);
  RIGHT(cudaMemset(d, 2, 4 * all));
  RIGHT(cudaMemcpy(rows, d, 4 * all, cudaMemcpyDefault));
  RIGHT(launch(linger, 1, 128, 0, nullptr, rows + all / 2 - 64, 1));
  RIGHT(cudaHostUnregister(rows));
  for (int k = 0; k < all; ++k) HOLDS(rows[k] == 0x02020202 + (k >= all / 2 - 64 && k < all / 2 + 64));
  HOLDS(rows[-1] == 1 && rows[all] == 1 && many[0] == 1 && many[39999] == 1);
  // It takes no memory of the GPU, nor does pinned memory.
  std::size_t before = 0, after = 0, total = 0;
  void* pinned = nullptr;
  RIGHT(cudaMemGetInfo(&before, &total));
  RIGHT(cudaHostAlloc(&pinned, std::size_t{64} << 20, 0));
  RIGHT(cudaMemGetInfo(&after, &total));
  HOLDS(before == after);
  RIGHT(cudaFreeHost(pinned));
  RIGHT(cudaHostUnregister(words.data()));
  RIGHT(cudaHostUnregister(bytes.data()));
}

namespace {

volatile unsigned char* handled = nullptr;
volatile int* awaited = nullptr;
volatile sig_atomic_t interrupts = 0;

void set_timer(int microseconds) {
  itimerval t{};
  t.it_interval.tv_usec = t.it_value.tv_usec = microseconds;
  ::setitimer(ITIMER_REAL, &t, nullptr);
}

}  // namespace

// The only thread waits, and handlers of signals write registered memory meanwhile: what they write stays, and a kernel
// sees it.
void interrupted() {
  std::vector<unsigned char> bytes(256);
  std::vector<int> words(3);
  RIGHT(cudaHostRegister(bytes.data(), bytes.size(), 0));
  RIGHT(cudaHostRegister(words.data(), 12, 0));
  handled = bytes.data();
  awaited = words.data();
  ::signal(SIGALRM, [](int) {
    interrupts = interrupts + 1;
    for (unsigned k = 1; k < 256; k += 2) handled[k] = handled[k] + 1;
  });
  set_timer(300);
  for (int k = 0; k < 10; ++k) {
    RIGHT(launch(even_bytes, 1, 128, 0, nullptr, bytes.data(), 400 + k));
    RIGHT(cudaDeviceSynchronize());
  }
  set_timer(0);
  HOLDS(bytes[0] == 409 % 256 && bytes[254] == 409 % 256);
  for (unsigned k = 1; k < 256; k += 2) HOLDS(bytes[k] == interrupts % 256);
  // Not before the kernel is there: what it has counted is seen.
  ::signal(SIGALRM, [](int) {
    if (awaited[2] != 0) awaited[0] = 41;
  });
  set_timer(100000);
  RIGHT(launch(count_until, 1, 1, 0, nullptr, words.data()));
  RIGHT(cudaDeviceSynchronize());
  set_timer(0);
  HOLDS(words[0] == 41 && words[1] == 42);
  RIGHT(cudaHostUnregister(words.data()));
  RIGHT(cudaHostUnregister(bytes.data()));
}

}  // namespace cuda_programs
