/* SPDX-License-Identifier: MIT */
/* The driver API: kernels from PTX, launched in all ways, with copies, fills, streams and events. */
#include "driver.h"

enum { count = 1000, bytes = 4 * count };

static void note(void* times) { ++*(int*)times; }

int main(void) {
  handle context, module, scale, add;
  GOOD(cuInit(0));
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  char* ptx = text_of("driver_kernels.ptx");
  GOOD(cuModuleLoadData(&module, ptx));
  memset(ptx, 'x', 1000); /* the module has its own copy */
  GOOD(cuModuleGetFunction(&scale, module, "scale"));
  GOOD(cuModuleGetFunction(&add, module, "add"));

  address factor, counter, a, b, c;
  size_t size = 0;
  const float two = 2;
  GOOD(cuModuleGetGlobal_v2(&factor, &size, module, "factor"));
  EXPECT(size, 4);
  GOOD(cuMemcpyHtoD_v2(factor, &two, sizeof two));
  GOOD(cuModuleGetGlobal_v2(&counter, NULL, module, "counter"));

  static float host[count];
  for (int k = 0; k < count; ++k) host[k] = (float)k;
  GOOD(cuMemAlloc_v2(&a, bytes));
  GOOD(cuMemAlloc_v2(&b, bytes));
  GOOD(cuMemAlloc_v2(&c, bytes));
  GOOD(cuMemcpyHtoD_v2(a, host, bytes));

  /* Arguments as an array of pointers, as a buffer, with a launch configuration, and in the style before CUDA 4. */
  int n = count;
  void* arguments[] = {&a, &n};
  GOOD(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
  struct {
    address x;
    int n;
  } area = {a, count};
  size_t area_bytes = 12; /* without the padding at its end */
  void* extra[] = {(void*)1, &area, (void*)2, &area_bytes, NULL};
  GOOD(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
  launch_config config = {{8, 1, 1}, {128, 1, 1}, 0, NULL, NULL, 0};
  struct {
    int id;
    char pad[4];
    int value[16];
  } programmatic = {6, "", {1}}; /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */
  config.attributes = &programmatic;
  config.attribute_count = 1;
  GOOD(cuLaunchKernelEx(&config, scale, arguments, NULL));
  GOOD(cuFuncSetBlockShape(scale, 128, 1, 1));
  GOOD(cuParamSetv(scale, 0, &a, 8));
  GOOD(cuParamSeti(scale, 8, count));
  GOOD(cuParamSetSize(scale, 12));
  GOOD(cuLaunchGrid(scale, 8, 1));
  GOOD(cuMemcpyDtoH_v2(host, a, bytes));
  for (int k = 0; k < count; ++k) EXPECT(host[k], 16 * k);
  unsigned times = 0;
  GOOD(cuMemcpy((address)&times, counter, sizeof times)); /* the pointers determine the direction */
  EXPECT(times, 100 + 4 * count);

  /* Invalid launches. */
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL), 1);
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL), 1);
  EXPECT(cuLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, extra), 1);
  area_bytes = sizeof area; /* more than the kernel has parameters */
  EXPECT(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra), 701);
  EXPECT(cuLaunchKernel(&n, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL), 400);

  /* A stream, with a host function between two events. */
  handle stream, begin, end;
  void* pinned = NULL;
  int noted = 0;
  float milliseconds = 0;
  GOOD(cuStreamCreate(&stream, 1));
  GOOD(cuEventCreate(&begin, 0));
  GOOD(cuEventCreate(&end, 0));
  GOOD(cuMemHostAlloc(&pinned, bytes, 0));
  for (int k = 0; k < count; ++k) ((float*)pinned)[k] = 3;
  void* three[] = {&a, &b, &c, &n};
  GOOD(cuEventRecord(begin, stream));
  GOOD(cuMemcpyHtoDAsync_v2(b, pinned, bytes, stream));
  GOOD(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, three, NULL));
  GOOD(cuLaunchHostFunc(stream, note, &noted));
  GOOD(cuMemcpyDtoHAsync_v2(pinned, c, bytes, stream));
  GOOD(cuEventRecord(end, stream));
  GOOD(cuEventSynchronize(end));
  GOOD(cuStreamQuery(stream));
  for (int k = 0; k < count; ++k) EXPECT(((float*)pinned)[k], 16 * k + 3);
  EXPECT(noted, 1);
  GOOD(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds > 0, 1);
  GOOD(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, (handle)2, three, NULL)); /* the per-thread default stream */
  GOOD(cuStreamSynchronize_ptsz(NULL));
  GOOD(cuStreamDestroy_v2(stream));
  GOOD(cuEventDestroy_v2(begin));
  EXPECT(cuEventDestroy_v2(begin), 400);
  GOOD(cuMemFreeHost(pinned));

  /* Fills of each width, and fills of boxes. */
  GOOD(cuMemsetD8_v2(a, 0x5a, 4));
  GOOD(cuMemsetD16_v2(a + 4, 0x1234, 2));
  GOOD(cuMemsetD32_v2(a + 8, 0x89abcdef, 2));
  unsigned words[64] = {0};
  GOOD(cuMemcpyDtoH_v2(words, a, 16));
  EXPECT(words[0] == 0x5a5a5a5au && words[1] == 0x12341234u && words[2] == 0x89abcdefu && words[3] == 0x89abcdefu, 1);
  EXPECT(cuMemsetD32_v2(a + 2, 0, 1), 1);
  address pitched;
  size_t pitch = 0;
  GOOD(cuMemAllocPitch_v2(&pitched, &pitch, 24, 4, 4));
  EXPECT(pitch >= 24, 1);
  GOOD(cuMemsetD2D32_v2(pitched, pitch, 7, 6, 4));
  for (int k = 0; k < 64; ++k) words[k] = 100 + k;
  copy_2d box = {.from_x = 4, .from_y = 1, .from_type = 1, .from_host = words, .from_pitch = 32,
                 .to_x = 8, .to_type = 2, .to_device = pitched, .to_pitch = pitch, .width = 8, .height = 2};
  GOOD(cuMemcpy2D_v2(&box));
  unsigned back[4][6] = {{0}};
  copy_3d out = {.from_type = 2, .from_device = pitched, .from_pitch = pitch,
                 .to_type = 4, .to_device = (address)back, .to_pitch = 24, .width = 24, .height = 4, .depth = 1};
  handle stream_of_batches;
  GOOD(cuStreamCreate(&stream_of_batches, 1));
  GOOD(cuMemcpy3D_v2(&out));
  EXPECT(back[0][1] == 7 && back[0][2] == 109 && back[0][3] == 110 && back[1][2] == 117 && back[1][4] == 7 && back[2][2] == 7, 1);

  /* Copies between devices, of which there is one, and several copies in one call. */
  memset(back, 0, sizeof back);
  GOOD(cuMemcpy3DPeer(&out));
  EXPECT(back[0][1] == 7 && back[0][2] == 109, 1);
  memset(back, 0, sizeof back);
  GOOD(cuMemcpy3DPeerAsync(&out, stream_of_batches));
  address targets[] = {a, a + 8}, sources[] = {(address)words, (address)(words + 8)};
  size_t sizes[] = {8, 4}, firsts[] = {0};
  int order[12] = {1}; /* as the stream orders the copies */
  GOOD(cuMemcpyBatchAsync_v2(targets, sources, sizes, 2, order, firsts, 1, stream_of_batches));
  GOOD(cuStreamSynchronize(stream_of_batches));
  EXPECT(back[1][2] == 117, 1);
  GOOD(cuMemcpyDtoH_v2(back, a, 12));
  EXPECT(back[0][0] == 100 && back[0][1] == 101 && back[0][2] == 108, 1);
  EXPECT(cuMemcpyBatchAsync_v2(targets, sources, sizes, 0, order, firsts, 1, stream_of_batches), 1);
  GOOD(cuStreamDestroy_v2(stream_of_batches));

  /* Pointer attributes. */
  address at = 0;
  unsigned kind = 0;
  handle owner = NULL;
  GOOD(cuMemGetAddressRange_v2(&at, &size, b + 100));
  EXPECT(at == b && size == bytes, 1);
  GOOD(cuPointerGetAttribute(&kind, 2, counter));
  EXPECT(kind, 2);
  GOOD(cuPointerGetAttribute(&owner, 1, b));
  EXPECT(owner == context, 1);
  EXPECT(cuPointerGetAttribute(&kind, 2, (address)words), 1);

  /* Kernel attributes. */
  int value = 0, grid = 0, block = 0;
  size_t offset = 0;
  GOOD(cuFuncGetAttribute(&value, 4, scale));
  EXPECT(value > 0, 1);
  GOOD(cuFuncGetParamInfo(scale, 1, &offset, &size));
  EXPECT(offset == 8 && size == 4, 1);
  EXPECT(cuFuncGetParamInfo(scale, 2, &offset, &size), 1);
  GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, scale, 1024, 0));
  EXPECT(value, 2);
  GOOD(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, NULL, 0, 0));
  EXPECT(grid == 160 && block == 1024, 1);
  EXPECT(cuMemFree_v2(b + 1), 1);
  GOOD(cuMemFree_v2(b));
  EXPECT(cuMemFree_v2(b), 1);
  puts("all is well");
  return 0;
}
