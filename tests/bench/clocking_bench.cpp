// SPDX-License-Identifier: MIT
// Prints the figures that docs/decisions/0001-clocking.md stands on. Every measurement is the median of several
// child processes, because SystemC elaborates once a process. Exit code 1: two schemes did not do the same work.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "tests/bench/clocking_schemes.h"
#include "tests/bench/transaction_hops.h"

namespace {

using heddle::bench::load;
using heddle::bench::outcome;

outcome in_child(const std::function<outcome()>& run) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    const outcome o = run();
    const bool written = write(ends[1], &o, sizeof o) == sizeof o;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  outcome o;
  const bool whole = read(ends[0], &o, sizeof o) == sizeof o;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) throw std::runtime_error("a measuring process failed");
  return o;
}

outcome median(int repeats, const std::function<outcome()>& run) {
  std::vector<outcome> all;
  all.reserve(static_cast<std::size_t>(repeats));
  for (int i = 0; i < repeats; ++i) all.push_back(in_child(run));
  std::sort(all.begin(), all.end(), [](const outcome& a, const outcome& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

bool print_clocking(int repeats) {
  const struct {
    load which;
    const char* name;
    std::uint64_t cycles;
  } loads[] = {
      {load::all, "all awake", 20'000}, {load::tenth, "tenth awake", 100'000}, {load::asleep, "asleep", 500'000}};

  std::printf("80 SMs x 4 sub-partitions, CPU time in ns a cycle of the chip (in brackets: ns an activation)\n");
  std::printf("%-48s", "");
  for (const auto& l : loads) std::printf(" %20s", l.name);
  std::printf("\n");
  bool same = true;
  std::vector<outcome> floor;
  for (const auto& s : heddle::bench::clocking_schemes()) {
    std::printf("%-48s", s.name.c_str());
    for (std::size_t i = 0; i < std::size(loads); ++i) {
      const outcome o = median(repeats, [&] { return s.run(loads[i].which, loads[i].cycles); });
      if (floor.size() == i) floor.push_back(o);
      same = same && o.activations == floor[i].activations && o.checksum == floor[i].checksum;
      const double ns = o.seconds * 1e9;
      std::printf(" %10.1f (%7.1f)", ns / static_cast<double>(o.cycles), ns / static_cast<double>(o.activations));
    }
    std::printf("\n");
  }
  return same;
}

bool print_hops(const char* title, const std::vector<heddle::bench::hop>& hops, std::uint64_t count, int repeats) {
  std::printf("\n%s, CPU time in ns\n", title);
  bool same = true;
  for (const auto& h : hops) {
    const outcome o = median(repeats, [&] { return h.run(count); });
    same = same && o.activations == count;
    std::printf("%-48s %10.1f\n", h.name.c_str(), o.seconds * 1e9 / static_cast<double>(count));
  }
  return same;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  std::printf("SystemC %s, median of %d\n\n", sc_core::sc_release(), repeats);
  bool same = print_clocking(repeats);
  same = print_hops("one hop", heddle::bench::single_hops(), 20'000'000, repeats) && same;
  same = print_hops("round trip of a transaction, 30 cycles", heddle::bench::round_trips(), 1'000'000, repeats) && same;
  if (!same) std::fprintf(stderr, "clocking_bench: two schemes did not do the same work\n");
  return same ? 0 : 1;
}

int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
