// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/object_numbers.h"

#include <algorithm>
#include <stdexcept>

namespace heddle {

void object_numbers::add(void* first, std::size_t count, std::size_t bytes) {
  if (count == 0) return;
  by_number_.push_back({reinterpret_cast<std::uintptr_t>(first), count, bytes, next_});
  next_ += static_cast<std::uint32_t>(count);
}

std::uint32_t object_numbers::of(const void* object) {
  if (object == nullptr) return 0;
  if (by_address_.size() != by_number_.size()) {
    by_address_ = by_number_;
    std::sort(by_address_.begin(), by_address_.end(), [](const range& a, const range& b) { return a.first < b.first; });
  }
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  auto r = std::upper_bound(by_address_.begin(), by_address_.end(), at,
                            [](std::uintptr_t a, const range& b) { return a < b.first; });
  if (r == by_address_.begin() || at - (--r)->first >= r->count * r->bytes || (at - r->first) % r->bytes != 0)
    throw std::logic_error("a state points to an object that has no number");
  return r->number + static_cast<std::uint32_t>((at - r->first) / r->bytes);
}

bool object_numbers::find(std::uint32_t number, void*& object) const {
  object = nullptr;
  if (number == 0) return true;
  if (number >= next_) return false;
  const auto r = std::upper_bound(by_number_.begin(), by_number_.end(), number,
                                  [](std::uint32_t n, const range& b) { return n < b.number; }) -
                 1;
  object = reinterpret_cast<void*>(r->first + (number - r->number) * r->bytes);
  return true;
}

}  // namespace heddle
