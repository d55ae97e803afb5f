// SPDX-License-Identifier: MIT
#include "testbench/run/replay_command.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "heddle/frontend/sass_trace/read/kernels_list.h"
#include "heddle/frontend/sass_trace/replay/read_kernel.h"
#include "testbench/options/log.h"
#include "testbench/run/run_command.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using kernel_ptr = std::shared_ptr<const sass_trace::trace_kernel>;

// Programs of Heddle are those of a compute capability, traces of a GPU those of a generation.
bool is_of(const sass_trace::kernel_header& h, int compute_capability) {
  const auto version = static_cast<unsigned>(compute_capability);
  sass_trace::generation own{};
  return h.own ? h.binary_version == version : sass_trace::generation_of(version, own) && h.generation == own;
}

void judge_generation(const run_options& o, const job& j, const gpu_config& config) {
  std::set<unsigned> foreign;
  for (const operation& op : j.operations)
    if (op.recording && !is_of(op.recording->header, compute_capability(config)))
      foreign.insert(op.recording->header.binary_version);
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
    if (op.recording)
      for (const auto& [opcode, times] : op.recording->unknown) unknown[opcode] += times;
  if (unknown.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [opcode, times] : unknown) parts.push_back(opcode + " (" + grouped(times) + " times)");
  message_log::warning("opcodes that are not known, replayed as what their names resemble: " + join(parts, ", "));
}

// Traces omit blocks that did nothing, but a truncated trace also lacks blocks.
void warn_of_missing_blocks(const job& j) {
  std::set<const sass_trace::trace_kernel*> warned;
  for (const operation& op : j.operations) {
    const auto& k = op.recording;
    if (!k || k->blocks == k->header.blocks() || !warned.insert(k.get()).second) continue;
    message_log::warning(k->file + ": " + grouped(k->blocks) + " of the " + grouped(k->header.blocks()) +
                         " blocks of kernel '" + k->header.name +
                         "' are in the trace: the others did nothing, or it was cut off");
  }
}

// What no real trace has, so that it is likely that one was edited or is from another tool.
void warn_of_oddities(const job& j) {
  std::set<const sass_trace::trace_kernel*> warned;
  for (const operation& op : j.operations) {
    const auto& k = op.recording;
    if (!k || !warned.insert(k.get()).second) continue;
    std::vector<std::string> parts;
    const auto count = [&parts](std::uint64_t warps, const char* what) {
      if (warps != 0) parts.push_back(grouped(warps) + (warps == 1 ? " warp " : " warps ") + what);
    };
    count(k->absent_warps, "without instructions");
    count(k->warps_without_exit, "without EXIT at the end");
    count(k->warps_after_exit, "with lanes that continue after EXIT");
    if (!parts.empty())
      message_log::warning(k->file + ": kernel '" + k->header.name + "' has " + join(parts, ", ") +
                           ": they are replayed as recorded, and each ends with its last instruction");
    if (k->bulk_copies != 0)
      message_log::warning(k->file + ": kernel '" + k->header.name + "' has " + grouped(k->bulk_copies) +
                           " bulk copies: they are replayed as instructions that move no data");
    if (!k->header.unknown_keys.empty())
      message_log::warning(k->file + ": keys of the head that are not known are ignored: -" +
                           join(k->header.unknown_keys, ", -"));
  }
}

}  // namespace

job job_of_traces(const std::string& kernels_list, bool strict, std::uint64_t memory_mib) {
  job j;
  j.name = kernels_list;
  j.in_order = true;
  std::map<std::uint64_t, std::uint32_t>
      streams;  // CUDA's stream numbers may have 64 bits: Heddle numbers streams in the order of appearance
  std::map<std::string, kernel_ptr> read;
  const auto store = std::make_shared<sass_trace::trace_store>(
      memory_mib << 20, std::min<std::uint64_t>(memory_mib << 20, sass_trace::trace_store::most_kept_bytes));
  for (const sass_trace::list_command& c : sass_trace::read_kernels_list(kernels_list)) {
    operation op;
    op.where = kernels_list + ":" + std::to_string(c.line) + ":1";
    if (c.what == sass_trace::list_command::kind::copy_to_device) {
      // The data do not matter to a replay, but the host waited here.
      op.what = operation::kind::synchronise;
    } else {
      kernel_ptr& kernel = read[c.file];
      if (!kernel) kernel = sass_trace::read_kernel(c.file, strict, store);
      op.recording = kernel;
      op.at_cycle = kernel->header.launch_cycle;
      op.stream =
          kernel->header.own
              ? static_cast<std::uint32_t>(kernel->header.stream)
              : streams.emplace(kernel->header.stream, static_cast<std::uint32_t>(streams.size())).first->second;
    }
    j.operations.push_back(op);
  }
  unsigned position = 0;
  for (operation& op : j.operations)
    if (op.what == operation::kind::kernel) op.position = position++;
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
    if (c.what == sass_trace::list_command::kind::kernel) roles.add_input(c.file, "a trace");
  check_result_files(o, job{}, std::move(roles));
  const job j = job_of_traces(o.kernels_list, o.strict, o.trace_memory_mib);
  judge_generation(o, j, config);
  warn_of_unknown_opcodes(j);
  warn_of_missing_blocks(j);
  warn_of_oddities(j);
  check_resumed(o, j, config);
  return simulate(o, j, config, signals);
}

}  // namespace heddle::testbench
