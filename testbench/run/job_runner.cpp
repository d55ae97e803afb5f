// SPDX-License-Identifier: MIT
#include "testbench/run/job_runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "heddle/config/message.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/json.h"
#include "heddle/sm/sm.h"
#include "heddle/tlm/kernel/state_image.h"
#include "testbench/job/slices.h"
#include "testbench/live/warp_places.h"
#include "testbench/options/log.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/text/text.h"
#include "testbench/warm/l2_warm_up.h"

namespace heddle::testbench {

namespace {

// The last cycle at which the job does something at a given time.
std::uint64_t last_cycle_of(const std::vector<operation>& operations) {
  std::uint64_t last = 0;
  for (const operation& op : operations) last = std::max({last, op.at_cycle, last_cycle_of(op.body)});
  return last;
}

std::uint64_t last_cycle_of(const job& j) {
  std::uint64_t last = last_cycle_of(j.operations);
  for (const preemption& p : j.preemptions) last = std::max(last, p.at_cycle);
  return last;
}

std::int64_t highest_priority(const std::vector<operation>& operations) {
  std::int64_t highest = std::numeric_limits<std::int32_t>::min();
  for (const operation& op : operations)
    highest = std::max({highest, std::int64_t{op.priority}, highest_priority(op.body)});
  return highest;
}

// Launches of a lower priority than this may be flushed.
std::int64_t flushed_below_priority(const gpu_config& config, const job& j) {
  const auto flushes = [](const preemption& p) {
    return p.mode == preemption_mode::flush || p.mode == preemption_mode::automatic;
  };
  if (std::any_of(j.preemptions.begin(), j.preemptions.end(), flushes)) return std::numeric_limits<std::int64_t>::max();
  using policy = choice::priority_preemption;
  const policy how = config.context.priority_preemption;
  return how == policy::flush || how == policy::auto_ ? highest_priority(j.operations)
                                                      : std::numeric_limits<std::int64_t>::min();
}

std::vector<std::uint8_t> expected_bytes(const job& j, const output& o, std::size_t size) {
  const std::string content = content_of(j, o.expect, o.where);
  if (content.size() != size) refuse(o.where, "'" + o.expect + "' changed its size during the run");
  return {content.begin(), content.end()};
}

}  // namespace

namespace {

void check_registers(const std::vector<operation>& operations, unsigned most) {
  for (const operation& op : operations) {
    if (op.registers > most)
      refuse(op.where, "got " + std::to_string(op.registers) + " registers per thread, expected 1 to " +
                           std::to_string(most) + ", the most of this GPU");
    check_registers(op.body, most);
  }
}

}  // namespace

job_runner::job_runner(const run_options& o, const job& j, const gpu_config& config, run_signals* signals)
    : options_(o),
      job_(j),
      machine_(o, divided(config, j)),
      clock_(machine_.clock()),
      gpu_(machine_.chip()),
      driver_(machine_.driver()),
      program_("host", driver_, clock_, o.cold),
      progress_(o.progress, progress_line::is_wanted(o.progress) ? plan_of(j) : job_plan()),
      signals_(signals),
      checkpoints_(o, j, config) {
  driver_.observe(*this);
  gpu_.host_acts_until(last_cycle_of(j));
  machine_.simulate_ahead(limit(), !job_.preemptions.empty());
  const std::int64_t flushed_below = flushed_below_priority(config, job_);
  if (config.energy.account)
    for (unsigned i = 0; i < gpu_.sm_count(); ++i) gpu_.sm_at(i).resource_manager.count_executions(flushed_below);
  if (signals_ != nullptr) gpu_.core_clock().observe(signal_watch_);
}

void job_runner::printed(const std::string& text) {
  progress_.clear_line();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

job_runner::~job_runner() { gpu_.core_clock().ignore(signal_watch_); }

run_outcome job_runner::run() {
  // Elaborates and runs the processes to their first wait; no simulated time passes.
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  check_registers(job_.operations, machine_.config().sm.registers_per_thread);
  note_clients();
  device_ = std::make_unique<device_job>(job_, driver_, machine_.config());
  machine_.announce(device_->programs());
  for (const buffer& b : job_.buffers) machine_.copied(device_->address(b.name), b.bytes);
  if (sanitizer* const s = machine_.checks())
    for (const buffer& b : job_.buffers) {
      const std::string of = b.client == 0 ? "" : " of client '" + job_.clients[b.client - 1].name + "'";
      s->allocated(device_->address(b.name), b.bytes, "buffer '" + b.name + "'" + of, true, b.client);
    }
  machine_.serve(job_.name, *this);
  if (signals_ != nullptr) signals_->note_stops();  // before this point there are no results to keep
  simulate();
  const bool whole = outcome_.failure.empty() && outcome_.stop_signal == 0;
  if (whole) {
    warn_of_late_preemptions();
    machine_.drain();
    invariant(gpu_.idle(), "the job has ended, but something is still in flight in the GPU");
  }
  progress_.clear_line();
  gpu_.settle_accounts();
  gpu_.check_invariants();
  if (whole) take_outputs();
  take_metrics();
  sc_core::sc_stop();
  machine_.write_files(outcome_, job_.name);
  if (whole) write_descriptors();
  return std::move(outcome_);
}

void job_runner::note_clients() {
  for (unsigned n = 1; n <= job_.clients.size(); ++n) {
    client_metrics& c = clients_.emplace_back();
    c.name = job_.clients[n - 1].name;
    c.slice = job_.clients[n - 1].slice;
    c.sms = sms_of_client(job_, n, machine_.config());
    if (n <= options_.alone_cycles.size()) c.alone_cycles = options_.alone_cycles[n - 1];
  }
}

void job_runner::begin() {
  if (options_.resumes != nullptr) return resume(*options_.resumes);
  if (!job_.untimed.empty()) fill_l2();
  program_.start(job_, *device_, machine_.checks());
}

void job_runner::fill_l2() {
  l2_warm_up::traces_by_file next;
  for (const operation& op : job_.operations)
    if (op.recording) next.emplace(op.recording->file(), op.recording);
  l2_warm_up(gpu_, options_.strict).follow(job_.untimed, next);
}

// The launches are made again, in no simulated time; then all takes the state that it had.
void job_runner::resume(const checkpoint& c) {
  const sc_core::sc_time then = sc_core::sc_time::from_value(c.time);
  if (then > sc_core::sc_time_stamp()) sc_core::sc_start(then - sc_core::sc_time_stamp(), sc_core::SC_RUN_TO_TIME);
  state_image image(c.state);
  program_.go_on(job_, *device_, image);
  for (const operation* op : program_.launched()) driver_.launch(device_->request(*op));
  machine_.exchange(image);
  if (!image.at_end()) throw state_error("there is more than the state of this machine");
  gpu_.check_invariants();
  simulated_ = c.cycle;
  checkpoints_.begin_at(c.cycle);
}

void job_runner::simulate() {
  begin();
  try {
    simulate_slices();
    program_.rethrow();
  } catch (const program_error& e) {
    outcome_.failure = e.what();
  }
  if (program_.ended() || !outcome_.failure.empty()) return;
  outcome_.failure = driver_.fault();
  // A detected deadlock that is not reported yet takes precedence over the cycle limit and a stop signal.
  if (outcome_.failure.empty()) outcome_.failure = barrier_deadlock(gpu_);
  if (!outcome_.failure.empty()) {
    outcome_.stop_signal = 0;
    return;
  }
  outcome_.reached_limit = outcome_.stop_signal == 0 && simulated_ >= limit();
  if (outcome_.stop_signal == 0) outcome_.failure = outcome_.reached_limit ? limit_text() : deadlock_text();
  if (simulated_ >= limit() || outcome_.stop_signal != 0) advance_time();
}

// To the full number of cycles.
void job_runner::advance_time() const { machine::advance_time(clock_.time_of(simulated_)); }

std::uint64_t job_runner::limit() const {
  return options_.max_cycles ? std::min(options_.max_cycles, clock_.last()) : clock_.last();
}

// Simulates in slices, so that a progress line can be shown; the slice ends do not affect the simulation.
void job_runner::simulate_slices() {
  constexpr std::uint64_t retry_cycles = 32;  // to the next attempt to take a checkpoint
  std::uint64_t slice = 1000;
  while (!program_.ended() && simulated_ < limit() && outcome_.stop_signal == 0) {
    // Simulated time itself stays at the last event before the slice's end.
    const std::uint64_t begun = simulated_;
    simulated_ += std::min(checkpoints_.due(begun) ? retry_cycles : slice, limit() - simulated_);
    if (!checkpoints_.due(begun)) simulated_ = std::min(simulated_, checkpoints_.next());
    const double before = machine_.wall_seconds();
    const bool whole = machine_.run_for(clock_.time_of(simulated_) - sc_core::sc_time_stamp());
    if (program_.ended() || !sc_core::sc_pending_activity()) break;
    if (!whole) simulated_ = std::max(begun, clock_.cycle());
    if (signals_ != nullptr && run_signals::pending()) {
      answer_signals();
      continue;
    }
    if (checkpoints_.due(simulated_)) {
      attempt_checkpoint();
      continue;
    }
    const double took = machine_.wall_seconds() - before;
    if (took < 0.05 && slice < (std::uint64_t{1} << 40)) slice *= 2;
    if (took > 0.2 && slice > 1000) slice /= 2;
    if (progress_.due()) show_progress();
  }
  if (progress_.wanted()) show_progress();
}

void job_runner::show_progress() {
  progress_.update(clock_.cycle(), progress_of(gpu_), program_.positions(), machine_.cpu_seconds(),
                   machine_.wall_seconds());
}

// Samples between two cycles need all SMs at the same cycle.
bool job_runner::reach_step() {
  // While nothing happens, simulated time stays behind the cycles that are simulated.
  return reach(std::min<std::uint64_t>(std::max(simulated_, machine_.bring_into_step()), limit()));
}

bool job_runner::reach(std::uint64_t cycle) {
  signal_watch_.listens = false;
  // Its page may interrupt it on the way, or pause it there, with all SMs in step.
  while (!machine_.run_for(clock_.time_of(cycle) - sc_core::sc_time_stamp()) && !program_.ended())
    if (machine_.is_paused()) cycle = std::min<std::uint64_t>(cycle, machine_.bring_into_step());
  signal_watch_.listens = true;
  if (!program_.ended()) simulated_ = cycle;
  return !program_.ended();
}

void job_runner::answer_signals() {
  const bool goes_on = reach_step();
  const run_signals::request asked = signals_->take();
  if (!goes_on) return;  // the results are written anyway
  if (asked.snapshot) write_snapshot();
  if (asked.stop == SIGTERM && checkpoints_.wanted()) {
    checkpoints_.end_with(asked.stop);
    machine_.pause_no_more();  // the state may not be one that can be described before a later cycle
    return attempt_checkpoint();
  }
  outcome_.stop_signal = asked.stop;
  if (asked.stop == 0) gpu_.release_ahead();
}

// Where the state cannot be described now, the next slice is short.
void job_runner::attempt_checkpoint() {
  if (!reach_step()) return;
  advance_time();
  if (!has_image(gpu_)) return;
  state_image image;
  program_.exchange(image);
  machine_.exchange(image);
  const int signal = checkpoints_.signal();
  checkpoints_.write(simulated_, sc_core::sc_time_stamp().value(), image.take());
  outcome_.stop_signal = signal;
  if (signal == 0) gpu_.release_ahead();
}

// The run continues even if the snapshot fails.
void job_runner::write_snapshot() {
  advance_time();
  run_metrics m = machine_.metrics_so_far();
  m.cut_cycle = simulated_;
  const std::string text = to_json(m);
  const std::string file =
      options_.metrics_file.empty() ? "heddle-" + std::to_string(::getpid()) + ".metrics.json" : options_.metrics_file;
  try {
    result_files files;
    files.add(file, text);
    if (!options_.report_file.empty())
      files.add(options_.report_file, report_page(report_of_metrics({{job_.name, text}})));
    files.commit();
    progress_.remark("snapshot in cycle " + grouped(simulated_) + ": " + file);
  } catch (const input_error& e) {
    message_log::warning("no snapshot in cycle " + grouped(simulated_) + ": " + e.what());
  }
}

void job_runner::warn_of_late_preemptions() const {
  constexpr std::size_t most_warnings = 5;
  const std::size_t left = program_.preemptions_left();
  const std::size_t first = job_.preemptions.size() - left;
  for (std::size_t i = 0; i < std::min(left, most_warnings); ++i) {
    const preemption& p = job_.preemptions[first + i];
    message_log::warning(p.where + ": nothing was preempted in cycle " + grouped(p.at_cycle) +
                         ": the job had ended by then, in cycle " + grouped(clock_.cycle()));
  }
  if (left > most_warnings)
    message_log::warning("the same holds for " + std::to_string(left - most_warnings) + " more entries of 'preempt'");
}

std::string job_runner::limit_text() const {
  const operation* op = program_.waiting_for();
  return "the limit of " + grouped(limit()) + " cycles (--max-cycles) was reached" +
         (op ? " while kernel '" + device_->kernel(*op) + "' was running" : "") + warp_places(gpu_);
}

std::string job_runner::deadlock_text() const {
  const operation* op = program_.waiting_for();
  const std::string kernel = op ? "kernel '" + device_->kernel(*op) + "'" : "the job";
  return "deadlock: nothing can go on any more, but " + kernel +
         " has not ended; its threads wait for each other, for instance at a barrier that some never reach" +
         warp_places(gpu_);
}

void job_runner::take_outputs() {
  for (const output& o : job_.outputs) {
    if (o.expect.empty() && o.file.empty()) continue;  // written to a descriptor
    if (o.expect.empty() && !o.file.empty()) {         // in chunks: a buffer may be as large as the GPU's memory
      machine_.files().add(
          o.file, device_->size(o),
          [&](std::uint64_t at, void* data, std::size_t bytes) { device_->read(o, at, data, bytes); }, job_.access,
          o.where);
      continue;
    }
    std::vector<std::uint8_t> data(device_->size(o));
    device_->read(o, 0, data.data(), data.size());
    if (!o.file.empty()) machine_.files().add(o.file, data.data(), data.size(), job_.access, o.where);
    outcome_.checks.push_back(compare(o, data, expected_bytes(job_, o, data.size())));
    const comparison& c = outcome_.checks.back();
    if (c.differing == 0) continue;
    outcome_.failure += (outcome_.failure.empty() ? "" : "\n") + printable(c.expect) + ": " + grouped(c.differing) +
                        " of " + grouped(c.elements) + " elements of '" + c.name + "' differ";
    for (const std::string& line : c.first) outcome_.failure += "\n  " + line;
  }
}

// Last, when nothing else can fail: they are written in place.
void job_runner::write_descriptors() {
  constexpr std::uint64_t chunk = 1u << 18;
  std::vector<char> data;
  for (const output& o : job_.outputs) {
    if (!o.target.is_open()) continue;
    const std::uint64_t size = device_->size(o);
    for (std::uint64_t at = 0; at < size; at += chunk) {
      data.resize(static_cast<std::size_t>(std::min(chunk, size - at)));
      device_->read(o, at, data.data(), data.size());
      write_part(o.target, at, data.data(), data.size(), o.where);
    }
  }
}

void job_runner::take_metrics() {
  run_metrics& m = outcome_.metrics;
  m = machine_.final_metrics();
  if (outcome_.stop_signal != 0) {
    m.stopped = name_of_signal(outcome_.stop_signal);
    m.cut_cycle = simulated_;
  } else if (outcome_.failure.empty()) {
    m.preempt_requests.after_the_end = program_.preemptions_left();
  }
}

}  // namespace heddle::testbench
