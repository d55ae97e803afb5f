// SPDX-License-Identifier: MIT
// Advice about neighbouring words that a thread accesses one by one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <tuple>

#include "testbench/advice/advice.h"
#include "testbench/advice/rules.h"

namespace heddle::testbench {

namespace {

constexpr long widest = 16;  // bytes of a thread's access

/// "ld.global.f32 %f1, [%rd2+4];": what is accessed, and where.
struct operand {
  std::string access;  // "ld.global"
  std::string base;
  long offset = 0;
  long bytes = 0;
};

bool read(const std::string& text, operand& to) {
  static const std::regex form(R"(\b(ld|st)\.global(?:\.nc)?\.[a-z]+(\d+)\s[^\[]*\[(%\w+)(?:\+(-?\d+))?\])");
  std::smatch m;
  if (!std::regex_search(text, m, form)) return false;
  to = {m[1].str() + ".global", m[3].str(), m[4].matched ? std::stol(m[4].str()) : 0, std::stol(m[2].str()) / 8};
  return true;
}

}  // namespace

std::vector<vector_of_words> vectors_of_words(const time_model& t) {
  using key = std::tuple<std::string, std::string, double, long>;
  std::map<key, std::map<long, const place_sums*>> by_base;
  for (const place_sums& line : t.lines) {
    operand at;
    if (line.count("accesses") == 0 || !read(line.texts, at)) continue;
    by_base[{at.access, at.base, line.count("accesses"), at.bytes}][at.offset] = &line;
  }
  std::vector<vector_of_words> all;
  for (const auto& [of, words] : by_base) {
    const long bytes = std::get<3>(of);
    for (auto word = words.begin(); word != words.end();) {
      vector_of_words v;
      long next = word->first;
      for (; word != words.end() && word->first == next && bytes * static_cast<long>(v.words.size() + 1) <= widest;
           ++word) {
        v.words.push_back(word->second);
        next += bytes;
      }
      if (v.words.size() == 3) v.words.pop_back();  // vectors have two words or four
      if (v.words.size() > 1) all.push_back(v);
    }
  }
  return all;
}

void unused_vectors(const time_model& t, std::vector<advice>& to) {
  std::map<std::string, std::pair<double, place_sums>> by_place;  // words of a vector, and sums
  for (const vector_of_words& v : vectors_of_words(t))
    for (const place_sums* word : v.words) {
      auto& [words, sums] = by_place[word->name];
      words = std::max(words, static_cast<double>(v.words.size()));
      sums.add(*word);
    }
  for (const auto& [place, found] : by_place) {
    const auto& [words, sums] = found;
    const double saved = 1 - 1 / words;
    relief r;
    r.parts["L1 look-ups"] = saved * ratio(sums.count("l1_requests"), t.moved("l1_requests"));
    r.parts["L1"] = saved * ratio(sums.count("l1_hits"), t.moved("l1_hits"));
    // Each word's sectors come from the L2 alone where the L1 does not keep them. A vector is in those of a word.
    const double sectors = sums.count("l2_sectors"),
                 least = std::max(sums.count("requested_bytes") / sector_bytes, sums.count("l1_sectors") / words);
    r.parts["SMs to L2"] = r.parts["L2 to SMs"] = ratio(sectors - std::min(sectors, least), t.moved("l2_sectors"));
    r.parts["ldst"] = saved * ratio(sums.executed, number_at(t.kernel, {"instructions", "ldst"}));
    r.parts["issue slots"] = saved * ratio(sums.executed, number_at(t.kernel, {"metrics", "inst_executed"}));
    relieve_memory_waits(r, t);
    to.push_back(
        {"unused vector width", place, fmt::format("a thread accesses {:.0f} neighbouring words one by one", words),
         words == 4 ? "use float4 or int4, aligned to 16 bytes" : "use float2 or int2", speedup_by_memory(r, t)});
  }
}

}  // namespace heddle::testbench
