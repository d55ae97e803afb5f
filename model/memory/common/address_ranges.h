// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The global addresses that a program may access: disjoint intervals, kept sorted.
class address_ranges {
 public:
  /// Caches the interval that a caller found last, so that the usual look-up is two comparisons. Initially empty.
  struct hint {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t version = 0;
    [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t last) const { return first >= begin && last < end; }
  };

  /// True if [base, base + size) may be added: it is not empty, does not wrap around and overlaps no other interval.
  [[nodiscard]] bool takes(std::uint64_t base, std::uint64_t size) const;
  /// True if an interval begins at `base`.
  [[nodiscard]] bool begins(std::uint64_t base) const;
  /// Adds [base, base + size). Throws internal_error unless takes(base, size).
  void add(std::uint64_t base, std::uint64_t size);
  /// Removes the interval that begins at `base`. Throws internal_error if there is none.
  void remove(std::uint64_t base);
  void remove_all() {
    ranges_.clear();
    ++version_;
  }
  /// True if all of [address, address + bytes) lies in one interval.
  bool find(std::uint64_t address, std::uint64_t bytes, hint& h) const;
  /// Clears a hint that was taken before the last add or remove.
  void refresh(hint& h) const {
    if (h.version != version_) h = {0, 0, version_};
  }
  [[nodiscard]] std::size_t size() const { return ranges_.size(); }
  void exchange(state_image& image) {
    image(ranges_);
    if (image.reading()) ++version_;
  }

 private:
  struct range {
    std::uint64_t begin;
    std::uint64_t end;
    void exchange(state_image& image) { image(begin, end); }
  };
  [[nodiscard]] std::vector<range>::const_iterator at_or_after(std::uint64_t base) const;
  std::vector<range> ranges_;
  std::uint64_t version_ = 1;
};

}  // namespace heddle
