// SPDX-License-Identifier: MIT
#include "testbench/sampling/sample_options.h"

#include <cstdio>

#include "heddle/config/message.h"
#include "heddle/config/shipped.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr double usual_error = 2, usual_confidence = 95;  // percent
constexpr std::uint64_t usual_warm_up = 50, most_warm_up = 10000;

double percent_of(const option_parser& p, const char* option, double usual) {
  return p.has(option) ? p.percentage(option) : usual / 100;
}

}  // namespace

option_parser options_of_sample() {
  option_parser p(
      "sample", "sample KERNELSLIST|DURATIONS.csv [options]",
      "Estimates the time of a long workload from few of its launches, drawn so that the error is within a bound.");
  p.operands("KERNELSLIST|FILE.csv", 1);
  p.group("The workload");
  p.value("durations", "FILE.csv",
          "measured durations of the launches of KERNELSLIST, in its order (nsys stats --report cuda_gpu_trace)");
  p.group("Which launches");
  p.value("error", "PERCENT", "of the whole time (default: 2)");
  p.value("confidence", "PERCENT", "with which the error is no larger (default: 95)");
  p.value("least", "N", "launches of each stratum at least (default: 2; without durations: 3)");
  p.value("seed", "N", "another seed draws other launches (default: 1)");
  p.flag("dry-run", "only tell which launches");
  p.value("repeat", "N", "instead, draw N samples of the durations, and tell how often the error held");
  p.flag("compare",
         "instead, errors of N samples (default: 200) beside those of STEM, Sieve and PKA on the same durations");
  p.group("How they are simulated");
  p.value("output,o", "DIR", "simulate the traces, and keep results there; what it holds is not run again");
  p.value("gpu", "NAME|FILE.ini", "the machine (default: gtx1080)");
  p.values("set", "SECTION.KEY=VALUE", "override one parameter; repeatable");
  p.value("warm-up", "N",
          "launches before each one that pass through the L2 without being simulated, at most; fewer if these fill it "
          "(default: 50; 0: each begins with empty caches)");
  p.value(
      "sample-blocks", "PERCENT",
      "simulate only so many blocks of each launch that the error of its cycles is at most PERCENT (heddle replay); a "
      "part of --error");
  p.value("engine", "local|slurm", "processes on this machine (default), or job arrays of Slurm");
  p.value("jobs", "N", "launches at a time, as for heddle sweep");
  p.value("slurm-args", "\"...\"", "further arguments of sbatch");
  p.flag("no-wait", "slurm: submit and return; the same command without --engine goes on later");
  p.value("checkpoint-every", "N", "keep the state of each launch every N cycles, as heddle sweep does");
  p.values("results", "FILE.json",
           "instead: metrics of runs of the launches that were drawn, such as of heddle exec "
           "--launches; repeatable");
  p.group("Results");
  p.value("layers", "REGEX",
          "sums by layer: the one group of REGEX in names of kernels or NVTX ranges (default: the number of layer12_, "
          "layers.12, blocks.12, h.12)");
  p.value("json", "FILE.json", "write strata, drawn launches, weights and estimate");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.flag("quiet", "no summary");
  p.flag("help,h", "this text");
  p.note("The page use/sampling.md says how launches are chosen, and what the bound means.");
  p.example("sample kernelslist.g --durations nsys.csv --gpu h100 -o sampled",
            "a model's traces, by the durations that nsys measured");
  p.example("sample nsys.csv --dry-run", "which launches of a program to simulate in detail");
  return p;
}

bool parse_sample(const std::vector<std::string>& arguments, sample_options& o) {
  constexpr std::uint64_t most = 1000000;
  option_parser p = options_of_sample();
  if (p.parse(arguments)) {
    std::fputs(p.help().c_str(), stdout);
    return false;
  }
  if (p.positionals().size() != 1) p.fail("expected one workload: KERNELSLIST or DURATIONS.csv");
  o.workload = p.positionals()[0];
  if (p.has("durations")) o.durations = p.text("durations");
  o.wanted.error = percent_of(p, "error", usual_error);
  o.wanted.confidence = percent_of(p, "confidence", usual_confidence);
  o.wanted.least = p.has("least") ? p.number("least", 1, most) : 0;
  if (p.has("seed")) o.seed = p.number("seed", 0, ~std::uint64_t{0});
  if (p.has("repeat")) o.repeat = p.number("repeat", 1, most);
  o.compare = p.has("compare");
  if (p.has("layers")) o.layers = p.text("layers");
  o.results = p.list("results");
  if (p.has("output")) o.output = p.text("output");
  if (p.has("json")) o.json_file = p.text("json");
  o.gpu = p.has("gpu") ? p.text("gpu") : default_gpu();
  o.overrides = p.list("set");
  for (const char* option : {"engine", "jobs", "slurm-args", "checkpoint-every", "progress"})
    if (p.has(option)) {
      o.sweep_words.push_back(std::string("--") + option);
      o.sweep_words.push_back(p.text(option));
    }
  if (p.has("sample-blocks")) o.sample_error = p.percentage("sample-blocks");
  if (o.sample_error >= o.wanted.error) p.fail("--sample-blocks: expected less than --error, of which it is a part");
  if (o.sample_error > 0 && o.output.empty()) p.fail("--sample-blocks belongs to --output");
  o.warm_up = p.has("warm-up") ? p.number("warm-up", 0, most_warm_up) : usual_warm_up;
  o.no_wait = p.has("no-wait");
  o.dry_run = p.has("dry-run");
  o.quiet = p.has("quiet");
  return true;
}

}  // namespace heddle::testbench
