// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/metrics/json_writer.h"
#include "heddle/metrics/run_metrics.h"

namespace heddle {

/// Writes a kernel's `flops` and `code` as members of the open object, if it has them. Counts of an instruction that
/// are zero are left out.
/// What few kernels have: a busy atomic unit, an SM with much more to do than the others, spilled registers.
void write_extremes(json_writer& w, const kernel_metrics& k);
void write_code(json_writer& w, const kernel_metrics& k);

/// Writes `sources` as a member of the open object, if there are any.
void write_sources(json_writer& w, const std::vector<source_lines>& sources);

/// Writes every parameter of a configuration as a member of the open object: "l1.size_bytes": 24576.
void write_parameters(json_writer& w, const gpu_config& config);

/// Write `sampled` of a kernel whose blocks were left out, and `clients`.
void write_sampled(json_writer& w, const kernel_metrics& k);
void write_clients(json_writer& w, const std::vector<client_metrics>& clients);

}  // namespace heddle
