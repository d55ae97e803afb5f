// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>

#include "heddle/tlm/kernel/unit_clock.h"

namespace heddle {

/// Writes a pipeline trace in the format Kanata 0004, which Konata shows. Cycles only advance; events at later cycles
/// are kept until then. Each stage that begins also ends, and each instruction retires. Memory grows with the number of
/// instructions that have not retired.
class kanata_writer {
 public:
  using instruction_id = std::uint64_t;
  static constexpr unsigned pipeline_lane = 0;
  static constexpr unsigned stall_lane = 1;

  /// Throws input_error if the file cannot be written.
  explicit kanata_writer(const std::string& path);
  kanata_writer(const kanata_writer&) = delete;
  kanata_writer& operator=(const kanata_writer&) = delete;
  ~kanata_writer();

  /// Sets the cycle of the following events; it must not precede the current one.
  void advance(cycle_t cycle);
  /// An instruction appears. `number`: its position in the thread's order; `label` is shown in its row, `details` on
  /// demand.
  instruction_id open(std::uint64_t number, std::uint64_t thread, const std::string& label, const std::string& details);
  /// A stage begins, and the previous one in its lane ends. The name must outlive the writer. If the stage is already
  /// current, it continues.
  void begin(instruction_id id, unsigned lane, const char* stage);
  /// Ends the stage of a lane, if there is one.
  void end(instruction_id id, unsigned lane);
  /// `consumer`, which is open, depends on `producer`.
  void depends(instruction_id consumer, instruction_id producer);
  /// The instruction is complete, or `flushed`.
  void retire(instruction_id id, bool flushed);
  /// The same in a future cycle; ignored if the instruction has retired by then.
  void begin_at(cycle_t cycle, instruction_id id, const char* stage) { pending_.emplace(cycle, event{id, stage}); }
  void retire_at(cycle_t cycle, instruction_id id) { pending_.emplace(cycle, event{id, nullptr}); }
  /// The instruction has not retired.
  [[nodiscard]] bool is_open(instruction_id id) const { return open_.count(id) != 0; }

  /// Flushes open instructions and completes the file. Throws input_error on a full disk.
  void close();

 private:
  struct event {
    instruction_id id;
    const char* stage;  // null: the instruction retires
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
  cycle_t cycle_ = 0;    // cycle of the current events
  cycle_t written_ = 0;  // cycle of the last written command
  instruction_id next_ = 0;
  std::uint64_t retired_ = 0;
  std::unordered_map<instruction_id, record> open_;
  std::multimap<cycle_t, event> pending_;  // in the order of the calls within a cycle
};

}  // namespace heddle
