// SPDX-License-Identifier: MIT
#include "heddle/tlm/kernel/state_image.h"

#include <cstring>

namespace heddle {

void state_image::raw(void* data, std::size_t count) {
  if (!reading_) {
    const auto* const from = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + count);
    return;
  }
  if (count > bytes_.size() - at_) fail("its end, too soon");
  if (count != 0) std::memcpy(data, bytes_.data() + at_, count);
  at_ += count;
}

// Before each eight words a byte tells which of them are not 0.
void state_image::sparse(void* words, std::size_t bytes) {
  constexpr std::size_t word = sizeof(std::uint64_t), together = 8;
  auto* const data = static_cast<std::uint8_t*>(words);
  for (std::size_t first = 0; first < bytes; first += together * word) {
    const std::size_t count = std::min(together, (bytes - first) / word);
    std::uint8_t present = 0;
    for (std::size_t k = 0; k < count; ++k) {
      std::uint64_t value = 0;
      std::memcpy(&value, data + first + k * word, word);
      if (value != 0) present |= static_cast<std::uint8_t>(1u << k);
    }
    raw(&present, 1);
    for (std::size_t k = 0; k < count; ++k) {
      if ((present >> k & 1) != 0) raw(data + first + k * word, word);
      else std::memset(data + first + k * word, 0, word);
    }
  }
}

void state_image::part(const char* unit) {
  std::string name = unit;
  item(name);
  if (name != unit) fail("the state of '" + name + "' where that of '" + unit + "' was expected");
  part_ = name;
}

void state_image::same(std::uint64_t value, const char* what) {
  std::uint64_t there = value;
  raw(&there, sizeof there);
  if (there != value) fail(std::to_string(there) + " " + what + " where " + std::to_string(value) + " were expected");
}

void* state_image::pointed(object_numbers& objects, const void* now) {
  std::uint32_t number = reading_ ? 0 : objects.of(now);
  raw(&number, sizeof number);
  void* object = nullptr;
  if (!objects.find(number, object)) fail("a pointer to an object that is not there");
  return object;
}

std::size_t state_image::size(std::size_t now) {
  std::uint64_t count = now;
  raw(&count, sizeof count);
  if (reading_ && count > bytes_.size() - at_) fail("a size that is too large");
  return static_cast<std::size_t>(count);
}

void state_image::fail(const std::string& what) const { throw state_error("the state of '" + part_ + "': " + what); }

}  // namespace heddle
