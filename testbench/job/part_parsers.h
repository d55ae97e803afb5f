// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/job/job.h"
#include "testbench/text/json_tree.h"

namespace heddle::testbench {

constexpr std::uint64_t latest_cycle = 1'000'000'000'000;  // simulated time can represent it at any clock frequency

/// The names of preemption_mode, in its order.
const std::vector<std::string>& preemption_modes();

/// Parses an entry of a job's 'preempt'. Throws input_error.
preemption parse_preemption(json_reader& r);

/// Parses 'slices' and 'clients' of a job. Throws input_error.
void parse_clients(json_reader& r, job& j);
/// The number of the client that 'client' names; 0: no such key. Throws input_error.
unsigned parse_client(json_reader& r, const job& j);

/// Parses 'descriptor' and 'at' of a buffer or an output. Throws input_error if the descriptor is not open for reading,
/// or writing, and if `access` confines the job to a folder.
open_file_part parse_open_file(json_reader& r, const file_access& access, bool writes);

}  // namespace heddle::testbench
