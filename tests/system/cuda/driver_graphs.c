/* SPDX-License-Identifier: MIT */
/* The driver API: a captured stream as a graph, an added node, pools, arrays. */
#include "driver.h"

enum { count = 256, bytes = 4 * count };

int main(void) {
  handle context, module, scale, stream, graph, ready, node;
  address factor, a;
  float two = 2, host[count];
  int n = count, status = 9;
  size_t nodes = 0;
  GOOD(cuInit(0));
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  GOOD(cuModuleLoad(&module, "driver_kernels.ptx"));
  GOOD(cuModuleGetFunction(&scale, module, "scale"));
  GOOD(cuModuleGetGlobal_v2(&factor, NULL, module, "factor"));
  GOOD(cuMemcpyHtoD_v2(factor, &two, sizeof two));
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuMemAllocAsync(&a, bytes, stream));
  for (int k = 0; k < count; ++k) host[k] = (float)k;
  GOOD(cuMemcpyHtoD_v2(a, host, bytes));

  void* arguments[] = {&a, &n};
  GOOD(cuStreamBeginCapture_v2(stream, 0));
  GOOD(cuStreamIsCapturing(stream, &status));
  EXPECT(status, 1);
  GOOD(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  GOOD(cuStreamEndCapture(stream, &graph));
  /* A kernel may be given instead of a function: the structure since CUDA 12. */
  struct {
    handle function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    handle kernel, owner;
  } more = {NULL, {2, 1, 1}, {128, 1, 1}, 0, arguments, NULL, scale, NULL};
  handle first;
  nodes = 1;
  GOOD(cuGraphGetNodes(graph, &first, &nodes));
  EXPECT(nodes, 1);
  GOOD(cuGraphAddKernelNode_v2(&node, graph, &first, 1, &more));
  GOOD(cuGraphInstantiateWithFlags(&ready, graph, 0));
  GOOD(cuGraphLaunch(ready, stream));
  GOOD(cuGraphLaunch(ready, stream));
  GOOD(cuStreamSynchronize(stream));
  GOOD(cuMemcpyDtoH_v2(host, a, bytes));
  for (int k = 0; k < count; ++k) EXPECT(host[k], 16 * k);
  GOOD(cuGraphExecDestroy(ready));
  GOOD(cuGraphDestroy(graph));

  handle pool, array;
  GOOD(cuDeviceGetDefaultMemPool(&pool, 0));
  GOOD(cuMemFreeAsync(a, stream));

  struct {
    size_t width, height;
    int format;
    unsigned channels;
  } wanted = {8, 4, 0x20, 2}, got;
  GOOD(cuArrayCreate_v2(&array, &wanted));
  memset(&got, 0, sizeof got);
  GOOD(cuArrayGetDescriptor_v2(&got, array));
  EXPECT(got.width == 8 && got.height == 4 && got.format == 0x20 && got.channels == 2, 1);
  float back[2][4] = {{0}};
  copy_2d in = {.from_type = 1, .from_host = host, .from_pitch = 64, .to_type = 3, .to_array = array, .width = 64, .height = 4};
  copy_2d out = {.from_x = 8, .from_y = 1, .from_type = 3, .from_array = array, .to_type = 1, .to_host = back, .to_pitch = 16, .width = 16, .height = 2};
  GOOD(cuMemcpy2D_v2(&in));
  GOOD(cuMemcpy2D_v2(&out));
  EXPECT(back[0][0] == host[18] && back[0][3] == host[21] && back[1][0] == host[34], 1);
  out.from_x = 56;
  EXPECT(cuMemcpy2D_v2(&out), 1);
  GOOD(cuArrayDestroy(array));
  EXPECT(cuArrayDestroy(array), 400);
  puts("all is well");
  return 0;
}
