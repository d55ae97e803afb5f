// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// The addresses of the memory of partition `p` of a divided GPU, from 0 on, and the bytes of each partition. They lie
/// between those that an undivided GPU hands out and those of recorded local memory.
constexpr std::uint64_t partition_bytes = std::uint64_t{1} << 41;
constexpr std::uint64_t first_partition_address = std::uint64_t{1} << 44;
constexpr std::uint64_t partition_base(unsigned p) { return first_partition_address + p * partition_bytes; }
/// Where its SMs save contexts.
constexpr std::uint64_t partition_contexts(unsigned p) { return partition_base(p) + partition_bytes / 2; }

/// Maps an address to the L2 slice that owns it, to the memory channel behind that slice, and to the byte addresses in
/// both. Consecutive blocks of `l2.interleave_bytes` go to consecutive slices; a round is one block of each slice. With
/// `l2.hash = xor` a fold of the upper address bits permutes the slices in each round, so that power-of-two strides
/// spread over all slices. With two partitions (`l2.far_latency_cycles`), of each two blocks of `l2.partition_bytes`
/// one goes to each of them, in an order that the upper address bits decide; the rest is as above, within the half of
/// the slices that is a partition. The map is one-to-one, and local addresses are dense: consecutive rounds are
/// adjacent in a slice, and the blocks that a channel's slices have of a round are adjacent in the channel. The
/// addresses of a partition of a divided GPU go to its slices alone, by a map of their own.
class address_map {
 public:
  /// Throws input_error if the parameters allow no such map.
  explicit address_map(const gpu_config& config);
  ~address_map();

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
  /// The same for `count` blocks of the interleaving in a row, of which the first begins at byte `local` of the slice.
  void global_addresses(unsigned slice, std::uint64_t local, unsigned count, std::uint64_t* addresses) const;
  /// Slices that the SMs of a partition reach, or those of none.
  struct slice_range {
    unsigned first, count;
  };
  [[nodiscard]] slice_range slices_of_partition(unsigned partition) const;
  /// An address in a slice, of the partition that the slice belongs to.
  [[nodiscard]] std::uint64_t some_address(unsigned slice) const;
  /// The number of bytes from `address` on that are certain to lie in the same slice.
  [[nodiscard]] std::uint64_t bytes_to_boundary(std::uint64_t address) const {
    return interleave_ - (address & (interleave_ - 1));
  }

 private:
  /// The map of a partition of a divided GPU.
  struct part;
  [[nodiscard]] const part* part_of(std::uint64_t address) const;
  [[nodiscard]] const part* part_of_local(unsigned slice, std::uint64_t local) const;
  /// A partition of the L2, and the address among the bytes that belong to it.
  struct half_address {
    unsigned half;
    std::uint64_t address;
  };
  [[nodiscard]] half_address half_of(std::uint64_t address) const {
    if (halves_ == 1) return {0, address};
    const std::uint64_t block = address >> half_shift_, pair = block >> 1;
    return {second_of(pair) ^ static_cast<unsigned>(block & 1),
            (pair << half_shift_) | (address & ((std::uint64_t{1} << half_shift_) - 1))};
  }
  /// Whether the first of a pair of blocks goes to the second partition.
  [[nodiscard]] static unsigned second_of(std::uint64_t pair) {
    return static_cast<unsigned>(__builtin_parityll(pair));
  }
  [[nodiscard]] unsigned slice_in_half(std::uint64_t block) const;
  [[nodiscard]] std::uint64_t round_of(std::uint64_t block) const {
    return power_of_two_ ? block >> shift_ : block / ways_;
  }
  [[nodiscard]] unsigned fold(std::uint64_t round) const;
  /// The address of the block that a slice of a partition has in a round, by the fold of the round.
  [[nodiscard]] std::uint64_t block_address(unsigned half, unsigned slice_in_half, std::uint64_t round,
                                            unsigned folded) const {
    unsigned place = slice_in_half;
    if (hashed_ && power_of_two_) place ^= folded;
    if (hashed_ && !power_of_two_) {
      const unsigned back = folded < ways_ ? folded : folded - ways_;
      place = place >= back ? place - back : place + ways_ - back;
    }
    const std::uint64_t inside = (round * ways_ + place) << interleave_shift_;
    if (halves_ == 1) return inside;
    const std::uint64_t pair = inside >> half_shift_, block = (pair << 1) | (half ^ second_of(pair));
    return (block << half_shift_) | (inside & ((std::uint64_t{1} << half_shift_) - 1));
  }

  unsigned slices_;
  unsigned slices_per_channel_;
  unsigned halves_ = 1;      // partitions
  unsigned half_shift_ = 0;  // bits of an address in a block of a partition
  unsigned ways_;            // slices of a partition
  bool channel_addresses_;
  std::uint64_t base_ = 0;  // added to form an outside address, modulo 2^64
  std::uint64_t interleave_;
  unsigned interleave_shift_ = 0;
  unsigned shift_ = 0;  // bits of the number of a partition's slice, rounded up
  bool power_of_two_ = false;
  bool hashed_ = false;
  std::vector<std::unique_ptr<const part>> parts_;  // empty: the GPU is not divided
};

}  // namespace heddle
