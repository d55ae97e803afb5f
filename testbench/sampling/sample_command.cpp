// SPDX-License-Identifier: MIT
#include "testbench/sampling/sample_command.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/files/file_roles.h"
#include "testbench/files/result_files.h"
#include "testbench/options/log.h"
#include "testbench/sampling/compare/comparison.h"
#include "testbench/sampling/layers.h"
#include "testbench/sampling/sample_options.h"
#include "testbench/sampling/sample_text.h"
#include "testbench/sampling/strata/errors_within.h"
#include "testbench/sampling/strata/repetitions.h"
#include "testbench/sampling/strata/strata.h"
#include "testbench/sampling/trace_runs.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t least_with_times = 2, least_without = 3;
constexpr unsigned most_rounds = 8;
constexpr std::size_t usual_repetitions = 200;  // of a comparison

/// Cycles of launches by the metrics of runs: of the launches that they number. `errors`: of those that are estimates.
launch_values values_in(const std::vector<std::string>& files, launch_values& errors) {
  launch_values values;
  for (const std::string& file : files) {
    const json metrics = json::parse(read_file(file, "--results"), nullptr, false);
    if (!metrics.is_object() || !metrics.contains("kernels") || !metrics["kernels"].is_array())
      throw input_error(printable(file) + ": expected the metrics of a run of Heddle");
    for (const json& k : metrics["kernels"]) {
      if (!k.is_object() || !k.contains("launch") || !k["launch"].is_number_unsigned() || !k.contains("cycles") ||
          !k["cycles"].is_number())
        throw input_error(printable(file) + ": expected kernels with 'launch' and 'cycles'");
      const auto launch = k["launch"].get<std::uint32_t>();
      const bool sampled = k.contains("sampled") && k["sampled"].is_object();
      values[launch] = (sampled ? k["sampled"] : k).value("cycles", k["cycles"].get<double>());  // of all blocks
      if (sampled) errors[launch] = k["sampled"].value("error", 0.0);
    }
  }
  return values;
}

/// One run of the command.
class sample_run {
 public:
  explicit sample_run(sample_options o) : options_(std::move(o)) {
    list_ = read_launches(options_.workload, options_.compare);
    if (!options_.durations.empty()) add_durations(list_, options_.durations, options_.compare);
    find_layers(list_, options_.layers);
    if (list_.has_streams)
      message_log::warning("the launches are of several streams: their times are added, as if none overlapped");
    if (options_.wanted.least == 0) options_.wanted.least = list_.has_times ? least_with_times : least_without;
    if (!list_.has_times && options_.wanted.least < 2)
      throw input_error("--least: without durations two launches of a stratum are needed at least");
    const bool traces = !list_.launches.front().trace.empty();
    const bool known = options_.repeat != 0 || options_.compare;  // durations, of which nothing is simulated
    if (traces && options_.output.empty() && !options_.dry_run && options_.results.empty() && !known)
      throw input_error("--output: expected a folder for the results of the launches that are simulated, or --dry-run");
    if (!traces && !options_.output.empty())
      throw input_error("--output: durations cannot be simulated; run the chosen launches and give --results");
    if (known && !list_.has_times)
      throw input_error(std::string(options_.compare ? "--compare" : "--repeat") +
                        ": expected durations, which tell the truth");
    file_roles roles;
    roles.add_input(options_.workload, "the workload");
    if (!options_.durations.empty()) roles.add_input(options_.durations, "--durations");
    for (const std::string& r : options_.results) roles.add_input(r, "--results");
    if (!options_.json_file.empty()) roles.add_output(options_.json_file, "--json");
  }

  int run() {
    if (options_.compare) return compared();
    if (options_.repeat != 0) return repeated();
    const accuracy between = between_launches();
    sample drawn(strata_of(list_, between), between, options_.seed);
    sample_outcome outcome{list_, drawn, options_.wanted, options_.seed, false, {}};
    if (!options_.results.empty()) {
      launch_values errors;
      const launch_values values = values_in(options_.results, errors);
      for (const std::uint32_t k : drawn.chosen())
        if (values.count(k) == 0)
          throw input_error("--results: launch " + std::to_string(k) + " ('" + printable(list_.launches[k].name) +
                            "') is not in them, but was drawn");
      estimate_by(drawn, values, errors, outcome);
    } else if (!options_.output.empty() && !options_.dry_run) {
      const int code = simulate(drawn, outcome);
      if (code != 0 || !outcome.has_estimate) return code;
    }
    write(outcome);
    return 0;
  }

 private:
  void estimate_by(const sample& drawn, const launch_values& values, const launch_values& errors,
                   sample_outcome& outcome) const {
    outcome.estimate = estimate_of(drawn, values, options_.wanted.confidence);
    outcome.estimate.layers = layers_of(list_, drawn, values, options_.wanted.confidence);
    add_errors_within(outcome.estimate, list_, drawn, values, errors, options_.wanted);
    outcome.has_estimate = true;
  }

  // What is left of the error for the draw, if all launches have the error that is asked for within them.
  [[nodiscard]] accuracy between_launches() const {
    accuracy between = options_.wanted;
    between.error = std::sqrt(between.error * between.error - options_.sample_error * options_.sample_error);
    return between;
  }

  // As many launches more, round by round, as the deviations of those simulated ask for. Returns the exit code. No
  // estimate: they were submitted.
  int simulate(sample& drawn, sample_outcome& outcome) {
    const trace_runs runs(list_, {options_.output, options_.gpu, options_.overrides, options_.sweep_words,
                                  options_.sample_error, options_.warm_up, options_.no_wait});
    for (unsigned round = 0; round < most_rounds; ++round) {
      launch_values values, errors;
      const int code = runs.simulate(drawn.chosen(), values, errors);
      if (code != 0 || values.empty()) return code;
      estimate_by(drawn, values, errors, outcome);
      const std::size_t before = drawn.size();
      if (outcome.estimate.whole.error() <= options_.wanted.error) return 0;
      drawn.grow(sample_sizes(measured_strata(drawn, values), between_launches()));
      if (drawn.size() == before) break;
    }
    message_log::warning(fmt::format("the error is {}, not {}: --least asks for more launches of each stratum",
                                     percent(outcome.estimate.whole.error()), percent(options_.wanted.error)));
    return 0;
  }

  [[nodiscard]] int repeated() const {
    const repetitions r = repeat(list_, options_.wanted, options_.seed, options_.repeat);
    std::printf("%s of %s samples are within %s (%s); error %s on average, %s at most; %.1f times less to simulate\n",
                grouped(r.held).c_str(), grouped(r.all).c_str(), percent(options_.wanted.error).c_str(),
                percent(static_cast<double>(r.held) / static_cast<double>(r.all)).c_str(),
                percent(r.mean_error).c_str(), percent(r.largest_error).c_str(), r.speedup);
    return 0;
  }

  [[nodiscard]] int compared() const {
    const std::vector<method_result> methods =
        compare(list_, options_.wanted, options_.seed, options_.repeat != 0 ? options_.repeat : usual_repetitions);
    write_json(comparison_json(list_, methods));
    if (!options_.quiet) std::fputs(comparison_text(list_, methods).c_str(), stdout);
    return 0;
  }

  void write_json(const json& result) const {
    result_files files;
    if (!options_.json_file.empty()) files.add(options_.json_file, result.dump(1) + "\n", "--json");
    files.commit();
  }

  void write(const sample_outcome& outcome) const {
    write_json(sample_json(outcome));
    if (options_.quiet) return;
    std::fputs(sample_text(outcome).c_str(), stdout);
    if (!outcome.has_estimate) std::printf("--launches %s\n", launches_text(outcome.drawn.chosen()).c_str());
  }

  sample_options options_;
  launch_list list_;
};

}  // namespace

int sample_command(const std::vector<std::string>& arguments) {
  sample_options o;
  if (!parse_sample(arguments, o)) return 0;
  return sample_run(std::move(o)).run();
}

}  // namespace heddle::testbench
