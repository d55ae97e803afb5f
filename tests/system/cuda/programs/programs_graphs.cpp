// SPDX-License-Identifier: MIT
// What CUDA takes into a graph, and how it changes afterwards. As an H100 with CUDA 13 answers.
#include <string>
#include <utility>
#include <vector>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr std::size_t none = 0;
constexpr int wrong = cudaErrorInvalidValue, wrong_handle = cudaErrorInvalidResourceHandle, wrong_direction = 21,
              unsupported = 801, not_updated = 910;

struct kernel_params {
  const void* function;
  dim3 grid, block;
  unsigned shared = 0;
  void** arguments;
  void** extra = nullptr;
};
struct fill_params {
  void* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};
struct allocation_params {
  int type = 1, handles = 0, location_type = 1, location = 0;
  void* security = nullptr;
  std::size_t most = 0, reserved[7] = {};
  const void* access = nullptr;
  std::size_t accesses = 0, bytes = 0;
  void* pointer = nullptr;
};

/// A graph, and what its nodes are about.
struct builder {
  void *graph = nullptr, *node = nullptr;
  int* memory = device<int>(1024);
  int turns = 1;
  void* list[2] = {&memory, &turns};
  int on_host[64] = {};
  builder() { RIGHT(call("cudaGraphCreate", &graph, 0u)); }
  int kernel(const void* f, dim3 grid, dim3 block, unsigned shared = 0) {
    const kernel_params p{f, grid, block, shared, list};
    return call("cudaGraphAddKernelNode", &node, graph, null, none, &p);
  }
  int fill(const fill_params& p) { return call("cudaGraphAddMemsetNode", &node, graph, null, none, &p); }
  int copy(void* to, const void* from, std::size_t bytes, int kind) {
    return call("cudaGraphAddMemcpyNode1D", &node, graph, null, none, to, from, bytes, kind);
  }
  std::size_t nodes() {
    std::size_t n = 99;
    RIGHT(call("cudaGraphGetNodes", graph, null, &n));
    return n;
  }
};

void nodes_of_a_graph() {
  builder b;
  RIGHT(b.kernel(&linger, {1}, {32}));
  void* const kernel = b.node;
  GIVES(wrong_handle, b.kernel(&b, {1}, {32}));
  for (const auto& [grid, block] : {std::pair{0u, 32u}, {1u, 0u}, {1u, 2000u}})
    GIVES(wrong, b.kernel(&linger, {grid}, {block}));
  GIVES(wrong, b.kernel(&linger, {1}, {32}, 60000));
  const auto row = [&b](std::size_t width, unsigned bytes = 4) { return fill_params{b.memory, 0, 1, bytes, width, 1}; };
  const auto rows = [&b](std::size_t height, std::size_t pitch) {
    return fill_params{b.memory, pitch, 1, 4, 16, height};
  };
  RIGHT(b.fill(row(16)));
  fill_params shown{};
  RIGHT(call("cudaGraphMemsetNodeGetParams", b.node, &shown));
  HOLDS(shown.pitch == 0 && shown.width == 16);
  RIGHT(b.fill(rows(2, 64)));
  for (const fill_params& p : {row(0), row(1025), row(16, 3), rows(0, 64), rows(2, 62), rows(2, 66), rows(100, 64)})
    GIVES(wrong, b.fill(p));
  GIVES(wrong, b.fill({reinterpret_cast<char*>(b.memory) + 2, 0, 1, 4, 16, 1}));
  GIVES(wrong, b.fill({b.on_host, 0, 1, 4, 16, 1}));
  RIGHT(b.copy(b.memory, b.on_host, 64, cudaMemcpyHostToDevice));
  GIVES(wrong, b.copy(b.memory, b.on_host, 0, cudaMemcpyHostToDevice));
  GIVES(wrong, b.copy(b.memory, b.on_host, 4097, cudaMemcpyHostToDevice));
  GIVES(wrong, b.copy(b.memory, b.on_host, 4, cudaMemcpyDeviceToHost));
  GIVES(wrong_direction, b.copy(b.memory, b.on_host, 4, 9));
  GIVES(wrong, call("cudaGraphAddMemcpyNodeToSymbol", &b.node, b.graph, null, none, &factor, b.on_host, std::size_t{5},
                    none, int{cudaMemcpyHostToDevice}));
  GIVES(wrong, call("cudaGraphAddEventRecordNode", &b.node, b.graph, null, none, null));
  HOLDS(b.nodes() == 4);
  char value[64] = {};
  for (const int attribute : {0, 3, 6, 7, 11, 12, 15})
    GIVES(wrong, call("cudaGraphKernelNodeGetAttribute", kernel, attribute, value));
  for (const int attribute : {1, 2, 4, 8, 14}) RIGHT(call("cudaGraphKernelNodeGetAttribute", kernel, attribute, value));
}

void edges_of_a_graph() {
  builder b, other;
  void *a = nullptr, *c = nullptr, *foreign = nullptr, *node = nullptr;
  std::size_t n = 9;
  RIGHT(call("cudaGraphAddEmptyNode", &a, b.graph, null, none));
  RIGHT(call("cudaGraphAddEmptyNode", &c, b.graph, &a, std::size_t{1}));
  RIGHT(call("cudaGraphAddEmptyNode", &foreign, other.graph, null, none));
  void* const twice[] = {a, a};
  GIVES(wrong, call("cudaGraphAddEmptyNode", &node, b.graph, twice, std::size_t{2}));
  GIVES(wrong, call("cudaGraphAddEmptyNode", &node, b.graph, &foreign, std::size_t{1}));
  GIVES(wrong, call("cudaGraphAddDependencies", b.graph, &a, &foreign, null, std::size_t{1}));
  GIVES(wrong, call("cudaGraphGetEdges", b.graph, &node, null, null, &n));
  struct {
    int type = 5, reserved[3] = {};
    long long rest[30] = {};
  } empty;
  const unsigned char programmatic[8] = {1, 0, 1}, unknown[8] = {0, 0, 9}, port[8] = {7};
  for (const unsigned char* edge : {programmatic, unknown, port})
    GIVES(wrong, call("cudaGraphAddNode", &node, b.graph, &a, edge, std::size_t{1}, &empty));
  RIGHT(call("cudaGraphAddNode", &node, b.graph, &a, null, std::size_t{1}, &empty));
  empty.type = 77;
  GIVES(wrong, call("cudaGraphAddNode", &node, b.graph, &a, null, std::size_t{1}, &empty));
  HOLDS(b.nodes() == 3);
  // The graph within a node is one that can be asked.
  void *child = nullptr, *inner = nullptr;
  RIGHT(call("cudaGraphAddChildGraphNode", &child, other.graph, null, none, b.graph));
  RIGHT(call("cudaGraphChildGraphNodeGetGraph", child, &inner));
  RIGHT(call("cudaGraphGetNodes", inner, null, &n));
  HOLDS(n == 3);
  GIVES(wrong, call("cudaGraphDestroy", inner));
}

void instances_of_a_graph() {
  builder b, c;
  void* instance = nullptr;
  struct {
    int result;
    void *node, *from;
  } told{};
  for (const unsigned long long flags : {2ull, 4ull, 16ull})
    GIVES(wrong, call("cudaGraphInstantiate", &instance, b.graph, flags));
  RIGHT(b.fill({b.memory, 0, 1, 4, 16, 1}));
  RIGHT(b.copy(b.on_host, b.memory, 16, cudaMemcpyDeviceToHost));
  void* const copy = b.node;
  RIGHT(call("cudaGraphInstantiate", &instance, b.graph, 9ull));
  // A fill stays one of a row, and a copy between the same memories.
  RIGHT(c.fill({c.memory, 64, 1, 4, 8, 2}));
  RIGHT(c.copy(c.on_host, c.memory, 16, cudaMemcpyDeviceToHost));
  GIVES(not_updated, call("cudaGraphExecUpdate", instance, c.graph, &told));
  HOLDS(told.result == 5 && told.node != nullptr);
  const auto set = [&](void* to, const void* from, int kind) {
    return call("cudaGraphExecMemcpyNodeSetParams1D", instance, copy, to, from, std::size_t{16}, kind);
  };
  GIVES(wrong, set(b.memory, b.memory + 64, cudaMemcpyDeviceToDevice));
  RIGHT(set(b.on_host, b.memory + 64, cudaMemcpyDeviceToHost));
  RIGHT(call("cudaGraphLaunch", instance, null));
  RIGHT(cudaDeviceSynchronize());
}

void memory_of_a_graph() {
  builder b, parent;
  allocation_params p;
  void *alloc = nullptr, *node = nullptr, *first = nullptr, *second = nullptr;
  p.bytes = 1024;
  RIGHT(call("cudaGraphAddMemAllocNode", &alloc, b.graph, null, none, &p));
  GIVES(unsupported, call("cudaGraphClone", &node, b.graph));
  GIVES(unsupported, call("cudaGraphAddChildGraphNode", &node, parent.graph, null, none, b.graph));
  GIVES(unsupported, call("cudaGraphDestroyNode", alloc));
  RIGHT(call("cudaGraphInstantiate", &first, b.graph, 0ull));
  GIVES(unsupported, call("cudaGraphInstantiate", &second, b.graph, 0ull));
  GIVES(wrong, call("cudaGraphAddMemFreeNode", &node, b.graph, &alloc, std::size_t{1}, p.pointer));
  RIGHT(call("cudaGraphExecDestroy", first));
  RIGHT(call("cudaGraphAddMemFreeNode", &node, b.graph, &alloc, std::size_t{1}, p.pointer));
  GIVES(wrong, call("cudaGraphAddMemFreeNode", &node, b.graph, &alloc, std::size_t{1}, p.pointer));
  GIVES(unsupported, call("cudaGraphRemoveDependencies", b.graph, &alloc, &node, null, std::size_t{1}));
  RIGHT(call("cudaGraphInstantiate", &second, b.graph, 0ull));
  RIGHT(call("cudaGraphLaunch", second, null));
  RIGHT(cudaDeviceSynchronize());
  unsigned long long mark = 5;
  GIVES(wrong, call("cudaDeviceSetGraphMemAttribute", 0, 1, &mark));
}

/// Counts, and says by the device runtime whether it wants to go on.
constexpr const char* counts = R"(.version 6.0
.target sm_60
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry counts(.param .u64 p, .param .u64 h)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .pred %q;
  ld.param.u64 %rd0, [p];
  ld.param.u64 %rd1, [h];
  ld.global.u32 %r0, [%rd0];
  add.u32 %r0, %r0, 1;
  st.global.u32 [%rd0], %r0;
  setp.lt.u32 %q, %r0, 5;
  selp.u32 %r1, 1, 0, %q;
  {
    .param .b64 a;
    st.param.b64 [a], %rd1;
    .param .b32 b;
    st.param.b32 [b], %r1;
    call.uni cudaGraphSetConditional, (a, b);
  }
  ret;
}
)";

void conditions_of_a_graph() {
  enum { if_set, while_set, by_number };
  struct {
    int type = 13, reserved[3] = {};
    unsigned long long handle = 0;
    int kind = if_set;
    unsigned size = 1;
    void** bodies = nullptr;
    long long rest[30] = {};
  } node;
  builder b;
  void *module = nullptr, *kernel = nullptr, *made = nullptr, *instance = nullptr;
  int sums[6] = {};
  RIGHT(cudaMemset(b.memory, 0, 64));
  RIGHT(call("cuModuleLoadData", &module, counts));
  RIGHT(call("cuModuleGetFunction", &kernel, module, "counts"));
  const auto add_node = [&](int kind, unsigned size, unsigned initial) {
    RIGHT(call("cudaGraphConditionalHandleCreate", &node.handle, b.graph, initial, 1u));
    node.kind = kind;
    node.size = size;
    RIGHT(call("cudaGraphAddNode", &made, b.graph, null, null, none, &node));
  };
  const auto add_kernel = [&](void* body, const void* f, void* first, unsigned long long second) {
    void* list[] = {&first, &second};
    const kernel_params p{f, {1}, {1}, 0, list};
    RIGHT(call("cudaGraphAddKernelNode", &made, body, null, none, &p));
  };
  add_node(while_set, 1, 1);
  add_kernel(node.bodies[0], kernel, b.memory, node.handle);
  for (const unsigned initial : {0u, 1u}) {
    add_node(if_set, 2, initial);
    add_kernel(node.bodies[1 - initial], &linger, b.memory + 1 + initial, 1);
  }
  add_node(by_number, 3, 2);
  for (int k = 0; k < 3; ++k) add_kernel(node.bodies[k], &linger, b.memory + 3 + k, 1);
  GIVES(unsupported, call("cudaGraphClone", &made, b.graph));
  node.handle = 5;
  GIVES(wrong, call("cudaGraphAddNode", &made, b.graph, null, null, none, &node));
  RIGHT(call("cudaGraphInstantiate", &instance, b.graph, 0ull));
  for (int launches = 1; launches < 3; ++launches) {
    RIGHT(call("cudaGraphLaunch", instance, null));
    RIGHT(cudaMemcpy(sums, b.memory, sizeof sums, cudaMemcpyDeviceToHost));
    // Five times the first time; then the sum is above five at once.
    HOLDS(sums[0] == 4 + launches && sums[1] == launches && sums[2] == launches && sums[3] == 0 && sums[4] == 0 &&
          sums[5] == launches);
  }
}

}  // namespace

void graph_rules() {
  nodes_of_a_graph();
  edges_of_a_graph();
  instances_of_a_graph();
  memory_of_a_graph();
  conditions_of_a_graph();
}

}  // namespace cuda_programs
