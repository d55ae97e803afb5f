// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
class gpu;
class sm;
}  // namespace heddle

namespace heddle::testbench {

// All SMs must be at the same cycle.

/// Where the groups of a warp's lanes are, without saying which lanes these are: "waiting at a barrier at sum.cu:12".
std::set<std::string> places_of_warp(const sm& s, unsigned warp);
/// Where the resident warps are, in lines of the source or of the PTX, and how many; the places with most warps first.
std::vector<std::pair<std::string, std::uint64_t>> places_of_warps(const gpu& g);
/// The first of these: a line for each, after a line break; "" if no warp is resident.
std::string warp_places(const gpu& g);

}  // namespace heddle::testbench
