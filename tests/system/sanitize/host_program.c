/* SPDX-License-Identifier: MIT */
/* What --sanitize looks for between the operations of a host: streams, events, copies, memory that is never freed. The
 * argument names the case: those that begin with bad_ are wrong. */
#include "driver.h"

#include <unistd.h>

enum { words = 128, bytes = 4 * words };

int cuStreamWaitEvent(handle, handle, unsigned);
typedef struct {
  int type;
  union {
    struct {
      address memory;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    int reserved[32];
  } of;
  unsigned flags;
} resource;
typedef struct {
  int modes[3], filter;
  unsigned flags, anisotropy;
  int mipmap, rest[17];
} texture;
int cuTexObjectCreate(uint64_t*, const resource*, const texture*, const void*);
int cuTexObjectDestroy(uint64_t);
int cuLaunchCooperativeKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
                              void**);

static handle module, one, two;

static handle kernel(const char* name) {
  handle f;
  GOOD(cuModuleGetFunction(&f, module, name));
  return f;
}
static void fill(address to, unsigned value, handle stream) {
  void* arguments[] = {&to, &value};
  GOOD(cuLaunchKernel(kernel("fill"), 2, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
static void sum(address out, address in, handle stream) {
  void* arguments[] = {&out, &in};
  GOOD(cuLaunchKernel(kernel("sum"), 2, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
static void count(address counter, handle stream) {
  void* arguments[] = {&counter};
  GOOD(cuLaunchKernel(kernel("count"), 2, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
static void fill_bytes(address to, unsigned odd, handle stream) {
  void* arguments[] = {&to, &odd};
  GOOD(cuLaunchKernel(kernel("fill_bytes"), 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
static void fetch(address out, address in, handle stream) {
  resource r;
  texture t;
  uint64_t object;
  memset(&r, 0, sizeof r);
  memset(&t, 0, sizeof t);
  r.type = 2;
  r.of.linear.memory = in;
  r.of.linear.format = 3;
  r.of.linear.channels = 1;
  r.of.linear.bytes = bytes;
  t.flags = 1;
  GOOD(cuTexObjectCreate(&object, &r, &t, NULL));
  void* arguments[] = {&out, &object};
  GOOD(cuLaunchKernel(kernel("fetch"), 2, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}
static void note(void* seen) { *(volatile int*)seen = 1; }
/* Blocks of a cluster write each other's shared memory. */
static void cluster(address out, int bad) {
  handle clusters, f;
  unsigned words_of_blocks[words];
  void* arguments[] = {&out};
  GOOD(cuModuleLoad(&clusters, "clusters.ptx"));
  GOOD(cuModuleGetFunction(&f, clusters, bad ? "race_write_to_other" : "free_write_to_other"));
  GOOD(cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
  GOOD(cuMemcpyDtoH_v2(words_of_blocks, out, bytes));
  for (int k = 0; k < words && !bad; ++k) EXPECT(words_of_blocks[k], 63 - k % 64 + 3);
}
/* A launch whose blocks wait for each other, or whose memory of malloc the next one frees. */
static void grid(const char* name, address a, address b) {
  handle grids, f;
  void* arguments[] = {&a, &b};
  GOOD(cuModuleLoad(&grids, "grids.ptx"));
  if (strstr(name, "_lists") != NULL) {
    GOOD(cuModuleGetFunction(&f, grids, "make_lists"));
    GOOD(cuLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
  }
  GOOD(cuModuleGetFunction(&f, grids, name));
  GOOD(cuLaunchCooperativeKernel(f, 2, 1, 1, 64, 1, 1, 0, NULL, arguments));
  GOOD(cuCtxSynchronize());
}
static void after_event(handle first, handle second) {
  handle event;
  GOOD(cuEventCreate(&event, 0));
  GOOD(cuEventRecord(event, first));
  GOOD(cuStreamWaitEvent(second, event, 0));
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int bad = strncmp(what, "bad_", 4) == 0;
  const char* name = strchr(what, '_') ? strchr(what, '_') + 1 : what;
  handle context;
  address a, b, c;
  static unsigned host[words];
  void* pinned;
  GOOD(cuInit(0));
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  char* ptx = text_of("host_kernels.ptx");
  GOOD(cuModuleLoadData(&module, ptx));
  free(ptx);
  GOOD(cuStreamCreate(&one, 1));
  GOOD(cuStreamCreate(&two, strcmp(name, "default_stream") == 0 && !bad ? 0 : 1));
  GOOD(cuMemAlloc_v2(&a, bytes));
  GOOD(cuMemAlloc_v2(&b, bytes));
  GOOD(cuMemAlloc_v2(&c, bytes));
  GOOD(cuMemHostAlloc(&pinned, bytes, 0));
  memset(pinned, 1, bytes);
  memset(host, 1, bytes);
  GOOD(cuMemcpyHtoD_v2(a, host, bytes));

  if (strcmp(name, "grid_steps") == 0) {
    grid(bad ? "race_grid_steps" : "free_grid_steps", a, b);
  } else if (strcmp(name, "grid_arrival") == 0) {
    grid(bad ? "race_grid_arrival" : "free_grid_arrival", a, b);
  } else if (strcmp(name, "grid_in_place") == 0) {
    grid(bad ? "race_grid_in_place" : "free_grid_in_place", a, b);
  } else if (strcmp(name, "lists") == 0) {
    grid(bad ? "race_free_lists" : "free_free_lists", a, b);
  } else if (strcmp(name, "event") == 0) {
    fill(a, 3, one);
    if (!bad) after_event(one, two);
    sum(b, a, two);
  } else if (strcmp(name, "old_event") == 0) { /* recorded before the launch that it should be after */
    if (bad) after_event(one, two);
    fill(a, 3, one);
    if (!bad) after_event(one, two);
    sum(b, a, two);
  } else if (strcmp(name, "ended_event") == 0) { /* the event has long ended when the stream waits for it */
    handle event;
    GOOD(cuEventCreate(&event, 0));
    fill(a, 3, one);
    if (!bad) GOOD(cuEventRecord(event, one));
    GOOD(cuStreamSynchronize(two));
    fill(b, 1, two);
    for (int k = 0; k < 50; ++k) sum(c, b, two);
    if (!bad) GOOD(cuStreamWaitEvent(two, event, 0));
    sum(b, a, two);
  } else if (strcmp(name, "host_wait") == 0) {
    fill(a, 3, one);
    if (!bad) GOOD(cuStreamSynchronize(one));
    else GOOD(cuStreamSynchronize(two));
    sum(b, a, two);
  } else if (strcmp(name, "host_function") == 0) { /* of one stream, for which the program waits before it uses another */
    static volatile int seen;
    fill(a, 3, one);
    GOOD(cuLaunchHostFunc(one, note, (void*)&seen));
    while (!bad && seen == 0) usleep(1000);
    sum(b, a, two);
  } else if (strcmp(name, "query") == 0) {
    fill(a, 3, one);
    while (!bad && cuStreamQuery(one) != 0) usleep(1000);
    sum(b, a, two);
  } else if (strcmp(name, "write_after_read") == 0) {
    sum(b, a, one);
    if (!bad) after_event(one, two);
    fill(a, 3, two);
  } else if (strcmp(name, "chain") == 0) { /* by way of a third stream */
    handle three;
    GOOD(cuStreamCreate(&three, 1));
    fill(a, 3, one);
    after_event(one, three);
    fill(c, 3, three);
    if (!bad) after_event(three, two);
    sum(b, a, two);
  } else if (strcmp(name, "default_stream") == 0) { /* a stream that does not synchronise with the default one */
    fill(a, 3, NULL);
    sum(b, a, two);
  } else if (strcmp(name, "copy_out") == 0) {
    fill(a, 3, one);
    GOOD(cuMemcpyDtoHAsync_v2(pinned, a, bytes, bad ? two : one));
  } else if (strcmp(name, "copy_in") == 0) {
    GOOD(cuMemcpyHtoDAsync_v2(a, pinned, bytes, one));
    if (!bad) after_event(one, two);
    sum(b, a, two);
  } else if (strcmp(name, "fill") == 0) { /* the program does not wait for a fill */
    GOOD(cuMemsetD8_v2(a, 0, bytes));
    if (!bad) GOOD(cuStreamSynchronize(NULL));
    sum(b, a, two);
  } else if (strcmp(name, "counter") == 0) { /* atomics of both streams, or a read that is none */
    count(a, one);
    if (bad) sum(b, a, two);
    else count(a, two);
  } else if (strcmp(name, "bytes") == 0) { /* other bytes of the same words */
    fill_bytes(a, 0, one);
    fill_bytes(a, bad ? 0 : 1, two);
  } else if (strcmp(name, "texture") == 0) {
    fill(a, 3, one);
    if (!bad) after_event(one, two);
    fetch(b, a, two);
  } else if (strcmp(name, "cluster") == 0) {
    cluster(b, bad);
  } else if (strcmp(name, "unwritten_texture") == 0) {
    fetch(b, bad ? c : a, one);
  } else if (strcmp(name, "unwritten") == 0) {
    sum(b, bad ? c : a, one);
  } else if (strcmp(name, "short_memset") == 0) { /* a count of words instead of bytes */
    GOOD(cuMemsetD8_v2(c, 0, bad ? words : bytes));
    GOOD(cuStreamSynchronize(NULL));
    sum(b, c, one);
  } else if (strcmp(name, "cut_memset") == 0) { /* one byte is missing */
    GOOD(cuMemsetD8_v2(c, 0, bad ? bytes - 1 : bytes));
    GOOD(cuStreamSynchronize(NULL));
    sum(b, c, one);
  } else if (strcmp(name, "bounds") == 0) {
    fill(bad ? a + 8 : a, 3, one);
  } else if (strcmp(name, "freed") == 0) {
    if (bad) GOOD(cuMemFree_v2(c));
    fill(c, 3, one);
  }
  GOOD(cuStreamSynchronize(one));
  GOOD(cuStreamSynchronize(two));
  GOOD(cuStreamSynchronize(NULL));
  GOOD(cuMemFree_v2(a));
  GOOD(cuMemFree_v2(b));
  if (!bad || (strcmp(name, "leak") != 0 && strcmp(name, "freed") != 0)) GOOD(cuMemFree_v2(c));
  GOOD(cuMemFreeHost(pinned));
  puts("ran to its end");
  return 0;
}
