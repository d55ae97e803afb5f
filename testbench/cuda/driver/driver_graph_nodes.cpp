// SPDX-License-Identifier: MIT
// The driver API: nodes and edges of graphs, and attributes, whose structures are the runtime's.
#include <cstring>

#include "testbench/cuda/core/graph.h"
#include "testbench/cuda/core/graph_params.h"
#include "testbench/cuda/driver/driver.h"
#include "testbench/cuda/driver/driver_copy.h"

using namespace heddle::cuda;

using node_list = graph_node* const*;

// A driver function that is identical to a runtime function, and one with a context behind the arguments.
#define HEDDLE_NODE(name, runtime, parameters, arguments) \
  HEDDLE_CUDA error_t runtime parameters;                 \
  HEDDLE_CUDA result_t name parameters {                  \
    return driven([&] { return runtime arguments; });     \
  }
#define HEDDLE_EXEC_NODE(name, runtime, Params)                                        \
  HEDDLE_CUDA error_t runtime(graph_exec* e, graph_node* n, const Params* p);          \
  HEDDLE_CUDA result_t name(graph_exec* e, graph_node* n, const Params* p, context*) { \
    return driven([&] { return runtime(e, n, p); });                                   \
  }

HEDDLE_NODE(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, (graph_node * to, graph_node* from),
            (to, from))
HEDDLE_NODE(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute,
            (graph_node * n, int attribute, void* value), (n, attribute, value))
HEDDLE_NODE(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute,
            (graph_node * n, int attribute, const void* value), (n, attribute, value))
HEDDLE_NODE(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, (graph_node * n, fill_node_params* p), (n, p))
HEDDLE_NODE(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, (graph_node * n, const fill_node_params* p),
            (n, p))
HEDDLE_EXEC_NODE(cuGraphExecMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams, fill_node_params)
HEDDLE_NODE(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (graph_node * n, host_node_params* p), (n, p))
HEDDLE_NODE(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (graph_node * n, const host_node_params* p), (n, p))
HEDDLE_NODE(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
            (graph_exec * e, graph_node* n, const host_node_params* p), (e, n, p))
HEDDLE_NODE(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, (graph_node * n, event_t* e), (n, e))
HEDDLE_NODE(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, (graph_node * n, event_t e), (n, e))
HEDDLE_NODE(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent,
            (graph_exec * x, graph_node* n, event_t e), (x, n, e))
HEDDLE_NODE(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, (graph_node * n, event_t* e), (n, e))
HEDDLE_NODE(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, (graph_node * n, event_t e), (n, e))
HEDDLE_NODE(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
            (graph_exec * x, graph_node* n, event_t e), (x, n, e))
HEDDLE_NODE(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
            (graph_exec * e, graph_node* n, graph* child), (e, n, child))

HEDDLE_CUDA error_t cudaGraphAddMemAllocNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                             allocation_node_params* p);
HEDDLE_CUDA result_t cuGraphAddMemAllocNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                            allocation_node_params* p) {
  return driven([&] { return cudaGraphAddMemAllocNode(made, g, after, count, p); });
}
HEDDLE_CUDA error_t cudaGraphAddMemFreeNode(graph_node** made, graph* g, node_list after, std::size_t count, void* p);
HEDDLE_CUDA result_t cuGraphAddMemFreeNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                           address_t a) {
  return driven([&] { return cudaGraphAddMemFreeNode(made, g, after, count, pointer_of(a)); });
}
HEDDLE_NODE(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, (graph_node * n, allocation_node_params* p),
            (n, p))
HEDDLE_NODE(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, (graph_node * n, void** p), (n, p))
HEDDLE_NODE(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, (device_t d, int attribute, void* value),
            (d, attribute, value))
HEDDLE_NODE(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute,
            (device_t d, int attribute, const void* value), (d, attribute, value))
HEDDLE_NODE(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, (device_t d), (d))

namespace {

/// One end of a copy in the runtime's terms, in which an array's elements are counted.
void put_side(const side_3d& s, array_t& array, position_t& at, pitched_pointer& memory) {
  const array_record* a = s.where == in_array ? known_array(s.array) : nullptr;
  at = {s.x_bytes / (a != nullptr ? a->element_bytes() : 1), s.y, s.z};
  array = a != nullptr ? s.array : nullptr;
  void* const p = s.where == in_host ? const_cast<void*>(s.host) : pointer_of(s.device);
  memory = a != nullptr ? pitched_pointer{} : pitched_pointer{p, s.pitch, s.pitch, s.height};
}

copy_3d box_of_driver(const driver_copy_3d& c) {
  copy_3d b{};
  put_side(c.from, b.source_array, b.source_position, b.source);
  put_side(c.to, b.destination_array, b.destination_position, b.destination);
  const array_record* a = known_array(b.source_array != nullptr ? b.source_array : b.destination_array);
  b.extent = {c.width_bytes / (a != nullptr ? a->element_bytes() : 1), c.height, c.depth};
  b.kind = direction(c.from.where, c.to.where);
  return b;
}

}  // namespace

HEDDLE_CUDA error_t cudaGraphAddMemcpyNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                           const copy_3d* p);
HEDDLE_CUDA result_t cuGraphAddMemcpyNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                          const driver_copy_3d* c, context*) {
  if (c == nullptr) return result::invalid_value;
  const copy_3d b = box_of_driver(*c);
  return driven([&] { return cudaGraphAddMemcpyNode(made, g, after, count, &b); });
}
HEDDLE_CUDA error_t cudaGraphMemcpyNodeSetParams(graph_node* n, const copy_3d* p);
HEDDLE_CUDA result_t cuGraphMemcpyNodeSetParams(graph_node* n, const driver_copy_3d* c) {
  if (c == nullptr) return result::invalid_value;
  const copy_3d b = box_of_driver(*c);
  return driven([&] { return cudaGraphMemcpyNodeSetParams(n, &b); });
}
HEDDLE_CUDA error_t cudaGraphExecMemcpyNodeSetParams(graph_exec* e, graph_node* n, const copy_3d* p);
HEDDLE_CUDA result_t cuGraphExecMemcpyNodeSetParams(graph_exec* e, graph_node* n, const driver_copy_3d* c, context*) {
  if (c == nullptr) return result::invalid_value;
  const copy_3d b = box_of_driver(*c);
  return driven([&] { return cudaGraphExecMemcpyNodeSetParams(e, n, &b); });
}

// Any kind of node. A copy is described in the driver's way.
namespace {

template <class F>
result_t with_params(any_node_params* p, F&& f) {
  constexpr int copy_node = 1;
  if (p == nullptr || p->type != copy_node) return driven([&] { return f(p); });
  any_node_params own = *p;
  driver_copy_3d c;
  std::memcpy(&c, reinterpret_cast<const char*>(&p->of) + 16, sizeof c);  // behind flags and context
  own.of.copy.box = box_of_driver(c);
  return driven([&] { return f(&own); });
}

}  // namespace

HEDDLE_CUDA error_t cudaGraphAddNode_v2(graph_node** made, graph* g, node_list after, const edge_data* edges,
                                        std::size_t count, any_node_params* p);
HEDDLE_CUDA result_t cuGraphAddNode_v2(graph_node** made, graph* g, node_list after, const edge_data* edges,
                                       std::size_t count, any_node_params* p) {
  return with_params(p, [&](any_node_params* q) { return cudaGraphAddNode_v2(made, g, after, edges, count, q); });
}
HEDDLE_CUDA result_t cuGraphAddNode(graph_node** made, graph* g, node_list after, std::size_t count,
                                    any_node_params* p) {
  return cuGraphAddNode_v2(made, g, after, nullptr, count, p);
}
HEDDLE_CUDA error_t cudaGraphNodeSetParams(graph_node* n, const any_node_params* p);
HEDDLE_CUDA result_t cuGraphNodeSetParams(graph_node* n, any_node_params* p) {
  return with_params(p, [&](any_node_params* q) { return cudaGraphNodeSetParams(n, q); });
}
HEDDLE_CUDA error_t cudaGraphExecNodeSetParams(graph_exec* e, graph_node* n, const any_node_params* p);
HEDDLE_CUDA result_t cuGraphExecNodeSetParams(graph_exec* e, graph_node* n, any_node_params* p) {
  return with_params(p, [&](any_node_params* q) { return cudaGraphExecNodeSetParams(e, n, q); });
}

// Edges; since CUDA 12.3 with data.
HEDDLE_NODE(cuGraphGetEdges_v2, cudaGraphGetEdges_v2,
            (graph * g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count),
            (g, from, to, data, count))
HEDDLE_CUDA result_t cuGraphGetEdges(graph* g, graph_node** from, graph_node** to, std::size_t* count) {
  return cuGraphGetEdges_v2(g, from, to, nullptr, count);
}
HEDDLE_NODE(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies_v2,
            (graph_node * n, graph_node** to, edge_data* data, std::size_t* count), (n, to, data, count))
HEDDLE_CUDA result_t cuGraphNodeGetDependencies(graph_node* n, graph_node** to, std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(n, to, nullptr, count);
}
HEDDLE_NODE(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes_v2,
            (graph_node * n, graph_node** to, edge_data* data, std::size_t* count), (n, to, data, count))
HEDDLE_CUDA result_t cuGraphNodeGetDependentNodes(graph_node* n, graph_node** to, std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(n, to, nullptr, count);
}
HEDDLE_NODE(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies_v2,
            (graph * g, node_list from, node_list to, const edge_data* data, std::size_t count),
            (g, from, to, data, count))
HEDDLE_CUDA result_t cuGraphRemoveDependencies(graph* g, node_list from, node_list to, std::size_t count) {
  return cuGraphRemoveDependencies_v2(g, from, to, nullptr, count);
}

/// In CUDA 11 node and result are separate.
HEDDLE_CUDA result_t cuGraphExecUpdate_v2(graph_exec* e, graph* g, update_result* details) {
  return driven([&]() -> error_t {
    if (!is_known(e) || !is_known(g)) return error::invalid_value;
    constexpr error_t update_failed = 910;
    const graph_node* where = nullptr;
    const int r = e->update(*g, where);
    if (details != nullptr) *details = {r, const_cast<graph_node*>(where), nullptr};
    return r == 0 ? error::none : update_failed;
  });
}
HEDDLE_CUDA result_t cuGraphExecUpdate(graph_exec* e, graph* g, graph_node** where, int* details) {
  update_result r{};
  const result_t answer = cuGraphExecUpdate_v2(e, g, &r);
  if (where != nullptr) *where = static_cast<graph_node*>(r.bad_node);
  if (details != nullptr) *details = r.result;
  return answer;
}

// Captures into graphs, and attributes of streams.
#define HEDDLE_STREAM(name, runtime, parameters, arguments) \
  HEDDLE_NODE(name, runtime, parameters, arguments)         \
  HEDDLE_NODE(name##_ptsz, runtime##_ptsz, parameters, arguments)
HEDDLE_STREAM(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
              (stream_t s, graph* g, node_list after, const edge_data* edges, std::size_t count, int mode),
              (s, g, after, edges, count, mode))
HEDDLE_STREAM(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3,
              (stream_t s, int* status, unsigned long long* id, graph** g, graph_node*** after, const edge_data** edges,
               std::size_t* count),
              (s, status, id, g, after, edges, count))
HEDDLE_STREAM(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2,
              (stream_t s, graph_node** after, const edge_data* edges, std::size_t count, unsigned flags),
              (s, after, edges, count, flags))
HEDDLE_CUDA result_t cuStreamUpdateCaptureDependencies(stream_t s, graph_node** after, std::size_t count,
                                                       unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(s, after, nullptr, count, flags);
}
HEDDLE_CUDA result_t cuStreamUpdateCaptureDependencies_ptsz(stream_t s, graph_node** after, std::size_t count,
                                                            unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2_ptsz(s, after, nullptr, count, flags);
}
HEDDLE_STREAM(cuStreamGetAttribute, cudaStreamGetAttribute, (stream_t s, int attribute, void* value),
              (s, attribute, value))
HEDDLE_STREAM(cuStreamSetAttribute, cudaStreamSetAttribute, (stream_t s, int attribute, const void* value),
              (s, attribute, value))
HEDDLE_STREAM(cuStreamCopyAttributes, cudaStreamCopyAttributes, (stream_t to, stream_t from), (to, from))
