// SPDX-License-Identifier: MIT
#include <algorithm>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

unsigned collatz_steps(unsigned value, unsigned limit) {
  unsigned steps = 0;
  for (; value > 1 && steps < limit; ++steps) value = value % 2 ? 3 * value + 1 : value / 2;
  return steps;
}

unsigned reversed_bits(unsigned value) {
  unsigned result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (value >> bit & 1) << (31 - bit);
  return result;
}

unsigned ones(unsigned value) {
  unsigned count = 0;
  for (; value; value &= value - 1) ++count;
  return count;
}

unsigned first_part(const std::vector<std::uint32_t>& in, unsigned i) {
  const unsigned value = in[i];
  if (!(value & 16)) return value & 32 ? collatz_steps(value >> 8 & 0xfff, 40) : value;
  unsigned result = 0;
  for (unsigned round = 0; round < (value >> 5 & 15); ++round) {
    if ((round & 3) == (value >> 9 & 3)) continue;
    if (result > 0xf0000000u) break;
    if (value & 0x800) {
      result = result * 5 + round;
      if (result & 0x40) result ^= in[(i + round) % in.size()];
    } else {
      result += value >> round;
    }
  }
  return result;
}

unsigned skip_ones(unsigned result, unsigned value) {
  for (unsigned bit = 0;;) {
    result += bit * value;
    ++bit;
    if (bit == 32 || !(result >> bit & 1)) return result;
  }
}

unsigned second_part(unsigned result, unsigned value) {
  switch (value >> 28) {
    case 0: return result + 17;
    case 1: return result ^ 0x55555555;
    case 2: return ones(result);
    case 3: return reversed_bits(result) * reversed_bits(result) + 1;
    case 4: return result * result + 1;
    case 7: return result - value;
    case 9: return result << 3 | result >> 29;
    case 11: return skip_ones(result, value);
    case 13: return result;
    case 15: return std::max(result, value >> 1);
    default: return ~result;
  }
}

}  // namespace

void make_divergent(const folder& out) {
  const std::vector<std::uint32_t> in = random_words(9, 8000);  // the job's "random:9"
  std::vector<std::uint32_t> result(in.size());
  for (unsigned i = 0; i < in.size(); ++i) {
    const unsigned value = in[i];
    if ((value & 15) == 0) {
      result[i] = ~value;
      continue;
    }
    result[i] = second_part(first_part(in, i), value);
    // Blocks are a multiple of 32 threads, so a thread's lane follows from its element.
    if (value >> 28 != 13 && i % 32 < 7) result[i] += 1000;
  }
  out.write("out.ref.bin", result);
}

}  // namespace heddle::workloads
