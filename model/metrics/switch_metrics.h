// SPDX-License-Identifier: MIT
#pragma once

namespace heddle {

class energy_account;
class gpu;
struct run_metrics;

/// The context switches of a run: one entry per request, SM and kernel with blocks on that SM, with their energies.
/// `r` has its kernels.
void collect_switches(run_metrics& r, const gpu& g, energy_account& energy);

}  // namespace heddle
