// SPDX-License-Identifier: MIT
// The driver API: graphs, stream capture and memory pools, whose structures are the same in both interfaces.
#include "testbench/cuda/core/graph.h"
#include "testbench/cuda/core/graph_params.h"
#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {
struct pool;
struct pool_properties;
}  // namespace heddle::cuda

using namespace heddle::cuda;

using nodes = graph_node* const*;

namespace {

/// Kernel node parameters since CUDA 12: with a kernel as an alternative to a function.
struct driver_kernel_params : kernel_node_params {
  const void* kernel;
  context* owner;
};

kernel_node_params plain(const driver_kernel_params& p) {
  kernel_node_params k = static_cast<const kernel_node_params&>(p);
  if (k.function == nullptr) k.function = p.kernel;
  return k;
}

}  // namespace

// A driver function that is identical to a runtime function.
#define HEDDLE_SAME(name, runtime, parameters, arguments) \
  HEDDLE_CUDA error_t runtime parameters;                 \
  HEDDLE_CUDA result_t name parameters {                  \
    return driven([&] { return runtime arguments; });     \
  }
#define HEDDLE_SAME_BOTH(name, runtime, parameters, arguments) \
  HEDDLE_SAME(name, runtime, parameters, arguments)            \
  HEDDLE_SAME(name##_ptsz, runtime##_ptsz, parameters, arguments)

HEDDLE_SAME_BOTH(cuStreamEndCapture, cudaStreamEndCapture, (stream_t s, graph** g), (s, g))
HEDDLE_SAME_BOTH(cuStreamIsCapturing, cudaStreamIsCapturing, (stream_t s, int* status), (s, status))
HEDDLE_SAME_BOTH(cuGraphLaunch, cudaGraphLaunch, (graph_exec * e, stream_t s), (e, s))
HEDDLE_SAME_BOTH(cuGraphUpload, cudaGraphUpload, (graph_exec * e, stream_t s), (e, s))
// The first version had no mode argument: it forbade unsafe calls of all other threads, too.
HEDDLE_SAME(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (stream_t s, int mode), (s, mode))
HEDDLE_SAME(cuStreamBeginCapture_v2_ptsz, cudaStreamBeginCapture_ptsz, (stream_t s, int mode), (s, mode))
HEDDLE_CUDA result_t cuStreamBeginCapture(stream_t s) { return cuStreamBeginCapture_v2(s, 0); }
HEDDLE_CUDA result_t cuStreamBeginCapture_ptsz(stream_t s) { return cuStreamBeginCapture_v2_ptsz(s, 0); }
HEDDLE_SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int* mode), (mode))
HEDDLE_SAME(cuGraphCreate, cudaGraphCreate, (graph * *g, unsigned flags), (g, flags))
HEDDLE_SAME(cuGraphDestroy, cudaGraphDestroy, (graph * g), (g))
HEDDLE_SAME(cuGraphClone, cudaGraphClone, (graph * *copy, graph* g), (copy, g))
HEDDLE_SAME(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, (graph_node * *n, graph_node* original, graph* copy),
            (n, original, copy))
HEDDLE_SAME(cuGraphAddHostNode, cudaGraphAddHostNode,
            (graph_node * *made, graph* g, nodes after, std::size_t count, const host_node_params* p),
            (made, g, after, count, p))
HEDDLE_SAME(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, (graph_node * *made, graph* g, nodes after, std::size_t count),
            (made, g, after, count))
HEDDLE_SAME(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode,
            (graph_node * *made, graph* g, nodes after, std::size_t count, graph* child),
            (made, g, after, count, child))
HEDDLE_SAME(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode,
            (graph_node * *made, graph* g, nodes after, std::size_t count, event_t e), (made, g, after, count, e))
HEDDLE_SAME(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode,
            (graph_node * *made, graph* g, nodes after, std::size_t count, event_t e), (made, g, after, count, e))
HEDDLE_SAME(cuGraphDestroyNode, cudaGraphDestroyNode, (graph_node * n), (n))
HEDDLE_SAME(cuGraphNodeGetType, cudaGraphNodeGetType, (graph_node * n, int* type), (n, type))
HEDDLE_SAME(cuGraphGetNodes, cudaGraphGetNodes, (graph * g, graph_node** to, std::size_t* count), (g, to, count))
HEDDLE_SAME(cuGraphGetRootNodes, cudaGraphGetRootNodes, (graph * g, graph_node** to, std::size_t* count),
            (g, to, count))
HEDDLE_SAME(cuGraphExecGetFlags, cudaGraphExecGetFlags, (graph_exec * e, unsigned long long* flags), (e, flags))
HEDDLE_SAME(cuGraphExecDestroy, cudaGraphExecDestroy, (graph_exec * e), (e))
HEDDLE_SAME(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
            (graph_exec * *made, graph* g, unsigned long long flags), (made, g, flags))
HEDDLE_SAME(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, (graph_node * n, graph** g), (n, g))
HEDDLE_SAME(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, (graph_exec * e, graph_node* n, unsigned enabled),
            (e, n, enabled))
HEDDLE_SAME(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, (graph_exec * e, graph_node* n, unsigned* enabled),
            (e, n, enabled))

HEDDLE_SAME(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (pool * *p, device_t device), (p, device))
HEDDLE_SAME(cuDeviceGetMemPool, cudaDeviceGetMemPool, (pool * *p, device_t device), (p, device))
HEDDLE_SAME(cuDeviceSetMemPool, cudaDeviceSetMemPool, (device_t device, pool* p), (device, p))
HEDDLE_SAME(cuMemPoolCreate, cudaMemPoolCreate, (pool * *p, const pool_properties* properties), (p, properties))
HEDDLE_SAME(cuMemPoolDestroy, cudaMemPoolDestroy, (pool * p), (p))
HEDDLE_SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (pool * p, std::size_t bytes), (p, bytes))
HEDDLE_SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (pool * p, int attribute, void* value),
            (p, attribute, value))
HEDDLE_SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (pool * p, int attribute, const void* value),
            (p, attribute, value))
HEDDLE_SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess, (pool * p, const void* map, std::size_t count), (p, map, count))
HEDDLE_SAME(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, pool* p, const void* location), (flags, p, location))

HEDDLE_SAME(cuGraphAddKernelNode, cudaGraphAddKernelNode,
            (graph_node * *made, graph* g, nodes after, std::size_t count, const kernel_node_params* p),
            (made, g, after, count, p))
HEDDLE_SAME(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams, (graph_node * n, kernel_node_params* p), (n, p))
HEDDLE_SAME(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams, (graph_node * n, const kernel_node_params* p),
            (n, p))
HEDDLE_SAME(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
            (graph_exec * e, graph_node* n, const kernel_node_params* p), (e, n, p))
HEDDLE_CUDA result_t cuGraphAddKernelNode_v2(graph_node** made, graph* g, nodes after, std::size_t count,
                                             const driver_kernel_params* p) {
  if (p == nullptr) return result::invalid_value;
  const kernel_node_params k = plain(*p);
  return cuGraphAddKernelNode(made, g, after, count, &k);
}
HEDDLE_CUDA result_t cuGraphKernelNodeGetParams_v2(graph_node* n, driver_kernel_params* p) {
  if (p == nullptr) return result::invalid_value;
  p->kernel = nullptr;
  p->owner = nullptr;
  return cuGraphKernelNodeGetParams(n, p);
}
HEDDLE_CUDA result_t cuGraphKernelNodeSetParams_v2(graph_node* n, const driver_kernel_params* p) {
  if (p == nullptr) return result::invalid_value;
  const kernel_node_params k = plain(*p);
  return cuGraphKernelNodeSetParams(n, &k);
}
HEDDLE_CUDA result_t cuGraphExecKernelNodeSetParams_v2(graph_exec* e, graph_node* n, const driver_kernel_params* p) {
  if (p == nullptr) return result::invalid_value;
  const kernel_node_params k = plain(*p);
  return cuGraphExecKernelNodeSetParams(e, n, &k);
}
HEDDLE_CUDA error_t cudaGraphAddMemsetNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                           const fill_node_params* p);
HEDDLE_CUDA result_t cuGraphAddMemsetNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                          const fill_node_params* p, context*) {
  return driven([&] { return cudaGraphAddMemsetNode(made, g, after, count, p); });
}
HEDDLE_SAME_BOTH(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams,
                 (graph_exec * *made, graph* g, instantiate_params* p), (made, g, p))
HEDDLE_CUDA result_t cuGraphInstantiate(graph_exec** made, graph* g, graph_node**, char*, std::size_t) {
  return cuGraphInstantiateWithFlags(made, g, 0);
}
HEDDLE_CUDA result_t cuGraphInstantiate_v2(graph_exec** made, graph* g, graph_node**, char*, std::size_t) {
  return cuGraphInstantiateWithFlags(made, g, 0);
}
HEDDLE_SAME(cuGraphAddDependencies_v2, cudaGraphAddDependencies_v2,
            (graph * g, nodes from, nodes to, const edge_data* edges, std::size_t count), (g, from, to, edges, count))
HEDDLE_CUDA result_t cuGraphAddDependencies(graph* g, nodes from, nodes to, std::size_t count) {
  return cuGraphAddDependencies_v2(g, from, to, nullptr, count);
}
HEDDLE_SAME(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, (graph * g, const char* path, unsigned flags),
            (g, path, flags))
HEDDLE_SAME(cuUserObjectCreate, cudaUserObjectCreate,
            (user_object * *to, void* data, void (*destroy)(void*), unsigned count, unsigned flags),
            (to, data, destroy, count, flags))
HEDDLE_CUDA error_t cudaGraphConditionalHandleCreate(unsigned long long* handle, graph* g, unsigned initial,
                                                     unsigned flags);
HEDDLE_CUDA result_t cuGraphConditionalHandleCreate(unsigned long long* handle, graph* g, context*, unsigned initial,
                                                    unsigned flags) {
  return driven([&] { return cudaGraphConditionalHandleCreate(handle, g, initial, flags); });
}
HEDDLE_SAME(cuUserObjectRetain, cudaUserObjectRetain, (user_object * o, unsigned count), (o, count))
HEDDLE_SAME(cuUserObjectRelease, cudaUserObjectRelease, (user_object * o, unsigned count), (o, count))
HEDDLE_SAME(cuGraphRetainUserObject, cudaGraphRetainUserObject,
            (graph * g, user_object* o, unsigned count, unsigned flags), (g, o, count, flags))
HEDDLE_SAME(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, (graph * g, user_object* o, unsigned count),
            (g, o, count))

HEDDLE_SAME_BOTH(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2,
                 (stream_t s, int* status, unsigned long long* id, graph** g, nodes* after, std::size_t* count),
                 (s, status, id, g, after, count))
HEDDLE_CUDA result_t cuStreamGetCaptureInfo(stream_t s, int* status, unsigned long long* id) {
  return cuStreamGetCaptureInfo_v2(s, status, id, nullptr, nullptr, nullptr);
}
HEDDLE_CUDA result_t cuStreamGetCaptureInfo_ptsz(stream_t s, int* status, unsigned long long* id) {
  return cuStreamGetCaptureInfo_v2_ptsz(s, status, id, nullptr, nullptr, nullptr);
}

HEDDLE_CUDA error_t cudaMallocFromPoolAsync(void** p, std::size_t bytes, pool* from, stream_t s);
HEDDLE_CUDA error_t cudaMallocFromPoolAsync_ptsz(void** p, std::size_t bytes, pool* from, stream_t s);
HEDDLE_DRIVER_BOTH(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz,
                   (address_t * a, std::size_t bytes, pool* from, stream_t s), {
                     void* p = nullptr;
                     if (a == nullptr || bytes == 0) return error::invalid_value;
                     const error_t e = per_thread ? cudaMallocFromPoolAsync_ptsz(&p, bytes, from, s)
                                                  : cudaMallocFromPoolAsync(&p, bytes, from, s);
                     if (e == error::none) *a = reinterpret_cast<address_t>(p);
                     return e;
                   })
