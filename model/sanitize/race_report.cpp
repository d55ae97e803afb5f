// SPDX-License-Identifier: MIT
// What is said of a race.
#include <cstdio>

#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/isa/matrix.h"
#include "heddle/sanitize/race_check.h"
#include "heddle/sanitize/sanitize_kinds.h"
#include "heddle/simt/execute.h"

namespace heddle::sanitize {

namespace {

// Of an access that is part of a copy, or of the reads of a product.
std::string copy_text(const access_mark& m, const isa::instruction& i) {
  if (i.op == isa::opcode::ldgsts)
    return m.is(access_mark::writes) ? "asynchronous copy" : "read by an asynchronous copy";
  if (isa::is_warpgroup_product(i.op)) return "read by a product of a warpgroup";
  return m.is(access_mark::atomic)   ? "bulk reduction"
         : m.is(access_mark::writes) ? "write by a bulk copy"
                                     : "read by a bulk copy";
}

// What the program should have done before the other access.
std::string wait_text(const access_mark& m, const isa::instruction& i, bool in_groups) {
  if (i.op == isa::opcode::ldgsts && in_groups) return "the copy has not been waited for (cp.async.wait_group)";
  if (i.op == isa::opcode::st || i.op == isa::opcode::red) return "it has not been waited for (at its mbarrier)";
  if (isa::is_warpgroup_product(i.op)) return "the product has not been waited for (wgmma.wait_group)";
  const bool groups =
      i.op == isa::opcode::utmastg || i.op == isa::opcode::utmaredg || i.op == isa::opcode::ublkred ||
      (i.op == isa::opcode::ublkcp && static_cast<isa::bulk_direction>(i.sub) == isa::bulk_direction::store);
  if (!groups) return "the copy has not been waited for (at its mbarrier)";
  return std::string("the copy has not been waited for (cp.async.bulk.wait_group") +
         (m.is(access_mark::writes) ? ")" : " or wait_group.read)");
}

const char* plain_text(const access_mark& m, const isa::instruction& i) {
  if (frees_memory(i)) return "free";
  if (m.is(access_mark::copying)) return m.is(access_mark::atomic) ? "asynchronous reduction" : "asynchronous write";
  if (m.is(access_mark::atomic)) return m.is(access_mark::of_block) ? "atomic of block scope" : "atomic";
  if (i.op == isa::opcode::sust || i.op == isa::opcode::suld)
    return m.is(access_mark::writes) ? "surface write" : "surface read";
  if (isa::samples_texture(i.op)) return "texture read";
  if (m.is(access_mark::writes)) return m.is(access_mark::strong) ? "volatile write" : "write";
  return m.is(access_mark::strong) ? "volatile read" : "read";
}

}  // namespace

std::string race_check::kind_of(const access_mark& m) const {
  const isa::instruction& i = program_->code[m.index()];
  const bool transfer = isa::info(i.op).flow == isa::flow_kind::bulk_copy || isa::is_warpgroup_product(i.op);
  return transfer || i.op == isa::opcode::ldgsts ? copy_text(m, i) : plain_text(m, i);
}

void race_check::report(const current& c, const access_mark& earlier, unsigned lane, std::uint64_t address) {
  marks_insufficient_ = true;
  const access_mark* const write = c.mark.is(access_mark::writes) ? &c.mark : &earlier;
  const bool copying = c.mark.is(access_mark::copying) || earlier.is(access_mark::copying);
  const bool has_value = write == &earlier || isa::is_store(c.access->instruction.op);
  if (!c.in_shared && !copying && has_value && c.mark.is(access_mark::writes) != earlier.is(access_mark::writes) &&
      found_.may_mark(program_, write->index())) {
    std::uint32_t value = 0;
    for (unsigned k = 0; k < c.cell_bytes; ++k)
      value |= std::uint32_t{write == &earlier ? *byte_at(c, address + k) : new_byte(c, lane, address + k)} << (8 * k);
    found_.races_with_read(program_, write->index(), launch_->launch_id, write->is(access_mark::marking), value);
  }
  if (found_.counts({sanitize_kind::races, program_, earlier.index(), c.mark.index(), c.in_shared}))
    describe(c, earlier, lane, address);
  if (c.in_shared || !found_.may_mark(program_, write->index())) known_.counts(earlier.index(), c.mark.index());
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
  std::string memory = c.in_shared ? "shared memory at " : "global memory at ";
  memory += hexadecimal(address);
  if (reaches_cluster_ && c.in_shared) memory += " of " + block_text(*launch_, c.holder->clock->block());
  const std::string then_kind = kind_of(earlier);
  f.what = "race: " + kind_of(c.mark) + " of " + memory + " and a" + (then_kind[0] == 'a' ? "n " : " ") + then_kind +
           " that nothing orders";
  const std::uint64_t block = earlier.warp / warps_per_block_;
  simt::lane_mask others = earlier.lanes;
  if (const simt::lane_mask own = 1u << lane; earlier.warp == c.mark.warp && others != own) others &= ~own;
  const auto other = static_cast<unsigned>(__builtin_ctz(others));
  std::string now = thread_text(*launch_, c.at->clock->block(), a.warp.thread(lane)) + ": " + kind_of(c.mark);
  const bool copying = c.mark.is(access_mark::copying) || frees_memory(a.instruction);
  if (!copying) now += " of " + std::to_string(a.bytes) + (a.bytes == 1 ? " byte" : " bytes");
  if (isa::is_store(a.instruction.op)) {
    char text[24];
    store_data(a);
    std::snprintf(text, sizeof text, ", value 0x%x", words_[0][lane]);
    now += text;
  } else if (!copying) {
    now += value_text(c, address);
  }
  f.details.push_back(now + ", at " + place_in_source(*program_, a.instruction));
  const bool together = earlier.number == c.mark.number && earlier.warp == c.mark.warp;
  std::string then =
      thread_text(*launch_, block, earlier.warp % warps_per_block_ * isa::warp_size + other) + ": " + then_kind;
  if (!together && !earlier.is(access_mark::copying)) then += value_text(c, address);
  if (together) then += " of another value in the same instruction";
  f.details.push_back(then + ", at " + place_in_source(*program_, before));
  if (earlier.is(access_mark::copying)) f.details.push_back(wait_text(earlier, before, signals_.any_waits()));
  found_.add(std::move(f));
}

// Texture caches do not follow the writes of a launch: what a texture read gives is undefined, in whatever order.
void race_check::report_stale(const current& c, const access_mark& written, unsigned lane, std::uint64_t address) {
  marks_insufficient_ = true;
  if (!found_.counts({sanitize_kind::races, program_, written.index(), c.mark.index(), 7})) return;
  finding f;
  f.kind = sanitize_kind::races;
  f.place = place_in_source(*program_, c.access->instruction);
  f.kernel = program_->kernel;
  f.launch = launch_->launch_id;
  f.what = "race: texture read of global memory at " + hexadecimal(address) +
           " that this launch has written: textures need not see it before the next launch";
  f.details.push_back(thread_text(*launch_, c.at->clock->block(), c.access->warp.thread(lane)) + ": texture read, at " +
                      f.place);
  const auto other = static_cast<unsigned>(__builtin_ctz(written.lanes));
  f.details.push_back(
      thread_text(*launch_, written.warp / warps_per_block_, written.warp % warps_per_block_ * isa::warp_size + other) +
      ": " + kind_of(written) + ", at " + place_in_source(*program_, program_->code[written.index()]));
  found_.add(std::move(f));
}

void race_check::report_exit(const place& p, const access_mark& last) {
  if (!found_.counts({sanitize_kind::races, program_, last.index(), 0, 4})) return;
  finding f;
  f.kind = sanitize_kind::races;
  f.place = place_in_source(*program_, program_->code[last.index()]);
  f.kernel = program_->kernel;
  f.launch = launch_->launch_id;
  f.what = "race: " + kind_of(last) + " of shared memory of another block, and nothing keeps that block from exiting";
  const auto lane = static_cast<unsigned>(__builtin_ctz(last.lanes));
  f.details.push_back(
      thread_text(*launch_, last.warp / warps_per_block_, last.warp % warps_per_block_ * isa::warp_size + lane) + ": " +
      kind_of(last) + ", at " + f.place);
  f.details.push_back(block_text(*launch_, p.clock->block()) + " exits without waiting for it (barrier.cluster)");
  found_.add(std::move(f));
}

void race_check::report_early_end(const place& p, const copy& k) {
  if (!found_.counts({sanitize_kind::races, program_, k.index, 0, 5})) return;
  finding f;
  f.kind = sanitize_kind::races;
  f.place = place_in_source(*program_, program_->code[k.index]);
  f.kernel = program_->kernel;
  f.launch = launch_->launch_id;
  f.what = "race: the block exits while a bulk copy may still read its shared memory";
  f.details.push_back(thread_text(*launch_, p.clock->block(), k.warp * isa::warp_size + k.lane) +
                      ": the copy has not been waited for (cp.async.bulk.wait_group or wait_group.read)");
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
