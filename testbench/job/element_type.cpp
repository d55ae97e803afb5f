// SPDX-License-Identifier: MIT
#include "testbench/job/element_type.h"

namespace heddle::testbench {

unsigned bytes_of(element_type type) {
  switch (type) {
    case element_type::u8:
    case element_type::s8: return 1;
    case element_type::u16:
    case element_type::s16:
    case element_type::f16: return 2;
    case element_type::u64:
    case element_type::s64:
    case element_type::f64: return 8;
    default: return 4;
  }
}

}  // namespace heddle::testbench
