// SPDX-License-Identifier: MIT
// What the functions of `programs` share: the kernels of kernels.cu, checks that end the process, launches.
#pragma once

#include <dlfcn.h>

#include <cstddef>

#include "tests/system/cuda/cuda_interface.h"

namespace cuda_programs {

// The host's stand-ins for the kernels and variables.
extern char add, count, say, linger, wrong_address, claim, takes_struct, reverse, answer, count_until, literal;
extern char tally, factor, counter, rounds_with_host, even_bytes, takes_packed;
extern int *shared_with_host, *shared_rows;
extern double* shared_last;
extern const char* kernels_file;

[[noreturn]] void fail(const char* file, int line, const char* what, long got);

#define RIGHT(call)                                             \
  do {                                                          \
    const int e_ = (call);                                      \
    if (e_ != cudaSuccess) fail(__FILE__, __LINE__, #call, e_); \
  } while (0)
#define GIVES(expected, call)                                  \
  do {                                                         \
    const long e_ = (call);                                    \
    if (e_ != (expected)) fail(__FILE__, __LINE__, #call, e_); \
  } while (0)
#define HOLDS(condition)                                       \
  do {                                                         \
    if (!(condition)) fail(__FILE__, __LINE__, #condition, 0); \
  } while (0)

template <class... T>
int launch(const char& kernel, unsigned blocks, unsigned threads, std::size_t shared, cudaStream_t stream,
           T... arguments) {
  void* list[] = {&arguments..., nullptr};
  return cudaLaunchKernel(&kernel, {blocks, 1, 1}, {threads, 1, 1}, list, shared, stream);
}

/// Calls a function by name: most of them are in no header here.
template <class... T>
int call(const char* name, T... arguments) {
  void* const at = ::dlsym(RTLD_DEFAULT, name);
  if (at == nullptr) fail(__FILE__, __LINE__, name, 0);
  return reinterpret_cast<int (*)(T...)>(at)(arguments...);
}

template <class T>
T* device(std::size_t count) {
  void* p = nullptr;
  RIGHT(cudaMalloc(&p, count * sizeof(T)));
  return static_cast<T*>(p);
}

// programs_memory.cpp
void vectors();
void arguments();
void memory();
void large_copies();
void ends_in_a_copy();
void managed();
void pinned();
void pinned_and_written();

// programs_streams.cpp
void streams();
void host_functions();
void errors();
void writes_around();
void fails_assertion();
void prints();
void prints_and_leaves();
void threads();
void threads_that_ask();
void threads_that_call_at_their_end();

// programs_refusals.cpp
void null_arguments();
void unknown_flags();
void calls_in_a_capture();
void outside_allocations();
void calls_after_a_fault();

// programs_rules.cpp
void argument_rules();
void pinned_rules();
void managed_rules();
void function_rules();
void pool_and_stream_rules();

// programs_device.cpp
void device_rules();
void share();

// programs_driver.cpp
void driver_rules();
void resets();

// programs_batches.cpp
void batches();

// programs_graphs.cpp
void graph_rules();

// programs_captures.cpp
void capture_rules();

// programs_objects.cpp
void calls_in_host_functions();
void object_rules();
void memory_words();

// programs_textures.cpp
void texture_rules();

// programs_processes.cpp
void forks_once();
void forks();
void forks_late();
void registers_one_address();
void leaves_a_child_behind();
void forks_for_memory();
void forks_behind_a_kernel();
void forks_after_launches();
void leaves_early();
void killed_within_a_call();
void leaves_with_another_name();
void leaves_quickly();
void leaves_a_host_function();
void leaves_in_a_host_function();
void leaves_while_a_host_function_runs();
void child_leaves_a_host_function();
void clears_its_environment();
void becomes_another_user();
void closes_descriptors();
void leaves_endless_blocks();
void host_function_waits_for_a_child();
void host_function_waits_for_a_thread();
void host_function_waits_for_a_query();
void keeps_memory();
void prints_memory();
void replaces_itself();
void becomes_another();
void has_no_children();
void frees_at_exit();
void many_children();
void memory_in_place();
void registered_in_order();
void registered_memory();
void interrupted();
void forks_among_threads();
void literals();
void registered_and_unmapped();
void managed_variables();
void forks_with_memory_in_place();
void flag_of_the_host();
void flag_by_a_copy();
void unset_flag();
void unknown_name();
void crashes();
void nothing();
void endless();
void never_asks();
void ends_its_first_thread();
void endless_kernel();
void endless_block();

}  // namespace cuda_programs
