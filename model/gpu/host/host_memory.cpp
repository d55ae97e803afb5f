// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/host_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "heddle/config/error.h"
#include "heddle/sanitize/sanitizer.h"

namespace heddle {

namespace {
constexpr unsigned least_bulk_bytes = 16384;  // fewer are as fast block by block
}  // namespace

host_memory::host_memory(socket& below, loaded_modules& modules) : below_(below), modules_(modules) {
  below_.bind(backward_);
}

unsigned host_memory::direct_memory::access(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  if (write && !writable_) return 0;
  tlm::tlm_response_status status;  // functional execution only has memory that refuses nothing
  return of_.plain_access(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes, status);
}

void host_memory::change_map(std::uint64_t what, std::uint64_t base, std::uint64_t bytes) {
  const auto text = [](std::uint64_t v) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(v));
    return std::string(digits);
  };
  if (what == 1) {
    if (!ranges_.takes(base, bytes))
      throw input_error(
          "cannot map " + text(bytes) + " bytes at " + text(base) +
          ": expected a range that is not empty, does not wrap around and overlaps nothing that is mapped");
    ranges_.add(base, bytes);
  } else if (what == 2) {
    if (!ranges_.begins(base)) throw input_error("cannot unmap " + text(base) + ": no mapped range begins there");
    if (regions_ != nullptr && !regions_->empty()) functional_.close();
    ranges_.remove(base);
  } else {
    throw input_error("map command " + std::to_string(what) + ", expected 1 (map) or 2 (unmap)");
  }
}

void host_memory::unmap_all() {
  functional_.close();
  ranges_.remove_all();
}

unsigned host_memory::access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                             tlm::tlm_response_status* status) {
  tlm::tlm_response_status unread;
  tlm::tlm_response_status& why = status != nullptr ? *status : unread;
  why = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (bytes == 0 || bytes - 1 > ~address) return 0;  // no byte lies behind the last address
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  const unsigned done = functional_.open() ? functional_.exchange(write, address, data, bytes)
                                           : plain_access(command, address, data, bytes, why);
  if (done == bytes) why = tlm::TLM_OK_RESPONSE;
  if (write) modules_.written(address, data, done);
  if (sanitizer_ != nullptr) write ? sanitizer_->written(address, done) : sanitizer_->read(address, done);
  return done;
}

void host_memory::access_in_place(const host_regions& regions) {
  regions_ = &regions;
  functional_.access_in_place(regions);
}

// Accesses the memory itself, bypassing the pages of functional execution.
unsigned host_memory::plain_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                                   tlm::tlm_response_status& status) {
  if (regions_ == nullptr || regions_->empty()) return device_access(command, address, data, bytes, status);
  const auto is_in_place = [&](std::uint64_t at) { return regions_->find(at) != nullptr || regions_->is_distant(at); };
  const auto to_boundary = [&](unsigned at) {
    constexpr std::uint64_t unit = host_regions::unit;
    return static_cast<unsigned>(std::min<std::uint64_t>(bytes - at, unit - (address + at) % unit));
  };
  for (unsigned done = 0, n = 0; done < bytes; done += n) {
    n = to_boundary(done);
    if (std::uint8_t* const here = regions_->find(address + done)) {
      if (command == tlm::TLM_WRITE_COMMAND) std::memcpy(here, data + done, n);
      else std::memcpy(data + done, here, n);
      continue;
    }
    if (regions_->is_distant(address + done)) {
      regions_->move(command == tlm::TLM_WRITE_COMMAND, {{address + done, data + done, n}});
      continue;
    }
    while (done + n < bytes && !is_in_place(address + done + n)) n += to_boundary(done + n);
    const unsigned moved = device_access(command, address + done, data + done, n, status);
    if (moved < n) return done + moved;
  }
  return bytes;
}

unsigned host_memory::device_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes,
                                    tlm::tlm_response_status& status) {
  const bool wraps = bytes != 0 && bytes - 1 > ~address;
  if (bulk_ == nullptr || bytes < least_bulk_bytes || wraps)
    return access_through_l2(command, address, data, bytes, status);
  return bulk_->move(command == tlm::TLM_WRITE_COMMAND, address, data, bytes,
                     [this, command, &status](std::uint64_t at, std::uint8_t* there, unsigned n) {
                       return access_through_l2(command, at, there, n, status);
                     });
}

unsigned host_memory::access_through_l2(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data,
                                        unsigned bytes, tlm::tlm_response_status& status) {
  tlm::tlm_generic_payload p;
  p.set_command(command);
  p.set_address(address);
  p.set_data_ptr(data);
  p.set_data_length(bytes);
  p.set_streaming_width(bytes);
  const unsigned done = below_->transport_dbg(p);
  // The GPU's own units pass on why a memory refused; an L2 of the user's need not.
  if (done != bytes && p.is_response_error() && p.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    status = p.get_response_status();
  return done;
}

bool host_memory::inspect(std::uint64_t address, void* data, unsigned bytes) {
  const std::lock_guard<std::mutex> lock(inspecting_);  // assertions may fail on several host threads
  ranges_.refresh(inspected_);
  if (!ranges_.find(address, bytes, inspected_)) return false;
  auto* to = static_cast<std::uint8_t*>(data);
  for (unsigned done = 0; done < bytes;) {
    done += access(tlm::TLM_READ_COMMAND, address + done, to + done, bytes - done);
    if (done == bytes) break;
    // External memory without debug transport; blocking transport cannot be used, as this process cannot wait.
    const std::uint8_t* variable = modules_.variable_byte(address + done);
    if (variable == nullptr)
      throw program_error(
          "memory outside offers no debug transport, by which the device runtime reads text and arguments at " +
          std::to_string(address + done));
    to[done++] = *variable;
  }
  return true;
}

std::vector<std::uint8_t> host_memory::fetch(std::uint64_t address, std::uint64_t bytes, std::uint64_t most,
                                             const char* what) {
  if (bytes > most)
    throw input_error("a command descriptor names " + std::to_string(bytes) + " bytes of " + what +
                      ", expected at most " + std::to_string(most));
  std::vector<std::uint8_t> data(bytes);
  if (bytes != 0 && access(tlm::TLM_READ_COMMAND, address, data.data(), static_cast<unsigned>(bytes)) != bytes)
    throw input_error("device memory at " + std::to_string(address) + " cannot be read for a command");
  return data;
}

}  // namespace heddle
