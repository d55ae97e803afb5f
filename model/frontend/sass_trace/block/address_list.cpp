// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/block/address_list.h"

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"

namespace heddle::sass_trace {

namespace {
// A handle is the index of the first word, with the form in the lowest bits.
constexpr unsigned form_bits = 3;
constexpr std::uint32_t form_mask = (1u << form_bits) - 1;

// Reconstructs addresses from differences; each word holds two differences.
void add_up(std::uint64_t first, const std::uint64_t* pairs, unsigned lanes, std::uint64_t* to) {
  std::uint64_t last = first;
  for (unsigned k = 0; k < lanes; ++k) {
    if (k != 0) {
      const std::uint64_t pair = pairs[(k - 1) / 2];
      last += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>((k - 1) % 2 == 0 ? pair : pair >> 32)});
    }
    to[k] = last;
  }
}
}  // namespace

address_list::handle address_list::next(form f) const {
  // The highest bit is common_bit (block_trace.h).
  if (words_.size() >= std::size_t{1} << (31 - form_bits))
    throw input_error("a thread block's trace holds more addresses than can be kept");
  return static_cast<handle>(words_.size() << form_bits | f);
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
  const std::size_t first = h >> form_bits;
  to.form = h & form_mask;
  to.words.clear();
  // A list of whole addresses has no differences that the next line could share.
  if (to.form == list) to.form = none;
  if (to.form != none) to.words.assign(words_.begin() + static_cast<std::ptrdiff_t>(first + 1), words_.end());
}

bool address_list::shape::offsets(unsigned lanes, shape_store::offset_list& to) const {
  if (form != differences) return false;
  add_up(0, words.data(), lanes, to.data());
  return true;
}

address_list::handle address_list::add(std::uint64_t first, const shape& s) {
  const handle h = next(static_cast<form>(s.form));
  words_.push_back(first);
  words_.insert(words_.end(), s.words.begin(), s.words.end());
  return h;
}

address_list::handle address_list::add(std::uint64_t first, const std::shared_ptr<shape_store>& store,
                                       shape_store::number n) {
  if (!store_) store_ = store;
  const handle h = next(shared);
  words_.push_back(first);
  words_.push_back(n);
  return h;
}

address_list::handle address_list::add_from(const address_list& other, handle h, std::uint32_t mask) {
  const auto f = static_cast<form>(h & form_mask);
  const auto lanes = static_cast<std::size_t>(__builtin_popcount(mask));
  const std::size_t words = f == list ? lanes : f == differences ? 1 + lanes / 2 : 2;
  if (f == none) return none;
  if (!store_) store_ = other.store_;
  const handle copy = next(f);
  const auto from = other.words_.begin() + static_cast<std::ptrdiff_t>(h >> form_bits);
  words_.insert(words_.end(), from, from + static_cast<std::ptrdiff_t>(words));
  return copy;
}

bool address_list::origin(handle h, std::array<std::uint64_t, 3>& to) const {
  const std::uint32_t f = h & form_mask;
  if (f != strided && f != shared) return false;
  const std::uint64_t* w = words_.data() + (h >> form_bits);
  to = {w[0], w[1], f};
  return true;
}

void address_list::expand(handle h, std::uint32_t mask, std::uint64_t addresses[32]) const {
  const std::uint64_t* w = words_.data() + (h >> form_bits);
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(mask));
  // The addresses of the active lanes come first, packed; then each is moved to its lane.
  std::uint64_t spread[32];
  std::uint64_t* const a = mask == ~std::uint32_t{0} ? addresses : spread;
  switch (h & form_mask) {
    case none:
      for (unsigned k = 0; k < lanes; ++k) a[k] = 0;
      break;
    case strided:
      for (std::uint64_t k = 0, next = w[0]; k < 32; ++k, next += w[1])
        a[k] = next;  // values beyond the active lanes are ignored
      break;
    case differences: add_up(w[0], w + 1, lanes, a); break;
    case shared: {
      const std::uint64_t first = w[0];
      const std::uint64_t* __restrict from = store_->offsets(static_cast<shape_store::number>(w[1]));
      std::uint64_t* __restrict to = a;
      for (unsigned k = 0; k < 32; ++k) to[k] = first + from[k];
      break;
    }
    default:
      for (unsigned k = 0; k < lanes; ++k) a[k] = w[k];
      break;
  }
  if (a == addresses) return;
  unsigned k = 0;
  for (const unsigned lane : set_bits(mask)) addresses[lane] = spread[k++];
}

}  // namespace heddle::sass_trace
