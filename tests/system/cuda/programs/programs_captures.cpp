// SPDX-License-Identifier: MIT
// What ends the capture of a stream, and what may not be captured. As an H100 with CUDA 13 answers.
#include <functional>
#include <thread>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr std::size_t none = 0;
constexpr int wrong = cudaErrorInvalidValue, illegal_state = 401, not_captured = 900, invalidated = 901,
              unmatched = 903, isolated = 905, implicit = 906, captured_event = 907, wrong_thread = 908;
constexpr int global_mode = 0, relaxed_mode = 2, idle = 0, active = 1, invalid = 2;

/// A capture that a call may invalidate.
struct recorder {
  cudaStream_t s = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  int* memory = device<int>(64);
  void* graph = nullptr;
  recorder() {
    RIGHT(cudaStreamCreate(&s));
    RIGHT(cudaStreamCreate(&other));
    RIGHT(cudaEventCreate(&event));
  }
  void begin(int mode) { RIGHT(call("cudaStreamBeginCapture", s, mode)); }
  [[nodiscard]] int status() const {
    int now = 7;
    RIGHT(call("cudaStreamIsCapturing", s, &now));
    return now;
  }
  int end() { return call("cudaStreamEndCapture", s, &graph); }
  [[nodiscard]] std::size_t nodes() const {
    std::size_t n = 99;
    RIGHT(call("cudaGraphGetNodes", graph, null, &n));
    return n;
  }
  /// The call gives this and ends the capture in this mode, or does neither.
  void refuses(int mode, int expected, bool invalidates, const std::function<int()>& f) {
    begin(mode);
    GIVES(expected, f());
    HOLDS(status() == (invalidates ? invalid : active));
    GIVES(invalidates ? invalidated : cudaSuccess, end());
    if (!invalidates) HOLDS(nodes() == 0);
  }
};

void calls_that_end_captures() {
  recorder r;
  void *pinned = nullptr, *empty = nullptr, *instance = nullptr, *p = nullptr;
  unsigned flags = 0;
  float time = 0;
  static char page[8192];
  RIGHT(cudaHostAlloc(&pinned, 4096, 0));
  RIGHT(call("cudaGraphCreate", &empty, 0u));
  RIGHT(call("cudaGraphInstantiate", &instance, empty, 0ull));
  for (const int mode : {global_mode, relaxed_mode}) {
    const int unsafe = mode == relaxed_mode ? 0 : not_captured;
    r.refuses(mode, wrong, true, [&] { return launch(linger, 1, 2000, 0, r.s, r.memory, 1); });
    r.refuses(mode, unsafe, unsafe != 0, [&] { return cudaStreamSynchronize(r.other); });
    r.refuses(mode, unsafe, unsafe != 0, [&] { return cudaStreamQuery(r.other); });
    r.refuses(mode, unsafe, unsafe != 0, [&] { return call("cudaDeviceSetLimit", 1, std::size_t{1} << 20); });
    r.refuses(mode, unsafe, unsafe != 0, [&] { return cudaHostRegister(page, 16, 0); });
    static_cast<void>(cudaHostUnregister(page));
    r.refuses(mode, implicit, true, [&] { return launch(linger, 1, 1, 0, nullptr, r.memory, 1); });
    r.refuses(mode, implicit, true, [&] { return cudaStreamQuery(nullptr); });
    r.refuses(mode, not_captured, true, [] { return cudaDeviceSynchronize(); });
    r.refuses(mode, not_captured, true, [&] { return call("cudaGraphLaunch", instance, r.s); });
    r.refuses(mode, not_captured, true, [&] { return call("cudaStreamGetFlags", r.s, &flags); });
    r.refuses(mode, not_captured, true, [&] {
      return cudaStreamAddCallback(
          r.s, [](cudaStream_t, int, void*) {}, nullptr, 0);
    });
    r.refuses(mode, 0, false, [&] { return cudaMalloc(&p, 0); });
    r.refuses(mode, 0, false, [&] { return cudaMemsetAsync(r.memory, 0, 0, r.s); });
    r.refuses(mode, wrong, false,
              [&] { return cudaMemcpyAsync(r.memory, pinned, 1 << 20, cudaMemcpyHostToDevice, r.s); });
    r.refuses(mode, 0, false, [&] {
      cudaEvent_t fresh = nullptr;
      RIGHT(cudaEventCreate(&fresh));
      return cudaStreamWaitEvent(r.s, fresh, 0);
    });
    r.refuses(mode, captured_event, false, [&] {
      RIGHT(cudaEventRecord(r.event, r.s));
      return cudaEventElapsedTime(&time, r.event, r.event);
    });
  }
}

void ends_of_captures() {
  recorder r;
  r.begin(global_mode);
  RIGHT(call("cudaStreamEndCapture", r.s, null));
  HOLDS(r.status() == idle);
  GIVES(illegal_state, r.end());
  // By another thread, or of a stream that joined it.
  r.begin(global_mode);
  std::thread([&r] { GIVES(wrong_thread, r.end()); }).join();
  HOLDS(r.status() == idle);
  r.begin(global_mode);
  RIGHT(cudaEventRecord(r.event, r.s));
  RIGHT(cudaStreamWaitEvent(r.other, r.event, 0));
  GIVES(unmatched, call("cudaStreamEndCapture", r.other, &r.graph));
  HOLDS(r.status() == invalid);
  GIVES(invalidated, cudaEventRecord(r.event, r.s));
  GIVES(invalidated, cudaStreamWaitEvent(r.s, r.event, 0));
  std::thread([&r] { GIVES(invalidated, r.end()); }).join();
  HOLDS(r.status() == idle);
  // An event of a capture is none until it is recorded again.
  GIVES(wrong, cudaEventQuery(r.event));
  GIVES(wrong, cudaEventSynchronize(r.event));
  GIVES(wrong, cudaStreamWaitEvent(r.other, r.event, 0));
  RIGHT(cudaEventRecord(r.event, r.s));
  RIGHT(cudaEventSynchronize(r.event));
  // One that a graph has recorded is outside of a capture, as one that the program has.
  void *recording = nullptr, *recorder_node = nullptr, *recorder_graph = nullptr;
  cudaEvent_t by_graph = nullptr;
  RIGHT(cudaEventCreate(&by_graph));
  r.begin(global_mode);
  RIGHT(cudaEventRecord(by_graph, r.s));
  RIGHT(r.end());
  GIVES(wrong, cudaEventQuery(by_graph));
  RIGHT(call("cudaGraphCreate", &recording, 0u));
  RIGHT(call("cudaGraphAddEventRecordNode", &recorder_node, recording, null, none, by_graph));
  RIGHT(call("cudaGraphInstantiate", &recorder_graph, recording, 0ull));
  RIGHT(call("cudaGraphLaunch", recorder_graph, null));
  RIGHT(cudaDeviceSynchronize());
  RIGHT(cudaEventQuery(by_graph));
  r.begin(global_mode);
  GIVES(isolated, cudaStreamWaitEvent(r.s, by_graph, 0));
  GIVES(invalidated, r.end());
  // The graph belongs to the capture.
  int status = 0;
  unsigned long long id = 0;
  void *graph = nullptr, *instance = nullptr;
  r.begin(relaxed_mode);
  RIGHT(call("cudaStreamGetCaptureInfo", r.s, &status, &id, &graph, null, null, null));
  GIVES(illegal_state, call("cudaGraphDestroy", graph));
  GIVES(wrong, call("cudaStreamUpdateCaptureDependencies", r.s, null, null, none, 9u));
  RIGHT(r.end());
  r.begin(global_mode);
  GIVES(not_captured, call("cudaGraphInstantiate", &instance, r.graph, 0ull));
  GIVES(invalidated, r.end());
  // With its stream it ends, too.
  r.begin(global_mode);
  RIGHT(cudaStreamDestroy(r.s));
  RIGHT(cudaDeviceSynchronize());
  int mode = 9;
  RIGHT(call("cudaThreadExchangeStreamCaptureMode", &mode));
  HOLDS(mode == global_mode);
}

}  // namespace

void capture_rules() {
  calls_that_end_captures();
  ends_of_captures();
}

}  // namespace cuda_programs
