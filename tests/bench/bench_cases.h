// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "program_run.h"

namespace bench {

/// A tiled product, a streaming addition, a divergent kernel and a transposition on gtx1080, v100 and h100, as PTX and
/// as traces, large enough to fill these chips. Traces are written into the folder.
std::vector<bench_case> filling_cases(const std::string& folder);
/// What their parts are, in words. A trace is read as its blocks start, so only whole runs divide its time rightly.
constexpr const char* filling_part = "the first 4000 cycles (PTX) or in a whole run of four blocks an SM (traces)";

/// The same kernels, small: whole runs that take a fraction of a second, on gtx1080 and v100, and are their own parts.
std::vector<bench_case> short_cases(const std::string& folder);

}  // namespace bench
