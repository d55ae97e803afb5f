// SPDX-License-Identifier: MIT
#include "testbench/correlate/correlate_command.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/correlate/correlation_runs.h"
#include "testbench/correlate/correlation_text.h"
#include "testbench/correlate/parameter_fit.h"
#include "testbench/correlate/run_missing.h"
#include "testbench/files/file_roles.h"
#include "testbench/files/passing_folder.h"
#include "testbench/files/result_files.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/log.h"
#include "testbench/options/option_tables.h"
#include "testbench/report/report_page.h"
#include "testbench/sweep/engine/local_engine.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

struct correlate_options {
  std::vector<std::string> files;
  export_options of_export;
  std::vector<std::string> overrides;
  bool long_too = false;
  std::vector<std::string> fit;
  unsigned jobs = 0;
  std::uint64_t timeout_seconds = 0;
  std::string store;
  std::string page;
  std::string csv;
  std::string json;
  std::string ini;
  double require = -1;  // percent; below 0: not given
  progress_mode progress = progress_mode::automatic;
  bool quiet = false;
};

double real(const option_parser& p, const char* option) {
  double value = 0;
  if (!parse_float(p.text(option), value) || !(value >= 0 && value < 1e12))
    p.fail(std::string("--") + option + ": got '" + p.text(option) + "', expected a number of 0 or more");
  return value;
}

/// Parses the arguments. False: --help was given, and its text has been printed.
bool parse(const std::vector<std::string>& arguments, correlate_options& o) {
  constexpr unsigned most_jobs = 100000;
  option_parser p = options_of_correlate();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return false;
  }
  o.files = p.positionals();
  if (o.files.empty()) p.fail("expected a suite, or what a profiler has exported");
  if (p.has("gpu")) o.of_export.gpu = p.text("gpu");
  o.of_export.runs = p.list("run");
  if (p.has("launch-cycles") && p.text("launch-cycles") == "gpu") o.of_export.launch_cycles.reset();
  else if (p.has("launch-cycles")) o.of_export.launch_cycles = real(p, "launch-cycles");
  o.overrides = p.list("set");
  o.long_too = p.has("long");
  if (p.has("jobs")) o.jobs = static_cast<unsigned>(p.number("jobs", 1, most_jobs));
  if (p.has("timeout")) o.timeout_seconds = p.number("timeout", 1, 1u << 30);
  if (p.has("fit")) {
    o.fit = split(p.text("fit"), ',');
    for (const char* option : {"output", "csv", "json", "require"})
      if (p.has(option))
        p.fail(std::string("--fit only prints what it finds; --") + option + " belongs to a comparison");
  }
  if (p.has("ini")) {
    if (o.fit.empty()) p.fail("--ini writes what --fit finds: give --fit, too");
    o.ini = p.text("ini");
    if (!ends(o.ini, ".ini")) p.fail("--ini: got '" + printable(o.ini) + "', expected FILE.ini");
  }
  if (p.has("store")) o.store = p.text("store");
  if (p.has("output")) o.page = p.text("output");
  if (!o.page.empty() && !ends(o.page, ".md") && !ends(o.page, ".html"))
    p.fail("--output: got '" + o.page + "', expected PAGE.html or PAGE.md");
  if (p.has("csv")) o.csv = p.text("csv");
  if (p.has("json")) o.json = p.text("json");
  if (p.has("require")) o.require = real(p, "require");
  if (p.has("progress")) o.progress = static_cast<progress_mode>(p.choice("progress"));
  o.quiet = p.has("quiet");
  return true;
}

// The day on which the page is made; SOURCE_DATE_EPOCH, if set, for builds that are to give the same bytes.
std::string today() {
  std::time_t now = std::time(nullptr);
  std::uint64_t given = 0;
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch != nullptr && parse_unsigned(epoch, given)) now = static_cast<std::time_t>(given);
  std::tm day{};
  ::gmtime_r(&now, &day);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

// The command as the page names it, without the options that change nothing on it.
std::string command_of(const std::vector<std::string>& arguments) {
  std::string text = "heddle correlate";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const auto is = [&a](const char* option) { return a == option || a.rfind(std::string(option) + "=", 0) == 0; };
    if (a == "--quiet") continue;
    if (is("--store") || is("--jobs") || is("--progress") || is("--timeout")) {
      if (a.find('=') == std::string::npos) ++i;  // its value
      continue;
    }
    text += " " + shell_quoted(a);
  }
  return text;
}

/// One run of the command.
class correlate_run {
 public:
  correlate_run(const correlate_options& o, const std::vector<std::string>& arguments) : options_(o) {
    whole_.files = o.files;
    whole_.version = HEDDLE_VERSION;
    whole_.date = today();
    whole_.command = command_of(arguments);
    read();
    runs_ = std::make_unique<correlation_runs>(launches_, o.overrides, HEDDLE_VERSION);
    if (!o.fit.empty()) parameter_fit(launches_, o.fit, o.overrides, nullptr);  // checks the keys
    if (!o.ini.empty())
      for (const measured_launch& m : launches_)
        if (m.gpu != launches_.front().gpu)
          throw input_error("--ini is for one chip, but the rows are of '" + printable(launches_.front().gpu) +
                            "' and '" + printable(m.gpu) + "': choose one with --gpu");
    check_files();
  }

  int run() {
    if (options_.store.empty()) folder_ = std::make_unique<passing_folder>("heddle-correlate");
    const result_store store(folder_ ? folder_->path() + "/runs" : options_.store, HEDDLE_VERSION);
    store.check();
    store.create();
    if (!options_.fit.empty()) return fit(store);
    simulate(*runs_, store);
    compare_all(store);
    write();
    if (!options_.quiet) std::fputs(correlation_text(whole_, stdout_style()).c_str(), stdout);
    return judge();
  }

 private:
  void read() {
    for (const std::string& file : options_.files) {
      measurements m = read_measurements(file, options_.of_export);
      for (measured_launch& l : m.launches) {
        if (l.is_long && !options_.long_too) ++whole_.left_out;
        else launches_.push_back(std::move(l));
      }
      whole_.ignored.insert(whole_.ignored.end(), m.ignored.begin(), m.ignored.end());
    }
    if (launches_.empty())
      throw input_error("all " + grouped(whole_.left_out) + " rows are labelled long: --long runs them");
  }

  void check_files() const {
    file_roles roles;
    for (const std::string& file : options_.files) roles.add_input(file, "measurements");
    runs_->add_inputs(roles);
    if (!options_.page.empty()) roles.add_output(options_.page, "--output");
    if (!options_.csv.empty()) roles.add_output(options_.csv, "--csv");
    if (!options_.json.empty()) roles.add_output(options_.json, "--json");
    if (!options_.ini.empty()) roles.add_output(options_.ini, "--ini");
  }

  void simulate(const correlation_runs& runs, const result_store& store) {
    const int signal = run_missing(runs, store, {options_.jobs, options_.timeout_seconds, true, options_.progress});
    if (signal == 0) return;
    folder_.reset();
    end_by(signal, !options_.store.empty());
  }

  int fit(const result_store& store) {
    parameter_fit search(launches_, options_.fit, options_.overrides,
                         [&](const std::vector<measured_launch>& launches) {
                           const correlation_runs runs(launches, options_.overrides, HEDDLE_VERSION);
                           simulate(runs, store);
                           std::vector<compared_launch> compared;
                           for (std::size_t i = 0; i < launches.size(); ++i)
                             compared.push_back(compare(launches[i], store.read(runs.id(runs.run_of(i)))));
                           return compared;
                         });
    const std::vector<fitted_parameter> fitted = search.search();
    result_files files;
    if (!options_.ini.empty()) files.add(options_.ini, fit_ini(fitted, fs::path(options_.ini).stem().string()));
    files.commit();
    if (!options_.quiet) std::fputs(fit_text(fitted).c_str(), stdout);
    return 0;
  }

  void compare_all(const result_store& store) {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const measured_launch& m = launches_[i];
      auto chip = std::find_if(whole_.chips.begin(), whole_.chips.end(),
                               [&](const chip_comparison& c) { return c.gpu == m.gpu; });
      if (chip == whole_.chips.end()) chip = whole_.chips.insert(chip, {m.gpu, {}});
      chip->launches.push_back(compare(m, store.read(runs_->id(runs_->run_of(i)))));
    }
  }

  void write() const {
    result_files files;
    if (!options_.page.empty())
      files.add(options_.page,
                ends(options_.page, ".md") ? correlation_markdown(whole_) : report_page(correlation_json(whole_)));
    if (!options_.csv.empty()) files.add(options_.csv, correlation_csv(whole_));
    if (!options_.json.empty()) files.add(options_.json, correlation_json(whole_) + "\n");
    files.commit();
  }

  [[nodiscard]] int judge() const {
    int code = 0;
    for (const chip_comparison& chip : whole_.chips) {
      for (const compared_launch& l : chip.launches) {
        if (l.failure.empty()) continue;
        message_log::error(one_line(l.measured->where + ": " + l.measured->kernel + ": " + l.failure));
        code = 1;
      }
      if (options_.require < 0 || chip.counted() == 0 || 100 * chip.mean_error() <= options_.require) continue;
      message_log::error(chip.gpu + ": " + figures_text(chip) + "; --require is " + std::to_string(options_.require) +
                         " %");
      code = 1;
    }
    return code;
  }

  const correlate_options& options_;
  std::vector<measured_launch> launches_;
  std::unique_ptr<correlation_runs> runs_;
  std::unique_ptr<passing_folder> folder_;
  correlation whole_;
};

}  // namespace

int correlate_command(const std::vector<std::string>& arguments) {
  correlate_options o;
  if (!parse(arguments, o)) return 0;
  return correlate_run(o, arguments).run();
}

}  // namespace heddle::testbench
