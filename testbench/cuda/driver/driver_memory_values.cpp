// SPDX-License-Identifier: MIT
// The driver API: words of memory that a stream writes or waits for.
#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/streams.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// CUstreamBatchMemOpParams.
union batch_operation {
  enum kind : int { wait_32 = 1, write_32, flush, wait_64, write_64, barrier };
  int what;
  struct {
    int what;
    address_t address;
    std::uint64_t value;
    unsigned flags;
    address_t alias;
  } word;
  std::uint64_t all[6];
};

error_t checked(std::uint32_t stream, address_t a, std::uint32_t bytes) {
  if (!is_stream(stream)) return error::invalid_handle;
  if (a % bytes != 0) return error::invalid_value;
  const allocation there = device_allocation_of(pointer_of(a));
  return there.type == unregistered || bytes > there.address + there.bytes - a ? error::invalid_value : error::none;
}

error_t submit(std::uint32_t stream, word_work work) {
  for (const wire::value_request& r : work.words)
    if (const error_t e = checked(stream, r.address, r.bytes); e != error::none) return e;
  error_t e = error::none;
  return captured(stream, manner::asynchronous, work, e) ? e : use_words(work, stream);
}

error_t add_write(word_work& to, address_t a, std::uint64_t value, unsigned flags, std::uint32_t bytes) {
  constexpr unsigned no_barrier = 1;
  if ((flags & ~no_barrier) != 0) return error::invalid_value;
  to.words.push_back({0, wire::value_operation::write, bytes, 0, a, value});
  return error::none;
}

error_t add_wait(word_work& to, address_t a, std::uint64_t value, unsigned flags, std::uint32_t bytes) {
  constexpr unsigned flush = 1u << 30, last = 3;  // 0 at least, 1 equal, 2 AND, 3 NOR
  const unsigned how = flags & ~flush;
  if (how > last) return error::invalid_value;
  to.words.push_back({0, static_cast<wire::value_operation>(how + 1), bytes, 0, a, value});
  return error::none;
}

template <class Add>
error_t one(Add&& add, std::uint32_t stream, address_t a, std::uint64_t value, unsigned flags, std::uint32_t bytes) {
  word_work work;
  const error_t e = add(work, a, value, flags, bytes);
  return e != error::none ? e : submit(stream, std::move(work));
}

error_t batch(std::uint32_t stream, unsigned count, const batch_operation* all, unsigned flags) {
  constexpr unsigned most = 256;
  if (count > most || (count != 0 && all == nullptr) || flags != 0) return error::invalid_value;
  word_work work;
  for (unsigned k = 0; k < count; ++k) {
    const auto& w = all[k].word;
    error_t e = error::none;
    switch (w.what) {
      case batch_operation::wait_32: e = add_wait(work, w.address, w.value, w.flags, 4); break;
      case batch_operation::wait_64: e = add_wait(work, w.address, w.value, w.flags, 8); break;
      case batch_operation::write_32: e = add_write(work, w.address, w.value, w.flags, 4); break;
      case batch_operation::write_64: e = add_write(work, w.address, w.value, w.flags, 8); break;
      case batch_operation::flush:
      case batch_operation::barrier: break;  // a stream's operations are in order
      default: e = error::invalid_value;
    }
    if (e != error::none) return e;
  }
  return submit(stream, std::move(work));
}

}  // namespace

error_t heddle::cuda::use_words(const word_work& w, std::uint32_t stream) {
  for (wire::value_request r : w.words) {
    r.stream = stream;
    if (const error_t e = call(wire::call::memory_value, wire::writer().put(r)).status; e != error::none) return e;
  }
  return error::none;
}

// Each in three forms: for either default stream, and under the name that CUDA 11.7 introduced.
#define HEDDLE_WORD(name, type, act, bytes)                                                            \
  HEDDLE_DRIVER_BOTH(name, name##_ptsz, (stream_t s, address_t a, type value, unsigned flags),         \
                     { return one(act, stream_number(s, per_thread), a, value, flags, bytes); })       \
  HEDDLE_DRIVER_BOTH(name##_v2, name##_v2_ptsz, (stream_t s, address_t a, type value, unsigned flags), \
                     { return one(act, stream_number(s, per_thread), a, value, flags, bytes); })
HEDDLE_WORD(cuStreamWaitValue32, std::uint32_t, add_wait, 4)
HEDDLE_WORD(cuStreamWaitValue64, std::uint64_t, add_wait, 8)
HEDDLE_WORD(cuStreamWriteValue32, std::uint32_t, add_write, 4)
HEDDLE_WORD(cuStreamWriteValue64, std::uint64_t, add_write, 8)
HEDDLE_DRIVER_BOTH(cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz,
                   (stream_t s, unsigned count, const batch_operation* all, unsigned flags),
                   { return batch(stream_number(s, per_thread), count, all, flags); })
HEDDLE_DRIVER_BOTH(cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz,
                   (stream_t s, unsigned count, const batch_operation* all, unsigned flags),
                   { return batch(stream_number(s, per_thread), count, all, flags); })
