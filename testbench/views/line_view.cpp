// SPDX-License-Identifier: MIT
#include "testbench/views/line_view.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_named = 5;

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// The lines with code, by file.
using lines_by_file = std::map<std::string, std::set<std::uint32_t>>;

lines_by_file lines_of(const std::vector<const isa::program*>& programs) {
  lines_by_file all;
  for (const isa::program* p : programs)
    for (const isa::instruction& i : p->code) {
      all[p->file].insert(i.line);
      if (p->source == nullptr) continue;
      const isa::source_map& map = *p->source;
      for (const isa::source_map::place* at = map.at(i.line); at != nullptr;
           at = at->caller == isa::source_map::none ? nullptr : &map.places[at->caller])
        if (at->line != 0) all[map.files[at->file]].insert(at->line);  // 0: of no line, for the compiler
    }
  return all;
}

}  // namespace

std::string nearest_lines(const std::set<std::uint32_t>& lines, std::uint32_t line, std::size_t most) {
  std::vector<std::uint32_t> near(lines.begin(), lines.end());
  const auto distance = [line](std::uint32_t l) { return l > line ? l - line : line - l; };
  std::stable_sort(near.begin(), near.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
  near.resize(std::min(near.size(), most));
  std::sort(near.begin(), near.end());
  std::string text;
  for (std::size_t k = 0; k < near.size(); ++k)
    text += (k == 0 ? "" : k + 1 < near.size() ? ", " : " and ") + std::to_string(near[k]);
  return text;
}

line_view::line_view(const run_options& o, gpu& g, result_files& files)
    : asked_(o.watched),
      line_{o.watched.file, o.watched.line},
      files_(files),
      watch_(g, line_, static_cast<cycle_t>(o.watched.cycles)) {}

void line_view::begin(const std::vector<const isa::program*>& programs) {
  if (programs.empty()) return;  // recorded kernels: their code is not known before they run
  const lines_by_file all = lines_of(programs);
  std::set<std::uint32_t> lines;
  std::vector<std::string> files;
  for (const auto& [file, of_file] : all) {
    files.push_back(base_name(file));
    if (line_.is_in(file)) lines.insert(of_file.begin(), of_file.end());
  }
  if (lines.count(line_.line) != 0) return;
  std::sort(files.begin(), files.end());
  const std::string name = printable(line_.file);
  if (lines.empty())
    throw input_error("--line: no code of the job is of '" + name + "', expected a line of " + join(files, ", "));
  throw input_error("--line: " + name + ":" + std::to_string(line_.line) +
                    " has no code; the nearest lines with code are " + nearest_lines(lines, line_.line, most_named));
}

void line_view::finish(const std::string&) {
  const line_moment m = watch_.worst();
  json states = json::array();
  for (const std::uint64_t n : m.states) states.push_back(n);
  const json all = {{"begin", m.begin},   {"end", m.end},       {"sm", m.sm},
                    {"launch", m.launch}, {"kernel", m.kernel}, {"states", states}};
  files_.add(asked_.result, all.dump(-1, ' ', false, json::error_handler_t::replace), "--line");
}

line_moment line_view::read(const std::string& text) {
  const json all = json::parse(text);
  line_moment m;
  m.begin = all.at("begin");
  m.end = all.at("end");
  m.sm = all.at("sm");
  m.launch = all.at("launch");
  m.kernel = all.at("kernel");
  const json& states = all.at("states");
  for (std::size_t s = 0; s < m.states.size(); ++s) m.states[s] = states.at(s);
  return m;
}

}  // namespace heddle::testbench
