// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/sanitize/findings.h"
#include "heddle/sanitize/host_work.h"
#include "heddle/sanitize/shadow/shadow_pages.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle::sanitize {

/// Finds races between launches, and between launches and copies of the host: accesses to the same byte of global
/// memory by operations that nothing orders, at least one of them a write. Operations are ordered by streams, events
/// and waits of the host, as vector clocks by stream say. Each word keeps its last write and two reads.
class work_check {
 public:
  explicit work_check(findings& found) : found_(found) {}
  /// The host uses several streams: until then nothing is kept.
  void start() { used_ = true; }
  [[nodiscard]] bool used() const { return used_; }
  /// What the host submits next; and the launch that it becomes.
  void submits(const host_work& w) { next_ = w; }
  void submitted(std::uint32_t launch);
  /// What a launch has done to global memory.
  void ends(const resident_launch& launch, const shadow_pages& memory);
  /// The operation that the host submitted last accesses memory itself, from now on or no longer.
  void transfers(bool now);
  void host_accesses(std::uint64_t address, std::uint64_t bytes, bool writes);
  /// Memory that is allocated anew.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct access {
    std::uint32_t work = none;
    std::uint32_t warp = 0;
    std::uint32_t what = 0;  // of access_mark
    std::uint8_t lane = 0;
    std::uint8_t bytes = 0;  // of the word, as bits
    bool writes = false;
  };
  struct cell {
    access write;
    std::array<access, 2> reads;
  };
  /// All cells are alike until one of them is accessed.
  struct page {
    cell all;
    std::vector<cell> cells;
  };
  struct work {
    host_work order;
    std::shared_ptr<const isa::program> program;  // null: the host's
    simt::dim3 grid, block;
  };
  std::uint32_t add(work w);
  [[nodiscard]] bool ordered(const access& before, const access& after) const;
  void touch(cell& c, const access& a, std::uint64_t address);
  void access_word(std::uint64_t address, const access& a);
  void report(const access& before, const access& after, std::uint64_t address);
  [[nodiscard]] std::string text_of(const access& a) const;
  [[nodiscard]] std::string place_of(const access& a) const;

  findings& found_;
  bool used_ = false;
  host_work next_;
  std::unordered_map<std::uint32_t, host_work> submitted_;  // by launch
  std::uint32_t transfer_ = none;                           // the host's, in flight
  std::vector<work> works_;
  std::unordered_map<std::uint64_t, page> pages_;
};

}  // namespace heddle::sanitize
