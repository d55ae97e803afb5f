// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/instruction_traffic.h"

#include <algorithm>

namespace heddle {

void instruction_traffic::add(const instruction_traffic& o) {
  shared_passes += o.shared_passes;
  constant_reads += o.constant_reads;
  translations += o.translations;
  replays += o.replays;
  l1_lines += o.l1_lines;
  l1_sectors += o.l1_sectors;
  l1_hits += o.l1_hits;
  l1_words += o.l1_words;
  l1_fetched += o.l1_fetched;
  l1_write_hits += o.l1_write_hits;
  l1_write_misses += o.l1_write_misses;
  flits += o.flits;
  cluster_flits += o.cluster_flits;
  l2_read_hits += o.l2_read_hits;
  l2_read_misses += o.l2_read_misses;
  atomics += o.atomics;
  atomic_cells += o.atomic_cells;
  atomic_turns += o.atomic_turns;
  l2_write_hits += o.l2_write_hits;
  l2_write_misses += o.l2_write_misses;
  fetched_sectors += o.fetched_sectors;
}

std::shared_ptr<execution_count> zero_counts(std::size_t number) {
  return {new execution_count[number], std::default_delete<execution_count[]>()};
}

instruction_traffic& traffic_room::next() {
  constexpr std::size_t most = 8;
  if (used_ == size_) {
    size_ = std::clamp(2 * size_, std::size_t{1}, most);
    parts_.push_back(std::make_unique<instruction_traffic[]>(size_));
    used_ = 0;
  }
  return parts_.back()[used_++];
}

instruction_traffic& block_counts::moved_by(std::uint32_t access) {
  instruction_traffic*& of = moved[access];
  if (of == nullptr) of = &room_.next();
  return *of;
}

instruction_traffic block_counts::traffic(std::uint32_t access) const {
  return moved[access] == nullptr ? instruction_traffic{} : *moved[access];
}

void block_counts::add(const block_counts& o) {
  for (const std::uint32_t i : o.touched) {
    at(i).warps += o.at(i).warps;
    at(i).lanes += o.at(i).lanes;
  }
  for (std::uint32_t a = 0; a < moved.size(); ++a)
    if (o.moved[a] != nullptr) moved_by(a).add(*o.moved[a]);
}

}  // namespace heddle
