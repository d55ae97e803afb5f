// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decode.h"

namespace heddle::test {

/// A memory that answers everything at once (TLM_COMPLETED): enough for programs that hardly access memory.
struct instant_memory : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  explicit instant_memory(sc_core::sc_module_name n) : sc_module(n), socket("socket") { socket.bind(*this); }
  tlm::tlm_target_socket<32> socket;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1 << 20);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time& t) override {
    b_transport(p, t);
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) override {
    const std::uint64_t a = p.get_address() - isa::heap_base;
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_ptr()[i] == 0) continue;
      if (p.is_read()) p.get_data_ptr()[i] = bytes[(a + i) % bytes.size()];
      else bytes[(a + i) % bytes.size()] = p.get_data_ptr()[i];
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
};

/// One SM with a CWD, without host, interconnect or L2; it runs hand-assembled machine programs.
struct sm_harness : grid_observer {
  explicit sm_harness(gpu_config c)
      : config([&c] {
          c.gpu.sm_count = 1;
          c.cwd.launch_latency_cycles = 1;
          return c;
        }()),
        clock("clock", config.gpu.core_clock_mhz),
        cwd("cwd", clock, config, *this),
        sm("sm0", clock, config, 0, ranges),
        memory("memory") {
    cwd.cta_socket[0].bind(sm.resource_manager.cta_socket);
    sm.l1.memory_socket.bind(memory.socket);
    ranges.add(isa::heap_base, 1 << 20);
  }

  void grid_finished(const grid_record&, cycle_t) override { ++finished; }
  void program_fault(const std::string& text) override {
    fault = text;
    clock.halt();
  }

  /// Runs the program with `blocks` blocks of `threads` threads to its end.
  const grid_record& run(std::vector<isa::instruction> code, unsigned threads, unsigned blocks = 1,
                         unsigned registers = 32) {
    auto program = std::make_shared<isa::program>();
    program->kernel = "test";
    program->file = "test.ptx";
    program->code = std::move(code);
    program->registers = registers;
    auto launch = std::make_shared<resident_launch>();
    launch->program = program;
    launch->decoded = decode(program, config, next_code);
    next_code += 65536;
    launch->grid = {blocks, 1, 1};
    launch->block = {threads, 1, 1};
    launch->launch_id = static_cast<std::uint32_t>(cwd.grids().size());
    launch->banks[0].resize(4096);
    launch->shared_bytes = 256;
    cwd.submit(launch);
    sc_core::sc_start();
    return cwd.grids().back();
  }

  issue_totals total(std::uint32_t launch) const {
    issue_totals t;
    for (const auto& p : sm.partitions) t.add(p.account.counters.at(launch).totals());
    return t;
  }

  gpu_config config;
  address_ranges ranges;
  clock_domain clock;
  compute_work_distributor cwd;
  class sm sm;
  instant_memory memory;
  unsigned finished = 0;
  std::string fault;
  std::uint64_t next_code = 0;
};

inline isa::instruction op(isa::opcode o, std::uint8_t d, isa::operand a = {}, isa::operand b = {},
                           isa::operand c = {}) {
  isa::instruction i;
  i.op = o;
  i.type = isa::dtype::f32;
  i.dst = d;
  i.dst_count = 1;
  i.src = {a, b, c, {}};
  return i;
}
inline isa::instruction ffma(std::uint8_t d, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
  return op(isa::opcode::ffma, d, isa::make_reg(a), isa::make_reg(b), isa::make_reg(c));
}
inline isa::instruction exit_instruction() {
  isa::instruction i;
  i.op = isa::opcode::exit;
  return i;
}

}  // namespace heddle::test
