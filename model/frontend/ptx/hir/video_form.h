// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/opcode.h"

namespace heddle::ptx {

/// The decoded name and words of a video instruction: vadd … vset, and their forms on two halves or four bytes.
struct video_form {
  enum class action : std::uint8_t { add, sub, absdiff, average, min, max, shl, shr, mad, set };
  enum class second : std::uint8_t { none, add, min, max };
  action what = action::add;
  unsigned lanes = 1;  // 2: halves, 4: bytes
  bool signed_result = false, signed_a = false, signed_b = false;
  bool saturate = false;
  second then = second::none;
  isa::compare cmp = isa::compare::f;  // vset
  bool has_mode = false;               // vshl, vshr: .clamp or .wrap was written
  bool wrap = false;                   // vshl, vshr
  bool plus_one = false;               // vmad
  unsigned scale = 0;                  // vmad: 7, 15
};

/// Decodes the words. Throws input_error for a word that the instruction does not have.
video_form decode_video_form(const ast_instruction& i, const std::string& file);

}  // namespace heddle::ptx
