// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/device_runtime.h"

#include <cstdio>
#include <string>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/isa/program.h"
#include "heddle/isa/set_bits.h"
#include "heddle/simt/execute.h"

namespace heddle {

namespace {

bool within(std::uint64_t address, std::uint64_t base) { return address >= base && address < base + isa::window_bytes; }

[[noreturn]] void fail_at(const char* format, std::uint64_t address) {
  char text[80];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(address));
  throw program_error(text);
}

// The call of one lane.
std::uint64_t system_routine(program_services& services, const simt::lane_reader& read, const simt::warp_state& w,
                             const isa::instruction& i, unsigned lane) {
  const std::uint64_t a = simt::lane_value(i.src[0], w, lane);
  switch (static_cast<isa::system_function>(i.sub)) {
    case isa::system_function::vprintf: {
      const simt::printed_text p = simt::format_print(read, a, simt::lane_value(i.src[1], w, lane));
      services.print(*w.block->launch, p.text);
      return static_cast<std::uint32_t>(p.arguments);
    }
    case isa::system_function::malloc: {
      const std::uint64_t address = services.heap_allocate(*w.block->launch, a);
      services.heap_given(address, a, w, i, lane);
      return address;
    }
    case isa::system_function::free:
      services.heap_freeing(a, w, i, lane);
      if (a != 0 && !services.heap_free(*w.block->launch, a) && !services.heap_misfreed(a, w, i, lane))
        fail_at("free of 0x%llx, which malloc did not give", a);
      return 0;
  }
  throw internal_error("unknown routine of the device runtime");
}

}  // namespace

simt::lane_reader lane_memory(const simt::warp_state& w, program_services& services, local_reader local) {
  return [&w, &services, local = std::move(local)](std::uint64_t address, void* data, unsigned bytes) {
    auto* to = static_cast<std::uint8_t*>(data);
    for (unsigned k = 0; k < bytes; ++k) {
      const std::uint64_t a = address + k;
      bool there = false;
      if (within(a, isa::shared_window_base)) {
        there = a - isa::shared_window_base < w.block->shared_bytes;
        if (there) to[k] = w.block->shared[a - isa::shared_window_base];
      } else if (within(a, isa::local_window_base)) {
        there = local(a - isa::local_window_base, to + k);
      } else {
        // Reads the rest at once if all of it is mapped.
        if (services.inspect(a, to + k, bytes - k)) return;
        there = services.inspect(a, to + k, 1);
      }
      if (!there) fail_at("illegal address 0x%llx", a);
    }
  };
}

void system_call(program_services& services, const std::function<simt::lane_reader(unsigned lane)>& memory_of,
                 const isa::instruction& i, simt::warp_state& w, simt::lane_mask mask, unsigned& bad_lane) {
  for (const unsigned lane : set_bits(mask)) {
    bad_lane = lane;
    const std::uint64_t result = system_routine(services, memory_of(lane), w, i, lane);
    if (i.dst == isa::rz) continue;
    for (unsigned k = 0; k < i.dst_count; ++k)
      w.regs[(std::size_t{i.dst} + k) * isa::warp_size + lane] = static_cast<std::uint32_t>(result >> (32 * k));
  }
}

fault_details assertion_details(const simt::lane_reader& read, const isa::instruction& i, const simt::warp_state& w,
                                unsigned lane) {
  if (i.sub != isa::trap_assertion || i.src[3].kind == isa::operand_kind::none) return {};
  fault_details details;
  const auto add = [&](const char* before, unsigned operand) {
    details.parts.push_back({before, 0});
    const std::uint64_t a = simt::lane_value(i.src[operand], w, lane);
    if (within(a, isa::shared_window_base) || within(a, isa::local_window_base))
      details.parts.back().text += simt::read_string(read, a);
    else details.parts.push_back({"", a});
  };
  try {
    add(": ", 0);
    add(" (", 1);
    add((":" + std::to_string(simt::lane_value(i.src[2], w, lane)) + ", ").c_str(), 3);
    details.parts.push_back({")", 0});
  } catch (const program_error&) {
    return {};  // the strings of the assertion cannot be read
  }
  return details;
}

}  // namespace heddle
