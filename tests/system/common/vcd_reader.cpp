// SPDX-License-Identifier: MIT
#include "vcd_reader.h"

#include <bitset>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace heddle::test {

namespace {
void require_vcd(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}
}  // namespace

vcd_reader::vcd_reader(const std::filesystem::path& file, std::uint64_t cycle_ps) : cycle_ps_(cycle_ps) {
  std::ifstream in(file);
  require_vcd(in.good(), "cannot read " + file.string());
  std::uint64_t number = 0;
  try {
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.empty()) continue;
      declared_ ? change(line) : declare(line);
    }
    require_vcd(declared_ && begun_, "the file ends before its first value");
  } catch (const std::exception& e) {
    throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": " + e.what());
  }
  const std::uint64_t end = (time_ + cycle_ps_ / 2) / cycle_ps_;
  for (const auto& [id, value] : values_) histograms_[id][value] += end - since_[id];
}

void vcd_reader::declare(const std::string& line) {
  std::istringstream words(line);
  std::string first, type, width, id, name;
  words >> first;
  require_vcd(line.size() > 4 && line.compare(line.size() - 4, 4, "$end") == 0, "a declaration without $end");
  if (first == "$timescale") {
    require_vcd(line.find(" 1 ps ") != std::string::npos, "picoseconds were expected");
  } else if (first == "$comment") {
    require_vcd(!declared_ && widths_.empty(), "a comment behind the first declaration");
  } else if (first == "$scope") {
    words >> type >> name;
    require_vcd(type == "module", "a scope that is no module");
    scope_ += name + ".";
  } else if (first == "$upscope") {
    require_vcd(!scope_.empty(), "one $upscope too many");
    const auto dot = scope_.size() < 2 ? std::string::npos : scope_.rfind('.', scope_.size() - 2);
    scope_ = dot == std::string::npos ? "" : scope_.substr(0, dot + 1);
  } else if (first == "$var") {
    words >> type >> width >> id >> name;
    require_vcd(widths_.emplace(id, std::stoul(width)).second, "identifier " + id + " twice");
    require_vcd(ids_.emplace(scope_ + name, id).second, scope_ + name + " twice");
  } else if (first == "$enddefinitions") {
    require_vcd(scope_.empty(), "a scope is open at the end of the definitions");
    declared_ = true;
  } else {
    throw std::runtime_error("unknown keyword " + first);
  }
}

void vcd_reader::change(const std::string& line) {
  if (line[0] == '#') return advance(std::stoull(line.substr(1)));
  if (line == "$dumpvars" || line == "$end") return;
  require_vcd(begun_, "a value before the first time");
  std::string bits, id;
  if (line[0] == 'b') {
    const auto space = line.find(' ');
    require_vcd(space != std::string::npos, "a vector without an identifier");
    bits = line.substr(1, space - 1);
    id = line.substr(space + 1);
  } else {
    bits = line.substr(0, 1);
    id = line.substr(1);
  }
  require_vcd(!bits.empty() && bits.find_first_not_of("01") == std::string::npos, "neither 0 nor 1");
  const auto width = widths_.find(id);
  require_vcd(width != widths_.end(), "identifier '" + id + "' was not declared");
  require_vcd(bits.size() <= width->second, "a value wider than its signal");
  require_vcd((line[0] == 'b') == (width->second > 1), "a vector's value for a bit, or the other way round");
  const std::uint64_t value = std::bitset<64>(bits).to_ullong();
  const std::uint64_t cycle = (time_ + cycle_ps_ / 2) / cycle_ps_;
  const auto known = values_.find(id);
  const std::uint64_t before = known == values_.end() ? 0 : known->second;
  if (known != values_.end()) histograms_[id][before] += cycle - since_[id];
  if (before == 0 && value != 0) ++rises_[id];
  values_[id] = value;
  since_[id] = cycle;
}

void vcd_reader::advance(std::uint64_t time) {
  require_vcd(!begun_ || time > time_, "time does not go on");
  if (!begun_) first_ = time;
  begun_ = true;
  time_ = time;
}

std::uint64_t vcd_reader::sum(const std::string& signal) const {
  std::uint64_t total = 0;
  for (const auto& [value, cycles] : (*this)[signal]) total += value * cycles;
  return total;
}

std::uint64_t vcd_reader::ones(const std::string& signal) const {
  std::uint64_t total = 0;
  for (const auto& [value, cycles] : (*this)[signal]) total += std::bitset<64>(value).count() * cycles;
  return total;
}

}  // namespace heddle::test
