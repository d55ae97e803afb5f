// SPDX-License-Identifier: MIT
#include "testbench/run/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/own/recordable.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/gpu/gpu_blocks.h"
#include "heddle/metrics/client_sums.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/json.h"
#include "heddle/tlm/kernel/state_image.h"
#include "testbench/live/pause_request.h"
#include "testbench/options/log.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/run/run_signals.h"
#include "testbench/sanitize/sanitize_text.h"
#include "testbench/text/text.h"

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

// Notes the program's failure on the kernels that it has ended.
void note_failure(run_metrics& m, const std::string& failure) {
  if (failure.empty()) return;
  const std::string headline = failure.substr(0, failure.find('\n'));
  for (kernel_metrics& k : m.kernels)
    if (!k.ended && k.failed.empty()) k.failed = headline;
}

}  // namespace

namespace {

gpu_blocks blocks_with(const host_regions* in_place) {
  gpu_blocks own;
  own.in_place = in_place;
  return own;
}

}  // namespace

machine::machine(const run_options& o, const gpu_config& config, std::uint64_t first_address,
                 const host_regions* in_place)
    : options_(o),
      config_(config),
      clock_(config.gpu.core_clock_mhz),
      gpu_("gpu", config, blocks_with(in_place)),
      cap_(config.energy.power_cap_watts > 0 ? std::make_unique<power_cap>(gpu_) : nullptr),
      sanitizer_(o.sanitizes ? std::make_unique<sanitizer>(config, kinds_of_text(o.sanitize)) : nullptr),
      driver_("driver", config, first_address, 0, &gpu_.parsed_modules()),
      irq_("irq"),
      intervals_(gpu_, ledger()) {
  if (sanitizer_) gpu_.sanitize(*sanitizer_);
  if (o.sample_error > 0) sample_blocks(gpu_, o.sample_error);
  driver_.host_socket.bind(gpu_.host_socket);
  gpu_.irq(irq_);
  driver_.irq(irq_);
  views_ = make_views(o, gpu_, ledger(), files_);
  if (views_.empty() && cap_ == nullptr) intervals_.sum_up_ended();
  if (!o.record_folder.empty()) recorder_ = std::make_unique<run_recorder>(gpu_, o.record_folder);
}

void machine::announce(const std::vector<const isa::program*>& programs) {
  for (auto& v : views_) v->begin(programs);
  for (const isa::program* p : programs) {
    const std::string why = recorder_ == nullptr ? "" : sass_trace::why_not_recordable(*p);
    if (!why.empty()) throw input_error("--record: " + why);
  }
}

void machine::launched() {
  if (recorder_ != nullptr) warn_of_no_trace(recorder_->news_of_last_launch());
}

void machine::warn_of_no_trace(const std::string& why) {
  if (why.empty()) return;
  if (!untraced_) message_log::warning("--record: no trace is written: " + why);
  untraced_ = true;
}

void machine::write_record(run_outcome& outcome) {
  if (recorder_ == nullptr) return;
  const bool is_whole = outcome.failure.empty() && outcome.metrics.stopped.empty();
  warn_of_no_trace(is_whole ? recorder_->finish() : "the run did not end by itself");
  outcome.untraced = untraced_;
}

void machine::simulate_ahead(cycle_t until, bool preemptions) {
  gpu_.simulate_ahead(until, preemptions);
  if (options_.threads == 1) return;
  gpu_.use_threads(options_.threads);
  if (!simulates_ahead(gpu_)) {
    if (options_.threads_named)
      message_log::warning(
          "--threads: this configuration keeps the SMs in step, so they are simulated on one thread (tlm.check, random "
          "delays, external memory, or interconnect.latency_cycles = 1)");
    return;
  }
  if (!views_.empty() && options_.threads_named)
    message_log::warning(
        "--threads: in cycles that a waveform, a timeline or a pipeline view shows, SMs are simulated on one thread");
}

void machine::warn_of_one_thread() const {
  if (options_.threads == 1 || !options_.threads_named) return;
  for (const grid_record& g : gpu_.cwd().grids())
    if (calls_runtime(*g.launch))
      return message_log::warning("--threads: kernel '" + g.launch->program->kernel +
                                  "' calls the device runtime, whose state all SMs share, so the SMs were simulated on "
                                  "one thread while it ran");
}

void machine::warn_of_empty_window(const run_metrics& m) const {
  const bool has_window = options_.trace_begin != 0 || options_.trace_end != never;
  if (!has_window || views_.empty() || m.kernels.empty()) return;
  const auto runs_in_it = [this](const kernel_metrics& k) {
    return k.start_cycle < options_.trace_end && (!k.ended || k.end_cycle >= options_.trace_begin);
  };
  if (std::any_of(m.kernels.begin(), m.kernels.end(), runs_in_it)) return;
  const kernel_metrics& first = m.kernels.front();
  message_log::warning("--trace-window: no kernel ran in cycles " + grouped(options_.trace_begin) + " to " +
                       grouped(options_.trace_end) + "; the first, '" + first.name + "', began in cycle " +
                       grouped(first.start_cycle));
}

void machine::serve(const std::string& name, const machine_host& host) {
  host_ = &host;
  if (!options_.serves) return;
  live_run& run = *this;
  page_ = std::make_unique<live_page>(gpu_, run, name, live_page::options{options_.serve_port, options_.serve_control});
  std::fprintf(stderr, "heddle: the page of this run: %s\n", page_->address().c_str());
}

std::string machine::metrics_text() {
  run_metrics m = metrics_so_far();
  m.cut_cycle = page_->cycle();
  return to_json(m);
}

bool machine::is_interrupted() const { return run_signals::pending(); }

std::vector<client_metrics> machine::sharing_clients() const { return host_->clients(); }

bool machine::run_for(const sc_core::sc_time& duration) {
  sc_core::sc_time reached = sc_core::sc_time_stamp();
  const sc_core::sc_time end =
      duration > sc_core::sc_max_time() - reached ? sc_core::sc_max_time() : reached + duration;
  if (page_ == nullptr) return simulate_until(end);
  for (;;) {
    const cycle_t stop_cycle = page_->next_stop();
    const sc_core::sc_time stop = stop_cycle == never ? sc_core::sc_max_time() : clock_.time_of(stop_cycle);
    const sc_core::sc_time until = std::min(end, stop);
    if (stop > reached) {  // also for no time at all: what is due now
      if (!simulate_until(until)) return false;
      reached = until;
    }
    const bool is_idle = !sc_core::sc_pending_activity();
    if (reached >= stop && !is_idle) advance_time(stop);
    if (reached >= stop || is_idle) page_->between_cycles(reached >= stop ? stop_cycle : gpu_.cycle());
    if (reached >= end || is_idle) return true;
    if (run_signals::pending()) return false;
  }
}

void machine::drain() {
  const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(1, sc_core::SC_MS);
  while (!simulate_until(end)) continue;
}

bool machine::has_few_launches() const {
  constexpr std::size_t few = 64;
  return gpu_.cwd().grids().size() <= few;
}

bool machine::simulate_until(const sc_core::sc_time& end) {
  // SystemC warns if sc_start() is called with nothing to simulate.
  const sc_core::sc_time duration = end - sc_core::sc_time_stamp();
  if (!sc_core::sc_pending_activity() || sc_core::sc_time_to_pending_activity() > duration) return true;
  const double cpu = cpu_seconds_now();
  const double wall = wall_seconds_now();
  pause_request::take();
  sc_core::sc_start(duration, sc_core::SC_EXIT_ON_STARVATION);
  cpu_seconds_ += cpu_seconds_now() - cpu;
  wall_seconds_ += wall_seconds_now() - wall;
  return !pause_request::take();
}

void machine::advance_time(const sc_core::sc_time& to) {
  if (to > sc_core::sc_time_stamp()) sc_core::sc_start(to - sc_core::sc_time_stamp(), sc_core::SC_RUN_TO_TIME);
}

void machine::exchange(state_image& image) {
  heddle::exchange(gpu_, image);
  heddle::exchange(driver_, image);
  intervals_.exchange(image);
  if (cap_ != nullptr) cap_->exchange(image);
}

run_metrics machine::metrics_so_far() {
  intervals_.settle();
  run_metrics m = collect_all();
  intervals_.fill_so_far(m);
  m.snapshot = true;
  complete(m);
  return m;
}

run_metrics machine::final_metrics() {
  if (page_ != nullptr) page_->end();
  warn_of_one_thread();
  run_metrics m = collect_all();
  intervals_.fill(m);
  warn_of_empty_window(m);
  complete(m);
  return m;
}

// Adds the parts of the metrics that the GPU does not know.
void machine::complete(run_metrics& m) {
  m.config = config_;
  const std::vector<unsigned>& positions = host_->launch_positions();
  if (std::vector<client_metrics> clients = host_->clients(); !clients.empty())
    add_clients(m, gpu_, std::move(clients));
  double warp_instructions = 0;
  auto details =
      std::make_shared<launch_details>(gpu_, intervals_.energy(), *host_,
                                       launch_details::options{how_much(), writes_metrics(), options_.confine.empty()});
  for (kernel_metrics& k : m.kernels) {
    invariant(k.launch < positions.size(), "metrics name a launch that was never made");
    k.launch = positions[k.launch];
    if (has_few_launches()) details->quote(k);
    warp_instructions += static_cast<double>(k.metrics.inst_executed);
  }
  m.host.view = options_.view;
  if (has_few_launches()) m.sources = details->sources();
  else m.details = std::move(details);
  m.host.wall_seconds = wall_seconds_;
  m.host.cpu_seconds = cpu_seconds_;
  m.host.peak_rss_bytes = peak_rss_bytes();
  if (cpu_seconds_ > 0) {
    m.host.warp_instructions_per_second = warp_instructions / cpu_seconds_;
    m.host.cycles_per_second = static_cast<double>(m.cycles) / cpu_seconds_;
  }
}

void machine::write_files(run_outcome& outcome, const std::string& name) {
  run_metrics& m = outcome.metrics;
  if (m.stopped.empty() && !outcome.reached_limit) note_failure(m, outcome.failure);
  if (!options_.metrics_file.empty())
    files_.add(
        options_.metrics_file, [&m](const result_files::text_sink& to) { write_json(m, to); }, "--metrics");
  if (sanitizer_) sanitizer_->finish();
  if (!options_.sanitize_file.empty())
    files_.add(options_.sanitize_file, json_of_findings(*sanitizer_), "--sanitize-json");
  if (!options_.report_file.empty())
    files_.add(options_.report_file, report_page(report_of_metrics({{name, to_json(m)}})), "--report");
  const std::string mark =
      m.stopped.empty() ? "" : "stopped by " + m.stopped + " in cycle " + std::to_string(m.cut_cycle);
  for (auto& v : views_) v->finish(mark);
  files_.commit();
  write_record(outcome);
  outcome.written = files_.written();
}

}  // namespace heddle::testbench
