// SPDX-License-Identifier: MIT
// Memory that kernels and a running thread of the program write: managed variables, registered memory.
#include "programs.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace cuda_programs {

// Of which one has several pages. The host and a kernel use them in turn, as pinned words tell them.
void managed_variables() {
  constexpr int all = 3000, rounds = 20;
  HOLDS(shared_rows[0] == 1 && shared_rows[2] == 3 && shared_rows[all - 1] == 0);
  HOLDS(*shared_with_host == 5 && *shared_last == 2.5);
  int* words = nullptr;
  RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&words), 8, 0));
  int* const volatile flag = words;
  long wrong = 0;
  std::thread host([&] {
    for (int round = 1; round <= rounds; ++round) {
      for (int k = 0; k < all; ++k) shared_rows[k] = round;
      __atomic_store_n(&flag[0], round, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&flag[1], __ATOMIC_SEQ_CST) != round) ::usleep(10);
      for (int k = 0; k < all; ++k) wrong += shared_rows[k] != (k % 100 == 0 ? -30 * round : round);
    }
  });
  RIGHT(launch(rounds_with_host, 1, 1, 0, nullptr, words, rounds));
  RIGHT(cudaDeviceSynchronize());
  host.join();
  HOLDS(wrong == 0 && *shared_last == 2.5 + rounds);
  std::vector<int> back(all);
  RIGHT(cudaMemcpyFromSymbol(back.data(), &shared_rows, 4 * all, 0, cudaMemcpyDeviceToHost));
  HOLDS(back[100] == -30 * rounds && back[101] == rounds);
  RIGHT(cudaFreeHost(words));
}

// Host and kernel write different bytes of it at the same time. Its address may lie anywhere in the arguments.
void registered_memory() {
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

}  // namespace cuda_programs
