// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"
#include "heddle/isa/tensor_map.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

enum class bulk_kind : std::uint8_t { load, store, reduction, prefetch, cluster };

/// What one lane hands to the TMA unit: a copy of contiguous bytes, or of a box of a tensor.
/// Source: PTX ISA, "Data Movement and Conversion Instructions: Bulk copy" and "Tensor copy".
struct bulk_request {
  bulk_kind kind = bulk_kind::load;
  bool tensor = false;
  bool im2col = false;
  bool reduces = false;                     // into what is there, in global memory or in another block's shared memory
  std::uint8_t dimensions = 0;              // of the coordinates
  isa::atomic_op op = isa::atomic_op::add;  // reduction
  isa::dtype type = isa::dtype::u32;        // reduction of contiguous bytes
  std::uint64_t global = 0;                 // address in global memory, or generic address of the tensor map
  std::uint32_t shared = 0;   // address in shared memory, perhaps of another block (isa::cluster_offset_bits)
  std::uint32_t source = 0;   // cluster: from where the bytes are copied to `shared`
  std::uint32_t bytes = 0;    // of contiguous ones
  std::uint32_t barrier = 0;  // address of the mbarrier: load, cluster
  std::uint32_t policy = 0;   // of the L2's replacement (isa/cache_policy.h)
  std::uint16_t blocks = 0;   // of the cluster to which a load goes, bit by rank; 0: the one that `shared` names
  std::array<std::int32_t, isa::tensor_dimensions> at{};  // the box's first element
  std::array<std::uint16_t, 3> offsets{};                 // im2col

  /// Loads and copies within the cluster complete at an mbarrier, the others in groups.
  [[nodiscard]] bool signals() const { return kind == bulk_kind::load || kind == bulk_kind::cluster; }
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(kind, tensor, im2col, reduces, dimensions, op, type, global, shared, source, bytes, barrier, blocks, at,
          offsets, policy);
  }
};

bulk_request request_of(const isa::instruction& i, const warp_state& w, unsigned lane);

/// What is wrong with the addresses of a request; empty: nothing. `shared_bytes`: of a block. Ends of tensors' boxes
/// are not known yet.
std::string problem_of(const bulk_request& r, std::uint32_t shared_bytes);
/// The same, with the map that it names, as the launch or memory holds it.
std::string problem_of(const bulk_request& r, const isa::tensor_map& m, std::uint32_t shared_bytes);

/// Bytes that follow each other in global memory, within a line, and in the box.
struct bulk_segment {
  std::uint64_t global = 0;
  std::uint32_t at = 0;  // place in the copy: its bytes are numbered as they lie in shared memory without swizzling
  std::uint32_t bytes = 0;
  std::uint8_t unit = 4;  // bytes of a lane: address and length are multiples
  bool outside = false;   // of the tensor: nothing is read, and loads fill
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image(global, at, bytes, unit, outside);
  }
};

/// Divides a copy into segments that one request to memory moves.
class bulk_walk {
 public:
  bulk_walk() = default;
  explicit bulk_walk(const bulk_request& r);
  bulk_walk(const bulk_request& r, const isa::tensor_map& m);

  /// The next segment; false: there is none.
  bool next(bulk_segment& p);
  /// Bytes of the whole copy in shared memory.
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  /// The address in shared memory of byte `at`; bytes of the same 16 follow each other there.
  [[nodiscard]] std::uint32_t place(std::uint32_t at) const {
    const std::uint32_t linear = base_ + at;
    return linear ^ (linear >> 7 & swizzle_) << 4;
  }
  /// Copies between `bytes`, those of a segment, and a block's shared memory.
  void put(const bulk_segment& p, const std::uint8_t* bytes, std::uint8_t* shared) const;
  void get(const bulk_segment& p, std::uint8_t* bytes, const std::uint8_t* shared) const;
  /// The bytes of a segment outside the tensor.
  void fill(const bulk_segment& p, std::uint8_t* bytes) const;
  /// For a state_image.
  template <class Image>
  void exchange(Image& image) {
    image.raw(&map_, sizeof map_);
    image(tensor_, base_, swizzle_, bytes_, done_, row_bytes_, in_row_, from_, to_, global_, first_, now_, count_,
          index_, offsets_, widest_);
  }
  /// Most bytes of a segment.
  static constexpr unsigned line = 128;

 private:
  void begin_row();
  void step();
  void step_pixels();
  [[nodiscard]] bool inside(unsigned dimension) const;

  isa::tensor_map map_;
  bool tensor_ = false;
  std::uint32_t base_ = 0;     // in shared memory
  std::uint32_t swizzle_ = 0;  // bits of an address, from 7 up, that change those from 4 up
  std::uint32_t bytes_ = 0;
  std::uint32_t done_ = 0;  // bytes of the copy before the row
  std::uint32_t row_bytes_ = 0;
  std::uint32_t in_row_ = 0;         // bytes of the row that are done
  std::uint32_t from_ = 0, to_ = 0;  // bytes of the row within the tensor
  std::uint64_t global_ = 0;         // of the row's first byte, modulo 2^64
  std::array<std::int64_t, isa::tensor_dimensions> first_{}, now_{};
  std::array<std::uint32_t, isa::tensor_dimensions> count_{}, index_{};
  std::array<std::uint16_t, 3> offsets_{};
  unsigned widest_ = 4;  // bytes of a lane at most
};

/// The type and width of a reduction's elements as machine atomics perform them: 16-bit floats in pairs.
isa::dtype reduction_type(const bulk_request& r, const isa::tensor_map* m);

/// Copies the map at a generic address of a kernel's parameter; false: the address is elsewhere.
bool parameter_map(const launch_context& launch, std::uint64_t address, isa::tensor_map& m);

}  // namespace heddle::simt
