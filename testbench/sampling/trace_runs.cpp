// SPDX-License-Identifier: MIT
#include "testbench/sampling/trace_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/correlate/csv_table.h"
#include "testbench/files/result_files.h"
#include "testbench/sweep/plan/sha256.h"
#include "testbench/sweep/sweep_command.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr char result_name[] = "results";  // store and CSV of the sweep
constexpr char error_path[] = "kernels.0.sampled.error";

std::string quoted(const std::string& value) { return '"' + value + '"'; }

}  // namespace

trace_runs::trace_runs(const launch_list& list, trace_run_options o) : list_(list), options_(std::move(o)) {
  std::error_code failed;
  std::filesystem::create_directories(options_.folder + "/launches", failed);
  if (failed)
    throw input_error("--output: cannot make the folder '" + printable(options_.folder) + "': " + failed.message());
  find_same();
}

std::uint32_t trace_runs::first_before(std::uint32_t launch) const {
  return launch - static_cast<std::uint32_t>(std::min<std::uint64_t>(launch, options_.warm_up));
}

void trace_runs::find_same() {
  std::map<std::string, std::uint32_t> traces;
  std::vector<std::uint32_t> of_launch;
  std::map<sha256::digest, std::uint32_t> lists;
  for (std::uint32_t k = 0; k < list_.launches.size(); ++k) {
    of_launch.push_back(traces.emplace(list_.launches[k].trace, k).first->second);
    const std::uint32_t first = first_before(k);
    const auto digest = sha256().update(&of_launch[first], (k - first + 1) * sizeof of_launch[first]).finish();
    same_.push_back(lists.emplace(digest, k).first->second);
  }
}

std::string trace_runs::name_of_list(std::uint32_t launch) const {
  return fmt::format("launches/{:06}.g", same_[launch]);
}

std::string trace_runs::text_of_list(std::uint32_t launch) const {
  std::string text;
  for (std::uint32_t k = first_before(launch); k <= launch; ++k)
    text += (k < launch ? "Untimed," : "") + std::filesystem::absolute(list_.launches[k].trace).string() + "\n";
  return text;
}

void trace_runs::write_sweep(const std::vector<std::uint32_t>& launches) const {
  result_files files;
  std::map<std::string, std::string> lists;
  for (const std::uint32_t k : launches) lists.emplace(name_of_list(k), text_of_list(k));
  std::vector<std::string> names;
  for (const auto& [name, text] : lists) {
    const std::string path = options_.folder + "/" + name;
    if (!std::filesystem::exists(path) || read_file(path, "--output") != text) files.add(path, text, "--output");
    names.push_back(quoted(name));
  }
  const std::string metrics = cycles_path() + (options_.sample_error > 0 ? std::string(", ") + error_path : "");
  std::string text = fmt::format(
      "; Written by heddle sample: the launches that were drawn from {}.\n[sweep]\nstore = {}/{}.sqlite\n"
      "metrics = {}\n{}[axes]\ngpu = {}\n",
      one_line(list_.file), options_.folder, result_name, metrics,
      options_.sample_error > 0 ? fmt::format("sample_blocks = {}\n", 100 * options_.sample_error) : "",
      quoted(options_.gpu));
  for (const std::string& o : options_.overrides) {
    const std::size_t equals = o.find('=');
    if (equals == std::string::npos) throw input_error("--set: got '" + printable(o) + "', expected SECTION.KEY=VALUE");
    text += o.substr(0, equals) + " = " + quoted(o.substr(equals + 1)) + "\n";
  }
  text += "trace = " + join(names, ", ") + "\n";
  files.add(sweep_file(), text, "--output");
  files.commit();
}

std::string trace_runs::cycles_path() const {
  return options_.sample_error > 0 ? "kernels.0.sampled.cycles" : "kernels.0.cycles";
}

void trace_runs::read_results(launch_values& cycles, launch_values& errors) const {
  const std::string file = options_.folder + "/" + result_name + ".csv";
  const csv_table table = read_csv(read_file(file, "the results"), file, [](const csv_row& r) { return r.has("id"); });
  const bool sampled = options_.sample_error > 0;
  const std::size_t trace = table.column("trace"), status = table.column("status"), reason = table.column("reason"),
                    of_cycles = table.column(cycles_path()), of_error = sampled ? table.column(error_path) : of_cycles;
  struct result {
    double cycles = 0, error = 0;
  };
  std::map<std::string, result> known;
  for (const csv_row& row : table.rows) {
    result r;
    if (row.at(status) != "done" || !parse_float(row.at(of_cycles), r.cycles) ||
        (sampled && !parse_float(row.at(of_error), r.error)))
      throw input_error(printable(row.at(trace)) + ": " + row.at(status) + " " + one_line(row.at(reason)));
    known[row.at(trace)] = r;
  }
  for (std::uint32_t k = 0; k < list_.launches.size(); ++k) {
    const auto found = known.find(name_of_list(k));
    if (found == known.end()) continue;
    cycles[k] = found->second.cycles;
    if (sampled) errors[k] = found->second.error;
  }
}

int trace_runs::simulate(const std::vector<std::uint32_t>& launches, launch_values& cycles,
                         launch_values& errors) const {
  write_sweep(launches);
  std::vector<std::string> words = {sweep_file(), "--quiet", "--resume", "--confine",
                                    "/"};  // the list names its traces
  words.insert(words.end(), options_.sweep_words.begin(), options_.sweep_words.end());
  if (options_.no_wait) words.emplace_back("--no-wait");
  const int code = sweep_command(words);
  cycles.clear();
  errors.clear();
  if (code == 0 && !options_.no_wait) read_results(cycles, errors);
  return code;
}

}  // namespace heddle::testbench
