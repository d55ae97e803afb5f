// SPDX-License-Identifier: MIT
// Products of a warpgroup (HGMMA and relatives), for which a warp does not wait. Each of the four warps has its rows
// computed by the tensor unit of its own sub-partition, which reads its operands from shared memory meanwhile. Source:
// PTX ISA, "Asynchronous warpgroup level matrix instructions".
#include <algorithm>

#include "heddle/isa/matrix.h"
#include "heddle/sub_partition/memory/memory_issue.h"

namespace heddle {

void memory_issue::close_recorded_group(warp_slot& w) {
  if (w.stream->recorded() && w.products.open()) w.products.commit();
}

void memory_issue::issue_product(unsigned slot, cycle_t cycle) {
  warp_slot& w = warps_[slot];
  const decoded_instruction& d = *w.next;
  products_.waiting.push_back({&d, slot, w.products.add(), never});
  if (!w.stream->recorded() && (d.instruction->sub & isa::gmma::commits) != 0) w.products.commit();
  ++w.loads;
  ++w.copying;
  if (products_.waiting.size() == 1) begin_product(cycle);
  products_.next = std::min(products_.next, products_.ends);
  clock_.wake_at(products_.next);
  scheduler_.gate(isa::unit::tensor)
      .set_blocked(products_.waiting.size() >= config_.tensor.warpgroup_queue_entries, cycle + 1);
}

// The tensor unit begins the first product of its queue, and reads its operands.
void memory_issue::begin_product(cycle_t cycle) {
  const decoded_instruction& d = *products_.waiting.front().decoded;
  products_.ends = cycle + d.product_cycles;
  if (d.operand_bytes == 0) return;
  const warp_slot& w = warps_[products_.waiting.front().slot];
  const unsigned pass_bytes = config_.shared_memory.banks * config_.shared_memory.bank_bytes;
  w.traffic_of(d).add(&instruction_traffic::shared_passes, (d.operand_bytes + pass_bytes - 1) / pass_bytes);
  products_.ends =
      std::max(products_.ends, supervisor_.matrix_operands_read(w.launch->launch_id, d.operand_bytes, cycle));
}

void memory_issue::run_products(cycle_t cycle) {
  product_queue& q = products_;
  while (!q.waiting.empty() && q.ends <= cycle) {
    const cycle_t end = q.ends;
    q.ending.push_back(q.waiting.front());
    q.ending.back().complete = end + config_.tensor.warpgroup_tail_cycles;
    q.waiting.pop_front();
    q.ends = never;
    if (!q.waiting.empty()) begin_product(end);
    scheduler_.gate(isa::unit::tensor).set_blocked(false, cycle);
    if (scheduler_.ready() != 0) clock_.wake_at(cycle);
  }
  while (!q.ending.empty() && q.ending.front().complete <= cycle) {
    const product_queue::product p = q.ending.front();
    q.ending.pop_front();
    product_complete(p, cycle);
  }
  q.next = std::min(q.ends, q.ending.empty() ? never : q.ending.front().complete);
  if (q.next != never) clock_.wake_at(q.next);
}

// The warp is still in its slot: it leaves when its last product is complete.
void memory_issue::product_complete(const product_queue::product& p, cycle_t cycle) {
  warp_slot& w = warps_[p.slot];
  --w.loads;
  --w.copying;
  w.products.completed(p.group);
  if (w.phase != warp_phase::at_fence) answered(p.slot, cycle);
}

}  // namespace heddle
