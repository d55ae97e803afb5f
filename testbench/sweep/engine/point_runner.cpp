// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/point_runner.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "heddle/config/error.h"
#include "heddle/metrics/json.h"
#include "testbench/checkpoint/checkpoint.h"
#include "testbench/run/job_runner.h"

namespace heddle::testbench {

namespace {

// Without `host`, which describes the machine and not the point.
std::string portable(const run_metrics& m) {
  nlohmann::ordered_json all = nlohmann::ordered_json::parse(to_json(m));
  all.erase("host");
  return all.dump();
}

}  // namespace

point_result simulate_job(run_options o, job j, const gpu_config& config, run_signals* signals) {
  // Points are compared: on none does a launch of a trace wait for its cycle in the run that was recorded.
  for (operation& op : j.operations)
    if (op.recording) op.at_cycle = 0;
  o.progress = progress_mode::never;
  o.quiet = true;
  // Never deleted: the process ends, and destroying a machine takes longer than many runs.
  auto* options = new run_options(std::move(o));
  auto* kept = new job(std::move(j));
  auto* runner = new job_runner(*options, *kept, config, signals);
  const run_outcome outcome = runner->run();
  point_result r;
  if (outcome.stop_signal != 0) return r;
  r.status = outcome.failure.empty() ? point_status::done
             : outcome.reached_limit ? point_status::stopped
                                     : point_status::failed;
  r.reason = outcome.failure;
  r.metrics = portable(outcome.metrics);
  return r;
}

point_result result_of(const std::function<point_result()>& simulation) {
  try {
    return simulation();
  } catch (const input_error& e) {
    return {point_status::refused, e.what(), ""};
  } catch (const program_error& e) {
    return {point_status::failed, e.what(), ""};
  } catch (const std::bad_alloc&) {
    return {point_status::failed, "out of memory on this machine", ""};
  } catch (const sc_core::sc_report& e) {
    const bool input = std::strcmp(e.get_msg_type(), "/heddle/input") == 0;
    return input ? point_result{point_status::failed, e.get_msg(), ""}
                 : point_result{point_status::fault, std::string(e.get_msg_type()) + ": " + e.get_msg(), ""};
  } catch (const std::exception& e) {
    return {point_status::fault, e.what(), ""};
  }
}

namespace {

// Where a point that was stopped stood; null: it begins. A file that serves for nothing is removed.
std::shared_ptr<const checkpoint> checkpoint_of(const std::string& file, const gpu_config& config) {
  if (::access(file.c_str(), F_OK) != 0) return nullptr;
  try {
    auto c = std::make_shared<checkpoint>(read_checkpoint(file));
    check_same_machine(*c, config);
    if (c->command == command_of_points) return c;
  } catch (const input_error&) {}
  std::remove(file.c_str());
  return nullptr;
}

// As a signal ends a process whose checkpoint is written.
[[noreturn]] void end_by_signal() {
  ::signal(SIGTERM, SIG_DFL);
  ::raise(SIGTERM);
  ::_exit(128 + SIGTERM);
}

}  // namespace

void run_point(const sweep_plan& plan, const result_store& store, std::size_t point, const point_running& how) {
  const std::string id = plan.id_text(point), saved = store.checkpoint_file(id);
  std::optional<run_signals> signals;
  point_result r = result_of([&] {
    run_options o;
    o.max_cycles = plan.file().max_cycles;
    o.sample_error = plan.file().sample_error;
    o.threads = how.threads;
    o.is_point = true;
    const gpu_config config = plan.config_of(point);
    o.resumes = checkpoint_of(saved, config);
    if (how.checkpoint_every != 0) {
      // What a terminal sends to all processes of the sweep is answered by the one that started this one.
      ::signal(SIGINT, SIG_IGN);
      signals.emplace();
      o.checkpoint_file = store.new_checkpoint_file(id);
      o.checkpoint_every = how.checkpoint_every;
    }
    return simulate_job(std::move(o), plan.job_of(point), config, signals ? &*signals : nullptr);
  });
  if (r.status == point_status::missing) end_by_signal();
  if (r.status == point_status::stopped) r.status = point_status::failed;
  const std::string changed = plan.changed_input(point);
  if (!changed.empty()) r = {point_status::failed, "'" + changed + "' changed while the sweep was running", ""};
  store.write(id, r);
  std::remove(saved.c_str());
}

}  // namespace heddle::testbench
