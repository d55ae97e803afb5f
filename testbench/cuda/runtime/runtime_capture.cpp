// SPDX-License-Identifier: MIT
// The runtime: capture of streams into graphs.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace heddle::cuda {

namespace {

constexpr error_t illegal_state = 401, unsupported = 900, invalidated = 901, merge = 902, unmatched = 903,
                  unjoined = 904, isolation = 905, implicit = 906, captured_event = 907, wrong_thread = 908;
constexpr int global_mode = 0, relaxed_mode = 2;
constexpr int status_none = 0, status_active = 1, status_invalid = 2;

/// One capture: the participating streams, and for each the nodes on which its next work depends.
struct capture {
  unsigned long long id = 0;
  graph* to = nullptr;
  bool own_graph = true, invalid = false, ended = false;
  std::uint32_t origin = 0;
  int mode = global_mode;
  bool blocking = true;  // the origin stream synchronises with the default stream
  std::thread::id thread;
  std::map<std::uint32_t, std::vector<graph_node*>> tails;
};
struct event_in_capture {
  std::shared_ptr<capture> in;
  std::vector<graph_node*> after;
};

library_lock<std::recursive_mutex> capture_mutex;
std::atomic<unsigned> active{0};
std::atomic<bool> captures_known{false};  // there was one: events may have been recorded in it
unsigned long long next_id = 1;
std::map<std::uint32_t, std::shared_ptr<capture>>& by_stream() {
  static auto* all = new std::map<std::uint32_t, std::shared_ptr<capture>>;
  return *all;
}
std::map<std::uint32_t, event_in_capture>& by_event() {
  static auto* all = new std::map<std::uint32_t, event_in_capture>;
  return *all;
}
thread_local int thread_mode = global_mode;

std::shared_ptr<capture> capture_of(std::uint32_t stream) {
  const auto found = by_stream().find(stream);
  return found != by_stream().end() ? found->second : nullptr;
}

error_t invalidate(capture& c, error_t e) {
  c.invalid = true;
  return noted(e);
}

// A capture with which work in this stream would have to synchronise; null: none. Only the default stream synchronises
// with others.
capture* captures_implicitly(std::uint32_t stream) {
  if (stream == 0)
    for (const auto& [number, c] : by_stream())
      if (c->blocking) return c.get();
  return nullptr;
}

bool forbidden_in_default(std::uint32_t stream, error_t& result) {
  capture* c = captures_implicitly(stream);
  if (c != nullptr) result = invalidate(*c, implicit);
  return c != nullptr;
}

void join(std::vector<graph_node*>& to, const std::vector<graph_node*>& from) {
  for (graph_node* n : from)
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
}

bool all_joined(const capture& c) {
  std::set<const graph_node*> reached;
  std::vector<const graph_node*> open(c.tails.at(c.origin).begin(), c.tails.at(c.origin).end());
  while (!open.empty()) {
    const graph_node* n = open.back();
    open.pop_back();
    if (!reached.insert(n).second) continue;
    open.insert(open.end(), n->after.begin(), n->after.end());
  }
  for (const auto& [stream, tails] : c.tails)
    for (const graph_node* n : tails)
      if (reached.count(n) == 0) return false;
  return true;
}

/// A launch is checked at once, and callbacks wait for their stream.
error_t refused_as_node(const node_work& work) {
  if (const auto* k = std::get_if<kernel_work>(&work)) return checked(*k);
  const auto* h = std::get_if<host_work>(&work);
  return h != nullptr && h->callback != nullptr ? unsupported : error::none;
}

error_t begin(std::uint32_t stream, graph* to, std::vector<graph_node*> after, int mode) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  if (gpu_failure() != error::none) return noted_lost_handle();
  if (stream == 0) return noted(unsupported);
  if (!is_stream(stream)) return noted(error::invalid_handle);
  if (mode < global_mode || mode > relaxed_mode) return noted(error::invalid_value);
  if (capture_of(stream) != nullptr) return noted(illegal_state);
  auto c = std::make_shared<capture>();
  c->id = next_id++;
  c->own_graph = to == nullptr;
  c->to = to != nullptr ? to : keep(std::make_unique<graph>());
  c->origin = stream;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->blocking = (flags_of_stream(stream) & wire::stream_flag::non_blocking) == 0;
  c->tails[stream] = std::move(after);
  by_stream()[stream] = c;
  captures_known.store(true);
  active.fetch_add(1);
  return error::none;
}

/// The events that the capture has recorded are useless until they are recorded again.
void leave(const std::shared_ptr<capture>& c, bool keeps_graph) {
  for (const auto& [number, tails] : c->tails) by_stream().erase(number);
  for (auto& [event, e] : by_event())
    if (e.in == c) e.after.clear();
  c->ended = true;
  active.fetch_sub(1);
  if (!keeps_graph && c->own_graph) drop(c->to);
}

error_t end(std::uint32_t stream, graph** made) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  if (made != nullptr) *made = nullptr;
  if (!is_stream(stream)) return noted(error::invalid_handle);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr) return noted(illegal_state);
  if (c->origin != stream) return invalidate(*c, unmatched);
  const bool is_elsewhere = c->mode != relaxed_mode && c->thread != std::this_thread::get_id();
  const error_t e = c->invalid ? invalidated : is_elsewhere ? wrong_thread : !all_joined(*c) ? unjoined : error::none;
  if (e == error::none && made != nullptr) *made = c->to;
  leave(c, e == error::none && made != nullptr);
  return noted(e);
}

// The array of dependencies stays valid until the next call for the stream.
error_t info(std::uint32_t stream, int* status, unsigned long long* id, graph** to, graph_node*** after,
             std::size_t* count) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  if (status == nullptr) return noted(error::invalid_value);
  if (!is_stream(stream)) return noted(error::invalid_handle);
  if (captures_implicitly(stream) != nullptr) return noted(implicit);  // a query does not end the capture
  const std::shared_ptr<capture> c = capture_of(stream);
  *status = c == nullptr ? status_none : c->invalid ? status_invalid : status_active;
  if (c == nullptr || c->invalid) return error::none;
  if (id != nullptr) *id = c->id;
  if (to != nullptr) *to = c->to;
  if (after != nullptr) *after = c->tails[stream].data();
  if (count != nullptr) *count = c->tails[stream].size();
  return error::none;
}

error_t set_tails(std::uint32_t stream, graph_node* const* after, std::size_t count, unsigned flags) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr) return noted(illegal_state);
  if ((after == nullptr && count != 0) || flags > 1) return noted(error::invalid_value);
  if (flags == 1) c->tails[stream].clear();
  join(c->tails[stream], {after, after + count});
  return error::none;
}

}  // namespace

error_t refused_by_capture() {
  if (active.load() == 0 || thread_mode == relaxed_mode) return error::none;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  for (const auto& [stream, c] : by_stream()) {
    const bool own = c->thread == std::this_thread::get_id();
    if (own ? c->mode != relaxed_mode : c->mode == global_mode && thread_mode == global_mode)
      return invalidate(*c, unsupported);
  }
  return error::none;
}

error_t refused_in(std::uint32_t stream) {
  if (active.load() == 0) return error::none;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  return c == nullptr ? error::none : invalidate(*c, unsupported);
}

bool is_captured(const graph* g) {
  if (active.load() == 0) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  return std::any_of(by_stream().begin(), by_stream().end(), [g](const auto& s) { return s.second->to == g; });
}

void forget_captured(std::uint32_t stream) {
  if (active.load() == 0) return;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c != nullptr && c->origin == stream) leave(c, false);
}

bool is_captured(std::uint32_t stream) {
  if (active.load() == 0) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  return capture_of(stream) != nullptr;
}

bool captured(std::uint32_t stream, manner how, node_work work, error_t& result) {
  if (how == manner::graph || active.load() == 0) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr) return forbidden_in_default(stream, result);
  if (c->invalid) {
    result = noted(invalidated);
  } else if (how == manner::waits && std::holds_alternative<copy_work>(work)) {
    result = invalidate(*c, unsupported);
  } else if (const error_t e = refused_as_node(work); e != error::none) {
    result = invalidate(*c, e);
  } else {
    graph_node* n = c->to->add(std::move(work), c->tails[stream]);
    if (const auto* box = std::get_if<copy_work>(&n->work)) n->box = shown(*box);
    c->tails[stream] = {n};
    result = error::none;
  }
  return true;
}

graph_node* captured_allocation(std::uint32_t stream, std::size_t bytes, void** pointer, error_t& result) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr || c->invalid) {
    result = noted(invalidated);
    return nullptr;
  }
  graph_node* n = add_allocation(*c->to, c->tails[stream], bytes, result);
  if (n == nullptr) return nullptr;
  *pointer = std::get<allocate_work>(n->work).memory->pointer;
  c->tails[stream] = {n};
  return n;
}

void captured_free(std::uint32_t stream, void* pointer, error_t& result) {
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr || c->invalid) {
    result = noted(invalidated);
    return;
  }
  if (graph_node* n = add_free(*c->to, c->tails[stream], pointer, result)) c->tails[stream] = {n};
}

bool captured_record(std::uint32_t event, std::uint32_t stream, bool external, error_t& result) {
  if (!captures_known.load()) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> c = capture_of(stream);
  if (c == nullptr) {
    by_event().erase(event);
    return forbidden_in_default(stream, result);
  }
  if (c->invalid) {
    result = noted(invalidated);
    return true;
  }
  if (external)
    return captured(stream, manner::asynchronous,
                    record_work{reinterpret_cast<event_t>(std::uintptr_t{event} + 0x1000)}, result);
  by_event()[event] = {c, c->tails[stream]};
  result = error::none;
  return true;
}

bool captured_wait(std::uint32_t stream, std::uint32_t event, bool external, bool is_fresh, error_t& result) {
  if (!captures_known.load()) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const std::shared_ptr<capture> own = capture_of(stream);
  const auto found = by_event().find(event);
  if (own != nullptr && own->invalid) {
    result = noted(invalidated);
    return true;
  }
  if (found == by_event().end()) {
    if (own == nullptr) return forbidden_in_default(stream, result);
    if (external)
      return captured(stream, manner::asynchronous,
                      wait_work{reinterpret_cast<event_t>(std::uintptr_t{event} + 0x1000)}, result);
    result = is_fresh ? noted(error::none) : invalidate(*own, isolation);
    return true;
  }
  const std::shared_ptr<capture> c = found->second.in;
  if (c->ended) {
    result = noted(error::invalid_value);
  } else if (own != nullptr && own != c) {
    invalidate(*own, merge);
    result = invalidate(*c, merge);
  } else if (stream == 0) {
    result = invalidate(*c, implicit);
  } else {
    by_stream()[stream] = c;
    join(c->tails[stream], found->second.after);
    result = error::none;
  }
  return true;
}

bool captured_event_question(std::uint32_t event, bool invalidates, error_t& result) {
  if (!captures_known.load()) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const auto found = by_event().find(event);
  if (found == by_event().end()) return false;
  capture& c = *found->second.in;
  result = c.ended ? noted(error::invalid_value) : invalidates ? invalidate(c, captured_event) : noted(captured_event);
  return true;
}

void forget_captured_event(std::uint32_t event) {
  if (!captures_known.load()) return;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  const auto found = by_event().find(event);
  if (found != by_event().end() && found->second.in->ended) by_event().erase(found);
}

bool captured_question(wire::wait_kind kind, std::uint32_t number, error_t& result) {
  if (kind == wire::wait_kind::event && captured_event_question(number, true, result)) return true;
  if (active.load() == 0) return false;
  const std::lock_guard<std::recursive_mutex> lock(capture_mutex);
  if (kind == wire::wait_kind::event) {
    result = refused_by_capture();
    return result != error::none;
  }
  if (kind == wire::wait_kind::stream) {
    const std::shared_ptr<capture> c = capture_of(number);
    result = c != nullptr                           ? invalidate(*c, unsupported)
             : forbidden_in_default(number, result) ? result
                                                    : refused_by_capture();
    return result != error::none;
  }
  for (const auto& [stream, c] : by_stream()) {
    if (c->mode != global_mode && c->thread != std::this_thread::get_id()) continue;
    result = invalidate(*c, unsupported);
    return true;
  }
  return false;
}

}  // namespace heddle::cuda

HEDDLE_BOTH(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz, (stream_t s, int mode),
            return begin(stream_number(s, per_thread), nullptr, {}, mode);)
HEDDLE_BOTH(cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz,
            (stream_t s, graph* g, graph_node* const* after, const edge_data*, std::size_t count, int mode),
            if (!is_known(g) || (after == nullptr && count != 0)) return noted(error::invalid_value);
            return begin(stream_number(s, per_thread), g, {after, after + count}, mode);)
HEDDLE_BOTH(cudaStreamEndCapture, cudaStreamEndCapture_ptsz, (stream_t s, graph** g),
            return end(stream_number(s, per_thread), g);)
HEDDLE_BOTH(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz, (stream_t s, int* status),
            return info(stream_number(s, per_thread), status, nullptr, nullptr, nullptr, nullptr);)
// Up to CUDA 12 this function returns only an id.
HEDDLE_BOTH(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz,
            (stream_t s, int* status, unsigned long long* id, graph** g, graph_node*** after, const edge_data** edges,
             std::size_t* count),
            if (runtime_version() < 13000) return info(stream_number(s, per_thread), status, id, nullptr, nullptr,
                                                       nullptr);
            if (edges != nullptr) * edges = nullptr;
            return info(stream_number(s, per_thread), status, id, g, after, count);)
HEDDLE_BOTH(cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz,
            (stream_t s, int* status, unsigned long long* id, graph** g, graph_node*** after, std::size_t* count),
            return info(stream_number(s, per_thread), status, id, g, after, count);)
HEDDLE_BOTH(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz,
            (stream_t s, int* status, unsigned long long* id, graph** g, graph_node*** after, const edge_data** edges,
             std::size_t* count),
            if (edges != nullptr) * edges = nullptr;
            return info(stream_number(s, per_thread), status, id, g, after, count);)
// CUDA 13 inserted the edges' data between nodes and count.
HEDDLE_BOTH(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz,
            (stream_t s, graph_node** after, std::uintptr_t edges_or_count, std::uintptr_t count_or_flags,
             unsigned flags),
            const bool has_edges = runtime_version() >= 13000;
            return set_tails(stream_number(s, per_thread), after, has_edges ? count_or_flags : edges_or_count,
                             has_edges ? flags : static_cast<unsigned>(count_or_flags));)
HEDDLE_BOTH(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2_ptsz,
            (stream_t s, graph_node** after, const edge_data*, std::size_t count, unsigned flags),
            return set_tails(stream_number(s, per_thread), after, count, flags);)
HEDDLE_CUDA error_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr) return noted(error::invalid_value);
  std::swap(*mode, thread_mode);  // of any value, as in CUDA
  return error::none;
}
