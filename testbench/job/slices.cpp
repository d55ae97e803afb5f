// SPDX-License-Identifier: MIT
#include "testbench/job/slices.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/config/sm_places.h"
#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr unsigned memory_slices = 8, compute_slices = 7;  // of a chip with profiles

/// NVIDIA, Multi-Instance GPU User Guide, "Supported MIG Profiles" (A100-SXM4-40GB, H100-SXM5-80GB): parts of the
/// compute slices and of the memory with its L2. The SMs are those that `nvidia-smi mig -lgip` lists there.
struct slice_profile {
  const char* gpu;
  const char* name;
  unsigned compute;
  unsigned memory;
  unsigned sms;
};
constexpr slice_profile profiles[] = {
    {"a100", "1g.5gb", 1, 1, 14},  {"a100", "1g.10gb", 1, 2, 14}, {"a100", "2g.10gb", 2, 2, 28},
    {"a100", "3g.20gb", 3, 4, 42}, {"a100", "4g.20gb", 4, 4, 56}, {"a100", "7g.40gb", 7, 8, 98},
    {"h100", "1g.10gb", 1, 1, 16}, {"h100", "1g.20gb", 1, 2, 26}, {"h100", "2g.20gb", 2, 2, 32},
    {"h100", "3g.40gb", 3, 4, 60}, {"h100", "4g.40gb", 4, 4, 64}, {"h100", "7g.80gb", 7, 8, 132},
};

const slice_profile& profile_of(const gpu_slice& s, const gpu_config& config) {
  std::vector<std::string> known;
  for (const slice_profile& p : profiles) {
    if (p.gpu != config.gpu.name) continue;
    if (p.name == s.profile) return p;
    known.emplace_back(p.name);
  }
  if (known.empty())
    refuse(s.where, "slice '" + s.name + "': no profiles of " + config.gpu.name +
                        R"( are known, expected numbers: {"sms": N, "channels": N})");
  refuse(s.where, "slice '" + s.name + "': " + config.gpu.name + " has no profile '" + s.profile +
                      "', expected one of " + join(known, " ") + suggestion(s.profile, known));
}

/// Hands out a GPU's GPCs and channels.
class divider {
 public:
  explicit divider(const gpu_config& config) : config_(config), sms_of_gpc_(config.gpu.gpc_count) {
    const std::vector<sm_place> places = places_of_sms(config);
    for (unsigned sm = 0; sm < places.size(); ++sm) sms_of_gpc_[places[sm].gpc].push_back(sm);
    // Those with most SMs first, so that as many slices as possible have their number in as few GPCs.
    std::stable_sort(sms_of_gpc_.begin(), sms_of_gpc_.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }

  gpu_partition next(const gpu_slice& s) {
    gpu_partition p;
    p.name = s.name;
    unsigned sms = s.sms, align = 1;
    p.channels = s.channels;
    if (!s.profile.empty()) {
      const slice_profile& known = profile_of(s, config_);
      compute_ += known.compute;
      if (compute_ > compute_slices)
        refuse(s.where, "slice '" + s.name + "': all " + std::to_string(compute_slices) + " compute slices of " +
                            config_.gpu.name + " are given to those before it");
      sms = known.sms;
      p.channels = known.memory * config_.memory.channels / memory_slices;
      align = std::max(1u, p.channels);  // as the placements that the guide lists
      if (p.channels == 0) refuse(s.where, "slice '" + s.name + "': " + config_.gpu.name + " has too few channels");
    }
    take_sms(s, sms, p);
    take_channels(s, align, p);
    return p;
  }

 private:
  // No GPC is that of two slices, since its SMs share paths to the memory.
  void take_sms(const gpu_slice& s, unsigned sms, gpu_partition& p) {
    for (; p.sms.size() < sms && next_gpc_ < sms_of_gpc_.size(); ++next_gpc_)
      for (const unsigned sm : sms_of_gpc_[next_gpc_])
        if (p.sms.size() < sms) p.sms.push_back(sm);
    if (p.sms.size() < sms)
      refuse(s.where, "slice '" + s.name + "': " + std::to_string(sms) + " SMs in whole GPCs are more than the " +
                          std::to_string(p.sms.size()) + " that are left of " + config_.gpu.name);
    std::sort(p.sms.begin(), p.sms.end());
  }

  void take_channels(const gpu_slice& s, unsigned align, gpu_partition& p) {
    const unsigned all = config_.memory.channels, half = all / 2;
    std::vector<bool> taken(all);
    for (const auto& [first, count] : channels_)
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(first), count, true);
    for (unsigned first = 0; first + p.channels <= all; first += align) {
      // The halves of an L2 with two are reached in different times.
      const bool in_both = first < half && first + p.channels > half && p.channels != all;
      const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(first);
      if ((config_.l2.far_latency_cycles != 0 && in_both) ||
          std::find(begin, begin + p.channels, true) != begin + p.channels)
        continue;
      p.first_channel = first;
      channels_.emplace_back(first, p.channels);
      return;
    }
    refuse(s.where, "slice '" + s.name + "': " + std::to_string(p.channels) +
                        " channels of memory in a row are not left of " + std::to_string(all) + " of " +
                        config_.gpu.name);
  }

  const gpu_config& config_;
  std::vector<std::vector<unsigned>> sms_of_gpc_;
  std::size_t next_gpc_ = 0;
  unsigned compute_ = 0;
  std::vector<std::pair<unsigned, unsigned>> channels_;  // given: first and count
};

// A slice's part of the memory, as its profile's name says it.
void check_capacity(const gpu_config& config, const job& j, const gpu_slice& s, unsigned partition, unsigned channels) {
  constexpr std::uint64_t mebibyte = 1u << 20;
  const std::uint64_t capacity = config.memory.capacity_mib * mebibyte / config.memory.channels * channels;
  std::uint64_t bytes = 0;  // no overflow: all buffers fit this machine's memory
  for (const buffer& b : j.buffers)
    if (partition_of(j, b.client) == partition) bytes += b.bytes;
  if (bytes > capacity)
    refuse(s.where, "slice '" + s.name + "': the buffers of its clients have " + grouped(bytes) +
                        " bytes, its part of the memory " + grouped(capacity));
}

}  // namespace

gpu_config divided(gpu_config config, const job& j) {
  if (j.slices.empty()) return config;
  const place& where = j.slices.front().where;
  if (j.slices.size() > most_partitions)
    refuse(where, "expected at most " + std::to_string(most_partitions) + " slices");
  if (config.l2.flush_at_completion)
    refuse(where,
           config.gpu.name + " empties the whole L2 when a launch ends (l2.flush_at_completion): it has no slices");
  std::vector<gpu_partition> partitions;
  divider d(config);
  for (const gpu_slice& s : j.slices) {
    partitions.push_back(d.next(s));
    check_capacity(config, j, s, static_cast<unsigned>(partitions.size()), partitions.back().channels);
  }
  config.partitions = std::move(partitions);
  return config;
}

unsigned sms_of_client(const job& j, unsigned client, const gpu_config& config) {
  const unsigned partition = partition_of(j, client);
  const std::size_t all = partition == 0 ? config.gpu.sm_count : config.partitions.at(partition - 1).sms.size();
  const double percent = client == 0 ? 0 : j.clients[client - 1].sm_percent;
  if (percent == 0) return static_cast<unsigned>(all);
  constexpr double rounding = 1e-9;
  return static_cast<unsigned>(std::max(1.0, std::ceil(static_cast<double>(all) * percent / 100 - rounding)));
}

}  // namespace heddle::testbench
