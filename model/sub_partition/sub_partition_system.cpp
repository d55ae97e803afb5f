// SPDX-License-Identifier: MIT
// Routines of the device runtime: SYSCALL stands for the code that a call of printf, malloc or free runs, as ASSIST does for the
// slow paths of a division. Lowering puts a MEMBAR before it, so that what the warp has stored can be inspected.
#include <cstdio>
#include <cstring>

#include "config/error.h"
#include "simt/print_format.h"
#include "sub_partition/sub_partition.h"

namespace heddle {

void sub_partition::inspect(const warp_slot& w, unsigned lane, std::uint64_t address, void* data, unsigned bytes) const {
  auto* to = static_cast<std::uint8_t*>(data);
  for (unsigned k = 0; k < bytes; ++k) {
    const std::uint64_t a = address + k;
    bool there = false;
    if (a >= isa::shared_window_base && a < isa::shared_window_base + isa::window_bytes) {
      there = a - isa::shared_window_base < w.state.block->shared_bytes;
      if (there) to[k] = w.state.block->shared[a - isa::shared_window_base];
    } else if (a >= isa::local_window_base && a < isa::local_window_base + isa::window_bytes) {
      const std::uint64_t offset = a - isa::local_window_base;
      there = offset < w.launch->program->local_bytes && services_->inspect(local_address(w, offset, lane), to + k, 1);
    } else {
      // The rest at once where it is mapped as a whole.
      if (services_->inspect(a, to + k, bytes - k)) return;
      there = services_->inspect(a, to + k, 1);
    }
    if (there) continue;
    char text[64];
    std::snprintf(text, sizeof text, "illegal address 0x%llx", static_cast<unsigned long long>(a));
    throw program_error(text);
  }
}

std::uint64_t sub_partition::system_routine(const warp_slot& w, const isa::instruction& i, unsigned lane) {
  const simt::lane_reader read = [&](std::uint64_t address, void* data, unsigned bytes) { inspect(w, lane, address, data, bytes); };
  const std::uint64_t a = simt::lane_value(i.src[0], w.state, lane);
  switch (static_cast<isa::system_function>(i.sub)) {
    case isa::system_function::vprintf: {
      const simt::printed_text p = simt::format_print(read, a, simt::lane_value(i.src[1], w.state, lane));
      services_->print(p.text);
      return static_cast<std::uint32_t>(p.arguments);
    }
    case isa::system_function::malloc: return services_->heap_allocate(a);
    case isa::system_function::free:
      if (a != 0 && !services_->heap_free(a)) {
        char text[80];
        std::snprintf(text, sizeof text, "free of 0x%llx, which malloc did not give", static_cast<unsigned long long>(a));
        throw program_error(text);
      }
      return 0;
  }
  throw internal_error("unknown routine of the device runtime");
}

void sub_partition::issue_system(unsigned slot, simt::lane_mask mask, cycle_t cycle) {
  warp_slot& w = slots_[slot];
  const decoded_instruction& d = *w.next;
  const isa::instruction& i = *d.instruction;
  invariant(services_ != nullptr, "a program calls the device runtime, and there is none");
  dispatch(slot, d, 0, cycle);
  set_ready(slot, d, cycle + d.latency_cycles);
  for (simt::lane_mask m = mask; m; m &= m - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(m));
    try {
      const std::uint64_t result = system_routine(w, i, lane);
      if (i.dst == isa::rz) continue;
      for (unsigned k = 0; k < i.dst_count; ++k)
        w.state.regs[(std::size_t{i.dst} + k) * isa::warp_size + lane] = static_cast<std::uint32_t>(result >> (32 * k));
    } catch (const program_error& e) {
      return fault(slot, d, lane, e.what());
    }
  }
  simt::advance(w.state);
}

std::string sub_partition::trap_text(const warp_slot& w, const isa::instruction& i, unsigned lane) const {
  if (i.sub == isa::trap_stack_overflow) return "call stack overflow";
  if (i.sub == isa::trap_wild_call) return "call of an address that is no function's of this prototype";
  if (i.sub == isa::trap_breakpoint) return "breakpoint";
  if (i.sub != isa::trap_assertion) return "trap";
  if (services_ == nullptr || i.src[3].kind == isa::operand_kind::none) return "assertion failed";
  const simt::lane_reader read = [&](std::uint64_t address, void* data, unsigned bytes) { inspect(w, lane, address, data, bytes); };
  try {
    const auto text = [&](unsigned k) { return simt::read_string(read, simt::lane_value(i.src[k], w.state, lane)); };
    return "assertion failed: " + text(0) + " (" + text(1) + ":" + std::to_string(simt::lane_value(i.src[2], w.state, lane)) + ", " +
           text(3) + ")";
  } catch (const program_error&) {
    return "assertion failed";   // what it was cannot be read
  }
}

}  // namespace heddle
