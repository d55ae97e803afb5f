// SPDX-License-Identifier: MIT
#include "frontend/sass_trace/address_list.h"

#include "config/error.h"

namespace heddle::sass_trace {

// A handle is the number of the first word, with the form in the two lowest bits.
address_list::handle address_list::next(form f) const {
  if (words_.size() >= std::size_t{1} << 30) throw input_error("a thread block's trace holds more addresses than can be kept");
  return static_cast<handle>(words_.size() << 2 | f);
}

address_list::handle address_list::add_strided(std::uint64_t base, std::int64_t stride) {
  const handle h = next(strided);
  words_.push_back(base);
  words_.push_back(static_cast<std::uint64_t>(stride));
  return h;
}

address_list::handle address_list::add(const std::uint64_t* a, unsigned count) {
  if (count == 0) return none;
  bool even = true;
  bool small = true;
  for (unsigned k = 1; k < count; ++k) {
    const auto difference = static_cast<std::int64_t>(a[k] - a[k - 1]);
    even = even && a[k] - a[k - 1] == a[1] - a[0];
    small = small && difference == static_cast<std::int32_t>(difference);
  }
  if (even) return add_strided(a[0], count > 1 ? static_cast<std::int64_t>(a[1] - a[0]) : 0);
  const handle h = next(small ? differences : list);
  words_.push_back(a[0]);
  if (!small) {
    words_.insert(words_.end(), a + 1, a + count);
    return h;
  }
  for (unsigned k = 1; k < count; k += 2) {
    std::uint64_t pair = static_cast<std::uint32_t>(a[k] - a[k - 1]);
    if (k + 1 < count) pair |= (a[k + 1] - a[k]) << 32;
    words_.push_back(pair);
  }
  return h;
}

void address_list::shape_of(handle h, shape& to) const {
  const std::size_t first = h >> 2;
  to.form = h & 3;
  to.words.clear();
  // A list of whole addresses has none that its next line could share.
  if (to.form == list) to.form = none;
  if (to.form != none) to.words.assign(words_.begin() + static_cast<std::ptrdiff_t>(first + 1), words_.end());
}

address_list::handle address_list::add(std::uint64_t first, const shape& s) {
  const handle h = next(static_cast<form>(s.form));
  words_.push_back(first);
  words_.insert(words_.end(), s.words.begin(), s.words.end());
  return h;
}

void address_list::expand(handle h, std::uint32_t mask, std::uint64_t addresses[32]) const {
  const std::uint64_t* w = words_.data() + (h >> 2);
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(mask));
  // Of the active lanes first; then each goes to its lane.
  std::uint64_t spread[32];
  std::uint64_t* const a = mask == ~std::uint32_t{0} ? addresses : spread;
  switch (h & 3) {
    case none:
      for (unsigned k = 0; k < lanes; ++k) a[k] = 0;
      break;
    case strided:
      for (unsigned k = 0; k < lanes; ++k) a[k] = w[0] + k * w[1];
      break;
    case differences: {
      std::uint64_t last = w[0];
      for (unsigned k = 0; k < lanes; ++k) {
        if (k != 0) {
          const std::uint64_t pair = w[1 + (k - 1) / 2];
          last += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>((k - 1) % 2 == 0 ? pair : pair >> 32)});
        }
        a[k] = last;
      }
      break;
    }
    default:
      for (unsigned k = 0; k < lanes; ++k) a[k] = w[k];
      break;
  }
  if (a == addresses) return;
  unsigned k = 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) addresses[__builtin_ctz(m)] = spread[k++];
}

}  // namespace heddle::sass_trace
