// SPDX-License-Identifier: MIT
// The runtime: several copies in one call.
#include "testbench/cuda/core/array.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/operations.h"
#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/core/streams.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

enum side_kind : int { of_memory = 1, of_an_array = 2 };

bool is_known(int order) { return order >= in_stream && order <= any_order; }
bool is_valid(const batch_side& s, const extent_t& e) {
  if (s.kind == of_an_array) return known_array(s.of.array.array) != nullptr;
  const auto& m = s.of.memory;
  return s.kind == of_memory && (m.row == 0 || m.row >= e.width) && (m.rows == 0 || m.rows >= e.height);
}

/// Elements of memory are bytes, or as large as those of the array on the other side.
std::size_t element_bytes_of(const batch_box& b) {
  for (const batch_side* s : {&b.from, &b.to})
    if (s->kind == of_an_array) return s->of.array.array->element_bytes();
  return 1;
}

void place(const batch_side& s, const extent_t& e, std::size_t element_bytes, array_t& array, position_t& at,
           pitched_pointer& rows) {
  if (s.kind == of_an_array) {
    array = s.of.array.array;
    at = s.of.array.at;
    return;
  }
  const auto& m = s.of.memory;
  const std::size_t row = (m.row != 0 ? m.row : e.width) * element_bytes;
  rows = {m.pointer, row, row, m.rows != 0 ? m.rows : e.height};
}

error_t work_of(const batch_box& b, copy_work& w) {
  const extent_t& e = b.extent;
  if (e.width == 0 || e.height == 0 || e.depth == 0 || !is_valid(b.from, e) || !is_valid(b.to, e) ||
      !is_known(b.access_order))
    return error::invalid_value;
  copy_3d p{};
  p.extent = e;
  p.kind = by_pointers;
  const std::size_t element = element_bytes_of(b);
  place(b.from, e, element, p.source_array, p.source_position, p.source);
  place(b.to, e, element, p.destination_array, p.destination_position, p.destination);
  w.is_read_at_once = b.access_order == during_the_call;
  return box_of(p, w);
}

/// Before CUDA 13, a pointer for the number of a failed copy stands before the last arguments.
bool has_number_of_failed() { return runtime_version() < 13000; }

}  // namespace

error_t heddle::cuda::copy(const row_batch& b, std::size_t* failed, std::uint32_t stream) {
  if (any_null(b.to, b.from, b.bytes, b.attributes, b.first_copies) || b.count == 0 || b.attribute_count == 0 ||
      b.attribute_count > b.count || b.first_copies[0] != 0)
    return error::invalid_value;
  for (std::size_t k = 0, a = 0; k < b.count; ++k) {
    while (a + 1 < b.attribute_count && b.first_copies[a + 1] <= k) ++a;
    copy_work w = copy_of_row(b.to[k], b.from[k], b.bytes[k], by_pointers);
    w.is_read_at_once = b.attributes[a].access_order == during_the_call;
    const error_t e =
        is_known(b.attributes[a].access_order) ? copy(w, stream, manner::asynchronous) : error_t{error::invalid_value};
    if (e != error::none && failed != nullptr) *failed = k;
    if (e != error::none) return e;
  }
  return error::none;
}

error_t heddle::cuda::copy(const batch_box* boxes, std::size_t count, unsigned long long flags, std::size_t* failed,
                           std::uint32_t stream) {
  if (boxes == nullptr || count == 0 || flags != 0) return error::invalid_value;
  for (std::size_t k = 0; k < count; ++k) {
    copy_work w;
    error_t e = work_of(boxes[k], w);
    if (e == error::none) e = copy(w, stream, manner::asynchronous);
    if (e != error::none && failed != nullptr) *failed = k;
    if (e != error::none) return e;
  }
  return error::none;
}

HEDDLE_BOTH(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz,
            (void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
             const copy_attributes* attributes, const std::size_t* first_copies, std::size_t attribute_count,
             void* failed_or_stream, stream_t s),
            {
              const bool numbered = has_number_of_failed();
              if (!numbered) s = static_cast<stream_t>(failed_or_stream);
              return noted(copy(row_batch{to, from, bytes, count, attributes, first_copies, attribute_count},
                                numbered ? static_cast<std::size_t*>(failed_or_stream) : nullptr,
                                stream_number(s, per_thread)));
            })
HEDDLE_BOTH(cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz,
            (std::size_t count, const batch_box* boxes, std::uintptr_t failed_or_flags, std::uintptr_t flags_or_stream,
             stream_t s),
            {
              const bool numbered = has_number_of_failed();
              if (!numbered) s = reinterpret_cast<stream_t>(flags_or_stream);
              return noted(copy(boxes, count, numbered ? flags_or_stream : failed_or_flags,
                                numbered ? reinterpret_cast<std::size_t*>(failed_or_flags) : nullptr,
                                stream_number(s, per_thread)));
            })
