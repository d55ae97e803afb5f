// SPDX-License-Identifier: MIT
#include "testbench/options.h"

#include <unistd.h>

#include <limits>

#include "testbench/option_parser.h"
#include "testbench/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t largest_u32 = std::numeric_limits<std::uint32_t>::max();

void add_gpu_options(option_parser& p) {
  p.group("The GPU");
  p.value("gpu", "NAME|FILE.ini", "a shipped GPU or a configuration file (default: gtx1080)");
  p.values("set", "SECTION.KEY=VALUE", "override one parameter; repeatable; wins over the file");
}

void read_gpu_options(const option_parser& p, std::string& gpu, std::vector<std::string>& overrides) {
  if (p.has("gpu")) gpu = p.text("gpu");
  overrides = p.list("set");
}

void read_dimensions(const option_parser& p, const std::string& option, std::uint32_t (&out)[3]) {
  const auto parts = split(p.text(option), ',');
  bool good = parts.size() <= 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    std::uint64_t value = 0;
    good = parse_unsigned(parts[i], value) && value > 0 && value <= largest_u32;
    out[i] = static_cast<std::uint32_t>(value);
  }
  if (!good) p.fail("--" + option + ": got '" + p.text(option) + "', expected X[,Y[,Z]], whole numbers above 0");
}

template <class E>
void read_choice(const option_parser& p, const std::string& option, const std::vector<std::string>& names, E& out) {
  if (!p.has(option)) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (p.text(option) != names[i]) continue;
    out = static_cast<E>(i);
    return;
  }
  p.fail("--" + option + ": got '" + p.text(option) + "', expected " + join(names, " | "));
}

void read_launch(const option_parser& p, run_options& o) {
  const bool single = p.has("kernel");
  if (single != p.positionals().empty()) p.fail("expected either a job file or --kernel");
  if (!single) {
    o.job_file = p.positionals()[0];
    for (const char* option : {"grid", "block", "shared-bytes", "arg"}) {
      if (p.has(option)) p.fail(std::string("--") + option + " belongs to --kernel; a job file says it itself");
    }
    return;
  }
  split_kernel(p.text("kernel"), o.kernel_file, o.kernel);
  for (const char* option : {"grid", "block"}) {
    if (!p.has(option)) p.fail(std::string("--kernel needs --") + option);
  }
  read_dimensions(p, "grid", o.grid);
  read_dimensions(p, "block", o.block);
  if (p.has("shared-bytes")) o.shared_bytes = static_cast<std::uint32_t>(p.number("shared-bytes", 0, largest_u32));
  o.arguments = p.list("arg");
}

void read_views(const option_parser& p, run_options& o) {
  if (p.has("metrics")) o.metrics_file = p.text("metrics");
  if (p.has("report")) o.report_file = p.text("report");
  if (p.has("vcd")) o.vcd_file = p.text("vcd");
  if (p.has("timeline")) o.timeline_file = p.text("timeline");
  if (p.has("pipeline")) o.pipeline_file = p.text("pipeline");
  if (p.has("trace-scope")) o.trace_scope = p.text("trace-scope");
  if (p.has("trace-window")) {
    const auto parts = split(p.text("trace-window"), ':');
    if (parts.size() != 2 || !parse_unsigned(parts[0], o.trace_begin) || !parse_unsigned(parts[1], o.trace_end) ||
        o.trace_begin >= o.trace_end) {
      p.fail("--trace-window: got '" + p.text("trace-window") + "', expected A:B, two cycles with A < B");
    }
  }
}

// What run and replay have in common.
void add_simulation_options(option_parser& p) {
  p.group("Results");
  p.value("metrics", "FILE.json", "write the metrics");
  p.value("report", "FILE.html", "write the report, a page for a browser");
  p.value("vcd", "FILE.vcd", "write a waveform, with FILE.gtkw and its filters beside it");
  p.value("timeline", "FILE.json", "write a timeline for Perfetto or speedscope: kernels, blocks, warps, context switches, counters");
  p.value("pipeline", "FILE.kanata", "write a pipeline view of warp instructions for Konata");
  p.value("trace-scope", "GLOB[,GLOB]", "modules that the waveform and the pipeline view hold (default: gpu.cwd,gpu.sm0*)");
  p.value("trace-window", "A:B", "only cycles A to B");
  p.flag("quiet", "no summary on stdout");
  p.group("The run");
  p.value("max-cycles", "N", "stop with exit code 1 when reached");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.value("log-level", "LEVEL", "error, warning (default), info or debug");
  p.flag("help", "this text");
}

void read_simulation_options(const option_parser& p, run_options& o) {
  read_views(p, o);
  o.quiet = p.has("quiet");
  if (p.has("max-cycles")) o.max_cycles = p.number("max-cycles", 1, std::numeric_limits<std::uint64_t>::max());
  read_choice(p, "progress", {"auto", "always", "never"}, o.progress);
  read_choice(p, "log-level", {"error", "warning", "info", "debug"}, o.level);
}

}  // namespace

bool parse_run(const std::vector<std::string>& arguments, run_options& o, std::string& help) {
  option_parser p("run", "run JOB.json [options]\nrun --kernel FILE.ptx[:ENTRY] --grid X --block X [options]",
                  "Simulates the launches of a job file, or one launch.");
  p.group("One launch");
  p.value("kernel", "FILE.ptx[:ENTRY]", "the kernel; ENTRY may be left out where the file has one");
  p.value("grid", "X[,Y[,Z]]", "blocks");
  p.value("block", "X[,Y[,Z]]", "threads of a block");
  p.value("shared-bytes", "N", "dynamic shared memory of a block (default: 0)");
  p.values("arg", "TYPE:VALUE",
           "the next kernel argument: u32:7 s32:-1 f32:1.5 (u8 to u64, s8 to s64, f32, f64); "
           "buf:BYTES[:iota32|:iotaf|:random:SEED], in:FILE, out:BYTES:FILE, inout:FILE:OUTFILE");
  add_gpu_options(p);
  add_simulation_options(p);
  if (p.parse(arguments, 1)) {
    help = p.help();
    return true;
  }
  read_launch(p, o);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  return false;
}

bool parse_replay(const std::vector<std::string>& arguments, run_options& o, std::string& help) {
  option_parser p("replay", "replay KERNELSLIST [options]",
                  "Simulates recorded kernels: Accel-Sim SASS traces (.traceg, also .xz .zst .gz), in the order of their list.");
  add_gpu_options(p);
  p.group("The traces");
  p.flag("strict", "refuse opcodes that are not known, and traces of another generation than the GPU's, instead of warning");
  p.value("trace-memory", "MIB", "for blocks of traces (default: 192); blocks for which there is no room run from a temporary file");
  add_simulation_options(p);
  if (p.parse(arguments, 1)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty()) p.fail("expected a list of kernels, such as kernelslist.g");
  o.kernels_list = p.positionals()[0];
  o.strict = p.has("strict");
  if (p.has("trace-memory")) o.trace_memory_mib = p.number("trace-memory", 0, std::uint64_t{1} << 24);
  read_gpu_options(p, o.gpu, o.overrides);
  read_simulation_options(p, o);
  return false;
}

bool parse_gpus(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p("gpus", "gpus [--json]", "Lists the shipped GPUs with their main figures.");
  p.group("Options").flag("json", "one JSON array").flag("help", "this text");
  const bool asked = p.parse(arguments, 0);
  help = p.help();
  o.json = p.has("json");
  return asked;
}

bool parse_config(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p("config", "config --gpu G [--set K=V]...",
                  "Prints the whole effective configuration as an INI file.");
  add_gpu_options(p);
  p.group("Options").flag("help", "this text");
  const bool asked = p.parse(arguments, 0);
  help = p.help();
  if (!asked) read_gpu_options(p, o.gpu, o.overrides);
  return asked;
}

bool parse_disasm(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p("disasm", "disasm FILE.ptx[:ENTRY] [--gpu G]",
                  "Prints the machine program that a kernel is lowered to.");
  add_gpu_options(p);
  p.group("Options").flag("help", "this text");
  if (p.parse(arguments, 1)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty()) p.fail("expected FILE.ptx[:ENTRY]");
  split_kernel(p.positionals()[0], o.file, o.kernel);
  read_gpu_options(p, o.gpu, o.overrides);
  return false;
}

bool parse_occupancy(const std::vector<std::string>& arguments, info_options& o, std::string& help) {
  option_parser p("occupancy", "occupancy --gpu G --threads T --regs R [--smem B] [--carveout PERCENT] [--json]",
                  "Tells how many blocks of a kernel fit an SM, and what limits them.");
  add_gpu_options(p);
  p.group("The kernel");
  p.value("threads", "T", "threads of a block");
  p.value("regs", "R", "registers of a thread");
  p.value("smem", "B", "shared memory of a block, static and dynamic (default: 0)");
  p.value("carveout", "PERCENT", "share of the unified cache that is shared memory (default: the chip's choice)");
  p.group("Options").flag("json", "one JSON object").flag("help", "this text");
  if (p.parse(arguments, 0)) {
    help = p.help();
    return true;
  }
  for (const char* option : {"threads", "regs"}) {
    if (!p.has(option)) p.fail(std::string("expected --") + option);
  }
  read_gpu_options(p, o.gpu, o.overrides);
  o.threads = static_cast<std::uint32_t>(p.number("threads", 1, largest_u32));
  o.registers = static_cast<std::uint32_t>(p.number("regs", 0, largest_u32));
  if (p.has("smem")) o.shared_bytes = p.number("smem", 0, largest_u32);
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
  }
}

}  // namespace heddle::testbench
