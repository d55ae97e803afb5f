// SPDX-License-Identifier: MIT
// Copies and products that are in flight, blocks of a cluster; the memory of malloc, and that of other clients.
#include <algorithm>
#include <utility>

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

// The memory of malloc in kernels, and memory of other clients of the GPU.

void launch_watcher::heap_placed(std::uint64_t address, std::uint64_t bytes, std::uint32_t client) {
  const auto own =
      std::find_if(heaps_.begin(), heaps_.end(), [client](const heap_range& h) { return h.client == client; });
  if (own != heaps_.end()) *own = {address, bytes, client};
  else heaps_.push_back({address, bytes, client});
}

void launch_watcher::use(const std::unordered_map<std::uint64_t, std::uint64_t>& heap, std::uint32_t client) {
  heap_client_ = client;
  heap_.clear();
  for (const auto& [address, bytes] : heap) heap_.add(address, bytes, true);
}

void launch_watcher::heap_given(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0) return;
  heap_.add(address, bytes, (kinds_ & sanitize_kind::init) == 0);
  if (checks_races_) races_.forget(address, bytes);
}

// What others do with the memory must come before that.
void launch_watcher::heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                                  unsigned lane) {
  if (!checks_races_) return;
  if (const std::uint64_t bytes = heap_.bytes_at(address); bytes != 0)
    races_.frees({*calling_, w, i, 1u << lane}, lane, address, bytes);
}

bool launch_watcher::heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                                   unsigned lane) {
  if ((kinds_ & sanitize_kind::memory) == 0) return false;
  if (!found_.counts({sanitize_kind::memory, launch_->program.get(), index_of(i), 2, 0})) return true;
  finding f;
  f.kind = sanitize_kind::memory;
  f.place = place_in_source(*launch_->program, i);
  f.kernel = launch_->program->kernel;
  f.launch = launch_->launch_id;
  f.what = "free of " + hexadecimal(address) + ", which is no block of malloc in use";
  const simt::dim3 &b = w.block->index, &grid = launch_->grid;
  const std::uint64_t block = (std::uint64_t{b.z} * grid.y + b.y) * grid.x + b.x;
  const std::string near = nearest(address);
  f.details.push_back(thread_text(*launch_, block, w.thread(lane)) + (near.empty() ? "" : ": " + near));
  found_.add(std::move(f));
  return true;
}

// Of another client of the GPU.
bool launch_watcher::is_of_another(std::uint64_t address) {
  const auto holds = [address](const heap_range& h) { return address - h.begin < h.bytes; };
  const auto heap = std::find_if(heaps_.begin(), heaps_.end(), holds);
  if (heap != heaps_.end()) return heap->client != heap_client_;
  std::uint64_t begin = 0;
  const allocation* const whole = host_.containing(address, begin);
  return whole != nullptr && whole->client != 0 && whole->client != launch_->client;
}

}  // namespace heddle::sanitize
