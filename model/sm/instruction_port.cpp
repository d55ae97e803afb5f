// SPDX-License-Identifier: MIT
#include "heddle/sm/instruction_port.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

instruction_port::instruction_port(sc_core::sc_module_name name, unit_clock& clock, unsigned line_bytes,
                                   code_observer& observer)
    : sc_module(name),
      memory_socket({"memory_socket", this}),
      port_(memory_socket, *this),
      clock_(clock, *this),
      line_bytes_(line_bytes),
      observer_(observer) {}

cycle_t instruction_port::look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) {
  const cycle_t due = std::max(cycle, clock_.cycle() + 1);
  lines_.push_back({lines_begun_++, address, due, launch});
  if (!port_.nacked()) clock_.wake_at(due);
  return never;
}

// The line that has been due for longest of those that are not sent completely.
instruction_port::line* instruction_port::next() {
  line* first = nullptr;
  for (line& l : lines_)
    if (l.sent < line_bytes_ && (first == nullptr || l.due < first->due)) first = &l;
  return first;
}

void instruction_port::on_cycle(cycle_t cycle) {
  if (port_.nacked()) return;
  line* l = next();
  if (l != nullptr && l->due <= cycle) {
    if (!send(*l, cycle)) return;
    l = next();
  }
  if (l != nullptr) clock_.wake_at(std::max(l->due, cycle + 1));
}

bool instruction_port::send(line& l, cycle_t cycle) {
  const std::uint64_t at = code_area + l.address + l.sent;
  const auto offset = static_cast<unsigned>(at % line_bytes);
  const unsigned bytes = std::min(line_bytes - offset, line_bytes_ - l.sent);
  read& a = reads_.take();
  a = {};
  a.number = l.number;
  a.origin = l1_origin::instructions;
  a.launch = l.launch;
  a.line = at - offset;
  for (unsigned s = offset / sector_bytes; s * sector_bytes < offset + bytes; ++s) a.sectors |= 1u << s;
  if (port_.send(a, cycle) == l1_answer::nacked) {
    reads_.give_back(a);
    return false;
  }
  l.sent += bytes;
  ++l.outstanding;
  ++outstanding_;
  return true;
}

void instruction_port::l1_responds(l1_access& access) {
  read& r = static_cast<read&>(access);
  const auto answered = std::find_if(lines_.begin(), lines_.end(), [&](const line& l) { return l.number == r.number; });
  invariant(answered != lines_.end(), "instruction port: unexpected response");
  const cycle_t cycle = r.ready_cycle;
  reads_.give_back(r);
  --outstanding_;
  if (--answered->outstanding != 0 || answered->sent < line_bytes_) return;
  const std::uint64_t address = answered->address;
  lines_.erase(answered);
  observer_.instructions_arrived(address, line_bytes_, cycle);
}

void instruction_port::name_objects(state_image& image) {
  reads_.exchange(image);
  reads_.each_in_use([&image](read& r) { image.name<l1_access>(&r); });
}

void instruction_port::exchange(state_image& image) {
  image.part(name());
  reads_.each_in_use([&image](read& r) { image(r); });
  image(port_, lines_, lines_begun_, outstanding_);
}

void instruction_port::trace(sc_core::sc_trace_file* file) const {
  sc_core::sc_trace(file, outstanding_, std::string(name()) + ".outstanding");
}

}  // namespace heddle
