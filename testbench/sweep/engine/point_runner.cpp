// SPDX-License-Identifier: MIT
#include "testbench/sweep/engine/point_runner.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "heddle/config/error.h"
#include "heddle/metrics/json.h"
#include "testbench/run/job_runner.h"

namespace heddle::testbench {

namespace {

// Without `host`, which describes the machine and not the point.
std::string portable(const run_metrics& m) {
  nlohmann::ordered_json all = nlohmann::ordered_json::parse(to_json(m));
  all.erase("host");
  return all.dump();
}

point_result simulate(const sweep_plan& plan, std::size_t point) {
  run_options o;
  o.max_cycles = plan.file().max_cycles;
  o.progress = progress_mode::never;
  o.quiet = true;
  const gpu_config config = plan.config_of(point);
  // Never deleted: the process ends, and destroying a machine takes longer than many runs.
  auto* j = new job(plan.job_of(point));
  auto* runner = new job_runner(o, *j, config, nullptr);
  const run_outcome outcome = runner->run();
  point_result r;
  r.status = outcome.failure.empty() ? point_status::done : point_status::failed;
  r.reason = outcome.failure;
  r.metrics = portable(outcome.metrics);
  return r;
}

}  // namespace

void run_point(const sweep_plan& plan, const result_store& store, std::size_t point) {
  point_result r;
  try {
    r = simulate(plan, point);
  } catch (const input_error& e) {
    r = {point_status::refused, e.what(), ""};
  } catch (const program_error& e) {
    r = {point_status::failed, e.what(), ""};
  } catch (const std::bad_alloc&) {
    r = {point_status::failed, "out of memory on this machine", ""};
  } catch (const sc_core::sc_report& e) {
    const bool input = std::strcmp(e.get_msg_type(), "/heddle/input") == 0;
    r = input ? point_result{point_status::failed, e.get_msg(), ""}
              : point_result{point_status::fault, std::string(e.get_msg_type()) + ": " + e.get_msg(), ""};
  } catch (const std::exception& e) {
    r = {point_status::fault, e.what(), ""};
  }
  const std::string changed = plan.changed_input(point);
  if (!changed.empty()) r = {point_status::failed, "'" + changed + "' changed while the sweep was running", ""};
  store.write(plan.id_text(point), r);
}

}  // namespace heddle::testbench
