// SPDX-License-Identifier: MIT
#include "testbench/whatif/whatif_command.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/config/shipped.h"
#include "testbench/correlate/run_missing.h"
#include "testbench/files/file_roles.h"
#include "testbench/files/passing_folder.h"
#include "testbench/files/result_files.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/option_tables.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/report_page.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"
#include "testbench/whatif/outcome.h"
#include "testbench/whatif/promise.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr unsigned usual_minutes = 5;
constexpr std::size_t usual_rows = 20, most_rows = 1000;
constexpr std::size_t best_for_pairs = 4;
constexpr std::uint64_t kept_for_pairs = best_for_pairs * (best_for_pairs - 1) / 2;  // of --runs
constexpr double time_for_pairs = 0.1;                                               // of the minutes, at least
constexpr double most_time_for_pairs = 0.5;
constexpr double time_to_write = 0.02;  // of the minutes
constexpr double margin = 1.5;          // runs may take so many times as long as those before
constexpr double worth_a_pair = 0.005;  // of the base

struct whatif_options {
  std::string run;  // the workload, as heddle run or exec take it
  std::string gpu = default_gpu();
  std::vector<std::string> overrides;
  aim what = aim::time;
  std::uint64_t runs = 0;  // most; 0: no limit
  std::uint64_t minutes = usual_minutes;
  std::size_t rows = usual_rows;
  unsigned jobs = 0;
  std::string store;
  std::string csv;
  std::string chart;
  std::string metrics;
  std::string report;
  progress_mode progress = progress_mode::automatic;
  bool quiet = false;
};

std::string workload_of(const option_parser& p, const std::vector<std::string>& program) {
  const std::size_t given = p.positionals().size() + (p.has("run") ? 1 : 0) + (program.empty() ? 0 : 1);
  if (given != 1) p.fail("expected one workload: JOB.json, --run \"RUN\", or -- PROGRAM ARGUMENTS");
  if (p.has("run")) return p.text("run");
  if (program.empty()) return shell_quoted(p.positionals()[0]);
  std::string text = "--";
  for (const std::string& word : program) text += " " + shell_quoted(word);
  return text;
}

/// Parses the arguments. False: --help was given, and its text has been printed.
bool parse(std::vector<std::string> arguments, whatif_options& o) {
  constexpr unsigned most_jobs = 100000, most_minutes = 1000000;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> program;
  if (dashes != arguments.end()) {
    program.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  option_parser p = options_of_whatif();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return false;
  }
  o.run = workload_of(p, program);
  if (p.has("gpu")) o.gpu = p.text("gpu");
  o.overrides = p.list("set");
  if (p.has("by")) o.what = static_cast<aim>(p.choice("by"));
  if (p.has("runs")) o.runs = p.number("runs", 1, most_minutes);
  if (p.has("minutes")) o.minutes = p.number("minutes", 1, most_minutes);
  if (p.has("rows")) o.rows = p.number("rows", 1, most_rows);
  if (p.has("jobs")) o.jobs = static_cast<unsigned>(p.number("jobs", 1, most_jobs));
  if (p.has("store")) o.store = p.text("store");
  if (p.has("csv")) o.csv = p.text("csv");
  if (p.has("chart")) o.chart = p.text("chart");
  if (p.has("metrics")) o.metrics = p.text("metrics");
  if (p.has("report")) o.report = p.text("report");
  if (!o.chart.empty() && !ends(o.chart, ".svg"))
    p.fail("--chart: got '" + printable(o.chart) + "', expected FILE.svg");
  if (p.has("progress")) o.progress = static_cast<progress_mode>(p.choice("progress"));
  o.quiet = p.has("quiet");
  return true;
}

/// One run of the command.
class whatif_run {
 public:
  explicit whatif_run(const whatif_options& o) : options_(o) {
    const correlation_runs base({launch({}, 0)}, o.overrides, HEDDLE_VERSION);
    file_roles roles;
    base.add_inputs(roles);
    if (!o.csv.empty()) roles.add_output(o.csv, "--csv");
    if (!o.chart.empty()) roles.add_output(o.chart, "--chart");
    if (!o.metrics.empty()) roles.add_output(o.metrics, "--metrics");
    if (!o.report.empty()) roles.add_output(o.report, "--report");
    if (o.store.empty()) folder_ = std::make_unique<passing_folder>("heddle-whatif");
    store_ = std::make_unique<result_store>(folder_ ? folder_->path() + "/runs" : o.store, HEDDLE_VERSION);
    store_->check();
  }

  int run() {
    store_->create();
    base_ = measure_base();
    result_.workload = options_.run;
    result_.gpu = options_.gpu;
    result_.what = options_.what;
    result_.base = cost::of(base_);
    if (options_.what != aim::time && result_.base.joules == 0)
      throw input_error("--by: the run has no account of energy (energy.account = false)");
    const std::uint64_t kept = std::min(kept_for_pairs, options_.runs / 4);
    attempt(by_promise(candidates_of(base_, options_.gpu, options_.overrides), base_), options_.runs - kept, true);
    result_.sort();
    std::vector<candidate> rest;
    rest.swap(result_.not_tried);
    attempt(pairs_of(best()), options_.runs, false);
    attempt(rest, options_.runs, false);  // if the pairs needed less than was kept for them
    result_.sort();
    write();
    if (!options_.quiet) std::fputs(whatif_text(result_, options_.rows, stdout_style()).c_str(), stdout);
    return 0;
  }

 private:
  using clock = std::chrono::steady_clock;

  /// `most_cycles`: 0: to the end.
  [[nodiscard]] measured_launch launch(const candidate& c, std::uint64_t most_cycles) const {
    measured_launch m;
    m.where = "the workload";
    m.gpu = options_.gpu;
    std::string limit;
    if (most_cycles != 0) limit = (is_program() ? "--end-after " : "--max-cycles ") + std::to_string(most_cycles) + " ";
    m.run = c.options() + " " + limit + options_.run;
    return m;
  }

  json measure_base() {
    const correlation_runs base({launch({}, 0)}, options_.overrides, HEDDLE_VERSION);
    simulate(base, 0);
    each_ = seconds_gone() / jobs();
    const point_result r = store_->read(base.id(0));
    if (r.status != point_status::done)
      throw input_error("the workload does not run on " + options_.gpu + ": " +
                        (r.reason.empty() ? name_of(r.status) : r.reason.substr(0, r.reason.find('\n'))));
    return json::parse(r.metrics);
  }

  // Tries the changes until `most` runs (0: any number) or the minutes are used up, but for what `pairs_follow` need.
  void attempt(const std::vector<candidate>& all, std::uint64_t most, bool pairs_follow) {
    for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
      end = std::min(first + runs_in(seconds_left(pairs_follow), pairs_follow ? margin : 1), all.size());
      if (most != 0) end = std::min<std::size_t>(end, first + (most - std::min(most, used_)));
      const auto at = [&](std::size_t k) { return all.begin() + static_cast<std::ptrdiff_t>(k); };
      if (end == first) {
        result_.not_tried.insert(result_.not_tried.end(), at(first), all.end());
        return;
      }
      try_some({at(first), at(end)}, seconds_left(pairs_follow));
    }
  }

  [[nodiscard]] double seconds_gone() const { return std::chrono::duration<double>(clock::now() - started_).count(); }

  [[nodiscard]] double seconds_left(bool pairs_follow) const {
    const double all = (1 - time_to_write) * 60.0 * static_cast<double>(options_.minutes);
    const double pairs = std::max(time_for_pairs * all, margin * each_ * static_cast<double>(kept_for_pairs));
    return all - seconds_gone() - (pairs_follow ? std::min(pairs, most_time_for_pairs * all) : 0);
  }

  // How many runs to begin: several for each core, or one, if they end within these seconds even if they take `longer`
  // times as long as those before; 0: none.
  [[nodiscard]] std::size_t runs_in(double seconds, double longer) const {
    for (const std::size_t runs : {4 * std::size_t{jobs()}, std::size_t{jobs()}})
      if (longer * each_ * static_cast<double>(runs) < seconds) return runs;
    return 0;
  }

  // Its kernels run between transfers, which are no part of `cycles`.
  [[nodiscard]] bool is_program() const { return begins(options_.run, "-- "); }

  // A change cannot save time once it has taken as long as the machine as it is: its run ends there.
  [[nodiscard]] std::uint64_t most_cycles(const candidate& c) const {
    if (options_.what != aim::time) return 0;
    double clock_mhz = result_.base.cycles / result_.base.seconds / 1e6;
    for (const auto& [key, value] : c.settings)
      if (key == "gpu.core_clock_mhz") parse_float(value, clock_mhz);
    return static_cast<std::uint64_t>(std::ceil(result_.base.seconds * clock_mhz * 1e6)) + 1;
  }

  // Runs that take longer than `seconds` are given up.
  void try_some(const std::vector<candidate>& some, double seconds) {
    std::vector<measured_launch> launches;
    for (const candidate& c : some) launches.push_back(launch(c, most_cycles(c)));
    const correlation_runs runs(launches, options_.overrides, HEDDLE_VERSION);
    const double before = seconds_gone();
    // A store of the user keeps no runs that were cut short.
    const double most = folder_ ? std::ceil(std::max(1.0, seconds)) : 0;
    simulate(runs, static_cast<std::uint64_t>(most));
    used_ += some.size();
    const double each = (seconds_gone() - before) / static_cast<double>(some.size());
    each_ = std::max(each, seconds_gone() / static_cast<double>(used_ + 1));
    for (std::size_t k = 0; k < some.size(); ++k) {
      const point_result r = store_->read(runs.id(runs.run_of(k)));
      if (r.status == point_status::timeout) {  // the minutes are over
        result_.not_tried.push_back(some[k]);
        continue;
      }
      tried_change t{some[k], r.status, r.reason, {}};
      if (r.status == point_status::done) {
        t.costs = cost::of(json::parse(r.metrics));
      }
      result_.tried.push_back(std::move(t));
    }
  }

  // `most_seconds` of each run; 0: any number.
  void simulate(const correlation_runs& runs, std::uint64_t most_seconds) {
    const int signal = run_missing(runs, *store_, {options_.jobs, most_seconds, false, options_.progress});
    if (signal == 0) return;
    folder_.reset();
    end_by(signal, !options_.store.empty());
  }

  [[nodiscard]] std::vector<candidate> best() const {
    std::vector<candidate> all;
    for (const tried_change& t : result_.tried)
      if (all.size() < best_for_pairs && t.counts() && result_.saved(t, options_.what) > worth_a_pair)
        all.push_back(t.change);
    return all;
  }

  void write() const {
    result_files files;
    if (!options_.csv.empty()) files.add(options_.csv, whatif_csv(result_), "--csv");
    if (!options_.chart.empty()) files.add(options_.chart, whatif_svg(result_, options_.rows), "--chart");
    if (!options_.metrics.empty() || !options_.report.empty()) write_metrics(files);
    files.commit();
  }

  // Those of the machine as it is, with what was tried.
  void write_metrics(result_files& files) const {
    json metrics = base_;
    metrics["tried"] = tried_json(result_);
    const std::string text = metrics.dump(1) + "\n";
    if (!options_.metrics.empty()) files.add(options_.metrics, text, "--metrics");
    if (!options_.report.empty())
      files.add(options_.report, report_page(report_of_metrics({{options_.run, text}})), "--report");
  }

  [[nodiscard]] unsigned jobs() const { return options_.jobs != 0 ? options_.jobs : host_cores(); }

  const whatif_options& options_;
  std::unique_ptr<passing_folder> folder_;
  std::unique_ptr<result_store> store_;
  json base_;  // metrics
  whatif_result result_;
  std::uint64_t used_ = 0;  // runs
  double each_ = 0;         // seconds of the host for one, by those before
  clock::time_point started_ = clock::now();
};

}  // namespace

int whatif_command(const std::vector<std::string>& arguments) {
  whatif_options o;
  if (!parse(arguments, o)) return 0;
  return whatif_run(o).run();
}

}  // namespace heddle::testbench
