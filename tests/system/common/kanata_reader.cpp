// SPDX-License-Identifier: MIT
#include "kanata_reader.h"

#include <fstream>
#include <stdexcept>

namespace heddle::test {

namespace {

void require_kanata(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t tab; (tab = line.find('\t', from)) != std::string::npos; from = tab + 1)
    parts.push_back(line.substr(from, tab - from));
  parts.push_back(line.substr(from));
  return parts;
}

std::uint64_t number(const std::string& text) {
  require_kanata(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos,
                 "'" + text + "' is no number");
  return std::stoull(text);
}

}  // namespace

const kanata_reader::stage* kanata_reader::instruction::find(unsigned lane, const std::string& name) const {
  for (const stage& s : stages)
    if (s.lane == lane && s.name == name) return &s;
  return nullptr;
}

kanata_reader::kanata_reader(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::uint64_t at = 1;
  try {
    require_kanata(std::getline(in, line) && line == "Kanata\t0004", "not the header of format 0004");
    while (std::getline(in, line)) {
      ++at;
      read(line);
    }
    for (std::size_t id = 0; id < progress_.size(); ++id)
      require_kanata(progress_[id].retired, "instruction " + std::to_string(id) + " never retires");
  } catch (const std::exception& e) {
    throw std::runtime_error(file.string() + ":" + std::to_string(at) + ": " + e.what());
  }
}

kanata_reader::instruction& kanata_reader::open_instruction(const std::string& id) {
  const std::uint64_t n = number(id);
  require_kanata(n < instructions_.size(), "instruction " + id + " has not appeared");
  require_kanata(!progress_[n].retired, "instruction " + id + " has retired");
  return instructions_[n];
}

void kanata_reader::read(const std::string& line) {
  const auto c = columns(line);
  if (c[0] == "C=") {
    require_kanata(c.size() == 2 && !begun_, "C= stands once, at the beginning");
    cycle_ = first_ = number(c[1]);
    begun_ = true;
    return;
  }
  require_kanata(begun_, "a command before the first cycle");
  if (c[0] == "C") {
    require_kanata(c.size() == 2 && number(c[1]) > 0, "time does not go on");
    cycle_ += number(c[1]);
  } else if (c[0] == "I") {
    require_kanata(c.size() == 4 && number(c[1]) == instructions_.size(), "identifiers count up from 0");
    instructions_.emplace_back();
    progress_.emplace_back();
    instructions_.back().number = number(c[2]);
    instructions_.back().thread = number(c[3]);
    instructions_.back().appeared = cycle_;
  } else if (c[0] == "L") {
    require_kanata(c.size() == 4 && (c[2] == "0" || c[2] == "1") && !c[3].empty(),
                   "a label has a kind, 0 or 1, and a text");
    instruction& i = open_instruction(c[1]);
    (c[2] == "0" ? i.label : i.details) += c[3];
  } else if (c[0] == "S" || c[0] == "E") {
    require_kanata(c.size() == 4 && (c[2] == "0" || c[2] == "1") && !c[3].empty(),
                   "a stage has a lane, 0 or 1, and a name");
    instruction& i = open_instruction(c[1]);
    progress& p = progress_[number(c[1])];
    const unsigned lane = c[2] == "1";
    if (c[0] == "S") {
      require_kanata(p.open[lane].empty(), "stage " + p.open[lane] + " has not ended");
      p.open[lane] = c[3];
      p.since[lane] = cycle_;
    } else {
      require_kanata(p.open[lane] == c[3], "stage " + c[3] + " did not begin");
      i.stages.push_back({lane, c[3], p.since[lane], cycle_});
      p.open[lane].clear();
    }
  } else if (c[0] == "W") {
    require_kanata(c.size() == 4 && c[3] == "0", "an arrow is of kind 0");
    instruction& consumer = open_instruction(c[1]);
    require_kanata(number(c[2]) < instructions_.size() && c[1] != c[2], "an arrow from nowhere");
    consumer.producers.push_back(number(c[2]));
  } else if (c[0] == "R") {
    require_kanata(c.size() == 4 && (c[3] == "0" || c[3] == "1"), "a retirement is of kind 0 or 1");
    instruction& i = open_instruction(c[1]);
    progress& p = progress_[number(c[1])];
    require_kanata(p.open[0].empty() && p.open[1].empty(), "a stage of a retired instruction is open");
    require_kanata(number(c[2]) == retirements_, "retirements count up");
    i.flushed = c[3] == "1";
    retirements_ += !i.flushed;
    i.retired = cycle_;
    p.retired = true;
  } else {
    throw std::runtime_error("unknown command '" + c[0] + "'");
  }
}

std::map<std::string, std::uint64_t> kanata_reader::cycles(unsigned lane) const {
  std::map<std::string, std::uint64_t> sums;
  for (const instruction& i : instructions_)
    for (const stage& s : i.stages)
      if (s.lane == lane) sums[s.name] += s.to - s.from;
  return sums;
}

}  // namespace heddle::test
