// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/error.h"

namespace heddle::ptx {

/// Code that is no PTX, whatever the lowering supports: a word that names no instruction, a name that nothing declares.
class malformed_code : public input_error {
 public:
  using input_error::input_error;
};

}  // namespace heddle::ptx
