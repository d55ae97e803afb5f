// SPDX-License-Identifier: MIT
// Processes that share a GPU: clients of jobs, with shares of the SMs, and slices of the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace clients_test {

using json = nlohmann::ordered_json;
using ptx_runs::outcome;

/// `walk` reads words `all threads` apart, `rounds` times, and keeps a sum; `note` counts its launches in a variable of
/// the module.
const char* const kernels = R"(.version 7.0
.target sm_60
.address_size 64
.global .u32 noted;
.visible .entry walk(.param .u64 data, .param .u64 out, .param .u32 mask, .param .u32 rounds)
{
	.reg .b32 %r<12>;
	.reg .b64 %d<8>;
	.reg .pred %p;
	ld.param.u64 %d1, [data];
	ld.param.u64 %d2, [out];
	ld.param.u32 %r1, [mask];
	ld.param.u32 %r2, [rounds];
	mov.u32 %r3, %tid.x;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ntid.x;
	mad.lo.u32 %r3, %r4, %r5, %r3;
	mov.u32 %r6, %nctaid.x;
	mul.lo.u32 %r5, %r5, %r6;
	mov.u32 %r7, 0;
	mov.u32 %r8, %r3;
more:
	and.b32 %r9, %r8, %r1;
	mul.wide.u32 %d3, %r9, 4;
	add.u64 %d3, %d1, %d3;
	ld.global.u32 %r10, [%d3];
	mad.lo.u32 %r7, %r7, 3, %r10;
	add.u32 %r8, %r8, %r5;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p, %r2, 0;
	@%p bra more;
	membar.gl;
	mul.wide.u32 %d4, %r3, 4;
	add.u64 %d4, %d2, %d4;
	st.global.u32 [%d4], %r7;
	ret;
}
.visible .entry note(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	mov.u64 %d1, noted;
	ld.global.u32 %r1, [%d1];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%d1], %r1;
	ld.param.u64 %d2, [out];
	st.global.u32 [%d2], %r1;
	ret;
}
)";

constexpr unsigned words = 1 << 18, threads = 128;

struct work {
  std::string client;
  unsigned blocks = 0, rounds = 0;
  unsigned stream = 0;
};

std::string buffer_of(const work& w, const char* what) { return w.client + "_" + what; }

void add_launch(json& job, const work& w) {
  const auto args = json::array({{{"buffer", buffer_of(w, "data")}},
                                 {{"buffer", buffer_of(w, "out")}},
                                 {{"u32", words - 1}},
                                 {{"u32", w.rounds}}});
  job["launches"].push_back({{"kernel", "walk"},
                             {"grid", {w.blocks}},
                             {"block", {threads}},
                             {"args", args},
                             {"stream", w.stream},
                             {"client", w.client}});
}

/// Each client gets the buffers of its first launch.
json job_of(const json& clients, const std::vector<work>& all) {
  json job = {{"module", "k.ptx"}, {"clients", clients}, {"buffers", json::object()}};
  for (const work& w : all) {
    add_launch(job, w);
    if (job["buffers"].contains(buffer_of(w, "data"))) continue;
    job["buffers"][buffer_of(w, "data")] = {{"bytes", 4 * words}, {"fill", "iota32"}, {"client", w.client}};
    job["buffers"][buffer_of(w, "out")] = {{"bytes", 4 * threads * w.blocks}, {"client", w.client}};
    job["outputs"].push_back({{"buffer", buffer_of(w, "out")}, {"file", w.client + ".bin"}});
  }
  return job;
}

struct result : outcome {
  json metrics;
  [[nodiscard]] const json& client(std::size_t n) const { return metrics.at("clients").at(n); }
};

result run(const json& job, const std::string& options) {
  result r{ptx_runs::run_job({{"k.ptx", kernels}, {"job.json", job.dump()}}, "--metrics m.json " + options), {}};
  const std::string text = ptx_runs::content(ptx_runs::place_of_test() / "m.json");
  if (text.empty()) return r;
  r.metrics = json::parse(text);
  r.metrics.erase("host");
  return r;
}

void expect_results(const std::vector<work>& all) {
  for (const work& w : all) {
    const std::string bytes = ptx_runs::content(ptx_runs::place_of_test() / (w.client + ".bin"));
    const unsigned count = w.blocks * threads;
    ASSERT_EQ(bytes.size(), 4 * count) << w.client;
    std::vector<std::uint32_t> out(count);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    for (unsigned t = 0; t < count; ++t) {
      std::uint32_t sum = 0;
      for (unsigned r = 0; r < w.rounds; ++r) sum = sum * 3 + ((t + r * count) & (words - 1));
      ASSERT_EQ(out[t], sum) << w.client << ", thread " << t;
    }
  }
}

std::uint64_t sum_of(const json& all, const char* key) {
  std::uint64_t sum = 0;
  for (const json& one : all) sum += one.at(key).get<std::uint64_t>();
  return sum;
}

const std::vector<work> two = {{"a", 200, 30}, {"b", 200, 30}};

TEST(clients, have_blocks_on_at_most_their_share_of_the_sms) {
  const json clients = {{"a", {{"sm_percent", 24.1}}}, {"b", {{"sm_percent", 50}}}};
  const result r = run(job_of(clients, two), "--gpu v100");
  ASSERT_EQ(r.code, 0) << r.err;
  expect_results(two);
  EXPECT_EQ(r.client(0)["sms"], 20);  // 24.1 % of 80, rounded up
  EXPECT_EQ(r.client(0)["most_sms"], 20);
  EXPECT_EQ(r.client(1)["most_sms"], 40);
  EXPECT_EQ(r.metrics["kernels"][0]["client"], "a");
  // Both run at the same time, and the counts add up to the chip's.
  EXPECT_LT(r.client(0)["start_cycle"], r.client(1)["end_cycle"]);
  EXPECT_LT(r.client(1)["start_cycle"], r.client(0)["end_cycle"]);
  EXPECT_EQ(sum_of(r.metrics["clients"], "inst_executed"), sum_of(r.metrics["sms"], "inst_executed"));
  EXPECT_EQ(sum_of(r.metrics["clients"], "blocks"), sum_of(r.metrics["sms"], "blocks"));
  std::uint64_t accesses = 0;
  for (const json& k : r.metrics["kernels"]) accesses += k["memory"]["l2"]["accesses"].get<std::uint64_t>();
  EXPECT_EQ(sum_of(r.metrics["clients"], "l2_accesses"), accesses);
  for (const json& sm : r.metrics["sms"]) EXPECT_EQ(sm["blocks"].get<unsigned>() == 0, sm["inst_executed"] == 0);
}

TEST(clients, streams_of_two_never_wait_for_each_other) {
  const std::vector<work> all = {{"a", 20, 40}, {"a", 20, 40}, {"b", 20, 40}};
  const result r = run(job_of({{"a", json::object()}, {"b", json::object()}}, all), "--gpu v100");
  ASSERT_EQ(r.code, 0) << r.err;
  expect_results({all[0], all[2]});
  std::vector<std::uint64_t> begin(3), end(3);
  for (const json& k : r.metrics["kernels"]) {
    begin[k["launch"].get<unsigned>()] = k["start_cycle"];
    end[k["launch"].get<unsigned>()] = k["end_cycle"];
  }
  EXPECT_GE(begin[1], end[0]);
  EXPECT_LT(begin[2], end[0]);
  EXPECT_EQ(r.client(0)["launches"], 2);
  EXPECT_EQ(r.client(0)["active_cycles"], end[0] - begin[0] + end[1] - begin[1]);
}

TEST(clients, have_module_variables_of_their_own) {
  json job = {{"module", "k.ptx"}, {"clients", {{"a", json::object()}, {"b", json::object()}}}};
  job["buffers"] = {{"a", {{"bytes", 4}, {"client", "a"}}}, {"b", {{"bytes", 4}, {"client", "b"}}}};
  for (const char* client : {"a", "b", "b"})
    job["launches"].push_back(
        {{"kernel", "note"}, {"grid", {1}}, {"block", {1}}, {"client", client}, {"args", {{{"buffer", client}}}}});
  job["outputs"] = {{{"symbol", "noted"}, {"client", "b"}, {"file", "o.bin"}}};
  const result r = run(job, "--gpu v100");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.words, std::vector<std::uint32_t>{2});
}

TEST(clients, results_are_the_same_on_any_number_of_threads) {
  const json clients = {{"a", {{"sm_percent", 30}}}, {"b", json::object()}};
  const result one = run(job_of(clients, two), "--gpu v100 --threads 1");
  ASSERT_EQ(one.code, 0) << one.err;
  for (const char* more : {"2", "3"}) {
    const result r = run(job_of(clients, two), std::string("--gpu v100 --threads ") + more);
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(r.metrics == one.metrics) << more;
  }
}

json sliced(const std::vector<work>& all, const json& slices) {
  json job = job_of({{"a", {{"slice", "left"}}}, {"b", {{"slice", "right"}}}}, all);
  job["slices"] = slices;
  return job;
}

/// What a client's run depends on, and what it got.
json part_of(const result& r, std::size_t client) {
  json part = r.client(client);
  for (const json& k : r.metrics["kernels"])
    if (k["client"] == part["name"]) part["kernels"].push_back(k);
  for (json& k : part["kernels"]) {
    k.erase("launch");
    // Energy is settled at times that the whole chip's events choose, so it moves between neighbouring intervals.
    for (const char* other : {"joules_over_time", "first_interval"}) k["energy"].erase(other);
  }
  return part;
}

void expect_isolation(const json& slices, const std::string& options, const json& preempt = json::array()) {
  const auto sliced_job = [&](const std::vector<work>& all) {
    json job = sliced(all, slices);
    job["preempt"] = preempt;
    return job;
  };
  const work own = {"a", 100, 40};
  const result beside = run(sliced_job({own, {"b", 300, 60}}), options);
  ASSERT_EQ(beside.code, 0) << beside.err;
  expect_results({own, {"b", 300, 60}});
  const json part = part_of(beside, 0);
  const result little = run(sliced_job({{"b", 1, 1}, own}), options);
  ASSERT_EQ(little.code, 0) << little.err;
  EXPECT_TRUE(part_of(little, 0) == part) << part["cycles"] << " and " << part_of(little, 0)["cycles"];
  const result alone = run(sliced_job({own}), options);
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(part_of(alone, 0) == part) << part["cycles"] << " and " << part_of(alone, 0)["cycles"];
}

TEST(clients, of_slices_do_not_disturb_each_other) {
  expect_isolation({{"left", "3g.20gb"}, {"right", "4g.20gb"}}, "--gpu a100");
  expect_isolation({{"left", "1g.10gb"}, {"right", "3g.40gb"}}, "--gpu h100");
  expect_isolation({{"left", "2g.10gb"}, {"right", "4g.20gb"}}, "--gpu a100",
                   {{{"at_cycle", 3000}, {"mode", "switch"}, {"resume_after", 1500}}});
  expect_isolation({{"left", {{"sms", 5}, {"channels", 2}}}, {"right", {{"sms", 10}, {"channels", 5}}}},
                   "--gpu gtx1080");
}

TEST(clients, of_slices_are_on_their_sms) {
  const result r = run(sliced(two, {{"left", "2g.10gb"}, {"right", "4g.20gb"}}), "--gpu a100");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.client(0)["sms"], 28);
  EXPECT_EQ(r.client(0)["most_sms"], 28);
  EXPECT_EQ(r.client(1)["most_sms"], 56);
  EXPECT_EQ(r.client(1)["slice"], "right");
  unsigned used = 0;
  for (const json& sm : r.metrics["sms"]) used += sm["blocks"] != 0;
  EXPECT_EQ(used, 28 + 56);
  // A wave fills the slice.
  for (const json& k : r.metrics["kernels"]) {
    EXPECT_EQ(k["client_sms"], k["client"] == "a" ? 28 : 56);
    EXPECT_DOUBLE_EQ(k["waves"].get<double>() * k["client_sms"].get<double>() * k["blocks_per_sm"].get<double>(),
                     k["blocks"].get<double>());
  }
}

TEST(clients, are_compared_with_their_run_alone) {
  const std::string options = "--gpu a100 --interference";
  const std::vector<work> all = {{"a", 400, 40}, {"b", 400, 40}};
  const result shared = run(job_of({{"a", json::object()}, {"b", json::object()}}, all), options);
  ASSERT_EQ(shared.code, 0) << shared.err;
  const result apart = run(sliced(all, {{"left", "3g.20gb"}, {"right", "3g.20gb"}}), options);
  ASSERT_EQ(apart.code, 0) << apart.err;
  // Clients are simulated alone one after another, or at the same time.
  const result at_once = run(job_of({{"a", json::object()}, {"b", json::object()}}, all), options + " --threads 3");
  EXPECT_TRUE(at_once.metrics == shared.metrics);
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT_GT(shared.client(n)["slowdown"], 1.02) << n;
    EXPECT_EQ(apart.client(n)["slowdown"], 1) << n;
    EXPECT_EQ(apart.client(n)["alone_cycles"], apart.client(n)["cycles"]) << n;
  }
}

TEST(clients, are_part_of_checkpoints) {
  json job = job_of({{"a", {{"sm_percent", 10}}}, {"b", json::object()}}, two);
  for (const work& w : two) add_launch(job, w);
  const result whole = run(job, "--gpu v100");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::uint64_t middle = whole.metrics["cycles"].get<std::uint64_t>() / 2;
  const result cut = run(job, "--gpu v100 --checkpoint c --checkpoint-every " + std::to_string(middle) +
                                  " --max-cycles " + std::to_string(middle + middle / 2));
  EXPECT_EQ(cut.code, 1) << cut.err;
  const auto place = ptx_runs::place_of_test();
  ASSERT_TRUE(std::filesystem::exists(place / "c"));
  const std::string command = "cd '" + place.string() +
                              "' && '" HEDDLE_PROGRAM
                              "' resume c --metrics m.json --quiet --threads 2 --max-cycles 100000000 >stdout 2>stderr";
  ASSERT_EQ(0, std::system(command.c_str())) << ptx_runs::content(place / "stderr");
  json resumed = json::parse(ptx_runs::content(place / "m.json"));
  resumed.erase("host");
  EXPECT_TRUE(resumed == whole.metrics);
}

struct refused {
  json slices, clients;
  std::string gpu, message;
};

TEST(clients, bad_input_is_refused_in_one_line) {
  const json any = {{"a", json::object()}, {"b", json::object()}};
  const json in_slices = {{"a", {{"slice", "left"}}}, {"b", {{"slice", "right"}}}};
  const json nameless = json::parse(R"({"": {"sms": 2, "channels": 4}})");
  const refused all[] = {
      {nullptr, {{"a", {{"sm_percent", 0}}}, {"b", json::object()}}, "v100", "expected more than 0, at most 100"},
      {nullptr, {{"a", {{"sm_percent", 50}}}, {"b", json::object()}}, "gtx1080", "needs compute capability 7.0"},
      {nameless, in_slices, "v100", "expected a name for each slice"},
      {nullptr, {{"a", {{"slice", "left"}}}, {"b", json::object()}}, "a100", "there is no slice 'left'"},
      {nullptr, {{"a", json::object()}}, "a100", "there is no client 'b'"},
      {{{"left", "3g.20gb"}, {"right", "3g.20gb"}}, any, "a100", "client 'a' has no 'slice'"},
      {{{"left", "3g.21gb"}, {"right", "3g.20gb"}}, in_slices, "a100", "a100 has no profile '3g.21gb'"},
      {{{"left", "3g.20gb"}, {"right", "3g.20gb"}}, in_slices, "v100", "no profiles of v100 are known"},
      {{{"left", "4g.20gb"}, {"right", "4g.20gb"}}, in_slices, "a100", "all 7 compute slices"},
      {{{"left", {{"sms", 15}, {"channels", 4}}}, {"right", {{"sms", 6}, {"channels", 4}}}},
       in_slices,
       "gtx1080",
       "6 SMs in whole GPCs are more than the 5"},
      {{{"left", {{"sms", 5}, {"channels", 7}}}, {"right", {{"sms", 5}, {"channels", 2}}}},
       in_slices,
       "gtx1080",
       "2 channels of memory in a row are not left"},
      {{{"left", {{"sms", 5}, {"channels", 4}}}, {"right", {{"sms", 5}, {"channels", 4}}}},
       in_slices,
       "gtx1080 --set l2.flush_at_completion=true",
       "it has no slices"}};
  for (const refused& r : all) {
    json job = job_of(r.clients, two);
    if (!r.slices.is_null()) job["slices"] = r.slices;
    const result o = run(job, "--gpu " + r.gpu);
    EXPECT_EQ(o.code, 2) << r.message << "\n" << o.err;
    EXPECT_NE(o.first_line().find(r.message), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST(clients, have_buffers_that_fit_their_slice) {
  json job = sliced(two, {{"left", "1g.5gb"}, {"right", "4g.20gb"}});
  job["buffers"]["more"] = {{"bytes", 6000000000}, {"client", "a"}};
  const result r = run(job, "--gpu a100");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("slice 'left': the buffers of its clients have"), std::string::npos) << r.err;
}

TEST(clients, use_their_own_buffers_only) {
  json job = job_of({{"a", json::object()}, {"b", json::object()}}, two);
  job["launches"][1]["args"][0]["buffer"] = "a_data";
  const result r = run(job, "--gpu v100");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("buffer 'a_data' is that of client 'a', not of client 'b'"), std::string::npos) << r.err;
  const result o = run(job_of({{"a", json::object()}, {"b", json::object()}}, two), "--record r");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.first_line().find("clients"), std::string::npos) << o.err;
  const result none =
      run({{"module", "k.ptx"},
           {"buffers", {{"x", {{"bytes", 4}}}}},
           {"launches", {{{"kernel", "note"}, {"grid", {1}}, {"block", {1}}, {"args", {{{"buffer", "x"}}}}}}}},
          "--interference");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("--interference: the job has no 'clients'"), std::string::npos) << none.err;
}

}  // namespace clients_test
