// SPDX-License-Identifier: MIT
#include "testbench/exec/host_queues.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/has_process.h"
#include "testbench/live/pause_request.h"

namespace heddle::testbench {

namespace {
// The limit of pending kernels of one stream on the GPU, which keeps their order; the GPU's queue is finite.
constexpr std::size_t most_handed = 32;
/// The interval at which the host asks whether a word of memory has the value that a stream waits for.
const sc_core::sc_time memory_question(1, sc_core::SC_US);
}  // namespace

host_queues::host_queues(sc_core::sc_module_name name, host_driver& driver, const host_link_parameters& link,
                         double device_copy_gbs, bool cold, sanitizer* checks, kernel_observer& observer)
    : sc_module(name),
      driver_(driver),
      link_(link),
      device_copy_gbs_(device_copy_gbs),
      checks_(checks),
      observer_(observer),
      starts_(driver, cold) {
  HEDDLE_HAS_PROCESS(host_queues);
  SC_THREAD(run);
}

std::shared_ptr<const std::uint32_t> host_queues::make_default_stream() {
  const std::uint32_t number = has_stream(0) ? next_stream_++ : 0;
  streams_[number].default_stream = number;
  if (number != 0 && checks_ != nullptr) checks_->several_streams();
  return {new std::uint32_t(number), [this](const std::uint32_t* dropped) {
            drop_stream(*dropped);
            delete dropped;
          }};
}

std::uint32_t host_queues::make_stream(std::uint32_t default_stream, bool blocking, std::int32_t priority) {
  stream& s = streams_[next_stream_];
  s.default_stream = default_stream;
  s.blocking = blocking;
  s.priority = priority;
  if (blocking) blocking_[next_stream_] = default_stream;
  if (checks_ != nullptr) checks_->several_streams();
  return next_stream_++;
}

void host_queues::drop_stream(std::uint32_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  if (found->second.operations.empty()) {
    streams_.erase(found);
  } else {
    found->second.dropped = true;
  }
}

queue_entry host_queues::last_of(std::uint32_t number) const {
  const auto found = streams_.find(number);
  return found == streams_.end() || found->second.operations.empty() ? nullptr : found->second.operations.back();
}

std::vector<queue_entry> host_queues::last_of_all() const {
  std::vector<queue_entry> last;
  for (const auto& [number, s] : streams_)
    if (!s.operations.empty()) last.push_back(s.operations.back());
  return last;
}

std::vector<queue_entry> host_queues::last_of_all(const std::set<pid_t>& owners) const {
  std::vector<queue_entry> last;
  for (const auto& [number, s] : streams_) {
    const auto own = std::find_if(s.operations.rbegin(), s.operations.rend(),
                                  [&](const queue_entry& op) { return owners.count(op->owner) != 0; });
    if (own != s.operations.rend() && !(*own)->done) last.push_back(*own);
  }
  return last;
}

bool host_queues::idle() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const auto& s) { return s.second.operations.empty(); });
}

bool host_queues::waits_for_host() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& s) {
    return !s.second.operations.empty() && s.second.operations.front()->what == queue_operation::kind::host_function &&
           s.second.operations.front()->begun;
  });
}

bool host_queues::waits_for_memory() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const auto& s) {
    return s.second.operations.empty() || (s.second.operations.front()->due && !s.second.operations.front()->begun);
  });
}

void host_queues::add(const queue_entry& op) {
  stream& own = streams_.at(op->stream);
  if (own.blocking) {
    const bool is_default = op->stream == own.default_stream;
    for (const auto& [number, s] : streams_) {
      if (number == op->stream || !s.blocking || s.operations.empty() || s.default_stream != own.default_stream)
        continue;
      if (is_default || number == own.default_stream) op->after.push_back(s.operations.back());
    }
  }
  own.operations.push_back(op);
  if (checks_ != nullptr) give_place(*op, own);
}

// Its place in the order of operations, whether or not the earlier ones have ended by now.
void host_queues::give_place(queue_operation& op, const stream& own) {
  for (const queue_entry& earlier : op.after) order_.follows(op.stream, earlier->clock);
  if (op.stream == own.default_stream) {
    for (const auto& [other, its_default] : blocking_)
      if (its_default == op.stream) order_.follows(op.stream, order_.of(other));
  } else if (own.blocking) {
    order_.follows(op.stream, order_.of(own.default_stream));
  }
  op.work = order_.add(op.stream);
  op.work.launch = op.call;
  op.clock = order_.of(op.stream);
  if (op.what == queue_operation::kind::transfer)
    op.work.what = op.by == queue_operation::route::to_device ? "copy to the device"
                   : op.by == queue_operation::route::to_host ? "copy to the host"
                                                              : "copy or fill of device memory";
}

void host_queues::finish(const queue_entry& op) {
  end(*op);
  advance_queues();
}

std::vector<queue_entry> host_queues::drop(pid_t owner) {
  std::vector<queue_entry> ending = forget(owner);
  advance_queues();
  return ending;
}

std::vector<queue_entry> host_queues::forget(pid_t owner) {
  std::vector<queue_entry> ending;
  for (auto& [number, s] : streams_)
    for (const queue_entry& op : s.operations) {
      if (op->owner != owner || op->done) continue;
      if (op->what == queue_operation::kind::kernel && op->begun) {
        terminate(driver_, op->launch);
        ending.push_back(op);
        continue;
      }
      op->act = nullptr;
      if (op->begun) {
        op->done = true;
        continue;
      }
      // It keeps its place, but not the process's resources: what comes behind it, and who waits for it, waits for
      // what is in front.
      op->owner = 0;
      op->what = queue_operation::kind::action;
      op->due = nullptr;
      op->after.clear();
    }
  return ending;
}

void host_queues::drop_host_functions(pid_t owner) {
  for (auto& [number, s] : streams_)
    for (const queue_entry& op : s.operations) {
      if (op->owner != owner || op->what != queue_operation::kind::host_function) continue;
      if (op->begun) op->done = true;
      else op->what = queue_operation::kind::action;  // it keeps its place
    }
  advance_queues();
}

unsigned host_queues::kernels_left(pid_t owner) const {
  unsigned kernels = 0;
  for (const auto& [number, s] : streams_)
    for (const queue_entry& op : s.operations)
      kernels += op->owner == owner && !op->done &&
                 (op->what == queue_operation::kind::kernel || op->what == queue_operation::kind::functional);
  return kernels;
}

std::vector<unsigned> host_queues::abandon() {
  std::vector<unsigned> calls;
  for (auto s = streams_.begin(); s != streams_.end();) {
    for (const queue_entry& op : s->second.operations) {
      if (op->what == queue_operation::kind::kernel && op->begun && !op->done) calls.push_back(op->call);
      op->act = nullptr;
      op->done = true;
    }
    s->second.operations.clear();
    s = s->second.dropped ? streams_.erase(s) : std::next(s);
  }
  awaited_.clear();
  running_ = 0;
  fault_.clear();
  return calls;
}

void host_queues::advance_queues() {
  advance();
  poked_.notify(sc_core::SC_ZERO_TIME);
}

void host_queues::await(std::vector<queue_entry> operations) {
  awaited_ = std::move(operations);
  host_function_ready_ = false;
}

bool host_queues::awaited() const {
  return host_function_ready_ || !fault_.empty() ||
         std::any_of(awaited_.begin(), awaited_.end(), [](const queue_entry& op) { return op->done; });
}

void host_queues::run() {
  for (;;) {
    if (wake_ > sc_core::sc_time_stamp()) {
      wait(wake_ - sc_core::sc_time_stamp(), driver_.progress_event() | poked_);
    } else {
      wait(driver_.progress_event() | poked_);
    }
    if (fault_.empty()) fault_ = driver_.fault();
    advance();
    if (awaited() || (host_ != nullptr && host_->wants_pause())) pause_request::make();
  }
}

// Repeats until nothing changes, because the end of an operation can start others. True: something changed.
bool host_queues::advance() {
  bool any = false;
  for (bool changed = true; changed && fault_.empty();) {
    changed = false;
    wake_ = sc_core::SC_ZERO_TIME;
    for (auto s = streams_.begin(); s != streams_.end();) {
      changed |= advance(s->second);
      if (s->second.dropped && s->second.operations.empty()) {
        s = streams_.erase(s);
      } else {
        ++s;
      }
    }
    any |= changed;
  }
  return any;
}

bool host_queues::advance(stream& s) {
  bool changed = false;
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  std::size_t handed = 0;
  for (std::size_t k = 0; k < s.operations.size() && handed < most_handed; ++k) {
    queue_operation& op = *s.operations[k];
    // Only kernels may start behind the first operation, because the GPU keeps their order.
    const bool first = k == 0;
    if (!op.begun && !op.done) {
      if (!(first || op.what == queue_operation::kind::kernel) || !may_begin(op)) break;
      begin(op);
      changed = true;
    }
    if (!op.done) {
      if (op.what == queue_operation::kind::kernel && driver_.finished(op.launch)) {
        --running_;
        end(op);
      }
      if (op.what == queue_operation::kind::transfer) {
        if (op.ends <= now) {
          end(op);
        } else {
          wake_at(op.ends);
        }
      }
    }
    if (op.done && first) {
      s.operations.pop_front();
      changed = true;
      --k;
      continue;
    }
    if (op.what != queue_operation::kind::kernel) break;
    ++handed;
  }
  return changed;
}

void host_queues::wake_at(const sc_core::sc_time& t) {
  if (wake_ == sc_core::SC_ZERO_TIME || t < wake_) wake_ = t;
}

// A functional kernel runs when the GPU runs no other kernel; later kernels wait for it.
bool host_queues::may_begin(const queue_operation& op) {
  if (!std::all_of(op.after.begin(), op.after.end(), [](const queue_entry& other) { return other->done; }))
    return false;
  if (op.due && !op.due()) {
    wake_at(sc_core::sc_time_stamp() + memory_question);
    return false;
  }
  if (op.what == queue_operation::kind::functional) return running_ == 0;
  return op.what != queue_operation::kind::kernel || (!functional_waits() && starts_.ready());
}

bool host_queues::functional_waits() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& s) {
    if (s.second.operations.empty()) return false;
    const queue_operation& op = *s.second.operations.front();
    return op.what == queue_operation::kind::functional && !op.begun &&
           std::all_of(op.after.begin(), op.after.end(), [](const queue_entry& other) { return other->done; });
  });
}

void host_queues::begin(queue_operation& op) {
  op.begun = true;
  op.after.clear();
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  switch (op.what) {
    case queue_operation::kind::kernel:
      if (checks_ != nullptr) checks_->submits(op.work);
      executes_for_ = op.owner;  // a sanitizer checks the launch at once
      op.launch = driver_.launch(op.request);
      executes_for_ = 0;
      starts_.began(op.launch);
      ++launches_;
      ++running_;
      observer_.kernel_begins(op);
      break;
    case queue_operation::kind::transfer: {
      // One copy engine for each direction: a copy starts when the previous one has ended.
      sc_core::sc_time& free = link_free_[static_cast<std::size_t>(op.by)];
      const double gigabytes = op.by == queue_operation::route::on_device ? device_copy_gbs_ : link_.bandwidth_gbs;
      free = std::max(free, now) + sc_core::sc_time(link_.latency_us, sc_core::SC_US) +
             sc_core::sc_time(static_cast<double>(op.bytes) / gigabytes, sc_core::SC_NS);
      op.ends = free;
      break;
    }
    case queue_operation::kind::functional: execute(op); break;
    case queue_operation::kind::action: end(op); break;
    case queue_operation::kind::host_function: host_function_ready_ = true; break;
  }
}

// A sanitizer checks a launch when it begins on the GPU, which may be later than here.
pid_t host_queues::executes_for() const {
  if (executes_for_ != 0 || checks_ == nullptr || !checks_->checked()) return executes_for_;
  for (const auto& [number, s] : streams_)
    for (const queue_entry& op : s.operations)
      if (op->what == queue_operation::kind::kernel && op->begun && op->launch == *checks_->checked()) return op->owner;
  return 0;
}

// A failing launch never ends: the GPU reports the fault.
void host_queues::execute(queue_operation& op) {
  const auto begin = std::chrono::steady_clock::now();
  if (checks_ != nullptr) checks_->submits(op.work);
  executes_for_ = op.owner;
  executed_ = "launch " + std::to_string(op.call) + ", '" + op.request.kernel + "', is executed functionally";
  try {
    functional_.warp_instructions += driver_.execute(op.request);
  } catch (const input_error& e) {
    if (is_gone(op)) forget(op.owner);
    else fault_ = e.what();
  }
  executes_for_ = 0;
  executed_.clear();
  if (!fault_.empty() || op.done) return;
  ++functional_.launches;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  functional_.seconds += seconds;
  constexpr double long_seconds = 0.1;
  if (seconds > long_seconds && is_gone(op)) forget(op.owner);
  fault_ = driver_.fault();
  if (fault_.empty()) end(op);
}

void host_queues::end(queue_operation& op) {
  if (op.done) return;
  const bool watched = checks_ != nullptr && op.what == queue_operation::kind::transfer;
  if (watched) {
    checks_->submits(op.work);
    checks_->transfers(true);
  }
  if (op.act) op.act();
  if (watched) checks_->transfers(false);
  op.act = nullptr;
  op.done = true;
}

}  // namespace heddle::testbench
