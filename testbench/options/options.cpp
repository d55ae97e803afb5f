// SPDX-License-Identifier: MIT
#include "testbench/options/options.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "testbench/options/exclusive_options.h"
#include "testbench/options/host_cores.h"
#include "testbench/options/option_tables.h"
#include "testbench/text/shell_words.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

void read_gpu_options(const option_parser& p, std::string& gpu, std::vector<std::string>& overrides) {
  if (p.has("gpu")) gpu = p.text("gpu");
  overrides = p.list("set");
}

constexpr std::uint64_t usual_view_cycles = 400;

// Options that belong to a call, not to what is simulated.
bool is_of_one_call(const std::string& option) {
  for (const char* name : {"threads", "progress", "log-level", "quiet"})
    if (option == name) return true;
  return false;
}

void read_dimensions(const option_parser& p, const std::string& option, std::uint32_t (&out)[3]) {
  const auto parts = split(p.text(option), ',');
  bool good = parts.size() <= 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    std::uint64_t value = 0;
    good = parse_unsigned(parts[i], value) && value > 0 && value <= largest_u32;
    out[i] = static_cast<std::uint32_t>(value);
  }
  if (!good) p.fail(p.written(option) + ": got '" + p.text(option) + "', expected X[,Y[,Z]], whole numbers above 0");
}

void read_launch(const option_parser& p, run_options& o) {
  const bool single = p.has("kernel");
  if (single != p.positionals().empty()) p.fail("expected either a job file or --kernel");
  if (!single) {
    o.job_file = p.positionals()[0];
    for (const char* option : {"grid", "block", "cluster", "non-portable-cluster", "shared-bytes", "carveout",
                               "registers-per-thread", "arg"}) {
      if (p.has(option)) p.fail(p.written(option) + " belongs to --kernel; a job file says it itself");
    }
    return;
  }
  split_kernel(p.text("kernel"), o.kernel_file, o.kernel);
  for (const char* option : {"grid", "block"}) {
    if (!p.has(option)) p.fail(std::string("--kernel needs --") + option);
  }
  read_dimensions(p, "grid", o.grid);
  read_dimensions(p, "block", o.block);
  if (p.has("cluster")) {
    std::fill(std::begin(o.cluster.blocks), std::end(o.cluster.blocks), 1u);
    read_dimensions(p, "cluster", o.cluster.blocks);
  }
  o.cluster.non_portable = p.has("non-portable-cluster");
  if (p.has("shared-bytes")) o.shared_bytes = static_cast<std::uint32_t>(p.number("shared-bytes", 0, largest_u32));
  if (p.has("carveout")) o.carveout = static_cast<std::int32_t>(p.number("carveout", 0, 100));
  if (p.has("registers-per-thread"))
    o.registers = static_cast<std::uint32_t>(p.number("registers-per-thread", 1, 65535));
  o.arguments = p.list("arg");
}

void read_views(const option_parser& p, run_options& o) {
  if (p.has("metrics")) o.metrics_file = p.text("metrics");
  if (p.has("report")) o.report_file = p.text("report");
  if (p.has("vcd")) o.vcd_file = p.text("vcd");
  if (p.has("record")) o.record_folder = p.text("record");
  if (p.has("timeline")) o.timeline_file = p.text("timeline");
  if (p.has("pipeline")) o.pipeline_file = p.text("pipeline");
  if (p.has("trace-scope")) {
    o.trace_scope = p.text("trace-scope");
    if (o.vcd_file.empty() && o.pipeline_file.empty()) p.fail("--trace-scope belongs to --vcd or --pipeline");
    const auto globs = split(o.trace_scope, ',');
    if (std::find(globs.begin(), globs.end(), "") != globs.end())
      p.fail("--trace-scope: got '" + o.trace_scope + "', expected GLOB[,GLOB], none of them empty");
  }
  if (p.has("trace-window")) {
    if (o.vcd_file.empty() && o.timeline_file.empty() && o.pipeline_file.empty())
      p.fail("--trace-window belongs to --vcd, --timeline or --pipeline");
    const auto parts = split(p.text("trace-window"), ':');
    if (parts.size() != 2 || !parse_unsigned(parts[0], o.trace_begin) || !parse_unsigned(parts[1], o.trace_end) ||
        o.trace_begin >= o.trace_end) {
      p.fail("--trace-window: got '" + p.text("trace-window") + "', expected A:B, two cycles with A < B");
    }
  }
}

void read_simulation_options(const option_parser& p, run_options& o) {
  read_views(p, o);
  o.quiet = p.has("quiet");
  if (p.has("max-cycles")) o.max_cycles = p.number("max-cycles", 1, std::numeric_limits<std::uint64_t>::max());
  if (p.has("cold") && p.has("warm")) p.fail("--cold and --warm exclude each other");
  o.cold = p.has("cold");
  o.threads_named = p.has("threads");
  o.threads = o.threads_named ? static_cast<unsigned>(p.number("threads", 1, most_threads)) : usual_threads();
  o.serves = p.has("serve");
  if (o.serves) o.serve_port = static_cast<std::uint16_t>(p.number("serve", 0, 65535));
  o.serve_control = p.has("serve-control");
  if (o.serve_control && !o.serves) p.fail("--serve-control belongs to --serve");
  if (p.has("progress")) o.progress = static_cast<progress_mode>(p.choice("progress"));
  if (p.has("log-level")) o.level = static_cast<log_level>(p.choice("log-level"));
}

void read_sanitizer(const option_parser& p, run_options& o) {
  o.sanitizes = p.has("sanitize");
  if (o.sanitizes) o.sanitize = p.text("sanitize");
  if (!p.has("sanitize-json")) return;
  if (!o.sanitizes) p.fail("--sanitize-json belongs to --sanitize");
  o.sanitize_file = p.text("sanitize-json");
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = utf8_sequence(text, at);
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

// Parses the choice of launches, such as "3,17-20".
void read_choice(const option_parser& p, launch_choice& c) {
  c.none = p.has("skip-functional");
  c.names = p.list("kernel-name");
  for (const std::string& name : c.names)
    if (!is_utf8(name)) p.fail("--kernel-name: got '" + name + "', expected a pattern in UTF-8");
  // All launches but the chosen ones are functional.
  if (c.none && (p.has("launches") || !c.names.empty())) c.none = false;
  if (!p.has("launches")) return;
  for (const std::string& part : split(p.text("launches"), ',')) {
    const auto ends = split(part, '-');
    launch_choice::range r;
    if (ends.empty() || ends.size() > 2 || !parse_unsigned(ends.front(), r.first) ||
        !parse_unsigned(ends.back(), r.last) || r.first > r.last)
      p.fail("--launches: got '" + p.text("launches") +
             "', expected numbers and ranges of launches, from 0 on, such as 3,17-20");
    c.numbers.push_back(r);
  }
}

// The words that `heddle view` takes for the same run.
std::string view_of(const option_parser& p) {
  std::string text = "heddle view";
  for (const std::string& file : p.positionals()) text += " " + shell_quoted(file);
  const option_parser view = options_of_view();
  for (const option_group& g : view.groups())
    for (const option_entry& o : g.options) {
      if (!p.has(o.name) || is_of_one_call(o.name)) continue;
      if (o.meaning.empty()) text += " --" + o.name;
      else
        for (const std::string& value : o.repeatable ? p.list(o.name) : std::vector<std::string>{p.text(o.name)})
          text += " --" + o.name + " " + shell_quoted(value);
    }
  return text;
}

// "[TRACE:]ADDRESS". An instruction of a recorded kernel has its address as its line.
void read_address(const option_parser& p, run_options& o) {
  if (p.has("line")) p.fail("expected either --line or --pc");
  const std::string& text = p.text("pc");
  const std::size_t colon = text.rfind(':');
  const std::string address = colon == std::string::npos ? text : text.substr(colon + 1);
  std::size_t used = 0;
  unsigned long value = 0;
  if (!address.empty() && address.find_first_not_of("0123456789abcdefABCDEFxX") == std::string::npos) try {
      value = std::stoul(address, &used, 16);
    } catch (const std::exception&) {
      used = 0;
    }
  if (used == 0 || used != address.size() || value > largest_u32 || colon == 0)
    p.fail("--pc: got '" + printable(text) + "', expected [TRACE:]ADDRESS, such as 0x120 or kernel-3.traceg:0x120");
  o.watched.file = colon == std::string::npos ? "" : text.substr(0, colon);
  o.watched.line = static_cast<std::uint32_t>(value);
}

void read_line(const option_parser& p, run_options& o) {
  constexpr std::uint64_t least_cycles = 16, most_cycles = 100000000;
  o.watched.cycles = p.has("cycles") ? p.number("cycles", least_cycles, most_cycles) : usual_view_cycles;
  if (p.has("pc")) return read_address(p, o);
  if (!p.has("line")) p.fail("expected --line FILE:LINE");
  const std::string& text = p.text("line");
  const std::size_t colon = text.rfind(':');
  std::uint64_t line = 0;
  if (colon == std::string::npos || colon == 0 || !parse_unsigned(text.substr(colon + 1), line) || line == 0 ||
      line > largest_u32)
    p.fail("--line: got '" + printable(text) + "', expected FILE:LINE, such as kernel.cu:42 or kernel.ptx:42");
  o.watched.file = text.substr(0, colon);
  o.watched.line = static_cast<std::uint32_t>(line);
}

bool is_list_of_kernels(const std::string& file) {
  return file.size() > 2 && file.compare(file.size() - 2, 2, ".g") == 0;
}

// What view simulates: a program after "--", a list of recorded kernels, a job, or one launch.
void read_subject(const option_parser& p, const std::vector<std::string>& arguments, run_options& o) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const auto behind = static_cast<std::size_t>(arguments.end() - mark);
  if (mark != arguments.end()) {
    if (p.has("kernel") || behind < 2 || p.positionals().size() != behind - 1)
      p.fail(
          "expected either a job file, --kernel, or -- before a program: heddle view [options] -- PROGRAM ARGUMENTS");
    o.arguments = p.positionals();
  } else if (!p.has("kernel") && p.positionals().size() == 1 && is_list_of_kernels(p.positionals()[0])) {
    o.kernels_list = p.positionals()[0];
  } else {
    if (p.positionals().size() > 1) p.fail("unexpected argument '" + printable(p.positionals()[1]) + "'");
    read_launch(p, o);
  }
  const bool recorded = !o.kernels_list.empty();
  if (recorded != p.has("pc"))
    p.fail(recorded ? "recorded kernels have no lines: expected --pc ADDRESS"
                    : "--pc is for recorded kernels (LIST.g)");
}

}  // namespace

bool parse_run(const std::vector<std::string>& arguments, run_options& o, std::string& help) {
  option_parser p = options_of_run();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  if (p.has("confine")) o.confine = p.text("confine");
  o.interference = p.has("interference");
  read_launch(p, o);
  read_sanitizer(p, o);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  read_checkpoints(p, o);
  read_block_sampling(p, o);
  o.view = view_of(p);
  return false;
}

namespace {

// The beginning of the names of the files that view writes: "kernel.cu.42", "kernelslist.g.0x120".
std::string files_of_view(const option_parser& p, const run_options& o) {
  const auto base = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
  if (!p.has("pc")) return base(o.watched.file) + "." + std::to_string(o.watched.line);
  const std::string& text = p.text("pc");
  return base(o.watched.file.empty() ? o.kernels_list : o.watched.file) + "." + text.substr(text.find_last_of(':') + 1);
}

}  // namespace

bool parse_view(const std::vector<std::string>& arguments, run_options& o, std::string& output, std::string& help) {
  option_parser p = options_of_view();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  if (p.has("confine")) o.confine = p.text("confine");
  read_subject(p, arguments, o);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  read_line(p, o);
  output = p.has("output") ? p.text("output") : files_of_view(p, o);
  if (output.empty() || output.back() == '/' || output == "-")
    p.fail("--output: got '" + printable(output) + "', expected the beginning of the files' names");
  return false;
}

bool parse_replay(const std::vector<std::string>& arguments, run_options& o, std::string& help) {
  option_parser p = options_of_replay();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty()) p.fail("expected a list of kernels, such as kernelslist.g");
  o.kernels_list = p.positionals()[0];
  o.strict = p.has("strict");
  if (p.has("trace-memory")) o.trace_memory_mib = p.number("trace-memory", 0, std::uint64_t{1} << 24);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  read_checkpoints(p, o);
  read_block_sampling(p, o);
  return false;
}

bool parse_exec(const std::vector<std::string>& arguments, run_options& o, std::string& help) {
  option_parser p = options_of_exec();
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  // Arguments after "--" belong to the program; arguments before it are options of heddle.
  const auto behind = static_cast<std::size_t>(arguments.end() - mark);
  o.environment = p.has("environment");
  if (o.environment && !p.positionals().empty()) p.fail("--environment is for a shell, which starts the program");
  if (!o.environment && (behind < 2 || p.positionals().size() != behind - 1))
    p.fail("expected -- and a program: heddle exec [options] -- PROGRAM ARGUMENTS");
  o.arguments = p.positionals();
  read_choice(p, o.chosen);
  o.exact_bounds = p.has("exact-bounds");
  if (p.has("end-after")) o.end_after = p.number("end-after", 1, std::numeric_limits<std::uint64_t>::max());
  read_sanitizer(p, o);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  read_block_sampling(p, o);
  return false;
}

bool parse_gpus(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p = options_of_gpus();
  const bool asked = p.parse(arguments);
  help = p.help();
  o.json = p.has("json");
  return asked;
}

bool parse_config(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p = options_of_config();
  const bool asked = p.parse(arguments);
  help = p.help();
  if (!asked) read_gpu_options(p, o.gpu, o.overrides);
  o.describe = p.has("describe");
  return asked;
}

bool parse_disasm(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p = options_of_disasm();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty() && !p.has("kernel")) p.fail("expected FILE.ptx[:ENTRY]");
  if (!p.positionals().empty() && p.has("kernel"))
    p.fail("the kernel is given twice, as '" + p.positionals()[0] + "' and with --kernel; expected one of them");
  split_kernel(p.has("kernel") ? p.text("kernel") : p.positionals()[0], o.file, o.kernel);
  o.json = p.has("json");
  read_gpu_options(p, o.gpu, o.overrides);
  return false;
}

bool parse_occupancy(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p = options_of_occupancy();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  for (const char* option : {"block", "registers-per-thread"}) {
    if (!p.has(option)) p.fail(std::string("expected --") + option);
  }
  read_gpu_options(p, o.gpu, o.overrides);
  std::uint32_t block[3] = {1, 1, 1};
  read_dimensions(p, "block", block);
  std::uint64_t threads = 1;
  for (const std::uint32_t extent : block) threads = std::min(threads * extent, largest_u32);
  o.threads = static_cast<std::uint32_t>(threads);
  if (p.has("cluster")) {
    std::uint32_t cluster[3] = {1, 1, 1};
    read_dimensions(p, "cluster", cluster);
    std::uint64_t blocks = 1;
    for (const std::uint32_t extent : cluster) blocks = std::min(blocks * extent, largest_u32);
    o.cluster_blocks = static_cast<std::uint32_t>(blocks);
  }
  o.registers = static_cast<std::uint32_t>(p.number("registers-per-thread", 0, largest_u32));
  if (p.has("shared-bytes")) o.shared_bytes = p.number("shared-bytes", 0, largest_u32);
  if (p.has("carveout")) o.carveout = static_cast<std::int32_t>(p.number("carveout", 0, 100));
  o.json = p.has("json");
  return false;
}

void split_kernel(const std::string& text, std::string& file, std::string& kernel) {
  const auto colon = text.rfind(':');
  file = text.substr(0, colon);
  kernel = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (colon != std::string::npos && ::access(text.c_str(), F_OK) == 0) {
    file = text;
    kernel.clear();
    return;
  }
  if (colon != std::string::npos && kernel.empty())
    throw input_error("got '" + text + "', expected a kernel's name after the colon (FILE.ptx:ENTRY)");
}

}  // namespace heddle::testbench
