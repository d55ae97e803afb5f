// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::testbench {

/// Has the heap lie on huge pages where the system gives them. The state of a large GPU is tens of megabytes that are
/// visited all over in every cycle: with small pages, many visits look up the page table as well. To be called before
/// anything large is allocated; where it cannot be done nothing happens, and results are the same.
void use_huge_pages();

}  // namespace heddle::testbench
