// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/metrics/run_metrics.h"

namespace heddle {

class gpu;

/// Sums the kernels of `m`, metrics of `g`, by client. `clients`: name, slice and sms of each, in the order of their
/// numbers, from 1 on. Names the kernels' clients, too.
void add_clients(run_metrics& m, const gpu& g, std::vector<client_metrics> clients);

}  // namespace heddle
