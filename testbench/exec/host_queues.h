// SPDX-License-Identifier: MIT
// Models: the streams of a CUDA program on the host: kernels, copies over the host link, events and host functions in
// stream order. Sockets: none; it calls the driver. One cycle: none; it wakes when a launch completes, when a copy
// ends and when the host makes a call. Parameters: [host_link] and the core clock.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/sanitize/sanitizer.h"
#include "testbench/run/cold_start.h"

namespace heddle::testbench {

/// One operation of a stream.
struct queue_operation {
  enum class kind : std::uint8_t {
    kernel,
    functional,    // a kernel executed functionally in zero time while no other kernel runs
    transfer,      // over the host link, or within device memory
    action,        // takes no simulated time: an event
    host_function  // ends when the host reports it
  };
  enum class route : std::uint8_t { to_device, to_host, on_device };

  kind what = kind::action;
  std::uint32_t stream = 0;
  pid_t owner = 0;              // the process that has appended it
  launch_request request;       // kernel, functional
  route by = route::on_device;  // transfer
  std::uint64_t bytes = 0;
  std::function<void()> act;                            // called at the end: moves the bytes, records the time
  std::vector<std::shared_ptr<queue_operation>> after;  // operations of other streams that must end first
  std::function<bool()> due;                            // of an action: asked until it says yes; null: at once

  bool begun = false;
  bool done = false;
  bool passed_on = false;  // a host function that was passed to the host
  std::chrono::steady_clock::time_point passed_on_at;
  unsigned call = 0;           // kernel, functional: index of the program's launch
  unsigned launch = 0;         // started kernel: the driver's number
  sanitize::host_work work;    // its place in the order of operations
  sanitize::work_clock clock;  // what happens before those that follow it, itself included
  sc_core::sc_time ends;       // started transfer: end time
};
using queue_entry = std::shared_ptr<queue_operation>;

/// Learns what the queues begin.
class kernel_observer {
 public:
  /// A kernel was passed to the GPU, with the driver's number.
  virtual void kernel_begins(const queue_operation& op) = 0;

 protected:
  ~kernel_observer() = default;
};

/// The server of the programs whose operations are queued.
class queue_host {
 public:
  /// Whether a process has ended; asked after a long functional launch.
  [[nodiscard]] virtual bool is_gone(pid_t process) const = 0;
  /// Asked when something happens, and each time a word of memory is read: true pauses the simulation.
  virtual bool wants_pause() = 0;

 protected:
  ~queue_host() = default;
};

class host_queues : public sc_core::sc_module {
 public:
  /// `cold`: launches begin one at a time, with empty caches. `checks`: learns the order of operations; may be null.
  /// `observer` outlives the queues.
  host_queues(sc_core::sc_module_name name, host_driver& driver, const host_link_parameters& link,
              double device_copy_gbs, bool cold, sanitizer* checks, kernel_observer& observer);

  /// Appends an operation to its stream.
  void add(const queue_entry& op);
  /// CUDA's legacy default stream of a process: it synchronises with that process's blocking streams. 0 is the first.
  /// It is deleted with the last copy of the pointer to its number.
  std::shared_ptr<const std::uint32_t> make_default_stream();
  /// Synchronises with this default stream if it is `blocking`.
  std::uint32_t make_stream(std::uint32_t default_stream, bool blocking, std::int32_t priority);
  /// Deletes the stream when its operations have ended.
  void drop_stream(std::uint32_t number);
  [[nodiscard]] bool has_stream(std::uint32_t number) const { return streams_.count(number) != 0; }
  [[nodiscard]] std::int32_t priority(std::uint32_t number) const { return streams_.at(number).priority; }
  /// The last operation of a stream; null: the stream is empty.
  [[nodiscard]] queue_entry last_of(std::uint32_t number) const;
  /// The last operations of all streams.
  [[nodiscard]] std::vector<queue_entry> last_of_all() const;
  /// In each stream, the last operation that one of these processes has appended, if it has not ended.
  [[nodiscard]] std::vector<queue_entry> last_of_all(const std::set<pid_t>& owners) const;
  [[nodiscard]] bool idle() const;
  /// Later operations of the stream come after an event that has ended.
  void follows(std::uint32_t stream, const queue_operation& ended) { order_.follows(stream, ended.clock); }
  /// The host waits for an operation, for a stream, for all.
  void host_waits(const queue_operation& op) { order_.waits(op.clock); }
  void host_waits(std::uint32_t stream) { order_.waits(order_.of(stream)); }
  void host_waits() { order_.waits_for_all(); }
  /// True if a host function has begun and not ended.
  [[nodiscard]] bool waits_for_host() const;
  /// True if every stream waits for a word of memory.
  [[nodiscard]] bool waits_for_memory() const;
  /// A process has gone without waiting for its operations: those that have not begun are dropped, kernels that run are
  /// ended. Returns those kernels, which end in simulated time.
  std::vector<queue_entry> drop(pid_t owner);
  /// The GPU is about to be reset, since it has failed: all operations are dropped, and so is the fault. Returns the
  /// calls whose kernels had begun and not ended.
  std::vector<unsigned> abandon();
  /// A program has ended: no host function of it can run any more, nor end.
  void drop_host_functions(pid_t owner);
  /// Kernels of a process, functional ones as well, that have not ended.
  [[nodiscard]] unsigned kernels_left(pid_t owner) const;
  /// Reports the end of a host function.
  void finish(const queue_entry& op);
  /// Starts all operations that can start now; called outside the simulation.
  void advance_queues();
  /// Pauses the simulation when one of these operations has ended or a host function is due.
  void await(std::vector<queue_entry> operations);
  /// True if none of this has happened yet.
  [[nodiscard]] bool awaits() const { return !awaited(); }
  /// The GPU's fault, which is final until abandon(); empty: none.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  /// The number of launched kernels; and the number of functional launches, with their warp instructions and host
  /// seconds.
  [[nodiscard]] unsigned launches() const { return launches_; }
  struct functional_totals {
    unsigned launches = 0;
    std::uint64_t warp_instructions = 0;
    double seconds = 0;
  };
  [[nodiscard]] const functional_totals& functional() const { return functional_; }
  /// The process whose launch is executed functionally or checked by a sanitizer now; 0: none.
  [[nodiscard]] pid_t executes_for() const;
  /// What is executed functionally now, for people; empty: nothing.
  [[nodiscard]] const std::string& executed() const { return executed_; }
  /// `h` outlives their work. Without it no process is gone, and nothing pauses the simulation.
  void serve_for(queue_host& h) { host_ = &h; }

 private:
  struct stream {
    std::deque<queue_entry> operations;  // the oldest first
    std::uint32_t default_stream = 0;    // of its process
    bool blocking = true;
    bool dropped = false;
    std::int32_t priority = 0;
  };
  void run();
  bool advance();
  bool advance(stream& s);
  void give_place(queue_operation& op, const stream& own);
  bool may_begin(const queue_operation& op);
  [[nodiscard]] bool functional_waits() const;
  void wake_at(const sc_core::sc_time& t);
  void begin(queue_operation& op);
  void end(queue_operation& op);
  std::vector<queue_entry> forget(pid_t owner);
  void execute(queue_operation& op);
  [[nodiscard]] bool awaited() const;
  [[nodiscard]] bool is_gone(const queue_operation& op) const { return host_ != nullptr && host_->is_gone(op.owner); }

  host_driver& driver_;
  const host_link_parameters link_;
  const double device_copy_gbs_;
  sanitizer* const checks_;
  kernel_observer& observer_;
  queue_host* host_ = nullptr;
  sanitize::host_order order_;
  std::map<std::uint32_t, std::uint32_t> blocking_;  // default streams of blocking streams, deleted ones too
  cold_start starts_;
  std::map<std::uint32_t, stream> streams_;
  std::uint32_t next_stream_ = 1;
  sc_core::sc_time link_free_[3];  // by route: end of the last copy
  sc_core::sc_time wake_;          // zero: only for an event
  sc_core::sc_event poked_;
  std::vector<queue_entry> awaited_;
  bool host_function_ready_ = false;
  std::string fault_;
  unsigned launches_ = 0;
  unsigned running_ = 0;  // kernels passed to the GPU that have not ended
  functional_totals functional_;
  pid_t executes_for_ = 0;
  std::string executed_;
};

}  // namespace heddle::testbench
