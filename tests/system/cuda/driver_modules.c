/* SPDX-License-Identifier: MIT */
/* The driver API: images that can be loaded, and messages for those that cannot. */
#include "driver.h"

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

  /* Options have no effect, as the information log states; errors are in the error log. */
  char* ptx = text_of("driver_kernels.ptx");
  char information[200] = "", mistakes[200] = "";
  int names[] = {3, 4, 5, 6, 0, 2};
  void* values[] = {information, (void*)sizeof information, mistakes, (void*)sizeof mistakes, (void*)32, NULL};
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
    EXPECT(cuLinkAddData_v2(link, 1, text, strlen(text), "text", 0, NULL, NULL), 300);
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
  puts("all is well");
  return 0;
}
