// SPDX-License-Identifier: MIT
// Processes that have ended, what they leave behind, and those that come after a fault.
#include <algorithm>
#include <chrono>

#include "testbench/exec/remote_memory.h"
#include "testbench/exec/server/cuda_server.h"
#include "testbench/options/log.h"

namespace heddle::testbench {

// Kernels of a process that has gone leave at once, so that its memory is free.
void cuda_server::let_go(pid_t process) {
  constexpr unsigned most_us = 100;
  const std::vector<queue_entry> ending = machine_->queues.drop(process);
  const auto ended = [](const queue_entry& op) { return op->done; };
  ended_kernels_ |= !ending.empty();
  for (unsigned us = 0; us < most_us && !std::all_of(ending.begin(), ending.end(), ended); ++us)
    machine_->chip.run_for(sc_core::sc_time(1, sc_core::SC_US));
}

void cuda_server::drop_gone() {
  clients_.remove_if([](const auto& c) { return c->gone; });
  drop_ended();
}

// What ended processes have registered can be registered again, even before their connections are seen to have ended.
void cuda_server::drop_dead() {
  for (const auto& c : clients_) c->gone = c->gone || (c->process != 0 && !is_running(c->process));
  drop_ended();
}

void cuda_server::drop_ended() {
  const auto is_used = [this](const cuda_session* s) {
    return std::any_of(clients_.begin(), clients_.end(), [s](const auto& c) { return c->session == s && !c->gone; });
  };
  for (auto s = sessions_.begin(); s != sessions_.end();) {
    const cuda_session* const own = s->second.session.get();
    const bool ended = s->first != program_ && !is_running(s->first);
    if (!is_used(own) && (ended || (own != nullptr && own->is_replaced()))) {
      if (own != nullptr) {
        s->second.session->program_ended();
        machine_->queues.drop_host_functions(s->first);
      }
      // One that has left by itself gets what it has asked for.
      if (!s->second.left && broken_ == wire::success) let_go(s->first);
      if (own != nullptr)
        ended_.push_back({std::move(s->second.session), s->second.left ? last_cycle_of_leftovers() : never});
      s = sessions_.erase(s);
    } else {
      ++s;
    }
  }
  // A process's resources are released when none of its operations is pending.
  const auto is_over = [&](const ended_session& e) { return !is_used(e.session.get()) && e.session->is_unused(); };
  ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_over), ended_.end());
}

cycle_t cuda_server::last_cycle_of_leftovers() const {
  constexpr cycle_t most_cycles = 1000000;
  return options_.max_cycles != 0 ? never : machine_->chip.clock().cycle() + most_cycles;
}

// A GPU ends what a program leaves behind. Here it is simulated, but not without end. Returns the cycle in which the
// next program's is ended.
cycle_t cuda_server::end_overdue() {
  cycle_t next = never;
  for (ended_session& e : ended_) {
    if (e.leftovers_until != never && machine_->reaches(e.leftovers_until)) {
      e.leftovers_until = never;
      end_leftovers(*e.session);
    }
    next = std::min(next, e.leftovers_until);
  }
  return next;
}

void cuda_server::end_leftovers(const cuda_session& s) {
  if (s.is_unused()) return;
  const unsigned kernels = machine_->queues.kernels_left(s.process());
  progress_.clear_line();
  message_log::warning(s.program() + ": " + std::to_string(kernels) + (kernels == 1 ? " launch" : " launches") +
                       " that it had not waited for had not ended 1,000,000 cycles after the program, and " +
                       (kernels == 1 ? "was" : "were") + " dropped (--max-cycles sets another limit)");
  let_go(s.process());
}

void cuda_server::end_leftovers() {
  for (const ended_session& e : ended_) end_leftovers(*e.session);
  for (const auto& [process, entry] : sessions_)
    if (entry.session) end_leftovers(*entry.session);
  left_alone_ = true;
}

// Kernels that run are of no use after a fault, and what the processes have made is lost with the reset. Those that see
// it must go first, their children as well. False: this client has to wait; not for ever, since they may wait for it.
bool cuda_server::can_serve(client& c, pid_t process, std::uint64_t forked_by) {
  constexpr std::chrono::seconds most(5);
  if (broken_ == wire::success || !reset_ends_it_) return true;
  const auto knows = [&](const auto& s) {
    return s.second.session && (s.first == process || (forked_by != 0 && s.second.program == forked_by));
  };
  if (std::any_of(sessions_.begin(), sessions_.end(), knows)) return true;
  const auto now = std::chrono::steady_clock::now();
  if (c.greeted == std::chrono::steady_clock::time_point{}) c.greeted = now;
  if (std::any_of(sessions_.begin(), sessions_.end(), [](const auto& s) { return s.second.session != nullptr; }))
    return now - c.greeted > most;
  for (const unsigned call : machine_->queues.abandon()) machine_->failed[call] = newest_failure_;
  for (const auto& other : clients_) other->session = nullptr;
  ended_.clear();
  machine_->restart();
  broken_ = wire::success;
  return true;
}

void cuda_server::note_leaks() {
  for (const auto& [process, entry] : sessions_)
    if (entry.session) entry.session->note_leaks();
  for (const ended_session& e : ended_) e.session->note_leaks();
}

}  // namespace heddle::testbench
