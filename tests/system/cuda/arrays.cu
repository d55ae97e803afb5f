// SPDX-License-Identifier: MIT
// A CUDA program about arrays, textures, surfaces, graphs and pools. Each part checks what it has computed: exit code 0 if all is right.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t e_ = (call);                                                                    \
    if (e_ != cudaSuccess) std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(e_)), ++wrong; \
  } while (0)
#define EXPECT(condition) \
  do {                    \
    if (!(condition)) std::printf("line %d: not so: %s\n", __LINE__, #condition), ++wrong; \
  } while (0)

static int wrong = 0;

template <class T>
__global__ void sample(cudaTextureObject_t t, float x0, float dx, float y, float* out) {
  out[threadIdx.x] = static_cast<float>(tex2D<T>(t, x0 + dx * threadIdx.x, y));
}
__global__ void sample_1d(cudaTextureObject_t t, int first, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, first + threadIdx.x); }
__global__ void sample_3d(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex3D<float>(t, threadIdx.x + 0.5f, 1.5f, 2.5f); }
__global__ void sample_layer(cudaTextureObject_t t, int layer, float* out) { out[threadIdx.x] = tex2DLayered<float4>(t, threadIdx.x + 0.5f, 1.5f, layer).z; }
__global__ void write_surface(cudaSurfaceObject_t s, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width) surf2Dwrite(100 * y + x, s, x * 4, y);
}
__global__ void add(float* a, float v) { a[threadIdx.x] += v; }
__global__ void scale(float* a, float v) { a[threadIdx.x] *= v; }
__global__ void sum(const float* a, const float* b, float* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

static std::vector<float> numbers(int n) {
  std::vector<float> v(n);
  for (int k = 0; k < n; ++k) v[k] = static_cast<float>(k);
  return v;
}

static float* device_floats(int n) {
  float* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(float)));
  CHECK(cudaMemset(p, 0, n * sizeof(float)));
  return p;
}
static std::vector<float> read(const float* p, int n) {
  std::vector<float> v(n);
  CHECK(cudaMemcpy(v.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost));
  return v;
}

static void arrays() {
  const int w = 7, h = 5, d = 3;
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t a, b, c;
  CHECK(cudaMallocArray(&a, &format, w, h));
  CHECK(cudaMallocArray(&b, &format, w, h));
  CHECK(cudaMalloc3DArray(&c, &format, make_cudaExtent(w, h, d), 0));
  cudaChannelFormatDesc told;
  cudaExtent extent;
  unsigned flags = 9;
  CHECK(cudaArrayGetInfo(&told, &extent, &flags, c));
  EXPECT(told.x == 32 && told.y == 0 && told.f == cudaChannelFormatKindFloat && extent.width == w && extent.height == h && extent.depth == d && flags == 0);

  const auto in = numbers(w * h * d);
  std::vector<float> out(w * h * d, -1);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, w * 4, h, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(out.data(), 3 * 4, b, 2 * 4, 1, 3 * 4, 2, cudaMemcpyDeviceToHost));
  const float expected[6] = {9, 10, 11, 16, 17, 18};
  EXPECT(std::memcmp(out.data(), expected, sizeof expected) == 0);

  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), w * 4, w, h);
  p.dstArray = c;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  p = {};
  p.srcArray = c;
  p.srcPos = make_cudaPos(1, 1, 1);
  p.dstPtr = make_cudaPitchedPtr(out.data(), 2 * 4, 2, 2);
  p.extent = make_cudaExtent(2, 2, 2);
  p.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&p));
  const float box[8] = {43, 44, 50, 51, 78, 79, 85, 86};
  EXPECT(std::memcmp(out.data(), box, sizeof box) == 0);

  EXPECT(cudaMemcpy2DToArray(a, 4, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  p.srcPos = make_cudaPos(6, 0, 0);
  EXPECT(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
  const auto three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t none;
  EXPECT(cudaMallocArray(&none, &three, w, h) == cudaErrorInvalidChannelDescriptor);
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
  CHECK(cudaFreeArray(c));
  EXPECT(cudaArrayGetInfo(&told, &extent, &flags, c) != cudaSuccess);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

static cudaTextureObject_t texture(const cudaResourceDesc& r, const std::function<void(cudaTextureDesc&)>& set, cudaError_t expected = cudaSuccess) {
  cudaTextureDesc s = {};
  for (auto& m : s.addressMode) m = cudaAddressModeClamp;
  set(s);
  cudaTextureObject_t t = 0;
  EXPECT(cudaCreateTextureObject(&t, &r, &s, nullptr) == expected);
  return t;
}
static cudaResourceDesc of_array(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

static void textures() {
  float* out = device_floats(32);
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  CHECK(cudaMallocArray(&a, &format, 4, 4));
  const auto in = numbers(64);
  CHECK(cudaMemcpy2DToArray(a, 0, 0, in.data(), 16, 16, 4, cudaMemcpyHostToDevice));
  const auto point = texture(of_array(a), [](cudaTextureDesc&) {});
  sample<float><<<1, 6>>>(point, -0.5f, 1, 1.5f, out);
  EXPECT((read(out, 6) == std::vector<float>{4, 4, 5, 6, 7, 7}));
  const auto linear = texture(of_array(a), [](cudaTextureDesc& s) {
    s.filterMode = cudaFilterModeLinear;
    s.normalizedCoords = 1;
    s.addressMode[0] = s.addressMode[1] = cudaAddressModeWrap;
  });
  sample<float><<<1, 3>>>(linear, 0.25f, 0.25f, 0.125f, out);
  EXPECT((read(out, 3) == std::vector<float>{0.5f, 1.5f, 2.5f}));
  const auto border = texture(of_array(a), [](cudaTextureDesc& s) { s.addressMode[0] = cudaAddressModeBorder; });
  sample<float><<<1, 6>>>(border, -0.5f, 1, 1.5f, out);
  EXPECT((read(out, 6) == std::vector<float>{0, 4, 5, 6, 7, 0}));
  cudaResourceDesc told;
  cudaTextureDesc settings;
  CHECK(cudaGetTextureObjectResourceDesc(&told, linear));
  CHECK(cudaGetTextureObjectTextureDesc(&settings, linear));
  EXPECT(told.resType == cudaResourceTypeArray && told.res.array.array == a && settings.filterMode == cudaFilterModeLinear && settings.normalizedCoords == 1);

  // Rows with gaps, bytes read as floats.
  unsigned char* rows;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, 5, 3));
  const unsigned char bytes[15] = {0, 51, 102, 153, 204, 255, 0, 51, 102, 153, 204, 255, 0, 51, 102};
  CHECK(cudaMemcpy2D(rows, pitch, bytes, 5, 5, 3, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = rows;
  r.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  r.res.pitch2D.width = 5;
  r.res.pitch2D.height = 3;
  r.res.pitch2D.pitchInBytes = pitch;
  const auto normalized = texture(r, [](cudaTextureDesc& s) { s.readMode = cudaReadModeNormalizedFloat; });
  sample<float><<<1, 5>>>(normalized, 0.5f, 1, 2.5f, out);
  EXPECT((read(out, 5) == std::vector<float>{0.8f, 1, 0, 0.2f, 0.4f}));
  const auto whole = texture(r, [](cudaTextureDesc&) {});
  sample<unsigned char><<<1, 5>>>(whole, 0.5f, 1, 1.5f, out);
  EXPECT((read(out, 5) == std::vector<float>{255, 0, 51, 102, 153}));
  texture(r, [](cudaTextureDesc& s) { s.filterMode = cudaFilterModeLinear; }, cudaErrorInvalidFilterSetting);

  float* line = device_floats(8);
  CHECK(cudaMemcpy(line, in.data(), 32, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = line;
  r.res.linear.desc = format;
  r.res.linear.sizeInBytes = 32;
  const auto fetched = texture(r, [](cudaTextureDesc&) {});
  sample_1d<<<1, 4>>>(fetched, 6, out);
  EXPECT((read(out, 4) == std::vector<float>{6, 7, 0, 0}));

  cudaArray_t cube, layers;
  CHECK(cudaMalloc3DArray(&cube, &format, make_cudaExtent(4, 4, 4), 0));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), 16, 4, 4);
  p.dstArray = cube;
  p.extent = make_cudaExtent(4, 4, 4);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  sample_3d<<<1, 4>>>(texture(of_array(cube), [](cudaTextureDesc&) {}), out);
  EXPECT((read(out, 4) == std::vector<float>{36, 37, 38, 39}));
  const auto quads = cudaCreateChannelDesc<float4>();
  CHECK(cudaMalloc3DArray(&layers, &quads, make_cudaExtent(2, 2, 4), cudaArrayLayered));
  p.srcPtr = make_cudaPitchedPtr(const_cast<float*>(in.data()), 32, 2, 2);
  p.dstArray = layers;
  p.extent = make_cudaExtent(2, 2, 4);
  CHECK(cudaMemcpy3D(&p));
  sample_layer<<<1, 2>>>(texture(of_array(layers), [](cudaTextureDesc&) {}), 2, out);
  EXPECT((read(out, 2) == std::vector<float>{42, 46}));
  CHECK(cudaDestroyTextureObject(point));
  EXPECT(cudaDestroyTextureObject(point) == cudaErrorInvalidValue);
  cudaGetLastError();
}

static void surfaces() {
  const int w = 6, h = 3;
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t a;
  CHECK(cudaMallocArray(&a, &format, w, h, cudaArraySurfaceLoadStore));
  const cudaResourceDesc r = of_array(a);
  cudaSurfaceObject_t s;
  CHECK(cudaCreateSurfaceObject(&s, &r));
  write_surface<<<h, 32>>>(s, w);
  int out[w * h];
  CHECK(cudaMemcpy2DFromArray(out, w * 4, a, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
  for (int k = 0; k < w * h; ++k) EXPECT(out[k] == 100 * (k / w) + k % w);
  CHECK(cudaDestroySurfaceObject(s));
}

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
  CHECK(cudaGraphLaunch(e, other));   // behind the first one, though in another stream
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
  v = 7;          // was read when the node was made
  in[3] = 1000;   // is read when the node runs
  CHECK(cudaGraphLaunch(e, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 101 && out[3] == 1101 && out[31] == 132 && calls == 2);

  // Another value for the graph made ready; the graph itself stays.
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

  // A circle cannot be launched.
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

int main(int, char** arguments) {
  const std::map<std::string, void (*)()> parts = {{"arrays", arrays},   {"textures", textures}, {"surfaces", surfaces},
                                                   {"capture", capture}, {"graphs", graphs},     {"pools", pools}};
  parts.at(arguments[1])();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetLastError());
  std::puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
