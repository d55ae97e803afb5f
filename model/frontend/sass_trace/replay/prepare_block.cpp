// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/prepare_block.h"

#include "heddle/frontend/sass_trace/replay/machine_addresses.h"
#include "heddle/isa/set_bits.h"

namespace heddle::sass_trace {

namespace {

bool ends(const trace_kernel& kernel, const block_trace& block, const warp_trace& w) {
  return w.count != 0 && kernel.program->code[block.records[w.first + w.count - 1].instruction & isa::step::index].op ==
                             isa::opcode::exit;
}

}  // namespace

void share_addresses(const trace_kernel& kernel, const std::shared_ptr<common_addresses>& common, block_trace& block) {
  const std::vector<isa::instruction>& code = kernel.program->code;
  block.common = common;
  if (kernel.program->follows) return;
  common_addresses::origin o;
  for (trace_record& s : block.records) {
    if (s.addresses == 0 || code[s.instruction].mem_space != isa::space::shared ||
        !block.addresses.origin(s.addresses, o.words))
      continue;
    o.instruction = s.instruction;
    o.mask = s.mask;
    const common_addresses::number n =
        common->find_or_add(static_cast<std::size_t>(&s - block.records.data()), o, [&](isa::lane_addresses& to) {
          machine_addresses(kernel, block.addresses, common.get(), s, to.at);
          for (const unsigned lane : set_bits(s.mask)) to.differing_bits |= to.at[lane] ^ to.at[__builtin_ctz(s.mask)];
        });
    if (n != common_addresses::none) s.addresses = n | common_bit;
  }
}

std::size_t added_bytes(const trace_kernel& kernel, const block_trace& block) {
  std::size_t records = kernel.header.warps() - block.warps.size();
  for (const warp_trace& w : block.warps)
    if (!ends(kernel, block, w)) records += w.count + 1;
  return records * sizeof(trace_record);
}

void complete(const trace_kernel& kernel, block_trace& block) {
  const std::uint32_t warps = kernel.header.warps();
  std::vector<warp_trace> ordered(warps);
  for (const warp_trace& w : block.warps) ordered[w.warp] = w;
  for (std::uint32_t n = 0; n < warps; ++n) {
    warp_trace& w = ordered[n];
    w.warp = n;
    if (ends(kernel, block, w)) continue;
    // The records of a warp are contiguous, so they move to the end of the list to gain one.
    const std::size_t first = block.records.size();
    block.records.reserve(first + w.count + 1);
    for (std::size_t k = 0; k < w.count; ++k) block.records.push_back(block.records[w.first + k]);
    w.first = first;
    block.records.push_back(kernel.end_of(n));
    ++w.count;
  }
  block.warps = std::move(ordered);
}

}  // namespace heddle::sass_trace
