// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sanitize/shadow/access_mark.h"
#include "heddle/simt/warp/warp_state.h"

// Which accesses of a launch happen before others. Every watched instruction of a warp has a number, in the order of
// execution, and these numbers are the clocks: a thread's vector clock has, for each other thread, the number up to
// which that thread's accesses happen before its own. Most synchronisation is of whole blocks and warps, so the vector
// is kept by block, warp and lane, and what other blocks' threads have released is looked up where it was released.
// Sources: FastTrack (Flanagan and Freund, PLDI 2009) for epochs; BARRACUDA (Eizenberg et al., PLDI 2017) for vector
// clocks compressed by the hierarchy of threads and for fences and atomics as releases; PTX ISA, memory consistency
// model, for what synchronises.

namespace heddle::sanitize {

class sync_log;
/// The first `count` releases of a location are known.
struct acquired {
  static constexpr std::uint64_t any_block = ~std::uint64_t{0};
  const sync_log* log = nullptr;
  std::uint32_t count = 0;
  std::uint64_t block = any_block;  // only what this block's threads have released: by a fence of scope .cta
};
struct fence_view;
/// What a thread has acquired, and some of the views that are there: another location that has no others adds nothing.
struct acquired_releases {
  std::vector<acquired> at;
  std::vector<const fence_view*> views;  // sorted
};
using knowledge = std::shared_ptr<const acquired_releases>;
/// False: it is known.
bool learn(knowledge& known, const acquired& a);
/// What both know.
knowledge joined(const knowledge& a, const knowledge& b);

/// What some lanes of a warp had seen when they executed a fence.
struct fence_view {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;  // in the block
  simt::lane_mask lanes = 0;
  sequence number = 0;          // own accesses up to here
  sequence block_sync = 0;      // those of the block
  sequence warp_sync = 0;       // those of the warp
  sequence copy = 0;            // not a fence: the end of the copy of this number, of these lanes; of none: of all
  bool of_block = false;        // a fence of scope .cta
  std::vector<sequence> warps;  // of other warps of the block; may be empty
  knowledge known;
  [[nodiscard]] bool covers(const access_mark& a, std::uint32_t warp_in_block) const;
  /// A barrier of the block came between that fence of the block and this one, which covers all that it does.
  [[nodiscard]] bool includes(const fence_view& earlier) const;
};
using fence_views = std::vector<std::shared_ptr<const fence_view>>;

/// A few blocks; or any.
class few_blocks {
 public:
  [[nodiscard]] bool may_have(std::uint64_t block) const {
    return any_ || std::find(of_.begin(), of_.begin() + count_, block) != of_.begin() + count_;
  }
  void add(std::uint64_t block) {
    if (may_have(block)) return;
    if (count_ == of_.size()) any_ = true;
    else of_[count_++] = block;
  }
  void add(const few_blocks& others) {
    any_ = any_ || others.any_;
    for (unsigned k = 0; k < others.count_ && !any_; ++k) add(others.of_[k]);
  }

 private:
  std::array<std::uint64_t, 16> of_{};  // as many as a cluster has
  unsigned count_ = 0;
  bool any_ = false;
};

/// The releases at one location, in the order of execution.
class sync_log {
 public:
  /// Of an mbarrier or of the barrier of a cluster: a wait learns of the releases before the end of the last phase.
  bool has_phases = false;
  bool phase = false;         // the mbarrier's, when it was seen last
  std::uint32_t ended = 0;    // releases before the end of the last phase
  bool in_cluster = false;    // in shared memory of a cluster: fences of blocks count for all its blocks
  bool of_barrier = false;    // of a cluster,
  std::uint32_t to_wait = 0;  // for which so many of its warps have not waited, since it completed
  /// Whether the first `count` releases may have views that are not among those of `known`, which is not null.
  [[nodiscard]] bool has_news(std::uint32_t count, const knowledge& known) const;
  /// Adds their views, if there are few.
  void add_views(std::uint32_t count, std::vector<const fence_view*>& known) const;
  [[nodiscard]] std::uint32_t known_now() const { return has_phases ? ended : size(); }

  void append(std::shared_ptr<const fence_views> views, std::uint64_t block, sequence now);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(releases_.size()); }
  /// Of the first `count` releases one that covers the access, for a thread of block `reader`; null: none does.
  [[nodiscard]] const fence_view* covering(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                           std::uint64_t reader, std::uint64_t only = acquired::any_block) const;

 private:
  struct release {
    std::shared_ptr<const fence_views> views;
    sequence time;  // covers nothing later
  };
  using visits = std::vector<acquired>;
  [[nodiscard]] const fence_view* among_own(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                            std::uint64_t reader, std::uint64_t only) const;
  [[nodiscard]] const fence_view* search(std::uint32_t count, const access_mark& a, std::uint32_t warps_per_block,
                                         std::uint64_t reader, std::uint64_t only, visits& seen) const;
  void add_blocks(const fence_views& views, std::uint64_t block);
  void note(const fence_view& v);
  std::vector<release> releases_;
  few_blocks blocks_;  // of which accesses may be covered: those that have released here, or where they had acquired
  struct seen_view {
    const fence_view* view;
    std::uint32_t release;
  };
  static constexpr std::size_t most_views = 64;
  std::vector<seen_view> views_;  // sorted; each one, where it came first; more than `most_views`: not all of them
  const void* added_ = nullptr;   // the knowledge whose blocks were added last
  /// The last release by a block.
  struct last_release {
    std::uint64_t block = acquired::any_block;
    const fence_views* views = nullptr;
  };
  std::array<last_release, 4> last_;  // by block
  /// Who knows this many of `views_`: all, when it was found.
  struct knowing {
    std::weak_ptr<const acquired_releases> known;  // keeps the address from being used again
    const acquired_releases* address = nullptr;
    std::size_t views = 0;
  };
  mutable std::array<knowing, 4> knowing_;
  mutable std::uint8_t next_knowing_ = 0;  // the place of the next one
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_block_;
  std::unordered_multimap<sequence, std::uint32_t> copies_;  // the releases by ends of copies, by the copy
  std::vector<std::uint32_t> nested_;                        // releases by threads that had acquired at other locations
};

/// What a warp's lanes with this knowledge are known to come after: all accesses of a block up to this number.
struct known_block {
  knowledge by;
  std::uint64_t block = 0;
  sequence up_to = 0;
};

/// The end of a copy that is known.
struct known_copy {
  knowledge by;
  sequence copy = 0;
  simt::lane_mask lanes = 0;  // none: all
};

/// What each lane of a warp has: mostly the same.
template <class T>
class of_lanes {
 public:
  [[nodiscard]] const T& of(unsigned lane) const { return divided_ ? lanes_[lane] : common_; }
  [[nodiscard]] bool divided() const { return divided_; }
  T& own(unsigned lane) {
    if (!divided_) lanes_.fill(common_);
    divided_ = true;
    return lanes_[lane];
  }
  void set_all(const T& of) {
    common_ = of;
    divided_ = false;
  }
  void set(simt::lane_mask lanes, const T& of) {
    if (lanes == simt::all_lanes) return set_all(of);
    for (const unsigned lane : set_bits(lanes)) own(lane) = of;
  }
  /// All lanes have the same from now on if they have it already.
  void join() {
    if (divided_ && std::all_of(lanes_.begin(), lanes_.end(), [this](const T& of) { return of == lanes_[0]; }))
      set_all(lanes_[0]);
  }
  /// Calls f(value) for that of each lane; once, if it is the same.
  template <class F>
  void each(F&& f) const {
    if (!divided_) return f(common_);
    for (const T& of : lanes_) f(of);
  }

 private:
  T common_{};
  std::array<T, isa::warp_size> lanes_;  // if divided
  bool divided_ = false;
};

/// The clocks of a warp's lanes.
struct warp_clock {
  sequence warp_sync = 0;       // all lanes' accesses up to here happen before all lanes' next ones
  std::vector<sequence> warps;  // the same of other warps of the block; empty: zeros
  using lane_rows = std::array<std::array<sequence, isa::warp_size>, isa::warp_size>;
  std::unique_ptr<lane_rows> lanes;  // [lane][other lane]; null: zeros
  // Tiles of as many lanes side by side meet, and no others have met since all did: `lanes` is null.
  unsigned tile = 0;  // their lanes; 0: it is not so
  std::array<sequence, isa::warp_size / 2>
      tiles;               // by tile: its lanes' accesses up to here come before their next ones
  sequence tile_sync = 0;  // the least of them
  of_lanes<knowledge> known;
  mutable std::array<known_block, 16> blocks;              // by the block's number, as found last
  mutable std::array<known_copy, 16> copies;               // by the copy's number
  std::array<knowledge, isa::warp_size> seen;              // by loads that do not acquire: known after a fence
  bool sees = false;                                       // some lane has
  of_lanes<std::shared_ptr<const fence_view>> fence;       // the last one
  of_lanes<std::shared_ptr<const fence_view>> fence_wide;  // the last one beyond the block
  of_lanes<std::shared_ptr<const fence_views>> released;   // by a store now; null: not computed
  unsigned released_last = 0;                              // the lane of the last one that was computed
  sequence last_release = 0;                               // others may know the accesses up to here
  sequence learned = 0;                                    // when some lane acquired last
  sequence learned_elsewhere = 0;                          // the same, not from the barrier of the cluster
  sequence last_access = 0;
  simt::lane_mask ended = 0;   // lanes that had exited at the last barrier of the block
  bool knows = false;          // some lane has acquired
  bool fenced = false;         // some lane has executed a fence
  bool cluster_knows = false;  // a barrier of the cluster has made all known that the lanes have fenced
};

/// The clocks of a block.
class block_clock {
 public:
  block_clock(std::uint64_t block, std::uint32_t warps, bool independent);
  /// Becomes the clock of another block with as many warps. False: this one has fenced or acquired something, and is
  /// not worth it.
  [[nodiscard]] bool restart(std::uint64_t block);

  [[nodiscard]] std::uint64_t block() const { return block_; }
  [[nodiscard]] std::uint32_t first_warp() const { return first_warp_; }
  [[nodiscard]] bool holds(const access_mark& a) const { return a.warp - first_warp_ < warps_.size(); }
  /// Accesses of the block up to here happen before all that its threads do next.
  [[nodiscard]] sequence block_sync() const { return block_sync_; }
  /// All lanes' accesses of the warp up to here happen before all its lanes' next ones.
  [[nodiscard]] sequence warp_sync(std::uint32_t warp) const { return warps_[warp].warp_sync; }
  /// The same of the lanes of each tile of so many, if those meet by themselves; 0: they do not.
  [[nodiscard]] sequence tile_sync(std::uint32_t warp) const { return warps_[warp].tile_sync; }
  [[nodiscard]] unsigned tile(std::uint32_t warp) const { return warps_[warp].tile; }
  [[nodiscard]] sequence last_release(std::uint32_t warp) const { return warps_[warp].last_release; }
  /// Some lane of the warp may know accesses of other blocks.
  [[nodiscard]] bool knows(std::uint32_t warp) const { return warps_[warp].knows; }
  /// When some lane of the warp has learned last of accesses of other blocks.
  [[nodiscard]] sequence last_learned(std::uint32_t warp) const { return warps_[warp].learned; }
  /// What the lane has acquired, to compare.
  [[nodiscard]] const void* known_by(std::uint32_t warp, unsigned lane) const {
    return warps_[warp].known.of(unit(lane)).get();
  }
  /// True if the access happens before what the lane does next.
  [[nodiscard]] bool ordered(const access_mark& a, std::uint32_t warp, unsigned lane) const;
  /// The same of several lanes.
  [[nodiscard]] bool ordered_for_all(const access_mark& a, std::uint32_t warp, simt::lane_mask lanes) const;

  void accessed(std::uint32_t warp, sequence now) { warps_[warp].last_access = now; }
  /// A barrier of the cluster has made known to all of it what the warp's threads could release now.
  [[nodiscard]] bool cluster_knows(std::uint32_t warp) const {
    return warps_[warp].cluster_knows && cluster_->to_wait == 0;
  }
  /// All lanes of the warp wait for the barrier of the cluster, which has completed.
  void waits_for_cluster(std::uint32_t warp);
  void fence(std::uint32_t warp, simt::lane_mask lanes, bool of_block, sequence now);
  /// The lanes synchronise. `live`: those of the warp whose accesses are to be ordered.
  void lanes_meet(std::uint32_t warp, simt::lane_mask lanes, simt::lane_mask live, sequence now);
  /// Lanes of the warp that had exited at the last barrier of the block.
  [[nodiscard]] simt::lane_mask ended(std::uint32_t warp) const { return warps_[warp].ended; }
  void set_ended(std::uint32_t warp, simt::lane_mask lanes) { warps_[warp].ended = lanes; }
  /// All tiles of so many lanes meet, each by itself. False: their lanes have to meet one tile after another.
  bool tiles_meet(std::uint32_t warp, unsigned tile, sequence now);
  /// A warp arrives at a barrier; and the barrier completes for the warps that `released` names. `counted`: it is not
  /// for all threads of the block. `live`: the warps that have not exited; those that have need not arrive.
  void arrives(std::uint32_t barrier, std::uint32_t warp, bool counted, sequence now);
  /// `cluster`: of whose barrier this is, null: it is the block's. There warps may do other things between arriving and
  /// waiting; `released` are those that wait already.
  void completes(std::uint32_t barrier, std::uint64_t released, std::uint64_t live, sync_log* cluster, sequence now);
  void acquires(std::uint32_t warp, simt::lane_mask lanes, const sync_log& log, std::uint32_t count, sequence now);
  /// The lane has read what was released, and acquires it if a fence follows.
  void sees(std::uint32_t warp, unsigned lane, const sync_log& log, std::uint32_t count);
  /// What a strong store of the lane releases; null: nothing.
  std::shared_ptr<const fence_views> releases(std::uint32_t warp, unsigned lane);
  /// All lanes of the warp release the same.
  [[nodiscard]] bool releases_alike(std::uint32_t warp) const {
    return !warps_[warp].fence.divided() && !warps_[warp].fence_wide.divided();
  }
  /// The same of several lanes, and the number up to which all their accesses are released beyond the block.
  std::shared_ptr<const fence_views> releases(std::uint32_t warp, simt::lane_mask lanes, sequence& up_to);
  /// Releases at the block's own shared memory, by word.
  std::unordered_map<std::uint32_t, sync_log*> logs;

 private:
  struct arrival {
    std::uint32_t warp;
    sequence number;
    bool counted;
  };
  [[nodiscard]] unsigned unit(unsigned lane) const { return independent_ ? lane : 0; }
  [[nodiscard]] simt::lane_mask units(simt::lane_mask lanes) const { return independent_ ? lanes : simt::all_lanes; }
  [[nodiscard]] bool comes_after(const warp_clock& own, const knowledge& known, const access_mark& a) const;
  bool learns(knowledge& own, const acquired& a);
  void share_fences();
  /// The block's barriers have made the fence known, or there is none.
  [[nodiscard]] bool is_shared(const std::shared_ptr<const fence_view>& fence) const {
    if (!shared_fences_) return false;
    return !fence || std::find(shared_fences_->begin(), shared_fences_->end(), fence) != shared_fences_->end();
  }
  void completes_cluster(const std::vector<arrival>& arrived, std::uint64_t released, std::uint64_t live,
                         sync_log& cluster, sequence now);
  [[nodiscard]] bool released_all(const std::vector<arrival>& arrived, std::uint64_t live) const;
  static bool tile_meets(warp_clock& w, simt::lane_mask lanes, sequence now);
  static void all_meet(warp_clock& w, sequence now);
  void acquire_seen(warp_clock& w, simt::lane_mask lanes, bool of_block, sequence now);
  std::uint64_t block_;
  std::uint32_t first_warp_;
  bool independent_;
  bool fenced_ = false;  // since the last barrier
  sequence block_sync_ = 0;
  sync_log* cluster_ = nullptr;
  bool fenced_since_ = false;       // some warp, what the cluster may not know
  std::uint64_t to_wait_ = 0;       // warps of the block that have to wait for the cluster's barrier,
  sequence cluster_completed_ = 0;  // which completed then
  bool is_split_ = false;           // some warp has done something between its arrival and its wait
  std::vector<warp_clock> warps_;
  acquired learnt_;                                                   // what a lane has acquired last,
  knowledge before_, after_;                                          // and what it knew before, and since
  std::unordered_map<std::uint32_t, std::vector<arrival>> arrivals_;  // by barrier
  std::shared_ptr<const fence_views> shared_fences_;                  // that barriers have made known to the block
};

}  // namespace heddle::sanitize
