// SPDX-License-Identifier: MIT
// Wrong arguments: CUDA's errors, and no crash.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr long none = 0;

/// All functions except those that nvcc's code calls and one that returns a structure.
std::vector<const char*> functions() {
  std::vector<const char*> all = {
#define HEDDLE_NAME(name, ...) #name,
#include "testbench/cuda/driver/driver_names.inc"
#include "testbench/cuda/runtime/runtime_names.inc"
#undef HEDDLE_NAME
  };
  std::vector<const char*> named;
  for (const char* name : all)
    if (std::strncmp(name, "__", 2) != 0 && std::strcmp(name, "cudaCreateChannelDesc") != 0) named.push_back(name);
  return named;
}

constexpr int not_there = 2;  // exit code of a program that calls a missing function

/// Calls functions with zeros, from the given one on, until the process ends.
[[noreturn]] void call_with_zeros(const std::vector<const char*>& names, std::size_t& at) {
  void* context = nullptr;
  RIGHT(cudaFree(nullptr));
  for (; at < names.size(); ++at) {
    RIGHT(call("cuDevicePrimaryCtxRetain", &context, 0));
    RIGHT(call("cuCtxSetCurrent", context));
    // As many as the function with the most arguments has, structures on the stack included.
    call(names[at], none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none);
  }
  ::_exit(0);
}

}  // namespace

void null_arguments() {
  const std::vector<const char*> names = functions();
  HOLDS(names.size() > 800);
  void* const shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::size_t& at = *new (shared) std::size_t{0};
  std::size_t missing = 0;
  for (; at < names.size(); ++at) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) call_with_zeros(names, at);
    int status = 0;
    HOLDS(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != not_there) fail(__FILE__, __LINE__, names[at], status);
    ++missing;
  }
  HOLDS(missing < names.size() / 2);

  // Only the result's pointer is null.
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void *pinned = nullptr, *graph = nullptr, *pool = nullptr, *array = nullptr, *kernel = nullptr;
  RIGHT(cudaStreamCreate(&stream));
  RIGHT(cudaEventCreate(&event));
  RIGHT(cudaEventRecord(event, stream));
  RIGHT(cudaStreamSynchronize(stream));
  RIGHT(cudaHostAlloc(&pinned, 64, 0));
  RIGHT(call("cudaGraphCreate", &graph, 0));
  RIGHT(call("cudaDeviceGetDefaultMemPool", &pool, 0));
  const int format[5] = {32, 0, 0, 0, 2};
  RIGHT(call("cudaMallocArray", &array, format, std::size_t{8}, std::size_t{0}, 0u));
  RIGHT(call("cudaGetFuncBySymbol", &kernel, &add));
  constexpr int wrong = cudaErrorInvalidValue;
  for (const char* name : {"cudaFuncGetAttributes", "cudaFuncGetName", "cudaGetFuncBySymbol", "cudaGetKernel",
                           "cudaOccupancyMaxActiveClusters"})
    GIVES(wrong, call(name, null, &add, null));
  for (const char* name : {"cudaGetSymbolAddress", "cudaGetSymbolSize"}) GIVES(wrong, call(name, null, &factor));
  GIVES(wrong, call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", null, &add, 32, std::size_t{0}));
  GIVES(wrong, call("cudaOccupancyAvailableDynamicSMemPerBlock", null, &add, 1, 32));
  GIVES(wrong, call("cudaLaunchKernelExC", null, &add, null));
  GIVES(wrong, call("cudaEventElapsedTime", null, event, event));
  GIVES(wrong, call("cudaPointerGetAttributes", null, pinned));
  GIVES(wrong, call("cudaHostGetDevicePointer", null, pinned, 0));
  GIVES(wrong, call("cudaHostGetFlags", null, pinned));
  GIVES(wrong, call("cudaGetChannelDesc", null, array));
  GIVES(wrong, call("cudaDeviceGetGraphMemAttribute", 0, 0, null));
  GIVES(wrong, call("cudaMemPoolGetAttribute", pool, 1, null));
  GIVES(wrong, call("cudaMemPoolGetAccess", null, pool, null));
  GIVES(wrong, call("cudaMallocPitch", &pinned, null, 1, 1));
  void* node = nullptr;
  GIVES(wrong, call("cudaGraphAddEmptyNode", &node, graph, null, std::size_t{1}));
  GIVES(wrong, call("cudaGraphAddMemFreeNode", &node, graph, null, std::size_t{1}, pinned));
  GIVES(wrong, call("cudaGraphAddDependencies", graph, null, null, null, std::size_t{1}));
  for (const char* name : {"cudaGraphGetNodes", "cudaGraphGetRootNodes", "cudaGraphClone", "cudaGraphInstantiate"})
    GIVES(wrong, call(name, graph, null, null));
  for (const char* name : {"cudaStreamGetFlags", "cudaStreamGetPriority", "cudaStreamGetDevice",
                           "cudaStreamIsCapturing", "cuStreamGetId", "cuStreamGetCtx", "cuStreamGetCtx_v2"})
    GIVES(wrong, call(name, stream, null, null));
  for (const char* name : {"cuFuncGetModule", "cuFuncGetName", "cuFuncIsLoaded", "cuKernelGetFunction",
                           "cuKernelGetLibrary", "cuKernelGetName"})
    GIVES(wrong, call(name, null, kernel));
  GIVES(wrong, call("cuFuncGetAttribute", null, 0, kernel));
  GIVES(wrong, call("cuPointerGetAttributes", 1, null, null, pinned));
  // CUDA allows these.
  RIGHT(call("cudaDeviceGetStreamPriorityRange", null, null));
  RIGHT(call("cudaArrayGetInfo", null, null, null, array));
  RIGHT(cudaFree(nullptr));
}

void unknown_flags() {
  constexpr int wrong = cudaErrorInvalidValue, no_handle = cudaErrorInvalidResourceHandle;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, untimed = nullptr;
  void* p = nullptr;
  GIVES(wrong, cudaStreamCreateWithFlags(&stream, 77));
  GIVES(wrong, call("cudaEventCreateWithFlags", &event, 0x100));
  GIVES(wrong, call("cudaEventCreateWithFlags", &event, 4));  // for other processes, but with time
  GIVES(wrong, cudaHostAlloc(&p, 64, 8));
  GIVES(wrong, cudaMallocManaged(&p, 64, 0));
  GIVES(wrong, call("cudaSetDeviceFlags", 0x1000));
  GIVES(wrong, call("cudaGraphCreate", &p, 1));
  GIVES(wrong, cudaLaunchHostFunc(nullptr, nullptr, nullptr));
  RIGHT(cudaEventCreate(&event));
  GIVES(wrong, call("cudaEventRecordWithFlags", event, null, 2));
  GIVES(wrong, cudaStreamWaitEvent(nullptr, event, 2));

  // A priority outside of the range is moved into it.
  for (const auto& [given, expected] : {std::pair{-1000, -5}, {7, 0}, {-3, -3}}) {
    int priority = 1;
    RIGHT(call("cudaStreamCreateWithPriority", &stream, 1, given));
    RIGHT(call("cudaStreamGetPriority", stream, &priority));
    GIVES(expected, priority);
  }

  // An event without time has none, whether or not it has passed.
  float ms = 0;
  RIGHT(call("cudaEventCreateWithFlags", &untimed, 2));
  RIGHT(cudaEventRecord(event, nullptr));
  RIGHT(cudaEventRecord(untimed, nullptr));
  GIVES(no_handle, cudaEventElapsedTime(&ms, event, untimed));
  RIGHT(cudaDeviceSynchronize());
  GIVES(no_handle, cudaEventElapsedTime(&ms, untimed, event));
  RIGHT(cudaEventElapsedTime(&ms, event, event));

  // Handles that are none: too small, unknown, destroyed, and one that is equal to a stream's in its lower half.
  RIGHT(cudaStreamDestroy(stream));
  RIGHT(cudaStreamCreate(&stream));
  const auto known = reinterpret_cast<std::size_t>(stream);
  RIGHT(cudaStreamDestroy(stream));
  RIGHT(cudaStreamCreate(&stream));
  const auto now = reinterpret_cast<std::size_t>(stream);
  for (const std::size_t handle : {std::size_t{5}, std::size_t{0x123456}, known, now + (std::size_t{1} << 32)}) {
    const auto s = reinterpret_cast<cudaStream_t>(handle);
    int value = 0;
    GIVES(no_handle, cudaStreamSynchronize(s));
    GIVES(no_handle, cudaStreamQuery(s));
    GIVES(no_handle, call("cudaStreamGetPriority", s, &value));
    GIVES(no_handle, call("cudaStreamGetFlags", s, &value));
    GIVES(no_handle, call("cudaStreamBeginCapture", s, 0));
    GIVES(no_handle, call("cudaStreamEndCapture", s, &p));
    GIVES(no_handle, call("cudaStreamIsCapturing", s, &value));
    GIVES(no_handle, call("cudaStreamGetDevice", s, &value));
    GIVES(no_handle, call("cudaMallocAsync", &p, std::size_t{16}, s));
    GIVES(no_handle, call("cudaFreeAsync", &value, s));
    GIVES(no_handle, call("cudaMemPrefetchAsync", &value, std::size_t{4}, none, none, s));
    GIVES(no_handle, call("cudaStreamAttachMemAsync", s, &value, std::size_t{4}, 1));
    GIVES(no_handle, cudaEventRecord(event, s));
    GIVES(no_handle, cudaEventRecord(reinterpret_cast<cudaEvent_t>(s), nullptr));
  }
}

// Each call that leaves an allocation writes nothing.
void outside_allocations() {
  constexpr int wrong = cudaErrorInvalidValue, bytes = 4096;
  std::vector<unsigned char> host(1 << 20, 1), back(bytes);
  auto *d = device<unsigned char>(bytes), *other = device<unsigned char>(1 << 20);
  void *pinned = nullptr, *shared = nullptr, *asynchronous = nullptr, *pitched = nullptr;
  std::size_t pitch = 0;
  RIGHT(cudaHostAlloc(&pinned, bytes, 0));
  RIGHT(cudaMallocManaged(&shared, bytes, 1));
  RIGHT(call("cudaMallocAsync", &asynchronous, std::size_t{bytes}, null));
  RIGHT(cudaMallocPitch(&pitched, &pitch, 100, 7));
  // Memory of the host that the program does not have: on a GPU such a copy ends it.
  auto* const nowhere = reinterpret_cast<void*>(16);
  GIVES(wrong, cudaMemcpy(d, nowhere, 4, cudaMemcpyHostToDevice));
  GIVES(wrong, cudaMemcpy(nowhere, d, 4, cudaMemcpyDeviceToHost));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaMemset(other, 2, 1 << 20));
  for (void* p : {static_cast<void*>(d), shared, asynchronous, pinned}) {
    auto* const at = static_cast<unsigned char*>(p);
    RIGHT(cudaMemset(at, 5, bytes));
    for (const std::size_t more : {1, 904, 4096, 96'000}) {
      GIVES(wrong, cudaMemcpy(at, host.data(), bytes + more, cudaMemcpyHostToDevice));
      GIVES(wrong, cudaMemcpy(at, host.data(), bytes + more, cudaMemcpyDefault));
      GIVES(wrong, cudaMemcpy(at, other, bytes + more, cudaMemcpyDeviceToDevice));
      GIVES(wrong, cudaMemcpy(host.data(), at, bytes + more, cudaMemcpyDeviceToHost));
      GIVES(wrong, cudaMemcpyAsync(at + bytes - 1, host.data(), more + 1, cudaMemcpyHostToDevice, nullptr));
      GIVES(wrong, cudaMemset(at, 0, bytes + more));
      GIVES(wrong, cudaMemset(at + bytes / 2, 0, bytes / 2 + more));
    }
    GIVES(wrong, cudaMemset2D(at, 1024, 0, 1000, 5));
    GIVES(wrong, cudaMemset2D(at, std::size_t{1} << 62, 0, 1, 5));
    RIGHT(cudaMemcpy(back.data(), at, bytes, cudaMemcpyDefault));
    for (const unsigned char byte : back) HOLDS(byte == 5);
    // What ends with the allocation.
    RIGHT(cudaMemcpy(at, host.data(), bytes, cudaMemcpyDefault));
    RIGHT(cudaMemcpy(at + bytes - 1, host.data(), 1, cudaMemcpyDefault));
    RIGHT(cudaMemset2D(at + 24, 1024, 0, 1000, 4));
    GIVES(wrong, cudaMemset2D(at + 25, 1024, 0, 1000, 4));
    GIVES(wrong, cudaMemset(at + bytes, 0, 1));
  }
  for (const unsigned char byte : host) HOLDS(byte == 1);
  RIGHT(cudaMemcpy2D(pitched, pitch, host.data(), 100, 100, 7, cudaMemcpyHostToDevice));
  GIVES(wrong, cudaMemcpy2D(pitched, pitch, host.data(), 100, 100, 8, cudaMemcpyHostToDevice));
  // Memory of the host that CUDA does not know, memory before an allocation, freed memory, no memory.
  GIVES(wrong, cudaMemset(host.data(), 0, 16));
  GIVES(wrong, cudaMemcpy(host.data(), back.data(), 16, cudaMemcpyHostToDevice));
  GIVES(wrong, cudaMemset(d - 8, 0, 16));
  RIGHT(cudaFree(d));
  GIVES(wrong, cudaMemset(d, 0, 16));
  HOLDS(host[0] == 1);
  // Variables: their addresses are known by name only until one is asked for.
  void* variable = nullptr;
  int number = 7;
  RIGHT(cudaMemcpyToSymbol(&counter, &number, 4, 0, cudaMemcpyHostToDevice));
  RIGHT(call("cudaGetSymbolAddress", &variable, &counter));
  RIGHT(cudaMemset(variable, 0, 4));
  RIGHT(cudaMemcpy(&number, variable, 4, cudaMemcpyDeviceToHost));
  HOLDS(number == 0);
  GIVES(wrong, cudaMemcpyToSymbol(&counter, host.data(), 8, 0, cudaMemcpyHostToDevice));
}

// What CUDA forbids during a capture: calls that may wait for the GPU, in the threads that the capture's mode names.
void calls_in_a_capture() {
  constexpr int unsupported = 900, invalidated = 901, global_mode = 0, thread_mode = 1, relaxed_mode = 2;
  auto* memory = device<char>(4096);
  void *p = nullptr, *graph = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  RIGHT(cudaStreamCreateWithFlags(&stream, 1));
  RIGHT(cudaEventCreate(&event));
  RIGHT(cudaEventRecord(event, nullptr));
  RIGHT(cudaDeviceSynchronize());
  const std::function<int()> calls[] = {
      [&] { return cudaMalloc(&p, 16); },       [&] { return cudaMallocManaged(&p, 16, 1); },
      [&] { return cudaHostAlloc(&p, 16, 0); }, [&] { return cudaFree(memory); },
      [&] { return cudaEventQuery(event); },    [&] { return call("cuMemAlloc_v2", &p, std::size_t{16}); }};
  for (const int mode : {global_mode, thread_mode})
    for (const auto& f : calls) {
      RIGHT(call("cudaStreamBeginCapture", stream, mode));
      RIGHT(cudaMemsetAsync(memory, 0, 16, stream));
      GIVES(unsupported, f());
      GIVES(invalidated, cudaMemsetAsync(memory, 0, 16, stream));
      GIVES(invalidated, call("cudaStreamEndCapture", stream, &graph));
    }
  cudaGetLastError();
  // Threads: this one asks from another while the stream is captured here.
  for (const auto& [mode, own, expected] : {std::tuple{global_mode, global_mode, unsupported},
                                            {global_mode, relaxed_mode, 0},
                                            {thread_mode, global_mode, 0},
                                            {relaxed_mode, global_mode, 0}}) {
    RIGHT(call("cudaStreamBeginCapture", stream, mode));
    RIGHT(cudaMemsetAsync(memory, 0, 16, stream));
    std::thread([&, mode = own, expected = expected] {
      int others = mode;
      RIGHT(call("cudaThreadExchangeStreamCaptureMode", &others));
      GIVES(expected, cudaEventQuery(event));
      GIVES(expected, cudaMalloc(&p, 16));
    }).join();
    GIVES(expected == 0 ? 0 : invalidated, call("cudaStreamEndCapture", stream, &graph));
  }
  // Allocations of the capture itself, and what asks for nothing of the GPU.
  RIGHT(call("cudaStreamBeginCapture", stream, global_mode));
  RIGHT(call("cudaMallocAsync", &p, std::size_t{64}, stream));
  RIGHT(call("cudaFreeAsync", p, stream));
  RIGHT(cudaEventCreate(&event));
  RIGHT(call("cudaStreamEndCapture", stream, &graph));
  RIGHT(cudaFree(memory));
}

void calls_after_a_fault() {
  void *memory = nullptr, *freed = nullptr, *place = nullptr;
  std::size_t bytes = 0;
  int number = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaPointerAttributes attributes{};
  cudaFuncAttributes of_kernel{};
  RIGHT(cudaMalloc(&memory, 4096));
  RIGHT(cudaMalloc(&freed, 4096));
  RIGHT(cudaEventCreate(&event));
  cudaStream_t lost = nullptr;
  RIGHT(cudaStreamCreate(&lost));
  RIGHT(cudaFuncGetAttributes(&of_kernel, &linger));
  RIGHT(launch(wrong_address, 1, 32, 0, nullptr, static_cast<int*>(nullptr)));
  constexpr int fault = cudaErrorIllegalAddress;
  GIVES(fault, cudaDeviceSynchronize());
  GIVES(fault, cudaFree(freed));
  GIVES(fault, cudaFree(nullptr));
  GIVES(fault, cudaFreeHost(nullptr));
  GIVES(fault, cudaMalloc(&place, 0));
  GIVES(fault, cudaMemset(memory, 0, 16));
  GIVES(fault, cudaStreamCreate(&stream));
  GIVES(fault, cudaEventQuery(event));
  GIVES(fault, call("cudaStreamGetPriority", null, &number));
  GIVES(fault, cudaPointerGetAttributes(&attributes, memory));
  GIVES(fault, cudaFuncGetAttributes(&of_kernel, &linger));
  GIVES(fault, call("cudaGetSymbolSize", &bytes, &factor));
  GIVES(fault, call("cudaMemAdvise", memory, std::size_t{16}, 1, none, none));
  GIVES(fault, launch(linger, 1, 32, 0, nullptr, memory, 1));
  GIVES(fault, cudaGetLastError());
  GIVES(fault, call("cuMemFree_v2", none));
  GIVES(fault, call("cuCtxSynchronize"));
  // The GPU has lost what these name.
  GIVES(cudaErrorInvalidResourceHandle, call("cudaStreamBeginCapture", lost, 0));
  GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(lost));
  for (const int limit : {0, 1}) GIVES(fault, call("cudaDeviceGetLimit", &bytes, limit));
  GIVES(fault, call("cudaDeviceGetStreamPriorityRange", &number, &number));
  // These ask for nothing that has failed.
  RIGHT(cudaMemcpy(memory, &number, 0, cudaMemcpyHostToDevice));
  RIGHT(cudaPointerGetAttributes(&attributes, &number));
  RIGHT(cudaGetDeviceCount(&number));
  RIGHT(call("cudaGetDevice", &number));
  RIGHT(cudaDeviceGetAttribute(&number, 10, 0));
  RIGHT(cudaRuntimeGetVersion(&number));
  RIGHT(call("cuDeviceGetCount", &number));
  constexpr int unavailable = 46;
  RIGHT(call("cudaDeviceReset"));
  GIVES(unavailable, cudaMalloc(&place, 4));
  GIVES(unavailable, cudaDeviceSynchronize());
}

}  // namespace cuda_programs
