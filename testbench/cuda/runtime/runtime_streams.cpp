// SPDX-License-Identifier: MIT
// The runtime: streams, events, host functions.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <set>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

stream_t as_handle(std::uint32_t number) { return reinterpret_cast<stream_t>(std::uintptr_t{number} + 0x1000); }

struct stream_facts {
  unsigned flags;
  int priority;
};
library_mutex facts_mutex;
std::map<std::uint32_t, stream_facts> facts;
std::set<std::uint32_t> events_without_time;

namespace event_flag {
constexpr unsigned blocking = 1, without_time = 2, other_processes = 4;
}

/// False: there is no such stream.
bool find(std::uint32_t number, stream_facts& f) {
  f = {0, least_priority};
  if (number == 0) return true;
  const std::lock_guard<std::mutex> lock(facts_mutex);
  const auto found = facts.find(number);
  if (found == facts.end()) return false;
  f = found->second;
  return true;
}

error_t make_stream(unsigned flags, int priority, std::uint32_t& number) {
  priority = std::clamp(priority, greatest_priority, least_priority);
  const reply r = call(wire::call::make_stream, wire::writer().put(std::uint32_t{flags}).put(std::int32_t{priority}));
  if (r.status != error::none) return r.status;
  number = r.read().get<std::uint32_t>();
  const std::lock_guard<std::mutex> lock(facts_mutex);
  facts[number] = {flags, priority};
  return error::none;
}

/// Events that the program has recorded.
std::set<std::uint32_t> recorded;
bool is_fresh(std::uint32_t event) {
  const std::lock_guard<std::mutex> lock(facts_mutex);
  return recorded.count(event) == 0;
}

using host_call = host_work;
/// The host functions of a process and their thread, which a child after fork() does not have.
struct host_calls {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::condition_variable added;
  std::map<std::uint64_t, host_call> all;
  std::uint64_t next = 1;
  bool has_worker = false;
};

/// Never destroyed: the worker waits until the process ends.
host_calls& calls_of_process() {
  static std::atomic<host_calls*> calls{new host_calls};
  host_calls* now = calls.load();
  if (now->process == ::getpid()) return *now;
  auto* own = new host_calls;
  if (!calls.compare_exchange_strong(now, own)) delete own;
  return *calls.load();
}

void run(std::uint64_t number) {
  host_calls& calls = calls_of_process();
  host_call c;
  {
    const std::lock_guard<std::mutex> lock(calls.mutex);
    const auto found = calls.all.find(number);
    if (found == calls.all.end()) return;
    c = found->second;
    calls.all.erase(found);
  }
  in_host_function = true;
  if (c.function != nullptr) c.function(c.data);
  if (c.callback != nullptr) c.callback(c.stream, error::none, c.data);
  in_host_function = false;
}

// One thread runs all host functions in stream order, as in CUDA's driver.
void* serve_host_functions(void* context_of_first) {
  give_context(static_cast<context*>(context_of_first));
  host_calls& calls = calls_of_process();
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(calls.mutex);
      calls.added.wait(lock, [&calls] { return !calls.all.empty(); });
    }
    const reply r = call(wire::call::next_host_function, wire::writer());
    if (r.status != error::none) return nullptr;
    const auto number = r.read().get<std::uint64_t>();
    if (number == 0) continue;
    run(number);
    call(wire::call::host_function_done, wire::writer().put(number));
  }
}

error_t enqueue(stream_t s, bool per_thread, const host_call& c, unsigned flags = 0) {
  if ((c.function == nullptr && c.callback == nullptr) || flags != 0) return noted(error::invalid_value);
  return run_on_host(c, stream_number(s, per_thread), manner::asynchronous);
}

constexpr unsigned external = 1;  // flag of an event outside of the captured graph
error_t record(event_t e, stream_t s, bool per_thread, unsigned flags = 0) {
  if (flags > external) return noted(error::invalid_value);
  const std::uint32_t event = event_number(e), stream = stream_number(s, per_thread);
  error_t result = error::none;
  if (flags == external && is_stream(stream) && !is_captured(stream)) return noted(error::illegal_state);
  note_record(event);
  if (captured_record(event, stream, flags == external, result)) return result;
  return noted(call(wire::call::record_event, wire::writer().put(event).put(stream)).status);
}
error_t wait_for(stream_t s, event_t e, bool per_thread, unsigned flags) {
  if (flags > external) return noted(error::invalid_value);
  const std::uint32_t event = event_number(e), stream = stream_number(s, per_thread);
  error_t result = error::none;
  if (flags == external && is_stream(stream) && !is_captured(stream)) return noted(error::illegal_state);
  if (captured_wait(stream, event, flags == external, is_fresh(event), result)) return result;
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
  host_calls& calls = calls_of_process();
  std::uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(calls.mutex);
    number = calls.next++;
    calls.all[number] = c;
  }
  const error_t e = call(wire::call::host_function, wire::writer().put(stream).put(number)).status;
  const std::lock_guard<std::mutex> lock(calls.mutex);
  if (e != error::none) {
    calls.all.erase(number);
    return noted(e);
  }
  pthread_t worker{};
  if (!calls.has_worker)
    calls.has_worker = ::pthread_create(&worker, nullptr, serve_host_functions, current_context()) == 0 &&
                       ::pthread_detach(worker) == 0;
  calls.added.notify_one();
  return error::none;
}

bool heddle::cuda::is_stream(std::uint32_t number) {
  stream_facts f{};
  return find(number, f);
}

void heddle::cuda::note_record(std::uint32_t event) {
  const std::lock_guard<std::mutex> lock(facts_mutex);
  recorded.insert(event);
}

bool heddle::cuda::has_time(event_t e) {
  const std::lock_guard<std::mutex> lock(facts_mutex);
  return events_without_time.count(event_number(e)) == 0;
}

unsigned heddle::cuda::flags_of_stream(std::uint32_t number) {
  stream_facts f{};
  find(number, f);
  return f.flags;
}

std::uint32_t heddle::cuda::stream_number(stream_t s, bool per_thread) {
  static constexpr std::uintptr_t legacy = 1, thread = 2;
  const auto value = reinterpret_cast<std::uintptr_t>(s);
  if (value == legacy || (value == 0 && !per_thread)) return 0;
  if (value != thread && value != 0) return number_in(s);
  static thread_local std::uint32_t own = 0;
  if (own == 0) make_stream(0, least_priority, own);
  return own;
}

HEDDLE_CUDA error_t cudaStreamCreateWithPriority(stream_t* s, unsigned flags, int priority) {
  if (s == nullptr || flags > wire::stream_flag::non_blocking) return noted(error::invalid_value);
  std::uint32_t number = 0;
  const error_t e = make_stream(flags, priority, number);
  if (e == error::none) *s = as_handle(number);
  return noted(e);
}
HEDDLE_CUDA error_t cudaStreamCreateWithFlags(stream_t* s, unsigned flags) {
  return cudaStreamCreateWithPriority(s, flags, 0);
}
HEDDLE_CUDA error_t cudaStreamCreate(stream_t* s) { return cudaStreamCreateWithPriority(s, 0, 0); }
HEDDLE_CUDA error_t cudaStreamDestroy(stream_t s) {
  if (gpu_failure() != error::none) return noted_lost_handle();
  if (reinterpret_cast<std::uintptr_t>(s) < 0x1000) return noted(error::invalid_handle);
  const std::uint32_t number = stream_number(s);
  forget_captured(number);
  {
    const std::lock_guard<std::mutex> lock(facts_mutex);
    facts.erase(number);
  }
  return noted(call(wire::call::drop_stream, wire::writer().put(number)).status);
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
  stream_facts f{};
  return noted(find(stream_number(s), f) ? put_result(priority, f.priority) : error::invalid_handle);
}
HEDDLE_CUDA error_t cudaStreamGetPriority_ptsz(stream_t s, int* priority) { return cudaStreamGetPriority(s, priority); }
HEDDLE_CUDA error_t cudaStreamGetFlags(stream_t s, unsigned* flags) {
  stream_facts f{};
  if (const error_t e = refused_in(stream_number(s)); e != error::none) return e;
  return noted(find(stream_number(s), f) ? put_result(flags, f.flags) : error::invalid_handle);
}
HEDDLE_CUDA error_t cudaStreamGetFlags_ptsz(stream_t s, unsigned* flags) { return cudaStreamGetFlags(s, flags); }
HEDDLE_BOTH(cudaStreamGetId, cudaStreamGetId_ptsz, (stream_t s, unsigned long long* id), {
  const std::uint32_t number = stream_number(s, per_thread);
  return noted(is_stream(number) ? put_result(id, number) : error::invalid_handle);
})
HEDDLE_BOTH(cudaStreamGetDevice, cudaStreamGetDevice_ptsz, (stream_t s, int* device),
            { return noted(is_stream(stream_number(s, per_thread)) ? put_result(device, 0) : error::invalid_handle); })

HEDDLE_CUDA error_t cudaLaunchHostFunc(stream_t s, void (*f)(void*), void* data) {
  return enqueue(s, false, {f, nullptr, data, s});
}
HEDDLE_CUDA error_t cudaLaunchHostFunc_ptsz(stream_t s, void (*f)(void*), void* data) {
  return enqueue(s, true, {f, nullptr, data, s});
}
HEDDLE_CUDA error_t cudaStreamAddCallback(stream_t s, void (*f)(stream_t, error_t, void*), void* data, unsigned flags) {
  return enqueue(s, false, {nullptr, f, data, s}, flags);
}
HEDDLE_CUDA error_t cudaStreamAddCallback_ptsz(stream_t s, void (*f)(stream_t, error_t, void*), void* data,
                                               unsigned flags) {
  return enqueue(s, true, {nullptr, f, data, s}, flags);
}

HEDDLE_CUDA error_t cudaEventCreateWithFlags(event_t* e, unsigned flags) {
  constexpr unsigned known = event_flag::blocking | event_flag::without_time | event_flag::other_processes;
  const bool has_time = (flags & event_flag::without_time) == 0;
  if (e == nullptr || (flags & ~known) != 0 || (has_time && (flags & event_flag::other_processes) != 0))
    return noted(error::invalid_value);
  const reply r = call(wire::call::make_event, wire::writer());
  if (r.status != error::none) return noted(r.status);
  const auto number = r.read().get<std::uint32_t>();
  *e = as_handle(number);
  if (has_time) return error::none;
  const std::lock_guard<std::mutex> lock(facts_mutex);
  events_without_time.insert(number);
  return error::none;
}
HEDDLE_CUDA error_t cudaEventCreate(event_t* e) { return cudaEventCreateWithFlags(e, 0); }
HEDDLE_CUDA error_t cudaEventDestroy(event_t e) {
  {
    const std::lock_guard<std::mutex> lock(facts_mutex);
    events_without_time.erase(event_number(e));
    recorded.erase(event_number(e));
  }
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
  error_t captured_one = error::none;
  for (const event_t e : {from, to})
    if (captured_event_question(event_number(e), false, captured_one)) return captured_one;
  if (milliseconds == nullptr) return noted(error::invalid_value);
  {
    const std::lock_guard<std::mutex> lock(facts_mutex);
    if (events_without_time.count(event_number(from)) != 0 || events_without_time.count(event_number(to)) != 0)
      return noted(error::invalid_handle);
  }
  const reply r = call(wire::call::elapsed, wire::writer().put(event_number(from)).put(event_number(to)));
  if (r.status == error::none) *milliseconds = static_cast<float>(r.read().get<double>() * 1e-6);
  return noted(r.status);
}
HEDDLE_CUDA error_t cudaEventElapsedTime_v2(float* milliseconds, event_t from, event_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
