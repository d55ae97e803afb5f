// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/fetch/instruction_cache.h"

#include <algorithm>

namespace heddle {

instruction_cache::instruction_cache(const part_name& name, const geometry& geometry, instruction_source* behind)
    : module_part(name),
      geometry_(geometry),
      behind_(behind),
      sets_(std::max(1u, geometry.size_bytes / (geometry.line_bytes * geometry.ways))) {}

std::size_t instruction_cache::find(std::uint64_t tag) const {
  const std::size_t first = tag % sets_ * ways_;
  for (std::size_t k = first; k < first + ways_; ++k)
    if (tags_[k] == tag) return k;
  return nowhere;
}

// The line of the tag's set that was used last longest ago.
std::size_t instruction_cache::place_for(std::uint64_t tag) {
  if (ways_ == 0) {
    ways_ = geometry_.ways;
    tags_.resize(std::size_t{sets_} * ways_, no_tag);
    lines_.resize(tags_.size());
    in_flight_.reserve(16);
  }
  const line* set = &lines_[tag % sets_ * ways_];
  const line* victim = std::min_element(set, set + ways_, [](const line& a, const line& b) { return a.used < b.used; });
  return static_cast<std::size_t>(victim - lines_.data());
}

// Fills the line, requested in `cycle`; returns its index.
std::size_t instruction_cache::fill(std::uint64_t tag, cycle_t cycle, std::uint32_t launch) {
  const std::size_t place = place_for(tag);
  const cycle_t sent = cycle + geometry_.miss_latency_cycles;
  tags_[place] = tag;
  lines_[place] = {behind_ != nullptr ? behind_->look_up(tag * geometry_.line_bytes, sent, launch) : sent, ++clock_};
  if (lines_[place].ready == never) in_flight_.push_back(place);
  ++fills_;
  return place;
}

// A line in flight, which another launch waits for, is not replaced.
void instruction_cache::preload(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t end = (address + bytes + geometry_.line_bytes - 1) / geometry_.line_bytes;
  for (std::uint64_t tag = address / geometry_.line_bytes; tag < end; ++tag) {
    const std::size_t place = place_for(tag);
    if (find(tag) != nowhere || lines_[place].ready == never) continue;
    tags_[place] = tag;
    lines_[place] = {0, ++clock_};
    ++fills_;
  }
}

void instruction_cache::fill_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle) {
  const auto arrived = [&](std::size_t k) {
    const std::uint64_t first = tags_[k] * geometry_.line_bytes;
    if (lines_[k].ready == never && first < address + bytes && address < first + geometry_.line_bytes)
      lines_[k].ready = cycle;
    return lines_[k].ready != never;
  };
  in_flight_.erase(std::remove_if(in_flight_.begin(), in_flight_.end(), arrived), in_flight_.end());
}

void instruction_cache::invalidate() {
  std::fill(tags_.begin(), tags_.end(), no_tag);
  std::fill(lines_.begin(), lines_.end(), line{});
  in_flight_.clear();
}

cycle_t instruction_cache::look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) {
  const std::uint64_t tag = address / geometry_.line_bytes;
  ++accesses;
  std::size_t place = find(tag);
  if (place != nowhere) {
    lines_[place].used = ++clock_;
  } else {
    ++misses;
    place = fill(tag, cycle, launch);
  }
  const cycle_t ready = std::max(cycle, lines_[place].ready);
  // The prefetcher streams the following lines from the next level, one cycle apart. If nothing was filled since the
  // last check, they are still present.
  if (geometry_.prefetch_lines == 0 || lines_[place].streamed == fills_) return ready;
  const std::uint64_t fills_before = fills_;
  for (unsigned n = 1; n <= geometry_.prefetch_lines; ++n)
    if (find(tag + n) == nowhere) {
      ++prefetches;
      fill(tag + n, cycle + n, launch);
    }
  if (fills_ == fills_before) lines_[place].streamed = fills_;
  return ready;
}

void instruction_cache::exchange(state_image& image) {
  image.part(name().c_str());
  image(ways_, tags_, lines_, in_flight_, clock_, fills_, accesses, misses, prefetches);
}

void instruction_cache::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, accesses, base + ".accesses");
  sc_core::sc_trace(file, misses, base + ".misses");
}

}  // namespace heddle
