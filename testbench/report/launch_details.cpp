// SPDX-License-Identifier: MIT
#include "testbench/report/launch_details.h"

#include <utility>

namespace heddle::testbench {

launch_details::launch_details(const gpu& g, energy_account& energy, options o)
    : gpu_(g), energy_(energy), options_(std::move(o)), quotes_(options_.whole_sources) {}

void launch_details::fill(kernel_metrics& k) {
  fill_details(k, gpu_, energy_, options_.how_much, texts_);
  quote(k);
}

void launch_details::quote(kernel_metrics& k) {
  quotes_.quote_ptx(k, options_.ptx(k.source));
  if (options_.other_sources) quotes_.quote_sources(k);
}

}  // namespace heddle::testbench
