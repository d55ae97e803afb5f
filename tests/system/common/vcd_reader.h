// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace heddle::test {

/// Reads a VCD file according to IEEE 1364 and counts the clock cycles in which each signal had each value. Throws
/// std::runtime_error with the line number for malformed input: an undeclared or doubly declared identifier, a value
/// wider than its signal, time that goes back, scopes that are not closed.
class vcd_reader {
 public:
  /// A cycle is `cycle_ps` picoseconds long.
  vcd_reader(const std::filesystem::path& file, std::uint64_t cycle_ps);

  /// For each value the number of its cycles.
  using histogram = std::map<std::uint64_t, std::uint64_t>;
  const histogram& operator[](const std::string& signal) const { return histograms_.at(ids_.at(signal)); }
  [[nodiscard]] bool has(const std::string& signal) const { return ids_.count(signal) != 0; }
  [[nodiscard]] const std::map<std::string, std::string>& signals() const { return ids_; }
  [[nodiscard]] unsigned width(const std::string& signal) const { return widths_.at(ids_.at(signal)); }
  /// The sum over all cycles of the value, or of its one bits.
  [[nodiscard]] std::uint64_t sum(const std::string& signal) const;
  [[nodiscard]] std::uint64_t ones(const std::string& signal) const;
  /// The number of changes from zero to another value.
  [[nodiscard]] std::uint64_t rises(const std::string& signal) const {
    return rises_.count(ids_.at(signal)) ? rises_.at(ids_.at(signal)) : 0;
  }
  [[nodiscard]] std::uint64_t first_ps() const { return first_; }
  [[nodiscard]] std::uint64_t last_ps() const { return time_; }

 private:
  void declare(const std::string& line);
  void change(const std::string& line);
  void advance(std::uint64_t time);

  std::uint64_t cycle_ps_;
  std::string scope_;
  bool declared_ = false;
  bool begun_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t time_ = 0;
  std::map<std::string, std::string> ids_;  // by name
  std::map<std::string, unsigned> widths_;  // by identifier, as are the following maps
  std::map<std::string, std::uint64_t> values_;
  std::map<std::string, std::uint64_t> since_;  // cycle of the value's change
  std::map<std::string, std::uint64_t> rises_;
  std::map<std::string, histogram> histograms_;
};

}  // namespace heddle::test
