// SPDX-License-Identifier: MIT
#include "testbench/run/replay_command.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "testbench/options/log.h"
#include "testbench/run/run_command.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using sass_trace::trace_file;
using sass_trace::trace_oddities;

// Programs of Heddle are those of a compute capability, traces of a GPU those of a generation.
bool is_of(const sass_trace::trace_traits& t, int compute_capability) {
  const auto version = static_cast<unsigned>(compute_capability);
  sass_trace::generation own{};
  return t.own ? t.binary_version == version : sass_trace::generation_of(version, own) && t.generation == own;
}

void judge_generation(const run_options& o, const job& j, const gpu_config& config) {
  std::set<unsigned> foreign;
  const int own = compute_capability(config);
  for (const operation& op : j.operations)
    if (op.recording && !is_of(op.recording->traits(), own)) foreign.insert(op.recording->traits().binary_version);
  if (foreign.empty()) return;
  std::vector<std::string> versions;
  for (const unsigned v : foreign) versions.push_back(std::to_string(v));
  const std::string text = "traces of binary version " + join(versions, ", ") + " on " + config.gpu.name +
                           " (compute capability " + compute_capability_text(config) +
                           "), which is of another generation";
  if (o.strict) throw input_error(o.kernels_list + ": " + text + " (--strict)");
  message_log::warning(text + ": they are replayed with their own opcodes");
}

void warn_of_unknown_opcodes(const job& j) {
  std::map<std::string, std::uint64_t> unknown;
  for (const operation& op : j.operations)
    if (op.recording && op.recording->oddities() != nullptr)
      for (const auto& [opcode, times] : op.recording->oddities()->unknown) unknown[opcode] += times;
  if (unknown.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [opcode, times] : unknown) parts.push_back(opcode + " (" + grouped(times) + " times)");
  message_log::warning("opcodes that are not known, replayed as what their names resemble: " + join(parts, ", "));
}

// Traces omit blocks that did nothing, but a truncated trace also lacks blocks.
void warn_of_missing_blocks(const trace_file& t) {
  if (t.blocks() == t.traits().grid_blocks()) return;
  message_log::warning(t.file() + ": " + grouped(t.blocks()) + " of the " + grouped(t.traits().grid_blocks()) +
                       " blocks of kernel '" + t.kernel() +
                       "' are in the trace: the others did nothing, or it was cut off");
}

// What no real trace has, so that it is likely that one was edited or is from another tool.
void warn_of_oddities(const trace_file& t) {
  const trace_oddities* const odd = t.oddities();
  if (odd == nullptr) return;
  const std::string of = t.file() + ": kernel '" + t.kernel() + "' has ";
  std::vector<std::string> parts;
  const auto count = [&parts](std::uint64_t warps, const char* what) {
    if (warps != 0) parts.push_back(grouped(warps) + (warps == 1 ? " warp " : " warps ") + what);
  };
  count(odd->absent_warps, "without instructions");
  count(odd->warps_without_exit, "without EXIT at the end");
  count(odd->warps_after_exit, "with lanes that continue after EXIT");
  if (!parts.empty())
    message_log::warning(of + join(parts, ", ") +
                         ": they are replayed as recorded, and each ends with its last instruction");
  if (odd->bulk_copies != 0)
    message_log::warning(of + grouped(odd->bulk_copies) +
                         " bulk copies: they are replayed as instructions that move no data");
  if (!odd->unknown_keys.empty())
    message_log::warning(t.file() + ": keys of the head that are not known are ignored: -" +
                         join(odd->unknown_keys, ", -"));
}

// `warn` for each trace, in the order of the list.
template <class F>
void for_each_trace(const job& j, F&& warn) {
  std::unordered_set<const trace_file*> warned;
  for (const operation& op : j.operations)
    if (op.recording && warned.insert(op.recording.get()).second) warn(*op.recording);
}

/// Makes operations of a list's commands.
class trace_operations {
 public:
  explicit trace_operations(std::shared_ptr<sass_trace::trace_set> set) : set_(std::move(set)) {}

  /// Fills `op` by what `c` names. Throws input_error for a trace that cannot be read.
  void add(sass_trace::list_command& c, operation& op) {
    if (c.what == sass_trace::list_command::kind::copy_to_device) {
      // The data do not matter to a replay, but the host waited here.
      op.what = operation::kind::synchronise;
      return;
    }
    const auto known = read_.find(c.file);
    const auto trace = known != read_.end() ? known->second : std::make_shared<trace_file>(std::move(c.file), set_);
    if (known == read_.end()) read_.emplace(trace->file(), trace);
    trace->add_launch();
    op.recording = trace;
    op.position = position_++;
    op.at_cycle = trace->launch_cycle();
    op.stream = trace->traits().own
                    ? static_cast<std::uint32_t>(trace->stream())
                    : streams_.emplace(trace->stream(), static_cast<std::uint32_t>(streams_.size())).first->second;
  }

 private:
  std::shared_ptr<sass_trace::trace_set> set_;
  // CUDA's stream numbers may have 64 bits: Heddle numbers streams in the order of appearance.
  std::map<std::uint64_t, std::uint32_t> streams_;
  std::unordered_map<std::string_view, std::shared_ptr<trace_file>> read_;  // by the files' names
  unsigned position_ = 0;
};

}  // namespace

job job_of_traces(const std::string& kernels_list, bool strict, std::uint64_t memory_mib) {
  job j;
  j.name = kernels_list;
  j.in_order = true;
  const auto store = std::make_shared<sass_trace::trace_store>(
      memory_mib << 20, std::min<std::uint64_t>(memory_mib << 20, sass_trace::trace_store::most_kept_bytes));
  trace_operations make(std::make_shared<sass_trace::trace_set>(strict, store));
  std::deque<sass_trace::list_command> commands = sass_trace::read_kernels_list(kernels_list);
  j.operations.reserve(commands.size());
  for (; !commands.empty(); commands.pop_front()) {  // a long list is not in memory twice
    sass_trace::list_command& c = commands.front();
    if (c.what == sass_trace::list_command::kind::untimed) {
      j.untimed.push_back(std::move(c.file));
      continue;
    }
    operation& op = j.operations.emplace_back();
    op.where = kernels_list + ":" + std::to_string(c.line) + ":1";
    make.add(c, op);
  }
  return j;
}

int replay_command(const std::vector<std::string>& arguments) { return replay_from(arguments, nullptr); }

int replay_from(const std::vector<std::string>& arguments, std::shared_ptr<const checkpoint> from) {
  run_options o;
  o.resumes = std::move(from);
  std::string help;
  if (parse_replay(arguments, o, help)) {
    std::fputs(help.c_str(), stdout);
    return 0;
  }
  message_log::install(o.level);
  run_signals signals;
  file_roles roles;
  const gpu_config config = machine_of(o, roles);
  roles.add_input(o.kernels_list, "the list of kernels");
  for (const sass_trace::list_command& c : sass_trace::read_kernels_list(o.kernels_list))
    if (!c.file.empty()) roles.add_input(c.file, "a trace");
  check_result_files(o, job{}, std::move(roles));
  const job j = job_of_traces(o.kernels_list, o.strict, o.trace_memory_mib);
  if (o.cold && !j.untimed.empty())
    throw input_error(o.kernels_list + ": launches without time fill the L2, which --cold empties");
  judge_generation(o, j, config);
  warn_of_unknown_opcodes(j);
  for_each_trace(j, warn_of_missing_blocks);
  for_each_trace(j, warn_of_oddities);
  check_resumed(o, j, config);
  return simulate(o, j, config, signals);
}

}  // namespace heddle::testbench
