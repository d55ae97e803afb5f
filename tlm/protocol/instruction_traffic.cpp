// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/instruction_traffic.h"

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

void block_counts::add(const block_counts& o) {
  executed.resize(o.executed.size());
  moved.resize(o.moved.size());
  for (const std::uint32_t i : o.touched) {
    executed[i].warps += o.executed[i].warps;
    executed[i].lanes += o.executed[i].lanes;
  }
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i].add(o.moved[i]);
}

}  // namespace heddle
