// SPDX-License-Identifier: MIT
// Loads the library that its argument names, and runs the `main` in it: a plug-in with CUDA code.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  int (*run)(void) = NULL;
  if (library != NULL) *(void**)&run = dlsym(library, "main");
  if (run == NULL) {
    puts(dlerror());
    return 1;
  }
  return run();
}
