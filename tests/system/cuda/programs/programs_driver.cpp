// SPDX-License-Identifier: MIT
// What the driver API takes: names of functions, contexts, modules, links. As an H100 with CUDA 13 answers.
#include <cstring>
#include <string>

#include "programs.h"

namespace cuda_programs {

namespace {

constexpr void* null = nullptr;
constexpr std::size_t none = 0;
constexpr int wrong = cudaErrorInvalidValue, wrong_handle = cudaErrorInvalidResourceHandle, bad_image = 200,
              wrong_context = 201, bad_ptx = 218, unknown_version = 222, bad_source = 300, not_found = 500,
              destroyed = 709;

void names_of_functions() {
  void* f = &f;
  int status = 9;
  const auto find = [&](const char* name, int version) {
    return call("cuGetProcAddress_v2", name, &f, version, 0ull, &status);
  };
  RIGHT(find("cuNope", 12000));
  HOLDS(f == nullptr && status == 1);
  RIGHT(find("cuMemAlloc", 1000));
  HOLDS(f == nullptr && status == 2);
  RIGHT(find("cuMemAlloc", 13000));
  HOLDS(f != nullptr && status == 0);
  status = 9;
  GIVES(wrong, find("cuMemAlloc", 14000));
  HOLDS(status == 9);
  GIVES(not_found, call("cuGetProcAddress_v2", "cuNope", &f, 12000, 0ull, null));
}

void contexts() {
  void *a = nullptr, *current = nullptr, *p = nullptr;
  unsigned flags = 0;
  int active = 0;
  for (const unsigned unknown : {3u, 5u, 256u}) GIVES(wrong, call("cuCtxCreate_v2", &a, unknown, 0));
  RIGHT(call("cuCtxCreate_v2", &a, 4u, 0));
  GIVES(wrong, call("cuCtxSetFlags", 99u));
  GIVES(wrong, call("cuCtxPushCurrent_v2", null));
  GIVES(wrong, call("cuCtxDestroy_v2", null));
  RIGHT(call("cuCtxDestroy_v2", a));
  GIVES(wrong_context, call("cuCtxDestroy_v2", a));
  RIGHT(call("cuCtxPushCurrent_v2", a));
  GIVES(destroyed, call("cuMemAlloc_v2", &p, std::size_t{64}));
  RIGHT(call("cuCtxPopCurrent_v2", &current));
  HOLDS(current == a);
  RIGHT(call("cuDevicePrimaryCtxSetFlags_v2", 0, 4u));
  RIGHT(call("cuDevicePrimaryCtxRetain", &a, 0));
  RIGHT(call("cuCtxSetCurrent", a));
  RIGHT(call("cuDevicePrimaryCtxReset_v2", 0));
  GIVES(destroyed, call("cuMemAlloc_v2", &p, std::size_t{64}));
  RIGHT(call("cuDevicePrimaryCtxRelease_v2", 0));
  RIGHT(call("cuDevicePrimaryCtxGetState", 0, &flags, &active));
  HOLDS(flags == 0 && active == 0);
}

const std::string head = ".version 8.0\n.target sm_60\n.address_size 64\n";
const std::string kernel = head + ".global .align 4 .b8 words[8];\n.visible .entry k() { ret; }\n";

void modules() {
  void *m = nullptr, *f = nullptr, *p = nullptr;
  std::size_t bytes = 0;
  const auto load = [&m](const std::string& text) { return call("cuModuleLoadData", &m, text.c_str()); };
  for (const char* text : {"", " \n", "hello"}) GIVES(bad_image, load(text));
  GIVES(unknown_version, load(".version 99.0\n.target sm_60\n.address_size 64\n"));
  GIVES(bad_ptx, load(".version 3.0\n.target sm_60\n.address_size 64\n"));
  GIVES(bad_ptx, load(".version 8.0\n"));
  char garbage[64] = "\177ELF";
  GIVES(bad_image, call("cuModuleLoadData", &m, garbage));
  const int unknown[] = {999};
  void* values[] = {nullptr};
  GIVES(wrong, call("cuModuleLoadDataEx", &m, kernel.c_str(), 1u, unknown, values));
  GIVES(wrong, call("cuModuleLoadDataEx", &m, kernel.c_str(), 1u, null, null));
  RIGHT(load("// a comment\n/* another */" + kernel));
  GIVES(wrong, call("cuModuleGetFunction", &f, m, ""));
  GIVES(not_found, call("cuModuleGetFunction", &f, m, "words"));
  GIVES(wrong, call("cuModuleGetGlobal_v2", &p, &bytes, m, "k"));
  GIVES(not_found, call("cuModuleGetGlobal_v2", &p, &bytes, m, "nope"));
  GIVES(wrong, call("cuModuleGetGlobal_v2", null, null, m, "words"));
  RIGHT(call("cuModuleGetGlobal_v2", null, &bytes, m, "words"));
  HOLDS(bytes == 8);
}

void links() {
  constexpr int ptx = 1;
  void *s = nullptr, *image = nullptr;
  std::size_t bytes = 0;
  const auto create = [&s] { RIGHT(call("cuLinkCreate_v2", 0u, null, null, &s)); };
  const auto add = [&s](int type, const std::string& text) {
    return call("cuLinkAddData_v2", s, type, text.c_str(), text.size(), "input", 0u, null, null);
  };
  create();
  RIGHT(call("cuLinkComplete", s, &image, &bytes));
  RIGHT(call("cuLinkDestroy", s));
  create();
  GIVES(wrong, add(77, kernel));
  GIVES(wrong, add(ptx, ""));
  RIGHT(add(ptx, kernel));
  RIGHT(call("cuLinkComplete", s, &image, &bytes));
  GIVES(wrong_handle, call("cuLinkComplete", s, &image, &bytes));
  RIGHT(call("cuLinkDestroy", s));
  create();
  RIGHT(add(ptx, kernel));
  GIVES(bad_source, add(ptx, ".version 8"));
  GIVES(bad_source, call("cuLinkComplete", s, &image, &bytes));
  RIGHT(call("cuLinkDestroy", s));
}

void pointers() {
  void* p = nullptr;
  std::size_t pitch = 7;
  long long value = 0;
  RIGHT(call("cuMemAlloc_v2", &p, std::size_t{64}));
  for (const int unknown : {-1, 0, 22}) GIVES(wrong, call("cuPointerGetAttribute", &value, unknown, p));
  for (const int known : {5, 6, 21}) RIGHT(call("cuPointerGetAttribute", &value, known, p));
  GIVES(wrong, call("cuPointerGetAttribute", &value, 16, &value));
  GIVES(wrong, call("cuMemAllocPitch_v2", &p, &pitch, std::size_t{4}, std::size_t{4}, 2u));
  HOLDS(pitch == 0);
  GIVES(wrong, call("cuMemAlloc_v2", &p, none));
  HOLDS(p == nullptr);
}

struct side {
  std::size_t x = 0, y = 0, z = 0, level = 0;
  int where = 1;  // the host; 2: the device
  const void* host = nullptr;
  void *device = nullptr, *array = nullptr, *reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};
struct box {
  side from, to;
  std::size_t width = 0, height = 1, depth = 1;
};

// Nodes, edges, captures and advice are the runtime's.
void graphs_of_the_driver() {
  void *graph = nullptr, *copy = nullptr, *fill = nullptr, *node = nullptr, *instance = nullptr, *s = nullptr,
       *d = nullptr, *managed = nullptr, *context = nullptr;
  std::size_t n = 9;
  int words[4] = {1, 2, 3, 4}, got[4] = {}, status = 0;
  RIGHT(call("cuCtxGetCurrent", &context));
  RIGHT(call("cuMemAlloc_v2", &d, sizeof words));
  RIGHT(call("cuGraphCreate", &graph, 0u));
  box b;
  b.from.host = words;
  b.to.where = 2;
  b.to.device = d;
  b.width = sizeof words;
  RIGHT(call("cuGraphAddMemcpyNode", &copy, graph, null, none, &b, context));
  b.width = 1000;
  GIVES(wrong, call("cuGraphAddMemcpyNode", &node, graph, null, none, &b, context));
  struct {
    void* to;
    std::size_t pitch;
    unsigned value, element;
    std::size_t width, height;
  } eight{d, 0, 8, 4, 1, 1}, told{};
  RIGHT(call("cuGraphAddMemsetNode", &fill, graph, &copy, std::size_t{1}, &eight, context));
  RIGHT(call("cuGraphMemsetNodeGetParams", fill, &told));
  HOLDS(told.to == d && told.value == 8);
  RIGHT(call("cuGraphGetEdges_v2", graph, null, null, null, &n));
  HOLDS(n == 1);
  RIGHT(call("cuGraphNodeGetDependencies", fill, null, &n));
  HOLDS(n == 1);
  RIGHT(call("cuGraphInstantiateWithFlags", &instance, graph, 0ull));
  eight.value = 9;
  RIGHT(call("cuGraphExecMemsetNodeSetParams", instance, fill, &eight, context));
  RIGHT(call("cuGraphLaunch", instance, null));
  RIGHT(call("cuMemcpyDtoH_v2", got, d, sizeof got));
  HOLDS(got[0] == 9 && got[1] == 2 && got[3] == 4);
  struct {
    int result;
    void *node, *from;
  } change{7, nullptr, nullptr};
  RIGHT(call("cuGraphExecUpdate_v2", instance, graph, &change));
  HOLDS(change.result == 0);
  RIGHT(call("cuGraphRemoveDependencies", graph, &copy, &fill, std::size_t{1}));
  GIVES(910, call("cuGraphExecUpdate_v2", instance, graph, &change));
  RIGHT(call("cuStreamCreate", &s, 1u));
  RIGHT(call("cuStreamBeginCaptureToGraph", s, graph, null, null, none, 0));
  RIGHT(call("cuMemsetD32Async", d, 1u, std::size_t{4}, s));
  RIGHT(call("cuStreamGetCaptureInfo_v3", s, &status, null, null, null, null, &n));
  HOLDS(status == 1 && n == 1);
  RIGHT(call("cuStreamEndCapture", s, &node));
  HOLDS(node == graph);
  void* event = nullptr;
  unsigned long long id = 0;
  RIGHT(call("cuEventCreate", &event, 0u));
  GIVES(401, call("cuEventRecordWithFlags", event, s, 1u));  // external to a capture that there is not
  GIVES(wrong_handle, call("cuStreamGetId", &id, &id));
  char value[64] = {};
  GIVES(wrong, call("cuStreamGetAttribute", s, 2, value));
  RIGHT(call("cuStreamGetAttribute", s, 3, value));
  RIGHT(call("cuMemAllocManaged", &managed, std::size_t{4096}, 1u));
  RIGHT(call("cuMemAdvise", managed, std::size_t{4096}, 3, -1));
  GIVES(wrong, call("cuMemAdvise", d, std::size_t{16}, 3, -1));
  GIVES(101, call("cuMemPrefetchAsync", managed, std::size_t{4096}, 5, s));
}

}  // namespace

void driver_rules() {
  void* context = nullptr;
  RIGHT(call("cuInit", 0u));
  names_of_functions();
  contexts();
  RIGHT(call("cuCtxCreate_v2", &context, 0u, 0));
  modules();
  links();
  pointers();
  graphs_of_the_driver();
}

// Memory is released, and variables have their first values.
void resets() {
  auto* p = device<int>(16);
  const float seven = 7;
  float got = 1;
  RIGHT(cudaMemcpyToSymbol(&factor, &seven, 4, 0, cudaMemcpyHostToDevice));
  RIGHT(call("cudaDeviceReset"));
  GIVES(cudaErrorInvalidValue, cudaMemset(p, 0, 4));
  GIVES(cudaErrorInvalidValue, cudaFree(p));
  RIGHT(cudaMemcpyFromSymbol(&got, &factor, 4, 0, cudaMemcpyDeviceToHost));
  HOLDS(got == 0);
  p = device<int>(64);
  RIGHT(cudaMemset(p, 0, 256));
  RIGHT(launch(linger, 1, 32, 0, nullptr, p, 1));
  int sum = 0;
  RIGHT(cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost));
  HOLDS(sum == 1);
  for (int k = 0; k < 2; ++k) RIGHT(call("cudaDeviceReset"));
  // What both sides see is there again, too.
  RIGHT(launch(count, 1, 32, 0, nullptr, 2));
  RIGHT(cudaDeviceSynchronize());
  HOLDS(*shared_with_host == 7);
  // A context that the program has made keeps its memory.
  void *context = nullptr, *own = nullptr;
  RIGHT(call("cuCtxCreate_v2", &context, 0u, 0));
  RIGHT(call("cuMemAlloc_v2", &own, std::size_t{64}));
  RIGHT(call("cudaDeviceReset"));
  RIGHT(call("cuMemFree_v2", own));
}

}  // namespace cuda_programs
