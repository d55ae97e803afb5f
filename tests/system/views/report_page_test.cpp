// SPDX-License-Identifier: MIT
// The report in a browser: it shows the measured values, at both widths and in both themes, accessible by keyboard and
// screen reader.
#include <algorithm>
#include <cmath>

#include "tests/system/views/report_pages.h"

namespace report_page_test {

TEST_F(report_pages, draw_what_was_measured) {
  heddle("run '" HEDDLE_WORKLOADS
         "/reduction/job.json' --quiet --set l1.size_bytes=49152 --metrics m.json --report r.html");
  sound("r.html");
  const json m = metrics("m.json");
  std::size_t longest = 0;
  for (std::size_t i = 0; i < m["kernels"].size(); ++i)
    if (m["kernels"][i]["cycles"] > m["kernels"][longest]["cycles"]) longest = i;
  const json& k = m["kernels"][longest];
  EXPECT_TRUE(shows("speed_of_light", percent(k["metrics"]["issue_slot_utilization"])));
  EXPECT_TRUE(shows("occupancy", percent(k["metrics"]["achieved_occupancy"])));
  for (const char* chart : {"occupancy_over_time", "instructions", "stalls", "warp_states", "states_over_time",
                            "rates_over_time", "roofline", "sm_heat_map"})
    EXPECT_EQ(value(std::string("document.querySelectorAll('[data-chart=") + chart + "]').length"), 1) << chart;
  // The length of bars is proportional to the values: pixels per share are equal for all.
  const json bars = value(R"((() => {
    const used = heddle.data.files[0].judged[)" +
                          std::to_string(longest) + R"(].speed_of_light;
    const paths = [...document.querySelectorAll('[data-chart=speed_of_light] path')].filter((p) => p.getAttribute('fill') === '#4477aa').map((p) => p.getBBox());
    paths.sort((a, b) => a.y - b.y);
    return used.map((u, i) => [u.share, paths[i]?.width ?? -1]); })())");
  double scale = 0;
  for (const json& bar : bars) scale = std::max(scale, bar[1].get<double>() / std::max(1e-9, bar[0].get<double>()));
  ASSERT_GT(scale, 100);
  for (const json& bar : bars) EXPECT_NEAR(bar[1].get<double>(), bar[0].get<double>() * scale, 1.0);
  // The verdict comes first and equals that of the rules.
  EXPECT_EQ(value("document.querySelector('main section').id"), "verdict");
  EXPECT_EQ(value("document.querySelector('.headline').textContent"),
            value("heddle.data.files[0].judged[" + std::to_string(longest) + "].headline"));
  EXPECT_EQ(
      value("document.getElementById('configuration-differences').textContent").get<std::string>().rfind("1 of ", 0),
      0u);
  EXPECT_EQ(
      value(
          "[...document.querySelectorAll('#configuration tbody tr')].map((r) => [...r.cells].slice(0, 3).map((c) => c.textContent))"),
      json::array({{"l1.size_bytes", "49152 (changed)", "24576"}}));
  // Global loads bypass the L1 of this chip, so a changed size has no effect, which the page reports.
  EXPECT_EQ(value("document.querySelectorAll('.without-effect').length"), 1);
  EXPECT_TRUE(
      value("document.querySelector('.without-effect').textContent.includes('l1.cache_global_loads is false')"));
  const json line =
      value("[...document.querySelector('#hot-lines tbody tr').cells].slice(0, 2).map((c) => c.textContent)");
  std::uint64_t lost = 0;
  json worst;
  for (const json& l : k["lines"])
    if (const std::uint64_t n =
            l["warp_cycles"]["active"].get<std::uint64_t>() - l["warp_cycles"]["selected"].get<std::uint64_t>();
        n > lost)
      lost = n, worst = l;
  EXPECT_EQ(line, (json{std::to_string(worst["line"].get<unsigned>()), worst["text"]}));
}

// One bar under a legend of many rows.
TEST_F(report_pages, keep_room_for_bars_beside_long_legends) {
  heddle("run '" HEDDLE_WORKLOADS "/histogram/job.json' --quiet --metrics m.json --report r.html");
  sound("r.html");
  const json m = metrics("m.json");
  unsigned states = 0;
  for (const auto& [name, n] : m["kernels"][0]["warp_states"].items()) states += name != "active" && n != 0;
  EXPECT_GT(states, 10u) << "too few to need more than a few rows";
}

TEST_F(report_pages, offer_their_data_for_download) {
  heddle("run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --metrics m.json --report r.html");
  chromium->open(place_ / "r.html", 1600, false);
  const json m = metrics("m.json");
  const json names = value("[...document.querySelectorAll('[data-csv]')].map((b) => b.dataset.csv)");
  EXPECT_GT(names.size(), 12u);
  for (const json& name : names) {
    const json csv = value(csv_of + ("(\"" + name.get<std::string>() + "\")"));
    EXPECT_EQ(csv[0], name.get<std::string>() + ".csv");
    EXPECT_GT(csv[1].get<std::string>().size(), 10u) << name;
  }
  const json lines = value(
      csv_of +
      std::string(
          "(\"hot_lines\").then(([, text]) => text.trim().split('\\r\\n').slice(1).map((l) => Number(l.match(/(\\d+)(,\\d+){13}$/)[1])).reduce((a, b) => a + b))"));
  EXPECT_EQ(lines, m["kernels"][0]["metrics"]["inst_executed"]);
  // The table of a chart has the same data and is created on request.
  EXPECT_EQ(value("document.querySelectorAll('[data-chart=speed_of_light] ~ details table').length"), 0);
  value(
      "document.querySelector('[data-chart=speed_of_light] ~ details').open = true; new Promise((done) => setTimeout(done, 50))");
  EXPECT_EQ(value("document.querySelectorAll('[data-chart=speed_of_light] ~ details tbody tr').length"),
            value("heddle.data.files[0].judged[0].speed_of_light.length"));
  EXPECT_EQ(value(faults), json::array());
}

TEST_F(report_pages, lead_from_hot_lines_to_their_cycles) {
  heddle("run '" HEDDLE_WORKLOADS "/reduction/job.json' --quiet --gpu v100 --metrics m.json --report r.html");
  chromium->open(place_ / "r.html", 1600, false);
  const std::string view = metrics("m.json")["host"]["view"];
  EXPECT_EQ(view, "heddle view " HEDDLE_WORKLOADS "/reduction/job.json --gpu v100");
  const json commands = value("[...document.querySelectorAll('#hot-lines code.command')].map((c) => c.textContent)");
  ASSERT_GT(commands.size(), 5u);
  for (const json& c : commands) EXPECT_EQ(c.get<std::string>().rfind(view + " --line reduction.ptx:", 0), 0u) << c;
  // What a line waits for has the words of the waveform: of the line at which most is lost.
  const json lines = metrics("m.json")["kernels"][0]["lines"];
  const auto lost = [](const json& l) {
    return l["warp_cycles"]["active"].get<double>() - l["warp_cycles"]["selected"].get<double>();
  };
  const json& hot = *std::max_element(lines.begin(), lines.end(), [&](auto& a, auto& b) { return lost(a) < lost(b); });
  std::string worst = "not_selected";
  for (const auto& [state, cycles] : hot["warp_states"].items())
    if (state != "selected" && cycles > hot["warp_states"][worst]) worst = state;
  std::replace(worst.begin(), worst.end(), '_', ' ');
  EXPECT_EQ(value("document.querySelector('#hot-lines tbody tr td:nth-last-child(2)').textContent")
                .get<std::string>()
                .rfind(worst + " ", 0),
            0u)
      << worst;
  // Copied, or selected where the browser lets no page write to the clipboard.
  const json got = value(
      "(async () => { const b = document.querySelector('#hot-lines [data-command]'); b.click(); "
      "await new Promise((done) => setTimeout(done, 100)); "
      "return b.textContent === 'Copied' ? b.dataset.command : getSelection().toString(); })()");
  EXPECT_EQ(got, commands[0]);
  // Of a file of metrics, too; a run that view cannot repeat has none.
  json m = metrics("m.json");
  m["host"].erase("view");
  std::ofstream(place_ / "without.json") << m;
  heddle("report m.json -o again.html");
  heddle("report without.json -o without.html");
  chromium->open(place_ / "again.html", 400, false);
  EXPECT_EQ(value("document.querySelectorAll('#hot-lines code.command').length"), commands.size());
  EXPECT_EQ(value("document.documentElement.scrollWidth"), 400) << "the table scrolls in its box";
  EXPECT_EQ(value(faults), json::array());
  chromium->open(place_ / "without.html", 1600, false);
  EXPECT_EQ(value("document.querySelectorAll('#hot-lines code.command').length"), 0);
  EXPECT_EQ(value(faults), json::array());
}

TEST_F(report_pages, mark_the_advice_that_was_tried) {
  heddle("whatif '" HEDDLE_WORKLOADS "/saxpy/job.json' --quiet --runs 8 --metrics m.json --report r.html");
  const json m = metrics("m.json");
  chromium->open(place_ / "r.html", 400, false);
  const json marked =
      value("[...document.querySelectorAll('#verdict li[data-tried=done] strong')].map((s) => s.textContent)");
  ASSERT_GT(marked.size(), 0u);
  for (const json& text : marked) EXPECT_EQ(text.get<std::string>().rfind("Tried: ", 0), 0u) << text;
  EXPECT_EQ(value("document.querySelectorAll('#tried-changes tbody tr').length"), m["tried"].size());
  EXPECT_EQ(value("document.documentElement.scrollWidth"), 400);
  EXPECT_EQ(value(faults), json::array());
}

TEST_F(report_pages, are_operable_by_keyboard) {
  heddle("run '" HEDDLE_WORKLOADS "/scan/job.json' --quiet --report r.html");
  chromium->open(place_ / "r.html", 1600, false);
  chromium->press("Tab");
  EXPECT_EQ(value("document.activeElement.className"), "skip");
  EXPECT_GE(value("document.activeElement.getBoundingClientRect().left"), 0);
  const char* const where =
      "document.activeElement.dataset.csv ?? document.querySelector(`label[for=\"${document.activeElement.id}\"]`)?.textContent ?? document.activeElement.tagName";
  std::vector<std::string> met;
  for (int i = 0; i < 120; ++i) {
    chromium->press("Tab");
    met.push_back(value(where));
  }
  for (const char* what : {"Kernel", "Theme", "A", "SUMMARY", "speed_of_light", "DIV", "sm_heat_map", "Shows", "Search",
                           "only differences"})
    EXPECT_NE(std::find(met.begin(), met.end(), what), met.end()) << what;
  // Another kernel is selected by keyboard, and the focus stays.
  value("document.querySelector('select').focus()");
  chromium->press("End");
  EXPECT_EQ(value("document.querySelector('select').value"),
            value("String(heddle.data.files[0].metrics.kernels.length - 1)"));
  EXPECT_EQ(value(where), "Kernel");
  EXPECT_EQ(value(faults), json::array());
  // The reader's choice of theme.
  value(
      "[...document.querySelectorAll('select')].find((s) => document.querySelector(`label[for=\"${s.id}\"]`).textContent === 'Theme').focus()");
  chromium->press("End");
  EXPECT_EQ(value("document.documentElement.dataset.theme"), "dark");
  EXPECT_EQ(value(faults), json::array());
  EXPECT_EQ(chromium->complaints(), std::vector<std::string>());
}

TEST_F(report_pages, show_context_switches) {
  const fs::path folder = HEDDLE_WORKLOADS "/scan";
  std::ifstream in(folder / "job.json");
  json job = json::parse(in);
  job["module"] = folder / job["module"].get<std::string>();
  for (auto& buffer : job["buffers"])
    if (buffer.contains("file")) buffer["file"] = folder / buffer["file"].get<std::string>();
  job.erase("outputs");
  job["preempt"] = json::parse(R"([{"at_cycle": 1500, "sm": [0, 1, 2], "mode": "switch", "resume_after": 500}])");
  write("job.json", job.dump());
  heddle("run job.json --quiet --metrics m.json --report r.html");
  sound("r.html");
  const json m = metrics("m.json");
  ASSERT_FALSE(m["context_switches"].empty());
  const json rows =
      value(csv_of + std::string("(\"context_switches\").then(([, text]) => text.trim().split('\\r\\n').length - 1)"));
  EXPECT_EQ(rows, m["context_switches"].size());
  EXPECT_TRUE(shows("context_switches", "saving"));
}

TEST_F(report_pages, show_clients) {
  heddle("run '" HEDDLE_SOURCE
         "/testbench/clients/slices.json' --gpu a100 --quiet --interference --metrics m.json --report r.html");
  sound("r.html");
  const json m = metrics("m.json");
  const json columns = value("[...document.querySelectorAll('#clients thead th')].map((c) => c.textContent)");
  const json rows =
      value("[...document.querySelectorAll('#clients tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))");
  ASSERT_EQ(rows.size(), m["clients"].size());
  const auto of = [&](std::size_t row, const std::string& name) {
    const auto at = std::find(columns.begin(), columns.end(), name);
    return at == columns.end() ? "no column " + name : rows[row][at - columns.begin()].get<std::string>();
  };
  const auto whole = [](const json& number) { return value("(" + number.dump() + ").toLocaleString('en-US')"); };
  const double sm_cycles = m["cycles"].get<double>() * static_cast<double>(m["sms"].size());
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const json& c = m["clients"][n];
    for (const char* name : {"slice"}) EXPECT_EQ(of(n, name), c[name]) << name;
    EXPECT_EQ(of(n, "client"), c["name"]);
    EXPECT_EQ(of(n, "SMs"), whole(c["sms"]));
    EXPECT_EQ(of(n, "cycles"), whole(c["cycles"]));
    EXPECT_EQ(of(n, "cycles alone"), whole(c["alone_cycles"]));
    EXPECT_EQ(of(n, "SM-cycles of the job"), percent(c["sm_cycles"].get<double>() / sm_cycles));
    EXPECT_EQ(of(n, "L2 hits"), percent(c["l2_hits"].get<double>() / c["l2_accesses"].get<double>()));
    EXPECT_EQ(of(n, "slowdown"), "\u00d7 1.000");
    EXPECT_TRUE(shows("client_cycles", c["name"]));
  }
  // Launches name their client where one is chosen, and where one is shown.
  const json names =
      value("[...document.querySelectorAll('select')].flatMap((s) => [...s.options].map((o) => o.textContent))");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [&](const json& name) {
    return name.get<std::string>().find(" of " + m["clients"][1]["name"].get<std::string>() + ",") != std::string::npos;
  })) << names;
  EXPECT_EQ(value("document.querySelector('#verdict dt').textContent"), "client");
  // A client whose counts are no counts is refused.
  json broken = m;
  broken["clients"][0]["sm_cycles"] = "many";
  write("broken.json", broken.dump());
  EXPECT_NE(std::system(
                ("cd '" + place_.string() + "' && '" HEDDLE_PROGRAM "' report broken.json -o b.html 2>e.txt").c_str()),
            0);
}

TEST_F(report_pages, compare_files) {
  heddle("run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --metrics a.json");
  heddle("run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --gpu v100 --metrics b.json");
  heddle("report a.json b.json a.json -o r.html");
  sound("r.html");
  const json a = metrics("a.json"), b = metrics("b.json");
  EXPECT_EQ(value("document.querySelector('main section').id"), "comparison");
  const json cells = value(
      "[...document.querySelectorAll('#comparison tbody tr')[0].cells].map((c) => Number(c.textContent.split(' ')[0].replaceAll(',', '')))");
  EXPECT_EQ(cells[1], a["kernels"][0]["cycles"]);
  EXPECT_EQ(cells[2], b["kernels"][0]["cycles"]);
  EXPECT_EQ(cells[3], a["kernels"][0]["cycles"]);
  // Cycles of kernel and job, and their durations: the clocks of these chips differ.
  const json rows = value(
      "[...document.querySelectorAll('#comparison tbody tr')].slice(0, 4).map((r) => [...r.cells].map((c) => c.textContent))");
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(rows[i][0], (json{"kernel cycles", "kernel time", "job cycles", "job time"})[i]);
  const auto microseconds = [](const json& cycles, const json& m) {
    return cycles.get<double>() / m["gpu"]["config"]["gpu.core_clock_mhz"].get<double>();
  };
  EXPECT_NEAR(std::stod(rows[1][1].get<std::string>()), microseconds(a["kernels"][0]["cycles"], a), 0.01) << rows[1][1];
  EXPECT_NEAR(std::stod(rows[1][2].get<std::string>()), microseconds(b["kernels"][0]["cycles"], b), 0.01) << rows[1][2];
  EXPECT_NEAR(std::stod(rows[3][2].get<std::string>()), microseconds(b["cycles"], b), 0.01) << rows[3][2];
  EXPECT_TRUE(shows("compared_states", "b.json"));
  // The rest of the page shows the selected file.
  value("const s = document.querySelector('select'); s.value = 1; s.dispatchEvent(new Event('change'))");
  EXPECT_TRUE(shows("occupancy", percent(b["kernels"][0]["metrics"]["achieved_occupancy"])));
  EXPECT_EQ(value(faults), json::array());
  // If a file lacks the kernel, the kernel shown instead is named.
  heddle("run '" HEDDLE_WORKLOADS "/saxpy/job.json' --quiet --metrics c.json");
  heddle("report a.json c.json -o other.html");
  sound("other.html");
  const std::string said = value("document.querySelector('#comparison .about').textContent");
  EXPECT_NE(said.find("in 1 file; "), std::string::npos) << said;
  EXPECT_NE(said.find("c.json has no such kernel: saxpy is in its place."), std::string::npos) << said;
  EXPECT_EQ(value("document.querySelectorAll('#comparison thead th')[2].textContent"), "c.json: saxpy");
  EXPECT_TRUE(shows("compared_states", "c.json: saxpy"));
}

TEST_F(report_pages, escape_markup) {
  write("<img src=x onerror=hacked()>.ptx", R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry $k()
{
	.reg .b32 %r<3>;
	ret; // </script><script>window.hacked = 1</script><img src=x onerror="hacked = 2"> &lt; <!--
}
)");
  fs::create_directory(place_ / "<b>&amp;");
  heddle(
      "run --kernel './<img src=x onerror=hacked()>.ptx' --grid 2 --block 64 --quiet --metrics '<b>&amp;/\"m.json' --report r.html");
  json m = metrics("<b>&amp;/\"m.json");
  m["kernels"][0]["name"] = "</script><script>window.hacked = 3</script><img src=x onerror='hacked = 4'>";
  m["gpu"]["config"]["<img src=x>"] = "<i>";
  write("<b>&amp;/\"n.json", m.dump());
  heddle("report '<b>&amp;/\"m.json' '<b>&amp;/\"n.json' -o two.html");
  for (const char* page : {"r.html", "two.html"}) {
    sound(page);
    EXPECT_EQ(value("typeof window.hacked"), "undefined");
    EXPECT_EQ(value("document.querySelectorAll('main img, header img').length"), 0);
    EXPECT_TRUE(value(
        "[...document.querySelectorAll('#hot-lines code')].some((c) => c.textContent.includes('</script><script>window.hacked = 1</script>'))"));
    EXPECT_TRUE(value("document.querySelector('h1').textContent.includes('" +
                      std::string(page == std::string("r.html") ? "<img src=x" : "<b>&amp;") + "')"));
  }
}

TEST_F(report_pages, of_sweeps) {
  write("s.ini", "[sweep]\njob = " HEDDLE_WORKLOADS
                 "/vector_add/job.json\nstore = s.sqlite\nmetrics = cycles, kernels.0.metrics.ipc\n"
                 "[axes]\ngpu = gtx1080, v100\nsub_partition.scheduler = lrr, gto\nlaunch.block = 64:256:64\n");
  write("t.ini",
        "[sweep]\njob = " HEDDLE_WORKLOADS "/vector_add/job.json\nstore = s.sqlite\n[axes]\nlaunch.block = 64, 2048\n");
  heddle("sweep s.ini --quiet");
  heddle("sweep t.ini --quiet");
  heddle("report s.sqlite -o r.html");
  sound("r.html");
  const json done = value("heddle.data.sweeps[0].points.length");
  EXPECT_EQ(done, 16);
  for (const char* chart : {"metric_over_axis", "sensitivity", "pareto"})
    EXPECT_EQ(value(std::string("document.querySelectorAll('[data-chart=") + chart + "]').length"), 1) << chart;
  // The default chart: the axis with the most values, one line for each value of another axis.
  EXPECT_EQ(value("document.querySelector('#metrics-over-axes h3').textContent"),
            "cycles (whole job) over launch.block");
  EXPECT_TRUE(shows("metric_over_axis", "v100"));
  const json front = value(
      "heddle.pareto(heddle.data.sweeps[0].points.map((p) => ({x: p.values[0], y: p.values[1]})), false, true).length");
  EXPECT_EQ(value(csv_of + std::string("(\"pareto\").then(([, text]) => text.trim().split('\\r\\n').length - 1)")),
            front);
  EXPECT_EQ(value("document.querySelectorAll('#points tbody tr').length"), 16);
  // Another metric and axis redraw the chart.
  value(
      "const s = document.querySelectorAll('#metrics-over-axes select'); s[0].value = 1; s[0].dispatchEvent(new Event('change'))");
  value(
      "const t = document.querySelectorAll('#metrics-over-axes select'); t[1].value = 1; t[1].dispatchEvent(new Event('change'))");
  EXPECT_EQ(value("document.querySelector('#metrics-over-axes h3').textContent"),
            "kernels.0.metrics.ipc over sub_partition.scheduler");
  EXPECT_TRUE(shows("metric_over_axis", "lrr"));
  // The other sweep of the store: a point that fits no SM has its reason.
  value("const u = document.querySelector('select'); u.value = 1; u.dispatchEvent(new Event('change'))");
  EXPECT_EQ(
      value(
          "[...document.querySelectorAll('#points tbody tr')].filter((r) => r.cells[1].textContent === 'refused').length"),
      2);
  EXPECT_EQ(value(faults), json::array());
  EXPECT_EQ(chromium->complaints(), std::vector<std::string>());
}

}  // namespace report_page_test
