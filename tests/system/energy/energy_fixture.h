// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/system/common/json_text.h"

namespace energy_fixture {

using json = nlohmann::ordered_json;

inline double sum(const json& values) {
  double s = 0;
  for (const auto& v : values) s += v.get<double>();
  return s;
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
  const auto check = [&same](const json& e, const std::string& what) {
    const double total = e["total_joules"];
    EXPECT_GT(total, 0) << what;
    same(sum(e["by_unit"]), total, what + " by unit");
    same(sum(e["by_class"]) + e["static_joules"].get<double>(), total, what + " by class");
    double by_sm = sum(e["by_sm"]);
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
    const json& parts = k["energy"]["joules_over_time"];
    same(sum(parts), k["energy"]["total_joules"], what + " by interval");
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
}

}  // namespace energy_fixture
