// SPDX-License-Identifier: MIT
#include "testbench/live/warp_places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/sm/sm.h"

namespace heddle::testbench {

namespace {

/// "at sum.cu:12" for "at sum.ptx:120:2 (sum.cu:12)".
std::string in_source(const std::string& place) {
  const std::size_t source = place.rfind(" (");
  if (source == std::string::npos || place.back() != ')') return place;
  const std::size_t before = place.rfind(' ', source - 1);
  const std::string does = before == std::string::npos ? "" : place.substr(0, before + 1);
  return does + place.substr(source + 2, place.size() - source - 3);
}

}  // namespace

std::set<std::string> places_of_warp(const sm& s, unsigned warp) {
  std::set<std::string> places;
  for (std::string place : s.lane_places(warp)) {
    if (place.compare(0, 6, "lanes ") == 0) place.erase(0, place.find(", ") + 2);
    if (place.compare(0, 3, "is ") == 0) place.erase(0, 3);
    if (place.compare(0, 6, "waits ") == 0) place.replace(0, 5, "waiting");
    places.insert(in_source(place));
  }
  return places;
}

std::vector<std::pair<std::string, std::uint64_t>> places_of_warps(const gpu& g) {
  std::map<std::string, std::uint64_t> counts;
  // Where the warps stand whose contexts an SM reads back is known only afterwards.
  std::set<unsigned> restoring;
  for (const auto& c : g.cwd().context_switches())
    if (c->restore_cycle != 0 && c->resumed_cycle == 0) restoring.insert(c->sm);
  for (unsigned k = 0; k < g.sm_count(); ++k) {
    const sm& s = g.sm_at(k);
    const auto partitions = static_cast<unsigned>(s.partitions.size());
    for (const sub_partition& p : s.partitions)
      for (unsigned slot = 0; slot < p.slots(); ++slot) {
        const warp_slot& w = p.at(slot);
        if (w.phase == warp_phase::empty || w.phase == warp_phase::exited) continue;
        if (w.phase == warp_phase::stopped && restoring.count(k) != 0) continue;
        for (const std::string& place : places_of_warp(s, slot * partitions + p.index()))
          ++counts["of kernel '" + w.launch->program->kernel + "', " + place];
      }
  }
  std::vector<std::pair<std::string, std::uint64_t>> places(counts.begin(), counts.end());
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return places;
}

std::string warp_places(const gpu& g) {
  constexpr std::size_t most_places = 6;
  const auto places = places_of_warps(g);
  std::string text;
  for (std::size_t k = 0; k < std::min(places.size(), most_places); ++k)
    text +=
        "\n  " + std::to_string(places[k].second) + (places[k].second == 1 ? " warp " : " warps ") + places[k].first;
  if (places.size() > most_places)
    text += "\n  and others at " + std::to_string(places.size() - most_places) + " more places";
  return text;
}

}  // namespace heddle::testbench
