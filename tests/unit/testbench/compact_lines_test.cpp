// SPDX-License-Identifier: MIT
// What a report of many launches stores by line and instruction: columns, from which each kernel's lists come back.
#include "testbench/report/compact_lines.h"

#include <gtest/gtest.h>

namespace compact_lines_test {

using json = nlohmann::ordered_json;

json kernel(int executed) {
  return json::parse(
      R"({"name": "k", "lines": [{"line": 3, "text": "add", "executed": 1, "warp_cycles": {"active": 9}}],
    "code": [{"line": 3, "text": "IADD3", "executed": 2, "joules": 1.23456789e-9, "warp_states": {}},
             {"line": 3, "text": "STS", "executed": )" +
      std::to_string(executed) + R"(, "warp_states": {"wait": 5}},
             {"line": 4, "text": "EXIT", "warp_states": {}}]})");
}

json metrics_of(std::size_t launches) {
  json m = {{"kernels", json::array()}};
  for (std::size_t i = 0; i < launches; ++i) m["kernels"].push_back(kernel(i == 1 ? 8 : 7));
  return m;
}

json judged(std::size_t launches) {
  const json one = {{"headline", "Bound"}, {"reasons", json::array()}, {"peak", {{"share", 0.123456789}}}};
  return {{"judged", json(std::vector<json>(launches, one))}};
}

TEST(compact_lines, few_launches_stay_as_they_are) {
  json file, metrics = metrics_of(32);
  heddle::testbench::compact_lines(file, metrics);
  EXPECT_EQ(metrics, metrics_of(32));
  EXPECT_TRUE(file.is_null());
}

TEST(compact_lines, launches_of_one_program_store_what_differs) {
  json file = judged(33), metrics = metrics_of(33);
  heddle::testbench::compact_lines(file, metrics);
  ASSERT_EQ(file["programs"].size(), 1u);
  const json program = json::parse(file["programs"][0].get<std::string>());
  EXPECT_EQ(program["shared"]["code"][1]["text"], "STS");
  EXPECT_EQ(file["columns"]["lines"], json({"warp_cycles.active"}));
  EXPECT_EQ(file["columns"]["code"], json({"executed", "joules", "warp_states.wait"}));
  EXPECT_EQ(program["counts"], json::parse("[[[9]], [[2, 7, 0], [[0], [1.23457e-9]], [[1], [5]]]]"));
  EXPECT_EQ(metrics["kernels"][1]["counts"], "[[-1],[[2,8,0],-1,-1]]");
  EXPECT_EQ(metrics["kernels"][2]["counts"], "[[-1],[-1,-1,-1]]");
  EXPECT_FALSE(metrics["kernels"][1].contains("code"));
}

TEST(compact_lines, objects_are_stored_without_the_names_of_their_members) {
  json file = judged(33), metrics = metrics_of(33);
  for (json& k : metrics["kernels"]) k.update(json{{"memory", {{"reads", 7}}}, {"warp_states", {{"wait", 3}}}});
  heddle::testbench::compact_lines(file, metrics);
  EXPECT_FALSE(file.contains("judged"));
  EXPECT_EQ(file["details"]["names"], json({"judged", "memory"}));
  EXPECT_EQ(file["details"]["shapes"],
            json::parse(R"([["memory", "judged"], ["reads"], ["headline", "reasons", "peak"], ["share"]])"));
  const json& k = metrics["kernels"][32];
  EXPECT_EQ(k["details"], R"([0,[1,7],[2,"Bound",[-1],[3,0.123457]]])");
  EXPECT_EQ(k["name"], "k");
  EXPECT_EQ(k["warp_states"]["wait"], 3);  // of all kernels beside each other
  EXPECT_FALSE(k.contains("memory"));
}

}  // namespace compact_lines_test
