/* SPDX-License-Identifier: MIT */
/* The driver API: addresses are reserved, memory is made, and mapped there. */
#include "driver.h"

typedef struct {
  int type, handle_types, place, device;
  void* windows;
  unsigned char rest[8];
} properties;
typedef struct {
  int place, device;
  unsigned flags;
} access;
int cuMemCreate(uint64_t*, size_t, const properties*, unsigned long long);
int cuMemExportToShareableHandle(void*, uint64_t, int, unsigned long long);
int cuMemGetAccess(unsigned long long*, const int*, address);
int cuMemGetAllocationGranularity(size_t*, const properties*, int);
int cuMemGetAllocationPropertiesFromHandle(properties*, uint64_t);
int cuMemMap(address, size_t, size_t, uint64_t, unsigned long long);
int cuMemRelease(uint64_t);
int cuMemRetainAllocationHandle(uint64_t*, void*);
int cuMemSetAccess(address, size_t, const access*, size_t);
int cuMemUnmap(address, size_t);

enum { unit = 2 << 20, words = 3 * unit / 4 };
static const properties on_device = {1, 0, 1, 0, NULL, {0}};
static const access all_access = {1, 0, 3}, no_access = {1, 0, 0};

static void refuses_what_cuda_refuses(void) {
  const properties host = {1, 0, 2, 0, NULL, {0}}, other = {1, 0, 1, 1, NULL, {0}};
  size_t bytes = 0;
  address a = 0;
  uint64_t memory = 0, descriptor;
  EXPECT(cuMemGetAllocationGranularity(NULL, &on_device, 0), 1);
  EXPECT(cuMemGetAllocationGranularity(&bytes, NULL, 0), 1);
  EXPECT(cuMemGetAllocationGranularity(&bytes, &on_device, 2), 1);
  EXPECT(cuMemGetAllocationGranularity(&bytes, &other, 0), 101);
  EXPECT(cuMemAddressReserve(NULL, unit, 0, 0, 0), 1);
  EXPECT(cuMemAddressReserve(&a, unit + 1, 0, 0, 0), 1);
  EXPECT(cuMemAddressReserve(&a, unit, 3, 0, 0), 1);
  EXPECT(cuMemAddressReserve(&a, (size_t)1 << 60, 0, 0, 0), 2);
  EXPECT(cuMemCreate(&memory, 4096, &on_device, 0), 1);
  EXPECT(cuMemCreate(&memory, unit, &host, 0), 801);
  EXPECT(cuMemCreate(&memory, (size_t)1 << 40, &on_device, 0), 2);
  EXPECT(cuMemRelease(12345), 1);
  GOOD(cuMemCreate(&memory, unit, &on_device, 0));
  EXPECT(cuMemMap(unit, unit, 0, memory, 0), 1); /* not reserved */
  GOOD(cuMemAddressReserve(&a, 2 * unit, 0, 0, 0));
  EXPECT(cuMemSetAccess(a, unit, &all_access, 1), 1);
  EXPECT(cuMemMap(a, 2 * unit, 0, memory, 0), 1);
  EXPECT(cuMemMap(a, unit, unit, memory, 0), 1);
  EXPECT(cuMemMap(a + 2 * unit, unit, 0, memory, 0), 1);
  GOOD(cuMemMap(a, unit, 0, memory, 0));
  EXPECT(cuMemMap(a, unit, 0, memory, 0), 1);
  EXPECT(cuMemMap(a + unit, unit, 0, memory, 0), 801); /* twice: not modelled */
  EXPECT(cuMemExportToShareableHandle(&descriptor, memory, 1, 0), 801);
  EXPECT(cuMemSetAccess(a, 2 * unit, &all_access, 1), 1);
  EXPECT(cuMemFree_v2(a), 1);
  EXPECT(cuMemUnmap(a, 2 * unit), 1);
  EXPECT(cuMemAddressFree(a, 2 * unit), 1); /* there is a mapping */
  GOOD(cuMemUnmap(a, unit));
  EXPECT(cuMemUnmap(a, unit), 1);
  EXPECT(cuMemAddressFree(a, unit), 1);
  GOOD(cuMemAddressFree(a, 2 * unit));
  EXPECT(cuMemAddressFree(a, 2 * unit), 1);
  GOOD(cuMemRelease(memory));
  EXPECT(cuMemRelease(memory), 1);
}

static void scale(handle kernel, address p, int n) {
  void* arguments[] = {&p, &n};
  GOOD(cuLaunchKernel(kernel, (n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
}

int main(void) {
  static float values[words];
  handle context, module, kernel;
  size_t bytes = 0, before = 0, now = 0, total = 0;
  unsigned long long flags = 9;
  const int device[] = {1, 0};
  int able = 0;
  uint64_t one, two, again;
  properties p;
  address a, b, range;
  GOOD(cuInit(0));
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  GOOD(cuDeviceGetAttribute(&able, 102, 0));
  EXPECT(able, 1);
  GOOD(cuModuleLoad(&module, "driver_kernels.ptx"));
  GOOD(cuModuleGetFunction(&kernel, module, "scale"));
  const float factor = 2;
  GOOD(cuModuleGetGlobal_v2(&a, NULL, module, "factor"));
  GOOD(cuMemcpyHtoD_v2(a, &factor, sizeof factor));
  GOOD(cuMemGetInfo_v2(&before, &total));
  refuses_what_cuda_refuses();

  /* Two memories side by side are one to kernels and copies. */
  GOOD(cuMemGetAllocationGranularity(&bytes, &on_device, 1));
  EXPECT(bytes, unit);
  GOOD(cuMemAddressReserve(&a, 16 * (size_t)unit, 16 * (size_t)unit, 0, 0));
  EXPECT(a % (16 * (size_t)unit), 0);
  GOOD(cuMemCreate(&one, unit, &on_device, 0));
  GOOD(cuMemCreate(&two, 2 * unit, &on_device, 0));
  GOOD(cuMemGetInfo_v2(&now, &total));
  EXPECT(before - now, 3 * unit);
  GOOD(cuMemMap(a, unit, 0, one, 0));
  GOOD(cuMemMap(a + unit, 2 * unit, 0, two, 0));
  GOOD(cuMemGetAccess(&flags, device, a + unit));
  EXPECT(flags, 0);
  GOOD(cuMemSetAccess(a, 3 * unit, &all_access, 1));
  GOOD(cuMemGetAccess(&flags, device, a + 3 * unit - 1));
  EXPECT(flags, 3);
  for (int k = 0; k < words; ++k) values[k] = (float)k;
  GOOD(cuMemcpyHtoD_v2(a, values, sizeof values));
  scale(kernel, a + unit - 4096, 2048);
  GOOD(cuMemcpyDtoH_v2(values, a, sizeof values));
  for (int k = 0; k < words; ++k)
    EXPECT(values[k] == (k >= unit / 4 - 1024 && k < unit / 4 + 1024 ? 2.0f : 1.0f) * (float)k, 1);
  GOOD(cuMemGetAddressRange_v2(&range, &bytes, a + unit + 5));
  EXPECT(range == a && bytes == 3 * unit, 1);

  /* A memory keeps its bytes when it is mapped elsewhere, and lives as long as a handle or a mapping does. */
  GOOD(cuMemRetainAllocationHandle(&again, (void*)(a + 2 * unit)));
  EXPECT(again == two, 1);
  GOOD(cuMemGetAllocationPropertiesFromHandle(&p, again));
  EXPECT(memcmp(&p, &on_device, sizeof p), 0);
  GOOD(cuMemRelease(two));
  GOOD(cuMemUnmap(a + unit, 2 * unit));
  GOOD(cuMemAddressReserve(&b, 2 * unit, 0, 0, 0));
  GOOD(cuMemMap(b, 2 * unit, 0, two, 0));
  GOOD(cuMemSetAccess(b, 2 * unit, &all_access, 1));
  GOOD(cuMemRelease(two));
  memset(values, 0, sizeof values);
  scale(kernel, b, 1024);
  GOOD(cuMemcpyDtoH_v2(values, b, 2 * unit));
  for (int k = 0; k < 2 * unit / 4; ++k) EXPECT(values[k] == (k < 1024 ? 4.0f : 1.0f) * (float)(k + unit / 4), 1);
  GOOD(cuMemGetInfo_v2(&now, &total));
  EXPECT(before - now, 3 * unit);
  GOOD(cuMemUnmap(b, 2 * unit));
  GOOD(cuMemAddressFree(b, 2 * unit));
  GOOD(cuMemGetInfo_v2(&now, &total));
  EXPECT(before - now, unit);

  /* What is not accessible any more is a fault. */
  scale(kernel, a, 1024);
  GOOD(cuCtxSynchronize());
  GOOD(cuMemSetAccess(a, unit, &no_access, 1));
  scale(kernel, a, 1024);
  EXPECT(cuCtxSynchronize(), 700);
  puts("all is well");
  return 0;
}
