// SPDX-License-Identifier: MIT
// libFuzzer on the reader of SASS traces: any bytes give a kernel that can be replayed or an input_error, never a crash, a hang
// or undefined behaviour.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/error.h"
#include "frontend/sass_trace/trace_kernel.h"

namespace {

using namespace heddle;

// What a replay relies on.
void check(const sass_trace::trace_kernel& k, const sass_trace::block_trace& b) {
  if (b.warps.size() != k.header.warps()) std::abort();
  std::uint64_t addresses[32];
  for (const auto& w : b.warps) {
    if (w.count == 0 || w.first + w.count > b.steps.size()) std::abort();
    const auto& last = b.steps[w.first + w.count - 1];
    if (k.program->code.at(last.instruction).op != isa::opcode::exit) std::abort();
    for (std::size_t n = 0; n < w.count; ++n) {
      const auto& s = b.steps[w.first + n];
      const isa::instruction& i = k.program->code.at(s.instruction);
      sass_trace::machine_addresses(k, b, s, addresses);
      if (i.mem_space != isa::space::local) continue;
      for (std::uint32_t m = s.mask; m != 0; m &= m - 1)
        if (addresses[__builtin_ctz(m)] + isa::size_of(i.type) > k.program->local_bytes) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("trace", 0);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string file = "/proc/self/fd/" + std::to_string(fd);
  try {
    const auto k = sass_trace::read_kernel(file, false);
    sass_trace::block_source source(k);
    for (std::uint64_t n = 0; n < k->blocks + 1 && n < k->header.blocks(); ++n) check(*k, *source.next());
  } catch (const input_error&) {
  }
  ::close(fd);
  return 0;
}
