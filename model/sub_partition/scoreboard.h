// SPDX-License-Identifier: MIT
// Models: the register scoreboard of a sub-partition: when each register and predicate of each warp may be used.
// Sockets: none; the issue stage asks it, write-back tells it.
// One cycle: nothing; it holds times (fixed latency) or "pending" (variable latency), so that nobody scans warps.
// Parameters: none of its own. Source: ARCHITECTURE section 4, dependent-issue latency.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "sub_partition/decoded_program.h"
#include "tlm/clock_domain.h"

namespace heddle {

/// What a result that is not there yet is waited for as.
enum class producer : std::uint8_t { fixed = 0, short_latency = 1, long_latency = 2 };

class scoreboard : public sc_core::sc_module {
 public:
  scoreboard(sc_core::sc_module_name name, unsigned slots);

  /// When the instruction's operands (and destinations) are free: `cycle` is `never` while one is pending; `kind` is the
  /// slowest kind of producer waited for.
  struct answer {
    cycle_t cycle;
    producer kind;
  };
  answer probe(unsigned slot, const decoded_instruction& d) const {
    const auto& r = ready_[slot];
    std::uint64_t latest = 0;
    for (unsigned i = 0; i < d.depends_count; ++i) latest = std::max(latest, r[d.depends[i]]);
    for (unsigned p = d.predicates; p != 0; p &= p - 1)
      latest = std::max(latest, r[predicate_base + static_cast<unsigned>(__builtin_ctz(p))]);
    return {latest >= pending ? never : latest >> 2, static_cast<producer>(latest & 3)};
  }

  /// Results of an instruction of fixed latency: usable from `cycle` on.
  void set_ready(unsigned slot, const isa::instruction& i, cycle_t cycle) {
    mark(slot, i, cycle << 2 | static_cast<unsigned>(producer::fixed));
  }
  /// Results of unknown latency: pending until release.
  void set_pending(unsigned slot, const isa::instruction& i, producer kind) {
    mark(slot, i, pending | static_cast<unsigned>(kind));
  }
  void release(unsigned slot, const isa::instruction& i, cycle_t cycle) { set_ready(slot, i, cycle); }
  /// When all results of the slot's instructions of fixed latency are there; nothing may be pending.
  cycle_t settled(unsigned slot) const {
    std::uint64_t latest = 0;
    for (const std::uint64_t r : ready_[slot]) latest = std::max(latest, r);
    return latest >> 2;
  }
  /// A new warp: nothing is pending.
  void clear(unsigned slot) { ready_[slot].fill(0); }

  void trace(sc_core::sc_trace_file* file) const override;

 private:
  static constexpr unsigned predicate_base = 256;
  static constexpr std::uint64_t pending = ~std::uint64_t{0} << 2;

  void mark(unsigned slot, const isa::instruction& i, std::uint64_t value) {
    auto& r = ready_[slot];
    if (i.dst != isa::rz)
      for (unsigned k = 0; k < i.dst_count; ++k) r[i.dst + k] = value;
    for (const auto p : i.pdst)
      if (p != isa::pt) r[predicate_base + p] = value;
  }

  /// Per slot: registers 0..254, predicates from 256; (cycle << 2 | producer), or pending | producer.
  std::vector<std::array<std::uint64_t, predicate_base + 8>> ready_;
};

}  // namespace heddle
