// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/own/own_steps.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <string>

#include "heddle/frontend/sass_trace/text/field_scanner.h"

namespace heddle::sass_trace {

namespace {

constexpr unsigned first_flag = 28;  // those of the lines
constexpr const char* place_expected = "the place of an instruction of the program that can be in a trace";

bool accesses_memory(const isa::instruction& i) {
  return isa::info(i.op).flow == isa::flow_kind::none && isa::info(i.op).access != isa::access_kind::none;
}

// The thread's own memory ends with that of the program.
bool is_beyond(const isa::program& program, const isa::instruction& i, std::uint64_t address) {
  const std::uint64_t local = address - isa::local_window_base;
  const bool is_local = i.mem_space == isa::space::local;
  if (!is_local && (i.mem_space != isa::space::generic || local >= isa::window_bytes)) return false;
  const std::uint64_t offset = is_local ? address : local;
  const std::uint64_t bytes = std::max(1u, isa::size_of(i.type));
  return offset > program.local_bytes || bytes > program.local_bytes - offset;
}

void read_lanes(field_scanner& s, const step_place& p, isa::executed_step& step) {
  s.skip_blanks();
  const char* from = s.position();
  step.active = static_cast<std::uint32_t>(s.hex(32, "a mask of lanes"));
  const bool of_copy = (step.instruction & isa::step::target) != 0;
  if ((step.active & ~p.lanes) != 0 || (step.active == 0 && !of_copy)) s.refuse(from, "lanes of the warp");
  s.skip_blanks();
  from = s.position();
  step.mask = static_cast<std::uint32_t>(s.hex(32, "a mask of lanes"));
  if ((step.mask & ~(of_copy ? p.lanes : step.active)) != 0) s.refuse(from, "some of the active lanes");
}

void read_list(field_scanner& s, unsigned lanes, std::uint64_t* list) {
  list[0] = s.hex(64, "an address");
  std::uint64_t difference = 0;
  if (lanes > 1) {
    difference = static_cast<std::uint64_t>(s.integer("a difference of addresses"));
    list[1] = list[0] + difference;
  }
  const bool even = s.done();
  for (unsigned k = 2; k < lanes; ++k) {
    if (!even) difference = static_cast<std::uint64_t>(s.integer("a difference of addresses"));
    list[k] = list[k - 1] + difference;
  }
  s.expect_end("the end of the line");
}

void read_addresses(field_scanner& s, const step_place& p, isa::executed_step& step, block_trace& block) {
  const isa::instruction& i = p.program.code[step.instruction & isa::step::index];
  const bool waits = (step.instruction & isa::step::waits) != 0;
  const bool has = step.mask != 0 && !waits && (accesses_memory(i) || isa::computes_barrier(i));
  if (!has) return s.expect_end("the end of the line");
  s.skip_blanks();
  const char* from = s.position();
  const auto lanes = static_cast<unsigned>(__builtin_popcount(step.mask));
  std::uint64_t list[isa::warp_size];
  read_list(s, lanes, list);
  const bool is_target = (step.instruction & isa::step::target) != 0;
  if (!is_target && std::any_of(list, list + lanes, [&](std::uint64_t a) { return is_beyond(p.program, i, a); }))
    s.refuse(from,
             ("addresses within the " + std::to_string(p.program.local_bytes) + " bytes of local memory").c_str());
  step.addresses = block.addresses.add(list, lanes);
}

}  // namespace

void write_step(std::string& text, const isa::executed_step& step, const std::uint64_t* words, bool even) {
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "{:x} {:x} {:x} {}", step.instruction & isa::step::index, step.active, step.mask,
                 step.instruction >> first_flag);
  if (words != nullptr) {
    const unsigned count = even ? 2 : static_cast<unsigned>(__builtin_popcount(step.mask));
    fmt::format_to(to, " {:x}", words[0]);
    for (unsigned k = 1; k < count; ++k) fmt::format_to(to, " {}", static_cast<std::int64_t>(words[k] - words[k - 1]));
  }
  text += '\n';
}

void read_step(const step_place& p, std::string_view line, block_trace& block) {
  field_scanner s(line, p.reader);
  isa::executed_step step;
  s.skip_blanks();
  const char* from = s.position();
  const std::uint64_t index = s.hex(isa::step::index_bits, place_expected);
  if (index >= p.program.code.size()) s.refuse(from, place_expected);
  const isa::instruction& i = p.program.code[index];
  if (isa::info(i.op).flow == isa::flow_kind::trap) s.refuse(from, place_expected);
  if (p.last && i.op != isa::opcode::exit) s.refuse(from, "an EXIT as the last step of a warp");
  step.instruction = static_cast<std::uint32_t>(index);
  field_scanner flags = s;
  flags.word();
  flags.word();
  step.instruction |= static_cast<std::uint32_t>(flags.decimal(15, "flags of a step, 0 to 15")) << first_flag;
  read_lanes(s, p, step);
  s.word();
  const bool after_target = !block.records.empty() && (block.records.back().instruction & isa::step::target) != 0;
  const bool target = (step.instruction & isa::step::target) != 0;
  const bool copies = i.op == isa::opcode::ldgsts && step.mask != 0;
  const bool follows = after_target && (block.records.back().instruction & isa::step::index) == index;
  if ((target && (after_target || i.op != isa::opcode::ldgsts)) || (!target && (after_target ? !follows : copies)))
    s.refuse(from, "both ends of a copy, one after the other");
  read_addresses(s, p, step, block);
  if (step.active != step.mask || target)
    block.records.push_back({step.instruction | isa::step::lanes, step.active, 0});
  block.records.push_back({step.instruction, step.mask, step.addresses});
}

}  // namespace heddle::sass_trace
