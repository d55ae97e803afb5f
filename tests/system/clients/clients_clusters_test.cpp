// SPDX-License-Identifier: MIT
// Thread block clusters of clients: those of a share lie within it, and in one GPC.
#include <algorithm>
#include <set>

#include "tests/system/clients/client_runs.h"

namespace clients_clusters_test {

using namespace client_runs;

constexpr unsigned alone_on_its_sm = 200000;  // bytes of shared memory

struct shape {
  unsigned blocks, cluster;
  double percent;
  unsigned shared_bytes;
};

json job_of(const shape& s) {
  json job = job_of_two();
  job["clients"]["a"] = {{"sm_percent", s.percent}};
  job["buffers"]["out"] = {{"bytes", 4 * s.blocks}, {"client", "a"}};
  json l = launch("ranks", "a", s.blocks, 128, {buffer("out")});
  l["cluster"] = {s.cluster};
  l["shared_bytes"] = s.shared_bytes;
  job["launches"] = {l};
  job["outputs"] = {{{"buffer", "out"}, {"file", "o.bin"}}};
  return job;
}

/// Each cluster is in one GPC.
void expect_placed(const result& r, const shape& s) {
  const json& config = r.metrics["gpu"]["config"];
  ASSERT_EQ(r.words.size(), s.blocks);
  for (unsigned first = 0; first < s.blocks; first += s.cluster) {
    std::set<unsigned> gpcs, sms;
    for (unsigned b = first; b < first + s.cluster; ++b) {
      sms.insert(r.words[b]);
      gpcs.insert(r.words[b] / config["gpu.sms_per_tpc"].get<unsigned>() % config["gpu.gpc_count"].get<unsigned>());
    }
    EXPECT_EQ(gpcs.size(), 1u) << first;
    if (s.shared_bytes == alone_on_its_sm) EXPECT_EQ(sms.size(), s.cluster) << first;
  }
}

TEST(clients_clusters, are_within_the_share) {
  // 5 % of 132 SMs are 7.
  for (const shape& s :
       {shape{64, 4, 5, alone_on_its_sm}, {70, 7, 5, alone_on_its_sm}, {64, 8, 0.5, 0}, {96, 8, 3, 60000}}) {
    const result r = run(job_of(s), "--gpu h100");
    ASSERT_EQ(r.code, 0) << r.err;
    expect_placed(r, s);
    EXPECT_LE(r.client(0)["most_sms"], r.client(0)["sms"]);
    EXPECT_EQ(r.client(0)["blocks"], s.blocks);
  }
}

TEST(clients_clusters, wait_for_room_in_the_share_that_others_of_the_client_take) {
  json job = job_of({40, 4, 5, alone_on_its_sm});
  job["buffers"]["other"] = {{"bytes", 4 * 60}, {"client", "a"}};
  json other = launch("ranks", "a", 60, 128, {buffer("other")});
  other["stream"] = 1;
  other["shared_bytes"] = alone_on_its_sm;
  job["launches"].insert(job["launches"].begin(), other);
  const result one = run(job, "--gpu h100");
  ASSERT_EQ(one.code, 0) << one.err;
  expect_placed(one, {40, 4, 5, alone_on_its_sm});
  EXPECT_EQ(one.client(0)["most_sms"], 7);
  const result two = run(job, "--gpu h100 --threads 2");
  EXPECT_TRUE(two.metrics == one.metrics);
}

TEST(clients_clusters, that_never_fit_are_refused) {
  const result r = run(job_of({64, 8, 5, alone_on_its_sm}), "--gpu h100");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(
      r.err.find("a cluster of 8x1x1 blocks does not fit the client's share of 7 SMs, where 1 block fits on an SM"),
      std::string::npos)
      << r.err;
  json job = job_of({64, 8, 100, alone_on_its_sm});
  job["slices"] = {{"few", {{"sms", 4}, {"channels", 8}}}};
  for (json& c : job["clients"]) c = {{"slice", "few"}};
  const result o = run(job, "--gpu h100");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("fits no GPC of the client's slice"), std::string::npos) << o.err;
  job["launches"][0]["cluster"] = {4};
  const result fits = run(job, "--gpu h100");
  EXPECT_EQ(fits.code, 0) << fits.err;
}

}  // namespace clients_clusters_test
