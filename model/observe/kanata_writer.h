// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>

#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

/// A pipeline trace in the format Kanata 0004, which Konata shows. Cycles go one way only: what is known ahead is kept
/// until its cycle has come. Each stage that begins ends, each instruction retires. Memory is taken by instructions
/// that have not retired.
class kanata_writer {
 public:
  using instruction_id = std::uint64_t;
  static constexpr unsigned pipeline_lane = 0;
  static constexpr unsigned stall_lane = 1;

  /// Throws input_error: the file cannot be written.
  explicit kanata_writer(const std::string& path);
  kanata_writer(const kanata_writer&) = delete;
  kanata_writer& operator=(const kanata_writer&) = delete;
  ~kanata_writer();

  /// All that follows happens in `cycle`, which is not before the one before.
  void advance(cycle_t cycle);
  /// An instruction appears. `number`: its place in the thread's order; `label` is shown at its row, `details` when
  /// asked for.
  instruction_id open(std::uint64_t number, std::uint64_t thread, const std::string& label, const std::string& details);
  /// A stage begins, and the one before in its lane ends. The name lives as long as the writer. The same stage goes on.
  void begin(instruction_id id, unsigned lane, const char* stage);
  /// The stage of a lane ends, if there is one.
  void end(instruction_id id, unsigned lane);
  /// `consumer`, which is open, needs what `producer` brings.
  void depends(instruction_id consumer, instruction_id producer);
  /// It is gone: complete, or `flushed`.
  void retire(instruction_id id, bool flushed);
  /// The same in a cycle to come; dropped if the instruction has retired by then.
  void begin_at(cycle_t cycle, instruction_id id, const char* stage) { pending_.emplace(cycle, event{id, stage}); }
  void retire_at(cycle_t cycle, instruction_id id) { pending_.emplace(cycle, event{id, nullptr}); }
  /// It has not retired.
  bool is_open(instruction_id id) const { return open_.count(id) != 0; }

  /// Flushes what is open and completes the file. Throws input_error on a full disk.
  void close();

 private:
  struct event {
    instruction_id id;
    const char* stage;  // null: it retires
  };
  struct record {
    std::array<const char*, 2> stage{};
  };
  void command(char what);
  void column(std::uint64_t number);
  void column(const char* text);
  void end_line();
  void end(record& r, instruction_id id, unsigned lane);
  void flush();

  std::string path_;
  std::FILE* file_;
  std::string buffer_;
  bool failed_ = false;
  bool begun_ = false;
  cycle_t cycle_ = 0;    // what is to be written happens then
  cycle_t written_ = 0;  // the file stands there
  instruction_id next_ = 0;
  std::uint64_t retired_ = 0;
  std::unordered_map<instruction_id, record> open_;
  std::multimap<cycle_t, event> pending_;  // those of one cycle in the order in which they came
};

}  // namespace heddle
