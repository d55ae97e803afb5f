// SPDX-License-Identifier: MIT
// What tests of energies share: runs and their metrics, a job with context switches, sums that must agree.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace energy_fixture {

using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

/// The metrics of `heddle ARGUMENTS` in this folder, with `--set` for each of `settings` behind the command. A failure
/// of the test if it does not end with `code`.
inline json metrics_of(const std::filesystem::path& place, const std::string& arguments, const words& settings = {},
                       int code = 0) {
  words command = {HEDDLE_PROGRAM};
  std::istringstream in(arguments);
  for (std::string word; in >> word;) {
    command.push_back(word);
    if (command.size() != 2) continue;
    for (const std::string& s : settings) command.insert(command.end(), {"--set", s});
    command.insert(command.end(), {"--quiet", "--log-level", "error", "--metrics", "m.json"});
  }
  heddle::test::program_start how{place};
  how.most_seconds = 0;
  const heddle::test::outcome o = heddle::test::run_program(command, how);
  EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
  return o.code == code ? json::parse(heddle::test::content(place / "m.json")) : json();
}

/// Writes job.json and alone.json: a loop in each of four blocks, which leave their SMs for a while, and which stay.
inline void write_loop_jobs(const std::filesystem::path& place) {
  std::ofstream(place / "k.ptx") << R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 3000;
  mov.u32 %r2, %tid.x;
l:
  mad.lo.u32 %r2, %r2, %r2, %r1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra l;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  json job = json::parse(R"({"module": "k.ptx", "buffers": {"b": {"bytes": 4}},
    "launches": [{"kernel": "k", "grid": [4, 1, 1], "block": [64, 1, 1], "args": [{"buffer": "b"}]}]})");
  std::ofstream(place / "alone.json") << job.dump();
  job["preempt"] = json::parse(R"([{"at_cycle": 4000, "sm": "all", "mode": "switch", "resume_after": 1000}])");
  std::ofstream(place / "job.json") << job.dump();
}

/// Writes k.ptx and returns a job: blocks that compute and then store, twelve of which a chip of two SMs holds four.
/// Kernel `mixed` has blocks of three kinds: a few integers, many of them with bank conflicts, and double precision in
/// a quarter of the lanes, which alone access shared memory and constants.
inline json write_uneven_job(const std::filesystem::path& place) {
  std::ofstream(place / "k.ptx") << R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 200;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 1280;
  add.u64 %rd3, %rd1, %rd2;
compute:
  mad.lo.u32 %r2, %r2, %r2, %r1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra compute;
  mov.u32 %r1, 40;
store:
  st.global.u32 [%rd3], %r2;
  add.u64 %rd3, %rd3, 32;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra store;
  ret;
}
.visible .entry mixed(.param .u64 p) {
  .reg .b32 %r<7>;
  .reg .f64 %f<2>;
  .reg .pred %p<4>;
  .shared .align 8 .b8 s[32768];
  mov.u32 %r1, 50;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  rem.u32 %r4, %r3, 3;
  setp.eq.u32 %p1, %r4, 0;
  @%p1 bra doubles;
  mul.lo.u32 %r1, %r1, %r4;
  mul.lo.u32 %r1, %r1, %r4;
  mul.lo.u32 %r5, %r2, %r4;
  shl.b32 %r5, %r5, 3;
  and.b32 %r5, %r5, 32764;
  mov.u32 %r6, s;
  add.u32 %r5, %r5, %r6;
integers:
  st.shared.u32 [%r5], %r2;
  mad.lo.u32 %r2, %r2, %r2, %r1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra integers;
  ret;
doubles:
  and.b32 %r5, %r2, 31;
  setp.lt.u32 %p2, %r5, 8;
  cvt.rn.f64.u32 %f1, %r2;
  mov.u32 %r6, s;
  shl.b32 %r5, %r2, 3;
  add.u32 %r6, %r6, %r5;
again:
  @%p2 fma.rn.f64 %f1, %f1, %f1, %f1;
  @%p2 st.shared.f64 [%r6], %f1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra again;
  ret;
}
)";
  return json::parse(R"({"module": "k.ptx", "buffers": {"b": {"bytes": 1310720}},
    "launches": [{"kernel": "k", "grid": [12, 1, 1], "block": [1024, 1, 1], "args": [{"buffer": "b"}]}]})");
}

inline double sum(const json& values) {
  double s = 0;
  for (const auto& v : values) s += v.get<double>();
  return s;
}

/// Of all `sms` SMs; by_sm has those from the first to the last that worked.
inline double sum_by_sm(const json& energy, std::size_t sms) {
  const json& by_sm = energy["by_sm"];
  EXPECT_LE(energy["first_sm"].get<std::size_t>() + by_sm.size(), sms);
  return sum(by_sm) + static_cast<double>(sms - by_sm.size()) * energy["idle_sm_joules"].get<double>();
}

inline double dynamic(const json& owner) {
  return owner["energy"]["total_joules"].get<double>() - owner["energy"]["static_joules"].get<double>();
}

/// Units, classes, SMs and lines of each kernel and of the run add up, and so do the kernels and the intervals to the
/// run.
inline void check_energies(const json& m) {
  ASSERT_TRUE(m.contains("energy"));
  const auto same = [](double a, double b, const std::string& what) {
    EXPECT_LE(std::abs(a - b), 1e-9 * std::max(std::abs(a), std::abs(b))) << what << ": " << a << " and " << b;
  };
  const auto check = [&](const json& e, const std::string& what) {
    const double total = e["total_joules"];
    EXPECT_GT(total, 0) << what;
    same(sum(e["by_unit"]), total, what + " by unit");
    same(sum(e["by_class"]) + e["static_joules"].get<double>(), total, what + " by class");
    double by_sm = sum_by_sm(e, m["sms"].size());
    for (const char* unit : {"interconnect", "l2", "dram", "context", "constant"})
      by_sm += e["by_unit"][unit].get<double>();
    same(by_sm, total, what + " by SM");
    same(e["energy_delay_product"].get<double>(), total * e["seconds"].get<double>(), what + " times its seconds");
  };
  check(m["energy"], "the run");
  double kernels = 0;
  for (const json& k : m["kernels"]) {
    const std::string what = "kernel " + k["name"].get<std::string>();
    check(k["energy"], what);
    EXPECT_LE(std::abs(sum(k["energy"]["by_line"]) - dynamic(k)), 1e-9 * k["energy"]["total_joules"].get<double>())
        << what << " by line";
    double code = 0;
    for (const json& instruction : k["code"]) code += instruction.value("joules", 0.0);
    EXPECT_LE(std::abs(code - dynamic(k)), 1e-9 * k["energy"]["total_joules"].get<double>())
        << what << " by instruction";
    const json& parts = k["energy"]["joules_over_time"];
    const double after_end = k["energy"]["after_end_joules"];
    EXPECT_GE(after_end, 0) << what;
    same(sum(parts) + after_end, k["energy"]["total_joules"], what + " by interval");
    same(sum(parts), k["energy"]["mean_watts"].get<double>() * k["energy"]["seconds"].get<double>(), what + " by time");
    EXPECT_LE(k["energy"]["first_interval"].get<std::size_t>() + parts.size(), m["intervals"]["end_cycles"].size())
        << what;
    for (const json& part : parts) EXPECT_GE(part.get<double>(), 0) << what << " by interval";
    kernels += dynamic(k);
  }
  const double run = m["energy"]["total_joules"];
  EXPECT_LE(std::abs(kernels - dynamic(m)), 1e-9 * run) << "kernels";
  same(sum(m["energy"]["joules_over_time"]), run, "intervals");
}

/// Takes off a metrics file what depends on figures of [energy], and on the host.
inline void drop_energies(json& m) {
  m.erase("host");
  m["gpu"].erase("config");
  m.erase("energy");
  for (const char* part : {"kernels", "context_switches"})
    for (json& owner : m[part]) owner.erase("energy");
  for (json& k : m["kernels"])
    for (json& instruction : k["code"]) instruction.erase("joules");
}

}  // namespace energy_fixture
