// SPDX-License-Identifier: MIT
#include "testbench/sweep/sweep_options.h"

#include "testbench/option_parser.h"
#include "testbench/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t most_jobs = 100000;

void read_shard(const option_parser& p, sweep_options& o) {
  const auto parts = split(p.text("shard"), '/');
  std::uint64_t shard = 0, shards = 0;
  if (parts.size() != 2 || !parse_unsigned(parts[0], shard) || !parse_unsigned(parts[1], shards) || shard == 0 ||
      shard > shards || shards > most_jobs) {
    p.fail("--shard: got '" + p.text("shard") + "', expected I/N, with I from 1 to N");
  }
  o.shard = static_cast<unsigned>(shard);
  o.shards = static_cast<unsigned>(shards);
}

void read_engine(const option_parser& p, sweep_options& o) {
  if (p.has("engine")) {
    if (p.text("engine") != "local" && p.text("engine") != "slurm")
      p.fail("--engine: got '" + p.text("engine") + "', expected local | slurm");
    o.slurm = p.text("engine") == "slurm";
  }
  for (const char* option : {"slurm-args", "no-wait"})
    if (p.has(option) && !o.slurm) p.fail(std::string("--") + option + " belongs to --engine slurm");
  if (o.slurm && p.has("shard")) p.fail("--shard is what the tasks of --engine slurm run with; expected one of them");
  if (p.has("slurm-args")) o.slurm_arguments = p.text("slurm-args");
  o.no_wait = p.has("no-wait");
}

}  // namespace

bool parse_sweep(const std::vector<std::string>& arguments, sweep_options& o, std::string& help) {
  option_parser p("sweep", "sweep SWEEP.ini [options]",
                  "Simulates all points of a design space. Points that the store holds already are not run again.");
  p.group("Which points");
  p.flag("resume", "run also those again that failed, ran too long or were killed");
  p.value("shard", "I/N", "only every N-th point from the I-th on; results are written for a later gathering");
  p.flag("yes", "more than a million points are meant");
  p.flag("dry-run", "only list the points");
  p.group("Where they run");
  p.value("engine", "local|slurm", "processes on this machine (default), or one job array of Slurm");
  p.value("jobs", "N", "local: points at a time (default: one a core); slurm: tasks of the array (default: 16)");
  p.value("slurm-args", "\"...\"", "further arguments of sbatch: partition, time, account");
  p.flag("no-wait", "slurm: submit and return; the same command without --engine gathers later");
  p.group("What it tells");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.flag("quiet", "no summary on stdout");
  p.flag("help", "this text");
  if (p.parse(arguments, 1)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty()) p.fail("expected a sweep file");
  o.file = p.positionals()[0];
  read_engine(p, o);
  if (p.has("jobs")) o.jobs = static_cast<unsigned>(p.number("jobs", 1, most_jobs));
  if (p.has("shard")) read_shard(p, o);
  o.resume = p.has("resume");
  o.any_size = p.has("yes");
  o.dry_run = p.has("dry-run");
  o.quiet = p.has("quiet");
  if (p.has("progress")) {
    const std::string& mode = p.text("progress");
    if (mode != "auto" && mode != "always" && mode != "never")
      p.fail("--progress: got '" + mode + "', expected auto | always | never");
    o.progress = mode == "always" ? progress_mode::always : mode == "never" ? progress_mode::never : progress_mode::automatic;
  }
  return false;
}

}  // namespace heddle::testbench
