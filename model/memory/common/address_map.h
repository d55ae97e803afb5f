// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/parameters.h"

namespace heddle {

/// Which memory channel (and L2 slice) owns an address, and where in the channel it lies. Channels take turns every
/// `l2.interleave_bytes`; with `l2.hash = xor` the order of the turns changes from round to round by a fold of the
/// upper address bits, so that strides of a power of two spread over all channels. (channel, local address) is
/// one-to-one with the address, and local addresses are dense: consecutive rounds are neighbours in the channel.
class address_map {
 public:
  /// Throws input_error when the parameters make no map.
  explicit address_map(const gpu_config& config);

  unsigned channels() const { return channels_; }
  unsigned channel_of(std::uint64_t address) const;
  /// Byte address within the channel.
  std::uint64_t local_address(std::uint64_t address) const;
  /// Where an address of a program's lies in memory outside: in that of its channel with `memory.addresses = channel`,
  /// in one that all channels share with `device`. Device memory begins there at `memory.base_mib`. Bytes of a block of
  /// `l2.interleave_bytes` stay side by side and keep their alignment.
  std::uint64_t outside_address(std::uint64_t address) const;
  /// Programs' addresses are those of the memory outside.
  bool outside_is_same() const { return !channel_addresses_ && base_ == 0; }
  /// The inverse of local_address: the address of byte `local` of a channel.
  std::uint64_t global_address(unsigned channel, std::uint64_t local) const;
  /// Bytes from `address` on that surely lie in the same channel.
  std::uint64_t bytes_to_boundary(std::uint64_t address) const { return interleave_ - (address & (interleave_ - 1)); }

 private:
  std::uint64_t round_of(std::uint64_t block) const { return power_of_two_ ? block >> shift_ : block / channels_; }
  unsigned fold(std::uint64_t round) const;

  unsigned channels_;
  bool channel_addresses_;
  std::uint64_t base_ = 0;  // added to get outside, modulo 2^64
  std::uint64_t interleave_;
  unsigned interleave_shift_ = 0;
  unsigned shift_ = 0;  // bits that number the channels, rounded up
  bool power_of_two_ = false;
  bool hashed_ = false;
};

}  // namespace heddle
