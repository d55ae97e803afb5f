// SPDX-License-Identifier: MIT
// Models: one slice of the L2 cache: sectored, write-back, write-validate with byte masks, atomics performed in order.
// Sockets: request_socket (target, from the interconnect), memory_socket (initiator, to a channel); AT base protocol.
// One cycle: memory responses are merged; one look-up; one response to the SMs; one request to the memory.
// Parameters: [l2], memory.channels (how many slices there are); hit_latency_cycles from the GPU, which knows the path.
// Source: docs/model/memory.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/byte_mask.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/memory/common/mean_interval.h"
#include "heddle/memory/common/request_observer.h"
#include "heddle/memory/common/slot_counter.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/memory/l2/line_store.h"
#include "heddle/memory/l2/memory_port.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/ring.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/at_target_port.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/object_pool.h"

namespace heddle {

/// A hit whose BEGIN_REQ comes in cycle t gets its BEGIN_RESP in cycle t + hit_latency_cycles, without load. A miss
/// sends its memory request in that cycle and is answered in the cycle in which the data arrives. Requests lie within
/// one 128-byte line; requests take effect in the order of arrival. Reads of code take code_hit_latency_cycles (0: as
/// others), and longer behind others that are not due yet.
class l2_slice : public l2_cache, public clocked, private at_target_unit {
 public:
  l2_slice(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index,
           unsigned hit_latency_cycles, unsigned code_hit_latency_cycles = 0);

  void on_cycle(cycle_t cycle) override;
  void prefetch_hint(cycle_t cycle, bool distant) const override;
  void trace(sc_core::sc_trace_file* file) const override;

  /// Writes back all lines that are dirty now, then calls `done` (in a cycle of the slice, at least one later).
  void flush(flush_observer& observer) override;
  /// Invalidates all clean bytes, since another agent may have written the memory. Fetches in flight are repeated.
  void drop_clean() override;
  void restart() override { lines_in_ -= hot_.lines.empty_all(); }

  [[nodiscard]] bool idle() const override;
  /// No line is here of these bytes, by their addresses in the channel, and no request for them is in flight to or from
  /// the memory.
  [[nodiscard]] bool has_nothing_of(std::uint64_t local_address, std::uint64_t bytes) const;
  [[nodiscard]] bool awaits_memory() const override { return !hot_.memory.idle(); }
  [[nodiscard]] std::optional<open_request> oldest_request() const override;
  /// Replaces the replacement policy by one that has no name in the configuration. Call before the simulation starts.
  void use(std::unique_ptr<replacement_policy> policy) { hot_.lines.use(replacement(std::move(policy))); }
  [[nodiscard]] queues queues_now() const override;
  void count_touched() override;
  [[nodiscard]] double share_touched() const override {
    return static_cast<double>(touched_count_) / static_cast<double>(hot_.lines.capacity());
  }
  [[nodiscard]] std::uint64_t sectors_missed() const override { return sectors_missed_; }
  unsigned warm(const line_touch& touch) override;
  void end_warming() override;
  [[nodiscard]] unsigned least_response_cycles() const override {
    return static_cast<unsigned>(std::min(pipeline_, code_pipeline_));
  }
  void check_invariants() const override;
  [[nodiscard]] bool has_image() const override;
  void name_objects(state_image& image) override { hot_.memory.name_objects(image); }
  void exchange(state_image& image) override;

  /// Requests of SMs for which `far_sms` is true come from the other partition of the L2: they are answered
  /// `latency_cycles` later, but for reads of sectors that this partition has a copy of. Call before the simulation
  /// starts.
  void add_far(std::vector<bool> far_sms, unsigned latency_cycles);
  /// Lines of these regions are read and written where they are; what the slice and the memory keep of them does not
  /// count. Timing is that of all lines. Call before the simulation starts.
  void access_in_place(const host_regions& regions) { regions_ = &regions; }
  /// Reports requests that arrive from now on to `observer`; null switches this off.
  void observe(request_observer* observer) const { observer_ = observer; }

  [[nodiscard]] unsigned index() const { return index_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t of_parts = none - 1;  // tag of a read for which nothing waits
  static constexpr unsigned write_buffer_sectors = 16;

  struct access {
    tlm::tlm_generic_payload* payload = nullptr;
    cycle_t due = 0;
    void exchange(state_image& image) { image(payload, due); }
  };
  /// A decoded request: what it accesses in its line.
  struct demand {
    std::uint64_t line_address = 0;
    std::uint64_t line = 0;  // line number within the slice
    unsigned offset = 0;     // of the first byte in the line
    byte_mask bytes;
    std::uint32_t launch = 0;
    gpu_request* request = nullptr;  // null: the payload has no extension
    atomic_request* atomic = nullptr;
    bool write = false;
    bool fence = false;
    bool system = false;  // system scope: other agents access the bytes in memory while a kernel runs
    /// `of`: its payload, which has been read.
    void exchange(state_image& image, tlm::tlm_generic_payload& of);
  };
  struct waiter {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint32_t next = none;
    demand wants;
    void exchange(state_image& image) {
      image(payload, next);
      wants.exchange(image, *payload);
    }
  };
  struct mshr {
    std::uint32_t slot = none;
    unsigned pending = 0;  // sectors being fetched
    unsigned failed = 0;   // sectors that came back with an error
    tlm::tlm_response_status error = tlm::TLM_OK_RESPONSE;
    unsigned count = 0;    // waiters
    unsigned ordered = 0;  // waiters that are writes or atomics
    std::uint32_t head = none;
    std::uint32_t tail = none;
    void exchange(state_image& image) { image(slot, pending, failed, error, count, ordered, head, tail); }
  };
  struct delayed {
    tlm::tlm_generic_payload* payload = nullptr;
    cycle_t due = 0;
    void exchange(state_image& image) { image(payload, due); }
  };

  friend class at_target_port<l2_slice>;
  bool accept(tlm::tlm_generic_payload& p, cycle_t arrival, bool again);
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& p);

  void look_up(cycle_t now);
  void take_responses(cycle_t now);
  void write_lost(const memory_port::request& q);
  void flush_some();
  void end_flush();
  void schedule(cycle_t now);

  /// False if the request is malformed; the response status tells how.
  bool decode(tlm::tlm_generic_payload& p, demand& d) const;
  /// Performs the request or queues it at an MSHR; false if it stalls in this cycle.
  bool perform(tlm::tlm_generic_payload& p, const demand& d, cycle_t now);
  bool join_miss(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now);
  bool start_miss(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot);
  std::uint32_t make_room(const demand& d);
  void park(mshr& m, tlm::tlm_generic_payload& p, const demand& d);
  [[nodiscard]] unsigned with_neighbours(const mshr& m, unsigned sectors) const;
  void fetch(std::uint32_t miss, const demand& d, unsigned sectors);
  void wake_waiters(std::uint32_t miss, cycle_t now);
  void serve(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now);
  /// From here on the next store or atomic can be taken: what the array has not written yet waits in a buffer.
  [[nodiscard]] cycle_t array_ready() const {
    const cycle_t buffered = cycle_t{parameters_.write_interval_cycles} * write_buffer_sectors;
    return hot_.array_free - std::min(hot_.array_free, buffered);
  }
  /// The array is busy while these sectors are written.
  void occupy_array(unsigned sectors, cycle_t now) {
    hot_.array_free = std::max(hot_.array_free, now) +
                      cycle_t{parameters_.write_interval_cycles} * static_cast<unsigned>(__builtin_popcount(sectors));
  }
  void perform_atomic(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now);
  /// The bytes of the request's line.
  [[nodiscard]] std::uint8_t* line_of(const demand& d, std::uint32_t slot) {
    std::uint8_t* const here = regions_ != nullptr ? regions_->find(d.line_address) : nullptr;
    return here != nullptr ? here : hot_.lines.data(slot);
  }
  [[nodiscard]] bool is_distant(const demand& d) const {
    return regions_ != nullptr && regions_->is_distant(d.line_address);
  }
  /// Of memory in another process: its bytes come into the line, or the line's bytes go there.
  void move_distant(bool write, std::uint64_t line_address, const byte_mask& bytes, std::uint32_t slot);
  void respond(tlm::tlm_generic_payload& p, tlm::tlm_response_status status);
  [[nodiscard]] bool is_far(const gpu_request* r) const { return far_latency_ != 0 && r != nullptr && far_sms_[r->sm]; }
  [[nodiscard]] bool crosses(const demand& d, std::uint32_t slot);
  void write_back(std::uint32_t slot);
  void read_parts(std::uint64_t address, const line_store::state& s);
  void use_line(std::uint32_t slot) {
    hot_.lines.touch(slot);
    if (touched_.empty()) return;
    touched_count_ += touched_[slot] == 0;
    touched_[slot] = 1;
  }
  void prioritise(const demand& d, std::uint32_t slot);
  void drop(std::uint32_t slot);
  void fence(tlm::tlm_generic_payload& p);
  struct open_fence;
  void fence_performed(open_fence& fence);
  void count_read(const demand& d, unsigned pending, unsigned misses);
  void count_write(const demand& d, bool hit);
  [[nodiscard]] bool memory_has_room() const { return hot_.memory.queued() < parameters_.queue_entries; }
  [[nodiscard]] unsigned bytes_in_memory_alone(std::uint64_t address, unsigned most) const;
  unsigned debug_line(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                      tlm::tlm_response_status& status);
  void patch(std::uint64_t line_address, unsigned offset, const std::uint8_t* data, const byte_mask& bytes);
  unsigned memory_debug(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                        tlm::tlm_response_status& status);
  unsigned memory_blocking(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                           tlm::tlm_response_status& status);

  address_map map_;
  l2_parameters parameters_;
  unsigned index_;
  const host_regions* regions_ = nullptr;
  bool shared_;            // other agents write the memory too: clean bytes may be outdated
  cycle_t pipeline_;       // cycles from arrival to look-up
  cycle_t code_pipeline_;  // the same for reads of code
  cycle_t interval_;
  /// What every request touches.
  struct alignas(64) hot_state {
    hot_state(l2_slice& slice, clock_domain& domain, const gpu_config& config);

    clock_port clock;
    at_target_port<l2_slice> port;
    memory_port memory;
    line_store lines;
    slot_counter slots;
    ring<access> accesses;
    cycle_t next_access = 0;
    bool stalled = false;   // the oldest request is stalled
    bool progress = false;  // something happened in this cycle that may end the stall
    std::vector<mshr> mshrs;
    std::vector<std::uint32_t> free_mshrs;
    std::vector<waiter> waiters;
    std::vector<std::uint32_t> free_waiters;
    ring<delayed> atomics;  // performed; answered when due
    cycle_t atomic_free = 0;
    cycle_t array_free = 0;  // from here on the array has written all that it was given
  };
  static_assert(sizeof(hot_state) == 960, "fifteen cache lines");
  hot_state hot_;
  mean_interval atomic_sector_;  // for which the atomic unit is busy with each sector
  cycle_t far_latency_ = 0;      // 0: there is no other partition
  std::vector<bool> far_sms_;
  std::vector<std::uint8_t> copies_;   // by slot: sectors that the other partition has, too
  std::vector<std::uint8_t> touched_;  // by slot: whether it was since count_touched(); empty: not counted
  std::uint64_t touched_count_ = 0;
  /// Of a line, by bit: sectors that are here since an access without timing.
  struct warmed_sectors {
    std::uint8_t read = 0, written = 0;
  };
  std::vector<warmed_sectors> warmed_;           // by slot; empty unless between warm() and end_warming()
  ring<delayed> far_;                            // performed; answered when due
  std::vector<flush_observer*> flush_requests_;  // for the next flush
  std::vector<flush_observer*> flushing_;
  /// A fence that is not answered yet: it ends with a flush.
  struct open_fence final : flush_observer {
    void flushed() override { slice->fence_performed(*this); }
    l2_slice* slice = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
  };
  object_pool<open_fence> fences_;
  std::uint32_t flush_way_ = none;  // the next of the flush, of all sets (slot_of_way); none: no walk in progress
  unsigned queued_ = 0;             // for the trace
  unsigned misses_ = 0;
  std::uint64_t sectors_hit_ = 0;  // of all launches; pending hits count as neither
  std::uint64_t sectors_missed_ = 0;
  std::uint64_t lines_in_ = 0;  // lines allocated
  demand wanted_;               // the oldest request, decoded, while it is stalled
  bool knows_wanted_ = false;
  bool waits_for_room_ = false;  // it is stalled until there is a free MSHR and room towards the memory
  mutable request_observer* observer_ = nullptr;
};

}  // namespace heddle
