// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/functional/execution_watcher.h"
#include "heddle/functional/failure_cause.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/spaced_heap.h"
#include "heddle/sanitize/allocations.h"
#include "heddle/sanitize/copies/product_check.h"
#include "heddle/sanitize/findings.h"
#include "heddle/sanitize/phase/phase_check.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/shadow/heap_blocks.h"
#include "heddle/sanitize/values/value_check.h"
#include "heddle/sanitize/work_check.h"

namespace heddle::sanitize {

/// Checks the instructions of a launch that is executed functionally.
class launch_watcher final : public execution_watcher {
 public:
  launch_watcher(unsigned kinds, findings& found, allocations& host, work_check& works)
      : kinds_(kinds), found_(found), host_(host), works_(works), races_(found) {}

  void use(const address_ranges& ranges) {
    ranges_ = &ranges;
    where_ = {};
  }
  /// The heap of a client; a later one takes its place.
  void heap_placed(std::uint64_t address, std::uint64_t bytes, std::uint32_t client);
  /// Memory of the client's heap that earlier launches have allocated.
  void use(const std::unordered_map<std::uint64_t, std::uint64_t>& heap, std::uint32_t client);
  void heap_given(std::uint64_t address, std::uint64_t bytes);
  void heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i, unsigned lane);
  void heap_freed(std::uint64_t address) { heap_.remove(address); }
  /// False if errors of memory are not looked for.
  bool heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i, unsigned lane);
  /// The launch ends by this failure.
  void failed(const failure_cause& c);
  void end();
  /// Why the launch was not checked for races; empty: it was.
  [[nodiscard]] const std::string& unchecked() const { return unchecked_; }
  /// Steps since a block has begun or ended.
  [[nodiscard]] std::uint64_t steps_since_progress() const { return steps_; }

  void launch_begins(const resident_launch& launch, functional_memory::view& memory, bool independent) override;
  void block_begins(const functional_block& block) override;
  simt::lane_mask accesses(const watched_access& access) override;
  void transfer_begins(const watched_step& step) override;
  bool transfer_moves(const watched_step& step, const watched_segment& segment) override;
  void transfer_signals(const watched_step& step, const functional_block& holder, std::uint32_t offset) override;
  void touches_products(const watched_step& step) override;
  void fences(const watched_step& step) override;
  void lanes_meet(const watched_step& step, const lane_meeting& meeting) override;
  void closes_copies(const watched_step& step) override;
  void awaits_copies(const watched_step& step) override;
  void calls_runtime(const watched_step& step) override;
  void arrives(const watched_step& step, std::uint32_t barrier) override;
  void awaits_cluster(const watched_step& step) override;
  void barrier_completes(const functional_block& block, std::uint32_t barrier, std::uint64_t released) override;
  void lanes_exit(const watched_step& step) override;
  void block_ends(const functional_block& block) override;
  void reaches_ended(const watched_access& access) override;
  void executes(const watched_step& step, simt::execute_function execute) override;

 private:
  /// Lanes of a warp that have arrived at a barrier which others of the warp have not reached.
  struct partial_arrival {
    simt::lane_mask lanes = 0;
    std::uint32_t index = 0;
  };
  struct warp_record {
    simt::lane_mask met_barrier = 0;                             // lanes that have been at a barrier
    std::unordered_map<std::uint32_t, partial_arrival> waiting;  // by barrier
    std::unordered_map<std::uint32_t, simt::lane_mask> passed;   // lanes that others wait for there, and went past it
    written_bits local;
    product_check products;
    value_check values;
  };
  struct heap_range {
    std::uint64_t begin, bytes;
    std::uint32_t client;
  };
  struct place {
    std::vector<warp_record> warps;
    written_bits shared;
    std::unordered_map<std::uint64_t, std::uint32_t>
        valueless;  // bits of words of it that atomics have written in part
  };
  warp_record& record_of(const watched_step& s) { return places_[slot_of(s.block)].warps[s.warp.warp_in_block]; }
  static unsigned slot_of(const functional_block& block);
  simt::lane_mask legal(const watched_access& a, const access_shape& shape);
  bool is_legal(const watched_access& a, unsigned lane);
  bool is_allocated(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] bool of_heap(std::uint64_t address) const {
    return std::any_of(heaps_.begin(), heaps_.end(),
                       [address](const heap_range& h) { return address - h.begin < h.bytes; }) ||
           spaced_heap::contains(address);
  }
  [[nodiscard]] bool is_of_another(std::uint64_t address);
  void report_outside(const watched_step& s, const watched_segment& p);
  void check_written(const watched_step& s, const watched_segment& p);
  void report_illegal(const watched_access& a, unsigned lane, bool misaligned, const std::string& near);
  void check_written(const watched_access& a, simt::lane_mask lanes, const access_shape& shape);
  bool written_by_all(const watched_access& a, const access_shape& shape);
  bool check_global(const watched_access& a, const access_shape& shape);
  bool check_shared(written_bits& shared, const watched_access& a, const access_shape& shape);
  template <class F>
  void check_words(const watched_access& a, unsigned lane, F&& has_value);
  bool computes_with_word(const isa::instruction& load, unsigned word);
  void follow(const watched_step& s, unsigned reg, unsigned lane, std::uint32_t bits, const valueless_source& from);
  template <class F>
  void follow_bytes(const watched_access& a, unsigned lane, F&& has_value);
  bool combines_bits(const watched_access& a, unsigned lane, place& holder);
  void follow_word(const watched_access& a, unsigned lane, unsigned k, std::uint32_t bits);
  void follow_local(const watched_access& a, unsigned lane, const written_bits& bits, std::size_t at);
  void follow_global(const watched_access& a, unsigned lane);
  [[nodiscard]] std::string nearest(std::uint64_t address) const;
  bool passes_heap(const watched_access& a, const access_shape& shape);
  void check_lane(const watched_access& a, unsigned lane);
  allocations::lack lacks(std::uint64_t address, unsigned bytes);
  void written(std::uint64_t address, std::uint64_t bytes);
  void takes_from_exited(const watched_step& s, simt::lane_mask named);
  void forget_values(warp_record& w);
  void report_valueless(const watched_step& s, const valueless_source& from);
  void report_unwritten(const watched_access& a, unsigned lane, const std::string& lack, unsigned group);
  void bypasses(const watched_step& s);
  void passes_meetings(const watched_step& s);
  void leaves_meetings(const watched_step& s);
  void blocks_meetings(const watched_step& s);
  void meets_others(const watched_step& s, simt::lane_mask named);
  void report_absent(const watched_step& s, std::uint32_t meeting, simt::lane_mask waiting, simt::lane_mask named,
                     simt::lane_mask others, const std::string& others_do);
  void report_divergent(const watched_step& s, const isa::instruction& barrier, simt::lane_mask at_barrier,
                        simt::lane_mask others, const char* others_do);
  finding finding_at(unsigned kind, const watched_step& s) const;
  [[nodiscard]] std::uint32_t index_of(const isa::instruction& i) const;

  const unsigned kinds_;
  findings& found_;
  allocations& host_;  // of the host
  work_check& works_;
  heap_blocks heap_;  // of kernels
  race_check races_;
  const address_ranges* ranges_ = nullptr;
  address_ranges::hint where_;
  std::vector<heap_range> heaps_;
  std::uint32_t heap_client_ = 0;  // whose heap the launch uses
  const resident_launch* launch_ = nullptr;
  const functional_block* calling_ = nullptr;  // the block that calls the device runtime
  bool independent_ = false;
  bool checks_races_ = false;
  std::unordered_map<std::uint64_t, bool> follows_;   // by two indices: always_follows()
  std::unordered_map<std::uint64_t, bool> computes_;  // by index and word: computes_with()
  bool partial_ = false;                              // some warp has a partial arrival
  access_patterns patterns_;
  std::string unchecked_;
  std::uint64_t steps_ = 0;
  unsigned warps_followed_ = 0;  // whose registers have values without a meaning
  std::uint64_t steps_idle_ = 0;
  bool swaps_ = false;  // the program compares and swaps
  spare_warp spare_;
  std::deque<place> places_;  // by the block's slot
};

}  // namespace heddle::sanitize
