// SPDX-License-Identifier: MIT
// What CUDA says of its device, keeps for it and takes with a launch. As an H100 with CUDA 13 answers.
#include <cstdio>
#include <string>
#include <utility>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr int wrong = cudaErrorInvalidValue, wrong_handle = cudaErrorInvalidResourceHandle, wrong_device = 101,
              unsupported_limit = 215, no_peer = 217, illegal_state = 401, not_permitted = 800, unsupported = 801,
              wrong_cluster = 912;

void limits() {
  enum { stack, printf_buffer, heap, nesting, pending, l2_fetch, persisting, shared_memory };
  int sms = 0, most = 0;
  std::size_t value = 7;
  const auto get = [&value](int limit) {
    value = 7;
    RIGHT(call("cudaDeviceGetLimit", &value, limit));
    return value;
  };
  const auto becomes = [&get](int limit, std::size_t to, std::size_t expected) {
    RIGHT(call("cudaDeviceSetLimit", limit, to));
    HOLDS(get(limit) == expected);
  };
  RIGHT(cudaDeviceGetAttribute(&sms, 16, 0));
  RIGHT(cudaDeviceGetAttribute(&most, 108, 0));
  HOLDS(get(printf_buffer) == std::size_t{65536} * static_cast<unsigned>(sms));
  GIVES(wrong, call("cudaDeviceGetLimit", &value, -1));
  GIVES(wrong, call("cudaDeviceSetLimit", -1, std::size_t{1}));
  GIVES(unsupported_limit, call("cudaDeviceGetLimit", &value, int{nesting}));
  becomes(stack, 1000, 1008);
  GIVES(wrong, call("cudaDeviceSetLimit", int{stack}, std::size_t{524288}));
  HOLDS(get(stack) == 1008);
  becomes(printf_buffer, 1, 524288);
  becomes(heap, 1000, 4194304);
  becomes(pending, 0, 32);
  becomes(l2_fetch, 1, 1);
  GIVES(wrong, call("cudaDeviceSetLimit", int{l2_fetch}, std::size_t{129}));
  becomes(persisting, most != 0 ? 1 : 0, static_cast<unsigned>(most / 10));
  GIVES(wrong, call("cudaDeviceSetLimit", int{persisting}, static_cast<std::size_t>(most) + 1));
  GIVES(not_permitted, call("cudaDeviceSetLimit", int{shared_memory}, std::size_t{1024}));
}

void settings() {
  unsigned flags = 0;
  int value = 0;
  const int first = 0, fifth = 5;
  RIGHT(call("cudaGetDeviceFlags", &flags));
  HOLDS(flags == 8);
  GIVES(wrong, call("cudaSetDeviceFlags", 3u));
  RIGHT(call("cudaSetDeviceFlags", 4u));
  RIGHT(call("cudaGetDeviceFlags", &flags));
  HOLDS(flags == 12);
  RIGHT(call("cudaSetValidDevices", &first, 1));
  GIVES(wrong_device, call("cudaSetValidDevices", &fifth, 1));
  GIVES(wrong, call("cudaSetValidDevices", &first, -1));
  RIGHT(call("cudaDeviceSetCacheConfig", 3));
  for (const int unknown : {-1, 4}) GIVES(wrong, call("cudaDeviceSetCacheConfig", unknown));
  for (const int unknown : {-1, 3}) GIVES(wrong, call("cudaDeviceSetSharedMemConfig", unknown));
  RIGHT(call("cudaDeviceGetCacheConfig", &value));
  HOLDS(value == 3);
  char id[64];
  GIVES(wrong, call("cudaDeviceGetPCIBusId", id, 12, 0));
  RIGHT(call("cudaDeviceGetPCIBusId", id, 64, 0));
  RIGHT(call("cudaDeviceGetByPCIBusId", &value, id));
  GIVES(wrong_device, call("cudaDeviceGetByPCIBusId", &value, "77:77.7"));
  GIVES(wrong, call("cudaDeviceGetByPCIBusId", &value, "hello"));
  value = -7;
  GIVES(wrong_device, call("cudaDeviceCanAccessPeer", &value, 0, 1));
  GIVES(wrong_device, call("cudaDeviceGetP2PAttribute", &value, 1, 0, 0));
  HOLDS(value == -7);
  GIVES(no_peer, call("cudaDeviceEnablePeerAccess", 0, 0u));
  GIVES(wrong, call("cudaDeviceEnablePeerAccess", 0, 3u));
  GIVES(705, call("cudaDeviceDisablePeerAccess", 0));
  for (const auto& [attribute, expected] :
       {std::pair{47, 8192}, {54, 2046}, {55, 32768}, {63, 32768}, {69, 1 << 28}, {77, 32768}, {122, 1}, {131, -1}}) {
    RIGHT(cudaDeviceGetAttribute(&value, attribute, 0));
    HOLDS(value == expected);
  }
  for (const int unknown : {0, 148}) GIVES(wrong, cudaDeviceGetAttribute(&value, unknown, 0));
  HOLDS(std::string(cudaGetErrorString(912)) == "a kernel launch error has occurred due to cluster misconfiguration");
  cudaEvent_t event = nullptr;
  int on_host = 0;
  RIGHT(cudaEventCreate(&event));
  GIVES(wrong, call("cudaIpcGetMemHandle", id, &on_host));
  GIVES(wrong_handle, call("cudaIpcGetEventHandle", id, event));
  GIVES(wrong, call("cudaIpcCloseMemHandle", device<int>(1)));
}

struct attribute {
  int id, pad = 0;
  union {
    int number;
    unsigned size[3];
    void* event;
    char bytes[64];
  } value{};
};

void attributes_of_launches() {
  struct {
    dim3 grid{4}, block{32};
    std::size_t shared = 0;
    void* stream = nullptr;
    attribute* attributes = nullptr;
    unsigned count = 1;
  } config;
  int *memory = device<int>(128), turns = 1;
  void* list[] = {&memory, &turns};
  const auto given = [&](attribute a) {
    config.attributes = &a;
    return call("cudaLaunchKernelExC", &config, &linger, list);
  };
  const auto number = [&](int id, int n) {
    attribute a{id};
    a.value.number = n;
    return given(a);
  };
  const auto size = [&](int id, unsigned x, unsigned y) {
    attribute a{id};
    a.value.size[0] = x;
    a.value.size[1] = y;
    a.value.size[2] = 1;
    return given(a);
  };
  const auto event = [&](int id, void* e) {
    attribute a{id};
    a.value.event = e;
    return given(a);
  };
  for (const int id : {0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 14, 16}) RIGHT(number(id, 0));
  for (const int id : {3, 15, 17, 21}) GIVES(wrong, number(id, 0));
  GIVES(unsupported, number(13, 0));
  for (const auto& [id, n] : {std::pair{3, 5}, {5, 3}, {10, 2}, {14, -1}, {14, 101}}) GIVES(wrong, number(id, n));
  for (const auto& [id, n] : {std::pair{3, 4}, {5, 2}, {10, 1}, {14, 100}}) RIGHT(number(id, n));
  GIVES(wrong_cluster, size(4, 0, 1));
  GIVES(wrong_cluster, size(11, 2, 1));  // a preferred one, and none that is required
  cudaEvent_t timed = nullptr, plain = nullptr;
  RIGHT(cudaEventCreate(&timed));
  RIGHT(call("cudaEventCreateWithFlags", &plain, 2u));
  for (const int id : {7, 12}) {
    GIVES(wrong_handle, event(id, nullptr));
    GIVES(illegal_state, event(id, timed));
    RIGHT(event(id, plain));
    RIGHT(cudaEventSynchronize(plain));
  }
  int sums = 0;
  RIGHT(cudaMemcpy(&sums, memory, 4, cudaMemcpyDeviceToHost));
  HOLDS(sums == 18);  // launches that were not refused
}

}  // namespace

// The SMs that the device says it has bound what may run together.
void share() {
  constexpr int too_large = 720, threads = 256;
  int sms = 0, blocks = 0, grid = 0, block = 0;
  RIGHT(cudaDeviceGetAttribute(&sms, 16, 0));
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &linger, threads, 0));
  void* function = nullptr;
  RIGHT(call("cudaGetFuncBySymbol", &function, &linger));
  RIGHT(call("cuOccupancyMaxPotentialBlockSize", &grid, &block, function, nullptr, std::size_t{0}, threads));
  HOLDS(block == threads && grid == sms * blocks);
  const unsigned most = static_cast<unsigned>(sms * blocks);
  int* words = device<int>(std::size_t{most} * threads);
  int turns = 1;
  void* list[] = {&words, &turns, nullptr};
  GIVES(too_large, cudaLaunchCooperativeKernel(&linger, {most + 1, 1, 1}, {threads, 1, 1}, list, 0, nullptr));
  cudaGetLastError();
  RIGHT(cudaLaunchCooperativeKernel(&linger, {most, 1, 1}, {threads, 1, 1}, list, 0, nullptr));
  RIGHT(cudaDeviceSynchronize());
  std::printf("%d SMs\n", sms);
}

void device_rules() {
  limits();
  settings();
  attributes_of_launches();
}

}  // namespace cuda_programs
