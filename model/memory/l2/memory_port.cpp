// SPDX-License-Identifier: MIT
#include "heddle/memory/l2/memory_port.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"

namespace heddle {

memory_port::memory_port(tlm::tlm_initiator_socket<32>& socket, clock_port& clock) : port_(socket, clock, *this) {}

std::uint32_t memory_port::open(std::uint64_t line_address, std::uint32_t launch) {
  if (free_.empty()) {
    requests_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(requests_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  request& r = requests_[index];
  r = request{};
  r.payload = &pool_.acquire();
  r.line_address = line_address;
  gpu_request& extension = r.payload->request;
  extension.what = gpu_request::kind::load;
  extension.launch = launch;
  extension.token = index;
  queue_.push(index);
  ++active_;
  return index;
}

void memory_port::read(std::uint64_t line_address, unsigned first, unsigned count, std::uint32_t tag,
                       std::uint32_t launch) {
  request& r = requests_[open(line_address, launch)];
  r.tag = tag;
  r.bytes = byte_mask::run(first * sector_bytes, count * sector_bytes);
  r.payload->make_read(line_address, static_cast<std::uint8_t>(((1u << count) - 1) << first));
}

unsigned memory_port::write_back(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                                 std::uint32_t launch) {
  return write_runs(line_address, bytes, data, launch, epoch_);
}

unsigned memory_port::write_runs(std::uint64_t line_address, const byte_mask& bytes, const std::uint8_t* data,
                                 std::uint32_t launch, unsigned epoch) {
  unsigned full = 0;
  unsigned made = 0;
  for (unsigned s = 0; s < sectors_per_line; ++s) full |= (bytes.sector(s) == 0xffffffff ? 1u : 0u) << s;
  for (unsigned s = 0; s < sectors_per_line;) {
    unsigned count = 1;
    if (full >> s & 1) {
      while (s % (count * 2) == 0 && s + count * 2 <= sectors_per_line &&
             (full >> s & ((1u << count * 2) - 1)) == (1u << count * 2) - 1)
        count *= 2;
      write_run(line_address, s * sector_bytes, count * sector_bytes,
                byte_mask::run(s * sector_bytes, count * sector_bytes), data, launch, epoch);
      ++made;
    } else if (bytes.sector(s) != 0) {
      made += write_sector(line_address, s, bytes, data, launch, epoch);
    }
    s += count;
  }
  return made;
}

unsigned memory_port::write_sector(std::uint64_t line_address, unsigned sector, const byte_mask& bytes,
                                   const std::uint8_t* data, std::uint32_t launch, unsigned epoch) {
  struct run {
    unsigned first;
    unsigned length;
  };
  run runs[sector_bytes];
  unsigned count = 0;
  const std::uint32_t bits = bytes.sector(sector);
  for (unsigned b = 0; b < sector_bytes;) {
    unsigned length = 1;
    if (bits >> b & 1) {
      while (b % (length * 2) == 0 && length * 2 < sector_bytes &&
             (bits >> b & ((1u << length * 2) - 1)) == (1u << length * 2) - 1)
        length *= 2;
      runs[count++] = {b, length};
    }
    b += length;
  }
  // Not every memory supports byte enables, so one or two plain runs are preferred where they suffice.
  const unsigned base = sector * sector_bytes;
  if (count > 2) {
    write_run(line_address, base, sector_bytes, bytes & byte_mask::run(base, sector_bytes), data, launch, epoch);
    return 1;
  }
  for (unsigned i = 0; i < count; ++i)
    write_run(line_address, base + runs[i].first, runs[i].length, byte_mask::run(base + runs[i].first, runs[i].length),
              data, launch, epoch);
  return count;
}

void memory_port::write_run(std::uint64_t line_address, unsigned first, unsigned length, const byte_mask& bytes,
                            const std::uint8_t* data, std::uint32_t launch, unsigned epoch) {
  request& r = requests_[open(line_address, launch)];
  line_payload& p = *r.payload;
  r.write = true;
  r.bytes = bytes;
  r.epoch = epoch;
  ++writes_[epoch];
  std::memcpy(p.line_data() + first, data + first, length);
  const bool plain = bytes.count() == length;
  if (!plain)
    for (unsigned b = first; b < first + length; ++b)
      p.line_enables()[b] = bytes.test(b) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  p.set_command(tlm::TLM_WRITE_COMMAND);
  p.set_address(line_address + first);
  p.set_data_ptr(p.line_data() + first);
  p.set_data_length(length);
  p.set_streaming_width(length);
  p.set_byte_enable_ptr(plain ? nullptr : p.line_enables() + first);
  p.set_byte_enable_length(plain ? 0 : length);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  p.request.what = gpu_request::kind::store;
  p.request.sectors = static_cast<std::uint8_t>(bytes.touched_sectors());
}

bool memory_port::held_back(const request& r) const {
  for (std::uint32_t w : writing_)
    if (requests_[w].line_address == r.line_address && (requests_[w].bytes & r.bytes).any()) return true;
  return false;
}

bool memory_port::send(cycle_t now) {
  if (queue_.empty() || !port_.may_send(now) || held_back(requests_[queue_.front()])) return false;
  const std::uint32_t index = queue_.front();
  queue_.pop();
  requests_[index].sent = true;
  requests_[index].sent_at = now;
  if (requests_[index].write) writing_.push_back(index);
  port_.send(*requests_[index].payload);
  return true;
}

bool memory_port::take_response(tlm::tlm_generic_payload& p, cycle_t arrival) {
  const auto* extension = request_of(p);
  const std::uint64_t index = extension != nullptr ? extension->token : requests_.size();
  if (index >= requests_.size() || requests_[index].payload != &p || !requests_[index].sent ||
      requests_[index].answered) {
    port_.report("the memory answered a transaction that is not outstanding", p);
    return true;
  }
  request& r = requests_[index];
  r.answered = true;
  if (p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    if (!warned_)
      SC_REPORT_WARNING("/heddle/memory",
                        "the memory left the response status unset (IEEE 1666 14.17); its data is taken");
    warned_ = true;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  // Annotated delays can reorder arrivals, so responses are sorted by arrival, then by order of calls.
  responses_.push({arrival, static_cast<std::uint32_t>(index)});
  for (std::size_t i = responses_.size() - 1; i > 0 && responses_[i - 1].arrival > responses_[i].arrival; --i)
    std::swap(responses_[i - 1], responses_[i]);
  port_.clock().wake_at(arrival);
  return true;
}

const memory_port::response* memory_port::arrived(cycle_t now) const {
  return !responses_.empty() && responses_.front().arrival <= now ? &responses_.front() : nullptr;
}

void memory_port::release_first() {
  const std::uint32_t index = responses_.front().request;
  responses_.pop();
  if (requests_[index].write) {
    --writes_[requests_[index].epoch];
    // A request held back by this write may leave only now. An answer that arrives on an edge is seen at the next edge,
    // independent of the order in which SystemC runs processes.
    writing_.erase(std::find(writing_.begin(), writing_.end(), index));
  }
  requests_[index].payload->release();
  requests_[index] = request{};
  free_.push_back(index);
  --active_;
}

void memory_port::mark_stale() {
  for (request& r : requests_) r.stale = r.payload != nullptr && !r.write;
}

void memory_port::read_first_again() {
  const request& r = requests_[responses_.front().request];
  const unsigned sectors = r.bytes.touched_sectors();
  const std::uint64_t line_address = r.line_address;
  const std::uint32_t tag = r.tag, launch = r.payload->request.launch;
  release_first();
  read(line_address, static_cast<unsigned>(__builtin_ctz(sectors)), static_cast<unsigned>(__builtin_popcount(sectors)),
       tag, launch);
}

cycle_t memory_port::next(cycle_t now) const {
  cycle_t c = responses_.empty() ? never : responses_.front().arrival;
  // If the next request is held back, the response of the write that it waits for wakes the slice.
  if (!queue_.empty() && !port_.waits() && !held_back(requests_[queue_.front()]))
    c = std::min(c, std::max(port_.free_at(), now + 1));
  return c;
}

const memory_port::request* memory_port::oldest() const {
  const request* oldest = nullptr;
  for (const request& r : requests_)
    if (r.sent && !r.answered && (oldest == nullptr || r.sent_at < oldest->sent_at)) oldest = &r;
  return oldest;
}

byte_mask memory_port::overlay(std::uint64_t line_address, std::uint8_t* image) const {
  byte_mask all;
  const auto lay = [&](const request& r) {
    if (!r.write || r.answered || r.line_address != line_address) return;
    copy_masked(image, r.payload->line_data(), r.bytes);
    all |= r.bytes;
  };
  for (std::uint32_t w : writing_) lay(requests_[w]);
  for (std::size_t i = 0; i < queue_.size(); ++i) lay(requests_[queue_[i]]);
  return all;
}

memory_port::added_writes memory_port::patch(std::uint64_t line_address, const std::uint8_t* image,
                                             const byte_mask& bytes) {
  byte_mask pending;  // bytes that writes still in the queue will write
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    request& r = requests_[queue_[i]];
    if (!r.write || r.line_address != line_address) continue;
    copy_masked(r.payload->line_data(), image, r.bytes & bytes);
    pending |= r.bytes;
  }
  added_writes added;
  const std::size_t sent = writing_.size();
  for (std::size_t i = 0; i < sent; ++i) {
    const request& r = requests_[writing_[i]];
    if (r.answered || r.line_address != line_address) continue;
    const byte_mask overlap = r.bytes & bytes & ~pending;
    byte_mask differs;
    for (unsigned b = 0; b < line_bytes; ++b)
      if (overlap.test(b) && r.payload->line_data()[b] != image[b]) differs.set(b);
    if (!differs.any()) continue;
    // In the same epoch as the first write, so that a flush that waits for that one waits for both.
    const unsigned epoch = r.epoch;
    added.launch = r.payload->request.launch;
    added.bytes += differs.count();
    added.requests += write_runs(line_address, differs, image, added.launch, epoch);
  }
  return added;
}

void memory_port::exchange(state_image& image) {
  pool_.exchange_payloads(image);
  image(port_, free_);
  image.taken(requests_, free_);
  image(queue_, responses_, writing_, active_, epoch_, writes_, warned_);
}

}  // namespace heddle
