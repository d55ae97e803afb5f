// SPDX-License-Identifier: MIT
#include "heddle/simt/warp/fault_text.h"
#include "heddle/isa/set_bits.h"

#include <cstdio>

namespace heddle::simt {

fault_text describe_fault(const launch_context& l, const dim3& b, std::uint32_t t, const isa::instruction& i,
                          const std::string& what) {
  const auto triple = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  };
  fault_text f;
  f.text = l.program->file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) + ": " + what;
  f.front = f.text.size();
  f.text += " in kernel '" + l.program->kernel + "', block " + triple(b.x, b.y, b.z) + ", thread " +
            triple(t % l.block.x, t / l.block.x % l.block.y, t / (l.block.x * l.block.y));
  const std::string source = l.program->source ? l.program->source->text(i.line) : std::string();
  if (!source.empty()) f.text += ", at " + source;
  return f;
}

const char* trap_text(const isa::instruction& i) {
  switch (i.sub) {
    case isa::trap_stack_overflow: return "call stack overflow";
    case isa::trap_wild_call: return "call of an address that is no function's of this prototype";
    case isa::trap_breakpoint: return "breakpoint";
    case isa::trap_assertion: return "assertion failed";
    default: return "trap";
  }
}

std::string global_fault(const char* access, bool misaligned, std::uint64_t address, unsigned bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "%s address 0x%08llx (%u-byte %s)", misaligned ? "misaligned" : "illegal",
                static_cast<unsigned long long>(address), bytes, access);
  return text;
}

std::string local_fault(std::uint64_t offset, unsigned bytes) {
  char text[96];
  std::snprintf(text, sizeof text,
                offset % bytes != 0 ? "misaligned local address 0x%llx (%u bytes)"
                                    : "local address 0x%llx (%u bytes) beyond the thread's local memory",
                static_cast<unsigned long long>(offset), bytes);
  return text;
}

std::string constant_fault(std::uint64_t offset, unsigned bytes, std::uint64_t bank_bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "illegal constant address 0x%llx (%u-byte load, the bank has %llu bytes)",
                static_cast<unsigned long long>(offset), bytes, static_cast<unsigned long long>(bank_bytes));
  return text;
}

std::vector<std::string> lane_places_of(const warp_state& w, const std::uint32_t* barrier,
                                        const std::function<std::string(std::uint32_t pc)>& place) {
  const auto at_barrier = [](std::uint32_t number) {
    if (number >= mbarrier_number) {
      char text[64];
      std::snprintf(text, sizeof text, "waits at the mbarrier at shared address 0x%x, ",
                    static_cast<unsigned>(number - mbarrier_number));
      return std::string(text);
    }
    if (number == grid_dependency) return std::string("waits for the end of the launch before its own, ");
    return (number == cluster_barrier ? "waits at the barrier of its cluster"
                                      : "waits at barrier " + std::to_string(number)) +
           ", ";
  };
  if (!w.independent) return {(barrier != nullptr ? at_barrier(*barrier) : "is at ") + place(w.pc)};
  const auto lanes_text = [](const char* format, lane_mask lanes) {
    char text[48];
    std::snprintf(text, sizeof text, format, static_cast<unsigned>(lanes));
    return std::string(text);
  };
  std::vector<std::string> all;
  const auto add = [&](lane_mask lanes, const std::string& what, std::uint32_t pc) {
    all.push_back((lanes == w.live ? "" : lanes_text("lanes 0x%08x, ", lanes)) + what + place(pc));
  };
  const auto for_lanes = [&](lane_mask lanes) { return lanes_text("waits for lanes 0x%08x, ", lanes); };
  if (w.active != 0) add(w.active, "is at ", w.pc);
  for (const lane_path& p : w.paths) {
    if (p.wait == path_wait::barrier) add(p.mask, at_barrier(p.wanted), p.pc);
    else if (p.wait == path_wait::lanes) add(p.mask, for_lanes(p.wanted & w.live & ~p.mask), p.pc);
    else add(p.mask, "is at ", p.pc);
  }
  for (const convergence_frame& f : w.frames)
    if (f.arrived != 0) add(f.arrived, for_lanes(f.participants & ~f.arrived), f.reconverge);
  return all;
}

unsigned outside_bank(const std::uint64_t addresses[warp_size], lane_mask mask, unsigned bytes,
                      std::uint64_t bank_bytes) {
  for (const unsigned lane : set_bits(mask)) {
    if (addresses[lane] > bank_bytes || bank_bytes - addresses[lane] < bytes) return lane;
  }
  return warp_size;
}

}  // namespace heddle::simt
