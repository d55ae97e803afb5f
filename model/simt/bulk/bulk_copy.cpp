// SPDX-License-Identifier: MIT
#include "heddle/simt/bulk/bulk_copy.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/simt/execute.h"

namespace heddle::simt {

namespace {

using isa::bulk_rule;

constexpr unsigned chunk = 16;  // bytes that stay together

/// Word `k` of an operand of several registers.
std::uint32_t word_of(const isa::operand& o, const warp_state& w, unsigned lane, unsigned k) {
  isa::operand part = o;
  part.count = 1;
  if (o.is_reg()) {
    if (o.reg == isa::rz) return 0;
    part.reg = static_cast<std::uint8_t>(o.reg + k);
  }
  return static_cast<std::uint32_t>(lane_value(part, w, lane));
}

std::string text_of(const char* format, unsigned long long value) {
  char text[160];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::uint32_t offset_of(std::uint32_t address) { return address & isa::cluster_offset_mask; }

/// `bytes` bytes from `address` on in shared memory.
std::string range_problem(std::uint32_t address, std::uint64_t bytes, std::uint32_t shared_bytes) {
  if (offset_of(address) + bytes <= shared_bytes) return "";
  return "shared memory from " + text_of("0x%llx", offset_of(address)) + " on of a bulk copy of " +
         std::to_string(bytes) + " bytes is outside the block's " + std::to_string(shared_bytes) + " bytes";
}

bulk_kind kind_of(const isa::instruction& i) {
  switch (isa::info(i.op).bulk) {
    case bulk_rule::reduction: return i.offset != 0 ? bulk_kind::cluster : bulk_kind::reduction;
    case bulk_rule::tensor_reduction: return bulk_kind::reduction;
    case bulk_rule::prefetch:
    case bulk_rule::tensor_prefetch: return bulk_kind::prefetch;
    case bulk_rule::tensor_store: return bulk_kind::store;
    case bulk_rule::tensor_load: return bulk_kind::load;
    case bulk_rule::copy: {
      const auto direction = static_cast<isa::bulk_direction>(i.sub);
      return direction == isa::bulk_direction::load    ? bulk_kind::load
             : direction == isa::bulk_direction::store ? bulk_kind::store
                                                       : bulk_kind::cluster;
    }
    case bulk_rule::none: break;
  }
  throw internal_error(std::string(isa::info(i.op).mnemonic) + " is no command to the TMA unit");
}

bool has_tensor(isa::opcode op) {
  switch (isa::info(op).bulk) {
    case bulk_rule::tensor_load:
    case bulk_rule::tensor_store:
    case bulk_rule::tensor_reduction:
    case bulk_rule::tensor_prefetch: return true;
    case bulk_rule::none:
    case bulk_rule::copy:
    case bulk_rule::reduction:
    case bulk_rule::prefetch: break;
  }
  return false;
}

std::string barrier_problem(const bulk_request& r, std::uint32_t shared_bytes) {
  if (!r.signals()) return "";
  if (r.barrier % 8 != 0) return text_of("mbarrier at the misaligned shared address 0x%llx", r.barrier);
  if (offset_of(r.barrier) + 8 <= shared_bytes) return "";
  return text_of("mbarrier at 0x%llx", offset_of(r.barrier)) + " is outside the block's " +
         std::to_string(shared_bytes) + " bytes of shared memory";
}

}  // namespace

bulk_request request_of(const isa::instruction& i, const warp_state& w, unsigned lane) {
  bulk_request r;
  r.kind = kind_of(i);
  r.tensor = has_tensor(i.op);
  r.im2col = r.tensor && (i.sub & isa::im2col) != 0;
  r.dimensions = r.tensor ? i.sub % isa::im2col : 0;
  const bulk_rule rule = isa::info(i.op).bulk;
  r.reduces = rule == bulk_rule::reduction || rule == bulk_rule::tensor_reduction;
  r.op = static_cast<isa::atomic_op>(rule == bulk_rule::tensor_reduction ? i.offset : i.sub);
  r.type = i.type;
  r.global = lane_value(i.src[0], w, lane);
  r.shared = word_of(i.src[1], w, lane, 0);
  const std::uint32_t second = word_of(i.src[1], w, lane, 1);
  (r.tensor ? r.policy : r.bytes) = second;
  r.barrier = word_of(i.src[1], w, lane, 2);
  const std::uint32_t last = word_of(i.src[1], w, lane, 3);
  if (r.kind == bulk_kind::cluster) r.source = last;
  else r.blocks = static_cast<std::uint16_t>(last);
  if (!r.tensor && i.src[2].kind != isa::operand_kind::none) r.policy = word_of(i.src[2], w, lane, 0);
  if (!r.tensor) return r;
  for (unsigned d = 0; d < r.dimensions; ++d)
    r.at[d] = static_cast<std::int32_t>(d < 4 ? word_of(i.src[2], w, lane, d) : word_of(i.src[3], w, lane, 0));
  for (unsigned k = 0; k < 3; ++k) r.offsets[k] = static_cast<std::uint16_t>(word_of(i.src[3], w, lane, 1 + k));
  return r;
}

std::string problem_of(const bulk_request& r, std::uint32_t shared_bytes) {
  std::string text = barrier_problem(r, shared_bytes);
  if (!text.empty() || r.tensor) return text;
  if (r.kind != bulk_kind::cluster && r.global % chunk != 0)
    return text_of("misaligned global address 0x%llx of a bulk copy, expected a multiple of 16", r.global);
  if (r.bytes % chunk != 0) return text_of("bulk copy of %llu bytes, expected a multiple of 16", r.bytes);
  if (r.kind == bulk_kind::prefetch) return "";
  if (r.shared % chunk != 0)
    return text_of("misaligned shared address 0x%llx of a bulk copy, expected a multiple of 16", r.shared);
  text = range_problem(r.shared, r.bytes, shared_bytes);
  if (r.kind != bulk_kind::cluster || !text.empty()) return text;
  if (r.source % chunk != 0)
    return text_of("misaligned shared address 0x%llx of a bulk copy, expected a multiple of 16", r.source);
  return range_problem(r.source, r.bytes, shared_bytes);
}

std::string problem_of(const bulk_request& r, const isa::tensor_map& m, std::uint32_t shared_bytes) {
  std::string text = isa::problem_of(m);
  if (!text.empty()) return text_of("tensor map at 0x%llx: ", r.global) + text;
  if (m.rank != r.dimensions || (m.is_im2col != 0) != r.im2col)
    return text_of("tensor map at 0x%llx has ", r.global) + std::to_string(m.rank) + " dimensions" +
           (m.is_im2col != 0 ? " in im2col mode" : "") + ", the instruction " + std::to_string(r.dimensions) +
           (r.im2col ? " in im2col mode" : "");
  if (r.kind == bulk_kind::prefetch) return "";
  constexpr std::uint32_t alignment = 128;
  if (r.shared % (m.swizzle == isa::tensor_swizzle::none ? chunk : alignment) != 0)
    return text_of("misaligned shared address 0x%llx of a box of a tensor, expected a multiple of ", r.shared) +
           (m.swizzle == isa::tensor_swizzle::none ? "16" : "128");
  const std::uint64_t bytes = bulk_walk(r, m).bytes();  // chunks of a swizzled box move within 128 bytes
  return range_problem(r.shared, m.swizzle == isa::tensor_swizzle::none ? bytes : (bytes + 127) / 128 * 128,
                       shared_bytes);
}

bulk_walk::bulk_walk(const bulk_request& r)
    : base_(offset_of(r.kind == bulk_kind::cluster ? r.source : r.shared)),
      bytes_(r.bytes),
      row_bytes_(r.bytes),
      to_(r.bytes),
      global_(r.global) {
  if (r.reduces) widest_ = isa::size_of(reduction_type(r, nullptr));
}

bulk_walk::bulk_walk(const bulk_request& r, const isa::tensor_map& m)
    : map_(m), tensor_(true), base_(offset_of(r.shared)), offsets_(r.offsets) {
  constexpr std::uint32_t bits[] = {0, 1, 3, 7};
  swizzle_ = bits[static_cast<unsigned>(m.swizzle)];
  if (r.reduces) widest_ = isa::size_of(reduction_type(r, &m));
  for (unsigned d = 0; d < m.rank; ++d) first_[d] = now_[d] = r.at[d];
  count_.fill(1);
  if (m.is_im2col != 0) {
    row_bytes_ = m.channels * m.element_bytes();
    count_[1] = m.pixels;
  } else {
    row_bytes_ = (m.box[0] + 1u) * m.element_bytes();
    for (unsigned d = 1; d < m.rank; ++d) count_[d] = (m.box[d] + std::uint32_t{m.steps[d]}) / m.steps[d];
  }
  std::uint64_t bytes = row_bytes_;
  for (const std::uint32_t c : count_) bytes = std::min<std::uint64_t>(bytes * c, ~0u);
  bytes_ = static_cast<std::uint32_t>(bytes);
  if (bytes_ != 0) begin_row();
}

bool bulk_walk::inside(unsigned d) const {
  const std::int64_t at = now_[d] + (map_.is_im2col != 0 && d > 0 && d + 1u < map_.rank ? offsets_[d - 1] : 0);
  return at >= 0 && static_cast<std::uint64_t>(at) < map_.size(d);
}

// The part of the row within the tensor, and its address.
void bulk_walk::begin_row() {
  const std::int64_t element = map_.element_bytes(), size = static_cast<std::int64_t>(map_.size(0));
  bool all = true;
  global_ = map_.address + static_cast<std::uint64_t>(now_[0] * element);
  for (unsigned d = 1; d < map_.rank; ++d) {
    all = all && inside(d);
    const std::int64_t tap = map_.is_im2col != 0 && d + 1u < map_.rank ? offsets_[d - 1] : 0;
    global_ += static_cast<std::uint64_t>(now_[d] + tap) * map_.strides[d - 1];
  }
  const auto in_row = [&](std::int64_t index) {  // bytes of the row before this element of the tensor
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>((index - now_[0]) * element, 0, row_bytes_));
  };
  from_ = in_row(0);
  to_ = all ? in_row(size) : 0;
  if (!all || to_ <= from_) from_ = to_ = row_bytes_;  // all of it is outside
  in_row_ = 0;
}

void bulk_walk::step() {
  done_ += row_bytes_;
  if (!tensor_ || done_ >= bytes_) return;
  if (map_.is_im2col != 0) {
    step_pixels();
  } else {
    for (unsigned d = 1; d < map_.rank; ++d) {
      now_[d] += map_.steps[d];
      if (++index_[d] < count_[d]) break;
      index_[d] = 0;
      now_[d] = first_[d];
    }
  }
  begin_row();
}

// The next pixel of the box between the corners, or the first one of the next image.
void bulk_walk::step_pixels() {
  const unsigned images = map_.rank - 1u;
  for (unsigned d = 1; d < images; ++d) {
    now_[d] += map_.steps[d];
    if (now_[d] < static_cast<std::int64_t>(map_.size(d)) + map_.upper[d - 1]) return;
    now_[d] = map_.lower[d - 1];
  }
  ++now_[images];
}

bool bulk_walk::next(bulk_segment& p) {
  if (done_ >= bytes_) return false;
  p.at = done_ + in_row_;
  p.outside = in_row_ < from_ || in_row_ >= to_;
  const std::uint32_t end = in_row_ < from_ ? from_ : in_row_ < to_ ? to_ : row_bytes_;
  p.global = global_ + in_row_;
  p.bytes = std::min<std::uint32_t>(end - in_row_, line);
  p.unit = static_cast<std::uint8_t>(widest_);
  if (!p.outside) {
    p.bytes = std::min<std::uint32_t>(p.bytes, line - p.global % line);
    while (p.unit > 1 && (p.global % p.unit != 0 || p.bytes % p.unit != 0)) p.unit /= 2;
    p.bytes = std::min<std::uint32_t>(p.bytes, warp_size * p.unit);
  }
  in_row_ += p.bytes;
  if (in_row_ == row_bytes_) {
    step();
    if (!tensor_) in_row_ = 0;
  }
  return true;
}

void bulk_walk::put(const bulk_segment& p, const std::uint8_t* bytes, std::uint8_t* shared) const {
  for (std::uint32_t k = 0, n; k < p.bytes; k += n) {
    const std::uint32_t at = p.at + k;
    n = std::min(p.bytes - k, chunk - (base_ + at) % chunk);
    std::memcpy(shared + place(at), bytes + k, n);
  }
}

void bulk_walk::get(const bulk_segment& p, std::uint8_t* bytes, const std::uint8_t* shared) const {
  for (std::uint32_t k = 0, n; k < p.bytes; k += n) {
    const std::uint32_t at = p.at + k;
    n = std::min(p.bytes - k, chunk - (base_ + at) % chunk);
    std::memcpy(bytes + k, shared + place(at), n);
  }
}

// The numbers that are no numbers: all bits of the exponent and the first one of the mantissa.
void bulk_walk::fill(const bulk_segment& p, std::uint8_t* bytes) const {
  std::memset(bytes, 0, p.bytes);
  if (!tensor_ || map_.fills_with_nan == 0) return;
  const unsigned element = map_.element_bytes();
  const std::uint64_t nan = map_.type == isa::tensor_type::f64    ? 0x7fffffffffffffff
                            : map_.type == isa::tensor_type::f16  ? 0x7fff
                            : map_.type == isa::tensor_type::bf16 ? 0x7fff
                                                                  : 0x7fffffff;
  for (std::uint32_t k = 0; k + element <= p.bytes; k += element) std::memcpy(bytes + k, &nan, element);
}

isa::dtype reduction_type(const bulk_request& r, const isa::tensor_map* m) {
  using isa::dtype;
  if (m == nullptr) return r.type == dtype::f16 ? dtype::f16x2 : r.type == dtype::bf16 ? dtype::bf16x2 : r.type;
  switch (m->type) {
    case isa::tensor_type::u64: return dtype::u64;
    case isa::tensor_type::s64: return dtype::s64;
    case isa::tensor_type::f64: return dtype::f64;
    case isa::tensor_type::s32: return dtype::s32;
    case isa::tensor_type::f16: return dtype::f16x2;
    case isa::tensor_type::bf16: return dtype::bf16x2;
    case isa::tensor_type::f32:
    case isa::tensor_type::f32_ftz:
    case isa::tensor_type::tf32:
    case isa::tensor_type::tf32_ftz: return dtype::f32;
    default: return dtype::u32;
  }
}

bool parameter_map(const launch_context& launch, std::uint64_t address, isa::tensor_map& m) {
  const std::uint64_t end = isa::local_window_base + isa::window_bytes;
  if (address < isa::local_window_base || address >= end) return false;
  m.magic = 0;  // not a map
  std::uint64_t at = address - isa::parameter_window_base;
  if (address < isa::parameter_window_base) {
    const std::uint64_t local = address - isa::local_window_base;
    const auto& copies = launch.program->parameter_copies;
    const auto holds = [&](const isa::parameter_copy& c) {
      return local >= c.local && local + sizeof m <= c.local + c.bytes;
    };
    const auto found = std::find_if(copies.begin(), copies.end(), holds);
    if (found == copies.end()) return true;
    at = found->bank + (local - found->local);
  }
  const std::vector<std::uint8_t>& bank = launch.banks[0];
  if (at + sizeof m <= bank.size()) std::memcpy(static_cast<void*>(&m), bank.data() + at, sizeof m);
  return true;
}

}  // namespace heddle::simt
