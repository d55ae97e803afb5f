// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/point_space.h"

#include <algorithm>
#include <limits>

namespace heddle::testbench {

point_space::point_space(const std::vector<sweep_axis>& axes) : axes_(axes), factor_of_(axes.size()) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto same_zip = [&](const factor& f) { return !axes[i].zip.empty() && axes[f.axes[0]].zip == axes[i].zip; };
    auto found = std::find_if(factors_.begin(), factors_.end(), same_zip);
    if (found == factors_.end()) found = factors_.insert(factors_.end(), {{}, axes[i].values.size(), 1});
    found->axes.push_back(i);
    factor_of_[i] = static_cast<std::size_t>(found - factors_.begin());
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (auto f = factors_.rbegin(); f != factors_.rend(); ++f) {
    f->stride = size_;
    size_ = size_ > most / f->values ? most : size_ * f->values;
  }
}

const std::string& point_space::value(std::uint64_t number, std::size_t axis) const {
  const factor& f = factors_[factor_of_[axis]];
  return axes_[axis].values[number / f.stride % f.values];
}

}  // namespace heddle::testbench
