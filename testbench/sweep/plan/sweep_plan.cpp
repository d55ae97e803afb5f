// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "heddle/config/config.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/config/parameter_table.h"
#include "heddle/config/shipped.h"
#include "heddle/config/suggestion.h"
#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "testbench/files/file_access.h"
#include "testbench/files/file_roles.h"
#include "testbench/job/job_parser.h"
#include "testbench/sweep/plan/job_digest.h"
#include "testbench/sweep/plan/launch_axes.h"
#include "testbench/sweep/plan/metric_path.h"
#include "testbench/sweep/plan/sha256.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t most_points = 1'000'000;  // limit without --yes
constexpr std::uint64_t most_ever = 100'000'000;  // limit with --yes; each point takes some 30 bytes

bool is_workload(const std::string& axis) { return axis == "job" || axis == "trace"; }

// load_config takes names of shipped GPUs and file names; file names are relative to the sweep file.
std::string gpu_name(const sweep_file& file, const std::string& written) {
  const std::string ending = ".ini";
  const bool ini =
      written.size() > ending.size() && written.compare(written.size() - ending.size(), ending.size(), ending) == 0;
  if (!ini && written.find('/') == std::string::npos) return written;
  const std::string path = file.path(written);
  return path.find('/') == std::string::npos ? "./" + path : path;
}

// A replay reads its trace files again, block by block, so they are checked for changes.
// `digests`: of those that other lists have named.
std::string trace_digest(const std::string& list, const std::string& where, const file_access& access,
                         std::vector<file_version>& files, std::map<std::string, std::string>& digests) {
  sha256 hash;
  hash.field("trace").field(read_file(list, where));
  std::set<std::string> seen;
  for (const sass_trace::list_command& c : sass_trace::read_kernels_list(list)) {
    if (c.file.empty() || !seen.insert(c.file).second) continue;
    access.check(c.file, list + ":" + std::to_string(c.line) + ":1");
    files.emplace_back(c.file);
    std::string& digest = digests[c.file];
    if (digest.empty()) digest = hex(sha256().field(file_access().read(c.file, "trace")).finish());
    hash.field(digest);
  }
  return hex(hash.finish());
}

/// PTX begins with comments or .version, JSON with neither.
bool is_ptx(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '/' || text[first] == '.') &&
         text.find(".version") != std::string::npos;
}

}  // namespace

sweep_plan::sweep_plan(sweep_file file, std::string version, const trace_reader& traces, bool any_size)
    : file_(std::move(file)), version_(std::move(version)), space_(file_.axes) {
  check_axes();
  if (space_.size() > (any_size ? most_ever : most_points)) {
    throw input_error(printable(file_.file) + ": the product of the axes has " + grouped(space_.size()) +
                      " points, more than " +
                      (any_size ? grouped(most_ever) : grouped(most_points) + " (--yes runs them all the same)"));
  }
  read_workloads(traces);
  check_metrics();
  check_launch_axes();
  enumerate();
}

void sweep_plan::check_axes() {
  std::vector<std::string> gpus = {default_gpu()};
  std::string where = printable(file_.file);
  for (const sweep_axis& a : file_.axes)
    if (a.name == "gpu") {
      gpus = a.values;
      where = a.where;
    }
  std::vector<gpu_config> bases;
  for (const std::string& gpu : gpus) {
    config_reading how;
    how.read_base = reader_of_bases(file_.confine, gpu_name(file_, gpu));
    try {
      bases.push_back(load_config(gpu_name(file_, gpu), {}, how));
    } catch (const input_error& e) {
      throw input_error(where + ": " + e.what());
    }
    const std::vector<std::string>& former = how.former_names;
    file_.former_names.insert(file_.former_names.end(), former.begin(), former.end());
    gpu_files_.insert(gpu_files_.end(), how.files.begin(), how.files.end());
    gpus_.try_emplace(gpu, bases.back());
  }
  for (std::size_t i = 0; i < file_.axes.size(); ++i) {
    const sweep_axis& a = file_.axes[i];
    if (a.name == "gpu" || is_workload(a.name)) continue;
    if (!is_launch_axis(a.name)) {
      config_axes_.push_back(i);
      for (gpu_config& base : bases) check_parameter(a, base);
      continue;
    }
    launch_axes_.push_back(i);
    for (const std::string& value : a.values) {
      try {
        check_launch_value(a.name, value);
      } catch (const input_error& e) {
        throw input_error(a.where + ": " + e.what());
      }
    }
  }
}

void sweep_plan::check_parameter(const sweep_axis& axis, gpu_config& base) const {
  const parameter* p = find_parameter(axis.name);
  if (p == nullptr) {
    std::vector<std::string> names = launch_axes();
    names.insert(names.end(), {"gpu", "job", "trace"});
    for (const parameter& known : parameters()) names.push_back(known.name());
    throw input_error(axis.where + ": unknown parameter '" + printable(axis.name) + "'" + suggestion(axis.name, names));
  }
  const parameter_reference value_of_base{p, p->in(base)};
  const auto* const chosen = std::get_if<choice_value>(&value_of_base.value);
  const bool is_memory_model = chosen != nullptr && static_cast<void*>(chosen->number) == &base.memory.model;
  const std::string before = text_of(value_of_base);
  for (const std::string& value : axis.values) {
    std::string expected = set_text(value_of_base, value);
    double number = 0;
    if (expected.empty() && p->is_number() && parse_float(value, number) && !p->range.holds(number))
      expected = p->range.text();
    if (expected.empty() && is_memory_model && base.memory.model == choice::memory_model::external)
      expected = "dram or fixed; external is for programs with a memory of their own";
    if (!expected.empty())
      throw input_error(axis.where + ": " + axis.name + ": got '" + printable(value) + "', expected " + expected);
  }
  set_text(value_of_base, before);
}

// Why a condition that compares a variable with this text is never true, or never false; empty: it may be either.
std::string sweep_plan::wrong_value(const std::string& written, const std::string& text) const {
  const std::string name = current_name(written);
  std::vector<std::string> known;
  for (const sweep_axis& a : file_.axes)
    if (a.name == name) known = a.values;
  if (std::find(known.begin(), known.end(), text) != known.end()) return "";
  const parameter* p = find_parameter(name);
  double number = 0;
  const bool is_number = parse_float(text, number);
  if (is_launch_axis(name) && has_numbers(name)) return is_number ? "" : "a number or a value of the axis";
  if (p != nullptr && p->is_number()) return is_number ? "" : "a number";
  if (p != nullptr && p->is_choice()) known = p->choices;
  else if (p != nullptr && p->is_text) return "";
  else if (p != nullptr) known = {"true", "false"};
  else if (known.empty()) known = {default_gpu()};
  if (std::find(known.begin(), known.end(), text) != known.end()) return "";
  return join(known, ", ") + suggestion(text, known);
}

void sweep_plan::read_workload(const std::string& written, bool trace, const std::string& where,
                               const trace_reader& traces) {
  const std::string path = file_.path(written);
  const auto slash = path.rfind('/');
  const std::string own_folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const file_access access(file_.confine.empty() ? own_folder : file_.confine,
                           file_.confine.empty() ? "job" : "--confine");
  workload w;
  if (trace) {
    w.digest = trace_digest(path, where, access, w.replayed, trace_digests_);
    w.what = traces(path);
  } else {
    const std::string text = read_file(path, where);
    if (is_ptx(text))
      throw input_error(
          where + ": '" + printable(written) +
          "' is PTX, expected a job in JSON, which names it as \"module\" and says how its kernels are launched");
    w.what = parse_job(text, path, access);
    w.digest = job_digest(text, w.what);
  }
  // Points run concurrently for their metrics only: outputs are reduced to comparisons.
  for (output& o : w.what.outputs) {
    if (!o.file.empty()) access.check_new(o.file, o.where);
    o.file.clear();
  }
  w.what.outputs.erase(
      std::remove_if(w.what.outputs.begin(), w.what.outputs.end(), [](const output& o) { return o.expect.empty(); }),
      w.what.outputs.end());
  if (!trace) validate(w.what);
  workloads_[written] = std::move(w);
}

void sweep_plan::add_inputs(file_roles& roles) const {
  roles.add_input(file_.file, "the sweep");
  for (const std::string& file : gpu_files_) roles.add_input(file, "a GPU");
  for (const auto& [name, w] : workloads_) {
    roles.add_input(file_.path(name), "a workload");
    if (w.replayed.empty()) add_files(w.what, roles);
    for (const file_version& trace : w.replayed) roles.add_input(trace.name(), "a trace");
  }
}

void sweep_plan::read_workloads(const trace_reader& traces) {
  if (!file_.job.empty()) read_workload(file_.job, false, file_.settings_where.at("job"), traces);
  if (!file_.trace.empty()) read_workload(file_.trace, true, file_.settings_where.at("trace"), traces);
  for (const sweep_axis& a : file_.axes) {
    if (!is_workload(a.name)) continue;
    for (const std::string& value : a.values) read_workload(value, a.name == "trace", a.where, traces);
  }
}

void sweep_plan::check_launch_axes() const {
  for (const std::size_t axis : launch_axes_) {
    for (const auto& [name, w] : workloads_) {
      try {
        check_launch_axis(file_.axes[axis].name, w.what);
      } catch (const input_error& e) {
        throw input_error(file_.axes[axis].where + ": " + e.what());
      }
    }
  }
}

const std::string* sweep_plan::axis_value(const std::string& name, std::uint64_t number) const {
  for (std::size_t i = 0; i < file_.axes.size(); ++i)
    if (file_.axes[i].name == name) return &space_.value(number, i);
  return nullptr;
}

std::string sweep_plan::variable_at(const std::string& written, std::uint64_t number) {
  const std::string name = current_name(written);
  if (const std::string* value = axis_value(name, number)) return *value;
  return name == "gpu" ? default_gpu() : gpus_.at(gpu_at(number)).value(name, overrides_at(number));
}

void sweep_plan::enumerate() {
  std::set<std::string> known = {"gpu"};
  for (const auto& [key, value] : flatten(gpu_config())) known.insert(key);
  for (const sweep_axis& a : file_.axes) known.insert(a.name);
  std::vector<constraint> constraints;
  for (const sweep_constraint& c : file_.constraints) {
    constraints.emplace_back(
        c,
        [&](const std::string& name) {
          if (current_name(name) != name) file_.former_names.push_back(name);
          return known.count(current_name(name)) != 0;
        },
        std::vector<std::string>(known.begin(), known.end()),
        [this](const std::string& name, const std::string& text) { return wrong_value(name, text); });
    dropped_.emplace_back(c.name, 0);
  }
  for (std::uint64_t number = 0; number < space_.size(); ++number) {
    bool dropped = false;
    for (std::size_t i = 0; i < constraints.size() && !dropped; ++i) {
      dropped = constraints[i].holds([&](const std::string& name) { return variable_at(name, number); });
      if (dropped) ++dropped_[i].second;
    }
    if (dropped) continue;
    numbers_.push_back(number);
    ids_.push_back(make_id(number));
  }
}

sweep_plan::point_id sweep_plan::make_id(std::uint64_t number) {
  sha256 hash;
  hash.field("heddle.point/1").field(version_).field(gpus_.at(gpu_at(number)).text(overrides_at(number)));
  hash.field(workload_at(number).digest).field(std::to_string(file_.max_cycles));
  if (file_.sample_error > 0) hash.field("sample_blocks").field(std::to_string(file_.sample_error));
  // Sorted by name, so that the order in the file does not matter.
  std::map<std::string, std::string> launch;
  for (const std::size_t axis : launch_axes_) launch[file_.axes[axis].name] = space_.value(number, axis);
  for (const auto& [name, value] : launch) hash.field(name).field(value);
  const sha256::digest digest = hash.finish();
  point_id id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

std::string sweep_plan::id_text(std::size_t point) const {
  sha256::digest digest{};
  std::copy(ids_[point].begin(), ids_[point].end(), digest.begin());
  return hex(digest, ids_[point].size());
}

std::string sweep_plan::description(std::size_t point) const {
  std::string text;
  for (std::size_t i = 0; i < file_.axes.size(); ++i)
    text += (i ? " " : "") + file_.axes[i].name + "=" + value(point, i);
  return text;
}

const std::string& sweep_plan::gpu_at(std::uint64_t number) const {
  const std::string* gpu = axis_value("gpu", number);
  return gpu ? *gpu : default_gpu();
}

effective_values::overrides sweep_plan::overrides_at(std::uint64_t number) const {
  effective_values::overrides result;
  for (const std::size_t axis : config_axes_) result.emplace_back(file_.axes[axis].name, &space_.value(number, axis));
  return result;
}

gpu_config sweep_plan::config_of(std::size_t point) const {
  gpu_config config = gpus_.at(gpu_at(numbers_[point])).config(overrides_at(numbers_[point]));
  if (config.memory.model == choice::memory_model::external)
    throw input_error("memory.model = external is for programs with a memory of their own");
  return config;
}

std::vector<std::string> sweep_plan::idle_axes() const {
  constexpr std::size_t most_sampled = 4096;  // a large sweep is sampled at equal distances
  struct finding {
    std::string why;
    bool acts = false;
  };
  std::map<std::string, std::map<std::string, finding>> found;  // by axis and GPU
  const std::size_t step = size() / most_sampled + 1;
  for (std::size_t p = 0; p < size(); p += step) {
    gpu_config config;
    try {
      config = config_of(p);
    } catch (const input_error&) {
      continue;  // the point will be rejected
    }
    for (const std::size_t axis : config_axes_) {
      const std::string& name = file_.axes[axis].name;
      const std::string why = why_without_effect(config, name);
      finding& f = found[name][gpu_at(numbers_[p])];
      f.acts = f.acts || why.empty();
      if (!why.empty()) f.why = why;
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [axis, by_gpu] : found) {
    std::string gpus, why;
    for (const auto& [gpu, f] : by_gpu) {
      if (f.acts) continue;
      gpus += (gpus.empty() ? "" : ", ") + gpu;
      why = f.why;
    }
    if (!gpus.empty()) sentences.push_back("axis " + axis + " may change nothing on " + gpus + ": " + why);
  }
  return sentences;
}

const sweep_plan::workload& sweep_plan::workload_at(std::uint64_t number) const {
  for (const char* axis : {"job", "trace"})
    if (const std::string* value = axis_value(axis, number)) return workloads_.at(*value);
  return workloads_.at(file_.job.empty() ? file_.trace : file_.job);
}

std::string sweep_plan::changed_input(std::size_t point) const {
  for (const file_version& f : workload_at(numbers_[point]).replayed)
    if (f.changed()) return f.name();
  return "";
}

job sweep_plan::job_of(std::size_t point) const {
  job j = workload_at(numbers_[point]).what;
  for (const std::size_t axis : launch_axes_) apply_launch_axis(file_.axes[axis].name, value(point, axis), j);
  return j;
}

}  // namespace heddle::testbench
