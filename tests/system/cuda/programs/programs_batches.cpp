// SPDX-License-Identifier: MIT
// Several copies, fetches or discards in one call, of the runtime of CUDA 13 and of the driver.
#include <numeric>
#include <vector>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr int wrong = cudaErrorInvalidValue;

struct attributes {
  int order = 1, from[2] = {}, to[2] = {};
  unsigned flags = 0;
};
struct side {
  int kind = 1;
  union {
    struct {
      void* pointer;
      std::size_t row, rows;
      int location[2];
    } memory;
    struct {
      void* array;
      std::size_t at[3];
    } array;
  } of{};
};
struct box {
  side from, to;
  std::size_t extent[3] = {};
  int order = 1;
  unsigned flags = 0;
};
struct place {
  int type, id;
};

std::vector<int> numbers(int count) {
  std::vector<int> v(static_cast<std::size_t>(count));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

side in_memory(void* p, std::size_t row = 0, std::size_t rows = 0) {
  side s;
  s.of.memory = {p, row, rows, {}};
  return s;
}

void rows(void* stream) {
  auto* d = device<int>(64);
  const std::vector<int> in = numbers(64);
  int got[64] = {};
  RIGHT(cudaMemset(d, 0, 256));
  void* to[] = {d, d + 8, got};
  const void* from[] = {in.data() + 10, in.data() + 20, d};
  const std::size_t bytes[] = {16, 4, 64}, first = 0;
  attributes order;
  for (const char* name : {"cudaMemcpyBatchAsync", "cudaMemcpyBatchAsync_ptsz", "cuMemcpyBatchAsync_v2"}) {
    RIGHT(cudaMemset(d, 0, 256));
    const auto copies = [&](std::size_t n, const std::size_t* at, std::size_t known) {
      return call(name, to, from, bytes, n, &order, at, known, stream);
    };
    RIGHT(copies(3, &first, 1));
    RIGHT(call("cudaStreamSynchronize", stream));
    HOLDS(got[0] == 10 && got[3] == 13 && got[4] == 0 && got[8] == 20 && got[9] == 0);
    const std::size_t late = 1;
    GIVES(wrong, copies(0, &first, 1));
    GIVES(wrong, copies(2, &first, 0));
    GIVES(wrong, copies(2, &late, 1));
    GIVES(wrong, call(name, to, from, null, std::size_t{2}, &order, &first, std::size_t{1}, stream));
    // Copies from the second on are read during the call, even from pinned memory.
    int* pinned = nullptr;
    RIGHT(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 8, 0));
    pinned[0] = pinned[1] = 5;
    void* both[] = {d, d + 1};
    const void* sources[] = {pinned, pinned + 1};
    const std::size_t words[] = {4, 4}, firsts[] = {0, 1};
    attributes orders[2];
    orders[1].order = 2;
    RIGHT(launch(linger, 1, 32, 0, static_cast<cudaStream_t>(stream), d + 32, 100));
    RIGHT(call(name, both, sources, words, std::size_t{2}, orders, firsts, std::size_t{2}, stream));
    pinned[0] = pinned[1] = 6;
    RIGHT(call("cudaStreamSynchronize", stream));
    RIGHT(cudaMemcpy(got, d, 8, cudaMemcpyDeviceToHost));
    HOLDS(got[0] == 6 && got[1] == 5);
    orders[1].order = 0;
    GIVES(wrong, call(name, both, sources, words, std::size_t{2}, orders, firsts, std::size_t{2}, stream));
    RIGHT(call("cudaStreamSynchronize", stream));
  }
  // The older function tells what failed.
  std::size_t failed = 9;
  to[1] = d + 64;
  GIVES(wrong,
        call("cuMemcpyBatchAsync", to, from, bytes, std::size_t{3}, &order, &first, std::size_t{1}, &failed, stream));
  HOLDS(failed == 1);
  RIGHT(call("cudaStreamSynchronize", stream));
  call("cudaGetLastError");
}

void boxes(void* stream) {
  constexpr int format[] = {32, 0, 0, 0, 0};
  auto* d = device<int>(64);
  void* array = nullptr;
  std::vector<int> in = numbers(64);
  int got[64] = {};
  RIGHT(call("cudaMallocArray", &array, format, std::size_t{8}, std::size_t{4}, 0u));
  // Bytes from memory to memory, and elements to an array and back.
  box b[2];
  b[0] = {in_memory(in.data() + 8, 32), in_memory(d, 16), {12, 2, 1}, 1, 0};
  b[1] = {in_memory(in.data(), 8), {}, {3, 2, 1}, 1, 0};
  b[1].to.kind = 2;
  b[1].to.of.array = {array, {2, 1, 0}};
  box back = b[1];
  back.from = b[1].to;
  back.to = in_memory(got, 4);
  for (const char* name : {"cudaMemcpy3DBatchAsync", "cudaMemcpy3DBatchAsync_ptsz", "cuMemcpy3DBatchAsync_v2"}) {
    RIGHT(cudaMemset(d, 0, 256));
    RIGHT(call(name, std::size_t{2}, b, 0ull, stream));
    RIGHT(call(name, std::size_t{1}, &back, 0ull, stream));
    RIGHT(call("cudaStreamSynchronize", stream));
    HOLDS(got[0] == 0 && got[2] == 2 && got[3] == 0 && got[4] == 8 && got[6] == 10);
    RIGHT(cudaMemcpy(got, d, 32, cudaMemcpyDeviceToHost));
    HOLDS(got[0] == 8 && got[2] == 10 && got[3] == 0 && got[4] == 16 && got[6] == 18 && got[7] == 0);
    GIVES(wrong, call(name, std::size_t{0}, b, 0ull, stream));
    GIVES(wrong, call(name, std::size_t{2}, b, 1ull, stream));
    box narrow = b[0];
    narrow.to.of.memory.row = 11;
    GIVES(wrong, call(name, std::size_t{1}, &narrow, 0ull, stream));
    box empty = b[0];
    empty.extent[2] = 0;
    GIVES(wrong, call(name, std::size_t{1}, &empty, 0ull, stream));
    box without_order = b[0];
    without_order.order = 0;
    GIVES(wrong, call(name, std::size_t{1}, &without_order, 0ull, stream));
  }
  std::size_t failed = 9;
  b[1].to.of.array.at[0] = 6;
  GIVES(wrong, call("cuMemcpy3DBatchAsync", std::size_t{2}, b, &failed, 0ull, stream));
  HOLDS(failed == 1);
  RIGHT(call("cudaStreamSynchronize", stream));
  call("cudaGetLastError");
}

void ranges(void* stream) {
  char* managed = nullptr;
  RIGHT(cudaMallocManaged(reinterpret_cast<void**>(&managed), 1 << 16, 1));
  void* at[] = {managed, managed + 4096, managed + 8192};
  const std::size_t bytes[] = {4096, 4096, 4096}, firsts[] = {0, 2};
  const place where[] = {{1, 0}, {2, 0}};
  for (const char* name : {"cudaMemPrefetchBatchAsync", "cudaMemPrefetchBatchAsync_ptsz", "cuMemPrefetchBatchAsync",
                           "cudaMemDiscardAndPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync"}) {
    RIGHT(call("cudaMemPrefetchAsync", managed, std::size_t{1 << 16}, place{3, 0}, 0u, stream));
    RIGHT(call(name, at, bytes, std::size_t{3}, where, firsts, std::size_t{2}, 0ull, stream));
    int id = 9;
    RIGHT(call("cudaMemRangeGetAttribute", &id, std::size_t{4}, 4, managed + 4096, std::size_t{4096}));
    HOLDS(id == 0);
    RIGHT(call("cudaMemRangeGetAttribute", &id, std::size_t{4}, 4, managed + 8192, std::size_t{4096}));
    HOLDS(id == -1);
    GIVES(wrong, call(name, at, bytes, std::size_t{3}, where, firsts, std::size_t{2}, 1ull, stream));
    GIVES(wrong, call(name, at, bytes, std::size_t{1}, where, firsts, std::size_t{2}, 0ull, stream));
  }
  for (const char* name : {"cudaMemDiscardBatchAsync", "cudaMemDiscardBatchAsync_ptsz", "cuMemDiscardBatchAsync"}) {
    RIGHT(call(name, at, bytes, std::size_t{3}, 0ull, stream));
    GIVES(wrong, call(name, at, bytes, std::size_t{3}, 1ull, stream));
    GIVES(wrong, call(name, at, bytes, std::size_t{0}, 0ull, stream));
  }
  call("cudaGetLastError");
}

}  // namespace

void batches() {
  void* stream = nullptr;
  RIGHT(call("cudaStreamCreate", &stream));
  rows(stream);
  boxes(stream);
  ranges(stream);
  int number = 9;
  RIGHT(call("cudaStreamGetDevice_ptsz", stream, &number));
  HOLDS(number == 0);
}

}  // namespace cuda_programs
