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

void block_counts::resize(std::size_t instructions, std::size_t accesses) {
  executed.resize((instructions + together - 1) / together);
  moved.resize(accesses);
}

execution_count& block_counts::at(std::uint32_t instruction) {
  std::unique_ptr<executions>& some = executed[instruction / together];
  if (some == nullptr) some = std::make_unique<executions>();
  return (*some)[instruction % together];
}

execution_count block_counts::count(std::uint32_t instruction) const {
  const executions* const some = executed[instruction / together].get();
  return some == nullptr ? execution_count{} : (*some)[instruction % together];
}

instruction_traffic& block_counts::moved_by(std::uint32_t access) {
  std::unique_ptr<instruction_traffic>& of = moved[access];
  if (of == nullptr) of = std::make_unique<instruction_traffic>();
  return *of;
}

instruction_traffic block_counts::traffic(std::uint32_t access) const {
  return moved[access] == nullptr ? instruction_traffic{} : *moved[access];
}

void block_counts::add(const block_counts& o) {
  executed.resize(o.executed.size());
  moved.resize(o.moved.size());
  for (const std::uint32_t i : o.touched) {
    execution_count& sum = at(i);
    const execution_count more = o.count(i);
    sum.warps += more.warps;
    sum.lanes += more.lanes;
  }
  for (std::uint32_t a = 0; a < moved.size(); ++a)
    if (o.moved[a] != nullptr) moved_by(a).add(*o.moved[a]);
}

}  // namespace heddle
