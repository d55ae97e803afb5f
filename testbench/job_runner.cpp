// SPDX-License-Identifier: MIT
#include "testbench/job_runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "config/message.h"
#include "metrics/collect.h"
#include "metrics/json.h"
#include "testbench/log.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/text.h"

namespace heddle::testbench {

namespace {

double cpu_seconds_now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

double wall_seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The last cycle in which the job does something by time.
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

std::vector<std::uint8_t> expected_bytes(const job& j, const output& o, std::size_t size) {
  const std::string content = content_of(j, o.expect, o.where);
  if (content.size() != size) refuse(o.where, "'" + o.expect + "' changed its size during the run");
  return {content.begin(), content.end()};
}

}  // namespace

job_runner::job_runner(const run_options& o, const job& j, const gpu_config& config, run_signals* signals)
    : options_(o),
      job_(j),
      config_(config),
      clock_(config.gpu.core_clock_mhz),
      gpu_("gpu", config),
      driver_("driver", config),
      irq_("irq"),
      program_("host", driver_, clock_),
      intervals_(gpu_),
      progress_(o.progress, plan_of(j)),
      signals_(signals) {
  driver_.host_socket.bind(gpu_.host_socket);
  gpu_.irq(irq_);
  driver_.irq(irq_);
  driver_.on_print = [this](const std::string& text) {
    progress_.wipe();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  views_ = make_views(o, gpu_, files_);
  gpu_.host_acts_until(last_cycle_of(j));
  gpu_.simulate_ahead(limit(), !job_.preemptions.empty());
  if (signals_ != nullptr) gpu_.core_clock().observe(signal_watch_);
}

job_runner::~job_runner() { gpu_.core_clock().ignore(signal_watch_); }

run_outcome job_runner::run() {
  // Elaborates, and lets the processes reach their first wait; no simulated time passes.
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  device_ = std::make_unique<device_job>(job_, driver_);
  if (signals_ != nullptr) signals_->note_stops();  // until here there is nothing to keep
  simulate();
  const bool whole = outcome_.failure.empty() && outcome_.stop_signal == 0;
  if (whole) {
    tell_of_late_preemptions();
    // What the last launch left on its way (write-backs) arrives; then nothing may be in flight anywhere.
    run_for(sc_core::sc_time(1, sc_core::SC_MS));
    invariant(gpu_.idle(), "the job has ended, but something is still in flight in the GPU");
  }
  progress_.wipe();
  gpu_.settle_accounts();
  gpu_.check_invariants();
  if (whole) take_outputs();
  take_metrics();
  sc_core::sc_stop();
  write_files();
  return std::move(outcome_);
}

void job_runner::simulate() {
  program_.start(job_, *device_);
  try {
    simulate_slices();
    program_.rethrow();
  } catch (const program_error& e) {
    outcome_.failure = e.what();
  }
  if (program_.ended() || !outcome_.failure.empty()) return;
  outcome_.failure = driver_.fault();
  // One that has been found but is not told yet is more than that it took long, or that somebody stopped it.
  if (outcome_.failure.empty()) outcome_.failure = gpu_.barrier_deadlock();
  if (!outcome_.failure.empty()) {
    outcome_.stop_signal = 0;
    return;
  }
  if (outcome_.stop_signal == 0) outcome_.failure = simulated_ >= limit() ? limit_text() : deadlock_text();
  // Whatever the last event was: that many cycles have passed.
  const sc_core::sc_time end = clock_.time_of(simulated_);
  if ((simulated_ >= limit() || outcome_.stop_signal != 0) && end > sc_core::sc_time_stamp())
    sc_core::sc_start(end - sc_core::sc_time_stamp(), sc_core::SC_RUN_TO_TIME);
}

std::uint64_t job_runner::limit() const {
  return options_.max_cycles ? std::min(options_.max_cycles, clock_.last()) : clock_.last();
}

// In slices, so that a progress line can be shown; where they end makes no difference to what is simulated.
void job_runner::simulate_slices() {
  std::uint64_t slice = 1000;
  while (!program_.ended() && simulated_ < limit() && outcome_.stop_signal == 0) {
    // Time itself stays at the last event before the slice's end.
    const std::uint64_t begun = simulated_;
    simulated_ += std::min(slice, limit() - simulated_);
    const double before = wall_seconds_;
    run_for(clock_.time_of(simulated_) - sc_core::sc_time_stamp());
    if (program_.ended() || !sc_core::sc_pending_activity()) break;
    if (signals_ != nullptr && run_signals::pending()) {
      simulated_ = std::max(begun, clock_.cycle());
      answer_signals();
      continue;
    }
    const double took = wall_seconds_ - before;
    if (took < 0.05 && slice < (std::uint64_t{1} << 40)) slice *= 2;
    if (took > 0.2 && slice > 1000) slice /= 2;
    if (progress_.due()) show_progress();
  }
  if (progress_.wanted()) show_progress();
}

void job_runner::show_progress() {
  progress_.update(clock_.cycle(), progress_of(gpu_), program_.positions(), cpu_seconds_, wall_seconds_);
}

// Whoever looks at the chip between two cycles wants all its SMs in the same one.
void job_runner::answer_signals() {
  const std::uint64_t meeting = std::min<std::uint64_t>(gpu_.bring_into_step(), limit());
  signal_watch_.listens = false;
  run_for(clock_.time_of(meeting) - sc_core::sc_time_stamp());
  signal_watch_.listens = true;
  const run_signals::request asked = signals_->take();
  if (program_.ended()) return;  // what was asked for comes anyway
  simulated_ = meeting;
  if (asked.snapshot) write_snapshot();
  outcome_.stop_signal = asked.stop;
  if (asked.stop == 0) gpu_.release_ahead();
}

// The run goes on, whatever becomes of it.
void job_runner::write_snapshot() {
  run_metrics m;
  intervals_.settle();
  m = collect(gpu_);
  intervals_.fill_so_far(m);
  m.snapshot = true;
  m.cut_cycle = simulated_;
  complete(m);
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

void job_runner::tell_of_late_preemptions() const {
  constexpr std::size_t most_told = 5;
  const std::size_t left = program_.preemptions_left();
  const std::size_t first = job_.preemptions.size() - left;
  for (std::size_t i = 0; i < std::min(left, most_told); ++i) {
    const preemption& p = job_.preemptions[first + i];
    message_log::warning(p.where + ": nothing was preempted in cycle " + grouped(p.at_cycle) +
                         ": the job had ended by then, in cycle " + grouped(clock_.cycle()));
  }
  if (left > most_told)
    message_log::warning("the same holds for " + std::to_string(left - most_told) + " more entries of 'preempt'");
}

void job_runner::run_for(const sc_core::sc_time& duration) {
  // SystemC warns of a start that moves nothing.
  if (!sc_core::sc_pending_activity() || sc_core::sc_time_to_pending_activity() > duration) return;
  const double cpu = cpu_seconds_now();
  const double wall = wall_seconds_now();
  sc_core::sc_start(duration, sc_core::SC_EXIT_ON_STARVATION);
  cpu_seconds_ += cpu_seconds_now() - cpu;
  wall_seconds_ += wall_seconds_now() - wall;
}

std::string job_runner::limit_text() const {
  const operation* op = program_.waiting_for();
  return "the limit of " + grouped(limit()) + " cycles (--max-cycles) was reached" +
         (op ? " while kernel '" + device_->request(*op).kernel + "' was running" : "");
}

std::string job_runner::deadlock_text() const {
  const operation* op = program_.waiting_for();
  const std::string kernel = op ? "kernel '" + device_->request(*op).kernel + "'" : "the job";
  return "deadlock: nothing can go on any more, but " + kernel +
         " has not ended; its threads wait for each other, for instance at a barrier that some never reach";
}

void job_runner::take_outputs() {
  for (const output& o : job_.outputs) {
    if (o.expect.empty() && !o.file.empty()) {   // in pieces: a buffer may be as large as the GPU's memory
      files_.add(o.file, device_->size(o), [&](std::uint64_t at, void* data, std::size_t bytes) { device_->read(o, at, data, bytes); }, job_.access);
      continue;
    }
    std::vector<std::uint8_t> data(device_->size(o));
    device_->read(o, 0, data.data(), data.size());
    if (!o.file.empty()) files_.add(o.file, data.data(), data.size(), job_.access);
    outcome_.checks.push_back(compare(o, data, expected_bytes(job_, o, data.size())));
    const comparison& c = outcome_.checks.back();
    if (c.differing == 0) continue;
    outcome_.failure += (outcome_.failure.empty() ? "" : "\n") + printable(c.expect) + ": " + grouped(c.differing) + " of " +
                        grouped(c.elements) + " elements of '" + c.name + "' differ";
    for (const std::string& line : c.first) outcome_.failure += "\n  " + line;
  }
}

void job_runner::take_metrics() {
  run_metrics& m = outcome_.metrics;
  m = collect(gpu_);
  intervals_.fill(m);
  if (outcome_.stop_signal != 0) {
    m.stopped = name_of_signal(outcome_.stop_signal);
    m.cut_cycle = simulated_;
  } else if (outcome_.failure.empty()) {
    m.preempt_requests.after_the_end = program_.preemptions_left();
  }
  complete(m);
}

// What the GPU does not know.
void job_runner::complete(run_metrics& m) const {
  m.config = config_;
  const auto& positions = program_.positions();
  double warp_instructions = 0;
  for (kernel_metrics& k : m.kernels) {
    invariant(k.launch < positions.size(), "metrics name a launch that was never made");
    k.launch = positions[k.launch];
    quote_source(k);
    warp_instructions += static_cast<double>(k.metrics.inst_executed);
  }
  m.host.wall_seconds = wall_seconds_;
  m.host.cpu_seconds = cpu_seconds_;
  m.host.peak_rss_bytes = peak_rss_bytes();
  if (cpu_seconds_ > 0) {
    m.host.warp_instructions_per_second = warp_instructions / cpu_seconds_;
    m.host.cycles_per_second = static_cast<double>(m.cycles) / cpu_seconds_;
  }
}

// What the lines say whose numbers the metrics have.
void job_runner::quote_source(kernel_metrics& k) const {
  const std::string* source = device_->source(k.source);
  if (source == nullptr) return;
  std::size_t begin = 0;
  std::uint32_t number = 1;
  for (line_metrics& line : k.lines) {
    for (; number < line.line && begin < source->size(); ++number) begin = std::min(source->find('\n', begin), source->size() - 1) + 1;
    if (number != line.line) continue;
    const std::size_t first = source->find_first_not_of(" \t", begin);
    const std::size_t end = std::min(source->find_first_of("\r\n", begin), source->size());
    if (first < end) line.text = source->substr(first, end - first);
  }
}

void job_runner::write_files() {
  if (!options_.metrics_file.empty()) files_.add(options_.metrics_file, to_json(outcome_.metrics));
  if (!options_.report_file.empty())
    files_.add(options_.report_file, report_page(report_of_metrics({{job_.name, to_json(outcome_.metrics)}})));
  const run_metrics& m = outcome_.metrics;
  const std::string mark = m.stopped.empty() ? "" : "stopped by " + m.stopped + " in cycle " + std::to_string(m.cut_cycle);
  for (auto& v : views_) v->finish(mark);
  files_.commit();
  outcome_.written = files_.written();
}

}  // namespace heddle::testbench
