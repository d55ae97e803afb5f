// SPDX-License-Identifier: MIT
// The data in the report's page, and the page itself: it must match its sources and load nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/metrics/json.h"
#include "testbench/report/metrics_report.h"
#include "testbench/report/page_template.h"
#include "testbench/report/report_page.h"
#include "testbench/sweep/plan/sha256.h"
#include "tests/system/common/json_text.h"

namespace report_test {

namespace fs = std::filesystem;
using namespace heddle;
using namespace heddle::testbench;
using nlohmann::json;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

run_metrics small_run() {
  run_metrics m;
  m.config = load_config("gtx1080");
  m.cycles = 100;
  kernel_metrics k;
  k.name = "k";
  k.lines.emplace_back();
  m.kernels = {k};
  m.sms.resize(1);
  return m;
}

std::string refusal(const std::string& text) {
  try {
    check_metrics({"m.json", text});
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

TEST(report_page, bytes_that_are_no_utf8_are_replaced) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + replaced + "b");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), replaced + replaced);                 // overlong form
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), replaced + replaced + replaced);  // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").substr(0, 3), replaced);       // above the last code point
  EXPECT_EQ(valid_utf8("\xe2\x82"), replaced + replaced);                 // truncated
  EXPECT_EQ(valid_utf8("\xe2\x82\xbf"), "\xe2\x82\xbf");                  // the last one of 64, and an invalid one
  for (const char* end : {"\xc0", "\xff"}) {
    EXPECT_EQ(valid_utf8("\xc3" + std::string(end)), replaced + replaced);
    EXPECT_EQ(valid_utf8("\xe2\x82" + std::string(end)), replaced + replaced + replaced);
  }
  EXPECT_EQ(valid_utf8("\xc3"
                       "A"),
            replaced + "A");
}

TEST(report_page, data_cannot_leave_their_element) {
  const json data = {{"name", "</script><script>alert(1)</script><!--"}, {"other", "a & b \xe2\x80\xa8 @HEDDLE_DATA@"}};
  const std::string page = report_page(data.dump());
  const std::string begin = "<script type=\"application/json\" id=\"heddle-data\">";
  const auto at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const auto end = page.find("</script>", at);
  const std::string inside = page.substr(at + begin.size(), end - at - begin.size());
  EXPECT_EQ(inside.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(json::parse(inside), data);
  EXPECT_EQ(page.size() - inside.size(), page_template().size() - std::string("@HEDDLE_DATA@").size());
}

TEST(report_page, is_what_its_sources_make) {
  const fs::path folder = fs::path(HEDDLE_SOURCE) / "testbench/report/page";
  std::vector<std::string> files = {"index.html", "package-lock.json", "package.json", "vite.config.js"};
  for (const auto& file : fs::directory_iterator(folder / "src"))
    files.push_back("src/" + file.path().filename().string());
  std::sort(files.begin(), files.end());
  sha256 hash;
  for (const std::string& file : files) {
    const std::string text = content(folder / file);
    const std::string head = file + "\n" + std::to_string(text.size()) + "\n";
    hash.update(head.data(), head.size()).update(text.data(), text.size());
  }
  const std::string page(page_template());
  EXPECT_TRUE(page.find("<meta name=\"heddle-sources\" content=\"" + hex(hash.finish()) + "\">") != std::string::npos)
      << "testbench/report/page.html was not built from testbench/report/page: ./dev report-page builds it";
  EXPECT_TRUE(page == content(fs::path(HEDDLE_SOURCE) / "testbench/report/page.html"))
      << "the build has embedded another page";
}

TEST(report_page, names_no_outside_address) {
  const std::string page(page_template());
  for (const std::string scheme : {"http:", "https:", "ws:", "wss:", "ftp:"})
    for (std::size_t at = page.find(scheme + "//"); at != std::string::npos; at = page.find(scheme + "//", at + 1))
      // Names of the XML vocabularies, which are not fetched.
      EXPECT_EQ(page.compare(at, 18, "http://www.w3.org/"), 0) << page.substr(at, 60);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* what : {"<link rel=\"stylesheet", "<script src", "@import", "<iframe"})
    EXPECT_EQ(page.find(what), std::string::npos) << what;
}

TEST(metrics_report, takes_what_a_run_writes) {
  const std::string text = to_json(small_run());
  EXPECT_EQ(refusal(text), "");
  const json page = json::parse(report_of_metrics({{"a.json", text}, {"b.json", text}}));
  EXPECT_EQ(page["kind"], "metrics");
  EXPECT_EQ(page["files"].size(), 2u);
  EXPECT_EQ(page["files"][1]["name"], "b.json");
  EXPECT_EQ(page["files"][0]["metrics"]["cycles"], 100);
  EXPECT_EQ(page["files"][0]["preset"], page["files"][0]["metrics"]["gpu"]["config"]);
  EXPECT_GT(page["parameters"]["l1.size_bytes"].get<std::string>().size(), 3u);
}

TEST(metrics_report, lists_what_differs_from_the_shipped_gpu) {
  run_metrics m = small_run();
  m.config.l1.size_bytes *= 2;
  json page = json::parse(report_of_metrics({{"a.json", to_json(m)}}));
  EXPECT_EQ(page["files"][0]["preset"]["l1.size_bytes"].get<unsigned>() * 2,
            page["files"][0]["metrics"]["gpu"]["config"]["l1.size_bytes"]);
  // A name is never interpreted as a file name.
  m.config.gpu.name = "../configs/gtx1080.ini";
  page = json::parse(report_of_metrics({{"a.json", to_json(m)}}));
  EXPECT_TRUE(page["files"][0]["preset"].is_null());
}

TEST(metrics_report, refuses_what_is_no_metrics_file_and_says_where) {
  EXPECT_NE(refusal("").find("m.json:"), std::string::npos);
  EXPECT_NE(refusal("{\"schema\": \"heddle.metrics/1\"").find("m.json:1:"), std::string::npos);
  EXPECT_NE(refusal("[]").find("expected metrics of Heddle"), std::string::npos);
  EXPECT_NE(refusal("{\"cycles\": 1}").find("expected metrics of Heddle"), std::string::npos);
  EXPECT_NE(refusal("{\"schema\": \"heddle.metrics/2\"}").find("got schema 'heddle.metrics/2'"), std::string::npos);
  const json good = json::parse(to_json(small_run()));
  const auto changed = [&](const std::function<void(json&)>& change) {
    json bad = good;
    change(bad);
    return refusal(bad.dump(1));
  };
  EXPECT_NE(changed([](json& m) { m.erase("kernels"); }).find("'kernels' is missing"), std::string::npos);
  EXPECT_NE(changed([](json& m) { m["kernels"][0].erase("warp_cycles"); }).find("'kernels[].warp_cycles' is missing"),
            std::string::npos);
  EXPECT_NE(
      changed([](json& m) { m["cycles"] = "many"; }).find("'cycles' is not what metrics have there, expected a number"),
      std::string::npos);
  EXPECT_NE(changed([](json& m) { m["kernels"][0]["name"] = 7; }).find("expected a text"), std::string::npos);
  EXPECT_NE(changed([](json& m) { m["kernels"] = json::object(); }).find("expected a list"), std::string::npos);
  EXPECT_NE(changed([](json& m) { m["kernels"][0]["memory"]["l1"] = 1; }).find("expected an object"),
            std::string::npos);
  EXPECT_NE(changed([](json& m) { m["kernels"].push_back("x"); }).find("'kernels[]'"), std::string::npos);
  EXPECT_EQ(changed([](json& m) { m["added_later"] = json::array({1}); }), "");
  EXPECT_EQ(changed([](json& m) {
              m.erase("intervals");
              m["kernels"][0].erase("lost_occupancy");
            }),
            "");
}

}  // namespace report_test
