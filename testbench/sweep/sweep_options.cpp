// SPDX-License-Identifier: MIT
#include "testbench/sweep/sweep_options.h"

#include "testbench/options/option_tables.h"
#include "testbench/text/text.h"

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
  if (p.has("engine")) o.slurm = p.choice("engine") == 1;
  for (const char* option : {"slurm-args", "no-wait"})
    if (p.has(option) && !o.slurm) p.fail(std::string("--") + option + " belongs to --engine slurm");
  if (o.slurm && p.has("shard")) p.fail("--shard is what the tasks of --engine slurm run with; expected one of them");
  if (p.has("slurm-args")) o.slurm_arguments = p.text("slurm-args");
  o.no_wait = p.has("no-wait");
}

}  // namespace

bool parse_sweep(const std::vector<std::string>& arguments, sweep_options& o, std::string& help) {
  option_parser p = options_of_sweep();
  if (p.parse(arguments)) {
    help = p.help();
    return true;
  }
  if (p.positionals().empty()) p.fail("expected a sweep file");
  o.file = p.positionals()[0];
  if (p.has("confine")) o.confine = p.text("confine");
  read_engine(p, o);
  if (p.has("jobs")) o.jobs = static_cast<unsigned>(p.number("jobs", 1, most_jobs));
  if (p.has("shard")) read_shard(p, o);
  o.resume = p.has("resume");
  if (p.has("checkpoint-every")) o.checkpoint_every = p.number("checkpoint-every", 1, std::uint64_t{1} << 63);
  o.any_size = p.has("yes");
  o.dry_run = p.has("dry-run");
  o.quiet = p.has("quiet");
  if (p.has("progress")) o.progress = static_cast<progress_mode>(p.choice("progress"));
  return false;
}

}  // namespace heddle::testbench
