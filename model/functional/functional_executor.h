// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/functional/block_supply.h"
#include "heddle/functional/execution_watcher.h"
#include "heddle/functional/failure_cause.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/functional/functional_observer.h"
#include "heddle/functional/functional_program.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/simt/bulk/bulk_copy.h"
#include "heddle/simt/texture/texture.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/sm/block_barriers.h"
#include "heddle/sub_partition/program_services.h"
#include "heddle/tlm/protocol/fault_details.h"

namespace heddle {

struct functional_block;
struct functional_cluster;
struct functional_warp;
struct lanes_by_space;

/// Executes launches without timing, as fast as the host can, with the functions by which the SMs execute instructions.
/// Blocks run one after another. If they wait for each other, they alternate with as many others as the chip would
/// hold. Execution is deterministic: the same launch on the same memory always runs the same way. Blocks that are
/// independent (block_independence.h) may run on several threads, which changes no result; data races may.
class functional_executor {
 public:
  functional_executor(const gpu_config& config, functional_memory& memory, const address_ranges& ranges,
                      program_services& services);
  ~functional_executor();

  enum class ending : std::uint8_t { completed, failed, stopped };
  struct outcome {
    ending how = ending::completed;
    std::string text;  // of a failure
    fault_details details;
    failure_cause cause;
    std::uint64_t warp_instructions = 0;  // of a failed launch: 0
    std::uint64_t most_of_block = 0;      // warp instructions of one block, at most
  };
  /// Executes the launch to its end, without its first clusters, as many as `from`; a block without a cluster is one.
  /// Clocks that programs read start at `cycle`, or where the last launch left them if that is later, and count one
  /// cycle per instruction. `follower` learns which lines of global memory each block accesses, its blocks numbered by
  /// their clusters; null: they are not recorded.
  outcome execute(const resident_launch& launch, std::uint64_t cycle, std::uint64_t from = 0,
                  line_follower* follower = nullptr);

  /// Launches may be ended by `observer` from now on; null: none.
  void observe(functional_observer* observer) { observer_ = observer; }
  [[nodiscard]] functional_observer* observer() const { return observer_; }
  /// Launches run on so many threads, the caller's included, from now on.
  void use_threads(unsigned threads);
  /// Memory accesses and synchronisation are reported to `watcher` from now on; null: to none.
  void watch(execution_watcher* watcher) {
    watcher_ = watcher;
    programs_.clear();
  }

 private:
  using warp = functional_warp;
  using block = functional_block;
  /// Why a warp stops running.
  enum class pause : std::uint8_t { none, exited, waits, spins, quantum };

  // Blocks (functional_executor.cpp)
  void begin(const resident_launch& launch, functional_program& program, block_supply& supply);
  void end_launch();
  void run_blocks();
  bool has_next();
  bool is_to_stop();
  void start_cluster(std::uint64_t number);
  void start(block& b, std::uint64_t number);
  bool end(block& b);
  bool move_to_spare(std::vector<std::unique_ptr<block>>::iterator from);
  bool drop_needless();
  bool attempt(block& b);
  bool visit(block& b);
  bool yields(block& b, warp& x);
  void release(block& b, const barrier_outcome& o);
  [[noreturn]] void fail(const block& b, const simt::warp_state& w, const isa::instruction& i, unsigned lane,
                         const std::string& what, fault_details details = {});
  // Threads (functional_threads.cpp)
  void share_launch();
  void join(const functional_executor& leader);
  void run_share();
  void take_over(functional_executor& helper);
  // Deadlocks (functional_deadlock.cpp)
  [[noreturn]] void fail_deadlocked(const block& b);
  [[nodiscard]] std::vector<std::string> lane_places(const block& b, const warp& x) const;
  bool recurs(bool moved);
  bool waits_beyond_time();
  [[nodiscard]] failure_cause spinning_cause() const;
  bool survives_recurrence();
  std::uint64_t fingerprint();
  [[nodiscard]] std::string deadlock_text(const std::uint64_t* cluster) const;

  // Instructions (functional_warp.cpp)
  pause run(block& b, warp& x);
  pause other(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  [[noreturn]] void trap(block& b, warp& x, const isa::instruction& i, unsigned lane);
  pause at_barrier(block& b, warp& x, const isa::instruction& i, simt::lane_mask mask);
  // Clusters (functional_clusters.cpp)
  pause at_cluster_barrier(block& b, warp& x, const isa::instruction& i, simt::lane_mask mask);
  void release_cluster(block& b);
  block& block_at(block& b, std::uint32_t address, unsigned lane);
  block& block_of_rank(block& b, std::uint32_t rank, unsigned lane);
  simt::lane_mask access_others(block& b, warp& x, simt::lane_mask mask, std::uint64_t* addresses,
                                const isa::instruction& i);
  void completes(block& b, const barrier_outcome& o);
  pause exit(block& b, warp& x, simt::lane_mask mask);
  [[nodiscard]] bool products_begun(const block& b, const warp& x, unsigned left) const;
  bool lanes_present(simt::warp_state& w, const isa::instruction& i, simt::lane_mask mask);
  void set_clock_values(simt::warp_state& w) const;

  // Memory (functional_access.cpp)
  void load(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void store(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void shared(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  // Lane by lane (functional_cells.cpp)
  void any_access(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void access(block& b, warp& x, functional_step& s, simt::lane_mask mask, std::uint64_t* addresses);
  /// Where the data of a lane lie: word k at bytes + k * apart.
  struct lane_cell {
    std::uint8_t* bytes;
    unsigned apart;
  };
  void find_cells(warp& x, const lanes_by_space& lanes, const std::uint64_t* addresses, unsigned bytes, bool writes,
                  lane_cell* cells);
  void load_cells(warp& x, functional_step& s, const lanes_by_space& lanes, const std::uint64_t* addresses);
  void store_cells(warp& x, functional_step& s, const lanes_by_space& lanes, const std::uint64_t* addresses);
  void change_cells(warp& x, functional_step& s, const lanes_by_space& lanes, const std::uint64_t* addresses);
  void copy(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void bulk_copies(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void bulk_copy(block& b, warp& x, functional_step& s, unsigned lane);
  void move_segment(const simt::bulk_request& r, const simt::bulk_walk& walk, const simt::bulk_segment& p,
                    const isa::instruction& atomic, const std::uint8_t* own, std::uint8_t* shared);
  pause mbarrier_wait(warp& x, const isa::instruction& i, simt::lane_mask mask);
  void texture(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  bool quick_global(const isa::instruction& i, simt::warp_state& w, functional_step& s, bool loads);
  functional_memory::page* page_of(functional_step& s, std::uint64_t first, unsigned bytes, unsigned alignment);
  functional_memory::page* common_page(functional_step& s, simt::lane_mask mask, const std::uint64_t* addresses,
                                       unsigned bytes);
  void check_global(block& b, warp& x, functional_step& s, simt::lane_mask mask, const std::uint64_t* addresses,
                    unsigned bytes);
  simt::lane_reader memory_of(warp& x, unsigned lane);

  // Lines that blocks access (functional_lines.cpp)
  void note_lines(block& b, const warp& x, const functional_step& s, simt::lane_mask mask) const;
  void note_segment(block& b, const simt::bulk_request& r, const simt::bulk_segment& p) const;
  [[nodiscard]] std::uint64_t block_number(const block& b) const;
  void report_lines(block& b);

  // Reports to the watcher (functional_watch.cpp)
  simt::lane_mask watched(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  simt::lane_mask watched_kind(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  void watched_meeting(const watched_step& step);
  functional_kind followed(const block& b, const simt::warp_state& w, const functional_step& s, simt::lane_mask mask);
  void notify_watcher(const block& b, const simt::warp_state& w, const functional_step& s, simt::lane_mask mask);
  simt::lane_mask watched_access_of(block& b, warp& x, functional_step& s, simt::lane_mask mask);
  simt::lane_mask watched_others(watched_access& a);
  void watched_product(const watched_step& step);
  void watched_texels(const block& b, const simt::warp_state& w, const isa::instruction& i, simt::texture_access& a,
                      unsigned which);
  bool watched_bulk(const watched_step& step, const simt::bulk_request& r, const simt::bulk_walk& walk,
                    const simt::bulk_segment& p, const block& target);
  std::uint8_t* local_byte(warp& x, std::uint64_t offset, unsigned lane) const;
  void put(std::uint8_t* to, const void* from, unsigned bytes);
  void exchange_cell(const isa::instruction& i, const lane_cell& c, const std::uint32_t (*words)[isa::warp_size],
                     unsigned lane, std::uint32_t (*old)[isa::warp_size]);

  const gpu_config config_;
  functional_observer* observer_ = nullptr;
  execution_watcher* watcher_ = nullptr;
  line_follower* follower_ = nullptr;
  const barrier_rules rules_;
  functional_memory& memory_below_;
  functional_memory::view memory_;
  const address_ranges& ranges_;
  program_services& services_;
  std::map<const decoded_program*, std::unique_ptr<functional_program>> programs_;
  std::unique_ptr<simt::texture_access> texture_;

  // Threads, each with an executor of its own; helpers take the blocks of this one's supply.
  class crew;
  unsigned threads_ = 1;
  std::vector<std::unique_ptr<functional_executor>> helpers_;
  std::unique_ptr<crew> crew_;
  block_supply own_supply_;

  // The launch that is executed:
  const resident_launch* launch_ = nullptr;
  functional_program* program_ = nullptr;
  std::uint64_t blocks_per_sm_ = 1;
  std::vector<std::unique_ptr<block>> resident_;
  std::vector<std::unique_ptr<block>> spare_;  // for reuse of their storage
  std::vector<std::unique_ptr<functional_cluster>> clusters_;
  block_supply* supply_ = nullptr;
  block_supply::range next_;         // clusters taken from the supply, but not begun
  std::uint64_t wanted_ = 1;         // resident blocks
  unsigned next_slot_ = 0;           // of the chip, for a further resident block
  bool apart_ = false;               // its blocks are independent
  bool concurrent_ = false;          // other threads execute blocks of it
  std::uint64_t pause_at_ = 0;       // warp instructions after which run_blocks() returns
  std::thread::id caller_;           // that began the launch
  std::uint64_t executed_ = 0;       // warp instructions
  std::uint64_t most_of_block_ = 0;  // of one block
  std::uint64_t clock_ = 0;          // at the start of the launch
  unsigned bad_lane_ = 0;
  /// The meeting that was reported last.
  struct known_meeting {
    simt::lane_mask mask = 0, live = 0;  // mask 0: none
    std::array<std::uint32_t, isa::warp_size> named{};
    lane_meeting meeting;
  };
  known_meeting meeting_;
  // Detection of blocks that repeat themselves without end:
  bool watches_ = false;     // changes of memory are tracked
  bool changed_ = false;     // memory has changed, or a warp has read something that changes by itself, such as a clock
  std::uint64_t quiet_ = 0;  // rounds without a change outside warps and blocks
  bool timed_ = false;       // programs have read the time in these rounds
  bool could_write_ = true;  // others, when they were asked last
  std::uint64_t quiet_from_ = 0, leaps_ = 0;  // instructions before these rounds; how often the clock was set forward
  std::uint64_t kept_at_ = 0;                 // the round whose fingerprint is in kept_
  std::uint64_t kept_ = 0;
};

}  // namespace heddle
