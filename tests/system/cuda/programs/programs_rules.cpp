// SPDX-License-Identifier: MIT
// The rules by which CUDA accepts the arguments of its memory's functions, as an H100 with CUDA 13 answers.
#include <cstdlib>
#include <utility>
#include <vector>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr int wrong = cudaErrorInvalidValue, wrong_pitch = 12, wrong_direction = 21, wrong_device = 101,
              registered = 712, not_registered = 713;
struct pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct extent {
  std::size_t width, height, depth;
};
struct box {
  void* source_array = nullptr;
  std::size_t source_at[3] = {};
  pitched source{};
  void* destination_array = nullptr;
  std::size_t destination_at[3] = {};
  pitched destination{};
  extent size{};
  int kind = cudaMemcpyHostToDevice;
};
struct place {
  int type, id;
};
constexpr place nowhere{0, 0}, gpu{1, 0}, host{2, 0}, no_gpu{1, 5};

void sizes_of_zero() {
  void* p = &p;
  std::size_t pitch = 7;
  RIGHT(cudaHostAlloc(&p, 0, 0));
  HOLDS(p == nullptr);
  p = &p;
  RIGHT(cudaMallocManaged(&p, 0, 1));
  HOLDS(p == nullptr);
  p = &p;
  RIGHT(call("cudaMallocAsync", &p, std::size_t{0}, null));
  HOLDS(p == nullptr);
  RIGHT(cudaMallocPitch(&p, &pitch, 3, 0));
  HOLDS(p == nullptr && pitch == 0);
  RIGHT(cudaMemGetInfo(nullptr, nullptr));
  RIGHT(cudaMemcpy(&p, &p, 0, 77));
  RIGHT(cudaMemcpyToSymbol(&counter, &p, 0, 65, cudaMemcpyHostToDevice));
  const box empty;
  RIGHT(call("cudaMemcpy3D", &empty));
}

void rows() {
  constexpr std::size_t pitch = 64, height = 4, depth = 3;
  auto* d = device<char>(pitch * height * depth);
  std::vector<char> h(pitch * height * depth);
  GIVES(wrong, cudaMemset2D(d, 50, 0, 51, 2));
  RIGHT(cudaMemset2D(d, 50, 0, 51, 1));
  const extent whole{pitch, height, depth};
  RIGHT(call("cudaMemset3D", pitched{d, pitch, pitch, height}, 0, whole));
  GIVES(wrong, call("cudaMemset3D", pitched{d, 10, pitch, height}, 0, whole));
  GIVES(wrong, call("cudaMemset3D", pitched{d, pitch, pitch, height - 1}, 0, whole));
  GIVES(wrong_pitch, cudaMemcpy2D(d, 50, h.data(), pitch, 51, 2, cudaMemcpyHostToDevice));
  GIVES(wrong_pitch, cudaMemcpy2D(d, pitch, h.data(), 50, 51, 2, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy2D(d, 0, h.data(), 0, 51, 1, cudaMemcpyHostToDevice));

  box b;
  b.source = {h.data(), pitch, pitch, height};
  b.destination = {d, pitch, pitch, height};
  b.size = whole;
  const auto given = [](const box& c) { return call("cudaMemcpy3D", &c); };
  RIGHT(given(b));
  box changed = b;
  changed.source.height = height - 1;
  GIVES(wrong_pitch, given(changed));
  changed = b;
  changed.source.pitch = pitch - 1;
  GIVES(wrong_pitch, given(changed));
  changed = b;
  changed.source_at[1] = 1;
  GIVES(wrong, given(changed));

  const int floats[5] = {32, 0, 0, 0, 2}, bytes[5] = {8, 0, 0, 0, 0};
  void *of_floats = nullptr, *of_bytes = nullptr;
  const extent elements{pitch / 4, height, depth};
  RIGHT(call("cudaMalloc3DArray", &of_floats, floats, elements, 0u));
  RIGHT(call("cudaMalloc3DArray", &of_bytes, bytes, whole, 0u));
  changed = b;
  changed.destination_array = of_floats;
  GIVES(wrong, given(changed));  // both
  changed.destination = {};
  changed.size = {elements.width + 1, height, depth};
  GIVES(wrong, given(changed));
  changed.size = {elements.width, height + 1, depth};
  GIVES(wrong_pitch, given(changed));
  box arrays;
  arrays.source_array = arrays.destination_array = of_floats;
  arrays.size = elements;
  GIVES(wrong, given(arrays));  // an array is no memory of the host
  arrays.kind = cudaMemcpyDeviceToDevice;
  RIGHT(given(arrays));
  arrays.destination_array = of_bytes;
  GIVES(wrong, given(arrays));
}

void arrays() {
  constexpr unsigned layered = 1, cubes = 4, gathers = 8;
  const int bytes[5] = {8, 0, 0, 0, 0};
  const auto given = [&bytes](extent e, unsigned flags) {
    void* array = nullptr;
    const int status = call("cudaMalloc3DArray", &array, bytes, e, flags);
    RIGHT(call("cudaFreeArray", array));
    return status;
  };
  RIGHT(given({131072, 0, 0}, 0));
  GIVES(wrong, given({131073, 0, 0}, 0));
  GIVES(wrong, given({1, 65537, 0}, 0));
  RIGHT(given({16384, 1, 1}, 0));
  GIVES(wrong, given({16385, 1, 1}, 0));
  RIGHT(given({1, 1, 16385}, 0));  // the other form of the largest volume
  RIGHT(given({16, 16, 2048}, layered));
  for (const std::size_t layers : {0, 2049}) GIVES(wrong, given({16, 16, layers}, layered));
  GIVES(wrong, given({16, 16, 12}, cubes));
  RIGHT(given({16, 16, 12}, cubes | layered));
  GIVES(wrong, given({16, 16, 16}, gathers));

  void* array = nullptr;
  static char h[1024];
  RIGHT(call("cudaMallocArray", &array, bytes, std::size_t{64}, std::size_t{8}, 0u));
  const auto to = [&array](std::size_t pitch, std::size_t rows, int kind) {
    return call("cudaMemcpy2DToArray", array, std::size_t{0}, std::size_t{0}, h, pitch, std::size_t{64}, rows, kind);
  };
  RIGHT(to(64, 8, cudaMemcpyHostToDevice));
  GIVES(wrong_pitch, to(32, 8, cudaMemcpyHostToDevice));
  GIVES(wrong_direction, to(64, 8, cudaMemcpyDeviceToHost));
}

void devices_and_symbols() {
  auto *a = device<char>(64), *b = device<char>(64);
  int number = 0;
  RIGHT(call("cudaMemcpyPeer", a, 0, b, 0, std::size_t{64}));
  for (const int missing : {1, -1}) {
    GIVES(wrong_device, call("cudaMemcpyPeer", a, 0, b, missing, std::size_t{64}));
    GIVES(wrong_device, call("cudaMemcpyPeerAsync", a, missing, b, 0, std::size_t{64}, null));
  }
  for (const int kind : {int{cudaMemcpyHostToHost}, int{cudaMemcpyDeviceToHost}, 9})
    GIVES(wrong_direction, cudaMemcpyToSymbol(&counter, &number, 4, 0, kind));
  for (const int kind : {int{cudaMemcpyHostToHost}, int{cudaMemcpyHostToDevice}, 9})
    GIVES(wrong_direction, cudaMemcpyFromSymbol(&number, &counter, 4, 0, kind));
  // Managed variables are known by their address, too, and a kernel can take it.
  void* at = nullptr;
  std::size_t bytes = 0;
  RIGHT(call("cudaGetSymbolAddress", &at, shared_with_host));
  RIGHT(call("cudaGetSymbolSize", &bytes, shared_with_host));
  HOLDS(at == shared_with_host && bytes == 4);
  *shared_with_host = 0;
  RIGHT(launch(linger, 1, 1, 0, nullptr, shared_with_host, 1));
  RIGHT(cudaDeviceSynchronize());
}

}  // namespace

void argument_rules() {
  sizes_of_zero();
  rows();
  arrays();
  devices_and_symbols();
}

void pinned_rules() {
  constexpr unsigned mapped = 2, portable = 1;
  void *p = nullptr, *d = device<char>(64), *at = &p;
  unsigned flags = 0;
  RIGHT(cudaHostAlloc(&p, 4096, portable));
  RIGHT(call("cudaHostGetFlags", &flags, p));
  HOLDS(flags == (portable | mapped));
  GIVES(wrong, cudaFree(p));
  GIVES(wrong, cudaFreeHost(d));
  for (void* known : {p, d}) {
    GIVES(wrong, cudaHostRegister(known, 64, 0));
    GIVES(wrong, cudaHostUnregister(known));
  }
  RIGHT(cudaFreeHost(p));
  GIVES(wrong, cudaHostGetDevicePointer(&at, &p, 0));
  HOLDS(at == nullptr);
  auto* h = static_cast<char*>(std::aligned_alloc(4096, 8192));
  RIGHT(cudaHostRegister(h, 8192, 0));
  GIVES(registered, cudaHostRegister(h + 4096, 4096, 0));
  GIVES(wrong, cudaFreeHost(h));
  GIVES(wrong, cudaHostUnregister(h + 4096));
  RIGHT(cudaHostUnregister(h));
  GIVES(not_registered, cudaHostUnregister(h));
  GIVES(wrong, cudaHostUnregister(nullptr));
  GIVES(wrong, cudaHostRegister(h, 4096, 4));  // no memory of a device
  GIVES(wrong, cudaHostRegister(reinterpret_cast<void*>(0x10000), 4096, 0));
}

void managed_rules() {
  constexpr int read_mostly = 1, preferred = 3, accessed_by = 5;
  constexpr unsigned global = 1, single = 4;
  constexpr std::size_t bytes = 1 << 20;
  void *p = nullptr, *d = device<char>(4096);
  cudaStream_t s = nullptr;
  RIGHT(cudaMallocManaged(&p, bytes, global));
  RIGHT(cudaStreamCreate(&s));
  const auto advise = [](void* q, std::size_t n, int advice, place where) {
    return call("cudaMemAdvise", q, n, advice, where);
  };
  const auto prefetch = [s](void* q, std::size_t n, place where, unsigned flags) {
    return call("cudaMemPrefetchAsync", q, n, where, flags, s);
  };
  const auto attach = [](cudaStream_t t, void* q, std::size_t n, unsigned flags) {
    return call("cudaStreamAttachMemAsync", t, q, n, flags);
  };
  for (const int advice : {read_mostly, preferred, accessed_by}) {
    for (const place where : {gpu, host}) RIGHT(advise(p, 4096, advice, where));
    GIVES(advice == read_mostly ? 0 : wrong, advise(p, 4096, advice, no_gpu));
    GIVES(wrong, advise(p, 4096, advice, nowhere));
  }
  for (const int advice : {0, 7}) GIVES(wrong, advise(p, 4096, advice, gpu));
  for (const place where : {gpu, host}) RIGHT(prefetch(p, 4096, where, 0));
  GIVES(wrong_device, prefetch(p, 4096, no_gpu, 0));
  GIVES(wrong, prefetch(p, 4096, nowhere, 0));
  GIVES(wrong, prefetch(p, 4096, gpu, 1));
  const std::pair<void*, std::size_t> outside[] = {{p, 0}, {p, bytes + 1}, {nullptr, 4096}, {d, 4096}};
  for (const auto& [q, n] : outside) {
    GIVES(wrong, advise(q, n, read_mostly, gpu));
    GIVES(wrong, prefetch(q, n, gpu, 0));
  }
  RIGHT(attach(s, p, 0, single));
  RIGHT(attach(s, p, bytes, global));
  GIVES(wrong, attach(s, p, 0, 7));
  GIVES(wrong, attach(s, p, 5, global));
  GIVES(wrong, attach(nullptr, p, 0, single));
  for (void* q : {static_cast<void*>(static_cast<char*>(p) + 4096), d, null}) GIVES(wrong, attach(s, q, 0, global));
}

void pool_and_stream_rules() {
  constexpr int illegal_state = 401, unsupported = 801;
  struct {
    int allocation = 1, handles = 0;
    place where = gpu;
    void* security = nullptr;
    std::size_t most = 0, reserved[8] = {};
  } wanted;
  void *pool = nullptr, *p = nullptr;
  const auto made = [&](int handles, place where) {
    wanted.handles = handles;
    wanted.where = where;
    return call("cudaMemPoolCreate", &pool, &wanted);
  };
  GIVES(wrong, made(0, nowhere));
  GIVES(wrong, made(0, no_gpu));
  GIVES(wrong, made(0x40, gpu));
  GIVES(unsupported, made(1, gpu));
  RIGHT(made(0, gpu));
  GIVES(wrong, call("cudaDeviceSetMemPool", 3, pool));
  GIVES(wrong, call("cudaMallocFromPoolAsync", &p, std::size_t{64}, null, null));
  struct {
    place where;
    int flags;
  } access{gpu, 3};
  RIGHT(call("cudaMemPoolSetAccess", pool, &access, std::size_t{1}));
  access.flags = 0;
  GIVES(wrong_device, call("cudaMemPoolSetAccess", pool, &access, std::size_t{1}));
  access = {no_gpu, 3};
  GIVES(wrong_device, call("cudaMemPoolSetAccess", pool, &access, std::size_t{1}));

  cudaStream_t s = nullptr;
  cudaEvent_t event = nullptr;
  unsigned long long id = 0, again = 1, other = 0;
  RIGHT(cudaStreamCreate(&s));
  RIGHT(cudaEventCreate(&event));
  RIGHT(call("cudaStreamGetId", s, &id));
  RIGHT(call("cudaStreamGetId", s, &again));
  RIGHT(call("cudaStreamGetId", null, &other));
  HOLDS(id == again && id != other);
  GIVES(wrong, call("cudaStreamGetId", s, null));
  union {
    int number;
    struct {
      void* base;
      std::size_t bytes;
      float hit_ratio;
      int hit, miss;
    } window;
    char bytes[64];
  } value{};
  constexpr int access_window = 1, synchronization = 3, yielding = 3, not_of_streams = 2;
  GIVES(wrong, call("cudaStreamGetAttribute", s, not_of_streams, &value));
  value.number = yielding;
  RIGHT(call("cudaStreamSetAttribute", s, synchronization, &value));
  value.number = 9;
  GIVES(wrong, call("cudaStreamSetAttribute", s, synchronization, &value));
  RIGHT(call("cudaStreamGetAttribute", s, synchronization, &value));
  HOLDS(value.number == yielding);
  value = {};
  value.window = {pool, 65536, 0.5F, 2, 0};
  RIGHT(call("cudaStreamSetAttribute", s, access_window, &value));
  value.window.miss = 2;  // persisting
  GIVES(wrong, call("cudaStreamSetAttribute", s, access_window, &value));
  value.window = {pool, 65536, 2, 2, 0};
  GIVES(wrong, call("cudaStreamSetAttribute", s, access_window, &value));
  value.window = {pool, std::size_t{1} << 40, 0.5F, 2, 0};
  GIVES(wrong, call("cudaStreamSetAttribute", s, access_window, &value));
  // An event is external to a capture only.
  GIVES(illegal_state, call("cudaEventRecordWithFlags", event, s, 1u));
  GIVES(illegal_state, cudaStreamWaitEvent(s, event, 1));
}

// Questions about kernels, which the launch answers again.
void function_rules() {
  constexpr int no_kernel = 98, no_handle = cudaErrorInvalidResourceHandle, dynamic_shared = 8, cluster_policy = 15;
  cudaFuncAttributes a{};
  int blocks = -5;
  const auto active = [&blocks](const void* f, int threads, std::size_t dynamic) {
    blocks = -5;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, dynamic);
  };
  for (const auto& [f, expected] : {std::pair<const void*, int>{nullptr, no_kernel}, {&blocks, no_handle}}) {
    GIVES(expected, cudaFuncGetAttributes(&a, f));
    GIVES(expected, cudaFuncSetAttribute(f, dynamic_shared, 0));
    GIVES(expected, active(f, 32, 0));
  }
  for (const int threads : {-1, 0}) GIVES(wrong, active(&add, threads, 0));
  RIGHT(active(&add, 32, 0));
  const int most = blocks;
  RIGHT(cudaFuncGetAttributes(&a, &add));
  const auto allowed = static_cast<std::size_t>(a.maxDynamicSharedSizeBytes);
  HOLDS(a.constSizeBytes == 4);  // of the module
  RIGHT(active(&add, 32, allowed));
  HOLDS(blocks > 0);
  RIGHT(active(&add, 32, allowed + 1));
  HOLDS(blocks == 0);
  RIGHT(active(&add, 32, std::size_t{1} << 33));  // 32 bits count
  HOLDS(blocks == most);

  std::size_t bytes = 0;
  const auto available = [&bytes](int n, int threads) {
    return call("cudaOccupancyAvailableDynamicSMemPerBlock", &bytes, &add, n, threads);
  };
  RIGHT(available(1, 32));
  HOLDS(bytes == allowed);
  RIGHT(available(most, 32));
  HOLDS(bytes > 0 && bytes < allowed && bytes % 128 == 0);
  GIVES(wrong, available(most + 1, 32));
  GIVES(wrong, available(1, 1025));

  std::size_t offset = 99;
  RIGHT(call("cudaFuncGetParamInfo", &linger, std::size_t{1}, &offset, &bytes));
  HOLDS(offset == 8 && bytes == 4);
  GIVES(wrong, call("cudaFuncGetParamInfo", &linger, std::size_t{99}, &offset, &bytes));

  const char* name = nullptr;
  GIVES(wrong, call("cudaFuncGetName", &name, null));
  GIVES(no_handle, call("cudaFuncGetName", &name, &blocks));
  for (const int unknown : {0, 7, 10, 16}) GIVES(wrong, cudaFuncSetAttribute(&add, unknown, 0));
  RIGHT(cudaFuncSetAttribute(&add, cluster_policy, 2));
  GIVES(wrong, cudaFuncSetAttribute(&add, cluster_policy, 3));
  GIVES(wrong, call("cudaFuncSetSharedMemConfig", &add, 9));
}

}  // namespace cuda_programs
