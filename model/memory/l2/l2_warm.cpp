// SPDX-License-Identifier: MIT
// Accesses without timing that bring lines as timed ones do, so that the next launch finds them.
#include <algorithm>
#include <cstring>

#include "heddle/memory/l2/l2_slice.h"

namespace heddle {

void l2_slice::count_touched() {
  touched_.assign(hot_.lines.capacity(), 0);
  touched_count_ = 0;
}

// Bytes of dirty lines that are replaced go to the memory at once.
void l2_slice::drop(std::uint32_t slot) {
  const std::uint64_t address = map_.global_address(index_, hot_.lines.line_of(slot) * line_bytes);
  const byte_mask dirty = hot_.lines.at(slot).dirty;
  const bool in_place = regions_ != nullptr && regions_->find(address) != nullptr;
  for (unsigned i = 0; i < line_bytes && !in_place;) {
    unsigned n = 0;
    while (i + n < line_bytes && dirty.test(i + n)) ++n;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    std::uint8_t bytes[line_bytes];
    std::memcpy(bytes, hot_.lines.data(slot) + i, n);
    if (n != 0) debug_line(true, address + i, bytes, n, status);
    i += n + 1;
  }
  --lines_in_;
}

unsigned l2_slice::warm(const line_touch& t) {
  if (shared_ || (regions_ != nullptr && regions_->is_distant(t.line))) return 0;
  if (warmed_.empty()) warmed_.resize(hot_.lines.capacity());
  const std::uint64_t line = map_.local_address(t.line) / line_bytes;
  std::uint32_t slot = hot_.lines.find(line);
  const bool hit = slot != none;
  if (!hit) {
    slot = hot_.lines.victim(line);
    if (slot == none) return 0;
    if (hot_.lines.occupied(slot)) drop(slot);
    hot_.lines.install(slot, line);
    ++lines_in_;
    warmed_[slot] = {};
  }
  hot_.lines.touch(slot);
  if (far_latency_ != 0) copies_[slot] = 0;
  unsigned present = warmed_[slot].read | warmed_[slot].written;
  for (unsigned n = 0; n < sectors_per_line; ++n)
    present |= (hot_.lines.at(slot).valid.sector(n) == ~std::uint32_t{0} ? 1u : 0u) << n;
  const bool needs_bytes = t.use != line_use::writes;
  const unsigned missing = needs_bytes ? t.sectors & ~present : hit ? 0 : t.sectors;
  (t.use == line_use::reads ? warmed_[slot].read : warmed_[slot].written) |= t.sectors;
  return static_cast<unsigned>(__builtin_popcount(missing));
}

// The memory has all bytes now, but for those that are dirty here.
void l2_slice::end_warming() {
  for (std::uint32_t slot = 0; slot < warmed_.size(); ++slot) {
    const warmed_sectors w = warmed_[slot];
    if ((w.read | w.written) == 0) continue;
    line_store::state& s = hot_.lines.at(slot);
    const std::uint64_t address = map_.global_address(index_, hot_.lines.line_of(slot) * line_bytes);
    for (unsigned n = 0; n < sectors_per_line; ++n) {
      if (((w.read | w.written) >> n & 1) == 0 || s.valid.sector(n) == ~std::uint32_t{0}) continue;
      std::uint8_t bytes[sector_bytes] = {};
      tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
      if (debug_line(false, address + n * sector_bytes, bytes, sector_bytes, status) != sector_bytes) continue;
      std::memcpy(hot_.lines.data(slot) + std::size_t{n} * sector_bytes, bytes, sector_bytes);
      s.valid |= byte_mask::sectors(1u << n);
    }
    s.dirty |= byte_mask::sectors(w.written) & s.valid;
  }
  warmed_.clear();
}

}  // namespace heddle
