// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heddle::test {

/// Reads a pipeline trace of format Kanata 0004 strictly. Throws std::runtime_error with the line number for: another
/// header, an unknown command or a wrong number of columns, identifiers that do not count up from 0, a command for an
/// instruction that has not appeared or has retired, a stage that begins while another one of its lane is open or ends
/// without having begun, time that does not advance, an arrow from or to an unknown instruction, an instruction
/// without retirement.
class kanata_reader {
 public:
  explicit kanata_reader(const std::filesystem::path& file);

  struct stage {
    unsigned lane;
    std::string name;
    std::uint64_t from;
    std::uint64_t to;
  };
  struct instruction {
    std::uint64_t number = 0;
    std::uint64_t thread = 0;
    std::string label;
    std::string details;
    std::vector<stage> stages;
    std::vector<std::uint64_t> producers;
    std::uint64_t appeared = 0;
    std::uint64_t retired = 0;
    bool flushed = false;
    /// The stage of this name in the lane, or null.
    [[nodiscard]] const stage* find(unsigned lane, const std::string& name) const;
  };
  [[nodiscard]] const std::vector<instruction>& instructions() const { return instructions_; }
  /// Cycles of all stages of a lane, by name.
  [[nodiscard]] std::map<std::string, std::uint64_t> cycles(unsigned lane) const;
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t last() const { return cycle_; }

 private:
  struct progress {
    std::string open[2];
    std::uint64_t since[2] = {0, 0};
    bool labelled = false;
    bool retired = false;
  };
  void read(const std::string& line);
  instruction& open_instruction(const std::string& id);

  std::uint64_t cycle_ = 0;
  std::uint64_t first_ = 0;
  bool begun_ = false;
  std::uint64_t retirements_ = 0;
  std::vector<instruction> instructions_;
  std::vector<progress> progress_;
};

}  // namespace heddle::test
