// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_map.h"

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

address_map::address_map(const gpu_config& config)
    : channels_(config.memory.channels),
      channel_addresses_(config.memory.addresses == choice::addresses::channel),
      interleave_(config.l2.interleave_bytes),
      hashed_(config.l2.hash == choice::hash::xor_) {
  if (channels_ == 0) throw input_error("memory.channels must be at least 1");
  if (interleave_ < line_bytes || (interleave_ & (interleave_ - 1)) != 0)
    throw input_error("l2.interleave_bytes must be a power of two of at least 128");
  while ((std::uint64_t{1} << interleave_shift_) < interleave_) ++interleave_shift_;
  while ((1u << shift_) < channels_) ++shift_;
  power_of_two_ = (1u << shift_) == channels_;
  // The heap may start in the middle of a round. Local addresses then start one block later in the channels that own
  // blocks of that round before the heap.
  base_ = (std::uint64_t{config.memory.base_mib} << 20) -
          (channel_addresses_ ? local_address(isa::heap_base) : isa::heap_base);
}

unsigned address_map::fold(std::uint64_t round) const {
  if (shift_ == 0) return 0;
  std::uint64_t h = 0;
  for (; round != 0; round >>= shift_) h ^= round;
  return static_cast<unsigned>(h & ((std::uint64_t{1} << shift_) - 1));
}

unsigned address_map::channel_of(std::uint64_t address) const {
  const std::uint64_t block = address >> interleave_shift_;
  const std::uint64_t round = round_of(block);
  const unsigned turn = static_cast<unsigned>(block - round * channels_);
  if (!hashed_) return turn;
  // In every round both forms permute the channels, so the map is one-to-one.
  return power_of_two_ ? turn ^ fold(round) : (turn + fold(round)) % channels_;
}

std::uint64_t address_map::local_address(std::uint64_t address) const {
  return (round_of(address >> interleave_shift_) << interleave_shift_) | (address & (interleave_ - 1));
}

std::uint64_t address_map::outside_address(std::uint64_t address) const {
  return (channel_addresses_ ? local_address(address) : address) + base_;
}

std::uint64_t address_map::global_address(unsigned channel, std::uint64_t local) const {
  const std::uint64_t round = local >> interleave_shift_;
  unsigned turn = channel;
  if (hashed_)
    turn = power_of_two_ ? channel ^ fold(round) : (channel + channels_ - fold(round) % channels_) % channels_;
  return ((round * channels_ + turn) << interleave_shift_) | (local & (interleave_ - 1));
}

}  // namespace heddle
