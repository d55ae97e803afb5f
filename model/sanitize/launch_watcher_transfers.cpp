// SPDX-License-Identifier: MIT
// Copies and products that are in flight, and blocks of a cluster.
#include "heddle/functional/functional_block.h"
#include "heddle/isa/matrix.h"
#include "heddle/sanitize/launch_watcher.h"
#include "heddle/sanitize/sanitize_kinds.h"

namespace heddle::sanitize {

void launch_watcher::transfer_begins(const watched_step&) {
  ++steps_;
  if (checks_races_) races_.transfer_begins();
}

bool launch_watcher::transfer_moves(const watched_step& s, const watched_segment& p) {
  if (p.holder == nullptr && (kinds_ & sanitize_kind::memory) != 0) {
    ranges_->refresh(where_);
    if (!is_allocated(p.address, p.bytes)) {
      report_outside(s, p);
      return false;
    }
  }
  if ((kinds_ & sanitize_kind::init) != 0) check_written(s, p);
  if (checks_races_) races_.transfer_moves(s, p);
  return true;
}

void launch_watcher::report_outside(const watched_step& s, const watched_segment& p) {
  if (!found_.counts({sanitize_kind::memory, launch_->program.get(), index_of(s.instruction), 0, 2})) return;
  finding f = finding_at(sanitize_kind::memory, s);
  f.what = std::string("out of bounds: ") + (p.writes ? "write" : "read") + " of " + std::to_string(p.bytes) +
           " bytes of global memory at " + hexadecimal(p.address) + " by a bulk copy";
  const auto lane = static_cast<unsigned>(__builtin_ctz(s.mask));
  const std::string near = nearest(p.address);
  f.details.push_back(thread_text(*launch_, s.block.number, s.warp.thread(lane)) + (near.empty() ? "" : ": " + near));
  found_.add(std::move(f));
}

// Bulk copies may well move bytes of a tile that were never written. A product uses all that it reads.
void launch_watcher::check_written(const watched_step& s, const watched_segment& p) {
  if (p.holder == nullptr) {
    if (p.writes) written(p.address, p.bytes);
    return;
  }
  written_bits& shared = places_[p.holder->slot].shared;
  if (p.writes) return shared.write(p.address, p.bytes);
  if (!isa::is_warpgroup_product(s.instruction.op) || shared.any(p.address, p.bytes)) return;
  if (!found_.counts({sanitize_kind::init, launch_->program.get(), index_of(s.instruction), 0, 0})) return;
  finding f = finding_at(sanitize_kind::init, s);
  f.what = "uninitialised: read of " + std::to_string(p.bytes) + " bytes of shared memory at " +
           hexadecimal(p.address) + " that were never written, by a product of a warpgroup";
  f.details.push_back(thread_text(*launch_, s.block.number, s.warp.thread(0)) + " and the others of its warp");
  found_.add(std::move(f));
}

void launch_watcher::transfer_signals(const watched_step& s, const functional_block& holder, std::uint32_t offset) {
  if (checks_races_) races_.transfer_signals(s, holder, offset);
}

void launch_watcher::touches_products(const watched_step& s) {
  if ((kinds_ & sanitize_kind::races) == 0) return;
  const std::uint32_t product = record_of(s).products.executes(s.instruction, index_of(s.instruction));
  if (product == isa::no_target) return;
  if (!found_.counts({sanitize_kind::races, launch_->program.get(), index_of(s.instruction), product, 2})) return;
  finding f = finding_at(sanitize_kind::races, s);
  f.what = "race: read of an accumulator while the product that writes it is in flight";
  const auto lane = static_cast<unsigned>(__builtin_ctz(s.mask));
  f.details.push_back(thread_text(*launch_, s.block.number, s.warp.thread(lane)) + ": read, at " +
                      place_in_source(*launch_->program, s.instruction));
  f.details.push_back("the warp's product, at " + place_in_source(*launch_->program, launch_->program->code[product]) +
                      ", has not been waited for (wgmma.wait_group)");
  found_.add(std::move(f));
}

void launch_watcher::closes_copies(const watched_step& s) {
  if (s.instruction.op == isa::opcode::wgcommit) record_of(s).products.commits();
  if (checks_races_) races_.closes_copies(s);
}

void launch_watcher::awaits_copies(const watched_step& s) {
  if (s.instruction.op == isa::opcode::wgdepbar) record_of(s).products.waits(s.instruction.sub);
  if (checks_races_) races_.awaits_copies(s);
}

void launch_watcher::awaits_cluster(const watched_step& s) {
  if (checks_races_) races_.awaits_cluster(s);
}

void launch_watcher::block_ends(const functional_block& block) {
  if (checks_races_) races_.block_ends(block);
}

void launch_watcher::reaches_ended(const watched_access& a) {
  if (!found_.counts({sanitize_kind::memory, launch_->program.get(), index_of(a.instruction), 0, 3})) return;
  finding f = finding_at(sanitize_kind::memory, a);
  const auto lane = static_cast<unsigned>(__builtin_ctz(a.shared));
  f.what = "access to shared memory of a block of the cluster that has exited";
  f.details.push_back(thread_text(*launch_, a.block.number, a.warp.thread(lane)) + ": at " +
                      hexadecimal(a.addresses[lane]) + " of " + block_text(*launch_, a.holder->number));
  found_.add(std::move(f));
}

}  // namespace heddle::sanitize
