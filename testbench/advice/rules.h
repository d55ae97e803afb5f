// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/advice/time_model.h"

namespace heddle::testbench {

struct advice;

/// Shortest text with at most three digits: "4", "4.88".
std::string rounded(double value);

/// Waits for the path to the L1 and beyond become shorter as its busiest part has less to do. No warp waits for a part
/// that is seldom busy.
void relieve_memory_waits(relief& r, const time_model& t);

/// Two or four lines of PTX that access neighbouring words of global memory.
struct vector_of_words {
  std::vector<const place_sums*> words;
};
std::vector<vector_of_words> vectors_of_words(const time_model& t);

// Each adds what it finds, whatever it would save.
void unused_vectors(const time_model& t, std::vector<advice>& to);
void uncoalesced_accesses(const time_model& t, std::vector<advice>& to);
void bank_conflicts(const time_model& t, std::vector<advice>& to);
void constants_by_lane(const time_model& t, std::vector<advice>& to);
void local_memory(const time_model& t, std::vector<advice>& to);
void divergence(const time_model& t, std::vector<advice>& to);
void double_precision(const time_model& t, std::vector<advice>& to);
void occupancy(const time_model& t, std::vector<advice>& to);
void partial_wave(const time_model& t, std::vector<advice>& to);
void idle_sms(const time_model& t, std::vector<advice>& to);

}  // namespace heddle::testbench
