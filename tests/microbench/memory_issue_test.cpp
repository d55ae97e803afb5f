// SPDX-License-Identifier: MIT
// The path of memory instructions from issue on, compared with measurements of Huerta et al. (MICRO 2025) on an Ampere
// chip: the issue cycle of a sub-core's n-th load while one to four sub-cores load (table 1), and the cycles from
// which sources may be overwritten and results used (table 2).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "code_sequence.h"
#include "explained_values.h"

namespace memory_issue_test {

using microbench::code_sequence;

// --- table 1

constexpr unsigned most_loads = 12;

// The issue cycle of the n-th load of sub-core `k` of `cores`, where the first load issues in cycle 2: table 1 of the
// paper, whose last row is extrapolated.
double published_issue(unsigned n, unsigned k, unsigned cores) {
  if (n <= 5) return n + 1;
  const unsigned interval = cores <= 2 ? 4 : 2 * cores;
  return 13 + 2 * k + interval * (n - 6);
}

// n consecutive loads that hit in the L1 or read shared memory. All loads of the previous pass have completed before
// the clock is read; the use of a loaded value and a barrier separate the two clock readings.
code_sequence loads(const std::string& space, unsigned n) {
  code_sequence p{".reg .u32 %y;", "add.u32 %y, %thread, 1;", "", {}, "xor.b32 %value, %value, %y;"};
  if (space == "shared") p.declarations += " .shared .align 16 .b8 words[64];";
  const std::string address = space == "shared" ? "[words]" : "[%seed]";
  std::string come, go;
  for (unsigned k = 0; k < n; ++k) {
    const std::string x = "%x" + std::to_string(k);
    p.declarations += " .reg .u32 " + x + ";";
    p.begin += "mov.u32 " + x + ", %thread; ";
    come += "xor.b32 %y, %y, " + x + "; ";
    go += "ld." + space + ".u32 " + x + ", " + address + "; ";
  }
  p.end += come;
  p.steps = {come + "bar.sync 0; mov.u32 %start, %clock; xor.b32 %y, %y, %start; bar.sync 0; " + go};
  return p;
}

class memory_issue : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(memory_issue, follows_table_1) {
  const auto [gpu, space] = GetParam();
  std::string text;
  std::vector<microbench::launch> launches;
  for (unsigned cores = 1; cores <= 4; ++cores)
    for (unsigned n = 1; n <= most_loads; ++n) {
      const std::string name = "loads_" + std::to_string(n);
      if (cores == 1) text += microbench::kernel(name, loads(space, n), 1, 1);
      launches.push_back({name, 32 * cores});
    }
  const auto clocks = microbench::clocks_of(std::string("issue_") + space, gpu, microbench::module(text), launches);
  if (clocks.empty()) return;
  for (unsigned cores = 1; cores <= 4; ++cores) {
    const auto& ones = clocks[(cores - 1) * most_loads];
    for (unsigned n = 1; n <= most_loads; ++n) {
      const auto& all = clocks[(cores - 1) * most_loads + n - 1];
      std::string model, published;
      for (unsigned k = 0; k < cores; ++k) {
        const double issue = 2 + static_cast<double>(all[32 * k].last - all[0].first) - (ones[0].last - ones[0].first);
        const double expected = published_issue(n, k, cores);
        model += (k == 0 ? "" : "/") + std::to_string(static_cast<int>(issue));
        published += (k == 0 ? "" : "/") + std::to_string(static_cast<int>(expected));
        EXPECT_EQ(issue, expected) << gpu << " " << space << ": " << n << "th load of sub-core " << k << " of "
                                   << cores;
      }
      std::printf("%-10s %u sub-cores, ld.%s %2u issues in cycle %s (published %s, Huerta et al. 2025, table 1)\n", gpu,
                  cores, space, n, model.c_str(), published.c_str());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, memory_issue,
                         ::testing::Combine(::testing::Values("rtx2060", "rtx2080ti", "rtx3070", "rtx3080", "rtx4090"),
                                            ::testing::Values("global", "shared")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

// --- table 2

struct access {
  const char* name;
  const char* instruction;
  const char* overwrites;    // an instruction that overwrites a source of it; none: nullptr
  const char* uses;          // an instruction that uses its result; none: nullptr
  double overwritten, used;  // published: cycles from its issue to their issue
  const char* explained = "";
};

constexpr char uniform[] = "the machine has no uniform registers: measured with an address in an ordinary one";

// %q is the address of 16 bytes in global memory, %a of 16 bytes in shared memory, for all lanes.
constexpr char other_address[] = "ld.shared.u64 %q, [%b];";
constexpr char one_word[] = "ld.shared.u32 %x, [%a];";
constexpr char two_words[] = "ld.shared.v2.u32 {%x, %u}, [%a];";
constexpr char four_words[] = "ld.shared.v4.u32 {%x, %u, %v, %w}, [%a];";
constexpr char one_global_word[] =
    "ld.global.u32 %x, [%q];";  // of the same space, so that lowering does not move it in front of the store
constexpr char two_global_words[] = "ld.global.v2.u32 {%x, %u}, [%q];";
constexpr char four_global_words[] = "ld.global.v4.u32 {%x, %u, %v, %w}, [%q];";

constexpr access accesses[] = {
    {"LDG.32", "ld.global.u32 %x, [%q];", other_address, "xor.b32 %y, %y, %x;", 11, 32},
    {"LDG.64", "ld.global.v2.u32 {%x, %u}, [%q];", other_address, "xor.b32 %y, %y, %u;", 11, 34},
    {"LDG.128", "ld.global.v4.u32 {%x, %u, %v, %w}, [%q];", other_address, "xor.b32 %y, %y, %w;", 11, 38},
    {"STG.32", "st.global.u32 [%q], %x;", one_global_word, nullptr, 14, 0},
    {"STG.64", "st.global.v2.u32 [%q], {%x, %u};", two_global_words, nullptr, 16, 0},
    {"STG.128", "st.global.v4.u32 [%q], {%x, %u, %v, %w};", four_global_words, nullptr, 20, 0},
    {"LDS.32", "ld.shared.u32 %x, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %x;", 9, 24},
    {"LDS.64", "ld.shared.v2.u32 {%x, %u}, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %u;", 9, 24},
    {"LDS.128", "ld.shared.v4.u32 {%x, %u, %v, %w}, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %w;", 9, 26},
    {"STS.32", "st.shared.u32 [%a], %x;", one_word, nullptr, 12, 0},
    {"STS.64", "st.shared.v2.u32 [%a], {%x, %u};", two_words, nullptr, 14, 0},
    {"STS.128", "st.shared.v4.u32 [%a], {%x, %u, %v, %w};", four_words, nullptr, 18, 0},
    {"LDG.32, uniform", "ld.global.u32 %x, [%q];", other_address, "xor.b32 %y, %y, %x;", 9, 29, uniform},
    {"LDG.64, uniform", "ld.global.v2.u32 {%x, %u}, [%q];", other_address, "xor.b32 %y, %y, %u;", 9, 31, uniform},
    {"LDG.128, uniform", "ld.global.v4.u32 {%x, %u, %v, %w}, [%q];", other_address, "xor.b32 %y, %y, %w;", 9, 35,
     uniform},
    {"STG.32, uniform", "st.global.u32 [%q], %x;", one_global_word, nullptr, 10, 0, uniform},
    {"STG.64, uniform", "st.global.v2.u32 [%q], {%x, %u};", two_global_words, nullptr, 12, 0, uniform},
    {"STG.128, uniform", "st.global.v4.u32 [%q], {%x, %u, %v, %w};", four_global_words, nullptr, 16, 0, uniform},
    {"LDS.32, uniform", "ld.shared.u32 %x, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %x;", 9, 23, uniform},
    {"LDS.64, uniform", "ld.shared.v2.u32 {%x, %u}, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %u;", 9, 23,
     uniform},
    {"LDS.128, uniform", "ld.shared.v4.u32 {%x, %u, %v, %w}, [%a];", "add.u32 %a, %a, %none;", "xor.b32 %y, %y, %w;", 9,
     25, uniform},
    {"STS.32, uniform", "st.shared.u32 [%a], %x;", one_word, nullptr, 10, 0, uniform},
    {"STS.64, uniform", "st.shared.v2.u32 [%a], {%x, %u};", two_words, nullptr, 12, 0, uniform},
    {"STS.128, uniform", "st.shared.v4.u32 [%a], {%x, %u, %v, %w};", four_words, nullptr, 16, 0, uniform},
    {"LDC.32", "ld.const.u32 %x, [constants];", nullptr, "xor.b32 %y, %y, %x;", 0, 26},
    {"LDC.32, register", "ld.const.u32 %x, [%c];", "add.u32 %c, %c, %none;", "xor.b32 %y, %y, %x;", 29, 29},
    {"LDC.64, register", "ld.const.v2.u32 {%x, %u}, [%c];", "add.u32 %c, %c, %none;", "xor.b32 %y, %y, %u;", 29, 29},
    {"LDGSTS.32", "cp.async.ca.shared.global [%a], [%q], 4;", other_address, nullptr, 13, 39},
    {"LDGSTS.64", "cp.async.ca.shared.global [%a], [%q], 8;", other_address, nullptr, 13, 39},
    {"LDGSTS.128", "cp.async.ca.shared.global [%a], [%q], 16;", other_address, nullptr, 13, 39},
};

// An instruction after an access, or without it. As above, all accesses of the previous pass have completed when the
// clock is read. The data of a store come from one wide load, so they are in adjacent registers without moves.
code_sequence behind(const access& a, bool alone, const char* after) {
  const std::string text = std::string(a.instruction) + (a.overwrites == nullptr ? "" : a.overwrites);
  const bool four = text.find("%w") != std::string::npos, two = text.find("%u") != std::string::npos;
  code_sequence p{
      ".reg .u64 %q, %zero; .reg .u32 %a, %b, %c, %none, %x, %y, %u, %v, %w; .shared .align 16 .b8 words[64];",
      "and.b64 %zero, %seed, 1; cvt.u32.u64 %none, %zero; add.u64 %q, %seed, %zero; mov.u32 %a, words; "
      "add.u32 %a, %a, %none; add.u32 %b, %a, 16; st.shared.u64 [%b], %q; mov.u32 %c, constants; add.u32 %c, %c, %none; add.u32 %y, %thread, 1;",
      "",
      {},
      ""};
  p.before += four ? four_words : two ? two_words : one_word;
  std::string come = "xor.b32 %y, %y, %x;";
  if (two) come += " xor.b32 %y, %y, %u;";
  if (four) come += " xor.b32 %y, %y, %v; xor.b32 %y, %y, %w;";
  p.steps = {come + " bar.sync 0; mov.u32 %start, %clock; xor.b32 %y, %y, %start; bar.sync 0; " +
             (alone ? "" : a.instruction) + " " + after};
  p.end =
      come +
      " xor.b32 %value, %value, %y; xor.b32 %value, %value, %a; xor.b32 %value, %value, %c; cvt.u32.u64 %y, %q; xor.b32 %value, %value, %y;";
  return p;
}

constexpr const char* chips_of_table_2[] = {"rtx3070", "rtx3080"};
constexpr char overwriting[] = "issue to overwriting a source";
constexpr char use[] = "issue to use of the result";

std::string row(const std::string& gpu, const access& a, const char* what) {
  return "memory_issue " + gpu + " " + a.name + ": " + what;
}

class memory_latency : public ::testing::TestWithParam<const char*> {
 protected:
  /// Cycles between the issue of the access and that of the next instruction.
  double between(const access& a, const char* after) {
    const std::string text = ".const .align 16 .u32 constants[4] = {1, 2, 3, 4};\n" +
                             microbench::kernel("alone", behind(a, true, after), 1, 1) +
                             microbench::kernel("behind", behind(a, false, after), 1, 1);
    const auto clocks =
        microbench::clocks_of("memory_latency", GetParam(), microbench::module(text), {{"alone", 32}, {"behind", 32}});
    if (clocks.empty()) return 0;
    return static_cast<double>(clocks[1][0].last - clocks[1][0].first) - (clocks[0][0].last - clocks[0][0].first);
  }
  void compare(const access& a, const char* what, double model, double published) {
    std::printf("%-10s %-16s %-29s: model %4.0f  published %4.0f  %+4.0f  Huerta et al. 2025, table 2%s%s\n",
                GetParam(), a.name, what, model, published, model - published, *a.explained != 0 ? ": " : "",
                a.explained);
    if (*a.explained == 0) {
      EXPECT_EQ(model, published) << GetParam() << " " << a.name << ": " << what;
    } else {
      microbench::expect_written(row(GetParam(), a, what), model);
    }
  }
};

TEST_P(memory_latency, follows_table_2) {
  for (const access& a : accesses) {
    if (a.overwrites != nullptr) compare(a, overwriting, between(a, a.overwrites), a.overwritten);
    if (a.uses != nullptr) compare(a, use, between(a, a.uses), a.used);
  }
}

TEST(explained_accesses, are_those_written_down) {
  std::set<std::string> rows;
  for (const char* gpu : chips_of_table_2)
    for (const access& a : accesses) {
      if (*a.explained == 0) continue;
      if (a.overwrites != nullptr) rows.insert(row(gpu, a, overwriting));
      if (a.uses != nullptr) rows.insert(row(gpu, a, use));
    }
  EXPECT_EQ(microbench::written_rows("memory_issue"), rows);
}

// Listing 3: loads get no forwarded results, so a load's address must be available one cycle earlier than an
// addition's operands.
TEST_P(memory_latency, loads_wait_a_cycle_longer_for_their_address) {
  const access addition{"IADD", "add.u32 %a, %a, %none;", nullptr, nullptr, 0, 0};
  const double add = between(addition, "add.u32 %y, %y, %a;"), load = between(addition, "ld.shared.u32 %x, [%a];");
  std::printf(
      "%-10s IADD to IADD: model %g  published 4, IADD to LDS: model %g  published 5  Huerta et al. 2025, listing 3\n",
      GetParam(), add, load);
  EXPECT_EQ(add, 4);
  EXPECT_EQ(load, 5);
}

INSTANTIATE_TEST_SUITE_P(all, memory_latency, ::testing::ValuesIn(chips_of_table_2),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace memory_issue_test
