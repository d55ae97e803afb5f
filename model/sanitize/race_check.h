// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/functional/execution_watcher.h"
#include "heddle/sanitize/clocks.h"
#include "heddle/sanitize/copies/copy_signals.h"
#include "heddle/sanitize/findings.h"
#include "heddle/sanitize/known_races.h"
#include "heddle/sanitize/phase/phase_check.h"
#include "heddle/sanitize/shadow/shadow_memory.h"
#include "heddle/sanitize/shadow/shadow_pages.h"

namespace heddle {}

namespace heddle::sanitize {

/// Finds conflicting accesses of a launch that nothing orders: of different threads to the same byte, at least one of
/// them a write, and not both atomic or volatile. Writes of the value that is there already do not conflict with other
/// writes.
class race_check {
 public:
  explicit race_check(findings& found) : found_(found) {}
  /// Returns why the launch cannot be checked; empty: it can.
  std::string begin(const resident_launch& launch, functional_memory::view& memory, bool independent);
  void end();

  /// What the launch has done to global memory so far.
  [[nodiscard]] const shadow_pages& global() const { return global_; }

  void block_begins(const functional_block& block);
  void block_ends(const functional_block& block);
  /// `lanes`: those whose addresses are legal. `shape`: of the access as a whole.
  void accesses(const watched_access& a, simt::lane_mask lanes, const access_shape& shape);
  void transfer_begins();
  void transfer_moves(const watched_step& s, const watched_segment& p);
  void transfer_signals(const watched_step& s, const functional_block& holder, std::uint32_t offset);
  void fences(const watched_step& s);
  void lanes_meet(const watched_step& s, const lane_meeting& m);
  void closes_copies(const watched_step& s);
  void awaits_copies(const watched_step& s);
  void arrives(const watched_step& s, std::uint32_t barrier);
  void awaits_cluster(const watched_step& s);
  /// A lane frees memory, which is a write of all of it.
  void frees(const watched_step& s, unsigned lane, std::uint64_t address, std::uint64_t bytes);
  /// Memory that was allocated anew: what was done to it before does not count.
  void forget(std::uint64_t address, std::uint64_t bytes) { global_.forget(address, bytes); }
  void completes(const functional_block& block, std::uint32_t barrier, std::uint64_t released);

 private:
  struct place;
  /// Bytes that a copy reads or writes.
  struct span {
    place* holder;  // null: global memory
    std::uint64_t address;
    unsigned bytes;
    bool writes;
    unsigned lane = 0, lanes = 1;  // of a copy of several lanes: the first of those that copy them, as many each
  };
  /// What waits for a copy that is in flight: groups of a thread's copies, of its bulk copies, of a warp's products.
  enum class copy_kind : std::uint8_t { of_thread, bulk, product };
  struct copy {
    copy_kind kind;
    unsigned warp, lane;
    simt::lane_mask lanes;  // those that have not waited for theirs: several, if of_thread
    std::uint32_t index;
    sequence number;
    unsigned group;
    std::vector<span> spans;
    simt::lane_mask handed = 0;  // lanes that have handed theirs over to an mbarrier
  };
  /// What a warp has handed over to mbarriers.
  struct handed_copies {
    sync_log* log = nullptr;                         // the ends of its copies (cp.async)
    access_mark last;                                // the last of these
    std::array<sequence, isa::warp_size> sent = {};  // by lane: its last asynchronous store
  };
  /// What belongs to the place of a resident block.
  struct place {
    const functional_block* block = nullptr;
    std::unique_ptr<block_clock> clock;
    std::unique_ptr<shadow_cells> shared;
    phase_check phase;                          // before the cells, as long as it is open
    std::vector<copy> copies;                   // not waited for
    std::vector<std::vector<copy>> of_threads;  // the same of cp.async, by warp
    std::vector<unsigned> groups[3];            // that were closed, by kind and thread
    unsigned& group(copy_kind kind, unsigned thread) {
      std::vector<unsigned>& all = groups[static_cast<unsigned>(kind)];
      if (thread >= all.size()) all.resize(thread + 1);
      return all[thread];
    }
    /// Those of a warp's threads, of which this is the first.
    const unsigned* groups_of(copy_kind kind, unsigned thread) {
      (void)group(kind, thread + isa::warp_size - 1);
      return &group(kind, thread);
    }
    std::unordered_map<unsigned, sync_log*> products;            // that are complete, by warpgroup
    std::unordered_map<std::uint32_t, access_mark> from_others;  // last accesses of other blocks' warps to its memory
    std::vector<handed_copies> handed;                           // by warp
    std::vector<bool> handed_words;                              // of shared memory, which such copies write
    knowledge promised;                                          // copies that end before a phase of some mbarrier does
    std::unordered_map<const sync_log*, const void*> promised_at;
  };
  /// An access that all lanes of this knowledge come after.
  struct passed_access {
    std::uint32_t warp = 0;
    sequence number = 0;
    bool copying = false;
    bool of_some = false;  // one was found that is ordered for some lanes alone
    const void* known = nullptr;
  };
  struct current {
    const watched_access* access;
    place* at;
    place* holder;       // of the shared memory
    std::uint32_t warp;  // in the block
    access_mark mark;    // without lanes
    bool in_shared;
    unsigned cell_bytes = 4;
    bool texture = false;  // a texture read
    bool frees = false;    // memory of malloc
    // For the usual cases: the block's clock.
    std::uint32_t first_warp;
    sequence block_sync, warp_sync, last_release, tile_sync;
    unsigned tile;
    mutable passed_access passed = {};
    mutable sync_log* log = nullptr;  // of the word that the lanes before have synchronised at
    mutable std::uint64_t log_address = 0;
  };
  /// Finds reads by two warps of the block since its last barrier. Each write that conflicts with another read of the
  /// block then conflicts with one of theirs, too, if barriers of whole blocks and meetings of a warp's lanes are all
  /// that orders the launch: another such read need not be kept.
  class two_warps {
   public:
    two_warps(const race_check& of, const current& c, bool strong)
        : c_(c), warps_(of.keeps_many_ ? 0 : of.warps_per_block_), strong_(strong) {}
    /// Of a read of all that the other one reads. True: that was the second warp.
    template <class Mark>
    bool with(const Mark& m) {
      const bool counts = m.warp - c_.first_warp < warps_ && m.number > c_.block_sync && m.is_whole() &&
                          !m.is(access_mark::copying | access_mark::writes) && (strong_ || !m.is(access_mark::strong));
      if (!counts) return false;
      if (known_ && m.warp != warp_) return true;
      known_ = true;
      warp_ = m.warp;
      return false;
    }

    /// It has got a read that counts.
    [[nodiscard]] bool has_one() const { return known_; }

   private:
    const current& c_;
    std::uint32_t warps_;  // of a block; 0: other things order the launch
    bool strong_;
    bool known_ = false;
    std::uint32_t warp_ = 0;
  };
  place& place_of(const functional_block& block);
  [[nodiscard]] std::uint32_t index_of(const isa::instruction& i) const {
    return static_cast<std::uint32_t>(&i - program_->code.data());
  }
  [[nodiscard]] bool passes_phase(const current& c, simt::lane_mask lanes, const access_shape& shape);
  void mark_phase(place& p);
  void begin_phase(place& p);
  void leave_phase(place& p, const watched_access& a, simt::lane_mask lanes);
  current start(const watched_access& a);
  [[nodiscard]] bool skips(const watched_access& a);
  void access_lane(current& c, unsigned lane);
  void access_copied(current& c, simt::lane_mask lanes);
  void access_shared(current& c, simt::lane_mask lanes);
  simt::lane_mask access_alike(current& c, simt::lane_mask lanes);
  void access_shared_words(current& c, simt::lane_mask lanes);
  [[nodiscard]] bool write_copied(current& c, unsigned lane);
  template <class F>
  void each_shared_word(current& c, simt::lane_mask lanes, F&& quick);
  void access_global(current& c, simt::lane_mask lanes, const access_shape& shape);
  [[nodiscard]] bool access_words(const current& c, unsigned lane);
  [[nodiscard]] bool access_word(const current& c, unsigned lane);
  [[nodiscard]] bool access_words(const current& c, unsigned lane, const shadow_pages::marks& words);
  [[nodiscard]] bool passes_own(const current& c, word_mark& word, const word_mark& own);
  [[nodiscard]] bool read_word(const current& c, word_mark& word, const word_mark& own, std::uint64_t address,
                               unsigned bytes);
  void crowd(word_mark& word, std::uint64_t address, unsigned bytes);
  void drop_earlier(const current& c, word_mark& word, const word_mark& own);
  [[nodiscard]] bool is_seen_by_two(const current& c, const word_mark& word, const word_mark& own);
  bool replace_read(word_mark& word, word_mark own, std::uint64_t address, unsigned bytes);
  [[nodiscard]] bool write_word(const current& c, word_mark& word, word_mark own, std::uint64_t address,
                                unsigned bytes);
  [[nodiscard]] bool is_before(const current& c, const word_mark& m, const word_mark& own) const;
  [[nodiscard]] bool is_before(const current& c, const access_mark& m, const access_mark& own) const;
  [[nodiscard]] bool of_two_blocks(const word_mark& word, bool weak);
  [[nodiscard]] bool access_segment(const current& c, shadow_segment& s, simt::lane_mask lanes, std::uint32_t part = 0);
  [[nodiscard]] bool reads_segment(const current& c, shadow_segment& s, const access_mark& own);
  void read_same(current& c, simt::lane_mask lanes);
  [[nodiscard]] bool read_at_once(const current& c, shadow_cells& cells, shadow_cell& cell, simt::lane_mask lanes);
  /// A barrier of the block, or of all lanes of the warp, orders it before all that follows.
  [[nodiscard]] bool synced(const current& c, const access_mark& m) const {
    if (m.number == 0) return true;
    if (m.is(access_mark::copying)) return false;
    return (m.warp - c.first_warp < warps_per_block_ && m.number <= c.block_sync) ||
           (m.warp == c.mark.warp && m.number <= c.warp_sync);
  }
  /// An atomic does not race with other atomics, but the plain write before it does: it takes the place of the cell's
  /// read. In shared memory a barrier has ordered it with all of the block.
  [[nodiscard]] bool hides(const current& c, const access_mark& before) const {
    return c.mark.is(access_mark::strong) && before.number != 0 && !before.is(access_mark::strong) &&
           !(c.in_shared && !reaches_cluster_ && before.number <= c.block_sync);
  }
  /// The lane is known to come after it.
  [[nodiscard]] static bool is_past(const current& c, const access_mark& m, unsigned lane) {
    return c.passed.number == m.number && c.passed.warp == m.warp && c.passed.copying == m.is(access_mark::copying) &&
           c.passed.known == c.at->clock->known_by(c.warp, lane);
  }
  [[nodiscard]] bool is_quick(const current& c, shadow_cell& cell, unsigned lane);
  [[nodiscard]] bool is_own_check(const current& c, const shadow_cell& cell, simt::lane_mask bit);
  [[nodiscard]] bool marks_with(const current& c, const access_mark& read);
  void touch(current& c, shadow_cells& cells, shadow_cell& cell, unsigned lane, std::uint64_t address);
  void read(current& c, shadow_cells& cells, shadow_cell& cell, unsigned lane, std::uint64_t address);
  void write(current& c, shadow_cell& cell, unsigned lane, std::uint64_t address);
  [[nodiscard]] bool conflicts(const current& c, const access_mark& earlier, unsigned lane) const;
  [[nodiscard]] bool same_value(const current& c, unsigned lane, std::uint64_t address, unsigned bytes) const;
  [[nodiscard]] bool same_value_as(const current& c, unsigned lane, unsigned other, std::uint64_t address,
                                   unsigned bytes) const;
  [[nodiscard]] std::string kind_of(const access_mark& m) const;
  void report(const current& c, const access_mark& earlier, unsigned lane, std::uint64_t address);
  void report_stale(const current& c, const access_mark& written, unsigned lane, std::uint64_t address);
  void describe(const current& c, const access_mark& earlier, unsigned lane, std::uint64_t address);
  void synchronise(const current& c, simt::lane_mask lanes);
  sync_log* find_log(const current& c, std::uint64_t address, bool arrival);
  void release(const current& c, simt::lane_mask lanes, std::uint64_t address, sync_log* log);
  sync_log& log_of(place& holder, std::uint32_t offset);
  sync_log& new_log();
  void free_logs(place& p);
  /// Something orders accesses of different blocks.
  [[nodiscard]] bool orders_blocks() const { return reaches_cluster_ || !logs_.empty(); }
  sync_log& cluster_log(const functional_block& block);
  void see_phase(const place& holder, sync_log& log, std::uint32_t offset) const;
  void copies(const current& c, simt::lane_mask lanes);
  handed_copies& handed_by(place& p, unsigned warp);
  void hands_over(const watched_step& s);
  void exclude_handed(place& p);
  void sends(const current& c, simt::lane_mask lanes);
  void arrives_at_mbarriers(const current& c, simt::lane_mask lanes);
  void release_ends(const current& c, simt::lane_mask lanes, sync_log& log);
  void await_copies_of_threads(const watched_step& s);
  template <class F>
  void each_of(const span& s, simt::lane_mask lanes, F&& f);
  void settle(const copy& k, bool reads_alone);
  void settle(const copy& k, const span& s, simt::lane_mask lanes);
  void await_products(const watched_step& s);
  void report_exit(const place& p, const access_mark& last);
  void report_early_end(const place& p, const copy& k);
  void store_data(const watched_access& a) const;
  [[nodiscard]] const std::uint8_t* byte_at(const current& c, std::uint64_t address) const;
  [[nodiscard]] std::uint8_t new_byte(const current& c, unsigned lane, std::uint64_t address) const;
  [[nodiscard]] std::string value_text(const current& c, std::uint64_t address) const;

  /// Whether one more read that is not ordered with these is kept, for a write that comes later.
  [[nodiscard]] bool keeps_one_more(const later_reads* reads, const access_mark& own) const {
    if (reads == nullptr || reads->size() < (keeps_many_ ? most_reads : few_reads)) return true;
    if (keeps_many_) return false;
    return reads_strong_ && !own.is(access_mark::strong) ? !reads->weak_of_two_blocks(warps_per_block_)
                                                         : !reads->of_two_blocks(warps_per_block_);
  }
  /// False: it is not kept, nor need further ones be.
  bool keep_read(const current& c, shadow_cells& cells, shadow_cell& cell, const access_mark& own) {
    if (keeps_one_more(cell.more_reads, own)) {
      cells.add_read(cell, own);
      return true;
    }
    if (keeps_many_) {
      replace_read(c, *cell.more_reads, own);
      return true;
    }
    if (!own.is(access_mark::strong)) cell.read.what |= access_mark::crowded;
    return false;
  }
  void replace_read(const current& c, later_reads& reads, const access_mark& own) const;
  /// Whether the step samples reads of words of which enough are kept.
  [[nodiscard]] bool samples_crowded() const { return keeps_many_ && now_ % 16 == 0; }
  /// A number below `count`, by the step.
  [[nodiscard]] std::size_t any_of(std::size_t count) const {
    return static_cast<std::size_t>((std::uint64_t{now_ * 2654435761u} * count) >> 32);
  }

  // Reads of a word that are kept; `most_reads`: if more than barriers of whole blocks orders the launch.
  static constexpr std::size_t few_reads = 6, few_of_byte = 2, most_reads = 16;

  findings& found_;
  const resident_launch* launch_ = nullptr;
  bool marks_insufficient_ = false;  // what a cell becomes does not follow from its marks alone, or there was a finding
  const isa::program* program_ = nullptr;
  functional_memory::view* memory_ = nullptr;
  bool independent_ = false;
  std::uint32_t warps_per_block_ = 1;
  sequence now_ = 0;
  std::deque<place> places_;  // by the block's slot
  place* last_place_ = nullptr;
  unsigned last_slot_ = 0;
  bool uses_phases_ = false;
  bool copies_ = false;  // cp.async
  bool uses_words_ = false;
  bool releases_ = true;       // strong accesses may order others
  bool reads_strong_ = false;  // there are strong reads, of which not all are kept
  bool keeps_many_ = false;    // reads: the launch orders more than whole blocks with each other
  shadow_pages global_;
  std::unordered_map<std::uint64_t, sync_log*> logs_;          // by word of global memory
  std::unordered_map<std::uint64_t, sync_log*> cluster_logs_;  // by the number of the cluster's first block
  std::deque<sync_log> all_logs_;
  std::vector<sync_log*> free_logs_;  // of these
  bool reaches_cluster_ = false;
  copy_signals signals_;
  known_races known_;
  bool has_marks_ = false;                         // some write is a mark, which a read tells
  std::unordered_map<std::uint64_t, bool> marks_;  // by the indices of a read and of a write
  std::uint64_t last_check_ = ~std::uint64_t{0};   // the last one asked for, and its value
  bool last_marks_ = false;
  mutable sequence data_of_ = 0;  // the step whose store data are in words_
  alignas(64) mutable std::uint32_t words_[4][isa::warp_size];
};

}  // namespace heddle::sanitize
