// SPDX-License-Identifier: MIT
// Host functions, and objects that other calls name: mipmapped arrays, user objects, words of memory, advised ranges.
// As an H100 with CUDA 13 answers.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr int wrong = cudaErrorInvalidValue, wrong_handle = cudaErrorInvalidResourceHandle, not_permitted = 800;
constexpr int float_format[5] = {32, 0, 0, 0, 2};
struct extent {
  std::size_t width, height, depth;
};

std::atomic<int> calls{0};
void makes_calls(void* stream) {
  void* p = nullptr;
  int device = 0;
  GIVES(not_permitted, cudaMalloc(&p, 4));
  GIVES(not_permitted, call("cudaGetDevice", &device));
  GIVES(not_permitted, cudaStreamQuery(nullptr));
  GIVES(not_permitted, cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  GIVES(not_permitted, cudaDeviceSynchronize());
  GIVES(not_permitted, call("cuCtxSynchronize"));
  GIVES(not_permitted, cudaGetLastError());
  ++calls;
}

void mipmaps() {
  void *m = nullptr, *level = nullptr, *view = nullptr;
  extent e{};
  const extent size{16, 4, 0};
  GIVES(wrong, call("cudaMallocMipmappedArray", null, float_format, size, 2u, 0u));
  for (const auto& [asked, levels] : {std::pair<unsigned, unsigned>{0, 1}, {3, 3}, {99, 5}}) {
    RIGHT(call("cudaMallocMipmappedArray", &m, float_format, size, asked, 0u));
    for (unsigned k = 0; k < levels; ++k) {
      RIGHT(call("cudaGetMipmappedArrayLevel", &level, m, k));
      RIGHT(call("cudaArrayGetInfo", null, &e, null, level));
      HOLDS(e.width == 16u >> k && e.height == (k < 2 ? 4u >> k : 1) && e.depth == 0);
    }
    GIVES(wrong, call("cudaGetMipmappedArrayLevel", &level, m, levels));
    RIGHT(call("cudaFreeMipmappedArray", m));
  }
  GIVES(wrong_handle, call("cudaGetMipmappedArrayLevel", &level, m, 0u));
  RIGHT(call("cudaFreeMipmappedArray", null));
  for (const unsigned flags : {0x40u, 0x80u, 0x100u}) {
    RIGHT(call("cudaMallocArray", &view, float_format, std::size_t{8}, std::size_t{8}, flags));
    RIGHT(call("cudaFreeArray", view));
  }
}

void rows_of_arrays() {
  const struct {
    std::size_t width, height;
    int format;
    unsigned channels;
  } wanted{16, 2, 0x20, 1};
  void* array = nullptr;
  float in[16], out[16] = {};
  for (int k = 0; k < 16; ++k) in[k] = static_cast<float>(k);
  auto* d = device<float>(16);
  RIGHT(call("cuArrayCreate_v2", &array, &wanted));
  RIGHT(call("cuMemcpyHtoA_v2", array, std::size_t{0}, in, sizeof in));
  GIVES(wrong, call("cuMemcpyHtoA_v2", array, std::size_t{0}, in, sizeof in + 1));
  GIVES(wrong, call("cuMemcpyHtoA_v2", array, std::size_t{60}, in, std::size_t{8}));
  RIGHT(call("cuMemcpyAtoA_v2", array, std::size_t{0}, array, std::size_t{32}, std::size_t{32}));
  RIGHT(call("cuMemcpyAtoD_v2", d, array, std::size_t{0}, sizeof in));
  RIGHT(call("cuMemcpyDtoA_v2", array, std::size_t{32}, d, std::size_t{32}));
  RIGHT(call("cuMemcpyAtoH_v2", out, array, std::size_t{4}, std::size_t{60}));
  for (int k = 0; k < 15; ++k) HOLDS(out[k] == static_cast<float>(8 + (k + 1) % 8));
  RIGHT(call("cuArrayDestroy", array));
}

std::atomic<int> destroyed{0};
void destroys(void*) { ++destroyed; }

void user_objects() {
  void *o = nullptr, *graph = nullptr, *clone = nullptr;
  const auto create = [&o](void* to, unsigned count, unsigned flags) {
    return call("cudaUserObjectCreate", to, null, &destroys, count, flags);
  };
  GIVES(wrong, create(nullptr, 1, 1));
  GIVES(wrong, create(&o, 1, 0));
  GIVES(wrong, create(&o, 0, 1));
  RIGHT(create(&o, 1, 1));
  RIGHT(call("cudaUserObjectRetain", o, 2u));
  GIVES(wrong, call("cudaUserObjectRelease", o, 9u));
  RIGHT(call("cudaGraphCreate", &graph, 0u));
  RIGHT(call("cudaGraphRetainUserObject", graph, o, 2u, 1u));
  RIGHT(call("cudaUserObjectRelease", o, 1u));
  RIGHT(call("cudaGraphClone", &clone, graph));
  RIGHT(call("cudaGraphReleaseUserObject", graph, o, 1u));
  GIVES(wrong, call("cudaGraphReleaseUserObject", graph, o, 2u));
  RIGHT(call("cudaGraphDestroy", graph));
  ::usleep(20000);
  HOLDS(destroyed == 0);
  RIGHT(call("cudaGraphDestroy", clone));
  for (int k = 0; k < 1000 && destroyed == 0; ++k) ::usleep(1000);
  HOLDS(destroyed == 1);
  GIVES(wrong, call("cudaUserObjectRetain", o, 1u));
}

void pictures_of_graphs() {
  constexpr int operating_system = 304;
  void *graph = nullptr, *a = nullptr, *b = nullptr;
  RIGHT(call("cudaGraphCreate", &graph, 0u));
  RIGHT(call("cudaGraphAddEmptyNode", &a, graph, null, std::size_t{0}));
  RIGHT(call("cudaGraphAddEmptyNode", &b, graph, &a, std::size_t{1}));
  GIVES(wrong, call("cudaGraphDebugDotPrint", graph, null, 0u));
  GIVES(wrong, call("cudaGraphDebugDotPrint", null, "/dev/null", 0u));
  GIVES(operating_system, call("cudaGraphDebugDotPrint", graph, "/no/folder/graph", 0u));
  const int file = ::memfd_create("graph", 0);
  RIGHT(call("cudaGraphDebugDotPrint", graph, ("/proc/self/fd/" + std::to_string(file)).c_str(), 0u));
  char text[1000] = {};
  HOLDS(::pread(file, text, sizeof text - 1, 0) > 0);
  HOLDS(std::string(text).find("digraph") == 0 &&
        std::string(text).find("\"graph_1_node_0\" -> \"graph_1_node_1\"") != std::string::npos);
  RIGHT(call("cudaGraphDestroy", graph));
}

void advised_ranges() {
  constexpr int read_mostly = 1, preferred = 2, accessed_by = 3, prefetched = 4, nowhere = -2, host = -1;
  struct place {
    int type, id;
  };
  void* p = nullptr;
  int value = 7, users[3] = {};
  const auto get = [&](int attribute, std::size_t bytes) {
    return call("cudaMemRangeGetAttribute", &value, sizeof value, attribute, p, bytes);
  };
  const auto advise = [&](std::size_t bytes, int advice, place where) {
    RIGHT(call("cudaMemAdvise", p, bytes, advice, where));
  };
  RIGHT(cudaMallocManaged(&p, 16384, 1));
  advise(100, 1, {1, 0});  // whole pages
  RIGHT(get(read_mostly, 4096));
  HOLDS(value == 1);
  RIGHT(get(read_mostly, 4097));
  HOLDS(value == 0);
  RIGHT(get(preferred, 4096));
  HOLDS(value == nowhere);
  advise(16384, 3, {1, 0});
  RIGHT(get(preferred, 16384));
  HOLDS(value == 0);
  advise(16384, 5, {2, 0});
  RIGHT(call("cudaMemRangeGetAttribute", users, sizeof users, accessed_by, p, std::size_t{4096}));
  HOLDS(users[0] == host && users[1] == nowhere && users[2] == nowhere);
  RIGHT(call("cudaMemPrefetchAsync", p, std::size_t{4096}, place{2, 0}, 0u, null));
  RIGHT(get(prefetched, 4096));
  HOLDS(value == host);
  for (const int unknown : {0, 9}) GIVES(wrong, get(unknown, 4096));
  GIVES(wrong, call("cudaMemRangeGetAttribute", &value, std::size_t{3}, read_mostly, p, std::size_t{4096}));
  GIVES(wrong, get(read_mostly, 0));
  RIGHT(cudaFree(p));
  RIGHT(cudaMallocManaged(&p, 16384, 1));
  RIGHT(get(read_mostly, 4096));
  HOLDS(value == 0);
}

void use_driver() {
  void* context = nullptr;
  RIGHT(call("cuInit", 0u));
  RIGHT(call("cuDevicePrimaryCtxRetain", &context, 0));
  RIGHT(call("cuCtxSetCurrent", context));
}

}  // namespace

void calls_in_host_functions() {
  cudaStream_t s = nullptr;
  RIGHT(cudaStreamCreate(&s));
  RIGHT(cudaLaunchHostFunc(s, makes_calls, s));
  RIGHT(cudaStreamAddCallback(
      s, [](cudaStream_t, int, void* stream) { makes_calls(stream); }, s, 0));
  RIGHT(cudaStreamSynchronize(s));
  RIGHT(cudaLaunchHostFunc(nullptr, makes_calls, s));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(calls == 3);
  void* p = nullptr;
  RIGHT(cudaMalloc(&p, 4));
}

void object_rules() {
  use_driver();
  mipmaps();
  rows_of_arrays();
  user_objects();
  pictures_of_graphs();
  advised_ranges();
  constexpr int no_memory = 2, to_owner = 100;
  void* module = nullptr;
  GIVES(no_memory, call("cuModuleLoad", &module, "/"));
  RIGHT(call("cudaDeviceFlushGPUDirectRDMAWrites", 0, to_owner));
  GIVES(wrong, call("cudaDeviceFlushGPUDirectRDMAWrites", 0, 1));
}

namespace {

// A graph that waits for a word and writes another one each time it is launched.
void captured_words(cudaStream_t s, cudaStream_t other, int* d) {
  void *graph = nullptr, *instance = nullptr;
  RIGHT(cudaMemset(d, 0, 16));
  RIGHT(cudaDeviceSynchronize());  // the streams would overtake it
  RIGHT(call("cudaStreamBeginCapture", s, 0));
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 3u, 1u));
  RIGHT(launch(linger, 1, 1, 0, s, d + 1, 1));
  RIGHT(call("cuStreamWriteValue32_v2", s, d + 2, 8u, 0u));
  RIGHT(call("cudaStreamEndCapture", s, &graph));
  std::size_t nodes = 0;
  RIGHT(call("cudaGraphGetNodes", graph, null, &nodes));
  HOLDS(nodes == 3);
  RIGHT(call("cudaGraphInstantiate", &instance, graph, 0ull));
  for (int k = 0; k < 2; ++k) RIGHT(call("cudaGraphLaunch", instance, s));
  GIVES(cudaErrorNotReady, cudaStreamQuery(s));
  RIGHT(call("cuStreamWriteValue32_v2", other, d, 3u, 0u));
  RIGHT(cudaStreamSynchronize(s));
  int got[3] = {};
  RIGHT(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  HOLDS(got[1] == 2 && got[2] == 8);
  RIGHT(call("cudaGraphExecDestroy", instance));
  RIGHT(call("cudaGraphDestroy", graph));
}

}  // namespace

// A stream writes words of memory in its order, and waits for words that others write.
void memory_words() {
  use_driver();
  constexpr unsigned at_least = 0, equal = 1, any_bit = 2, any_zero = 3;
  cudaStream_t s = nullptr, t = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&s, 1));
  RIGHT(cudaStreamCreateWithFlags(&t, 1));
  auto* d = device<int>(64);
  RIGHT(cudaMemset(d, 0, 256));
  // The kernel after the wait finds what stood before the write.
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 7u, equal));
  RIGHT(launch(linger, 1, 1, 0, s, d + 1, 1));
  GIVES(cudaErrorNotReady, cudaStreamQuery(s));
  RIGHT(launch(linger, 1, 1, 0, t, d + 1, 1000));
  RIGHT(call("cuStreamWriteValue32_v2", t, d, 7u, 0u));
  RIGHT(cudaStreamSynchronize(s));
  int got[4] = {};
  RIGHT(cudaMemcpy(got, d, 8, cudaMemcpyDeviceToHost));
  HOLDS(got[0] == 7 && got[1] == 2);
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 5u, at_least));
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 4u, any_bit));
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 0xfffffff0u, any_zero));
  RIGHT(call("cuStreamWriteValue64_v2", s, d + 2, 0x500000006ull, 0u));
  RIGHT(call("cuStreamWaitValue64_v2", s, d + 2, 0x500000006ull, equal));
  RIGHT(cudaStreamSynchronize(s));
  RIGHT(cudaMemcpy(got, d, 16, cudaMemcpyDeviceToHost));
  HOLDS(got[2] == 6 && got[3] == 5);
  // The program itself may write the word.
  void* pinned = nullptr;
  RIGHT(cudaHostAlloc(&pinned, 64, 0));
  auto* flag = static_cast<volatile int*>(pinned);
  *flag = 0;
  RIGHT(call("cuStreamWaitValue32_v2", s, pinned, 1u, equal));
  RIGHT(call("cuStreamWriteValue32_v2", s, static_cast<char*>(pinned) + 4, 9u, 0u));
  GIVES(cudaErrorNotReady, cudaStreamQuery(s));
  *flag = 1;
  RIGHT(cudaStreamSynchronize(s));
  HOLDS(flag[1] == 9);
  // The same of memory that a kernel uses, with another one behind the wait.
  RIGHT(launch(linger, 1, 1, 0, s, static_cast<int*>(pinned) + 2, 1));
  RIGHT(cudaStreamSynchronize(s));
  RIGHT(call("cuStreamWaitValue32_v2", s, pinned, 2u, equal));
  RIGHT(launch(linger, 1, 1, 0, s, static_cast<int*>(pinned) + 2, 1));
  RIGHT(call("cuStreamWriteValue32_v2", s, static_cast<char*>(pinned) + 4, 10u, 0u));
  GIVES(cudaErrorNotReady, cudaStreamQuery(s));
  *flag = 2;
  RIGHT(cudaStreamSynchronize(s));
  HOLDS(flag[0] == 2 && flag[1] == 10 && flag[2] == 2);
  // The same of managed memory, in which the program has also written what the stream writes.
  void* managed = nullptr;
  RIGHT(cudaMallocManaged(&managed, 64, 1));
  auto* shared = static_cast<volatile int*>(managed);
  shared[0] = shared[1] = shared[2] = 0;
  RIGHT(launch(linger, 1, 1, 0, s, static_cast<int*>(managed) + 2, 1));
  RIGHT(call("cuStreamWaitValue32_v2", s, managed, 2u, equal));
  RIGHT(launch(linger, 1, 1, 0, s, static_cast<int*>(managed) + 2, 1));
  RIGHT(call("cuStreamWriteValue32_v2", s, static_cast<char*>(managed) + 4, 10u, 0u));
  GIVES(cudaErrorNotReady, cudaStreamQuery(s));
  shared[0] = 2, shared[1] = 5;
  RIGHT(cudaStreamSynchronize(s));
  HOLDS(shared[0] == 2 && shared[1] == 10 && shared[2] == 2);
  // So may another thread while one waits for the stream, and nothing else happens on the GPU.
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 11u, equal));
  std::thread waits([s] { RIGHT(cudaStreamSynchronize(s)); });
  ::usleep(200'000);
  RIGHT(call("cuStreamWriteValue32_v2", t, d, 11u, 0u));
  waits.join();
  captured_words(s, t, d);
  GIVES(wrong, call("cuStreamWriteValue32_v2", s, reinterpret_cast<char*>(d) + 2, 7u, 0u));
  GIVES(wrong, call("cuStreamWriteValue64_v2", s, reinterpret_cast<char*>(d) + 4, 7ull, 0u));
  GIVES(wrong, call("cuStreamWriteValue32_v2", s, null, 7u, 0u));
  GIVES(wrong, call("cuStreamWaitValue32_v2", s, d, 7u, 99u));
  // Nothing comes to write this one: the program may end all the same.
  RIGHT(call("cuStreamWaitValue32_v2", s, d, 99u, equal));
}

}  // namespace cuda_programs
