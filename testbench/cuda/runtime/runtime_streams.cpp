// SPDX-License-Identifier: MIT
// The runtime: streams, events, host functions.
#include <pthread.h>

#include <condition_variable>
#include <map>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

stream_t as_handle(std::uint32_t number) { return reinterpret_cast<stream_t>(std::uintptr_t{number} + 0x1000); }

struct stream_facts {
  unsigned flags;
  int priority;
};
std::mutex facts_mutex;
std::map<std::uint32_t, stream_facts> facts;

using host_call = host_work;
std::mutex calls_mutex;
std::condition_variable& calls_added =
    *new std::condition_variable;  // never destroyed: the worker waits for it until the process ends
pthread_t worker_of{};
bool has_worker = false;
std::map<std::uint64_t, host_call>& calls = *new std::map<std::uint64_t, host_call>;
std::uint64_t next_call = 1;

void run(std::uint64_t number) {
  host_call c;
  {
    const std::lock_guard<std::mutex> lock(calls_mutex);
    const auto found = calls.find(number);
    if (found == calls.end()) return;
    c = found->second;
    calls.erase(found);
  }
  if (c.function != nullptr) c.function(c.data);
  if (c.callback != nullptr) c.callback(c.stream, error::none, c.data);
}

// One thread runs all host functions in stream order, as in CUDA's driver.
void* serve_host_functions(void* context_of_first) {
  give_context(static_cast<context*>(context_of_first));
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(calls_mutex);
      calls_added.wait(lock, [] { return !calls.empty(); });
    }
    const reply r = call(wire::call::next_host_function, wire::writer());
    if (r.status != error::none) return nullptr;
    const auto number = r.read().get<std::uint64_t>();
    if (number == 0) continue;
    run(number);
    call(wire::call::host_function_done, wire::writer().put(number));
  }
}

error_t enqueue(stream_t s, bool per_thread, const host_call& c) {
  return run_on_host(c, stream_number(s, per_thread), manner::asynchronous);
}

constexpr unsigned external = 1;  // flag of an event outside of the captured graph
error_t record(event_t e, stream_t s, bool per_thread, unsigned flags = 0) {
  const std::uint32_t event = event_number(e), stream = stream_number(s, per_thread);
  error_t result = error::none;
  if (captured_record(event, stream, flags == external, result)) return result;
  return noted(call(wire::call::record_event, wire::writer().put(event).put(stream)).status);
}
error_t wait_for(stream_t s, event_t e, bool per_thread, unsigned flags) {
  const std::uint32_t event = event_number(e), stream = stream_number(s, per_thread);
  error_t result = error::none;
  if (captured_wait(stream, event, flags == external, result)) return result;
  return noted(call(wire::call::wait_event, wire::writer().put(stream).put(event)).status);
}
error_t query(wire::wait_kind kind, std::uint32_t number) {
  error_t result = error::none;
  if (captured_question(kind, number, result)) return result;
  return noted(call(wire::call::query, wire::writer().put(kind).put(number)).status);
}
error_t synchronize(wire::wait_kind kind, std::uint32_t number) {
  error_t result = error::none;
  return captured_question(kind, number, result) ? result : noted(wait(kind, number));
}

}  // namespace

error_t heddle::cuda::run_on_host(const host_work& c, std::uint32_t stream, manner how) {
  error_t result = error::none;
  if (captured(stream, how, c, result)) return result;
  std::uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(calls_mutex);
    number = next_call++;
    calls[number] = c;
  }
  const error_t e = call(wire::call::host_function, wire::writer().put(stream).put(number)).status;
  const std::lock_guard<std::mutex> lock(calls_mutex);
  if (e != error::none) {
    calls.erase(number);
    return noted(e);
  }
  if (!has_worker)
    has_worker = ::pthread_create(&worker_of, nullptr, serve_host_functions, current_context()) == 0 &&
                 ::pthread_detach(worker_of) == 0;
  calls_added.notify_one();
  return error::none;
}

HEDDLE_CUDA error_t cudaStreamCreateWithPriority(stream_t* s, unsigned flags, int priority) {
  const reply r = call(wire::call::make_stream, wire::writer().put(std::uint32_t{flags}).put(std::int32_t{priority}));
  if (r.status != error::none) return noted(r.status);
  const auto number = r.read().get<std::uint32_t>();
  const std::lock_guard<std::mutex> lock(facts_mutex);
  facts[number] = {flags, priority};
  *s = as_handle(number);
  return error::none;
}
HEDDLE_CUDA error_t cudaStreamCreateWithFlags(stream_t* s, unsigned flags) {
  return cudaStreamCreateWithPriority(s, flags, 0);
}
HEDDLE_CUDA error_t cudaStreamCreate(stream_t* s) { return cudaStreamCreateWithPriority(s, 0, 0); }
HEDDLE_CUDA error_t cudaStreamDestroy(stream_t s) {
  if (reinterpret_cast<std::uintptr_t>(s) < 0x1000) return noted(error::invalid_handle);
  return noted(call(wire::call::drop_stream, wire::writer().put(stream_number(s))).status);
}
HEDDLE_CUDA error_t cudaStreamSynchronize(stream_t s) { return synchronize(wire::wait_kind::stream, stream_number(s)); }
HEDDLE_CUDA error_t cudaStreamSynchronize_ptsz(stream_t s) {
  return synchronize(wire::wait_kind::stream, stream_number(s, true));
}
HEDDLE_CUDA error_t cudaStreamQuery(stream_t s) { return query(wire::wait_kind::stream, stream_number(s)); }
HEDDLE_CUDA error_t cudaStreamQuery_ptsz(stream_t s) { return query(wire::wait_kind::stream, stream_number(s, true)); }
HEDDLE_CUDA error_t cudaStreamWaitEvent(stream_t s, event_t e, unsigned flags) { return wait_for(s, e, false, flags); }
HEDDLE_CUDA error_t cudaStreamWaitEvent_ptsz(stream_t s, event_t e, unsigned flags) {
  return wait_for(s, e, true, flags);
}
HEDDLE_CUDA error_t cudaStreamGetPriority(stream_t s, int* priority) {
  const std::lock_guard<std::mutex> lock(facts_mutex);
  const auto found = facts.find(stream_number(s));
  *priority = found != facts.end() ? found->second.priority : 0;
  return error::none;
}
HEDDLE_CUDA error_t cudaStreamGetPriority_ptsz(stream_t s, int* priority) { return cudaStreamGetPriority(s, priority); }
HEDDLE_CUDA error_t cudaStreamGetFlags(stream_t s, unsigned* flags) {
  const std::lock_guard<std::mutex> lock(facts_mutex);
  const auto found = facts.find(stream_number(s));
  *flags = found != facts.end() ? found->second.flags : 0;
  return error::none;
}
HEDDLE_CUDA error_t cudaStreamGetFlags_ptsz(stream_t s, unsigned* flags) { return cudaStreamGetFlags(s, flags); }
HEDDLE_CUDA error_t cudaStreamGetDevice(stream_t, int* device) {
  *device = 0;
  return error::none;
}

HEDDLE_CUDA error_t cudaLaunchHostFunc(stream_t s, void (*f)(void*), void* data) {
  return enqueue(s, false, {f, nullptr, data, s});
}
HEDDLE_CUDA error_t cudaLaunchHostFunc_ptsz(stream_t s, void (*f)(void*), void* data) {
  return enqueue(s, true, {f, nullptr, data, s});
}
HEDDLE_CUDA error_t cudaStreamAddCallback(stream_t s, void (*f)(stream_t, error_t, void*), void* data, unsigned) {
  return enqueue(s, false, {nullptr, f, data, s});
}
HEDDLE_CUDA error_t cudaStreamAddCallback_ptsz(stream_t s, void (*f)(stream_t, error_t, void*), void* data, unsigned) {
  return enqueue(s, true, {nullptr, f, data, s});
}

HEDDLE_CUDA error_t cudaEventCreateWithFlags(event_t* e, unsigned) {
  const reply r = call(wire::call::make_event, wire::writer());
  if (r.status == error::none) *e = as_handle(r.read().get<std::uint32_t>());
  return noted(r.status);
}
HEDDLE_CUDA error_t cudaEventCreate(event_t* e) { return cudaEventCreateWithFlags(e, 0); }
HEDDLE_CUDA error_t cudaEventDestroy(event_t e) {
  return noted(call(wire::call::drop_event, wire::writer().put(event_number(e))).status);
}
HEDDLE_CUDA error_t cudaEventRecord(event_t e, stream_t s) { return record(e, s, false); }
HEDDLE_CUDA error_t cudaEventRecord_ptsz(event_t e, stream_t s) { return record(e, s, true); }
HEDDLE_CUDA error_t cudaEventRecordWithFlags(event_t e, stream_t s, unsigned flags) {
  return record(e, s, false, flags);
}
HEDDLE_CUDA error_t cudaEventRecordWithFlags_ptsz(event_t e, stream_t s, unsigned flags) {
  return record(e, s, true, flags);
}
HEDDLE_CUDA error_t cudaEventSynchronize(event_t e) { return synchronize(wire::wait_kind::event, event_number(e)); }
HEDDLE_CUDA error_t cudaEventQuery(event_t e) { return query(wire::wait_kind::event, event_number(e)); }
/// In milliseconds of simulated time.
HEDDLE_CUDA error_t cudaEventElapsedTime(float* milliseconds, event_t from, event_t to) {
  const reply r = call(wire::call::elapsed, wire::writer().put(event_number(from)).put(event_number(to)));
  if (r.status == error::none) *milliseconds = static_cast<float>(r.read().get<double>() * 1e-6);
  return noted(r.status);
}
HEDDLE_CUDA error_t cudaEventElapsedTime_v2(float* milliseconds, event_t from, event_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
