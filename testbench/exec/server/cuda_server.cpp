// SPDX-License-Identifier: MIT
#include "testbench/exec/server/cuda_server.h"

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
  if (sessions_.size() > clients_.size() || a_greeting_waits())
    timeout_ms = timeout_ms < 0 ? 20 : std::min(timeout_ms, 20);
  if (a_request_waits()) timeout_ms = program_is_busy() ? 20 : 0;
  const int n = ::poll(wanted.data(), wanted.size(), timeout_ms);
  if (n < 0 && errno != EINTR)
    throw input_error(std::string("the program's calls cannot be waited for: ") + std::strerror(errno));
  take_signals(program);
  accept_clients();
  for (const auto& c : clients_) serve_client(*c);
  drop_gone();
}

void cuda_server::finish() {
  const cycle_t until = machine_ ? last_cycle_of_leftovers() : never;
  for (const auto& [process, entry] : sessions_)
    if (entry.session) machine_->queues.drop_host_functions(process);
  while (machine_ && broken_ == wire::success && !machine_->queues.waits_for_memory()) {
    take_signals(0);
    if (machine_->reaches(until)) {
      end_leftovers();
      break;
    }
    machine_->queues.await(machine_->queues.last_of_all());
    simulate(machine_->chip.clock().time_of(std::min(until, machine_->chip.clock().last())));
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
  if (c.greeting) greet(c);
  while (!c.waits) {
    const auto request = c.link.next();
    if (!request) break;
    wire::reader in(request->arguments);
    if (request->what == wire::call::hello) {
      c.greeting = std::move(request->arguments);
      greet(c);
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

// A process that uses the GPU for the first time waits until those are gone whose GPU has failed, as a client of MPS.
void cuda_server::greet(client& c) {
  wire::reader in(*c.greeting);
  const auto version = in.get<std::uint32_t>();
  const auto own_number = static_cast<pid_t>(in.get<std::uint32_t>());
  const auto probe = in.get<std::uint64_t>();
  const auto program = in.get<std::uint64_t>();
  const auto forked_by = in.get<std::uint64_t>();
  const std::string share = in.get_text();
  const pid_t seen = c.link.process();  // it may have another number for itself, in a name space of its own
  const pid_t process = seen != 0 ? seen : own_number;
  call_answer a;
  if (version != wire::version || !in.good()) {
    message_log::error("the CUDA library of this program is of another version of Heddle");
    a.status = wire::not_supported;
    c.greeting.reset();
    return reply(c, a);
  }
  if (!machine_) begin_machine();
  if (session_entry& before = sessions_[process]; before.session && before.program != program) {
    before.session->program_ended();
    let_go(process);
    ended_.push_back({std::move(before.session), never});
  }
  drop_ended();
  if (!can_serve(c, process, forked_by)) return;
  c.greeting.reset();
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

void cuda_server::begin_machine() {
  machine_ = make_();
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates
  machine_->chip.chip().core_clock().observe(pauses_);
  machine_->queues.serve_for(*this);
  machine_->chip.simulate_ahead(~std::uint64_t{0} >> 1, false);
  machine_->chip.chip().observe(static_cast<functional_observer&>(*this));
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

}  // namespace heddle::testbench
