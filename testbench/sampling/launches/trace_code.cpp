// SPDX-License-Identifier: MIT
#include "testbench/sampling/launches/trace_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "heddle/frontend/sass_trace/own/program_text.h"
#include "heddle/frontend/sass_trace/text/field_scanner.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"
#include "heddle/hash/splitmix64.h"
#include "heddle/isa/program.h"

namespace heddle::testbench {

namespace {

constexpr unsigned most_instructions = 256;
constexpr std::uint64_t most_registers = 16;

bool is_memory(std::string_view opcode) {
  return sass_trace::starts_with(opcode, "LD") || sass_trace::starts_with(opcode, "ST") ||
         sass_trace::starts_with(opcode, "ATOM") || sass_trace::starts_with(opcode, "RED");
}

// Place and opcode of the instruction on a line: "PC mask N Rd... opcode".
std::uint64_t place_and_opcode(std::string_view line, const sass_trace::line_reader& lines,
                               const sass_trace::line_format& format, std::string_view& opcode) {
  sass_trace::field_scanner s(line, lines);
  for (unsigned k = 0; k < (format.block_ids ? 4u : 0u) + (format.line_number ? 1u : 0u); ++k) s.word();
  std::uint64_t hash = hash_with(0, s.hex(32, "an instruction's place, a hexadecimal number"));
  s.word();
  for (std::uint64_t k = s.decimal(most_registers, "a number of result registers, at most 16"); k > 0; --k) s.word();
  opcode = s.word();
  for (const char c : opcode) hash = hash_with(hash, static_cast<unsigned char>(c));
  return hash;
}

// An instruction on a line: a hash of its place and opcode, and its opcode.
using line_meaning = std::function<std::uint64_t(std::string_view line, std::string_view& opcode)>;

line_meaning meaning_of_lines(sass_trace::line_reader& lines, const sass_trace::kernel_header& header) {
  if (!header.own)
    return [&](std::string_view line, std::string_view& opcode) {
      return place_and_opcode(line, lines, header.format, opcode);
    };
  return [&, program = sass_trace::read_program(lines, header.name)](std::string_view line, std::string_view& opcode) {
    const std::uint64_t place = sass_trace::field_scanner(line, lines).hex(32, "the place of an instruction");
    if (place >= program->code.size()) lines.fail(1, "expected the place of an instruction of the program");
    opcode = isa::info(program->code[place].op).mnemonic;
    return hash_with(place, static_cast<std::uint64_t>(program->code[place].op));
  };
}

}  // namespace

trace_code read_code(sass_trace::line_reader& lines, const sass_trace::kernel_header& header) {
  trace_code code;
  std::vector<std::uint64_t> hashes;
  const line_meaning read = meaning_of_lines(lines, header);
  std::string_view line;
  bool in_warp = false;
  while (code.instructions < most_instructions && lines.next_with_text(line)) {
    const bool instruction = in_warp && line[0] != '#' && line[0] != 'w';
    if (!instruction && code.instructions > 0) break;
    in_warp = instruction || sass_trace::starts_with(sass_trace::trimmed(line), "insts");
    if (!instruction) continue;
    std::string_view opcode;
    hashes.push_back(read(line, opcode));
    ++code.instructions;
    code.memory += is_memory(opcode);
    code.matrix += sass_trace::contains(opcode, "MMA");
  }
  // Loops repeat instructions.
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  for (const std::uint64_t h : hashes) code.hash = hash_with(code.hash, h);
  return code;
}

std::string trace_code::text() const {
  const auto tenths = [&](unsigned part) { return std::lround(10.0 * part / std::max(1u, instructions)); };
  return fmt::format("code {:016x}, memory {}, matrix {}", hash, tenths(memory), tenths(matrix));
}

}  // namespace heddle::testbench
