// SPDX-License-Identifier: MIT
#include "heddle/gpu/gpu_parts.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/config/sm_places.h"
#include "heddle/memory/common/address_map.h"

namespace heddle {

std::uint64_t gpu_parts::contexts_of(unsigned sm, std::uint64_t whole) const {
  const unsigned partition = partitions_of_sms(config)[sm];
  return partition == 0 ? whole : partition_contexts(partition - 1);
}

void gpu_parts::flush(flush_reason why, std::uint32_t launch) {
  whole_flush& f = flushes.take();
  f.parts = this;
  f.slices = slices.size();
  f.why = why;
  f.launch = launch;
  for (auto& s : slices) s.flush(f);
}

void gpu_parts::flush_ended(whole_flush& f) {
  const flush_reason why = f.why;
  const std::uint32_t launch = f.launch;
  flushes.give_back(f);
  switch (why) {
    case flush_reason::completion:
      host.report_end(launch);
      if (!host.busy()) stop_listening();
      return;
    case flush_reason::host:
      for (auto& s : slices) s.drop_clean();
      for (sm& s : sms) s.empty_caches();
      return host.caches_flushed();
    case flush_reason::reset: flushed = true; return;
  }
}

bool gpu_parts::memory_is_silent() const {
  if (patience == sc_core::SC_ZERO_TIME) return false;
  const auto oldest = oldest_request();
  return oldest && oldest->request.age >= patience;
}

bool gpu_parts::stuck() const {
  if (resetting != reset_step::none) return memory_is_silent();
  if (sc_core::sc_get_status() == sc_core::SC_PAUSED && !sc_core::sc_pending_activity()) return true;
  if (!core.quiet() || !l2_clock.quiet() || !dram_clock.quiet() || !cwd->acts_on_request_only()) return false;
  const auto awaited = [](const l2_cache& s) { return s.awaits_memory(); };
  const auto busy = [](const auto& u) { return !u.idle(); };
  if (std::none_of(slices.begin(), slices.end(), awaited) && std::none_of(delays.begin(), delays.end(), busy))
    return true;
  return memory_is_silent();
}

void gpu_parts::listen() {
  if (listens || patience == sc_core::SC_ZERO_TIME) return;
  const auto oldest = oldest_request();
  if (!oldest || oldest->request.age >= patience) return;
  listens = true;
  silence_due.notify(patience - oldest->request.age);
}

// If a clock has work, it is asked again when that is done.
void gpu_parts::end_listening() {
  listens = false;
  if (!host.busy() || host.faulted() || resetting != reset_step::none) return;
  if (stuck()) host.report_stuck();
  else listen();
}

std::optional<gpu_parts::outside_request> gpu_parts::oldest_request() const {
  std::optional<outside_request> oldest;
  for (unsigned m = 0; m < slices.size(); ++m)
    if (const auto r = slices[m].oldest_request(); r && (!oldest || oldest->request.age < r->age)) oldest = {*r, m};
  return oldest;
}

std::string gpu_parts::barrier_deadlock() const {
  const auto found = std::find_if(sms.begin(), sms.end(), [](const sm& s) { return !s.deadlock().empty(); });
  if (found == sms.end()) return {};
  std::vector<waiting_block> blocks;
  for (const sm& s : sms) s.waiting_blocks(blocks);
  // If none is deadlocked now, the reported block has been switched out meanwhile.
  const bool any = std::any_of(blocks.begin(), blocks.end(), [](const waiting_block& b) { return b.for_ever; });
  return any ? describe_deadlock(std::move(blocks)) : found->deadlock();
}

std::string gpu_parts::silent_memory() const {
  const auto found = oldest_request();
  if (!found) return {};
  const l2_cache::open_request* const oldest = &found->request;
  char place[48];
  std::snprintf(place, sizeof place, "%u bytes at 0x%llx", oldest->bytes,
                static_cast<unsigned long long>(oldest->address));
  std::string text = "the memory at " + std::string(host.get_parent_object()->name()) + ".memory_socket_" +
                     std::to_string(found->slice) + " has not answered a " + (oldest->write ? "write" : "read") +
                     " of " + place;
  if (const address_map map(config); !map.outside_is_same()) {
    std::snprintf(place, sizeof place, " (0x%llx there)",
                  static_cast<unsigned long long>(map.outside_address(oldest->address)));
    text += place;
  }
  return text + ", sent " + oldest->age.to_string() + " ago: " + (oldest->accepted ? "BEGIN_RESP" : "END_REQ") +
         " is missing";
}

bool gpu_parts::explain_stuck(std::string& why) const {
  if (!stuck()) return false;
  why = silent_memory();
  if (why.empty()) why = "deadlock: launches are pending, and nothing in the GPU can go on";
  if (resetting != reset_step::none) why += "; the reset waits for it";
  for (const auto& s : sms) why += s.waiting_warps();
  return true;
}

}  // namespace heddle
