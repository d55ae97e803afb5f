// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/runtime/device_services.h"

#include "heddle/sanitize/sanitizer.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

void device_services::place_heap(std::uint32_t client, std::uint64_t bytes) {
  heaps_[client].place(heap_base_, bytes);
  if (sanitizer_ != nullptr) sanitizer_->heap_placed(heap_base_, bytes, client);
}

device_heap& device_services::heap_of(const simt::launch_context& launch) {
  const auto own = heaps_.find(launch.client);
  return own != heaps_.end() ? own->second : heaps_[0];
}

void device_services::clear() {
  heaps_.clear();
  heap_base_ = 0;
}

void device_services::exchange(state_image& image) { image(heaps_, heap_base_); }

void device_services::print(const simt::launch_context& launch, const std::string& text) {
  host_.printed(launch.client, text);
}

void device_services::heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w,
                                 const isa::instruction& i, unsigned lane) {
  if (sanitizer_ == nullptr) return;
  sanitizer_->heap_kept(address, bytes, w, i, lane);
  if (executing_) sanitizer_->heap_given(address, bytes, w, i, lane);
}

void device_services::heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                                   unsigned lane) {
  if (sanitizer_ != nullptr && executing_) sanitizer_->heap_freeing(address, w, i, lane);
}

bool device_services::heap_free(const simt::launch_context& launch, std::uint64_t address) {
  if (!heap_of(launch).free(address)) return false;
  if (sanitizer_ == nullptr) return true;
  sanitizer_->heap_released(address);
  if (executing_) sanitizer_->heap_freed(address);
  return true;
}

bool device_services::heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                                    unsigned lane) {
  return sanitizer_ != nullptr && executing_ && sanitizer_->heap_misfreed(address, w, i, lane);
}

}  // namespace heddle
