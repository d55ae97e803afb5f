// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/parameters.h"

namespace heddle {

/// Maps an address to the L2 slice that owns it, to the memory channel behind that slice, and to the byte addresses in
/// both. Consecutive blocks of `l2.interleave_bytes` go to consecutive slices; a round is one block of each slice. With
/// `l2.hash = xor` a fold of the upper address bits permutes the slices in each round, so that power-of-two strides
/// spread over all slices. The map is one-to-one, and local addresses are dense: consecutive rounds are adjacent in a
/// slice, and the blocks that a channel's slices have of a round are adjacent in the channel.
class address_map {
 public:
  /// Throws input_error if the parameters allow no such map.
  explicit address_map(const gpu_config& config);

  [[nodiscard]] unsigned slices() const { return slices_; }
  [[nodiscard]] unsigned slice_of(std::uint64_t address) const;
  [[nodiscard]] unsigned channel_of(std::uint64_t address) const { return slice_of(address) / slices_per_channel_; }
  /// Which of its channel's slices a slice is.
  [[nodiscard]] unsigned slice_in_channel(unsigned slice) const { return slice % slices_per_channel_; }
  /// Byte address within the slice.
  [[nodiscard]] std::uint64_t local_address(std::uint64_t address) const;
  /// Byte address within the channel.
  [[nodiscard]] std::uint64_t channel_address(std::uint64_t address) const;
  /// The address in external memory of a program's address: within the channel's own memory with `memory.addresses =
  /// channel`, within one memory that all channels share with `device`. Device memory starts there at
  /// `memory.base_mib`. The bytes of a block of `l2.interleave_bytes` stay contiguous and keep their alignment.
  [[nodiscard]] std::uint64_t outside_address(std::uint64_t address) const;
  /// True if programs' addresses and those of the external memory are the same.
  [[nodiscard]] bool outside_is_same() const { return !channel_addresses_ && base_ == 0; }
  /// The inverse of local_address: the address of byte `local` of a slice.
  [[nodiscard]] std::uint64_t global_address(unsigned slice, std::uint64_t local) const;
  /// The number of bytes from `address` on that are certain to lie in the same slice.
  [[nodiscard]] std::uint64_t bytes_to_boundary(std::uint64_t address) const {
    return interleave_ - (address & (interleave_ - 1));
  }

 private:
  [[nodiscard]] std::uint64_t round_of(std::uint64_t block) const {
    return power_of_two_ ? block >> shift_ : block / slices_;
  }
  [[nodiscard]] unsigned fold(std::uint64_t round) const;

  unsigned slices_;
  unsigned slices_per_channel_;
  bool channel_addresses_;
  std::uint64_t base_ = 0;  // added to form an outside address, modulo 2^64
  std::uint64_t interleave_;
  unsigned interleave_shift_ = 0;
  unsigned shift_ = 0;  // bits of a slice number, rounded up
  bool power_of_two_ = false;
  bool hashed_ = false;
};

}  // namespace heddle
