// SPDX-License-Identifier: MIT
#include "heddle/memory/common/lane_data.h"

#include <algorithm>
#include <cstring>

#include "heddle/isa/instruction.h"
#include "heddle/isa/set_bits.h"

namespace heddle {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lane words are copied as memory bytes");

namespace {

template <unsigned bytes>
void load_lanes(lsu_transaction& t, std::uint32_t lanes, std::uint8_t sectors, const std::uint8_t* line) {
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  const std::uint64_t* const addresses = t.addresses();
  for (const unsigned lane : set_bits(lanes)) {
    const unsigned offset = addresses[lane] & (line_bytes - 1);
    if (!(sectors >> (offset / sector_bytes) & 1)) continue;
    for (unsigned k = 0; k < words; ++k) {
      std::uint32_t word = 0;
      std::memcpy(&word, line + offset + 4 * k, bytes < 4 ? bytes : 4);
      t.words[k][lane] = word;
    }
  }
}

template <unsigned bytes>
void store_lanes(const lsu_transaction& t, std::uint32_t lanes, std::uint8_t* line, std::uint8_t* enables) {
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  const std::uint64_t* const addresses = t.addresses();
  for (const unsigned lane : set_bits(lanes)) {
    const unsigned offset = addresses[lane] & (line_bytes - 1);
    for (unsigned k = 0; k < words; ++k) std::memcpy(line + offset + 4 * k, &t.words[k][lane], bytes < 4 ? bytes : 4);
    std::memset(enables + offset, 0xff, bytes);
  }
}

}  // namespace

void bytes_to_lanes(lsu_transaction& t, std::uint32_t lanes, std::uint8_t sectors, const std::uint8_t* line) {
  if (!t.data) return;
  switch (t.bytes_per_lane) {
    case 1: return load_lanes<1>(t, lanes, sectors, line);
    case 2: return load_lanes<2>(t, lanes, sectors, line);
    case 4: return load_lanes<4>(t, lanes, sectors, line);
    case 8: return load_lanes<8>(t, lanes, sectors, line);
    default: return load_lanes<16>(t, lanes, sectors, line);
  }
}

void lanes_to_bytes(const lsu_transaction& t, std::uint32_t lanes, std::uint8_t* line, std::uint8_t* enables) {
  std::memset(enables, 0, line_bytes);
  switch (t.bytes_per_lane) {
    case 1: return store_lanes<1>(t, lanes, line, enables);
    case 2: return store_lanes<2>(t, lanes, line, enables);
    case 4: return store_lanes<4>(t, lanes, line, enables);
    case 8: return store_lanes<8>(t, lanes, line, enables);
    default: return store_lanes<16>(t, lanes, line, enables);
  }
}

namespace {

// The operands of a lane's cell of 16 bytes.
void wide_lane_to_atomic(const lsu_transaction& t, unsigned lane, bool compares, atomic_request& request, unsigned k) {
  const auto two = [&](unsigned row) { return t.words[row][lane] | std::uint64_t{t.words[row + 1][lane]} << 32; };
  request.operand[k] = two(0);
  request.operand_high[k] = two(2);
  request.swap[k] = compares ? two(4) : 0;
  request.swap_high[k] = compares ? two(6) : 0;
  request.result[k] = request.result_high[k] = 0;
}

}  // namespace

void lanes_to_atomic(const lsu_transaction& t, std::uint32_t lanes, atomic_request& request) {
  const isa::instruction& i = *t.instruction;
  const bool wide = t.bytes_per_lane == 8, compares = static_cast<isa::atomic_op>(i.sub) == isa::atomic_op::cas;
  request.operation = i.sub;
  request.type = static_cast<std::uint8_t>(i.type);
  request.returns = t.kind == lsu_kind::atomic;
  request.wide = t.bytes_per_lane == 16;
  request.count = 0;
  for (const unsigned lane : set_bits(lanes)) {
    const unsigned k = request.count++;
    request.lane[k] = static_cast<std::uint8_t>(lane);
    request.offset[k] = static_cast<std::uint8_t>(t.addresses()[lane] & (line_bytes - 1));
    if (request.wide) {
      wide_lane_to_atomic(t, lane, compares, request, k);
      continue;
    }
    request.operand[k] = t.words[0][lane] | (wide ? std::uint64_t{t.words[1][lane]} << 32 : 0);
    if (!compares) request.swap[k] = 0;
    else request.swap[k] = wide ? t.words[2][lane] | std::uint64_t{t.words[3][lane]} << 32 : t.words[1][lane];
    request.result[k] = 0;
  }
}

void atomic_to_lanes(lsu_transaction& t, const atomic_request& request) {
  for (unsigned k = 0; k < request.count; ++k) {
    t.words[0][request.lane[k]] = static_cast<std::uint32_t>(request.result[k]);
    if (t.bytes_per_lane < 8) continue;
    t.words[1][request.lane[k]] = static_cast<std::uint32_t>(request.result[k] >> 32);
    if (!request.wide) continue;
    t.words[2][request.lane[k]] = static_cast<std::uint32_t>(request.result_high[k]);
    t.words[3][request.lane[k]] = static_cast<std::uint32_t>(request.result_high[k] >> 32);
  }
}

atomic_cells cells_of(const atomic_request& request) {
  std::uint8_t lanes[line_bytes] = {};
  atomic_cells cells;
  for (unsigned k = 0; k < request.count; ++k) {
    const unsigned here = ++lanes[request.offset[k]];
    cells.different += here == 1;
    cells.passes = std::max(cells.passes, here);
  }
  return cells;
}

}  // namespace heddle
