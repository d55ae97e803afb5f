// SPDX-License-Identifier: MIT
// The runtime: node parameters of graphs, instantiation and launches.
#include <cstring>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/graph_params.h"
#include "testbench/cuda/core/runtime_version.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

constexpr error_t update_failed = 910;
// Values of cudaGraphInstantiateResult.
constexpr int instantiated = 0, invalid_structure = 2;

/// The node's work if it is of this kind; otherwise null.
template <class Work>
Work* work_in(graph_node* n) {
  return n != nullptr ? std::get_if<Work>(&n->work) : nullptr;
}
graph_node* copy_in(graph_exec* e, graph_node* n) { return is_known(e) && n != nullptr ? e->copy_of(n) : nullptr; }

error_t set_kernel(graph_node* n, const kernel_node_params* p) {
  auto* w = work_in<kernel_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  kernel_work next;
  next.traits = w->traits;
  const error_t e = work_of(*p, next);
  if (e == error::none) *w = std::move(next);
  return noted(e);
}
error_t set_copy(graph_node* n, const copy_work& next, const copy_3d& box) {
  auto* w = work_in<copy_work>(n);
  if (w == nullptr) return noted(error::invalid_value);
  if (const error_t e = checked(next); e != error::none) return noted(e);
  if (!n->owner->is_free && !may_become(*w, next)) return noted(error::invalid_value);
  *w = next;
  n->box = box;
  return noted(error::none);
}
error_t set_copy(graph_node* n, const copy_3d* p) {
  if (work_in<copy_work>(n) == nullptr || p == nullptr) return noted(error::invalid_value);
  copy_work next;
  const error_t e = box_of(*p, next);
  return e != error::none ? noted(e) : set_copy(n, next, *p);
}
error_t set_copy(graph_node* n, const copy_work& next) { return set_copy(n, next, shown(next)); }
error_t set_symbol_copy(graph_node* n, const void* symbol, std::size_t offset, void* to, const void* from,
                        std::size_t bytes, int kind) {
  copy_work next;
  const error_t e = symbol_copy(symbol, offset, to, from, bytes, kind, next);
  return e == error::none ? set_copy(n, next) : e;
}
error_t set_fill(graph_node* n, const fill_node_params* p) {
  auto* w = work_in<fill_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  fill_work next;
  if (const error_t e = work_of(*p, next); e != error::none) return noted(e);
  if (!n->owner->is_free && !may_become(*w, next)) return noted(error::invalid_value);
  *w = next;
  n->pitch = p->pitch;
  return noted(error::none);
}
error_t set_host(graph_node* n, const host_node_params* p) {
  auto* w = work_in<host_work>(n);
  if (w == nullptr || p == nullptr || p->function == nullptr) return noted(error::invalid_value);
  *w = {p->function, nullptr, p->data, nullptr};
  return error::none;
}
template <class Work>
error_t set_event(graph_node* n, event_t e) {
  auto* w = work_in<Work>(n);
  if (w == nullptr) return noted(error::invalid_value);
  w->event = e;
  return error::none;
}
error_t set_any(graph_node* n, const any_node_params* p) {
  if (n == nullptr || p == nullptr || type_of(*n) != p->type) return noted(error::invalid_value);
  if (p->type == 0) return set_kernel(n, &p->of.kernel);
  if (p->type == 1) return set_copy(n, &p->of.copy.box);
  node_work w;
  const error_t e = work_of(*p, w);
  if (e == error::none) n->work = std::move(w);
  return noted(e);
}

/// cudaGraphInstantiateFlags.
enum flag : unsigned long long { frees_on_launch = 1, uploads = 2, launched_by_device = 4, uses_node_priority = 8 };
constexpr unsigned long long simple_flags = frees_on_launch | uses_node_priority,
                             all_flags = simple_flags | uploads | launched_by_device;

error_t instantiate(graph_exec** made, graph* g, unsigned long long flags, unsigned long long known_flags) {
  if (made == nullptr || !is_known(g) || (flags & ~known_flags) != 0) return noted(error::invalid_value);
  if (const error_t refused = refused_by_capture(); refused != error::none) return refused;
  if (!g->instance.expired()) return noted(error::not_supported);
  auto e = graph_exec::make(*g, flags);
  if (!e) return noted(error::invalid_value);
  if (g->is_single()) g->instance = e->instance = std::make_shared<int>();
  *made = keep(std::move(e));
  return error::none;
}

// As in CUDA, a graph cannot be launched in a captured stream.
error_t launch(graph_exec* e, std::uint32_t stream) {
  if (const error_t refused = refused_in(stream); refused != error::none) return refused;
  if (!is_known(e)) return noted(error::invalid_value);
  return noted(e->launch(stream));
}

}  // namespace

// Up to CUDA 11, the arguments are an error node and a text buffer instead of flags.
HEDDLE_CUDA error_t cudaGraphInstantiate(graph_exec** made, graph* g, unsigned long long flags_or_node, char* text,
                                         std::size_t bytes) {
  if (runtime_version() >= 12000) return instantiate(made, g, flags_or_node, simple_flags);
  if (flags_or_node != 0) *reinterpret_cast<graph_node**>(flags_or_node) = nullptr;
  if (text != nullptr && bytes != 0) *text = '\0';
  return instantiate(made, g, 0, simple_flags);
}
HEDDLE_CUDA error_t cudaGraphInstantiateWithFlags(graph_exec** made, graph* g, unsigned long long flags) {
  return instantiate(made, g, flags, simple_flags);
}
HEDDLE_BOTH(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz,
            (graph_exec * *made, graph* g, instantiate_params* p), if (p == nullptr) return noted(error::invalid_value);
            const error_t e = instantiate(made, g, p->flags, all_flags); p->bad_node = nullptr;
            p->result = e == error::none ? instantiated : invalid_structure; return e;)
HEDDLE_CUDA error_t cudaGraphExecGetFlags(graph_exec* e, unsigned long long* flags) {
  if (!is_known(e) || flags == nullptr) return noted(error::invalid_value);
  *flags = e->flags;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphExecDestroy(graph_exec* e) {
  if (!is_known(e)) return noted(error::invalid_value);
  drop(e);
  return error::none;
}
HEDDLE_BOTH(cudaGraphLaunch, cudaGraphLaunch_ptsz, (graph_exec * e, stream_t s),
            return launch(e, stream_number(s, per_thread));)
HEDDLE_BOTH(cudaGraphUpload, cudaGraphUpload_ptsz, (graph_exec * e, stream_t),
            return is_known(e) ? error::none : noted(error::invalid_value);)
// Up to CUDA 11, node and result are separate pointers.
HEDDLE_CUDA error_t cudaGraphExecUpdate(graph_exec* e, graph* g, void* result_or_node, int* result) {
  if (!is_known(e) || !is_known(g)) return noted(error::invalid_value);
  const graph_node* where = nullptr;
  const int r = e->update(*g, where);
  auto* bad = const_cast<graph_node*>(where);
  if (runtime_version() >= 12000) {
    if (result_or_node != nullptr) *static_cast<update_result*>(result_or_node) = {r, bad, nullptr};
  } else {
    if (result_or_node != nullptr) *static_cast<graph_node**>(result_or_node) = bad;
    if (result != nullptr) *result = r;
  }
  return r == 0 ? error::none : noted(update_failed);
}

HEDDLE_CUDA error_t cudaGraphKernelNodeGetParams(graph_node* n, kernel_node_params* p) {
  auto* w = work_in<kernel_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  n->arguments.clear();
  for (const auto& [offset, bytes] : w->function->parameters) n->arguments.push_back(w->parameters.data() + offset);
  *p = {w->key, w->grid, w->block, w->shared_bytes, n->arguments.data(), nullptr};
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphKernelNodeGetParams_v2(graph_node* n, kernel_node_params* p) {
  return cudaGraphKernelNodeGetParams(n, p);
}
HEDDLE_CUDA error_t cudaGraphKernelNodeSetParams(graph_node* n, const kernel_node_params* p) {
  return set_kernel(n, p);
}
HEDDLE_CUDA error_t cudaGraphExecKernelNodeSetParams(graph_exec* e, graph_node* n, const kernel_node_params* p) {
  return set_kernel(copy_in(e, n), p);
}
HEDDLE_CUDA error_t cudaGraphKernelNodeSetAttribute(graph_node* n, int attribute, const void* value) {
  auto* w = work_in<kernel_work>(n);
  if (w == nullptr || value == nullptr || !is_of_nodes(attribute)) return noted(error::invalid_value);
  launch_attribute a{};
  a.id = attribute;
  std::memcpy(&a.value, value, sizeof a.value);
  if (const error_t e = read(a, w->traits); e != error::none) return noted(e);
  n->attributes[attribute] = a;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphKernelNodeGetAttribute(graph_node* n, int attribute, void* value) {
  auto* w = work_in<kernel_work>(n);
  if (w == nullptr || value == nullptr || !is_of_nodes(attribute)) return noted(error::invalid_value);
  const auto found = n->attributes.find(attribute);
  launch_attribute given{};
  if (found != n->attributes.end()) given = found->second;
  show(w->traits, attribute, given);
  std::memcpy(value, &given.value, sizeof given.value);
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphKernelNodeCopyAttributes(graph_node* to, graph_node* from) {
  auto* t = work_in<kernel_work>(to);
  const auto* f = work_in<kernel_work>(from);
  if (t == nullptr || f == nullptr) return noted(error::invalid_value);
  to->attributes = from->attributes;
  t->traits = f->traits;
  return error::none;
}

HEDDLE_CUDA error_t cudaGraphMemcpyNodeGetParams(graph_node* n, copy_3d* p) {
  if (work_in<copy_work>(n) == nullptr || p == nullptr) return noted(error::invalid_value);
  *p = n->box;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphMemcpyNodeSetParams(graph_node* n, const copy_3d* p) { return set_copy(n, p); }
HEDDLE_CUDA error_t cudaGraphMemcpyNodeSetParams1D(graph_node* n, void* to, const void* from, std::size_t bytes,
                                                   int kind) {
  return set_copy(n, copy_of_row(to, from, bytes, kind));
}
HEDDLE_CUDA error_t cudaGraphMemcpyNodeSetParamsToSymbol(graph_node* n, const void* symbol, const void* from,
                                                         std::size_t bytes, std::size_t offset, int kind) {
  return set_symbol_copy(n, symbol, offset, nullptr, from, bytes, kind);
}
HEDDLE_CUDA error_t cudaGraphMemcpyNodeSetParamsFromSymbol(graph_node* n, void* to, const void* symbol,
                                                           std::size_t bytes, std::size_t offset, int kind) {
  return set_symbol_copy(n, symbol, offset, to, nullptr, bytes, kind);
}
HEDDLE_CUDA error_t cudaGraphExecMemcpyNodeSetParams(graph_exec* e, graph_node* n, const copy_3d* p) {
  return set_copy(copy_in(e, n), p);
}
HEDDLE_CUDA error_t cudaGraphExecMemcpyNodeSetParams1D(graph_exec* e, graph_node* n, void* to, const void* from,
                                                       std::size_t bytes, int kind) {
  return set_copy(copy_in(e, n), copy_of_row(to, from, bytes, kind));
}
HEDDLE_CUDA error_t cudaGraphExecMemcpyNodeSetParamsToSymbol(graph_exec* e, graph_node* n, const void* symbol,
                                                             const void* from, std::size_t bytes, std::size_t offset,
                                                             int kind) {
  return set_symbol_copy(copy_in(e, n), symbol, offset, nullptr, from, bytes, kind);
}
HEDDLE_CUDA error_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(graph_exec* e, graph_node* n, void* to,
                                                               const void* symbol, std::size_t bytes,
                                                               std::size_t offset, int kind) {
  return set_symbol_copy(copy_in(e, n), symbol, offset, to, nullptr, bytes, kind);
}

HEDDLE_CUDA error_t cudaGraphMemsetNodeGetParams(graph_node* n, fill_node_params* p) {
  const auto* w = work_in<fill_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  *p = {w->to, n->pitch, w->value, w->value_bytes, w->width / w->value_bytes, w->height};
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphMemsetNodeSetParams(graph_node* n, const fill_node_params* p) { return set_fill(n, p); }
HEDDLE_CUDA error_t cudaGraphExecMemsetNodeSetParams(graph_exec* e, graph_node* n, const fill_node_params* p) {
  return set_fill(copy_in(e, n), p);
}
HEDDLE_CUDA error_t cudaGraphHostNodeGetParams(graph_node* n, host_node_params* p) {
  const auto* w = work_in<host_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  *p = {w->function, w->data};
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphHostNodeSetParams(graph_node* n, const host_node_params* p) { return set_host(n, p); }
HEDDLE_CUDA error_t cudaGraphExecHostNodeSetParams(graph_exec* e, graph_node* n, const host_node_params* p) {
  return set_host(copy_in(e, n), p);
}

HEDDLE_CUDA error_t cudaGraphEventRecordNodeGetEvent(graph_node* n, event_t* e) {
  const auto* w = work_in<record_work>(n);
  if (w == nullptr || e == nullptr) return noted(error::invalid_value);
  *e = w->event;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphEventRecordNodeSetEvent(graph_node* n, event_t e) { return set_event<record_work>(n, e); }
HEDDLE_CUDA error_t cudaGraphExecEventRecordNodeSetEvent(graph_exec* x, graph_node* n, event_t e) {
  return set_event<record_work>(copy_in(x, n), e);
}
HEDDLE_CUDA error_t cudaGraphEventWaitNodeGetEvent(graph_node* n, event_t* e) {
  const auto* w = work_in<wait_work>(n);
  if (w == nullptr || e == nullptr) return noted(error::invalid_value);
  *e = w->event;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphEventWaitNodeSetEvent(graph_node* n, event_t e) { return set_event<wait_work>(n, e); }
HEDDLE_CUDA error_t cudaGraphExecEventWaitNodeSetEvent(graph_exec* x, graph_node* n, event_t e) {
  return set_event<wait_work>(copy_in(x, n), e);
}

HEDDLE_CUDA error_t cudaGraphNodeSetParams(graph_node* n, const any_node_params* p) { return set_any(n, p); }
HEDDLE_CUDA error_t cudaGraphExecNodeSetParams(graph_exec* e, graph_node* n, const any_node_params* p) {
  return set_any(copy_in(e, n), p);
}
HEDDLE_CUDA error_t cudaGraphChildGraphNodeGetGraph(graph_node* n, graph** g) {
  const auto* w = work_in<child_work>(n);
  if (w == nullptr || g == nullptr) return noted(error::invalid_value);
  *g = w->inner.get();
  note_inner(*g);
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphExecChildGraphNodeSetParams(graph_exec* e, graph_node* n, graph* child) {
  auto* w = work_in<child_work>(copy_in(e, n));
  if (w == nullptr || !is_known(child)) return noted(error::invalid_value);
  return e->update_child(*w->inner, *child) ? error::none : noted(error::invalid_value);
}
HEDDLE_CUDA error_t cudaGraphMemAllocNodeGetParams(graph_node* n, allocation_node_params* p) {
  const auto* w = work_in<allocate_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  *p = {};
  p->properties.allocation_type = p->properties.location_type = 1;
  p->bytes = w->memory->bytes;
  p->pointer = w->memory->pointer;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphMemFreeNodeGetParams(graph_node* n, void** p) {
  const auto* w = work_in<free_work>(n);
  if (w == nullptr || p == nullptr) return noted(error::invalid_value);
  *p = w->memory->pointer;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphNodeSetEnabled(graph_exec* e, graph_node* n, unsigned enabled) {
  graph_node* own = copy_in(e, n);
  if (own == nullptr || type_of(*own) > 2) return noted(error::invalid_value);  // kernels, copies and fills
  own->enabled = enabled != 0;
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphNodeGetEnabled(graph_exec* e, graph_node* n, unsigned* enabled) {
  const graph_node* own = copy_in(e, n);
  if (own == nullptr || enabled == nullptr || type_of(*own) > 2) return noted(error::invalid_value);
  *enabled = own->enabled;
  return error::none;
}
