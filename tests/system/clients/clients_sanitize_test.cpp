// SPDX-License-Identifier: MIT
// --sanitize with clients: memory of others, races between clients, and no false alarms.
#include "tests/system/clients/client_runs.h"

namespace clients_sanitize_test {

using namespace client_runs;

bool has(const result& r, const std::string& text) { return r.err.find(text) != std::string::npos; }

/// `client` reads the first word of b's buffer through a pointer that b has stored where all may read it.
json peeking(const char* client) {
  json job = job_of_two();
  job["buffers"] = {{"secret", {{"bytes", 64}, {"client", "b"}}},
                    {"link", {{"bytes", 8}}},
                    {"out", {{"bytes", 4}, {"client", client}}}};
  json later = launch("peek", client, 1, 1, {buffer("link"), buffer("out")});
  later["at_cycle"] = 100000;
  job["launches"] = {launch("tell", "b", 1, 1, {buffer("secret"), buffer("link")}), later};
  return job;
}

TEST(clients_sanitize, finds_accesses_of_buffers_of_other_clients) {
  const result own = run(peeking("b"), "--gpu v100 --sanitize=memory");
  EXPECT_EQ(own.code, 0) << own.err;
  const result others = run(peeking("a"), "--gpu v100 --sanitize=memory");
  EXPECT_EQ(others.code, 1);
  EXPECT_TRUE(has(others, "memory of another client, 0 bytes into buffer 'secret' of client 'b'")) << others.err;
  EXPECT_EQ(run(peeking("a"), "--gpu v100").code, 0);
}

TEST(clients_sanitize, finds_accesses_of_heaps_of_other_clients) {
  for (const char* reader : {"a", "b"}) {
    json job = job_of_two();
    job["buffers"] = {{"at", {{"bytes", 8}}}, {"out", {{"bytes", 4}, {"client", reader}}}};
    json later = launch("peek", reader, 1, 1, {buffer("at"), buffer("out")});
    later["at_cycle"] = 100000;
    job["launches"] = {launch("keep", "a", 1, 1, {buffer("at"), {{"u32", 64}}}), later};
    const result r = run(job, "--gpu v100 --sanitize=memory");
    EXPECT_EQ(r.code, *reader == 'a' ? 0 : 1) << r.err;
    EXPECT_EQ(has(r, "memory of another client\n"), *reader == 'b') << r.err;
  }
}

TEST(clients_sanitize, finds_races_between_clients) {
  json job = job_of_two();
  job["buffers"] = {{"all", {{"bytes", 4 * 8}}}};
  for (const char* client : {"a", "b"}) job["launches"].push_back(launch("ranks", client, 8, 1, {buffer("all")}));
  const result r = run(job, "--gpu v100 --sanitize");
  EXPECT_EQ(r.code, 1);
  EXPECT_TRUE(has(r, "race between operations of two streams")) << r.err;
  EXPECT_TRUE(has(r, "stream 0 of client 'a'") && has(r, "stream 0 of client 'b'")) << r.err;
}

TEST(clients_sanitize, changes_no_result_and_finds_nothing_in_sound_jobs) {
  json job = job_of_two({{"left", "3g.20gb"}, {"right", "3g.20gb"}});
  for (const char* client : {"a", "b"}) {
    const std::string met = std::string(client) + "_met";
    job["buffers"][client] = {{"bytes", 8 * 32}, {"client", client}};
    job["buffers"][met] = {{"bytes", 4 * 20}, {"client", client}};
    job["buffers"][met + "2"] = {{"bytes", 4 * 20}, {"client", client}};
    job["launches"].push_back(launch("keep", client, 1, 32, {buffer(client), {{"u32", 48}}}));
    job["launches"].push_back(launch("drop", client, 1, 32, {buffer(client)}));
    job["launches"].push_back(launch("meet", client, 20, 1, {buffer(met.c_str()), buffer((met + "2").c_str())}));
  }
  const result plain = run(job, "--gpu a100");
  ASSERT_EQ(plain.code, 0) << plain.err;
  const result checked = run(job, "--gpu a100 --sanitize");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_TRUE(checked.metrics == plain.metrics);
}

}  // namespace clients_sanitize_test
