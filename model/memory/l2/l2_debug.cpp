// SPDX-License-Identifier: MIT
// The untimed access paths of an L2 slice: debug and blocking transport, consistent with its lines and write-backs.
#include <algorithm>
#include <cstring>

#include "heddle/memory/l2/l2_slice.h"
#include "heddle/tlm/kernel/calling_process.h"

namespace heddle {

// Accesses the memory by debug transport; a memory may return fewer bytes than requested, and is then called again for
// the rest. A memory without debug transport is accessed by blocking transport, which may wait and therefore needs a
// thread. If not all bytes are transferred, `status` becomes the response status of the access that failed.
unsigned l2_slice::memory_debug(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                                tlm::tlm_response_status& status) {
  unsigned done = 0;
  while (done < length) {
    tlm::tlm_generic_payload p;
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address + done);
    p.set_data_ptr(data + done);
    p.set_data_length(length - done);
    p.set_streaming_width(length - done);
    const unsigned n = std::min(length - done, memory_socket->transport_dbg(p));
    done += n;
    if (n != 0) continue;
    if (in_thread()) return done + memory_blocking(write, address + done, data + done, length - done, status);
    status = p.get_response_status();
    return done;
  }
  return done;
}

// Uses the same transfers as nb_transport: reads are aligned power-of-two numbers of whole sectors, writes are
// naturally aligned runs of bytes.
unsigned l2_slice::memory_blocking(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                                   tlm::tlm_response_status& status) {
  for (unsigned done = 0; done < length;) {
    const std::uint64_t first = address + done;
    unsigned n = write ? 1 : sector_bytes;
    if (write)
      while (first % (n * 2) == 0 && n * 2 <= length - done) n *= 2;
    else
      while (first / n != (address + length - 1) / n) n *= 2;
    std::uint8_t image[line_bytes] = {};
    const std::uint64_t from = first / n * n;
    if (write) std::memcpy(image, data + done, n);
    tlm::tlm_generic_payload p;
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(from);
    p.set_data_ptr(image);
    p.set_data_length(n);
    p.set_streaming_width(n);
    sc_core::sc_time delay;  // ignored: the access is untimed for the caller
    memory_socket->b_transport(p, delay);
    status = p.get_response_status();
    if (!p.is_response_ok()) return done;
    const unsigned got = write ? n : length - done;
    if (!write) std::memcpy(data + done, image + (first - from), got);
    done += got;
  }
  return length;
}

// Updates all copies older than a debug write: queued and outstanding writes to the memory, and the line in this slice.
void l2_slice::patch(std::uint64_t line_address, unsigned offset, const std::uint8_t* data, const byte_mask& bytes) {
  std::uint8_t image[line_bytes] = {};
  std::memcpy(image + offset, data, bytes.count());
  const memory_port::added_writes added = hot_.memory.patch(line_address, image, bytes);
  if (added.requests != 0) {
    l2_counters& c = counters_[added.launch];
    c.write_backs += added.requests;
    c.write_back_bytes += added.bytes;
    hot_.clock.wake_at(hot_.clock.cycle() + 1);
  }
  const std::uint32_t slot = hot_.lines.find(map_.local_address(line_address) / line_bytes);
  if (slot == line_store::none) return;
  copy_masked(hot_.lines.data(slot), image, bytes);
  // Also marked valid during a fetch, which may return the old bytes.
  hot_.lines.at(slot).valid |= bytes;
}

unsigned l2_slice::debug_line(bool write, std::uint64_t address, std::uint8_t* data, unsigned length,
                              tlm::tlm_response_status& status) {
  const unsigned offset = static_cast<unsigned>(address % line_bytes);
  const std::uint64_t line_address = address - offset;
  const byte_mask bytes = byte_mask::run(offset, length);
  const std::uint64_t line = map_.local_address(line_address) / line_bytes;
  if (write) {
    // Patched again after the memory access, which may take time in which lines are filled and evicted.
    patch(line_address, offset, data, bytes);
    const unsigned done = memory_debug(true, address, data, length, status);
    patch(line_address, offset, data, bytes);
    const std::uint32_t slot = hot_.lines.find(line);
    if (slot == line_store::none) return done;
    if (done < length) hot_.lines.at(slot).dirty |= bytes;
    return length;
  }
  std::uint32_t slot = hot_.lines.find(line);
  if (slot != line_store::none && (shared_ ? hot_.lines.at(slot).dirty : hot_.lines.at(slot).valid).covers(bytes)) {
    std::memcpy(data, hot_.lines.data(slot) + offset, length);
    return length;
  }
  std::uint8_t image[line_bytes] = {};
  const unsigned done = memory_debug(false, address, image + offset, length, status);
  slot = hot_.lines.find(line);
  byte_mask have = byte_mask::run(offset, done) | hot_.memory.overlay(line_address, image);
  if (slot != line_store::none) {
    // If other agents write the memory, its bytes are newer than the clean bytes here, which are used only where the
    // memory returned none.
    const line_store::state& s = hot_.lines.at(slot);
    copy_masked(image, hot_.lines.data(slot), shared_ ? s.dirty | (s.valid & ~have) : s.valid);
    have |= s.valid;
  }
  unsigned n = 0;
  while (n < length && have.test(offset + n)) ++n;
  std::memcpy(data, image + offset, n);
  return n;
}

void l2_slice::move_distant(bool write, std::uint64_t line_address, const byte_mask& bytes, std::uint32_t slot) {
  std::vector<distant_memory::run> runs;
  for (unsigned i = 0; i < line_bytes;) {
    unsigned n = 0;
    while (i + n < line_bytes && bytes.test(i + n)) ++n;
    if (n != 0) runs.push_back({line_address + i, hot_.lines.data(slot) + i, n});
    i += n + 1;
  }
  regions_->move(write, runs);
}

bool l2_slice::has_nothing_of(std::uint64_t local_address, std::uint64_t bytes) const {
  if (shared_ || !hot_.memory.idle()) return false;
  if (lines_in_ == 0) return true;
  const std::uint64_t last = (local_address + bytes - 1) / line_bytes;
  for (std::uint64_t line = local_address / line_bytes; line <= last; ++line)
    if (hot_.lines.find(line) != line_store::none) return false;
  return true;
}

// Number of bytes from `address` on, within one block of the interleaving, that only the memory holds: no line has them
// and no memory request is outstanding.
unsigned l2_slice::bytes_in_memory_alone(std::uint64_t address, unsigned most) const {
  if (shared_ || !hot_.memory.idle()) return 0;
  const std::uint64_t bytes = std::min<std::uint64_t>(map_.bytes_to_boundary(address), most);
  std::uint64_t n = 0;  // an offset, since the end of the last line has no address
  while (n < bytes && hot_.lines.find(map_.local_address(address + n) / line_bytes) == line_store::none)
    n += line_bytes - (address + n) % line_bytes;
  return static_cast<unsigned>(std::min(n, bytes));
}

// The response status, which debug transport does not use, tells those above in the GPU why bytes are missing.
unsigned l2_slice::transport_dbg(tlm::tlm_generic_payload& p) {
  if (!p.is_read() && !p.is_write()) return 0;
  unsigned done = 0;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  while (done < p.get_data_length()) {
    const std::uint64_t address = p.get_address() + done;
    if (map_.slice_of(address) != index_) break;
    if (const unsigned alone = bytes_in_memory_alone(address, p.get_data_length() - done); alone != 0) {
      const unsigned n = memory_debug(p.is_write(), address, p.get_data_ptr() + done, alone, status);
      done += n;
      if (n != alone) break;
      continue;
    }
    const unsigned to_end = line_bytes - static_cast<unsigned>(address % line_bytes);
    const unsigned length = std::min(to_end, p.get_data_length() - done);
    const unsigned n = debug_line(p.is_write(), address, p.get_data_ptr() + done, length, status);
    done += n;
    if (n != length) break;
  }
  if (done != p.get_data_length()) p.set_response_status(status);
  return done;
}

void l2_slice::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  delay += hot_.clock.domain().time_of(pipeline_ + 1);
  demand d;
  if (!decode(p, d)) return;
  if (d.atomic != nullptr) {
    p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  // Each run of enabled bytes in turn.
  for (unsigned i = 0; i < p.get_data_length();) {
    unsigned n = 0;
    while (i + n < p.get_data_length() && d.bytes.test(d.offset + i + n)) ++n;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    if (n != 0 && debug_line(d.write, p.get_address() + i, p.get_data_ptr() + i, n, status) != n) {
      const bool is_error = status < tlm::TLM_INCOMPLETE_RESPONSE;  // the errors are negative
      p.set_response_status(is_error ? status : tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    i += n + 1;
  }
  p.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace heddle
