// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "heddle/isa/instruction.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/l1/constant_cache.h"
#include "heddle/memory/l1/l1_cache.h"
#include "heddle/simt/warp/warp_state.h"
#include "heddle/sm/load_store_unit.h"
#include "heddle/sm/shared_memory.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "tests/unit/common/fake_memory.h"

namespace heddle {

/// Replaces the sub-partitions: issues transactions at chosen cycles, as credits allow, in order for each partition.
class fake_partitions : public sc_core::sc_module, public clocked, public phase_initiator<lsu_protocol_types> {
 public:
  struct answer {
    cycle_t cycle = never;
    bool fault = false;
  };

  sc_core::sc_vector<tlm::tlm_initiator_socket<32, lsu_protocol_types>> socket;
  std::map<lsu_transaction*, answer> answers;
  std::vector<std::pair<cycle_t, bool>> throttle;  // as reported to partition 0
  unsigned issued = 0;
  bool record = true;

  fake_partitions(sc_core::sc_module_name name, clock_domain& domain, const gpu_config& config)
      : sc_module(name),
        socket("socket", config.sm.sub_partitions),
        clock_(domain, *this),
        todo_(config.sm.sub_partitions),
        credits_(config.sm.sub_partitions, config.ldst.queue_entries) {
    for (auto& s : socket) s.bind(*this);
  }

  /// Issues `t` in `cycle`, or later if credits are missing or an earlier transaction waits.
  void issue(lsu_transaction& t, cycle_t cycle) {
    todo_[t.partition].push_back({&t, cycle});
    clock_.wake_at(cycle);
  }
  void on_cycle(cycle_t cycle) override {
    for (auto& queue : todo_) {
      if (queue.empty()) continue;
      if (queue.front().cycle > cycle) {
        clock_.wake_at(queue.front().cycle);
        continue;
      }
      lsu_transaction& t = *queue.front().transaction;
      if (credits_[t.partition] == 0) continue;
      --credits_[t.partition];
      queue.pop_front();
      ++issued;
      t.issue_cycle = cycle;
      lsu_phase phase = lsu_phase::request;
      sc_core::sc_time delay;
      socket[t.partition]->nb_transport_fw(t, phase, delay);
      if (!queue.empty()) clock_.wake_at(cycle + 1);
    }
  }

 private:
  struct planned {
    lsu_transaction* transaction;
    cycle_t cycle;
  };
  tlm::tlm_sync_enum nb_transport_bw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time&) override {
    const cycle_t cycle = clock_.cycle();
    switch (phase) {
      case lsu_phase::credit:
        ++credits_[t.partition];
        clock_.wake_at(cycle);
        break;
      case lsu_phase::response:
      case lsu_phase::fault: {
        if (!record) break;
        answer& a = answers[&t];
        EXPECT_EQ(a.cycle, never) << "answered twice";
        a = {cycle, phase == lsu_phase::fault};
        break;
      }
      case lsu_phase::throttle_on:
      case lsu_phase::throttle_off:
        // All partitions are notified; partition 0 comes first.
        if (notified_++ % socket.size() == 0) throttle.emplace_back(cycle, phase == lsu_phase::throttle_on);
        break;
      case lsu_phase::request: ADD_FAILURE() << "a request came back";
    }
    return tlm::TLM_ACCEPTED;
  }

  clock_port clock_;
  std::vector<std::deque<planned>> todo_;
  std::vector<unsigned> credits_;
  std::size_t notified_ = 0;
};

/// The memory part of one SM between a fake memory and fake sub-partitions; 1 GHz.
struct sm_memory_bench {
  static constexpr std::uint64_t base = 0x10000;
  static constexpr std::uint64_t size = 0x100000;

  gpu_config config;
  clock_domain clock;
  address_ranges ranges;
  l1_cache l1;
  shared_memory shared;
  constant_cache constants;
  load_store_unit lsu;
  fake_partitions partitions;
  fake_memory memory;
  isa::instruction add;
  simt::launch_context launch;
  std::deque<std::unique_ptr<lsu_transaction>> transactions;

  explicit sm_memory_bench(const gpu_config& c = {})
      : config(c),
        clock("clock", 1000),
        l1("l1", clock, config, 3),
        shared("shared_memory", config),
        constants("constant_cache", config),
        lsu("load_store_unit", clock, config, 3, ranges),
        partitions("partitions", clock, config),
        memory("memory", sc_core::sc_time(1, sc_core::SC_NS)) {
    for (unsigned k = 0; k < config.sm.sub_partitions; ++k) partitions.socket[k].bind(lsu.partition_socket[k]);
    lsu.l1_socket.bind(l1.access_socket);
    lsu.shared_socket.bind(shared.access_socket);
    lsu.constant_socket.bind(constants.access_socket);
    l1.memory_socket.bind(memory.socket);
    ranges.add(base, size);
    add.op = isa::opcode::atom;
    add.sub = static_cast<std::uint8_t>(isa::atomic_op::add);
    add.type = isa::dtype::u32;
  }

  lsu_transaction& make(lsu_kind kind, unsigned partition = 0, unsigned bytes = 4) {
    transactions.push_back(std::make_unique<lsu_transaction>());
    lsu_transaction& t = *transactions.back();
    t.kind = kind;
    t.partition = partition;
    t.bytes_per_lane = bytes;
    t.launch = &launch;
    t.instruction = &add;
    return t;
  }
  /// All lanes, lane l at first + l * stride.
  lsu_transaction& strided(lsu_kind kind, std::uint64_t first, std::uint64_t stride, unsigned partition = 0,
                           unsigned bytes = 4) {
    lsu_transaction& t = make(kind, partition, bytes);
    t.global_mask = 0xffffffffu;
    for (unsigned lane = 0; lane < 32; ++lane) t.own_addresses[lane] = first + lane * stride;
    return t;
  }
  lsu_transaction& on_shared(lsu_kind kind, std::uint64_t stride, unsigned partition = 0, unsigned bytes = 4) {
    lsu_transaction& t = strided(kind, 0, stride, partition, bytes);
    std::swap(t.shared_mask, t.global_mask);
    return t;
  }
  void run() {
    sc_core::sc_start();
    expect_all_answered();
  }
  void expect_all_answered() {
    EXPECT_TRUE(lsu.idle());
    EXPECT_TRUE(l1.idle());
    EXPECT_EQ(memory.open(), 0u);
    EXPECT_EQ(partitions.answers.size(), partitions.issued);
    EXPECT_NO_THROW(lsu.check_invariants());
    EXPECT_NO_THROW(l1.check_invariants());
    EXPECT_NO_THROW(shared.check_invariants());
    EXPECT_NO_THROW(constants.check_invariants());
  }
  /// Cycles from issue to response.
  cycle_t latency(lsu_transaction& t) {
    const auto a = partitions.answers.find(&t);
    return a == partitions.answers.end() ? never : a->second.cycle - t.issue_cycle;
  }
};

}  // namespace heddle
