// SPDX-License-Identifier: MIT
// The driver API: streams, events, host functions.
#include "testbench/cuda/core/runtime_calls.h"
#include "testbench/cuda/driver/driver.h"

using namespace heddle;
using namespace heddle::cuda;

HEDDLE_CUDA result_t cuStreamCreate(stream_t* s, unsigned flags) {
  return driven([&] { return cudaStreamCreateWithPriority(s, flags, 0); });
}
HEDDLE_CUDA result_t cuStreamCreateWithPriority(stream_t* s, unsigned flags, int priority) {
  return driven([&] { return cudaStreamCreateWithPriority(s, flags, priority); });
}
HEDDLE_CUDA result_t cuStreamDestroy(stream_t s) {
  return driven_release([&] { return cudaStreamDestroy(s); });
}
HEDDLE_CUDA result_t cuStreamDestroy_v2(stream_t s) { return cuStreamDestroy(s); }
HEDDLE_DRIVER_BOTH(cuStreamSynchronize, cuStreamSynchronize_ptsz, (stream_t s),
                   { return per_thread ? cudaStreamSynchronize_ptsz(s) : cudaStreamSynchronize(s); })
HEDDLE_DRIVER_BOTH(cuStreamQuery, cuStreamQuery_ptsz, (stream_t s),
                   { return per_thread ? cudaStreamQuery_ptsz(s) : cudaStreamQuery(s); })
HEDDLE_DRIVER_BOTH(cuStreamWaitEvent, cuStreamWaitEvent_ptsz, (stream_t s, event_t e, unsigned flags),
                   { return per_thread ? cudaStreamWaitEvent_ptsz(s, e, flags) : cudaStreamWaitEvent(s, e, flags); })
HEDDLE_DRIVER_BOTH(cuStreamGetPriority, cuStreamGetPriority_ptsz, (stream_t s, int* priority),
                   { return cudaStreamGetPriority(s, priority); })
HEDDLE_DRIVER_BOTH(cuStreamGetFlags, cuStreamGetFlags_ptsz, (stream_t s, unsigned* flags),
                   { return cudaStreamGetFlags(s, flags); })
HEDDLE_DRIVER_BOTH(cuStreamGetId, cuStreamGetId_ptsz, (stream_t s, unsigned long long* id),
                   { return per_thread ? cudaStreamGetId_ptsz(s, id) : cudaStreamGetId(s, id); })
HEDDLE_DRIVER_BOTH(cuStreamGetCtx, cuStreamGetCtx_ptsz, (stream_t, context** c),
                   { return put_result(c, current_context()); })
HEDDLE_DRIVER_BOTH(cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz, (stream_t, context** c, void** green), {
  if (green != nullptr) *green = nullptr;
  return put_result(c, current_context());
})
HEDDLE_DRIVER_BOTH(cuStreamGetDevice, cuStreamGetDevice_ptsz, (stream_t, device_t* device),
                   { return put_result(device, 0); })
HEDDLE_DRIVER_BOTH(cuLaunchHostFunc, cuLaunchHostFunc_ptsz, (stream_t s, void (*f)(void*), void* data),
                   { return per_thread ? cudaLaunchHostFunc_ptsz(s, f, data) : cudaLaunchHostFunc(s, f, data); })
HEDDLE_DRIVER_BOTH(cuStreamAddCallback, cuStreamAddCallback_ptsz,
                   (stream_t s, void (*f)(stream_t, result_t, void*), void* data, unsigned flags), {
                     return per_thread ? cudaStreamAddCallback_ptsz(s, f, data, flags)
                                       : cudaStreamAddCallback(s, f, data, flags);
                   })

HEDDLE_CUDA result_t cuEventCreate(event_t* e, unsigned flags) {
  return driven([&] { return cudaEventCreateWithFlags(e, flags); });
}
HEDDLE_CUDA result_t cuEventDestroy(event_t e) {
  return driven_release([&] { return cudaEventDestroy(e); });
}
HEDDLE_CUDA result_t cuEventDestroy_v2(event_t e) { return cuEventDestroy(e); }
HEDDLE_DRIVER_BOTH(cuEventRecord, cuEventRecord_ptsz, (event_t e, stream_t s),
                   { return per_thread ? cudaEventRecord_ptsz(e, s) : cudaEventRecord(e, s); })
HEDDLE_DRIVER_BOTH(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz, (event_t e, stream_t s, unsigned flags), {
  return per_thread ? cudaEventRecordWithFlags_ptsz(e, s, flags) : cudaEventRecordWithFlags(e, s, flags);
})
HEDDLE_CUDA result_t cuEventSynchronize(event_t e) {
  return driven([&] { return cudaEventSynchronize(e); });
}
HEDDLE_CUDA result_t cuEventQuery(event_t e) {
  return driven([&] { return cudaEventQuery(e); });
}
/// In milliseconds of simulated time.
HEDDLE_CUDA result_t cuEventElapsedTime(float* milliseconds, event_t from, event_t to) {
  return driven([&] { return cudaEventElapsedTime(milliseconds, from, to); });
}
HEDDLE_CUDA result_t cuEventElapsedTime_v2(float* milliseconds, event_t from, event_t to) {
  return cuEventElapsedTime(milliseconds, from, to);
}
