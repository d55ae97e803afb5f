// SPDX-License-Identifier: MIT
// libFuzzer on the reader of SASS traces: any bytes give a kernel that can be replayed or an input_error, never a
// crash, a hang or undefined behaviour.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/read_kernel.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/isa/set_bits.h"

namespace {

using namespace heddle;

std::uint32_t index_of(const sass_trace::trace_kernel& k, const isa::execution_record& record) {
  return k.program->follows ? record.instruction & isa::step::index : record.instruction;
}

bool accesses_local(const sass_trace::trace_kernel& k, const isa::execution_record& record) {
  const isa::instruction& i = k.program->code.at(index_of(k, record));
  return i.mem_space == isa::space::local && (!k.program->follows || record.addresses != 0);
}

// What a replay relies on.
void check(const sass_trace::trace_kernel& k, const isa::recorded_block& b) {
  std::uint64_t addresses[32];
  for (std::uint32_t w = 0; w < k.header.warps(); ++w) {
    for (std::uint64_t position = 0;;) {
      const auto segment = b.segment(w, position);
      if (!segment || segment->position != position ||
          (position != 0 && index_of(k, segment->first[-1]) >= k.program->code.size()))
        std::abort();
      for (const isa::execution_record* s = segment->first; s != segment->last + (segment->ends ? 1 : 0);
           ++s, ++position) {
        const isa::instruction& i = k.program->code.at(index_of(k, *s));
        segment->addresses(*s, addresses);
        if (!accesses_local(k, *s)) continue;
        for (const unsigned lane : set_bits(s->mask))
          if (addresses[lane] + isa::size_of(i.type) > k.program->local_bytes) std::abort();
      }
      if (!segment->ends) continue;
      if (k.program->code.at(index_of(k, *segment->last)).op != isa::opcode::exit || b.segment(w, position))
        std::abort();
      break;
    }
  }
}

// Blocks in memory, and the same blocks in a file.
void replay(const std::string& file, std::size_t room) {
  const auto k = sass_trace::read_kernel(file, false, std::make_shared<sass_trace::trace_store>(room, 0));
  sass_trace::block_source source(k);
  for (std::uint64_t n = 0; n < k->blocks + 1 && n < k->header.blocks(); ++n) check(*k, *source.next());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("trace", 0);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string file = "/proc/self/fd/" + std::to_string(fd);
  try {
    replay(file, 1 << 20);
    replay(file, 0);
  } catch (const input_error&) {}
  ::close(fd);
  return 0;
}
