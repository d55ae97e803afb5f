// SPDX-License-Identifier: MIT
#include "heddle/sanitize/copies/copy_signals.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::sanitize {

namespace {

struct statement {
  bool stores = false, arrives = false, hands_over = false;
};

std::uint64_t place_in_ptx(const isa::instruction& i) { return std::uint64_t{i.line} << 32 | i.column; }
bool stores_data(const isa::instruction& i) {
  return i.op == isa::opcode::st || (i.op == isa::opcode::red && !is_arrival(i));
}
bool gives_copies(const isa::instruction& i) { return i.op == isa::opcode::ldgdepbar && i.sub == 1; }
bool waits_for_copies(const isa::instruction& i) {
  return i.op == isa::opcode::depbar && i.offset == isa::copies::of_threads;
}

}  // namespace

void copy_signals::begin(const isa::program& p) {
  roles_.clear();
  any_sends_ = false;
  any_waits_ = std::any_of(p.code.begin(), p.code.end(), waits_for_copies);
  const auto may_signal = [](const isa::instruction& i) { return is_arrival(i) || gives_copies(i); };
  if (std::none_of(p.code.begin(), p.code.end(), may_signal)) return;
  std::unordered_map<std::uint64_t, statement> all;
  for (const isa::instruction& i : p.code) {
    statement& s = all[place_in_ptx(i)];
    s.stores = s.stores || stores_data(i);
    s.arrives = s.arrives || is_arrival(i);
    s.hands_over = s.hands_over || gives_copies(i);
  }
  roles_.assign(p.code.size(), 0);
  any_waits_ = false;
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    const isa::instruction& i = p.code[k];
    const statement& s = all[place_in_ptx(i)];
    std::uint8_t& r = roles_[k];
    if (s.stores && s.arrives && stores_data(i)) r = send;
    if (s.stores && is_arrival(i)) r = end_sent;
    if (s.hands_over && is_arrival(i)) r = end_copies;
    if (gives_copies(i)) r = static_cast<std::uint8_t>(s.arrives ? hand_over : hand_over | leave_arrival);
    if (s.hands_over && waits_for_copies(i)) r = no_wait;
    any_sends_ = any_sends_ || r == send;
    any_waits_ = any_waits_ || (waits_for_copies(i) && r != no_wait);
  }
}

}  // namespace heddle::sanitize
