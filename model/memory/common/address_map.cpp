// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_map.h"

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {
// Marks local addresses of partitions, which would otherwise be those of other bytes of the slice.
constexpr std::uint64_t of_part = std::uint64_t{1} << 50;

gpu_config alone(gpu_config config, const gpu_partition& p) {
  // With some of the channels, a partition lies within one half of the L2.
  if (p.channels != config.memory.channels) config.l2.far_latency_cycles = 0;
  config.memory.channels = p.channels;
  config.partitions.clear();
  return config;
}
}  // namespace

struct address_map::part {
  part(const gpu_config& config, unsigned index)
      : base(partition_base(index)),
        first_slice(config.partitions[index].first_channel * config.l2.slices_per_channel),
        map(alone(config, config.partitions[index])) {}

  std::uint64_t base;
  unsigned first_slice;
  address_map map;
};

address_map::~address_map() = default;

address_map::address_map(const gpu_config& config)
    : slices_(slices_of(config)),
      slices_per_channel_(config.l2.slices_per_channel),
      channel_addresses_(config.memory.addresses == choice::addresses::channel),
      interleave_(config.l2.interleave_bytes),
      hashed_(config.l2.hash == choice::hash::xor_) {
  if (slices_ == 0) throw input_error("memory.channels and l2.slices_per_channel must be at least 1");
  if (interleave_ < line_bytes || (interleave_ & (interleave_ - 1)) != 0)
    throw input_error("l2.interleave_bytes must be a power of two of at least 128");
  if (config.l2.far_latency_cycles != 0) {
    if (config.memory.channels % 2 != 0) throw input_error("two partitions need an even number of memory.channels");
    if (config.l2.partition_bytes < interleave_)
      throw input_error("l2.partition_bytes must be at least l2.interleave_bytes");
    halves_ = 2;
    while ((std::uint64_t{1} << half_shift_) < config.l2.partition_bytes) ++half_shift_;
  }
  ways_ = slices_ / halves_;
  while ((std::uint64_t{1} << interleave_shift_) < interleave_) ++interleave_shift_;
  while ((1u << shift_) < ways_) ++shift_;
  power_of_two_ = (1u << shift_) == ways_;
  // The heap may start in the middle of a round. Local addresses then start one block later in the channels that own
  // blocks of that round before the heap.
  base_ = (std::uint64_t{config.memory.base_mib} << 20) -
          (channel_addresses_ ? channel_address(isa::heap_base) : isa::heap_base);
  for (unsigned p = 0; p < config.partitions.size(); ++p) parts_.push_back(std::make_unique<const part>(config, p));
}

const address_map::part* address_map::part_of(std::uint64_t address) const {
  const std::uint64_t inside = address - first_partition_address;
  return inside < parts_.size() * partition_bytes ? parts_[inside / partition_bytes].get() : nullptr;
}

const address_map::part* address_map::part_of_local(unsigned slice, std::uint64_t local) const {
  if ((local & of_part) == 0) return nullptr;
  for (const auto& p : parts_)
    if (slice - p->first_slice < p->map.slices()) return p.get();
  return nullptr;
}

address_map::slice_range address_map::slices_of_partition(unsigned partition) const {
  if (partition == 0) return {0, slices_};
  const part& p = *parts_.at(partition - 1);
  return {p.first_slice, p.map.slices()};
}

std::uint64_t address_map::some_address(unsigned slice) const {
  return global_address(slice, part_of_local(slice, of_part) != nullptr ? of_part : 0);
}

unsigned address_map::fold(std::uint64_t round) const {
  if (shift_ == 0) return 0;
  std::uint64_t h = 0;
  for (; round != 0; round >>= shift_) h ^= round;
  return static_cast<unsigned>(h & ((std::uint64_t{1} << shift_) - 1));
}

unsigned address_map::slice_in_half(std::uint64_t block) const {
  const std::uint64_t round = round_of(block);
  const unsigned place = static_cast<unsigned>(block - round * ways_);
  if (!hashed_) return place;
  // In every round both forms permute the slices, so the map is one-to-one.
  return power_of_two_ ? place ^ fold(round) : (place + fold(round)) % ways_;
}

unsigned address_map::slice_of(std::uint64_t address) const {
  if (const part* p = part_of(address)) return p->first_slice + p->map.slice_of(address - p->base);
  const half_address in = half_of(address);
  return in.half * ways_ + slice_in_half(in.address >> interleave_shift_);
}

std::uint64_t address_map::local_address(std::uint64_t address) const {
  if (const part* p = part_of(address)) return p->map.local_address(address - p->base) | of_part;
  address = half_of(address).address;
  return (round_of(address >> interleave_shift_) << interleave_shift_) | (address & (interleave_ - 1));
}

std::uint64_t address_map::channel_address(std::uint64_t address) const {
  if (const part* p = part_of(address)) return p->map.channel_address(address - p->base) | of_part;
  const std::uint64_t block = half_of(address).address >> interleave_shift_;
  const std::uint64_t in_channel = round_of(block) * slices_per_channel_ + slice_in_channel(slice_of(address));
  return (in_channel << interleave_shift_) | (address & (interleave_ - 1));
}

std::uint64_t address_map::outside_address(std::uint64_t address) const {
  return (channel_addresses_ ? channel_address(address) : address) + base_;
}

std::uint64_t address_map::global_address(unsigned slice, std::uint64_t local) const {
  if (const part* p = part_of_local(slice, local))
    return p->base + p->map.global_address(slice - p->first_slice, local & ~of_part);
  const std::uint64_t round = local >> interleave_shift_;
  return block_address(slice / ways_, slice % ways_, round, hashed_ ? fold(round) : 0) | (local & (interleave_ - 1));
}

void address_map::global_addresses(unsigned slice, std::uint64_t local, unsigned count,
                                   std::uint64_t* addresses) const {
  if (const part* p = part_of_local(slice, local)) {
    p->map.global_addresses(slice - p->first_slice, local & ~of_part, count, addresses);
    for (unsigned k = 0; k < count; ++k) addresses[k] += p->base;
    return;
  }
  const unsigned half = slice / ways_, in_half = slice % ways_;
  const std::uint64_t first = local >> interleave_shift_;
  // The fold of a sum without carries is that of its parts; the upper bits' part seldom changes.
  const std::uint64_t low_bits = (std::uint64_t{1} << shift_) - 1;
  std::uint64_t upper = ~first;
  unsigned upper_fold = 0;
  for (unsigned k = 0; k < count; ++k) {
    const std::uint64_t round = first + k;
    if (hashed_ && (round & ~low_bits) != upper) {
      upper = round & ~low_bits;
      upper_fold = fold(upper);
    }
    addresses[k] = block_address(half, in_half, round, upper_fold ^ static_cast<unsigned>(round & low_bits));
  }
}

}  // namespace heddle
