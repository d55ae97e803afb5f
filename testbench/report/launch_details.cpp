// SPDX-License-Identifier: MIT
#include "testbench/report/launch_details.h"

namespace heddle::testbench {

launch_details::launch_details(const gpu& g, energy_account& energy, const module_texts& modules, options o)
    : gpu_(g), energy_(energy), modules_(modules), options_(o), quotes_(o.whole_sources) {}

void launch_details::fill(kernel_metrics& k) {
  fill_details(k, gpu_, energy_, options_.how_much, texts_);
  quote(k);
}

void launch_details::quote(kernel_metrics& k) {
  quotes_.quote_ptx(k, modules_.module_text(k.source));
  if (options_.other_sources) quotes_.quote_sources(k);
}

}  // namespace heddle::testbench
