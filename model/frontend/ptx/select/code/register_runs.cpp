// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/register_runs.h"

#include <algorithm>
#include <utility>

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void register_runs::extract_elements(register_part from, unsigned size, bool is_signed) {
  for (unsigned k = 0; k < in_.now().dst.size(); ++k) {
    if (!in_.now().dst[k].is_reg()) continue;
    const unsigned at = k * size;
    const unsigned b = at % 4, fill = is_signed ? 8 + b + size - 1 : 4;  // 4: a zero byte of RZ
    const unsigned selector_word =
        size == 1 ? (b | fill << 4 | fill << 8 | fill << 12) : (b | (b + 1) << 4 | fill << 8 | fill << 12);
    const register_part t = out_.temp();
    out_.put(opcode::prmt, t, {word(from, at / 4), immediate(selector_word), zero()});
    out_.write_extended(in_.now().dst[k], t, is_signed ? dtype::s32 : dtype::u32);
  }
}

/// Elements are src[first...]; bytes are packed into pairs, pairs into words.
register_part register_runs::pack_elements(unsigned size, std::size_t first) {
  const std::size_t count = in_.now().src.size() - first;
  const dtype t = size == 1 ? dtype::b8 : size == 2 ? dtype::b16 : size == 4 ? dtype::b32 : dtype::b64;
  const unsigned bytes = static_cast<unsigned>(count) * size;
  const register_part packed = out_.temp(bytes < 4 ? 1 : bytes / 4);
  std::vector<virtual_operand> parts;
  for (std::size_t k = 0; k < count; ++k) parts.push_back(in_.src(first + k, t));
  for (unsigned width = size; width < 4 && parts.size() > 1; width *= 2) {
    std::vector<virtual_operand> next;
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
      const bool last = width == 2 || parts.size() == 2;
      const register_part w = last ? register_part{packed.reg, static_cast<std::uint8_t>(k / 2), 1} : out_.temp();
      out_.put(opcode::prmt, w, {parts[k], immediate(width == 1 ? 0x0040 : 0x5410), parts[k + 1]});
      next.push_back(w);
    }
    parts = next;
  }
  if (size >= 4)
    for (std::size_t k = 0; k < count; ++k)
      out_.copy({packed.reg, static_cast<std::uint8_t>(k * size / 4), static_cast<std::uint8_t>(size / 4)}, parts[k]);
  return packed;
}

register_part register_runs::part_of_dst(std::size_t k, unsigned words) const {
  register_part r{no_register, 0, static_cast<std::uint8_t>(words)};
  const value& v = in_.now().dst.at(k);
  if (!v.is_reg()) return r;
  if (in_.registers()[v.reg].words != words)
    in_.fail("destination of '" + in_.now().source->mnemonic() + "' has the wrong width");
  r.reg = v.reg;
  return r;
}

/// Gathers sources from `first` on, of `words` words each, in one register, pair or quad.
virtual_operand register_runs::gather(std::size_t first, std::size_t count, unsigned words) {
  const dtype t = words == 2 ? dtype::b64 : dtype::b32;
  if (count == 1) return in_.src(first, t);
  const register_part all = out_.temp(static_cast<unsigned>(count) * words);
  for (std::size_t k = 0; k < count; ++k)
    out_.copy({all.reg, static_cast<std::uint8_t>(k * words), static_cast<std::uint8_t>(words)}, in_.src(first + k, t));
  return all;
}

/// As gather(), for a factor, which is usually used in several products: the result is reused within a block until one
/// of the sources is written.
virtual_operand register_runs::factor(std::size_t first, std::size_t count) {
  forget_written_factors();
  std::vector<std::uint32_t> sources;
  for (std::size_t k = first; k < first + count; ++k) {
    const value& v = in_.now().src.at(k);
    if (!v.is_reg() || v.negate) return gather(first, count, 1);
    sources.push_back(v.reg);
  }
  for (const gathered& g : factors_)
    if (g.sources == sources) return g.all;
  const virtual_operand all = gather(first, count, 1);
  factors_.push_back({std::move(sources), all});
  return all;
}

/// Examines the instructions of the block since the last call.
void register_runs::forget_written_factors() {
  if (factors_block_ != out_.block()) factors_.clear(), seen_ = &in_.now();
  factors_block_ = out_.block();
  const auto holds = [](const gathered& g, const value& v) {
    return v.is_reg() && std::find(g.sources.begin(), g.sources.end(), v.reg) != g.sources.end();
  };
  for (; seen_ != &in_.now(); ++seen_)
    for (const value& v : seen_->dst)
      factors_.erase(std::remove_if(factors_.begin(), factors_.end(), [&](const gathered& g) { return holds(g, v); }),
                     factors_.end());
}

/// Copies the words of a register, pair or quad to the destinations from `first` on.
void register_runs::spread(register_part from, std::size_t first, unsigned words) {
  for (unsigned k = 0; k * words < from.count; ++k)
    out_.copy(part_of_dst(first + k, words), register_part{from.reg, static_cast<std::uint8_t>(from.part + k * words),
                                                           static_cast<std::uint8_t>(words)});
}

}  // namespace heddle::ptx
