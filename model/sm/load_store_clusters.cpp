// SPDX-License-Identifier: MIT
// The load/store unit's part of accesses to shared memory of other blocks of a cluster.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/sm/load_store_unit.h"

namespace heddle {

// The answer passes the unit in the next cycle.
void load_store_unit::cluster_answered(const cluster_access& a, cycle_t cycle) {
  lsu_transaction& t = *a.transaction;
  invariant(t.outstanding != 0, "load/store unit: an answer that no instruction waits for");
  if (!a.fault.empty() && !t.faulted) {
    t.faulted = true;
    t.fault = a.fault;
    t.fault_lane = a.fault_lane;
  }
  if (t.kind == lsu_kind::load || t.kind == lsu_kind::atomic)
    for (unsigned k = 0; k < (t.bytes_per_lane + 3u) / 4; ++k)
      for (const unsigned lane : set_bits(a.lanes)) t.words[k][lane] = a.words[k][lane];
  t.first_cycle = std::min<std::uint64_t>(t.first_cycle, cycle + 1);
  t.ready_cycle = std::max<std::uint64_t>(t.ready_cycle, cycle + 1);
  if (--t.outstanding == 0 && t.all_sent) finish(t, cycle);
}

cycle_t load_store_unit::serve(const lsu_transaction& t, cycle_t cycle) {
  on_chip_access access;
  access.transaction = &t;
  access.cycle = std::max(cycle, hot_.shared_free);
  sc_core::sc_time delay;
  shared_socket->b_transport(access, delay);
  if (t.traffic) t.traffic.add(&instruction_traffic::shared_passes, access.passes);
  hot_.shared_free = access.free_cycle;
  return access.ready_cycle;
}

}  // namespace heddle
