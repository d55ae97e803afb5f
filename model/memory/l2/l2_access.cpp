// SPDX-License-Identifier: MIT
// The look-ups of an L2 slice: hits, misses and merges.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/memory/l2/l2_slice.h"
#include "heddle/simt/execute.h"

namespace heddle {

namespace {

// Bytes of the line that the byte enables select among `length` bytes from `offset` on.
byte_mask enabled_bytes(const tlm::tlm_generic_payload& p, unsigned offset, unsigned length) {
  const std::uint8_t* enables = p.get_byte_enable_ptr();
  if (enables == nullptr) return byte_mask::run(offset, length);
  const unsigned period = p.get_byte_enable_length();
  byte_mask m;
  unsigned i = 0;
  if (period >= length && offset % 8 == 0) {
    for (; i + 8 <= length; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, enables + i, 8);
      // Gathers bit 0 of each byte: enables are 0x00 or 0xff.
      m.or_octet((offset + i) / 8, static_cast<unsigned>((eight & 0x0101010101010101u) * 0x0102040810204080u >> 56));
    }
  }
  for (; i < length; ++i)
    if (enables[i % period] == TLM_BYTE_ENABLED) m.set(offset + i);
  return m;
}

// Invalidates the clean bytes of every sector that `wanted` touches, so that they are fetched again. Dirty bytes stay
// valid: the memory does not have them yet.
void forget_clean(line_store::state& s, const byte_mask& wanted) {
  s.valid = s.valid & (s.dirty | ~byte_mask::sectors(wanted.touched_sectors()));
}

// The eviction that a cache policy says for a line.
isa::eviction eviction_by(std::uint32_t policy, std::uint64_t line) {
  namespace field = isa::cache_policy;
  const auto primary = static_cast<isa::eviction>(policy >> field::primary_at & 3);
  const auto other = (policy >> field::secondary_at & 1) != 0 ? isa::eviction::first : isa::eviction::unchanged;
  const std::uint32_t mode = policy >> field::mode_at & 3, amount = policy >> field::amount_at & 15;
  if (mode == field::fraction) return golden_hash(line) >> 60 <= amount ? primary : other;
  if (mode != field::range) return isa::eviction::unchanged;
  const std::uint64_t block = line * line_bytes >> (field::least_block_bits + amount);
  const std::uint64_t place = (block - (policy >> field::start_at)) & field::block_mask;
  return place < (policy >> field::count_at & field::block_mask) ? primary : other;
}

// Adds the bytes of an atomic's cells to `bytes`; false if the atomic is malformed.
bool cells_of(const atomic_request& a, byte_mask& bytes) {
  const unsigned size = isa::size_of(static_cast<isa::dtype>(a.type));
  if (a.count > a.offset.size() || size == 0 || size > 16 || a.wide != (size == 16)) return false;
  for (unsigned i = 0; i < a.count; ++i) {
    if (a.offset[i] + size > line_bytes) return false;
    bytes |= byte_mask::run(a.offset[i], size);
  }
  return true;
}

}  // namespace

bool l2_slice::decode(tlm::tlm_generic_payload& p, demand& d) const {
  const std::uint64_t address = p.get_address();
  const unsigned length = p.get_data_length();
  d.offset = static_cast<unsigned>(address % line_bytes);
  d.line_address = address - d.offset;
  d.line = map_.local_address(d.line_address) / line_bytes;
  if (gpu_request* request = request_of(p)) {
    d.request = request;
    d.launch = request->launch;
    d.system = shared_ && request->system;
    if (p.get_command() == tlm::TLM_IGNORE_COMMAND) {
      d.atomic = request->atomic;
      d.fence = shared_ && request->what == gpu_request::kind::fence;
    }
  }
  tlm::tlm_response_status bad = tlm::TLM_OK_RESPONSE;
  if (map_.slice_of(address) != index_) {
    bad = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  } else if (d.atomic != nullptr) {
    if (cells_of(*d.atomic, d.bytes)) return true;
    bad = tlm::TLM_COMMAND_ERROR_RESPONSE;
  } else if (d.fence) {
    return true;
  } else if (p.get_command() == tlm::TLM_IGNORE_COMMAND) {
    bad = tlm::TLM_OK_RESPONSE;  // a null command: nothing to do
  } else if (length == 0 || length > line_bytes - d.offset || p.get_streaming_width() < length) {
    bad = tlm::TLM_BURST_ERROR_RESPONSE;
  } else if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0) {
    bad = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  } else {
    d.write = p.is_write();
    d.bytes = enabled_bytes(p, d.offset, length);
    return true;
  }
  p.set_response_status(bad);
  return false;
}

bool l2_slice::perform(tlm::tlm_generic_payload& p, const demand& d, cycle_t now) {
  if (d.fence) {
    fence(p);
    return true;
  }
  if (d.atomic != nullptr && hot_.atomic_free > now) return false;
  if ((d.write || d.atomic != nullptr) && array_ready() > now) return false;
  // A system-scope write or atomic is written through to the memory at once.
  if (d.system && (d.write || d.atomic != nullptr) && !memory_has_room()) return false;
  std::uint32_t slot = hot_.lines.find(d.line);
  if (slot != none && hot_.lines.at(slot).mshr != none) return join_miss(p, d, slot, now);
  const bool hit = slot != none;
  if (hit && d.system && !d.write) forget_clean(hot_.lines.at(slot), d.bytes);
  const bool complete = d.write || (hit && hot_.lines.at(slot).valid.covers(d.bytes));
  if (!complete && (hot_.free_mshrs.empty() || !memory_has_room())) {
    waits_for_room_ = !hit;  // without the line, only an MSHR and room towards the memory end the stall
    return false;
  }
  if (!hit) {
    slot = make_room(d);
    if (slot == none) return false;
  }
  if (!complete) return start_miss(p, d, slot);
  if (d.write) count_write(d, hit);
  else count_read(d, 0, 0);
  serve(p, d, slot, now);
  return true;
}

// Writes back all earlier stores and drops the clean bytes, which other agents may have overwritten in memory.
void l2_slice::fence(tlm::tlm_generic_payload& p) {
  drop_clean();
  open_fence& fence = fences_.take();
  fence.slice = this;
  fence.payload = &p;
  flush(fence);
}

void l2_slice::fence_performed(open_fence& fence) {
  tlm::tlm_generic_payload& p = *fence.payload;
  fences_.give_back(fence);
  respond(p, tlm::TLM_OK_RESPONSE);
}

std::uint32_t l2_slice::make_room(const demand& d) {
  const std::uint32_t slot = hot_.lines.victim(d.line);
  if (slot == none) return none;
  if (hot_.lines.occupied(slot)) {
    if (hot_.lines.at(slot).dirty.any()) {
      if (!memory_has_room()) return none;
      write_back(slot);
    }
    ++counters_[d.launch].evictions;
  }
  hot_.lines.install(slot, d.line);
  if (far_latency_ != 0) copies_[slot] = 0;
  ++lines_in_;
  return slot;
}

bool l2_slice::start_miss(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot) {
  const std::uint32_t miss = hot_.free_mshrs.back();
  hot_.free_mshrs.pop_back();
  ++misses_;
  mshr& m = hot_.mshrs[miss];
  m = mshr{};
  m.slot = slot;
  hot_.lines.at(slot).mshr = miss;
  hot_.lines.touch(slot);
  const unsigned sectors = (d.bytes & ~hot_.lines.at(slot).valid).touched_sectors();
  count_read(d, 0, sectors);
  fetch(miss, d, sectors);
  park(m, p, d);
  return true;
}

bool l2_slice::join_miss(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now) {
  mshr& m = hot_.mshrs[hot_.lines.at(slot).mshr];
  const unsigned absent = d.write ? 0 : (d.bytes & ~hot_.lines.at(slot).valid).touched_sectors();
  if (!d.write && d.atomic == nullptr && absent == 0 && m.ordered == 0) {
    // A read whose bytes are present may overtake waiting reads, but not writes or atomics: requests to one line take
    // effect in order.
    count_read(d, 0, 0);
    serve(p, d, slot, now);
    return true;
  }
  const unsigned wanted = absent & ~m.pending & ~m.failed;
  if (m.count >= parameters_.mshr_merges || (wanted != 0 && !memory_has_room())) return false;
  hot_.lines.touch(slot);
  if (d.write) count_write(d, true);
  else count_read(d, absent & ~wanted, wanted);
  if (wanted != 0) fetch(hot_.lines.at(slot).mshr, d, wanted);
  park(m, p, d);
  return true;
}

void l2_slice::park(mshr& m, tlm::tlm_generic_payload& p, const demand& d) {
  if (hot_.free_waiters.empty()) {
    hot_.waiters.emplace_back();
    hot_.free_waiters.push_back(static_cast<std::uint32_t>(hot_.waiters.size() - 1));
  }
  const std::uint32_t w = hot_.free_waiters.back();
  hot_.free_waiters.pop_back();
  hot_.waiters[w] = {&p, none, d};
  if (observer_ != nullptr)
    if (const auto* request = request_of(p)) observer_->reached_memory(*request);
  if (m.head == none) m.head = w;
  else hot_.waiters[m.tail].next = w;
  m.tail = w;
  ++m.count;
  m.ordered += d.write || d.atomic != nullptr;
}

// The sectors that are fetched with those that miss, because the memory is read in larger blocks: what the line lacks
// of the blocks and no fetch has brought.
unsigned l2_slice::with_neighbours(const mshr& m, unsigned sectors) const {
  const unsigned block = parameters_.fetch_bytes / sector_bytes;
  const unsigned first = (1u << block) - 1;
  unsigned blocks = 0;
  for (unsigned s = 0; s < sectors_per_line; s += block)
    if ((sectors >> s & first) != 0) blocks |= first << s;
  const unsigned absent = (byte_mask::sectors(blocks) & ~hot_.lines.at(m.slot).valid).touched_sectors();
  return sectors | (absent & ~m.pending & ~m.failed);
}

void l2_slice::fetch(std::uint32_t miss, const demand& d, unsigned sectors) {
  l2_counters& c = counters_[d.launch];
  if (parameters_.fetch_bytes > sector_bytes) sectors = with_neighbours(hot_.mshrs[miss], sectors);
  hot_.mshrs[miss].pending |= sectors;
  if (d.request != nullptr) d.request->l2.fetched += static_cast<std::uint8_t>(__builtin_popcount(sectors));
  for (unsigned s = 0; s < sectors_per_line;) {
    unsigned count = 1;
    if (sectors >> s & 1) {
      while (s % (count * 2) == 0 && s + count * 2 <= sectors_per_line &&
             (sectors >> s & ((1u << count * 2) - 1)) == (1u << count * 2) - 1)
        count *= 2;
      hot_.memory.read(d.line_address, s, count, miss, d.launch);
      ++c.fetches;
      c.fetch_bytes += count * sector_bytes;
    }
    s += count;
  }
}

void l2_slice::wake_waiters(std::uint32_t miss, cycle_t now) {
  mshr& m = hot_.mshrs[miss];
  while (m.head != none) {
    const std::uint32_t w = m.head;
    tlm::tlm_generic_payload& p = *hot_.waiters[w].payload;
    const demand& d = hot_.waiters[w].wants;
    const unsigned absent = d.write ? 0 : (d.bytes & ~hot_.lines.at(m.slot).valid).touched_sectors();
    if ((absent & ~m.failed) != 0) {
      // drop_clean() has invalidated bytes that this waiter needs: they are fetched again.
      const unsigned forgotten = absent & ~m.failed & ~m.pending;
      if (forgotten != 0) fetch(miss, d, forgotten);
      break;
    }
    m.head = hot_.waiters[w].next;
    hot_.free_waiters.push_back(w);
    --m.count;
    m.ordered -= d.write || d.atomic != nullptr;
    if (absent != 0) respond(p, m.error);
    else serve(p, d, m.slot, now);
  }
  if (m.head != none || m.pending != 0) return;
  hot_.lines.at(m.slot).mshr = none;
  m = mshr{};
  hot_.free_mshrs.push_back(miss);
  --misses_;
}

void l2_slice::serve(tlm::tlm_generic_payload& p, const demand& d, std::uint32_t slot, cycle_t now) {
  use_line(slot);
  if (d.request != nullptr && __builtin_expect(d.request->policy != 0, 0)) prioritise(d, slot);
  if (d.write || d.atomic != nullptr) occupy_array(d.bytes.touched_sectors(), now);
  if (!d.write && is_distant(d)) move_distant(false, d.line_address, d.bytes, slot);
  if (d.atomic != nullptr) {
    perform_atomic(p, d, slot, now);
    return;
  }
  std::uint8_t* line = line_of(d, slot);
  std::uint8_t* data = p.get_data_ptr();
  std::uint8_t* const image = data - d.offset;  // of the line: only the bytes of the access are there
  const bool plain = p.get_byte_enable_ptr() == nullptr;
  if (d.write) {
    line_store::state& s = hot_.lines.at(slot);
    if (plain) std::memcpy(line + d.offset, data, p.get_data_length());
    else copy_masked(line, image, d.bytes);
    s.valid |= d.bytes;
    s.dirty |= d.bytes;
    s.launch = d.launch;
    if (is_distant(d)) move_distant(true, d.line_address, d.bytes, slot);
    if (d.system) write_back(slot);
  } else if (plain) {
    std::memcpy(data, line + d.offset, p.get_data_length());
  } else {
    copy_masked(image, line, d.bytes);
  }
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  if (far_latency_ != 0 && crosses(d, slot)) far_.push({&p, now + far_latency_});
  else hot_.port.answer(p);
}

// What an access leaves of the order in which lines are replaced, by its cache policy.
void l2_slice::prioritise(const demand& d, std::uint32_t slot) {
  hot_.lines.set_eviction(slot, eviction_by(d.request->policy, d.line_address / line_bytes));
}

// Counts what the other partition has: it keeps what its SMs read until an SM writes it.
bool l2_slice::crosses(const demand& d, std::uint32_t slot) {
  std::uint8_t& copies = copies_[slot];
  if (d.write) copies = 0;
  if (!is_far(d.request)) return false;
  const unsigned wanted = d.bytes.touched_sectors();
  if (!d.write && (wanted & ~copies) == 0) return false;
  if (!d.write) copies |= static_cast<std::uint8_t>(wanted);
  return true;
}

void l2_slice::respond(tlm::tlm_generic_payload& p, tlm::tlm_response_status status) {
  p.set_response_status(status);
  hot_.port.answer(p);
}

// Reads the sectors that were stored in part. The other bytes are those that the memory has, so that the write which
// follows may leave them out.
void l2_slice::read_parts(std::uint64_t address, const line_store::state& s) {
  l2_counters& c = counters_[s.launch];
  for (unsigned n = 0; n < sectors_per_line; ++n) {
    if (s.dirty.sector(n) == 0 || s.valid.sector(n) == ~std::uint32_t{0}) continue;
    hot_.memory.read(address, n, 1, of_parts, s.launch);
    ++c.fetches;
    c.fetch_bytes += sector_bytes;
  }
}

void l2_slice::write_back(std::uint32_t slot) {
  line_store::state& s = hot_.lines.at(slot);
  l2_counters& c = counters_[s.launch];
  const std::uint64_t address = map_.global_address(index_, hot_.lines.line_of(slot) * line_bytes);
  if (parameters_.fills_parts) read_parts(address, s);
  c.write_backs += hot_.memory.write_back(address, s.dirty, hot_.lines.data(slot), s.launch);
  c.write_back_bytes += s.dirty.count();
  s.dirty = byte_mask{};
}

void l2_slice::count_read(const demand& d, unsigned pending, unsigned misses) {
  l2_counters& c = counters_[d.launch];
  ++(d.atomic != nullptr ? c.atomics : c.reads);
  const unsigned all = static_cast<unsigned>(__builtin_popcount(d.bytes.touched_sectors()));
  const unsigned in_flight = static_cast<unsigned>(__builtin_popcount(pending));
  const unsigned absent = static_cast<unsigned>(__builtin_popcount(misses));
  c.read_sectors += all;
  c.read_hits += all - in_flight - absent;
  c.read_pending_hits += in_flight;
  c.read_misses += absent;
  sectors_hit_ += all - in_flight - absent;
  sectors_missed_ += absent;
  if (d.request == nullptr) return;
  d.request->l2.hits = static_cast<std::uint8_t>(all - in_flight - absent);
  d.request->l2.misses = static_cast<std::uint8_t>(in_flight + absent);
}

void l2_slice::count_write(const demand& d, bool hit) {
  l2_counters& c = counters_[d.launch];
  const unsigned all = static_cast<unsigned>(__builtin_popcount(d.bytes.touched_sectors()));
  ++c.writes;
  c.write_sectors += all;
  (hit ? c.write_hits : c.write_misses) += all;
  (hit ? sectors_hit_ : sectors_missed_) += all;
  if (d.request != nullptr) (hit ? d.request->l2.hits : d.request->l2.misses) = static_cast<std::uint8_t>(all);
}

}  // namespace heddle
