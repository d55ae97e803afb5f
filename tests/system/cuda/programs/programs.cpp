// SPDX-License-Identifier: MIT
// Several CUDA programs in one: `programs NAME` runs one and exits with 0 if CUDA's behaviour was met, else with 1 and
// a message. The kernels are those of kernels.cu, in the fat binary given by the argument KERNELS; the registration
// code that nvcc generates is written by hand here.
#include "programs.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cuda_programs {

char add, count, say, linger, wrong_address, claim, takes_struct, reverse, answer, count_until, literal, tally;
char factor, counter, rounds_with_host, even_bytes, takes_packed;
int *shared_with_host = nullptr, *shared_rows = nullptr;
double* shared_last = nullptr;
const char* kernels_file = nullptr;

namespace {

struct {
  int magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* file = nullptr;
} wrapper;

void** load(const char* file) {
  static std::vector<char> bytes;
  std::ifstream in(file, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  wrapper.data = bytes.data();
  void** handle = __cudaRegisterFatBinary(&wrapper);
  const std::pair<const char*, char*> kernels[] = {{"add", &add},
                                                   {"count", &count},
                                                   {"say", &say},
                                                   {"linger", &linger},
                                                   {"wrong_address", &wrong_address},
                                                   {"claim", &claim},
                                                   {"takes_struct", &takes_struct},
                                                   {"reverse", &reverse},
                                                   {"answer", &answer},
                                                   {"count_until", &count_until},
                                                   {"literal", &literal},
                                                   {"tally", &tally},
                                                   {"rounds_with_host", &rounds_with_host},
                                                   {"even_bytes", &even_bytes},
                                                   {"takes_packed", &takes_packed}};
  for (const auto& [name, stub] : kernels)
    __cudaRegisterFunction(handle, stub, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  __cudaRegisterVar(handle, &factor, nullptr, "factor", 0, 4, 1, 0);
  __cudaRegisterVar(handle, &counter, nullptr, "counter", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&shared_with_host), nullptr, "shared_with_host", 0, 4, 0,
                           0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&shared_rows), nullptr, "shared_rows", 0, 12000, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&shared_last), nullptr, "shared_last", 0, 8, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

}  // namespace

[[noreturn]] void fail(const char* file, int line, const char* what, long got) {
  std::printf("%s:%d: %s: %ld\n", file, line, what, got);
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace cuda_programs

int main(int argc, char** argv) {
  using namespace cuda_programs;
  const std::map<std::string, std::function<void()>> all = {
      {"vectors", vectors},
      {"arguments", arguments},
      {"memory", memory},
      {"large_copies", large_copies},
      {"ends_in_a_copy", ends_in_a_copy},
      {"managed", managed},
      {"pinned", pinned},
      {"pinned_and_written", pinned_and_written},
      {"streams", streams},
      {"host_functions", host_functions},
      {"errors", errors},
      {"null_arguments", null_arguments},
      {"unknown_flags", unknown_flags},
      {"calls_in_a_capture", calls_in_a_capture},
      {"outside_allocations", outside_allocations},
      {"argument_rules", argument_rules},
      {"pinned_rules", pinned_rules},
      {"managed_rules", managed_rules},
      {"function_rules", function_rules},
      {"pool_and_stream_rules", pool_and_stream_rules},
      {"calls_in_host_functions", calls_in_host_functions},
      {"object_rules", object_rules},
      {"device_rules", device_rules},
      {"share", share},
      {"texture_rules", texture_rules},
      {"batches", batches},
      {"driver_rules", driver_rules},
      {"resets", resets},
      {"graph_rules", graph_rules},
      {"capture_rules", capture_rules},
      {"memory_words", memory_words},
      {"calls_after_a_fault", calls_after_a_fault},
      {"fails_assertion", fails_assertion},
      {"writes_around", writes_around},
      {"prints", prints},
      {"prints_and_leaves", prints_and_leaves},
      {"threads", threads},
      {"threads_that_call_at_their_end", threads_that_call_at_their_end},
      {"threads_that_ask", threads_that_ask},
      {"forks", forks},
      {"forks_late", forks_late},
      {"registers_one_address", registers_one_address},
      {"leaves_a_child_behind", leaves_a_child_behind},
      {"forks_behind_a_kernel", forks_behind_a_kernel},
      {"forks_for_memory", forks_for_memory},
      {"forks_after_launches", forks_after_launches},
      {"many_children", many_children},
      {"memory_in_place", memory_in_place},
      {"registered_in_order", registered_in_order},
      {"registered_memory", registered_memory},
      {"interrupted", interrupted},
      {"forks_among_threads", forks_among_threads},
      {"literals", literals},
      {"registered_and_unmapped", registered_and_unmapped},
      {"managed_variables", managed_variables},
      {"forks_with_memory_in_place", forks_with_memory_in_place},
      {"flag_of_the_host", flag_of_the_host},
      {"flag_by_a_copy", flag_by_a_copy},
      {"unset_flag", unset_flag},
      {"keeps_memory", keeps_memory},
      {"prints_memory", prints_memory},
      {"replaces_itself", replaces_itself},
      {"becomes_another", becomes_another},
      {"has_no_children", has_no_children},
      {"frees_at_exit", frees_at_exit},
      {"leaves_early", leaves_early},
      {"killed_within_a_call", killed_within_a_call},
      {"leaves_with_another_name", leaves_with_another_name},
      {"leaves_quickly", leaves_quickly},
      {"leaves_a_host_function", leaves_a_host_function},
      {"leaves_in_a_host_function", leaves_in_a_host_function},
      {"leaves_while_a_host_function_runs", leaves_while_a_host_function_runs},
      {"child_leaves_a_host_function", child_leaves_a_host_function},
      {"clears_its_environment", clears_its_environment},
      {"becomes_another_user", becomes_another_user},
      {"closes_descriptors", closes_descriptors},
      {"leaves_endless_blocks", leaves_endless_blocks},
      {"host_function_waits_for_a_child", host_function_waits_for_a_child},
      {"host_function_waits_for_a_thread", host_function_waits_for_a_thread},
      {"host_function_waits_for_a_query", host_function_waits_for_a_query},
      {"unknown_name", unknown_name},
      {"crashes", crashes},
      {"nothing", nothing},
      {"endless", endless},
      {"never_asks", never_asks},
      {"ends_its_first_thread", ends_its_first_thread},
      {"endless_kernel", endless_kernel},
      {"endless_block", endless_block}};
  const auto found = all.find(argc > 2 ? argv[2] : "");
  if (found == all.end()) {
    std::printf("programs KERNELS.fatbin NAME\n");
    return 1;
  }
  if (found->first == "nothing") return 0;
  kernels_file = argv[1];
  void** handle = load(argv[1]);
  if (found->first == "managed" || found->first == "managed_variables") __cudaInitModule(handle);
  found->second();
  std::puts("right");
  return 0;
}
