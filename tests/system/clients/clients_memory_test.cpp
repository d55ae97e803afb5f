// SPDX-License-Identifier: MIT
// malloc in kernels and grid barriers of clients, whose heaps and barriers are their own.
#include <algorithm>
#include <cstdlib>

#include "tests/system/clients/client_runs.h"

namespace clients_memory_test {

using namespace client_runs;

const json halves = {{"left", "3g.20gb"}, {"right", "3g.20gb"}};
const std::string chip = "--gpu a100";

/// Each thread of each client gets `bytes` bytes of malloc.
json allocating(const json& slices, unsigned bytes, unsigned threads = 32) {
  json job = job_of_two(slices);
  for (const char* client : {"a", "b"}) {
    job["buffers"][client] = {{"bytes", 8 * threads}, {"client", client}};
    job["launches"].push_back(launch("keep", client, 1, threads, {buffer(client), {{"u32", bytes}}}));
    job["outputs"].push_back({{"buffer", client}, {"file", std::string(client) + ".bin"}});
  }
  return job;
}

/// Further launches free them.
void free_all(json& job, unsigned threads = 32) {
  for (const char* client : {"a", "b"}) job["launches"].push_back(launch("drop", client, 1, threads, {buffer(client)}));
}

// Two blocks of 5 MiB do not fit one heap of 8 MiB.
TEST(clients_memory, has_a_heap_for_each_client) {
  for (const json& slices : {json(nullptr), halves}) {
    const result r = run(allocating(slices, 5 << 20, 1), chip);
    ASSERT_EQ(r.code, 0) << r.err;
    const auto a = values<std::uint64_t>("a.bin"), b = values<std::uint64_t>("b.bin");
    ASSERT_EQ(a.size() + b.size(), 2u);
    EXPECT_NE(a[0], 0u);
    EXPECT_NE(b[0], 0u);
    EXPECT_GE(std::max(a[0], b[0]) - std::min(a[0], b[0]), 5u << 20);
  }
}

TEST(clients_memory, of_malloc_is_used_and_freed_in_slices) {
  json job = allocating(halves, 48);
  free_all(job);
  const result r = run(job, chip);
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* file : {"a.bin", "b.bin"}) {
    const auto words = values<std::uint64_t>(file);
    ASSERT_EQ(words.size(), 32u) << file;
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(words[t], t + 7) << file;
  }
}

// What b launches changes neither addresses nor cycles of a.
TEST(clients_memory, of_malloc_does_not_disturb_other_slices) {
  json job = allocating(halves, 48);
  json alone = job;
  alone["launches"].erase(1);
  const result beside = run(job, chip);
  ASSERT_EQ(beside.code, 0) << beside.err;
  const auto given = values<std::uint64_t>("a.bin");
  const result r = run(alone, chip);
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(values<std::uint64_t>("a.bin"), given);
  EXPECT_TRUE(r.client(0) == beside.client(0)) << r.client(0) << beside.client(0);
  for (const char* threads : {"2", "3"}) {
    const result same = run(job, chip + " --threads " + threads);
    EXPECT_TRUE(same.metrics == beside.metrics) << threads;
    EXPECT_EQ(values<std::uint64_t>("a.bin"), given);
  }
}

TEST(clients_memory, is_freed_by_its_own_client_only) {
  json job = allocating(nullptr, 48, 1);
  job["buffers"]["a"].erase("client");
  json later = launch("drop", "b", 1, 1, {buffer("a")});
  later["at_cycle"] = 100000;
  job["launches"].push_back(later);
  const result r = run(job, chip);
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("which malloc did not give"), std::string::npos) << r.err;
}

/// Each client's grid waits for all its blocks, twice.
json meeting(const json& slices, unsigned blocks) {
  json job = job_of_two(slices);
  for (const char* client : {"a", "b"}) {
    const std::string first = std::string(client) + "1";
    for (const std::string& name : {first, std::string(client)})
      job["buffers"][name] = {{"bytes", 4 * blocks}, {"client", client}};
    for (int n = 0; n < 2; ++n)
      job["launches"].push_back(launch("meet", client, blocks, 1, {buffer(first.c_str()), buffer(client)}));
    job["outputs"].push_back({{"buffer", client}, {"file", std::string(client) + ".bin"}});
  }
  return job;
}

void expect_met(unsigned blocks) {
  for (const char* file : {"a.bin", "b.bin"}) {
    const auto words = values<std::uint32_t>(file);
    ASSERT_EQ(words.size(), blocks) << file;
    for (unsigned b = 0; b < blocks; ++b) EXPECT_EQ(words[b], 100 + (b + 1) % blocks) << file;
  }
}

TEST(clients_memory, of_grid_barriers_is_that_of_each_slice) {
  const result r = run(meeting(halves, 60), chip);
  ASSERT_EQ(r.code, 0) << r.err;
  expect_met(60);
  EXPECT_EQ(r.client(0)["most_sms"], 42);
}

TEST(clients_memory, of_grid_barriers_serves_clients_with_shares) {
  json job = meeting(nullptr, 60);
  for (json& c : job["clients"]) c["sm_percent"] = 5;
  const result r = run(job, chip);
  ASSERT_EQ(r.code, 0) << r.err;
  expect_met(60);
  EXPECT_EQ(r.client(1)["most_sms"], 6);
}

TEST(clients_memory, is_part_of_checkpoints) {
  json job = allocating(halves, 48);
  free_all(job);
  for (json& l : job["launches"])
    if (l["kernel"] == "drop") l["at_cycle"] = 40000;
  const result whole = run(job, chip);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const result cut = run(job, chip + " --checkpoint c --checkpoint-every 20000 --max-cycles 39000");
  EXPECT_EQ(cut.code, 1) << cut.err;
  const auto place = ptx_runs::place_of_test();
  const std::string command = "cd '" + place.string() +
                              "' && '" HEDDLE_PROGRAM
                              "' resume c --metrics m.json --quiet --max-cycles 100000000 >stdout 2>stderr";
  ASSERT_EQ(0, std::system(command.c_str())) << ptx_runs::content(place / "stderr");
  json resumed = json::parse(ptx_runs::content(place / "m.json"));
  resumed.erase("host");
  EXPECT_TRUE(resumed == whole.metrics);
}

}  // namespace clients_memory_test
