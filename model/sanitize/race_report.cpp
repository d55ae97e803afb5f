// SPDX-License-Identifier: MIT
// What is said of a race.
#include <cstdio>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/simt/execute.h"

namespace heddle::sanitize {

namespace {

const char* kind_of(const access_mark& m) {
  if (m.is(access_mark::copying)) return "asynchronous copy";
  if (m.is(access_mark::atomic)) return m.is(access_mark::of_block) ? "atomic of block scope" : "atomic";
  if (m.is(access_mark::writes)) return m.is(access_mark::strong) ? "volatile write" : "write";
  return m.is(access_mark::strong) ? "volatile read" : "read";
}

}  // namespace

void race_check::report(const current& c, const access_mark& earlier, unsigned lane, std::uint64_t address) {
  const access_mark* const write = c.mark.is(access_mark::writes) ? &c.mark : &earlier;
  if (!c.in_shared && c.mark.is(access_mark::writes) != earlier.is(access_mark::writes)) {
    std::uint32_t value = 0;
    for (unsigned k = 0; k < c.cell_bytes; ++k)
      value |= std::uint32_t{write == &earlier ? *byte_at(c, address + k) : new_byte(c, lane, address + k)} << (8 * k);
    found_.races_with_read(program_, write->index(), launch_->launch_id, write->is(access_mark::marking), value);
  }
  if (found_.counts({sanitize_kind::races, program_, earlier.index(), c.mark.index(), c.in_shared}))
    describe(c, earlier, lane, address);
}

void race_check::describe(const current& c, const access_mark& earlier, unsigned lane, std::uint64_t address) {
  const watched_access& a = *c.access;
  const isa::instruction& before = program_->code[earlier.index()];
  finding f;
  f.kind = sanitize_kind::races;
  f.place = place_in_source(*program_, a.instruction);
  f.kernel = program_->kernel;
  f.launch = launch_->launch_id;
  f.program = program_;
  const bool writes = c.mark.is(access_mark::writes), read_of_write = writes != earlier.is(access_mark::writes);
  if (!c.in_shared && read_of_write) f.writer = writes ? c.mark.index() : earlier.index();
  const std::string memory = c.in_shared ? "shared" : "global";
  f.what = std::string("race: ") + kind_of(c.mark) + " of " + memory + " memory at " + hexadecimal(address) + " and a" +
           (earlier.is(access_mark::atomic) || earlier.is(access_mark::copying) ? "n " : " ") + kind_of(earlier) +
           " that nothing orders";
  const std::uint64_t block = earlier.warp / warps_per_block_;
  simt::lane_mask others = earlier.lanes;
  if (const simt::lane_mask own = 1u << lane; earlier.warp == c.mark.warp && others != own) others &= ~own;
  const auto other = static_cast<unsigned>(__builtin_ctz(others));
  std::string now = thread_text(*launch_, c.at->clock->block(), a.warp.thread(lane)) + ": " + kind_of(c.mark) + " of " +
                    std::to_string(a.bytes) + (a.bytes == 1 ? " byte" : " bytes");
  if (a.instruction.op == isa::opcode::st) {
    char text[24];
    simt::lane_store_data(a.instruction, a.warp, words_);
    std::snprintf(text, sizeof text, ", value 0x%x", words_[0][lane]);
    now += text;
  } else if (!c.mark.is(access_mark::copying)) {
    now += value_text(c, address);
  }
  f.details.push_back(now + ", at " + place_in_source(*program_, a.instruction));
  const bool together = earlier.number == c.mark.number && earlier.warp == c.mark.warp;
  std::string then =
      thread_text(*launch_, block, earlier.warp % warps_per_block_ * isa::warp_size + other) + ": " + kind_of(earlier);
  if (!together && !earlier.is(access_mark::copying)) then += value_text(c, address);
  if (together) then += " of another value in the same instruction";
  f.details.push_back(then + ", at " + place_in_source(*program_, before));
  if (earlier.is(access_mark::copying))
    f.details.emplace_back("the copy has not been waited for (cp.async.wait_group)");
  found_.add(std::move(f));
}

// The value that is in memory now.
std::string race_check::value_text(const current& c, std::uint64_t address) const {
  std::uint32_t value = 0;
  const unsigned bytes = c.access->bytes < 4 ? c.access->bytes : 4;
  for (unsigned k = 0; k < bytes; ++k) value |= std::uint32_t{*byte_at(c, address + k)} << (8 * k);
  char text[24];
  std::snprintf(text, sizeof text, ", value 0x%x", value);
  return text;
}

}  // namespace heddle::sanitize
