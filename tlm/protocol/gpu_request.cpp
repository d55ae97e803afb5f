// SPDX-License-Identifier: MIT
#include "heddle/tlm/protocol/gpu_request.h"

#include <cstring>

#include "heddle/tlm/protocol/poison.h"

namespace heddle {

line_payload::line_payload(tlm::tlm_mm_interface* mm) : tlm_generic_payload(mm) { set_extension(&request); }

namespace {
struct sector_run {
  std::uint8_t first;  // sector
  std::uint8_t count;  // 1, 2 or 4
  bool holes;
};

// The smallest aligned power-of-two run of sectors that covers the mask.
constexpr sector_run run_of(unsigned mask) {
  for (unsigned count = 1; count <= sectors_per_line; count *= 2)
    for (unsigned first = 0; first < sectors_per_line; first += count) {
      const unsigned run = ((1u << count) - 1) << first;
      if ((mask & ~run) == 0)
        return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count), (mask & run) != run};
    }
  return {0, sectors_per_line, false};
}
}  // namespace

void line_payload::make_read(std::uint64_t line_address, std::uint8_t sectors) {
  const sector_run r = run_of(sectors);
  const unsigned start = r.first * sector_bytes;
  const unsigned length = r.count * sector_bytes;
  set_command(tlm::TLM_READ_COMMAND);
  set_address(line_address + start);
  set_data_ptr(data_.data() + start);
  set_data_length(length);
  set_streaming_width(length);
  if (r.holes) {
    for (unsigned s = 0; s < sectors_per_line; ++s)
      std::memset(enables_.data() + s * sector_bytes, sectors >> s & 1 ? 0xff : 0, sector_bytes);
    set_byte_enable_ptr(enables_.data() + start);
    set_byte_enable_length(length);
  } else {
    set_byte_enable_ptr(nullptr);
    set_byte_enable_length(0);
  }
  set_dmi_allowed(false);
  set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  request.sectors = sectors;
}

void line_payload::make_write(std::uint64_t line_address) {
  // Enables are 0x00 or 0xff, so eight of them are tested together.
  unsigned sectors = 0;
  bool parts = false;
  std::uint64_t all = ~std::uint64_t{0};
  for (unsigned s = 0; s < sectors_per_line; ++s) {
    std::uint64_t eight[sector_bytes / 8];
    std::memcpy(eight, enables_.data() + s * sector_bytes, sector_bytes);
    const std::uint64_t whole = eight[0] & eight[1] & eight[2] & eight[3];
    all &= whole;
    if ((eight[0] | eight[1] | eight[2] | eight[3]) == 0) continue;
    sectors |= 1u << s;
    parts |= whole != ~std::uint64_t{0};
  }
  const bool full = all == ~std::uint64_t{0};
  const sector_run r = run_of(sectors);
  const unsigned start = r.first * sector_bytes;
  const unsigned length = r.count * sector_bytes;
  set_command(tlm::TLM_WRITE_COMMAND);
  set_address(line_address + start);
  set_data_ptr(data_.data() + start);
  set_data_length(length);
  set_streaming_width(length);
  set_byte_enable_ptr(full ? nullptr : enables_.data() + start);
  set_byte_enable_length(full ? 0 : length);
  set_dmi_allowed(false);
  set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  request.sectors = static_cast<std::uint8_t>(sectors);
  request.parts = parts;
}

void line_payload::make_atomic(std::uint64_t line_address) {
  make_ignored(line_address);
  if (atomic_ == nullptr) atomic_ = std::make_unique<atomic_request>();
  request.what = gpu_request::kind::atomic;
  request.atomic = atomic_.get();
}

void line_payload::make_ignored(std::uint64_t line_address) {
  set_command(tlm::TLM_IGNORE_COMMAND);
  set_address(line_address);
  set_data_ptr(data_.data());
  set_data_length(line_bytes);
  set_streaming_width(line_bytes);
  set_byte_enable_ptr(nullptr);
  set_byte_enable_length(0);
  set_dmi_allowed(false);
  set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void line_payload::make_fence(std::uint64_t line_address) {
  make_ignored(line_address);
  request.what = gpu_request::kind::fence;
  request.atomic = nullptr;
}

void line_payload::set_poison() {
  poison::set(data_.data(), data_.size());
  poison::set(enables_.data(), enables_.size());
}

void line_payload::lift_poison() {
  poison::lift(data_.data(), data_.size());
  poison::lift(enables_.data(), enables_.size());
}

payload_pool::~payload_pool() {
  for (line_payload* p : free_) poison::lift_object(*p);
  // The extension is a member of the payload: the payload's destructor must not free it.
  for (auto& p : all_) p->clear_extension(&p->request);
}

line_payload& payload_pool::acquire() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<line_payload>(this));
    all_.back()->acquire();
    return *all_.back();
  }
  line_payload& p = *free_.back();
  free_.pop_back();
  poison::lift_object(p);
  p.lift_poison();
  p.acquire();
  return p;
}

void payload_pool::free(tlm::tlm_generic_payload* p) {
  auto* line = static_cast<line_payload*>(p);
  line->reset();
  line->request.atomic = nullptr;
  line->request.system = false;
  line->route.owner = nullptr;
  line->set_poison();
  poison::set_object(*line);
  free_.push_back(line);
}

}  // namespace heddle
