// SPDX-License-Identifier: MIT
// The page of a run in progress: that questions change no result, where it pauses, and how it looks in a browser.
#include <map>
#include <memory>
#include <sstream>

#include "tests/system/views/live_page_fixture.h"
#include "tests/system/views/report_pages.h"

namespace live_page_test {

using heddle::tests::browser;

class of_a_run : public live_page, public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(of_a_run, changes_no_result) {
  words arguments = job(150, GetParam().first);
  arguments.insert(arguments.end(), {"--threads", GetParam().second});
  is_undisturbed(arguments, {"b.bin"});
}

INSTANTIATE_TEST_SUITE_P(live_page, of_a_run,
                         ::testing::Values(std::pair("gtx1080", "1"), std::pair("gtx1080", "2"), std::pair("v100", "1"),
                                           std::pair("v100", "2")));

TEST_F(live_page, of_a_replay_changes_no_result) {
  std::ostringstream out;
  out << "-kernel name = k\n-kernel id = 1\n-grid dim = (64,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 32\n"
         "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = "
         "0x00007f4e00000000\n-nvbit version = 1.7\n-accelsim tracer version = 3\n\n#traces format = PC mask dest_num "
         "[reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n";
  for (unsigned block = 0; block < 64; ++block) {
    out << "#BEGIN_TB\n\nthread block = " << std::dec << block << ",0,0\n\nwarp = 0\ninsts = 101\n" << std::hex;
    for (unsigned k = 0; k < 100; ++k) out << "0" << 0x100 + 16 * k << " ffffffff 1 R8 FFMA 3 R8 R9 R10 0 \n";
    out << "0800 ffffffff 0 EXIT 0 0 \n\n#END_TB\n\n";
  }
  write("kernel-1.traceg", out.str());
  std::string list;
  for (unsigned k = 0; k < 30; ++k) list += "kernel-1.traceg\n";
  write("kernelslist.g", list);
  is_undisturbed({"replay", "kernelslist.g", "--gpu", "v100", "--quiet", "--metrics", "m.json"}, {});
}

TEST_F(live_page, of_a_cuda_program_changes_no_result) {
  is_undisturbed({"exec", "--gpu", "v100", "--quiet", "--metrics", "m.json", "--", HEDDLE_CUDA_PROGRAMS,
                  HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin", "streams"},
                 {});
  EXPECT_NE(content(place_ / "stdout").find("right\n"), std::string::npos);
}

// ----- Where it pauses -----

// By all warps so far.
std::uint64_t executed_at(const json& metrics, unsigned line) {
  for (const json& l : metrics["kernels"][0]["lines"])
    if (l["line"] == line) return l["executed"];
  return 0;
}

TEST_F(live_page, pauses_where_it_is_asked_to) {
  serve(job(100000));
  order("/pause");
  json s = paused_at("cycle=20001");
  EXPECT_EQ(s["cycle"], 20001);
  EXPECT_EQ(s["paused_by"], "cycle 20001");
  EXPECT_EQ(s["break"], json());
  std::map<unsigned, std::uint64_t> issued;
  for (const unsigned line : {17u, 21u}) issued[line] = executed_at(got("/metrics"), line);
  for (const std::string place : {"k.ptx:17", "k.ptx:21"}) {
    const std::uint64_t before = s["cycle"];
    s = paused_at("line=" + place);
    EXPECT_GT(s["cycle"], before);
    EXPECT_EQ(s["paused_by"], place);
    const auto line = static_cast<unsigned>(std::stoul(place.substr(6)));
    EXPECT_GT(executed_at(got("/metrics"), line), issued[line]) << place;
  }
  const std::uint64_t executed = got("/metrics")["kernels"][0]["metrics"]["inst_executed"];
  const std::string condition = "kernels.0.metrics.inst_executed > " + std::to_string(executed + 3000);
  std::string target = condition;
  for (std::size_t at = 0; (at = target.find(' ', at)) != std::string::npos;) target.replace(at, 1, "%20");
  s = paused_at("condition=" + target);
  EXPECT_EQ(s["paused_by"], condition);
  EXPECT_GT(got("/metrics")["kernels"][0]["metrics"]["inst_executed"], executed + 3000);
  // Forgotten.
  const std::uint64_t later = s["cycle"].get<std::uint64_t>() + 2000;
  EXPECT_EQ(order("/break?cycle=" + std::to_string(later))["break"], "cycle " + std::to_string(later));
  EXPECT_EQ(order("/unbreak")["break"], json());
  order("/resume");
  do s = got("/state");
  while (s["cycle"] <= later && s["paused"] == false);
  EXPECT_EQ(s["paused"], false);
  EXPECT_EQ(end(SIGINT), 130);
}

// Or in some other cycle, if the machine is too busy for that.
void live_page::serve_and_pause_before(std::uint64_t cycle) {
  for (unsigned attempts = 0; attempts < 50; ++attempts) {
    end(SIGKILL);
    serve(job(100000));
    if (order("/pause")["cycle"] < cycle && paused_at("cycle=" + std::to_string(cycle))["cycle"] == cycle) return;
  }
}

// In any cycle, what the page says is what a run has that is limited to that cycle.
TEST_F(live_page, has_the_metrics_of_a_run_up_to_its_cycle) {
  for (const char* place : {"cycle=17777", "line=k.ptx:17"}) {
    SCOPED_TRACE(place);
    serve_and_pause_before(1540);  // the line issues in cycle 1,544, and nothing is due in the next one
    const std::uint64_t cycle = paused_at(place)["cycle"];
    json m = got("/metrics");
    EXPECT_EQ(m["snapshot_cycle"], cycle);
    for (const char* mark : {"host", "snapshot_cycle"}) m.erase(mark);
    EXPECT_EQ(end(SIGINT), 130);
    EXPECT_EQ(run(job(100000), {"--max-cycles", std::to_string(cycle)}).code, 1);
    EXPECT_TRUE(m == metrics("m.json")) << json::diff(m, metrics("m.json")).dump(1).substr(0, 2000);
  }
}

std::uint64_t used_in(const json& units, const char* queue) {
  std::uint64_t used = 0;
  for (const json& u : units) {
    used += u[queue]["used"].get<std::uint64_t>();
    EXPECT_LE(u[queue]["used"], u[queue]["capacity"]);
  }
  return used;
}

TEST_F(live_page, tells_what_waits_in_the_memory) {
  serve(job(100000));
  order("/pause");
  json memory = paused_at("line=k.ptx:17")["memory"];
  EXPECT_EQ(memory["l1"].size(), 80u);
  EXPECT_EQ(memory["l2"].size(), 64u);
  EXPECT_EQ(memory["dram"].size(), 64u);
  std::uint64_t l1 = 0, l2 = 0, dram = 0, crossing = 0;
  for (unsigned k = 0; k < 200 && (l1 == 0 || l2 == 0 || dram == 0 || crossing == 0); ++k) {
    memory = order("/step?cycles=20")["memory"];
    l1 += used_in(memory["l1"], "misses");
    l2 += used_in(memory["l2"], "misses");
    dram += used_in(memory["dram"], "requests");
    crossing += memory["interconnect"]["requests"].get<std::uint64_t>();
  }
  EXPECT_GT(l1, 0u);
  EXPECT_GT(l2, 0u);
  EXPECT_GT(dram, 0u);
  EXPECT_GT(crossing, 0u);
  EXPECT_EQ(end(SIGINT), 130);
}

TEST_F(live_page, names_the_clients_of_launches) {
  const words arguments = job(100000, "a100");
  json j = json::parse(content(place_ / "job.json"));
  j["slices"] = {{"left", "3g.20gb"}, {"right", "2g.10gb"}};
  j["clients"] = {{"train", {{"slice", "left"}}}, {"infer", {{"slice", "right"}}}};
  j["buffers"]["b"]["client"] = "train";
  j["buffers"]["c"] = {{"bytes", 65536}, {"client", "infer"}};
  j["launches"][0]["client"] = "train";
  j["launches"].push_back(j["launches"][0]);
  j["launches"][1]["client"] = "infer";
  j["launches"][1]["args"][0]["buffer"] = "c";
  write("job.json", j.dump());
  serve(arguments);
  json launches;
  do launches = got("/state")["launches"];
  while (launches.size() < 2);
  std::map<std::string, std::string> slices;  // by client
  for (const json& l : launches) slices[l["client"].get<std::string>()] = l["slice"].get<std::string>();
  EXPECT_EQ(slices, (std::map<std::string, std::string>{{"train", "left"}, {"infer", "right"}}));
  EXPECT_EQ(end(SIGINT), 130);
}

TEST_F(live_page, is_left_by_a_signal_while_paused) {
  serve_and_pause_before(5000);
  const line events(port_), idle(port_);
  events.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(events.receive("}\n\n").find("data: "), std::string::npos);
  ::kill(child_, SIGUSR1);
  while (!fs::exists(place_ / "m.json") && got("/state").is_object()) ::usleep(1000);
  EXPECT_EQ(metrics("m.json")["snapshot_cycle"], 5000);
  EXPECT_EQ(got("/state")["paused"], true) << "a snapshot continues nothing";
  EXPECT_EQ(end(SIGINT), 130);
  EXPECT_EQ(events.receive("no end").find("no end"), std::string::npos);
  EXPECT_EQ(idle.receive(), "");
  EXPECT_EQ(get("/state").status, 0);
  const json m = metrics("m.json");
  EXPECT_EQ(m["stopped"], "SIGINT");
  EXPECT_EQ(m["stopped_cycle"], 5000);
}

// Also one that comes while it makes the steps after which it pauses.
TEST_F(live_page, answers_signals_between_steps) {
  serve_and_pause_before(5000);
  for (unsigned k = 0; k < 30 && !HasFailure(); ++k) {
    fs::remove(place_ / "m.json");
    order("/step?cycles=20");
    ::kill(child_, SIGUSR1);
    for (unsigned ms = 0; ms < 60000 && !fs::exists(place_ / "m.json"); ++ms) ::usleep(1000);
    EXPECT_TRUE(fs::exists(place_ / "m.json")) << "step " << k;
    EXPECT_EQ(paused()["cycle"], 5020 + 20 * k);
  }
  EXPECT_EQ(end(SIGINT), 130);
}

// It goes on to a cycle whose state can be described.
TEST_F(live_page, is_left_with_a_checkpoint_while_paused) {
  const words arguments = job(300);
  ASSERT_EQ(run(arguments).code, 0);
  const json whole = metrics("m.json");
  for (const char* place : {"cycle=5000", "line=k.ptx:17", "condition=kernels.0.cycles%20%3E%203000"}) {
    SCOPED_TRACE(place);
    fs::remove(place_ / "c");
    serve(arguments, {"--serve-control", "--checkpoint", "c"});
    order("/pause");
    paused_at(place);
    EXPECT_EQ(end(SIGTERM), 143);
    ASSERT_TRUE(fs::exists(place_ / "c"));
    ASSERT_EQ(run({"resume", "c", "--quiet", "--metrics", "m.json"}).code, 0);
    EXPECT_TRUE(metrics("m.json") == whole);
  }
}

// Connections that are left for other requests.
TEST_F(live_page, streams_its_events_to_some) {
  serve(job(100000));
  std::vector<std::unique_ptr<line>> all;
  for (unsigned k = 0; k < 40; ++k) {
    all.push_back(std::make_unique<line>(port_));
    all.back()->send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string text = all.back()->receive("\n\n");
    EXPECT_EQ(answer_of(text).status, k < 32 ? 200 : 503) << k << " " << text;
  }
  EXPECT_EQ(get("/state").status, 200);
  EXPECT_EQ(end(SIGINT), 130);
}

// ----- The page -----

class live_page_in_a_browser : public live_page {
 protected:
  void SetUp() override {
    if (browser::program().empty())
      GTEST_SKIP() << "no browser: install chromium-headless-shell, or name one in HEDDLE_BROWSER";
    chromium_ = std::make_unique<browser>(browser::program(), place_.string());
  }
  /// Waits until the expression is true, for half a minute.
  void comes(const std::string& expression) {
    EXPECT_EQ(chromium_->evaluate("new Promise((done) => { const look = (left) => (" + expression +
                                  ") ? done(true) : left === 0 ? done(false) : setTimeout(look, 20, left - 1);"
                                  "look(1500); })"),
              true)
        << expression;
  }
  void click(const std::string& text) {
    chromium_->evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent === '" + text +
                        "').click()");
  }
  std::unique_ptr<browser> chromium_;
};

TEST_F(live_page_in_a_browser, shows_a_run_and_steers_it) {
  serve(job(100000));
  chromium_->open_address("http://127.0.0.1:" + std::to_string(port_) + "/", 1600, false);
  comes("window.heddle_live.state() !== null");
  comes("document.title.startsWith('Heddle · running')");
  comes("document.querySelectorAll('#so-far section').length > 3");
  EXPECT_EQ(chromium_->evaluate("document.querySelectorAll('.sm-map button').length"), 80);
  EXPECT_EQ(chromium_->evaluate("document.querySelectorAll('.units .sm-map span').length"), 80 + 64 + 64);
  chromium_->evaluate("document.querySelectorAll('.sm-map button')[3].click()");
  comes("[...document.querySelectorAll('caption')].some((c) => c.textContent.startsWith('Warps of SM 3 in cycle '))");
  click("Pause");
  comes("window.heddle_live.state().paused && document.title.startsWith('Heddle · paused')");
  const std::uint64_t cycle = got("/state")["cycle"];
  click("Step");
  comes("window.heddle_live.state().cycle === " + std::to_string(cycle + 1));
  click("Go on");
  comes("!window.heddle_live.state().paused && window.heddle_live.state().cycle > " + std::to_string(cycle + 1));
  click("Pause at");  // nothing is named
  comes("document.querySelector('.refusal').textContent !== ''");
  click("Pause");
  comes("window.heddle_live.state().paused");
  comes(std::string(report_page_test::faults) + ".length === 0");
  EXPECT_EQ(chromium_->evaluate(report_page_test::faults), json::array());
  const std::vector<std::string> complaints = chromium_->complaints();
  for (const std::string& c : complaints) EXPECT_NE(c.find("400 (Bad Request)"), std::string::npos) << c;
  EXPECT_EQ(end(SIGINT), 130);
  comes("document.querySelector('[role=status]').textContent.startsWith('The run has ended')");
  comes("document.title === 'Heddle · ended'");
}

}  // namespace live_page_test
