/* SPDX-License-Identifier: MIT */
/* The driver API: images that can be loaded, and messages for those that cannot. */
#include "driver.h"

/* A kernel that needs 64 values at once, and after it one with bounds of its own. */
static void limits_of_registers(void) {
  static char text[8000];
  int at = snprintf(text, sizeof text,
                    ".version 7.0\n.target sm_70\n.address_size 64\n// .entry none {\n.visible .entry wide(.param .u64 p)\n{\n"
                    ".reg .b64 %%a;\n.reg .b32 %%v<64>;\nld.param.u64 %%a, [p];\n");
  for (int k = 0; k < 64; ++k) at += snprintf(text + at, sizeof text - at, "ld.global.u32 %%v%d, [%%a+%d];\n", k, 4 * k);
  at += snprintf(text + at, sizeof text - at, "bar.sync 0;\n");
  for (int k = 0; k < 64; ++k) at += snprintf(text + at, sizeof text - at, "st.global.u32 [%%a+%d], %%v%d;\n", 4 * (63 - k), k);
  char* body = strstr(text, "\n{\n");
  char* own = malloc(2 * sizeof text);
  snprintf(own, 2 * sizeof text, "%sret;\n}\n.visible .entry own(.param .u64 p) .maxntid 32%sret;\n}\n", text, body);
  handle module, function, link;
  int limit = 0, value = 0;
  void* most = (void*)32;
  void* image = NULL;
  size_t bytes = 0;
  GOOD(cuModuleLoadData(&module, own));
  GOOD(cuModuleGetFunction(&function, module, "wide"));
  GOOD(cuFuncGetAttribute(&value, 4, function));
  EXPECT(value > 64, 1);
  for (int linked = 0; linked < 2; ++linked) {
    if (linked) {
      GOOD(cuLinkCreate_v2(1, &limit, &most, &link));
      GOOD(cuLinkAddData_v2(link, 1, own, strlen(own), "own", 0, NULL, NULL));
      GOOD(cuLinkComplete(link, &image, &bytes));
      GOOD(cuModuleLoadData(&module, image));
    } else {
      GOOD(cuModuleLoadDataEx(&module, own, 1, &limit, &most));
    }
    GOOD(cuModuleGetFunction(&function, module, "wide"));
    GOOD(cuFuncGetAttribute(&value, 4, function));
    EXPECT(value <= 32, 1);
    GOOD(cuFuncGetAttribute(&value, 3, function)); /* local memory: what does not fit */
    EXPECT(value > 0, 1);
    unsigned words[64];
    address p;
    for (unsigned k = 0; k < 64; ++k) words[k] = k;
    GOOD(cuMemAlloc_v2(&p, sizeof words));
    GOOD(cuMemcpyHtoD_v2(p, words, sizeof words));
    void* arguments[] = {&p};
    GOOD(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    GOOD(cuMemcpyDtoH_v2(words, p, sizeof words));
    for (unsigned k = 0; k < 64; ++k) EXPECT(words[k], 63 - k);
    GOOD(cuModuleGetFunction(&function, module, "own"));
    GOOD(cuFuncGetAttribute(&value, 4, function));
    EXPECT(value > 64, 1);
  }
  free(own);
}

/* Blocks of a cooperative grid meet by functions of the device runtime: each adds to the sum of all the ranks and reads it
   after that. out: {handle of several GPUs, its synchronisation's status, threads, grids, sum of statuses, sums...}. */
static const char groups[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 a, .param .b32 b);\n"
    ".extern .func (.param .b32 r) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 c);\n"
    ".extern .func (.param .b32 r) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 c);\n"
    ".visible .entry meet(.param .u64 out) {\n"
    ".reg .pred %first;\n.reg .b32 %r<9>;\n.reg .b64 %out, %h, %none, %zero, %own, %at;\n.local .align 4 .b32 rank;\n"
    "ld.param.u64 %out, [out];\nmov.b64 %zero, 0;\nmov.u64 %own, rank;\ncvta.local.u64 %own, %own;\n"
    "{ .param .b32 a; .param .b64 r; st.param.b32 [a], 1; call (r), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %h, [r]; }\n"
    "{ .param .b32 a; .param .b64 r; st.param.b32 [a], 2; call (r), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %none, [r]; }\n"
    "{ .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 r; st.param.b64 [a], %own; st.param.b64 [b], %zero; "
    "st.param.b64 [c], %h; call (r), cudaCGGetRank, (a, b, c); ld.param.b32 %r4, [r]; }\n"
    "ld.u32 %r0, [%own];\nsetp.eq.u32 %first, %r0, 0;\n"
    "atom.global.add.u32 %r1, [%out+20], %r0;\n"
    "{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %h; st.param.b32 [b], 0; call (r), cudaCGSynchronize, "
    "(a, b); ld.param.b32 %r2, [r]; }\nadd.u32 %r4, %r4, %r2;\n"
    "ld.volatile.global.u32 %r3, [%out+20];\nmul.wide.u32 %at, %r0, 4;\nadd.u64 %at, %at, %out;\n"
    "st.global.u32 [%at+24], %r3;\n"
    "{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %h; st.param.b32 [b], 0; call (r), "
    "cudaCGSynchronizeGrid, (a, b); ld.param.b32 %r2, [r]; }\nadd.u32 %r4, %r4, %r2;\n"
    "atom.global.add.u32 %r1, [%out+16], %r4;\n@!%first bra END;\n"
    "cvt.u32.u64 %r1, %none;\nst.global.u32 [%out], %r1;\n"
    "{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %none; st.param.b32 [b], 0; call (r), "
    "cudaCGSynchronize, (a, b); ld.param.b32 %r2, [r]; }\nst.global.u32 [%out+4], %r2;\n"
    "add.u64 %at, %out, 8;\nadd.u64 %own, %out, 12;\n"
    "{ .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 r; st.param.b64 [a], %at; st.param.b64 [b], %own; "
    "st.param.b64 [c], %h; call (r), cudaCGGetSize, (a, b, c); ld.param.b32 %r2, [r]; }\n"
    "END:\nret;\n}\n";

static void blocks_meet(void) {
  enum { threads = 4 * 2 * 16 * 3 };
  unsigned words[6 + threads] = {77};
  handle module, function, link;
  address out;
  void* image = NULL;
  size_t bytes = 0;
  GOOD(cuLinkCreate_v2(0, NULL, NULL, &link));
  GOOD(cuLinkAddData_v2(link, 1, (void*)groups, sizeof groups, "groups", 0, NULL, NULL));
  GOOD(cuLinkAddFile_v2(link, 4, "libcudadevrt.a", 0, NULL, NULL)); /* no such file: it is within Heddle */
  GOOD(cuLinkComplete(link, &image, &bytes));
  GOOD(cuModuleLoadData(&module, image));
  GOOD(cuModuleGetFunction(&function, module, "meet"));
  GOOD(cuMemAlloc_v2(&out, sizeof words));
  GOOD(cuMemcpyHtoD_v2(out, words, sizeof words));
  void* arguments[] = {&out};
  GOOD(cuLaunchCooperativeKernel(function, 4, 2, 1, 16, 3, 1, 0, NULL, arguments));
  GOOD(cuMemcpyDtoH_v2(words, out, sizeof words));
  EXPECT(words[0], 0);
  EXPECT(words[1], 1);
  EXPECT(words[2], threads);
  EXPECT(words[3], 1);
  EXPECT(words[4], 0);
  for (unsigned k = 0; k < threads; ++k) EXPECT(words[6 + k], threads * (threads - 1) / 2);
}

static void links_are_checked(void) {
  char calls[] = ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func missing;\n"
                 ".visible .entry k() { call missing; ret; }\n";
  char defines[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func missing { ret; }\n";
  char again[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";
  char mistakes[1000] = "";
  int names[] = {5, 6};
  void* values[] = {mistakes, (void*)sizeof mistakes};
  void* image = NULL;
  size_t bytes = 0;
  handle link, module;
  EXPECT(cuModuleLoadDataEx(&module, calls, 2, names, values), 218);
  EXPECT(strstr(mistakes, "function 'missing' is not defined") != NULL, 1);
  EXPECT(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func missing;\n"
                                   ".visible .entry k() { { .reg .b64 %a; mov.u64 %a, missing; } ret; }\n"), 218);
  GOOD(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func missing;\n"
                                 ".extern .global .b32 also;\n.visible .entry k() { ret; }\n"));
  for (int k = 0; k < 3; ++k) {
    char* second[] = {NULL, defines, again};
    values[1] = (void*)sizeof mistakes;
    *mistakes = '\0';
    GOOD(cuLinkCreate_v2(2, names, values, &link));
    GOOD(cuLinkAddData_v2(link, 1, calls, sizeof calls, "calls", 0, NULL, NULL));
    if (k == 2) GOOD(cuLinkAddData_v2(link, 1, defines, sizeof defines, "defines", 0, NULL, NULL));
    if (k != 0) GOOD(cuLinkAddData_v2(link, 1, second[k], strlen(second[k]), "second", 0, NULL, NULL));
    EXPECT(cuLinkComplete(link, &image, &bytes), k == 1 ? 0 : 218);
    if (k == 0) EXPECT(strstr(mistakes, "function 'missing' is not defined") != NULL, 1);
    if (k == 2) EXPECT(strstr(mistakes, "'k' is defined at") != NULL, 1);
    GOOD(cuLinkDestroy(link));
  }
  EXPECT(cuLinkDestroy(link), 400);
  EXPECT(cuLinkComplete(link, &image, &bytes), 400);
  EXPECT(cuLinkAddData_v2(link, 1, calls, sizeof calls, "calls", 0, NULL, NULL), 400);
  EXPECT(cuLinkAddFile_v2(link, 1, "driver_kernels.ptx", 0, NULL, NULL), 400);
}

int main(void) {
  handle context, module = NULL, function, library, kernel, link;
  unsigned count = 0;
  GOOD(cuInit(0));
  GOOD(cuCtxCreate_v2(&context, 0, 0));
  EXPECT(cuModuleLoad(&module, "nothing.ptx"), 301);
  GOOD(cuModuleLoad(&module, "driver_kernels.ptx"));
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT(count, 2);
  EXPECT(cuModuleGetFunction(&function, module, "nothing"), 500);
  address p;
  EXPECT(cuModuleGetGlobal_v2(&p, NULL, module, "nothing"), 500);
  GOOD(cuModuleGetFunction(&function, module, "add"));
  GOOD(cuModuleUnload(module));
  EXPECT(cuModuleGetFunction(&function, module, "add"), 400);
  EXPECT(cuModuleUnload(module), 400);

  /* Most options have no effect, as the information log states; errors are in the error log. */
  char* ptx = text_of("driver_kernels.ptx");
  char information[200] = "", mistakes[200] = "";
  int names[] = {3, 4, 5, 6, 7, 2};
  void* values[] = {information, (void*)sizeof information, mistakes, (void*)sizeof mistakes, (void*)3, NULL};
  GOOD(cuModuleLoadDataEx(&module, ptx, 6, names, values));
  EXPECT(strstr(information, "no effect") != NULL && (size_t)values[1] == strlen(information), 1);
  EXPECT((size_t)values[3], 0);
  values[1] = values[3] = (void*)sizeof mistakes;
  EXPECT(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k( { }", 6, names, values), 218);
  EXPECT((size_t)values[3] == strlen(mistakes) && strstr(mistakes, ":4:") != NULL, 1);
  /* Mistakes within a kernel are found when it is loaded or linked. */
  const char* bodies[] = {"bogus;", "add.f32 %f1, %f2, %f3;", "bra NOWHERE;", ".reg .b32 %a; .reg .b32 %a;"};
  for (int k = 0; k < 4; ++k) {
    char text[300];
    snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry x() { %s ret; }\n", bodies[k]);
    values[1] = values[3] = (void*)sizeof mistakes;
    EXPECT(cuModuleLoadDataEx(&module, text, 6, names, values), 218);
    EXPECT((size_t)values[3] == strlen(mistakes) && strstr(mistakes, ":4:") != NULL, 1);
    EXPECT(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0), 218);
    values[1] = values[3] = (void*)sizeof mistakes;
    *mistakes = '\0';
    GOOD(cuLinkCreate_v2(4, names, values, &link));
    EXPECT(cuLinkAddData_v2(link, 1, text, strlen(text), "text", 0, NULL, NULL), 218);
    EXPECT((size_t)values[3] == strlen(mistakes) && strstr(mistakes, ":4:") != NULL, 1);
    GOOD(cuLinkDestroy(link));
  }
  /* What Heddle alone does not support concerns only the kernel. */
  GOOD(cuModuleLoadData(&module, ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry x() { tcgen05.wait::ld.sync.aligned; ret; }\n"
                                 ".visible .entry z() { .reg .b32 %a; mov.u32 %a, %pm0; ret; }\n.visible .entry y() { ret; }\n"));
  EXPECT(cuModuleGetFunction(&function, module, "x"), 801);
  EXPECT(cuModuleGetFunction(&function, module, "z"), 801);
  GOOD(cuModuleGetFunction(&function, module, "y"));
  values[3] = (void*)sizeof mistakes;
  char small[8] = "";
  values[2] = small;
  values[3] = (void*)sizeof small;
  EXPECT(cuModuleLoadDataEx(&module, ".nonsense", 6, names, values), 218);
  EXPECT(strlen(small), 7);

  /* Machine code: the beginning of an ELF file for sm_90, as CUDA 12 and CUDA 13 encode it. */
  unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};
  cubin[18] = 190; /* EM_CUDA */
  cubin[48] = 90;
  EXPECT(cuModuleLoadData(&module, cubin), 209);
  cubin[8] = 8;
  cubin[48] = 0;
  cubin[49] = 120;
  FILE* file = fopen("code.cubin", "wb");
  if (file == NULL || fwrite(cubin, 1, sizeof cubin, file) != sizeof cubin || fclose(file) != 0) return 3;
  EXPECT(cuModuleLoad(&module, "code.cubin"), 209);

  /* A kernel of a library is also a function. */
  GOOD(cuLibraryLoadFromFile(&library, "driver_kernels.ptx", NULL, NULL, 0, NULL, NULL, 0));
  GOOD(cuLibraryGetKernel(&kernel, library, "scale"));
  GOOD(cuKernelGetFunction(&function, kernel));

  /* Two texts that refer to each other, and an independent one. */
  char uses[] = ".version 7.0\n.target sm_70\n.address_size 64\n.extern .global .u32 shared_word;\n"
                ".visible .entry store() {\n.reg .b64 %a;\n.reg .b32 %v;\nmov.u64 %a, shared_word;\nmov.u32 %v, 77;\nst.global.u32 [%a], %v;\nret;\n}\n";
  char defines[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 shared_word;\n";
  void* image = NULL;
  size_t bytes = 0;
  unsigned word = 0;
  GOOD(cuLinkCreate_v2(0, NULL, NULL, &link));
  GOOD(cuLinkAddData_v2(link, 1, uses, sizeof uses, "uses", 0, NULL, NULL));
  GOOD(cuLinkAddData_v2(link, 1, defines, sizeof defines, "defines", 0, NULL, NULL));
  GOOD(cuLinkAddData_v2(link, 1, ptx, strlen(ptx), "alone", 0, NULL, NULL));
  GOOD(cuLinkComplete(link, &image, &bytes));
  char* kept = malloc(bytes); /* the image is plain data */
  memcpy(kept, image, bytes);
  GOOD(cuLinkDestroy(link));
  GOOD(cuModuleLoadData(&module, kept));
  GOOD(cuModuleGetFunction(&function, module, "add"));
  GOOD(cuModuleGetFunction(&function, module, "store"));
  GOOD(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  GOOD(cuModuleGetGlobal_v2(&p, NULL, module, "shared_word"));
  GOOD(cuMemcpyDtoH_v2(&word, p, sizeof word));
  EXPECT(word, 77);
  GOOD(cuLinkCreate_v2(0, NULL, NULL, &link));
  EXPECT(cuLinkAddData_v2(link, 0, cubin, sizeof cubin, "code.cubin", 0, NULL, NULL), 209);
  EXPECT(cuLinkComplete(link, &image, &bytes), 209);
  limits_of_registers();
  links_are_checked();
  blocks_meet();
  puts("all is well");
  return 0;
}
