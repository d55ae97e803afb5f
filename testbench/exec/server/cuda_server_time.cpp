// SPDX-License-Identifier: MIT
// When simulated time advances, how far, and what ends it.
#include <signal.h>

#include <algorithm>

#include "heddle/metrics/collect.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/exec/server/cuda_server.h"
#include "testbench/live/warp_places.h"
#include "testbench/options/log.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {
constexpr double held_seconds = 2;        // for a host function that waits
constexpr double most_held_seconds = 10;  // for one that computes
}  // namespace

// A client has nothing left to wait for, so that it goes on before time does.
bool cuda_server::an_answer_is_ready() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) {
    const std::vector<queue_entry>& until = c->answer.until;
    return c->waits && !c->answer.host_function &&
           std::all_of(until.begin(), until.end(), [](const queue_entry& op) { return op->done; });
  });
}

// Code that the program runs between two operations of a stream takes no simulated time. But it may itself wait for
// what another thread does when the GPU has gone on: sooner taken for that while no thread computes, or one asks.
bool cuda_server::program_is_busy() const {
  return std::any_of(sessions_.begin(), sessions_.end(), [this](const auto& s) {
    const cuda_session* const own = s.second.session.get();
    if (own == nullptr || !own->runs_host_function() || another_waits(*own)) return false;
    if (own->runs_host_function(most_held_seconds)) return false;
    return !own->runs_host_function(held_seconds) || (served_ == nullptr && !is_asleep(s.first));
  });
}

// Of another program, whose time does not depend on this one's code.
bool cuda_server::another_waits(const cuda_session& own) const {
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& c) {
    return (c->waits || c.get() == served_) && !c->answer.host_function && c->session != nullptr &&
           !c->session->is_of_family(own);
  });
}

// An answer takes a fixed simulated time, so that results do not depend on the host's speed.
void cuda_server::simulate_for_query() {
  if (!sc_core::sc_pending_activity()) return simulate(sc_core::sc_max_time());
  const sc_core::sc_time question(1, sc_core::SC_US);  // for query and answer
  const sc_core::sc_time end = sc_core::sc_time_stamp() + std::max(question, sc_core::sc_time_to_pending_activity());
  machine_->queues.await(machine_->queues.last_of_all());
  while (broken_ == wire::success && !program_is_busy() && !an_answer_is_ready() && machine_->queues.awaits() &&
         sc_core::sc_pending_activity() && sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity() <= end)
    simulate(end);
}

// Simulates for a time slice, which ends early when an awaited operation has ended.
void cuda_server::simulate(const sc_core::sc_time& end) {
  if (broken_ != wire::success) return;
  if (program_is_busy() || an_answer_is_ready()) return;
  std::vector<queue_entry> until;
  for (const auto& c : clients_) {
    if (!c->waits) continue;
    std::vector<queue_entry>& own = c->answer.until;
    own.erase(std::remove_if(own.begin(), own.end(), [](const queue_entry& op) { return op->done; }), own.end());
    until.insert(until.end(), own.begin(), own.end());
  }
  if (!until.empty()) machine_->queues.await(std::move(until));
  machine& chip = machine_->chip;
  const core_time& clock = chip.clock();
  const std::uint64_t limit = options_.max_cycles != 0 ? std::min(options_.max_cycles, clock.last()) : clock.last();
  if (machine_->reaches(limit))
    return fail(wire::launch_timeout,
                "the limit of " + grouped(limit) + " cycles (--max-cycles) was reached" + warp_places(chip.chip()));
  const std::uint64_t launches_end =
      options_.end_after == 0 ? never : machine_->launches_have_taken(options_.end_after);
  if (launches_end != never && machine_->reaches(launches_end)) return end_programs();
  const std::uint64_t overdue = end_overdue();
  sc_core::sc_time stop = std::min(clock.time_of(std::min({limit, launches_end, overdue})), end);
  // The next launch may begin to count.
  if (options_.end_after != 0 && launches_end == never && sc_core::sc_pending_activity())
    stop = std::min(stop, sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity());
  chip.chip().host_acts_until(program_may_act() ? never : 0);
  chip.run_for(stop - sc_core::sc_time_stamp());
  if (!machine_->queues.fault().empty()) return fail(machine_->status_of_fault(), machine_->queues.fault(), true);
  if (!sc_core::sc_pending_activity() && !machine_->queues.idle() && !machine_->queues.waits_for_host()) {
    const std::string why = barrier_deadlock(chip.chip());
    return fail(wire::launch_timeout,
                why.empty() ? "deadlock: nothing can go on any more, but a kernel has not ended" : why, true);
  }
  if (progress_.due())
    progress_.update(clock.cycle(), progress_of(chip.chip()), machine_->positions, chip.cpu_seconds(),
                     chip.wall_seconds());
}

bool cuda_server::program_may_act() const {
  const auto calls = [this](const auto& c) { return !c->waits && !c->gone && c.get() != served_; };
  return std::any_of(clients_.begin(), clients_.end(), calls) || may_write(false);
}

// A thread of a process that shares memory runs, or other processes have that memory. One whose call is not served yet
// waits.
bool cuda_server::may_write(bool functional) const {
  const auto may = [&](const auto& s) {
    const auto waits = [&, p = s.first](const auto& c) {
      return c->process == p && !c->gone && (c->waits || (functional && c.get() == served_) || c->link.asks());
    };
    return s.second.session && s.second.session->shares_memory() &&
           threads_of(s.first) > std::count_if(clients_.begin(), clients_.end(), waits);
  };
  return machine_->in_place.any_shared() || std::any_of(sessions_.begin(), sessions_.end(), may);
}

void cuda_server::end_programs() {
  const std::string limit = grouped(options_.end_after) + " cycles (--end-after)";
  fail(wire::launch_timeout, "the launches have taken " + limit + warp_places(machine_->chip.chip()));
  ended_programs_ = true;
  for (const auto& [process, entry] : sessions_) ::kill(process, SIGKILL);
}

void cuda_server::fail(std::int32_t status, const std::string& text, bool reset_ends_it) {
  if (is_parent_) take_signals(program_);  // the program gets a signal before it sees what that has ended
  if (broken_ == wire::success) {
    broken_ = status;
    reset_ends_it_ = reset_ends_it;
    newest_failure_ = text;
    if (failure_.empty()) failure_ = text;
    progress_.clear_line();
    if (!text.empty()) message_log::error(text);
  }
}

// A launch that is executed functionally is given up when its process has ended, or executes another program.
bool cuda_server::wants_stop() {
  const pid_t owner = machine_->queues.executes_for();
  if (progress_.due() && !machine_->queues.executed().empty()) progress_.update(machine_->queues.executed());
  if (run_signals::pending() || owner == 0 || !pauses_.is_due()) return run_signals::pending();
  const auto s = sessions_.find(owner);
  return !is_running(owner) || (s != sessions_.end() && s->second.session && s->second.session->is_replaced());
}

}  // namespace heddle::testbench
