// SPDX-License-Identifier: MIT
#include "testbench/run/run_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "heddle/config/config.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/config/parameter_table.h"
#include "testbench/files/output_place.h"
#include "testbench/job/arguments.h"
#include "testbench/job/job_parser.h"
#include "testbench/options/log.h"
#include "testbench/run/interference.h"
#include "testbench/run/job_runner.h"
#include "testbench/run/summary.h"
#include "testbench/sanitize/sanitize_text.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

// Warns of overrides without effect: most likely the user intended something else.
void warn_of_idle_overrides(const gpu_config& config, const std::vector<std::string>& overrides) {
  std::set<std::string> warned;
  for (const std::string& text : overrides) {
    const std::string name = current_name(text.substr(0, text.find('=')));
    const std::string why = why_without_effect(config, name);
    if (!why.empty() && warned.insert(name).second)
      message_log::warning("--set " + name + " may change nothing: " + why);
  }
}

// True if a result goes to standard output, where a summary would mix with it.
bool writes_to_stdout(const run_options& o, const job& j) {
  for (const std::string& file : {o.metrics_file, o.report_file, o.sanitize_file, o.timeline_file, o.pipeline_file})
    if (is_standard_output(file)) return true;
  return std::any_of(j.outputs.begin(), j.outputs.end(),
                     [](const output& out) { return is_standard_output(out.file); });
}

// Tells before the run that its summary could not be written.
void check_summary(const run_options& o, const job& j) {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (!o.quiet && !writes_to_stdout(o, j) && (flags < 0 || (flags & O_ACCMODE) == O_RDONLY))
    throw input_error("standard output is closed; --quiet runs without a summary");
}

void check_recordable(const std::vector<operation>& operations) {
  for (const operation& op : operations) {
    const std::uint32_t(&c)[3] = op.cluster.blocks;
    if (std::max({c[0], c[1], c[2]}) > 1) refuse(op.where, "--record: a trace does not hold clusters of blocks");
    if (op.programmatic) refuse(op.where, "--record: a trace does not hold programmatic launches");
    check_recordable(op.body);
  }
}

void check_recordable(const job& j) {
  if (!j.preemptions.empty()) refuse(j.preemptions[0].where, "--record: a trace does not hold preemption");
  if (!j.clients.empty()) refuse(j.clients[0].where, "--record: a trace does not hold clients");
  check_recordable(j.operations);
}

}  // namespace

job make_job(const run_options& o) {
  const file_access access = o.confine.empty() ? file_access() : file_access(o.confine, "--confine");
  if (!o.job_file.empty()) return load_job(o.job_file, access);
  job j = job_of_arguments(o.arguments, access);
  j.name = o.kernel_file;
  j.modules.push_back(o.kernel_file);
  j.modules_where = "--kernel";
  operation& op = j.operations[0];
  op.where = "--kernel '" + o.kernel_file + (o.kernel.empty() ? "" : ":" + o.kernel) + "'";
  op.kernel = o.kernel;
  std::copy(std::begin(o.grid), std::end(o.grid), std::begin(op.grid));
  std::copy(std::begin(o.block), std::end(o.block), std::begin(op.block));
  op.cluster = o.cluster;
  op.shared_bytes = o.shared_bytes;
  op.carveout = o.carveout;
  op.registers = o.registers;
  return j;
}

void check_result_files(const run_options& o, const job& j, file_roles roles) {
  add_files(j, roles);
  if (!o.record_folder.empty()) {
    run_recorder::check(o.record_folder);
    check_recordable(j);
  }
  if (o.sample_error > 0 && !j.preemptions.empty())
    refuse(j.preemptions[0].where, "--sample-blocks: blocks that leave their SMs tell nothing of the others' time");
  if (!o.metrics_file.empty()) roles.add_output(o.metrics_file, "--metrics");
  if (!o.checkpoint_file.empty()) roles.add_output(o.checkpoint_file, "--checkpoint");
  if (!o.report_file.empty()) roles.add_output(o.report_file, "--report");
  if (!o.sanitize_file.empty()) roles.add_output(o.sanitize_file, "--sanitize-json");
  for (const view_file& f : view_files(o)) {
    const output_place place = find_output(f.path, f.option);
    if (!o.vcd_file.empty() && f.path == o.vcd_file && place.what != output_place::kind::file)
      throw input_error(std::string(f.option) + ": cannot write '" + f.path +
                        "': expected a regular file, beside which its layout can lie");
    roles.add_output(place, f.option);
  }
}

void check_resumed(const run_options& o, const job& j, const gpu_config& config) {
  if (o.resumes == nullptr) return;
  check_same_machine(*o.resumes, config);
  check_same_program(*o.resumes, j);
}

gpu_config machine_of(const run_options& o, file_roles& roles) {
  config_reading how;
  how.read_base = reader_of_bases(o.confine, o.gpu);
  gpu_config config = load_config(o.gpu, o.overrides, how);
  warn_of_former_names(how.former_names);
  for (const std::string& file : how.files) roles.add_input(file, "--gpu");
  if (config.memory.model == choice::memory_model::external) {
    throw input_error(
        "memory.model = external is for a SystemC program that binds a memory of its own to gpu.memory_socket; "
        "expected dram or fixed");
  }
  return config;
}

int simulate(const run_options& o, const job& j, const gpu_config& config, run_signals& signals) {
  check_summary(o, j);
  warn_of_idle_overrides(config, o.overrides);
  auto runner = std::make_unique<job_runner>(o, j, config, &signals);
  const run_outcome outcome = runner->run();
  if (!outcome.failure.empty()) message_log::error(outcome.failure);
  const std::size_t places = runner->checks() == nullptr ? 0 : print_findings(*runner->checks(), o.quiet);
  if (outcome.stop_signal != 0) {
    message_log::warning("stopped by " + outcome.metrics.stopped + " in cycle " + grouped(outcome.metrics.cut_cycle) +
                         ", before the job had ended: results are those of what ran until then");
  }
  if (!o.quiet && !writes_to_stdout(o, j)) std::fputs(summary_text(outcome, stdout_style()).c_str(), stdout);
  // All results are written and the program ends. Destroying the runner would remove each of ten thousand sockets and
  // modules from SystemC's tables by a linear search, which takes longer than many runs, so the memory is left to the
  // system.
  static_cast<void>(runner.release());
  if (outcome.stop_signal != 0) return 128 + outcome.stop_signal;
  return outcome.failure.empty() && places == 0 && !outcome.untraced ? 0 : 1;
}

int run_command(const std::vector<std::string>& arguments) { return run_from(arguments, nullptr); }

int run_from(const std::vector<std::string>& arguments, std::shared_ptr<const checkpoint> from) {
  run_options o;
  o.resumes = std::move(from);
  std::string help;
  if (parse_run(arguments, o, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  message_log::install(o.level);
  run_signals signals;
  const job j = make_job(o);
  validate(j);
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  check_result_files(o, j, std::move(roles));
  check_resumed(o, j, config);
  if (o.interference) o.alone_cycles = cycles_alone(o, j, config);
  return simulate(o, j, config, signals);
}

}  // namespace heddle::testbench
