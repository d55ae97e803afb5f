// SPDX-License-Identifier: MIT
// The tables of docs/use/metrics.md are the rows of the metrics: names, units and sentences.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "heddle/config/ini_reader.h"
#include "heddle/metrics/memory_metrics.h"
#include "heddle/metrics/profiler_metrics.h"
#include "heddle/sub_partition/account/warp_state.h"

namespace {

const std::string file = HEDDLE_DOCS "/use/metrics.md";

struct page_table {
  std::string head;  // two lines
  std::string rows;
};

const std::vector<page_table>& tables() {
  static const std::vector<page_table> all = {
#define HEDDLE_X(type, key, formula, unit, sentence) "| " #key " | " unit " | " sentence " |\n"
      {"| metric | unit | how it is computed |\n|---|---|---|\n", HEDDLE_PROFILER_METRICS(HEDDLE_X)},
#undef HEDDLE_X
#define HEDDLE_X(key, of_l1, of_l2, unit, sentence) "| " #key " | " unit " | " sentence " |\n"
      {"| cache count | unit | what is counted |\n|---|---|---|\n", HEDDLE_CACHE_COUNTS(HEDDLE_X)},
#undef HEDDLE_X
#define HEDDLE_X(key, sum, unit, sentence) "| " #key " | " unit " | " sentence " |\n"
      {"| dram count | unit | what is counted |\n|---|---|---|\n", HEDDLE_DRAM_COUNTS(HEDDLE_X)},
      {"| shared memory count | unit | what is counted |\n|---|---|---|\n", HEDDLE_SHARED_COUNTS(HEDDLE_X)},
      {"| tlb count | unit | what is counted |\n|---|---|---|\n", HEDDLE_TLB_COUNTS(HEDDLE_X)},
      {"| bulk count | unit | what is counted |\n|---|---|---|\n", HEDDLE_BULK_COUNTS(HEDDLE_X)},
      {"| cluster count | unit | what is counted |\n|---|---|---|\n", HEDDLE_CLUSTER_COUNTS(HEDDLE_X)},
      {"| line count | unit | what is counted |\n|---|---|---|\n", HEDDLE_LINE_COUNTS(HEDDLE_X)},
#undef HEDDLE_X
#define HEDDLE_X(name, sentence) "| " #name " | " sentence " |\n"
      {"| warp_cycles | the warp |\n|---|---|\n", HEDDLE_WARP_CYCLES(HEDDLE_X)},
#undef HEDDLE_X
#define HEDDLE_X(name, cycle, colour, rarity, cause, sentence) "| " #name " | " #cycle " | " sentence " |\n"
      {"| warp_states | warp_cycles | the warp |\n|---|---|---|\n", HEDDLE_WARP_STALLS(HEDDLE_X)},
#undef HEDDLE_X
  };
  return all;
}

// HEDDLE_RENEW_PAGE=1 rewrites the tables.
TEST(metrics_page, has_the_rows_of_the_tables) {
  std::string page = heddle::read_text_file(file);
  for (const page_table& t : tables()) {
    const std::size_t head = page.find(t.head);
    ASSERT_NE(head, std::string::npos) << file << " has no table\n" << t.head;
    const std::size_t begin = head + t.head.size(), end = page.find("\n\n", begin) + 1;
    if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) page.replace(begin, end - begin, t.rows);
    else EXPECT_EQ(page.substr(begin, end - begin), t.rows) << "HEDDLE_RENEW_PAGE=1 writes them";
  }
  if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) std::ofstream(file) << page;
}

}  // namespace
