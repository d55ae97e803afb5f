/* SPDX-License-Identifier: MIT
 * For programs that write no result: -include this header, and -DPRINT_FREED='"TEXT"'. What an array of floats contains
 * is printed when it is freed by an expression that begins with TEXT: a line "freed: ". An array is known if the same
 * file of the program has allocated it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  void* array;
  size_t bytes;
} noted[4096];
static unsigned noted_count;

static void* noted_malloc(size_t bytes) {
  void* const array = malloc(bytes);
  unsigned k = 0;
  while (k < noted_count && noted[k].array != array) ++k;
  if (k == sizeof noted / sizeof *noted) return array;
  if (k == noted_count) ++noted_count;
  noted[k].array = array;
  noted[k].bytes = bytes;
  return array;
}

static void printed_free(const char* expression, void* array) {
  unsigned k = 0;
  size_t n;
  while (k < noted_count && noted[k].array != array) ++k;
  if (k < noted_count && strncmp(expression, PRINT_FREED, strlen(PRINT_FREED)) == 0) {
    printf("freed:");
    for (n = 0; n < noted[k].bytes / sizeof(float); ++n) printf(" %.7g", ((const float*)array)[n]);
    printf("\n");
  }
  free(array);
}

#define malloc(bytes) noted_malloc(bytes)
#define free(array) printed_free(#array, (void*)(array))
