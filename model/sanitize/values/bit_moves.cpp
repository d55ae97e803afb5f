// SPDX-License-Identifier: MIT
#include "heddle/sanitize/values/bit_moves.h"

#include "heddle/isa/imad_form.h"
#include "heddle/simt/execute.h"

namespace heddle::sanitize {

namespace {

// Whether the table gives a zero for a one of this source where it gives a one for a zero.
bool inverts(unsigned table, unsigned k) {
  const unsigned bit = 4u >> k;
  for (unsigned at = 0; at < 8; ++at)
    if ((at & bit) == 0 && (table >> at & 1) != 0 && (table >> (at | bit) & 1) == 0) return true;
  return false;
}

}  // namespace

bool moves_bits(const isa::instruction& i) {
  const isa::imad_form form = isa::form_of(i);
  return isa::info(i.op).bits != isa::result_bits::computed || form == isa::imad_form::move ||
         form == isa::imad_form::shift;
}

bool moves_registers(const isa::instruction& i) {
  return isa::info(i.op).bits == isa::result_bits::chosen || isa::copied_by(i) != nullptr;
}

unsigned moved_sources(const isa::instruction& i) {
  switch (isa::info(i.op).bits) {
    case isa::result_bits::logic: return 7;
    case isa::result_bits::merged:
    case isa::result_bits::funnel: return 5;
    case isa::result_bits::computed:  // the forms of IMAD
    case isa::result_bits::moved:
    case isa::result_bits::chosen:
    case isa::result_bits::shifted:
    case isa::result_bits::field: break;
  }
  return 1;
}

bool alters_bits(const isa::instruction& i, const simt::warp_state& w, unsigned lane, unsigned k) {
  constexpr std::uint64_t byte = 8;
  if (i.src[k].negate || i.src[k].invert) return true;
  switch (isa::info(i.op).bits) {
    case isa::result_bits::logic: return inverts(i.sub, k);
    case isa::result_bits::shifted:
    case isa::result_bits::funnel: return k == 1 || simt::lane_value(i.src[1], w, lane) % byte != 0;
    case isa::result_bits::field: return k == 1 || (simt::lane_value(i.src[1], w, lane) & 0xff) % byte != 0;
    case isa::result_bits::computed:
      if (isa::form_of(i) != isa::imad_form::shift) return false;
      return k == 1 || __builtin_ctzll(i.src[1].value | std::uint64_t{1} << 32) % byte != 0;
    case isa::result_bits::moved:
    case isa::result_bits::chosen:
    case isa::result_bits::merged: break;
  }
  return false;
}

}  // namespace heddle::sanitize
