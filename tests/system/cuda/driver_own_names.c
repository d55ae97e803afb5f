/* SPDX-License-Identifier: MIT */
/* A program with functions of the C library's names: those that Heddle's library calls stay the C library's. */
#include "driver.h"

#define OWN(name)                               \
  int name(void) {                              \
    fprintf(stderr, "the program's %s\n", #name); \
    return -1;                                  \
  }

OWN(socket)
OWN(socketpair)
OWN(connect)
OWN(send)
OWN(recv)
OWN(poll)
OWN(open)
OWN(openat)
OWN(fcntl)
OWN(ioctl)
OWN(close)
OWN(read)
OWN(write)
OWN(sendfile)
OWN(dup2)
OWN(truncate)
OWN(ftruncate)
OWN(stat)
OWN(lstat)
OWN(fstat)
OWN(access)
OWN(chdir)
OWN(mkdir)
OWN(link)
OWN(symlink)
OWN(readlink)
OWN(unlinkat)
OWN(munmap)
OWN(mprotect)
OWN(msync)
OWN(madvise)
OWN(getpid)
OWN(setsid)
OWN(waitpid)
OWN(nanosleep)

int main(void) {
  handle context, module, function;
  int device;
  unsigned value = 0;
  address memory;
  GOOD(cuInit(0));
  GOOD(cuDeviceGet(&device, 0));
  GOOD(cuCtxCreate_v2(&context, 0, device));
  GOOD(cuModuleLoadData(&module, ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
                                 "{ .reg .b64 a; ld.param.u64 a, [p]; st.global.u32 [a], 42; ret; }\n"));
  GOOD(cuModuleGetFunction(&function, module, "k"));
  GOOD(cuMemAlloc_v2(&memory, 1 << 20));
  void* arguments[] = {&memory};
  GOOD(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  GOOD(cuCtxSynchronize());
  GOOD(cuMemcpyDtoH_v2(&value, memory, sizeof value));
  EXPECT(value, 42);
  GOOD(cuMemFree_v2(memory));
  GOOD(cuModuleUnload(module));
  GOOD(cuCtxDestroy_v2(context));
  printf("all is well\n");
  return 0;
}
