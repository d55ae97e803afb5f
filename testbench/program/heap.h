// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::testbench {

/// Places the heap on huge pages where the system provides them. The state of a large GPU is tens of megabytes that
/// every cycle accesses throughout; with small pages, many of these accesses miss the TLB. Call it before any large
/// allocation. Where huge pages are not available it does nothing; results do not depend on it.
void use_huge_pages();

}  // namespace heddle::testbench
