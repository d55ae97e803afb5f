// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "testbench/advice/time_model.h"

namespace heddle::testbench {

struct advice;

constexpr double sector_bytes = 32;
constexpr double worth_telling = 1.2;    // what is there to what is needed
constexpr double busy_part = 0.6;        // others wait for a part that is used as much
constexpr double few_instructions = 40;  // between two barriers

/// Shortest text with at most three digits: "4", "4.88".
std::string rounded(double value);

/// Waits for the path to the L1 and beyond become shorter as its busiest part has less to do. No warp waits for a part
/// that is seldom busy.
void relieve_memory_waits(relief& r, const time_model& t, bool coalesced = false);

/// The speedup where what remains in these parts of the path to memory does not come sooner than at 80 % of their peak.
double speedup_by_memory(const relief& r, const time_model& t,
                         std::initializer_list<const char*> parts = {"DRAM", "DRAM rows"});

/// Accesses that wait for a place in the load/store unit's queue wait for all that the unit does before: passes over
/// banks, constants one after another, look-ups in the L1. `part` of the unit has `saved` cycles less to do; no access
/// waits for a part that is not busy.
void relieve_load_store_queue(relief& r, const time_model& t, const char* part, double saved);

/// Lines of PTX that access memory and of which `is` holds, joined by the line of the source.
template <class P>
std::vector<place_sums> joined(const time_model& t, P&& is) {
  std::vector<place_sums> all;
  for (const place_sums& line : t.lines) {
    if (line.accesses == 0 || !is(line)) continue;
    const auto same = std::find_if(all.begin(), all.end(), [&](const place_sums& p) { return p.name == line.name; });
    if (same == all.end()) all.push_back(line);
    else same->add(line);
  }
  return all;
}

/// Two or four lines of PTX that access neighbouring words of global memory.
struct vector_of_words {
  std::vector<const place_sums*> words;
};
std::vector<vector_of_words> vectors_of_words(const time_model& t);

// Each adds what it finds, whatever it would save.
void unused_vectors(const time_model& t, std::vector<advice>& to);
void narrow_elements(const time_model& t, std::vector<advice>& to);
void uncoalesced_accesses(const time_model& t, std::vector<advice>& to);
void bank_conflicts(const time_model& t, std::vector<advice>& to);
void constants_by_lane(const time_model& t, std::vector<advice>& to);
void local_memory(const time_model& t, std::vector<advice>& to);
void register_spills(const time_model& t, std::vector<advice>& to);
void divergence(const time_model& t, std::vector<advice>& to);
void double_precision(const time_model& t, std::vector<advice>& to);
void serial_work(const time_model& t, std::vector<advice>& to);
void barriers(const time_model& t, std::vector<advice>& to);
void steps_in_shared_memory(const time_model& t, std::vector<advice>& to);
void atomics_by_address(const time_model& t, std::vector<advice>& to);
void prefetch_distance(const time_model& t, std::vector<advice>& to);
void occupancy(const time_model& t, std::vector<advice>& to);
void partial_wave(const time_model& t, std::vector<advice>& to);
void imbalance_between_blocks(const time_model& t, std::vector<advice>& to);
void imbalance_within_blocks(const time_model& t, std::vector<advice>& to);

}  // namespace heddle::testbench
