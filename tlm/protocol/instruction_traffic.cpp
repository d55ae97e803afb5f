// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/instruction_traffic.h"

#include <utility>

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

// Of memory that is not written nothing is taken.
block_counts::block_counts(std::shared_ptr<execution_count> zeros, std::size_t instructions, launch_profile* of)
    : executed_(std::move(zeros)), touched_(new std::uint32_t[instructions]), owner_(of) {}

void block_counts::exchange(state_image& image, std::size_t instructions) {
  image(touched_count_, moved);
  if (touched_count_ > instructions) throw state_error("a block has counted more instructions than its program has");
  for (std::uint32_t k = 0; k < touched_count_; ++k) {
    image(touched_[k]);
    if (touched_[k] >= instructions) throw state_error("a block has counted an instruction that its program has not");
    execution_count& count = executed_.get()[touched_[k]];
    image(count.warps, count.lanes);
  }
}

void block_counts::add(const block_counts& o) {
  for (std::uint32_t k = 0; k < o.touched_count_; ++k) {
    const std::uint32_t i = o.touched_[k];
    execution_count& count = executed_.get()[i];
    if (count.warps == 0) touched_[touched_count_++] = i;
    count.warps += o.at(i).warps;
    count.lanes += o.at(i).lanes;
  }
  moved.add(o.moved);
}

void block_counts::clear() {
  for (std::uint32_t k = 0; k < touched_count_; ++k) executed_.get()[touched_[k]] = {};
  touched_count_ = 0;
  moved = {};
}

}  // namespace heddle
