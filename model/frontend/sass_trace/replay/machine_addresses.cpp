// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/machine_addresses.h"
#include "heddle/isa/set_bits.h"

#include <algorithm>

namespace heddle::sass_trace {

namespace {

constexpr std::uint64_t most_local_bytes = std::uint64_t{1} << 19;  // of a thread, on every chip
constexpr std::uint64_t global_mask = (std::uint64_t{1} << 48) - 1;

bool local_offset(const kernel_header& h, std::uint64_t a, std::uint64_t& offset) {
  if (h.local_base == 0 || a - h.local_base >= isa::window_bytes) return false;
  offset = (a - h.local_base) % most_local_bytes;
  return true;
}

unsigned bytes_of(const isa::instruction& i) { return std::max(1u, isa::size_of(i.type)); }

// Applies f to the address of each lane in the mask.
template <class F>
void for_lanes(std::uint32_t mask, std::uint64_t addresses[32], F f) {
  if (mask == ~std::uint32_t{0}) {
    for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = f(addresses[lane]);
    return;
  }
  for (const unsigned lane : set_bits(mask)) {
    std::uint64_t& a = addresses[lane];
    a = f(a);
  }
}

// Those of a run are as they are; what an edited trace may have beyond them is cut off.
void followed_addresses(const isa::program& program, const address_list& list, const trace_record& record,
                        std::uint64_t addresses[32]) {
  const isa::instruction& i = program.code[record.instruction & isa::step::index];
  const bool in_shared = (record.instruction & isa::step::target) != 0 || i.mem_space == isa::space::shared;
  const std::uint64_t within = in_shared ? isa::window_bytes - 1 : global_mask;
  const std::uint64_t kept = within & ~std::uint64_t{bytes_of(i) - 1u};
  list.expand(record.addresses, record.mask, addresses);
  for_lanes(record.mask, addresses, [=](std::uint64_t a) { return a & kept; });
}

}  // namespace

std::uint64_t local_reach(const kernel_header& h, const isa::instruction& i, const address_list& list,
                          const trace_record& record) {
  std::uint64_t a[32];
  list.expand(record.addresses, record.mask, a);
  std::uint64_t reach = 0;
  for (const unsigned lane : set_bits(record.mask)) {
    const std::uint64_t address = a[lane];
    std::uint64_t offset = 0;
    if (!local_offset(h, address, offset)) {
      if (i.mem_space == isa::space::generic) continue;
      offset = address % most_local_bytes;
    }
    reach = std::max(reach, offset / bytes_of(i) * bytes_of(i) + bytes_of(i));
  }
  return reach;
}

void machine_addresses(const trace_kernel& kernel, const address_list& list, const common_addresses* common,
                       const trace_record& record, std::uint64_t addresses[32]) {
  if (kernel.program->follows) return followed_addresses(*kernel.program, list, record, addresses);
  const isa::instruction& i = kernel.program->code[record.instruction];
  const kernel_header& h = kernel.header;
  const std::uint64_t aligned = ~std::uint64_t{bytes_of(i) - 1u};
  if (const isa::lane_addresses* shared = common_list(common, record)) {
    for (const unsigned lane : set_bits(record.mask)) addresses[lane] = shared->at[lane];
    return;
  }
  list.expand(record.addresses, record.mask, addresses);
  const std::uint64_t shared_base = h.shared_base;
  const std::uint64_t local_base = h.local_base;
  // A window with an unknown base is empty.
  const std::uint64_t shared_bytes = shared_base != 0 ? isa::window_bytes : 0;
  const std::uint64_t local_bytes = local_base != 0 ? isa::window_bytes : 0;
  switch (i.mem_space) {
    case isa::space::shared:
      for_lanes(record.mask, addresses, [=](std::uint64_t a) {
        return (a - shared_base < shared_bytes ? a - shared_base : a % isa::window_bytes) & aligned;
      });
      break;
    case isa::space::local:
      for_lanes(record.mask, addresses, [=](std::uint64_t a) {
        return (a - local_base < local_bytes ? a - local_base : a) % most_local_bytes & aligned;
      });
      break;
    case isa::space::generic:
      for_lanes(record.mask, addresses, [=](std::uint64_t a) {
        if (a - shared_base < shared_bytes) return (isa::shared_window_base + (a - shared_base)) & aligned;
        if (a - local_base < local_bytes)
          return (isa::local_window_base + (a - local_base) % most_local_bytes) & aligned;
        return std::max(a & global_mask, isa::heap_base) & aligned;
      });
      break;
    default: for_lanes(record.mask, addresses, [=](std::uint64_t a) { return a & global_mask & aligned; }); break;
  }
}

}  // namespace heddle::sass_trace
