// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/isa/recording.h"

namespace heddle {
struct block_counts;
}

namespace heddle::simt {

using isa::warp_size;
using lane_mask = std::uint32_t;
constexpr lane_mask all_lanes = 0xffffffffu;

struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  template <class Image>
  void exchange(Image& image) {
    image(x, y, z);
  }
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct texture_descriptor;

/// Data common to all blocks of one launch. Immutable while the launch runs, so that SMs may share it.
struct launch_context {
  std::shared_ptr<const isa::program> program;
  dim3 grid;
  dim3 block;
  dim3 cluster;                   // blocks of a cluster; 1 x 1 x 1: no clusters
  bool explicit_cluster = false;  // the launch or the kernel gave the cluster's size
  bool reaches_cluster = false;   // blocks access shared memory of others of their cluster
  bool programmatic = false;      // may begin before the launch before it in its stream has ended
  std::uint32_t launch_id = 0;    // position in the order of launches, for metrics and messages
  std::uint32_t stream = 0;
  std::uint32_t client = 0;      // the process that shares the GPU with others; 0: none
  std::uint32_t client_sms = 0;  // its blocks are on at most so many SMs at once; 0: on any number
  std::uint32_t partition = 0;   // of a divided GPU, from 1 on; 0: none
  std::int32_t priority = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes = 0;      // static + dynamic
  std::int32_t carveout_percent = -1;  // shared memory's share of a unified cache; -1: default
  std::uint64_t local_base = 0;        // global address of the local memory area of this launch
  std::uint32_t sm_count = 0;          // for %nsmid
  std::uint32_t warps_per_sm = 0;
  std::uint64_t recorded_blocks = 0;  // blocks of the trace that the warps follow; 0: they execute the program
  /// Constant banks: 0 geometry and parameters, 2 literals, 3 the module's .const variables.
  std::array<std::vector<std::uint8_t>, 4> banks;
  /// Textures and surfaces: handle h is entry h - 1. Null: none.
  std::shared_ptr<const std::vector<texture_descriptor>> textures;

  /// Streams of different clients are different ones, whatever their numbers.
  [[nodiscard]] std::uint64_t stream_key() const { return std::uint64_t{client} << 32 | stream; }
  /// Blocks of a cluster.
  [[nodiscard]] std::uint32_t cluster_blocks() const { return cluster.x * cluster.y * cluster.z; }
  [[nodiscard]] std::uint32_t threads_per_block() const { return block.x * block.y * block.z; }
  [[nodiscard]] bool recorded() const { return recorded_blocks != 0; }
  [[nodiscard]] std::uint64_t blocks() const { return recorded() ? recorded_blocks : grid.count(); }
  [[nodiscard]] std::uint32_t warps_per_block() const { return (threads_per_block() + warp_size - 1) / warp_size; }
  /// Global address of a byte of a thread's local memory; `warp` is the place of its warp among those of all SMs.
  /// Interleaved by 32-bit words over the lanes, so that a warp's accesses to one variable coalesce.
  [[nodiscard]] std::uint64_t local_address(std::uint64_t warp, std::uint64_t offset, unsigned lane) const {
    const std::uint64_t per_thread = (program->local_bytes + 3) / 4 * 4;
    return local_base + warp * per_thread * warp_size + offset / 4 * (4 * warp_size) + lane * 4 + offset % 4;
  }
};

/// The rank in its cluster of the block with this index, x fastest.
inline std::uint32_t rank_in_cluster(const launch_context& launch, const dim3& index) {
  const dim3& c = launch.cluster;
  return (index.z % c.z * c.y + index.y % c.y) * c.x + index.x % c.x;
}

/// The linear index in the grid of the block with rank `rank` in the cluster of the block with this index.
inline std::uint64_t block_of_rank(const launch_context& launch, const dim3& index, std::uint32_t rank) {
  const dim3& c = launch.cluster;
  const std::uint64_t x = index.x / c.x * c.x + rank % c.x, y = index.y / c.y * c.y + rank / c.x % c.y,
                      z = index.z / c.z * c.z + rank / c.x / c.y;
  return (z * launch.grid.y + y) * launch.grid.x + x;
}

/// The functional state of a resident thread block.
struct block_context {
  const launch_context* launch = nullptr;
  dim3 index;                      // %ctaid
  std::uint8_t* shared = nullptr;  // shared_bytes bytes
  std::uint32_t shared_bytes = 0;
  std::uint32_t sm_id = 0;
  std::uint32_t cluster_rank = 0;                  // %cluster_ctarank
  const std::uint16_t* cluster_sms = nullptr;      // SM of each block of the cluster, by rank; null: no clusters
  const isa::recorded_block* recording = nullptr;  // trace of its warps; null: they execute the program
  block_counts* counts = nullptr;                  // what it executes and moves; null: not counted apart
};

/// Entry of the reconvergence stack: when pc reaches `reconverge`, the entry is popped.
struct stack_entry {
  std::uint32_t pc;
  std::uint32_t reconverge;
  lane_mask mask;

  template <class Image>
  void exchange(Image& image) {
    image(pc, reconverge, mask);
  }
};

/// Why a path does not run: nothing (it can run), its lanes wait at a block's barrier, or they wait for other lanes of
/// the warp.
enum class path_wait : std::uint8_t { nothing, barrier, lanes };

/// Number of the barrier of a thread block cluster, after the named barriers of a block.
constexpr std::uint32_t cluster_barrier = 16;
/// Number of the wait for the launch before, whose place in the stream the warp's launch has not waited for.
constexpr std::uint32_t grid_dependency = 17;
/// Numbers of mbarriers: this, with the offset in shared memory. Lanes wait there for a limited time.
constexpr std::uint32_t mbarrier_number = 0x8000'0000;

constexpr std::uint32_t no_frame = 0xffffffffu;

/// Independent thread scheduling: lanes with the same pc that are not active.
struct lane_path {
  std::uint32_t pc;
  lane_mask mask;
  std::uint32_t frame;  // index of their convergence frame, or no_frame
  path_wait wait;
  bool granted;          // the lanes named by the instruction at pc have all arrived
  std::uint32_t wanted;  // waiting for lanes: their mask; waiting at a barrier: its number

  template <class Image>
  void exchange(Image& image) {
    image(pc, mask, frame, wait, granted, wanted);
  }
};

/// Independent thread scheduling: lanes that diverged at a branch and reconverge. Unused if
/// it has no lanes.
struct convergence_frame {
  std::uint32_t reconverge;  // reconvergence point
  std::uint32_t resume;      // pc where they continue: there, or after it
  lane_mask participants;    // lanes that have neither exited nor left the frame
  lane_mask arrived;         // participants that wait at `reconverge`
  std::uint32_t parent;      // index of the frame in which they continue, or no_frame
  std::uint32_t back_edges;  // back edges taken by other lanes since the last arrival

  template <class Image>
  void exchange(Image& image) {
    image(reconverge, resume, participants, arrived, parent, back_edges);
  }
};

/// Architectural state of one warp. Registers are 32-lane arrays: regs[r * 32 + lane]. The members that every
/// instruction needs come first and fill one cache line.
struct warp_state {
  std::uint32_t* regs = nullptr;              // 64-byte aligned, program->registers x 32 words
  std::array<lane_mask, 8> predicates{};      // [7] is PT and always all ones
  std::uint32_t pc = 0;                       // instruction index
  lane_mask active = 0;                       // lanes that execute at pc
  lane_mask live = 0;                         // lanes that have not exited
  std::uint32_t reconverge = isa::no_target;  // of the current entry or frame
  std::uint32_t slot = 0;                     // warp id on the SM
  // Independent thread scheduling: (pc, active, frame, granted) is the path that runs. No lane is active when all wait.
  bool independent = false;  // false: reconvergence stack
  bool granted = false;
  std::uint32_t frame = no_frame;
  std::uint32_t back_edges = 0;  // plain back edges since the last change of path
  std::uint32_t warp_in_block = 0;
  const block_context* block = nullptr;
  std::vector<stack_entry> stack;  // below the current (pc, active, reconverge)
  std::vector<lane_path> paths;    // paths that do not run, oldest first
  std::vector<convergence_frame> frames;
  std::uint32_t clock_low = 0;  // core cycle at issue, for %clock
  std::uint64_t cycle = 0;      // same, 64 bits, for %clock64 and %globaltimer
  std::uint64_t time_ns = 0;    // simulated time at issue, for %globaltimer

  /// Puts all `lanes` at the program's start, in the given mode of divergence.
  void start(lane_mask lanes, bool independent_lanes) {
    pc = 0;
    active = live = lanes;
    independent = independent_lanes;
    stack.clear();
    reconverge = isa::no_target;
    granted = false;
    frame = no_frame;
    back_edges = 0;
    paths.clear();
    frames.clear();
  }
  /// The state of a warp in its slot, for a state_image; not its registers, nor what is left of an earlier warp.
  template <class Image>
  void exchange(Image& image) {
    image(block, predicates, pc, active, live, reconverge, slot, independent, granted, frame, back_edges,
          warp_in_block);
    image(stack, paths, frames);
  }
  /// Linear thread index in the block of a lane.
  [[nodiscard]] std::uint32_t thread(unsigned lane) const { return warp_in_block * warp_size + lane; }
};

}  // namespace heddle::simt
