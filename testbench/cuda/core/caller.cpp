// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/caller.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdio>

namespace heddle::cuda {

std::string caller() {
  constexpr int most = 16;
  void* frames[most];
  const int count = backtrace(frames, most);
  Dl_info own, at;
  if (dladdr(reinterpret_cast<void*>(&caller), &own) == 0) return "";
  bool within = false;  // frames before this library's are those of a tool that wraps backtrace()
  for (int k = 0; k < count; ++k) {
    // The call lies before the address of return.
    void* const place = static_cast<char*>(frames[k]) - 1;
    if (dladdr(place, &at) == 0 || at.dli_fname == nullptr) return "";
    const std::string file = at.dli_fname, name = file.substr(file.rfind('/') + 1);
    const bool is_own = at.dli_fbase == own.dli_fbase || name.compare(0, 7, "libcuda") == 0;
    within = within || is_own;
    if (is_own || !within) continue;
    char offset[24];
    std::snprintf(offset, sizeof offset, "+0x%llx",
                  static_cast<unsigned long long>(static_cast<char*>(place) - static_cast<char*>(at.dli_fbase)));
    const std::string where = name + offset;
    return at.dli_sname != nullptr ? std::string(at.dli_sname) + " (" + where + ")" : where;
  }
  return "";
}

}  // namespace heddle::cuda
