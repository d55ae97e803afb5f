// SPDX-License-Identifier: MIT
// A CUDA program about stream capture, graphs and memory pools. Each part checks its own results: exit code 0 if all
// are right.
#include <cstdint>

#include "check.cuh"

__global__ void add(float* a, float v) { a[threadIdx.x] += v; }
__global__ void scale(float* a, float v) { a[threadIdx.x] *= v; }
__global__ void sum(const float* a, const float* b, float* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

static int calls = 0;
static void count_call(void* data) { calls += *static_cast<int*>(data); }

static void capture() {
  float *a = device_floats(32), *b = device_floats(32), *c = device_floats(32), *d = device_floats(32);
  cudaStream_t s, other;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&other));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamIsCapturing(s, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  add<<<1, 32, 0, s>>>(a, 1);
  CHECK(cudaEventRecord(fork, s));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  CHECK(cudaMemcpyAsync(b, a, 128, cudaMemcpyDeviceToDevice, other));
  scale<<<1, 32, 0, other>>>(b, 10);
  add<<<1, 32, 0, s>>>(d, 1);
  CHECK(cudaEventRecord(join, other));
  CHECK(cudaStreamWaitEvent(s, join, 0));
  sum<<<1, 32, 0, s>>>(d, b, c);
  int one = 1;
  CHECK(cudaLaunchHostFunc(s, count_call, &one));
  cudaGraph_t g;
  CHECK(cudaStreamEndCapture(s, &g));
  EXPECT(read(c, 1)[0] == 0 && calls == 0);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(g, nullptr, &nodes));
  EXPECT(nodes == 6);
  cudaGraphExec_t e;
  CHECK(cudaGraphInstantiate(&e, g, 0));
  CHECK(cudaGraphLaunch(e, s));
  CHECK(cudaGraphLaunch(e, other));   // serialised after the first one, though in another stream
  CHECK(cudaStreamSynchronize(other));
  EXPECT(read(c, 32) == std::vector<float>(32, 22));   // a: 1, 2; b: 10, 20; d: 1, 2
  EXPECT(calls == 2);

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, s));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  add<<<1, 32, 0, other>>>(a, 1);
  EXPECT(cudaStreamEndCapture(s, &g) == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(s, &g) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaGraphExecDestroy(e));
  cudaGetLastError();
}

static void graphs() {
  float *a = device_floats(32), *b = device_floats(32);
  std::vector<float> in = numbers(32), out(32, -1);
  cudaGraph_t g;
  CHECK(cudaGraphCreate(&g, 0));
  cudaGraphNode_t copy_in, fill, add_node, sum_node, copy_out, host;
  CHECK(cudaGraphAddMemcpyNode1D(&copy_in, g, nullptr, 0, a, in.data(), 128, cudaMemcpyHostToDevice));
  cudaMemsetParams m = {};
  m.dst = b;
  m.elementSize = 4;
  m.value = 0x3f800000;   // 1.0
  m.width = 32;
  m.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &m));
  float v = 100;
  void* add_arguments[] = {&a, &v};
  cudaKernelNodeParams k = {};
  k.func = reinterpret_cast<void*>(add);
  k.gridDim = k.blockDim = dim3(1);
  k.blockDim.x = 32;
  k.kernelParams = add_arguments;
  CHECK(cudaGraphAddKernelNode(&add_node, g, &copy_in, 1, &k));
  void* sum_arguments[] = {&a, &b, &b};
  k.func = reinterpret_cast<void*>(sum);
  k.kernelParams = sum_arguments;
  const cudaGraphNode_t both[2] = {add_node, fill};
  CHECK(cudaGraphAddKernelNode(&sum_node, g, both, 2, &k));
  CHECK(cudaGraphAddMemcpyNode1D(&copy_out, g, &sum_node, 1, out.data(), b, 128, cudaMemcpyDeviceToHost));
  int two = 2;
  cudaHostNodeParams h = {count_call, &two};
  CHECK(cudaGraphAddHostNode(&host, g, &copy_out, 1, &h));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(host, &type));
  EXPECT(type == cudaGraphNodeTypeHost);

  cudaGraphExec_t e;
  CHECK(cudaGraphInstantiate(&e, g, 0));
  calls = 0;
  v = 7;          // was read when the node was created
  in[3] = 1000;   // is read when the node runs
  CHECK(cudaGraphLaunch(e, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 101 && out[3] == 1101 && out[31] == 132 && calls == 2);

  // Changes a value in the instantiated graph; the graph itself is unchanged.
  v = 200;
  k.func = reinterpret_cast<void*>(add);
  k.kernelParams = add_arguments;
  CHECK(cudaGraphExecKernelNodeSetParams(e, add_node, &k));
  CHECK(cudaGraphLaunch(e, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 201);
  cudaKernelNodeParams told;
  CHECK(cudaGraphKernelNodeGetParams(add_node, &told));
  EXPECT(told.func == reinterpret_cast<void*>(add) && *static_cast<float*>(told.kernelParams[1]) == 100 && told.blockDim.x == 32);
  CHECK(cudaGraphNodeSetEnabled(e, add_node, 0));
  CHECK(cudaGraphLaunch(e, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 1);

  cudaGraph_t twin, outer;
  CHECK(cudaGraphClone(&twin, g));
  cudaGraphNode_t found, child, wrong_way;
  CHECK(cudaGraphNodeFindInClone(&found, add_node, twin));
  CHECK(cudaGraphKernelNodeSetParams(found, &k));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(e, twin, &info));
  CHECK(cudaGraphNodeSetEnabled(e, add_node, 1));
  CHECK(cudaGraphLaunch(e, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 201);
  CHECK(cudaGraphAddEmptyNode(&wrong_way, twin, nullptr, 0));
  EXPECT(cudaGraphExecUpdate(e, twin, &info) == cudaErrorGraphExecUpdateFailure && info.result == cudaGraphExecUpdateErrorTopologyChanged);

  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, g));
  CHECK(cudaGraphAddMemcpyNode1D(&copy_out, outer, &child, 1, &in[4], b, 4, cudaMemcpyDeviceToHost));
  cudaGraphExec_t whole;
  CHECK(cudaGraphInstantiate(&whole, outer, 0));
  CHECK(cudaGraphLaunch(whole, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(in[4] == 101 && out[0] == 101);

  // Pinned memory is filled when the operation runs.
  std::uint32_t* pinned;
  CHECK(cudaMallocHost(&pinned, 16));
  cudaGraph_t fills;
  CHECK(cudaGraphCreate(&fills, 0));
  m.dst = pinned;
  m.value = 0x12345678;
  m.width = 4;
  CHECK(cudaGraphAddMemsetNode(&fill, fills, nullptr, 0, &m));
  CHECK(cudaGraphInstantiate(&whole, fills, 0));
  CHECK(cudaGraphLaunch(whole, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 0x12345678 && pinned[3] == 0x12345678);

  // A cyclic graph cannot be instantiated.
  CHECK(cudaGraphAddDependencies(twin, &wrong_way, &found, nullptr, 1));
  CHECK(cudaGraphAddDependencies(twin, &found, &wrong_way, nullptr, 1));
  EXPECT(cudaGraphInstantiate(&whole, twin, 0) == cudaErrorInvalidValue);
  CHECK(cudaGraphExecDestroy(e));
  CHECK(cudaGraphDestroy(g));
  cudaGetLastError();
}

static void pools() {
  cudaMemPool_t pool, own;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = ~std::uint64_t{0}, used = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  float* p;
  CHECK(cudaMallocAsync(&p, 128, s));
  CHECK(cudaMemsetAsync(p, 0, 128, s));
  add<<<1, 32, 0, s>>>(p, 5);
  CHECK(cudaStreamSynchronize(s));
  EXPECT(read(p, 32) == std::vector<float>(32, 5));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 128);
  CHECK(cudaFreeAsync(p, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  CHECK(cudaMemPoolCreate(&own, &props));
  CHECK(cudaMallocFromPoolAsync(&p, 64, own, s));
  CHECK(cudaFree(p));
  CHECK(cudaMemPoolTrimTo(own, 0));
  CHECK(cudaMemPoolDestroy(own));

  // Memory of a graph: captured allocation, work, and free.
  float* result = device_floats(32);
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  float* inner;
  CHECK(cudaMallocAsync(&inner, 128, s));
  CHECK(cudaMemsetAsync(inner, 0, 128, s));
  add<<<1, 32, 0, s>>>(inner, 3);
  CHECK(cudaMemcpyAsync(result, inner, 128, cudaMemcpyDeviceToDevice, s));
  CHECK(cudaFreeAsync(inner, s));
  cudaGraph_t g;
  CHECK(cudaStreamEndCapture(s, &g));
  cudaGraphExec_t e;
  CHECK(cudaGraphInstantiate(&e, g, 0));
  for (int k = 0; k < 2; ++k) CHECK(cudaGraphLaunch(e, s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(read(result, 32) == std::vector<float>(32, 3));
  CHECK(cudaGraphExecDestroy(e));
  CHECK(cudaGraphDestroy(g));
}

int main(int, char** arguments) { return run_part({{"capture", capture}, {"graphs", graphs}, {"pools", pools}}, arguments[1]); }
