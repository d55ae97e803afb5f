// SPDX-License-Identifier: MIT
// An L1 between a stand-in for a load/store unit and a custom L2. Eight warps load and store at random; each warp has
// its own words, which share lines with those of other warps, and compares each loaded value with the last one it
// stored.
//
//   warps ==l1_protocol==> l1.access_socket          l1.memory_socket ==AT==> own_l2
#include <heddle/heddle.h>
#include <heddle/isa/set_bits.h>
#include <heddle/memory/l1/l1_cache.h>
#include <heddle/simt/warp/warp_state.h>
#include <heddle/tlm/port/phase_initiator.h>

#include <iostream>
#include <map>
#include <random>

#include "testbench/parts/own_l2.h"

namespace {

constexpr unsigned warp_count = 8;
constexpr unsigned words_per_line = heddle::line_bytes / 4;

/// Issues accesses of one line each according to the protocol: a refused access is retried after the L1's retry
/// notification.
struct warps : sc_core::sc_module, heddle::phase_initiator<heddle::l1_protocol_types> {
  tlm::tlm_initiator_socket<32, heddle::l1_protocol_types> socket{"socket"};
  unsigned finished = 0;
  unsigned wrong = 0;
  unsigned hits = 0;
  unsigned refusals = 0;

  warps(sc_core::sc_module_name name, heddle::clock_domain& clock) : sc_module(name), clock_(clock) {
    socket.bind(*this);
    for (unsigned w = 0; w < warp_count; ++w)
      sc_core::sc_spawn([this, w] { run(w); }, sc_core::sc_gen_unique_name("warp"));
  }

 private:
  void run(unsigned warp) {
    std::mt19937 random(warp + 1);
    std::map<std::uint64_t, std::uint32_t> stored;
    for (unsigned i = 0; i < 1500; ++i) {
      heddle::lsu_transaction t;
      t.launch = &launch_;
      t.warp = warp;
      t.kind = random() % 3 == 0 ? heddle::lsu_kind::store : heddle::lsu_kind::load;
      heddle::l1_access access;
      access.transaction = &t;
      access.line = 0x1000'0000 + random() % 512 * heddle::line_bytes;
      // Lane l of warp w owns the words w, w + 8, ... of the line.
      for (unsigned lane = 0; lane < words_per_line / warp_count; ++lane) {
        if (random() % 2 != 0) continue;
        const unsigned offset = (lane * warp_count + warp) * 4;
        t.own_addresses[lane] = access.line + offset;
        t.words[0][lane] = static_cast<std::uint32_t>(random());
        access.lanes |= 1u << lane;
        access.sectors |= static_cast<std::uint8_t>(1u << offset / heddle::sector_bytes);
      }
      t.global_mask = access.lanes;
      if (access.lanes == 0) continue;
      perform(access);
      for (const unsigned lane : heddle::set_bits(access.lanes)) {
        std::uint32_t& word = stored[t.addresses()[lane]];
        if (t.kind == heddle::lsu_kind::store) word = t.words[0][lane];
        else if (t.words[0][lane] != word) ++wrong;
      }
      if (!t.fault.empty()) ++wrong;
    }
    ++finished;
  }

  void perform(heddle::l1_access& access) {
    for (;;) {
      wait(clock_.delay_until(clock_.cycle() + 1));
      access.cycle = clock_.cycle();
      heddle::l1_phase phase = heddle::l1_phase::request;
      sc_core::sc_time delay;
      sc_core::sc_event done;
      done_[&access] = &done;
      const tlm::tlm_sync_enum answer = socket->nb_transport_fw(access, phase, delay);
      if (answer == tlm::TLM_ACCEPTED) wait(done);
      done_.erase(&access);
      if (answer == tlm::TLM_UPDATED) {
        ++refusals;
        wait(retry_);
        continue;
      }
      if (answer == tlm::TLM_COMPLETED) ++hits;
      if (access.ready_cycle > clock_.cycle()) wait(clock_.delay_until(access.ready_cycle));
      return;
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(heddle::l1_access& access, heddle::l1_phase& phase, sc_core::sc_time&) override {
    if (phase == heddle::l1_phase::retry) retry_.notify(sc_core::SC_ZERO_TIME);
    else done_.at(&access)->notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_ACCEPTED;
  }

  heddle::clock_domain& clock_;
  heddle::simt::launch_context launch_;
  std::map<const heddle::l1_access*, sc_core::sc_event*> done_;
  sc_core::sc_event retry_;
};

}  // namespace

int sc_main(int, char*[]) {
  const heddle::gpu_config config = heddle::load_config(
      "gtx1080", {"l1.cache_global_loads=true", "l1.size_bytes=16384", "l1.ways=4", "l1.mshr_entries=4"});
  heddle::clock_domain clock("clock", config.gpu.core_clock_mhz);
  heddle::l1_cache l1("l1", clock, config, 0);
  warps source("warps", clock);
  parts::own_l2 l2("l2", clock, 64);
  source.socket.bind(l1.access_socket);
  l1.memory_socket.bind(l2.socket);
  sc_core::sc_start();

  l1.check_invariants();
  const heddle::l1_counters& count = l1.counters.at(0);
  const bool worked = count.hits > 0 && count.evictions > 0 && source.refusals > 0;
  const bool right =
      source.finished == warp_count && source.wrong == 0 && worked && l1.idle() && l2.reads == count.read_requests;
  std::cout << (right ? "right" : "wrong") << " after " << clock.cycle() << " cycles, " << source.hits
            << " accesses hit, " << source.refusals << " were refused, " << l2.reads << " reads and " << l2.writes
            << " writes of the L2, " << count.evictions << " lines replaced\n";
  return right ? 0 : 1;
}
