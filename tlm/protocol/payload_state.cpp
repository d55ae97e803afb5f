// SPDX-License-Identifier: MIT
// Line payloads in a state image.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/protocol/gpu_request.h"
#include "heddle/tlm/protocol/poison.h"

namespace heddle {

void line_payload::exchange(state_image& image) {
  tlm::tlm_command command = get_command();
  std::uint64_t address = get_address();
  std::uint32_t length = get_data_length(), width = get_streaming_width();
  auto start = static_cast<std::uint8_t>(get_data_ptr() == nullptr ? 0 : get_data_ptr() - data_.data());
  bool is_masked = get_byte_enable_ptr() != nullptr;
  tlm::tlm_response_status status = get_response_status();
  int references = get_ref_count();
  image(command, address, length, width, start, is_masked, status, references);
  if (image.reading()) {
    if (start + std::uint64_t{length} > line_bytes) throw state_error("a request of more than a line");
    set_command(command);
    set_address(address);
    set_data_ptr(data_.data() + start);
    set_data_length(length);
    set_streaming_width(width);
    set_byte_enable_ptr(is_masked ? enables_.data() + start : nullptr);
    set_byte_enable_length(is_masked ? length : 0);
    set_dmi_allowed(false);
    set_response_status(status);
    while (get_ref_count() < references) acquire();
  }
  exchange_request(image);
  exchange_data(image);
}

void line_payload::exchange_request(state_image& image) {
  gpu_request& r = request;
  image(r.what, r.sm, r.warp, r.cache, r.system, r.sectors, r.parts, r.l2.hits, r.l2.misses, r.l2.fetched, r.launch,
        r.token, r.policy);
  image(route.owner);
  if (route.owner != nullptr) image(route.sm, route.slice, route.number);
  bool is_atomic = r.atomic != nullptr;
  image(is_atomic);
  if (!is_atomic) return;
  if (atomic_ == nullptr) atomic_ = std::make_unique<atomic_request>();
  r.atomic = atomic_.get();
  exchange_atomic(image);
}

void line_payload::exchange_atomic(state_image& image) {
  atomic_request& a = *atomic_;
  image(a.operation, a.type, a.returns, a.wide, a.count);
  if (a.count > a.lane.size()) throw state_error("an atomic of more lanes than a warp has");
  const bool is_done = get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE;
  for (unsigned k = 0; k < a.count; ++k) {
    image(a.lane[k], a.offset[k], a.operand[k], a.swap[k]);
    if (is_done) image(a.result[k]);
    if (!a.wide) continue;
    image(a.operand_high[k], a.swap_high[k]);
    if (is_done) image(a.result_high[k]);
  }
}

// The bytes of a read have a value once it has been performed.
void line_payload::exchange_data(state_image& image) {
  const auto start = static_cast<std::size_t>(get_data_ptr() - data_.data());
  const std::size_t end = start + get_data_length();
  const bool is_masked = get_byte_enable_ptr() != nullptr;
  if (is_masked) image.raw(enables_.data() + start, end - start);
  if (get_command() == tlm::TLM_IGNORE_COMMAND) return;
  if (is_read() && get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) return;
  for (std::size_t at = start; at < end; ++at)
    if (!is_masked || enables_[at] == TLM_BYTE_ENABLED) image.raw(data_.data() + at, 1);
}

template <class F>
void payload_pool::each_in_use(F&& f) {
  const std::unordered_set<const line_payload*> free(free_.begin(), free_.end());
  for (const auto& p : all_)
    if (free.count(p.get()) == 0) f(*p);
}

void payload_pool::exchange(state_image& image) {
  std::unordered_map<const line_payload*, std::uint32_t> index;
  for (const auto& p : all_) index.emplace(p.get(), static_cast<std::uint32_t>(index.size()));
  std::vector<std::uint8_t> is_out(all_.size(), 1);
  std::vector<std::uint32_t> order;
  for (const line_payload* p : free_) {
    order.push_back(index[p]);
    is_out[order.back()] = 0;
  }
  image(is_out, order);
  if (image.reading()) {
    if (!all_.empty()) throw state_error("a state is read into a pool that was used");
    while (all_.size() < is_out.size()) all_.push_back(std::make_unique<line_payload>(this));
    for (const std::uint32_t i : order) free_.push_back(all_.at(i).get());
    for (line_payload* p : free_) {
      p->set_poison();
      poison::set_object(*p);
    }
    each_in_use([](line_payload& p) { p.acquire(); });
  }
  each_in_use([&image](line_payload& p) {
    image.name(&p);
    image.name(static_cast<tlm::tlm_generic_payload*>(&p));
  });
}

void payload_pool::exchange_payloads(state_image& image) {
  each_in_use([&image](line_payload& p) { p.exchange(image); });
}

}  // namespace heddle
