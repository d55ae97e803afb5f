// SPDX-License-Identifier: MIT
#include "heddle/gpu/conservation.h"

#include "heddle/config/error.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/memory/l2/l2_cache.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

// Passes of shared memory by instruction equal those that the memories count. An access to another SM's is counted by
// the instruction's SM.
void check_shared_passes(const sc_core::sc_vector<sm>& sms, std::uint64_t ended_passes) {
  std::uint64_t counted = 0, by_instruction = ended_passes;
  for (const auto& s : sms) {
    for (std::uint32_t l = 0; l < s.shared_memory.counters.end(); ++l)
      if (const shared_memory_counters* c = s.shared_memory.counters.find(l))
        counted += c->load_transactions + c->store_transactions + c->atomic_transactions + c->operand_passes;
    for (std::uint32_t l = 0; l < s.profiles.end(); ++l) {
      const launch_profile* p = s.profiles.find(l);
      if (p == nullptr || p->dropped()) continue;
      for (std::size_t i = 0; i < p->size(); ++i) by_instruction += p->traffic(i).shared_passes;
    }
  }
  invariant(counted == by_instruction, "passes of shared memory by instruction differ from those counted there");
}

}  // namespace

void check_conservation(const sc_core::sc_vector<sm>& sms, const sc_core::sc_vector<l2_cache>& slices,
                        const sc_core::sc_vector<memory_model>& channels, std::uint64_t ended_passes) {
  check_shared_passes(sms, ended_passes);
  std::uint64_t sent = 0, received = 0;
  for (const auto& s : sms) {
    invariant(s.l1.payloads_in_use() == 0, "L1: idle, and payloads of its requests were not given back");
    for (std::uint32_t l = 0; l < s.l1.counters.end(); ++l)
      if (const l1_counters* c = s.l1.counters.find(l))
        sent += c->read_requests + c->write_requests + c->atomics + c->instruction_requests + c->bulk_reads +
                c->bulk_writes;
  }
  // The slices of a channel follow one another. External memory has no counters.
  const std::size_t each = channels.size() == 0 ? 1 : slices.size() / channels.size();
  std::uint64_t fetched = 0, written = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i % each == 0) fetched = written = 0;
    for (std::uint32_t l = 0; l < slices[i].counters().end(); ++l)
      if (const l2_counters* c = slices[i].counters().find(l)) {
        received += c->reads + c->writes + c->atomics;
        fetched += c->fetch_bytes;
        written += c->write_back_bytes;
      }
    if (i % each != each - 1 || i / each >= channels.size()) continue;
    std::uint64_t read_bytes = 0, write_bytes = 0;
    const per_launch<memory_counters>& counters = channels[i / each].counters();
    for (std::uint32_t l = 0; l < counters.end(); ++l)
      if (const memory_counters* c = counters.find(l)) {
        read_bytes += c->read_bytes;
        write_bytes += c->write_bytes;
      }
    invariant(fetched == read_bytes, "bytes that a channel's L2 slices fetched differ from those that it read");
    invariant(written == write_bytes, "bytes that a channel's L2 slices wrote back differ from those that it wrote");
  }
  invariant(sent == received, "requests of the L1s differ from those at the L2");
}

}  // namespace heddle
