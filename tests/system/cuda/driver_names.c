/* SPDX-License-Identifier: MIT */
/* The driver API: lookup of functions by name, missing functions, NVIDIA's private tables. */
#include <dlfcn.h>
#include <unistd.h>

#include "driver.h"

int main(void) {
  void *one = dlopen("libcuda.so.1", RTLD_NOW), *other = dlopen("libcuda.so", RTLD_NOW);
  EXPECT(one != NULL && other != NULL && dlsym(one, "cuInit") == (void*)cuInit && dlsym(other, "cuInit") == (void*)cuInit, 1);
  void* f = NULL;
  int status = -1;
  GOOD(cuGetProcAddress_v2("cuMemAlloc", &f, 13000, 0, &status));
  EXPECT(f == (void*)cuMemAlloc_v2 && status == 0, 1);
  GOOD(cuGetProcAddress_v2("cuStreamSynchronize", &f, 13000, 2, &status));
  EXPECT(f == (void*)cuStreamSynchronize_ptsz, 1);
  GOOD(cuGetProcAddress_v2("cuCtxCreate", &f, 11030, 0, &status));
  EXPECT(f == (void*)cuCtxCreate_v2, 1); /* the version of CUDA 11.3 */
  GOOD(cuGetProcAddress_v2("cuNothing", &f, 13000, 0, &status));
  EXPECT(f == NULL && status == 1, 1);
  GOOD(cuGetProcAddress_v2("cuLibraryLoadData", &f, 11000, 0, &status));
  EXPECT(status, 2);
  GOOD(cudaGetDriverEntryPointByVersion("cuMemFree", &f, 12000, 0, &status));
  EXPECT(f == (void*)cuMemFree_v2 && status == 0, 1);
  GOOD(cudaGetDriverEntryPointByVersion("cuNothing", &f, 12000, 0, &status));
  EXPECT(f == NULL && status == 1, 1);
  const void* table = &status;
  unsigned char id[16] = {0x6b};
  EXPECT(cuGetExportTable(&table, NULL), 1);
  /* Of NVRTC, which can do without: no line. */
  unsigned char of_compiler[16] = {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41, 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28};
  const long before = lseek(2, 0, SEEK_END);
  EXPECT(cuGetExportTable(&table, of_compiler), 500);
  EXPECT(lseek(2, 0, SEEK_END) == before, 1);
  EXPECT(cuGetExportTable(&table, id), 500);
  EXPECT(cuGetExportTable(&table, id), 500);
  EXPECT(lseek(2, 0, SEEK_END) > before && table == NULL, 1);
  GOOD(cuInit(0));
  puts("all is well");
  fflush(stdout);
  handle group;
  cuMulticastCreate(&group, NULL);
  return 1;
}
