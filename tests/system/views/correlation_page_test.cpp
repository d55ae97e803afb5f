// SPDX-License-Identifier: MIT
// The page of `heddle correlate` in a browser.
#include "tests/system/views/report_pages.h"

namespace report_page_test {

TEST_F(report_pages, of_comparisons_with_chips) {
  const std::string run = HEDDLE_WORKLOADS "/vector_add/job.json";
  write("s.csv",
        "gpu,kernel,run,use,launch_cycles,cycles,inst_executed,origin,licence\n"
        "v100,first <b>,'" +
            run + "',compared,1000,5000,100,here,MIT\n" + "v100,second,'" + run +
            "',identifies l1.latency_cycles,,4000,,here,\n" + "p100,third,'" + run + "',compared,,3000,,there,\n");
  heddle("correlate s.csv --output r.html");
  sound("r.html");
  EXPECT_EQ(value("document.querySelectorAll('.chart').length"), 2) << "one for each chip";
  EXPECT_EQ(value("document.querySelectorAll('[data-chart=correlation_v100] path[fill=\"#1f5fa8\"]').length >= 1"),
            true);
  EXPECT_EQ(value("[...document.querySelectorAll('main section h2')].map((h) => h.textContent)"),
            (json{"v100", "p100", "Origins", "Names of metrics"}));
  const json row = value("[...document.querySelector('tbody tr').cells].map((c) => c.textContent)");
  EXPECT_EQ(row[0], "first <b>");
  EXPECT_EQ(row[2], "4,000") << "without the launch cost";
  EXPECT_EQ(row[5].get<std::string>().rfind("inst_executed", 0), 0u) << row;
  const json file = value(std::string(csv_of) + "('correlation_v100')");
  EXPECT_EQ(file[0], "correlation_v100.csv");
  EXPECT_NE(file[1].get<std::string>().find("second,4000,"), std::string::npos) << file[1];
}

}  // namespace report_page_test
