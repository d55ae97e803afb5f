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

const char* sub_partition::trap_text(const isa::instruction& i) {
  switch (i.sub) {
    case isa::trap_stack_overflow: return "call stack overflow";
    case isa::trap_wild_call: return "call of an address that is no function's of this prototype";
    case isa::trap_breakpoint: return "breakpoint";
    case isa::trap_assertion: return "assertion failed";
    default: return "trap";
  }
}

// Of an assertion that failed: ": TEXT (FILE:LINE, FUNCTION)". Shared memory and the thread's own are the SM's, and as they are now.
fault_details sub_partition::assertion_details(const warp_slot& w, const isa::instruction& i, unsigned lane) const {
  if (i.sub != isa::trap_assertion || services_ == nullptr || i.src[3].kind == isa::operand_kind::none) return {};
  fault_details details;
  const simt::lane_reader read = [&](std::uint64_t address, void* data, unsigned bytes) { inspect(w, lane, address, data, bytes); };
  const auto add = [&](const char* before, unsigned operand) {
    details.pieces.push_back({before, 0});
    const std::uint64_t a = simt::lane_value(i.src[operand], w.state, lane);
    const auto within = [a](std::uint64_t base) { return a >= base && a < base + isa::window_bytes; };
    if (within(isa::shared_window_base) || within(isa::local_window_base))
      details.pieces.back().text += simt::read_string(read, a);
    else
      details.pieces.push_back({"", a});
  };
  try {
    add(": ", 0);
    add(" (", 1);
    add((":" + std::to_string(simt::lane_value(i.src[2], w.state, lane)) + ", ").c_str(), 3);
    details.pieces.push_back({")", 0});
  } catch (const program_error&) {
    return {};   // what it was cannot be read
  }
  return details;
}

}  // namespace heddle
