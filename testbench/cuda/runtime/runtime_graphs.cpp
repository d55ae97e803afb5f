// SPDX-License-Identifier: MIT
// The runtime: graphs built node by node.
#include <algorithm>
#include <cstring>
#include <set>

#include "testbench/cuda/core/capture.h"
#include "testbench/cuda/core/graph_params.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/runtime_version.h"

using namespace heddle;
using namespace heddle::cuda;

HEDDLE_CUDA heddle::cuda::error_t cudaGetSymbolAddress(void** p, const void* symbol);
HEDDLE_CUDA heddle::cuda::error_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol);

namespace heddle::cuda {

graph_node* add_allocation(graph& g, const std::vector<graph_node*>& after, std::size_t bytes, error_t& result) {
  void* p = nullptr;
  result = bytes == 0 ? noted(error::invalid_value) : allocate_device(&p, bytes);
  if (result != error::none) return nullptr;
  auto memory = std::make_shared<graph_memory>(p, bytes);
  note_graph_memory(memory);
  return g.add(allocate_work{std::move(memory)}, after);
}

graph_node* add_free(graph& g, const std::vector<graph_node*>& after, void* pointer, error_t& result) {
  auto memory = graph_memory_at(pointer);
  // Only memory that a graph has allocated, once; an instance leaves it to the program.
  const bool is_freed = std::any_of(g.nodes.begin(), g.nodes.end(), [&](const auto& n) {
    const auto* f = std::get_if<free_work>(&n->work);
    return f != nullptr && f->memory == memory;
  });
  result = memory && !is_freed && g.instance.expired() ? error::none : noted(error::invalid_value);
  return result == error::none ? g.add(free_work{std::move(memory)}, after) : nullptr;
}

error_t work_of(const kernel_node_params& p, kernel_work& w) {
  const error_t e = kernel_of(p.function, p.grid, p.block, p.arguments, p.extra, p.shared_bytes, w.traits, w);
  return e != error::none ? e : checked(w);
}

error_t work_of(const fill_node_params& p, fill_work& w) {
  if (p.to == nullptr || (p.element_bytes != 1 && p.element_bytes != 2 && p.element_bytes != 4))
    return error::invalid_value;
  const std::size_t width = p.width * p.element_bytes;
  if (p.height > 1 && p.pitch < width) return error::invalid_value;
  w = {p.to,
       p.height > 1 ? p.pitch : width,
       (p.height > 1 ? p.pitch : width) * p.height,
       p.value,
       p.element_bytes,
       width,
       p.height,
       1};
  return checked(w);
}

error_t symbol_copy(const void* symbol, std::size_t offset, void* to, const void* from, std::size_t bytes, int kind,
                    copy_work& w) {
  void* at = nullptr;
  std::size_t size = 0;
  const error_t e = cudaGetSymbolAddress(&at, symbol);
  if (e != error::none) return e;
  cudaGetSymbolSize(&size, symbol);
  if (offset > size || bytes > size - offset) return noted(error::invalid_value);
  at = static_cast<char*>(at) + offset;
  w = to == nullptr ? copy_of_row(at, from, bytes, kind) : copy_of_row(to, at, bytes, kind);
  return error::none;
}

}  // namespace heddle::cuda

namespace {

using nodes = graph_node* const*;

/// True if the graph exists and the list has nodes of it.
bool has_nodes(graph* g, nodes list, std::size_t count) {
  return is_known(g) && (count == 0 || list != nullptr) &&
         std::all_of(list, list + count, [g](const graph_node* n) { return n != nullptr && n->owner == g; });
}
/// The same for the nodes before a new one, each of which counts once.
bool can_take(graph* g, nodes after, std::size_t count) {
  return has_nodes(g, after, count) && std::set<const graph_node*>(after, after + count).size() == count;
}

bool is_kernel(const graph_node* n) { return n != nullptr && std::holds_alternative<kernel_work>(n->work); }

/// What the program says of the edges to a node: only between kernels they are more than an order.
bool are_valid(const edge_data* edges, nodes from, std::size_t count, bool to_kernel) {
  constexpr unsigned char order = 0, programmatic = 1, last_port = 2;
  for (std::size_t k = 0; edges != nullptr && k < count; ++k) {
    const edge_data& e = edges[k];
    if (e.type > programmatic || e.from_port > last_port || e.to_port != 0) return false;
    if ((e.type != order || e.from_port != 0) && !(is_kernel(from[k]) && to_kernel)) return false;
  }
  return true;
}

error_t add(graph_node** made, graph* g, nodes after, std::size_t count, node_work work) {
  if (made == nullptr || !can_take(g, after, count)) return noted(error::invalid_value);
  *made = g->add(std::move(work), {after, after + count});
  return error::none;
}
error_t add_copy(graph_node** made, graph* g, nodes after, std::size_t count, const copy_work& w, const copy_3d& box) {
  if (const error_t wrong = checked(w); wrong != error::none) return noted(wrong);
  const error_t e = add(made, g, after, count, w);
  if (e == error::none) (*made)->box = box;
  return e;
}

// Returns a list, truncated to the given capacity; without an array, returns its length.
template <class List, class Give>
error_t give(const List& list, std::size_t* count, bool has_room, Give&& put) {
  if (count == nullptr) return noted(error::invalid_value);
  if (has_room)
    for (std::size_t k = 0; k < *count; ++k) put(k, k < list.size() ? &list[k] : nullptr);
  if (!has_room || *count > list.size()) *count = list.size();
  return error::none;
}
error_t give_nodes(const std::vector<graph_node*>& list, graph_node** to, std::size_t* count) {
  return give(list, count, to != nullptr,
              [&](std::size_t k, graph_node* const* n) { to[k] = n != nullptr ? *n : nullptr; });
}

error_t edges(graph* g, graph_node** from, graph_node** to, edge_data* data, std::size_t* count) {
  if (!is_known(g) || (from == nullptr) != (to == nullptr)) return noted(error::invalid_value);
  std::vector<std::pair<graph_node*, graph_node*>> all;
  for (const auto& n : g->nodes)
    for (graph_node* a : n->after) all.emplace_back(a, n.get());
  return give(all, count, from != nullptr && to != nullptr,
              [&](std::size_t k, const std::pair<graph_node*, graph_node*>* e) {
                from[k] = e != nullptr ? e->first : nullptr;
                to[k] = e != nullptr ? e->second : nullptr;
                if (data != nullptr) data[k] = {};
              });
}
error_t dependents(graph_node* n, graph_node** to, std::size_t* count) {
  if (n == nullptr) return noted(error::invalid_value);
  std::vector<graph_node*> all;
  for (const auto& other : n->owner->nodes)
    if (std::find(other->after.begin(), other->after.end(), n) != other->after.end()) all.push_back(other.get());
  return give_nodes(all, to, count);
}
error_t connect(graph* g, nodes from, nodes to, std::size_t count, bool connected) {
  if (is_known(g) && !connected && g->has_memory()) return noted(error::not_supported);
  if (!has_nodes(g, from, count) || !has_nodes(g, to, count)) return noted(error::invalid_value);
  for (std::size_t k = 0; k < count; ++k) {
    auto& after = to[k]->after;
    const auto found = std::find(after.begin(), after.end(), from[k]);
    if (from[k] == to[k] || (found != after.end()) == connected) return noted(error::invalid_value);
    if (connected) {
      after.push_back(from[k]);
    } else {
      after.erase(found);
    }
  }
  return error::none;
}

error_t add_any(graph_node** made, graph* g, nodes after, const edge_data* edges, std::size_t count,
                any_node_params* p) {
  if (any_null(made, p) || !can_take(g, after, count) || !are_valid(edges, after, count, p->type == 0))
    return noted(error::invalid_value);
  if (p->type == 10 || p->type == 11) {
    error_t e = error::none;
    const std::vector<graph_node*> before(after, after + count);
    *made =
        p->type == 10 ? add_allocation(*g, before, p->of.allocation.bytes, e) : add_free(*g, before, p->of.freed, e);
    if (e == error::none && p->type == 10)
      p->of.allocation.pointer = std::get<allocate_work>((*made)->work).memory->pointer;
    return e;
  }
  constexpr int conditional = 13;
  node_work w;
  const error_t e = p->type == conditional ? conditional_of(*g, *p, w) : work_of(*p, w);
  if (e != error::none) return noted(e);
  const bool is_copy = std::holds_alternative<copy_work>(w);
  return is_copy ? add_copy(made, g, after, count, std::get<copy_work>(w), p->of.copy.box)
                 : add(made, g, after, count, std::move(w));
}

}  // namespace

error_t heddle::cuda::work_of(const any_node_params& p, node_work& w) {
  constexpr int external_signal = 8, external_wait = 9, memory_operations = 12;
  switch (p.type) {
    case 0: w = kernel_work{}; return work_of(p.of.kernel, std::get<kernel_work>(w));
    case 1: {
      copy_work c;
      const error_t e = box_of(p.of.copy.box, c);
      w = c;
      return e != error::none ? e : checked(c);
    }
    case 2: w = fill_work{}; return work_of(p.of.fill, std::get<fill_work>(w));
    case 3: w = host_work{p.of.host.function, nullptr, p.of.host.data, nullptr}; return error::none;
    case 4:
      if (!is_known(static_cast<const graph*>(p.of.child))) return error::invalid_value;
      if (static_cast<const graph*>(p.of.child)->is_single()) return error::not_supported;
      w = child_work{static_cast<const graph*>(p.of.child)->clone()};
      return error::none;
    case 5: w = empty_work{}; return error::none;
    case 6: w = wait_work{p.of.event}; return p.of.event != nullptr ? error::none : error::invalid_value;
    case 7: w = record_work{p.of.event}; return p.of.event != nullptr ? error::none : error::invalid_value;
    case external_signal:
    case external_wait:
    case memory_operations: return error::not_supported;
    default: return error::invalid_value;
  }
}

HEDDLE_CUDA error_t cudaGraphCreate(graph** g, unsigned flags) {
  if (g == nullptr || flags != 0) return noted(error::invalid_value);
  *g = keep(std::make_unique<graph>());
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphDestroy(graph* g) {
  if (is_captured(g)) return noted(error::illegal_state);
  return drop(g) ? error::none : noted(error::invalid_value);
}
HEDDLE_CUDA error_t cudaGraphClone(graph** copy, graph* g) {
  if (copy == nullptr || !is_known(g)) return noted(error::invalid_value);
  if (g->is_single()) return noted(error::not_supported);
  *copy = keep(g->clone());
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphNodeFindInClone(graph_node** n, graph_node* original, graph* copy) {
  if (n == nullptr || !is_known(copy)) return noted(error::invalid_value);
  const auto found =
      std::find_if(copy->nodes.begin(), copy->nodes.end(), [&](const auto& c) { return c->original == original; });
  if (found == copy->nodes.end()) return noted(error::invalid_value);
  *n = found->get();
  return error::none;
}

HEDDLE_CUDA error_t cudaGraphAddKernelNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                           const kernel_node_params* p) {
  if (p == nullptr) return noted(error::invalid_value);
  kernel_work w;
  const error_t e = work_of(*p, w);
  return e == error::none ? add(made, g, after, count, std::move(w)) : noted(e);
}
HEDDLE_CUDA error_t cudaGraphAddMemcpyNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                           const copy_3d* p) {
  if (p == nullptr) return noted(error::invalid_value);
  copy_work w;
  const error_t e = box_of(*p, w);
  return e == error::none ? add_copy(made, g, after, count, w, *p) : noted(e);
}
HEDDLE_CUDA error_t cudaGraphAddMemcpyNode1D(graph_node** made, graph* g, nodes after, std::size_t count, void* to,
                                             const void* from, std::size_t bytes, int kind) {
  const copy_work w = copy_of_row(to, from, bytes, kind);
  return add_copy(made, g, after, count, w, shown(w));
}
HEDDLE_CUDA error_t cudaGraphAddMemcpyNodeToSymbol(graph_node** made, graph* g, nodes after, std::size_t count,
                                                   const void* symbol, const void* from, std::size_t bytes,
                                                   std::size_t offset, int kind) {
  copy_work w;
  const error_t e = symbol_copy(symbol, offset, nullptr, from, bytes, kind, w);
  return e == error::none ? add_copy(made, g, after, count, w, shown(w)) : e;
}
HEDDLE_CUDA error_t cudaGraphAddMemcpyNodeFromSymbol(graph_node** made, graph* g, nodes after, std::size_t count,
                                                     void* to, const void* symbol, std::size_t bytes,
                                                     std::size_t offset, int kind) {
  copy_work w;
  const error_t e = symbol_copy(symbol, offset, to, nullptr, bytes, kind, w);
  return e == error::none ? add_copy(made, g, after, count, w, shown(w)) : e;
}
HEDDLE_CUDA error_t cudaGraphAddMemsetNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                           const fill_node_params* p) {
  if (p == nullptr) return noted(error::invalid_value);
  fill_work w;
  error_t e = work_of(*p, w);
  if (e == error::none) e = add(made, g, after, count, w);
  if (e == error::none) (*made)->pitch = p->pitch;
  return noted(e);
}
HEDDLE_CUDA error_t cudaGraphAddHostNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                         const host_node_params* p) {
  if (p == nullptr || p->function == nullptr) return noted(error::invalid_value);
  return add(made, g, after, count, host_work{p->function, nullptr, p->data, nullptr});
}
HEDDLE_CUDA error_t cudaGraphAddEmptyNode(graph_node** made, graph* g, nodes after, std::size_t count) {
  return add(made, g, after, count, empty_work{});
}
HEDDLE_CUDA error_t cudaGraphAddChildGraphNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                               graph* child) {
  if (!is_known(child)) return noted(error::invalid_value);
  if (child->is_single()) return noted(error::not_supported);
  return add(made, g, after, count, child_work{child->clone()});
}
HEDDLE_CUDA error_t cudaGraphAddEventRecordNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                                event_t e) {
  if (e == nullptr) return noted(error::invalid_value);
  return add(made, g, after, count, record_work{e});
}
HEDDLE_CUDA error_t cudaGraphAddEventWaitNode(graph_node** made, graph* g, nodes after, std::size_t count, event_t e) {
  if (e == nullptr) return noted(error::invalid_value);
  return add(made, g, after, count, wait_work{e});
}
HEDDLE_CUDA error_t cudaGraphAddMemAllocNode(graph_node** made, graph* g, nodes after, std::size_t count,
                                             allocation_node_params* p) {
  if (any_null(made, p) || !can_take(g, after, count)) return noted(error::invalid_value);
  error_t e = error::none;
  *made = add_allocation(*g, {after, after + count}, p->bytes, e);
  if (e == error::none) p->pointer = std::get<allocate_work>((*made)->work).memory->pointer;
  return e;
}
HEDDLE_CUDA error_t cudaGraphAddMemFreeNode(graph_node** made, graph* g, nodes after, std::size_t count, void* p) {
  if (made == nullptr || !can_take(g, after, count)) return noted(error::invalid_value);
  error_t e = error::none;
  *made = add_free(*g, {after, after + count}, p, e);
  return e;
}
// Since CUDA 13, the edges' data come before the count.
HEDDLE_CUDA error_t cudaGraphAddNode(graph_node** made, graph* g, nodes after, std::uintptr_t edges_or_count,
                                     std::uintptr_t count_or_params, any_node_params* p) {
  return runtime_version() >= 13000
             ? add_any(made, g, after, reinterpret_cast<const edge_data*>(edges_or_count), count_or_params, p)
             : add_any(made, g, after, nullptr, edges_or_count, reinterpret_cast<any_node_params*>(count_or_params));
}
HEDDLE_CUDA error_t cudaGraphAddNode_v2(graph_node** made, graph* g, nodes after, const edge_data* edges,
                                        std::size_t count, any_node_params* p) {
  return add_any(made, g, after, edges, count, p);
}

HEDDLE_CUDA error_t cudaGraphDestroyNode(graph_node* n) {
  if (n == nullptr) return noted(error::invalid_value);
  if (n->owner->has_memory()) return noted(error::not_supported);
  auto& all = n->owner->nodes;
  for (const auto& other : all)
    other->after.erase(std::remove(other->after.begin(), other->after.end(), n), other->after.end());
  all.erase(std::find_if(all.begin(), all.end(), [n](const auto& other) { return other.get() == n; }));
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphNodeGetType(graph_node* n, int* type) {
  if (n == nullptr || type == nullptr) return noted(error::invalid_value);
  *type = type_of(*n);
  return error::none;
}
HEDDLE_CUDA error_t cudaGraphGetNodes(graph* g, graph_node** to, std::size_t* count) {
  if (!is_known(g)) return noted(error::invalid_value);
  std::vector<graph_node*> all;
  for (const auto& n : g->nodes) all.push_back(n.get());
  return give_nodes(all, to, count);
}
HEDDLE_CUDA error_t cudaGraphGetRootNodes(graph* g, graph_node** to, std::size_t* count) {
  if (!is_known(g)) return noted(error::invalid_value);
  std::vector<graph_node*> all;
  for (const auto& n : g->nodes)
    if (n->after.empty()) all.push_back(n.get());
  return give_nodes(all, to, count);
}
HEDDLE_CUDA error_t cudaGraphGetEdges(graph* g, graph_node** from, graph_node** to, void* data_or_count,
                                      std::size_t* count) {
  return runtime_version() >= 13000 ? edges(g, from, to, static_cast<edge_data*>(data_or_count), count)
                                    : edges(g, from, to, nullptr, static_cast<std::size_t*>(data_or_count));
}
HEDDLE_CUDA error_t cudaGraphGetEdges_v2(graph* g, graph_node** from, graph_node** to, edge_data* data,
                                         std::size_t* count) {
  return edges(g, from, to, data, count);
}
HEDDLE_CUDA error_t cudaGraphNodeGetDependencies(graph_node* n, graph_node** to, void* data_or_count,
                                                 std::size_t* count) {
  if (n == nullptr) return noted(error::invalid_value);
  return give_nodes(n->after, to, runtime_version() >= 13000 ? count : static_cast<std::size_t*>(data_or_count));
}
HEDDLE_CUDA error_t cudaGraphNodeGetDependencies_v2(graph_node* n, graph_node** to, edge_data*, std::size_t* count) {
  return n != nullptr ? give_nodes(n->after, to, count) : noted(error::invalid_value);
}
HEDDLE_CUDA error_t cudaGraphNodeGetDependentNodes(graph_node* n, graph_node** to, void* data_or_count,
                                                   std::size_t* count) {
  return dependents(n, to, runtime_version() >= 13000 ? count : static_cast<std::size_t*>(data_or_count));
}
HEDDLE_CUDA error_t cudaGraphNodeGetDependentNodes_v2(graph_node* n, graph_node** to, edge_data*, std::size_t* count) {
  return dependents(n, to, count);
}
HEDDLE_CUDA error_t cudaGraphAddDependencies(graph* g, nodes from, nodes to, std::uintptr_t data_or_count,
                                             std::size_t count) {
  return connect(g, from, to, runtime_version() >= 13000 ? count : data_or_count, true);
}
HEDDLE_CUDA error_t cudaGraphAddDependencies_v2(graph* g, nodes from, nodes to, const edge_data*, std::size_t count) {
  return connect(g, from, to, count, true);
}
HEDDLE_CUDA error_t cudaGraphRemoveDependencies(graph* g, nodes from, nodes to, std::uintptr_t data_or_count,
                                                std::size_t count) {
  return connect(g, from, to, runtime_version() >= 13000 ? count : data_or_count, false);
}
HEDDLE_CUDA error_t cudaGraphRemoveDependencies_v2(graph* g, nodes from, nodes to, const edge_data*,
                                                   std::size_t count) {
  return connect(g, from, to, count, false);
}
