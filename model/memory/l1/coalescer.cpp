// SPDX-License-Identifier: MIT
#include "heddle/memory/l1/coalescer.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/isa/set_bits.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {
constexpr std::uint64_t in_line = line_bytes - 1;

// Neighbouring lanes usually share a line, so the search starts at the line found last.
line_part& part_of(coalesced_access& out, std::uint64_t line) {
  for (unsigned k = out.count; k-- > 0;)
    if (out.parts[k].line == line) return out.parts[k];
  out.parts[out.count] = {line, 0, 0};
  return out.parts[out.count++];
}

// The words, from its first, of an access of `bytes` bytes.
std::uint32_t words_of(unsigned bytes) { return bytes <= 4 ? 1 : (1u << bytes / 4) - 1; }

// Words of accesses of `bytes` bytes to `first`, `first` + `stride`, ... `last`.
std::uint32_t strided_words(unsigned first, unsigned last, std::uint64_t stride, unsigned bytes) {
  if (stride <= std::max(4u, bytes))
    return static_cast<std::uint32_t>((std::uint64_t{2} << (last + bytes - 1) / 4) - (1u << first / 4));
  std::uint32_t words = 0;
  for (unsigned at = first; at <= last; at += static_cast<unsigned>(stride)) words |= words_of(bytes) << at / 4;
  return words;
}

// Fast path for lanes from `from` to before `to` that lie `stride` bytes apart, at most one sector: every line serves a
// run of consecutive lanes, which touches a run of consecutive sectors.
void coalesce_strided(const std::uint64_t addresses[32], unsigned from, unsigned to, std::uint64_t stride,
                      unsigned bytes, coalesced_access& out) {
  for (unsigned lane = from; lane < to;) {
    const std::uint64_t line = addresses[lane] & ~in_line;
    const std::uint64_t room = line + line_bytes - addresses[lane];
    const unsigned count = static_cast<unsigned>(std::min<std::uint64_t>(to - lane, (room + stride - 1) / stride));
    const auto first = static_cast<unsigned>(addresses[lane] & in_line);
    const auto last = static_cast<unsigned>(addresses[lane + count - 1] & in_line);
    line_part& part = part_of(out, line);
    part.lanes |= static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << lane);
    part.words |= strided_words(first, last, stride, bytes);
    lane += count;
  }
}
}  // namespace

std::uint64_t differing_bits(const std::uint64_t addresses[32], std::uint32_t mask) {
  std::uint64_t differ = 0;
  if (mask == 0xffffffffu) {
    for (unsigned lane = 0; lane < 32; ++lane) differ |= addresses[lane] ^ addresses[0];
  } else {
    const std::uint64_t first = addresses[__builtin_ctz(mask)];
    for (const unsigned lane : set_bits(mask)) differ |= addresses[lane] ^ first;
  }
  return differ;
}

void coalesce(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, coalesced_access& out) {
  out.count = 0;
  if (mask == 0) return;
  const std::uint64_t stride = addresses[1] - addresses[0];
  if (mask == 0xffffffffu && stride - 1 < sector_bytes) {
    // The halves of a warp are often in two rows of a matrix.
    std::uint64_t off = 0;
    for (unsigned lane = 0; lane < 16; ++lane) {
      off |= addresses[lane] - addresses[0] - lane * stride;
      off |= addresses[16 + lane] - addresses[16] - lane * stride;
    }
    if (off == 0) {
      coalesce_strided(addresses, 0, 16, stride, bytes, out);
      coalesce_strided(addresses, 16, 32, stride, bytes, out);
      return;
    }
  }
  const std::uint32_t lane_words = words_of(bytes);
  // Consecutive lanes in one line are accumulated in registers before the line is looked up.
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint64_t line = addresses[first_bit(rest)] & ~in_line;
    const std::uint32_t before = rest;
    std::uint32_t words = 0;
    for (; rest != 0; rest = without_first(rest)) {
      const std::uint64_t offset = addresses[first_bit(rest)] - line;
      if (offset > in_line) break;
      words |= lane_words << offset / 4;
    }
    line_part& part = part_of(out, line);
    part.lanes |= before ^ rest;
    part.words |= words;
  }
}

void coalesce_half_warps(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, coalesced_access& out) {
  out.count = 0;
  for (unsigned first = 0; first < 32; first += 16) {
    const std::uint32_t half = mask & (0xffffu << first);
    if (half == 0) continue;
    const unsigned some = first_bit(half);
    const std::uint64_t segment = addresses[some] - std::uint64_t{some - first} * bytes;
    bool in_order = bytes >= 4 && segment % (16 * bytes) == 0;
    for (const unsigned lane : set_bits(half)) {
      if (!in_order) break;
      in_order = addresses[lane] == segment + std::uint64_t{lane - first} * bytes;
    }
    const unsigned begin = out.count;
    for (const unsigned lane : set_bits(half)) {
      const std::uint64_t line = addresses[lane] & ~in_line;
      if (!in_order || out.count == begin || out.parts[out.count - 1].line != line)
        out.parts[out.count++] = {line, 0, 0};
      line_part& part = out.parts[out.count - 1];
      part.lanes |= 1u << lane;
      part.words |= words_of(bytes) << (addresses[lane] & in_line) / 4;
    }
  }
}

bank_conflicts::bank_conflicts(unsigned banks, unsigned bank_bytes)
    : banks_(banks), bank_mask_((banks & (banks - 1)) == 0 && banks > 1 ? banks - 1 : 0) {
  if (banks == 0 || banks > most)
    throw input_error("shared_memory.banks: a number from 1 to " + std::to_string(most) + " was expected");
  if (bank_bytes != 4 && bank_bytes != 8 && bank_bytes != 16)
    throw input_error("shared_memory.bank_bytes: 4, 8 or 16 was expected");
  word_shift_ = static_cast<unsigned>(__builtin_ctz(bank_bytes));
  word_mask_ = bank_bytes - 1;
}

unsigned bank_conflicts::passes(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes, bool exclusive,
                                std::uint64_t differing) const {
  if (mask == 0) return 0;
  if (!exclusive && bank_mask_ != 0) {
    const std::uint64_t d = differing != ~std::uint64_t{0} ? differing : differing_bits(addresses, mask);
    if (d < std::uint64_t{banks_} << word_shift_)
      return 1;  // at most one word per bank, whichever lane accesses it: the most common case
  }
  if (mask == 0xffffffffu && !exclusive && bytes == 1u << word_shift_ && bank_mask_ >= 31) {
    // One word per lane, consecutive in address: at most two rows, so no bank serves two words.
    std::uint64_t off = addresses[0] & (bytes - 1);
    for (unsigned lane = 1; lane < 32; ++lane) off |= addresses[lane] - addresses[0] - lane * bytes;
    if (off == 0) return 1;
  }
  // Fast paths: at most one word per lane, and each lane has a bank of its own, or no bank has two different words. No
  // counting is needed.
  if (bytes <= 1u << word_shift_) {
    std::uint64_t banks = 0;
    for (const unsigned lane : set_bits(mask)) banks |= std::uint64_t{1} << bank_of(addresses[lane] >> word_shift_);
    if (__builtin_popcountll(banks) == __builtin_popcount(mask)) return 1;
    std::uint64_t word_in[64];
    std::uint64_t seen = 0;
    bool clash = false;
    for (const unsigned lane : set_bits(mask)) {
      const std::uint64_t word = addresses[lane] >> word_shift_;
      const unsigned bank = bank_of(word);
      if (seen >> bank & 1) {
        clash |= exclusive || word_in[bank] != word;  // slow_passes tells whether the lanes share a cell
      } else {
        seen |= std::uint64_t{1} << bank;
        word_in[bank] = word;
      }
    }
    if (!clash) return 1;
  }
  return slow_passes(addresses, mask, bytes, exclusive);
}

unsigned bank_conflicts::slow_passes(const std::uint64_t addresses[32], std::uint32_t mask, unsigned bytes,
                                     bool exclusive) const {
  struct entry {
    std::uint64_t word;
    std::uint8_t next;
    std::uint8_t lanes[4];  // exclusive: lanes per cell of 4 bytes
  };
  constexpr std::uint8_t none = 0xff;
  entry entries[128];  // 32 lanes with up to four words each
  std::uint8_t head[most];
  std::uint8_t depth[most];
  for (unsigned b = 0; b < banks_; ++b) {
    head[b] = none;
    depth[b] = 0;
  }
  unsigned used = 0;
  unsigned worst = 0;
  for (const unsigned lane : set_bits(mask)) {
    const std::uint64_t a = addresses[lane];
    const std::uint64_t last = (a + bytes - 1) >> word_shift_;
    for (std::uint64_t word = a >> word_shift_; word <= last; ++word) {
      const unsigned bank = bank_of(word);
      std::uint8_t e = head[bank];
      while (e != none && entries[e].word != word) e = entries[e].next;
      unsigned more = e == none;  // passes that this lane adds to its bank
      if (e == none) {
        invariant(used < 128, "a shared-memory access is not naturally aligned");
        entries[used] = {word, head[bank], {}};
        e = head[bank] = static_cast<std::uint8_t>(used++);
      }
      if (exclusive) {
        // A word needs as many passes as its most contended cell has lanes.
        std::uint8_t(&lanes)[4] = entries[e].lanes;
        const std::uint8_t before = *std::max_element(lanes, lanes + 4);
        ++lanes[(a & word_mask_) / 4];
        more = *std::max_element(lanes, lanes + 4) - before;
      }
      depth[bank] = static_cast<std::uint8_t>(depth[bank] + more);
      worst = std::max<unsigned>(worst, depth[bank]);
    }
  }
  return worst;
}

}  // namespace heddle
