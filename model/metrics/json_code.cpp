// SPDX-License-Identifier: MIT
#include "heddle/metrics/json_code.h"

#include <cmath>
#include <variant>

#include "heddle/config/parameter_table.h"

namespace heddle {

namespace {

template <class Counts>
void write_present(json_writer& w, const char* name, const Counts& counts) {
  w.key(constant_key{name}).begin_object();
  counts.visit([&w](const char* what, std::uint64_t n) {
    if (n != 0) w.member(constant_key{what}, n);
  });
  w.end_object();
}

void write_members(json_writer& w, const instruction_work& i) {
  if (i.executed != 0) w.member("executed", i.executed);
  if (i.thread_executed != 0) w.member("thread_executed", i.thread_executed);
  if (i.flops != 0) w.member("flops", i.flops);
  if (i.replays != 0) w.member("replays", i.replays);
  if (i.bank_conflicts != 0) w.member("bank_conflicts", i.bank_conflicts);
  if (i.joules != 0) w.member("joules", i.joules);
  write_present(w, "warp_states", i.warp_states);
  if (i.accesses != 0) {
    w.member("accesses", i.accesses);
    write_present(w, "memory", i.memory);
  }
}

void write_instruction(json_writer& w, const instruction_metrics& i) {
  const instruction_work& work = i;
  w.begin_object().member("line", i.line).member("text", i.text);
  w.again_or(work, [&] { write_members(w, work); }).end_object();
}

}  // namespace

void write_extremes(json_writer& w, const kernel_metrics& k) {
  if (k.busiest_atomic_unit != 0) w.member("busiest_atomic_unit_cycles", k.busiest_atomic_unit);
  if (k.busiest_sm != 0) {
    w.member("busiest_sm_instructions", k.busiest_sm);
    w.member("longest_even_sm_cycles", k.longest_even_sm);
  }
  if (k.spills.bytes == 0) return;
  w.key("spills").begin_object().member("bytes", k.spills.bytes).member("limit", k.spills.limit);
  w.member("limit_of", k.spills.limit_of).end_object();
}

void write_code(json_writer& w, const kernel_metrics& k) {
  if (k.code.empty()) return;
  w.key("flops").begin_object();
  k.flops.visit([&w](const char* unit, std::uint64_t n) { w.member(unit, n); });
  w.end_object();
  w.key("code").begin_array();
  for (const instruction_metrics& i : k.code) write_instruction(w, i);
  w.end_array();
}

void write_sources(json_writer& w, const std::vector<source_lines>& sources) {
  if (sources.empty()) return;
  w.key("sources").begin_array();
  for (const source_lines& s : sources) {
    w.begin_object().member("file", s.file).member("first_line", s.first_line).key("lines").begin_array();
    for (const std::string& line : s.lines) w.value(line);
    w.end_array().end_object();
  }
  w.end_array();
}

void write_clients(json_writer& w, const std::vector<client_metrics>& clients) {
  w.key("clients").begin_array();
  for (const client_metrics& c : clients) {
    w.begin_object().member("name", c.name);
    if (!c.slice.empty()) w.member("slice", c.slice);
    c.visit([&w](const char* name, const auto& v) { w.member(constant_key{name}, v); });
    if (c.alone_cycles != 0) w.member("alone_cycles", c.alone_cycles).member("slowdown", c.slowdown());
    w.end_object();
  }
  w.end_array();
}

void write_sampled(json_writer& w, const kernel_metrics& k) {
  const sampled_metrics& s = k.sampled;
  w.key("sampled").begin_object();
  w.member("blocks", k.blocks).member("simulated_blocks", s.simulated_blocks);
  w.member("cycles", static_cast<std::uint64_t>(std::llround(s.cycles))).member("error", s.error);
  w.member("confidence", s.confidence).member("steady_from", s.steady_from);
  w.end_object();
}

void write_parameters(json_writer& w, const gpu_config& config) {
  for (const parameter& p : parameters()) {
    // The pointer is used for reading only.
    const value_pointer value = p.in(const_cast<gpu_config&>(config));
    w.key(p.name());
    if (const auto* whole = std::get_if<unsigned*>(&value)) {
      w.value(**whole);
    } else if (const auto* real = std::get_if<double*>(&value)) {
      w.value(**real);
    } else if (const auto* truth = std::get_if<bool*>(&value)) {
      w.value(**truth);
    } else {
      w.value(text_of({&p, value}));
    }
  }
}

}  // namespace heddle
