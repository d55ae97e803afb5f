// SPDX-License-Identifier: MIT
#include "testbench/exec/cuda_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/metrics/collect.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/live/warp_places.h"
#include "testbench/options/log.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

cuda_server::cuda_server(const run_options& o, std::function<std::unique_ptr<cuda_machine>()> make,
                         run_signals& signals)
    : options_(o), make_(std::move(make)), signals_(signals), progress_(o.progress, job_plan()) {}

void cuda_server::listen(int also, pid_t program, int timeout_ms) {
  std::vector<pollfd> wanted{{listener_.number(), POLLIN, 0}, {also, POLLIN, 0}};  // poll() ignores a descriptor of -1
  for (const auto& c : clients_) wanted.push_back({c->link.number(), POLLIN, 0});
  // A process whose last connection has ended may take a moment to end itself.
  if (sessions_.size() > clients_.size()) timeout_ms = timeout_ms < 0 ? 20 : std::min(timeout_ms, 20);
  const int n = ::poll(wanted.data(), wanted.size(), a_request_waits() && !program_is_busy() ? 0 : timeout_ms);
  if (n < 0 && errno != EINTR)
    throw input_error(std::string("the program's calls cannot be waited for: ") + std::strerror(errno));
  take_signals(program);
  accept_clients();
  for (const auto& c : clients_) serve_client(*c);
  drop_gone();
}

void cuda_server::finish() {
  while (machine_ && broken_ == wire::success && !machine_->queues.waits_for_memory()) {
    take_signals(0);
    machine_->queues.await(machine_->queues.last_of_all());
    simulate();
  }
  progress_.clear_line();
}

int cuda_server::serve(pid_t program) {
  descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, program, 0)));
  int status = 0;
  listening_socket::use_all_descriptors();
  program_ = program;
  is_parent_ = true;
  for (;;) {
    listen(ended.get(), program_, ended.is_open() && program_ != 0 ? -1 : 20);
    if (program_ != 0 && is_zombie(program)) {
      for (const auto& c : clients_) serve_client(*c);  // its last calls
      const auto own = sessions_.find(program);
      const bool replaced = own != sessions_.end() && own->second.session && own->second.session->was_replaced();
      if (replaced && !own->second.left && !own->second.session->is_unused())
        message_log::warning(own->second.session->program() +
                             " had another name when it ended, as after exec(): what it had not waited for is dropped");
      ::waitpid(program, &status, 0);
      if (own != sessions_.end()) own->second.left |= WIFEXITED(status) && !replaced;
      program_ = 0;
      ended = descriptor();
      drop_gone();
    }
    if (program_ == 0 && clients_.empty() && (stop_signal_ != 0 || !left_processes_.may_call())) break;
    go_on();
  }
  finish();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void cuda_server::serve_line(int line) {
  bool open = true;
  listening_socket::use_all_descriptors();
  for (;;) {
    listen(open ? line : -1, 0, -1);
    char byte = 0;
    if (open && ::recv(line, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) open = false;
    const bool others = std::any_of(sessions_.begin(), sessions_.end(), [](const auto& s) { return !s.second.left; });
    const bool leaves = std::any_of(clients_.begin(), clients_.end(), [](const auto& c) { return c->leaves; });
    if (leaves && !others) return finish();
    if (leaves) clients_.remove_if([](const auto& c) { return c->leaves; });
    if (!open && clients_.empty()) break;
    go_on();
  }
  left_alone_ = machine_ && (ended_kernels_ || !machine_->queues.idle()) && broken_ == wire::success;
  progress_.clear_line();
}

// The program receives the signal, too, and so do its children that use the GPU.
void cuda_server::take_signals(pid_t program) {
  if (!run_signals::pending()) return;
  const run_signals::request asked = signals_.take();
  if (asked.stop == 0) return;
  stop_signal_ = asked.stop;
  if (program != 0) ::kill(program, asked.stop);
  for (const auto& [process, entry] : sessions_)
    if (is_parent_ && entry.session && process != program) ::kill(process, asked.stop);
  fail(wire::launch_failed, "");
}

void cuda_server::serve_client(client& c) {
  const bool there = c.link.receive();
  while (!c.waits) {
    const auto request = c.link.next();
    if (!request) break;
    wire::reader in(request->arguments);
    if (request->what == wire::call::hello) {
      greet(c, in);
      continue;
    }
    if (request->what == wire::call::leave) {
      c.leaves = true;
      for (auto& [process, entry] : sessions_) entry.left |= entry.session.get() == c.session;
      break;
    }
    call_answer a;
    if (c.session == nullptr) {
      a.status = wire::invalid_value;
    } else if (request->what == wire::call::open_window) {
      c.window = copy_window::open(c.process, static_cast<int>(in.get<std::uint32_t>()));
      if (!c.window) a.status = wire::not_supported;
    } else if (broken_ != wire::success) {
      a.status = broken_;
    } else {
      served_ = &c;
      if (cuda_session::registers(*request)) drop_dead();
      a = c.session->handle(request->what, in, c.window);
      // A program that polls for completion must let simulated time advance.
      if (request->what == wire::call::query && a.status == wire::not_ready) {
        simulate_for_query();
      }
      served_ = nullptr;
    }
    a.until.erase(std::remove_if(a.until.begin(), a.until.end(), [](const queue_entry& op) { return op->done; }),
                  a.until.end());
    if (a.status == wire::success && (!a.until.empty() || a.then || a.host_function)) {
      c.waits_now(true);
      c.answer = std::move(a);
    } else {
      reply(c, a);
    }
  }
  if (!there) c.gone = true;
}

void cuda_server::greet(client& c, wire::reader& in) {
  const auto version = in.get<std::uint32_t>();
  const auto process = static_cast<pid_t>(in.get<std::uint32_t>());
  const auto probe = in.get<std::uint64_t>();
  const auto program = in.get<std::uint64_t>();
  const auto forked_by = in.get<std::uint64_t>();
  const std::string share = in.get_text();
  call_answer a;
  if (version != wire::version || !in.good()) {
    message_log::error("the CUDA library of this program is of another version of Heddle");
    a.status = wire::not_supported;
    return reply(c, a);
  }
  if (!machine_) {
    machine_ = make_();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates
    machine_->chip.chip().core_clock().observe(pauses_);
    machine_->queues.wants_pause = [this] { return pauses_.wants_pause(); };
    machine_->queues.is_gone = [](pid_t owner) { return !is_running(owner); };
    machine_->chip.simulate_ahead(~std::uint64_t{0} >> 1, false);
    machine_->chip.chip().observe(static_cast<functional_observer&>(*this));
  }
  if (session_entry& before = sessions_[process]; before.session && before.program != program) {
    before.session->program_ended();
    let_go(process);
    ended_.push_back(std::move(before.session));
  }
  drop_ended();
  session_entry& entry = sessions_[process];
  entry.left = false;
  if (!entry.session) {
    const std::string refusal = remote_memory(process).refusal(probe);
    if (!refusal.empty()) {
      if (is_running(process))
        message_log::error("this system does not let one process read another one's memory (process_vm_readv: " +
                           refusal + "), which heddle exec needs");
      a.status = wire::not_supported;
      return reply(c, a);
    }
    entry.program = program;
    entry.session = std::make_unique<cuda_session>(*machine_, process, machine_->share_of(share),
                                                   cuda_session::program_mark{probe, program});
    for (const auto& [other, parent] : sessions_)
      if (forked_by != 0 && parent.program == forked_by && parent.session && other != process)
        entry.session->inherit(*parent.session);
  }
  c.session = entry.session.get();
  c.process = process;
  a.body.put(machine_->info(entry.session->share()));
  reply(c, a);
}

// Prepends the common part of all replies.
void cuda_server::reply(client& c, call_answer& a) {
  wire::writer whole;
  whole.put_text(machine_ && c.session != nullptr ? c.session->take_text() : std::string());
  whole.put_bytes(a.body.bytes().data(), a.body.bytes().size());
  if (!c.link.reply(a.status, whole.bytes())) c.gone = true;
  c.waits_now(false);
  c.answer = call_answer();
}

void cuda_server::answer_waiting() {
  for (const auto& c : clients_) {
    if (!c->waits) continue;
    call_answer& a = c->answer;
    const bool whole = std::all_of(a.until.begin(), a.until.end(), [](const queue_entry& op) { return op->done; });
    if (broken_ != wire::success) {
      a.status = broken_;
    } else if (!whole || (a.host_function && !c->session->take_host_function(a))) {
      continue;
    } else if (a.then) {
      a.then(a);
    }
    call_answer done = std::move(a);
    reply(*c, done);
  }
}

// A client has nothing left to wait for, so that it goes on before time does.
bool cuda_server::an_answer_is_ready() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) {
    const std::vector<queue_entry>& until = c->answer.until;
    return c->waits && !c->answer.host_function &&
           std::all_of(until.begin(), until.end(), [](const queue_entry& op) { return op->done; });
  });
}

// Code that the program runs between two operations of a stream takes no simulated time.
bool cuda_server::program_is_busy() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& s) { return s.second.session && s.second.session->runs_host_function(); });
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
  sc_core::sc_time stop = std::min(clock.time_of(std::min(limit, launches_end)), end);
  // The next launch may begin to count.
  if (options_.end_after != 0 && launches_end == never && sc_core::sc_pending_activity())
    stop = std::min(stop, sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity());
  chip.chip().host_acts_until(program_may_act() ? never : 0);
  chip.run_for(stop - sc_core::sc_time_stamp());
  if (!machine_->queues.fault().empty()) return fail(machine_->status_of_fault(), machine_->queues.fault());
  if (!sc_core::sc_pending_activity() && !machine_->queues.idle() && !machine_->queues.waits_for_host()) {
    const std::string why = chip.chip().barrier_deadlock();
    return fail(wire::launch_timeout,
                why.empty() ? "deadlock: nothing can go on any more, but a kernel has not ended" : why);
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

void cuda_server::fail(std::int32_t status, const std::string& text) {
  if (is_parent_) take_signals(program_);  // the program gets a signal before it sees what that has ended
  if (broken_ == wire::success) {
    broken_ = status;
    failure_ = text;
    progress_.clear_line();
    if (!text.empty()) message_log::error(text);
  }
}

// Kernels of a process that has gone leave at once, so that its memory is free, but those of clusters, which may not.
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
      if (own != nullptr) s->second.session->program_ended();
      // One that has left by itself gets what it has asked for.
      if (!s->second.left && broken_ == wire::success) let_go(s->first);
      if (s->second.session) ended_.push_back(std::move(s->second.session));
      s = sessions_.erase(s);
    } else {
      ++s;
    }
  }
  // A process's resources are released when none of its operations is pending.
  ended_.erase(
      std::remove_if(ended_.begin(), ended_.end(), [&](const auto& s) { return !is_used(s.get()) && s->is_unused(); }),
      ended_.end());
}

// A launch that is executed functionally is given up when its process has ended, or executes another program.
bool cuda_server::wants_stop() {
  const pid_t owner = machine_->queues.executes_for();
  if (progress_.due() && !machine_->queues.executed().empty()) progress_.update(machine_->queues.executed());
  if (run_signals::pending() || owner == 0 || !pauses_.is_due()) return run_signals::pending();
  const auto s = sessions_.find(owner);
  return !is_running(owner) || (s != sessions_.end() && s->second.session && s->second.session->is_replaced());
}

void cuda_server::note_leaks() {
  for (const auto& [process, entry] : sessions_)
    if (entry.session) entry.session->note_leaks();
  for (const auto& session : ended_) session->note_leaks();
}

}  // namespace heddle::testbench
