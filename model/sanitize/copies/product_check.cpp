// SPDX-License-Identifier: MIT
#include "heddle/sanitize/copies/product_check.h"

#include <algorithm>

#include "heddle/isa/imad_form.h"
#include "heddle/isa/matrix.h"

namespace heddle::sanitize {

namespace {

void add(std::bitset<256>& all, unsigned first, unsigned count) {
  for (unsigned k = first; k < first + count && k < isa::rz; ++k) all.set(k);
}

}  // namespace

std::uint32_t product_check::reads(const registers& some) const {
  for (const product& p : in_flight_)
    if ((p.results & some).any()) return p.index;
  return isa::no_target;
}

std::uint32_t product_check::executes(const isa::instruction& i, std::uint32_t index) {
  registers sources, results;
  for (const isa::operand& o : i.src)
    if (o.is_reg() && o.reg != isa::rz) add(sources, o.reg, o.count);
  if (i.dst != isa::rz) add(results, i.dst, i.dst_count);
  if (isa::is_warpgroup_product(i.op)) {
    const std::uint32_t early = reads(sources & ~results);
    in_flight_.push_back({results, index, closed_});
    if ((i.sub & isa::gmma::commits) != 0) commits();
    return early;
  }
  if (in_flight_.empty()) return isa::no_target;
  std::uint32_t early = isa::no_target;
  if (const isa::operand* const copied = isa::copied_by(i); copied != nullptr && copied->is_reg()) {
    for (product& p : in_flight_)
      p.results = (p.results & ~results) | ((p.results & sources).any() ? results : registers());
    return early;
  }
  early = reads(sources);
  for (product& p : in_flight_) p.results &= ~results;
  return early;
}

void product_check::waits(unsigned left) {
  const auto ended = [&](const product& p) { return p.group + left < closed_; };
  in_flight_.erase(std::remove_if(in_flight_.begin(), in_flight_.end(), ended), in_flight_.end());
}

}  // namespace heddle::sanitize
