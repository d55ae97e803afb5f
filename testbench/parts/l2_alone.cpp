// SPDX-License-Identifier: MIT
// One L2 slice between a traffic generator and a third-party DRAM: random reads and writes over more lines than the
// slice holds. Every byte read is compared with the byte last written.
//
//   traffic ==AT==> l2_slice.request_socket          l2_slice.memory_socket ==AT==> dram.port[0]
#include <heddle/tlm/kernel/has_process.h>

#include <heddle/heddle.h>
#include <heddle/memory/l2/l2_slice.h>
#include <heddle/tlm/kernel/event_clock.h>
#include <heddle/tlm/port/at_initiator_port.h>

#include <iostream>
#include <map>
#include <random>
#include <vector>

#include "testbench/cosim/at_dram.h"

namespace {

/// Sends one transaction at a time by the phases of the base protocol, as an L1 does.
struct traffic : sc_core::sc_module, heddle::at_initiator_unit {
  tlm::tlm_initiator_socket<32> socket{"socket"};
  heddle::payload_pool pool;
  unsigned wrong = 0;
  bool finished = false;
  sc_core::sc_time slowest;

  explicit traffic(sc_core::sc_module_name name) : sc_module(name) {
    HEDDLE_HAS_PROCESS(traffic);
    SC_THREAD(run);
  }

 private:
  void run() {
    std::mt19937 random(7);
    std::map<std::uint64_t, std::uint8_t> expected;
    for (int i = 0; i < 3000; ++i) {
      heddle::line_payload& p = pool.acquire();
      const std::uint64_t line = 0x1000'0000 + random() % 256 * heddle::line_bytes;
      const bool write = random() % 2 != 0;
      const auto sector = static_cast<std::uint8_t>(1u << random() % heddle::sectors_per_line);
      if (write) {
        for (unsigned b = 0; b < heddle::line_bytes; ++b) {
          const bool enabled = random() % 3 == 0;
          p.line_enables()[b] = enabled ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
          p.line_data()[b] = static_cast<std::uint8_t>(random());
          if (enabled) expected[line + b] = p.line_data()[b];
        }
        p.make_write(line);
      } else {
        p.make_read(line, sector);
      }
      const sc_core::sc_time begin = sc_core::sc_time_stamp();
      port_.send(p);
      wait(answered_);
      slowest = std::max(slowest, sc_core::sc_time_stamp() - begin);
      if (p.is_response_error()) ++wrong;
      for (unsigned b = 0; b < p.get_data_length() && !write; ++b) {
        const auto known = expected.find(p.get_address() + b);
        if (p.get_data_ptr()[b] != (known == expected.end() ? 0 : known->second)) ++wrong;
      }
      p.release();
    }
    finished = true;
  }

  friend class heddle::at_initiator_port<traffic, heddle::event_clock>;
  bool take_response(tlm::tlm_generic_payload&, const sc_core::sc_time& at) {
    clock_.wake_at(at);
    return true;
  }

  sc_core::sc_event answered_;
  heddle::event_clock clock_{answered_};
  heddle::at_initiator_port<traffic, heddle::event_clock> port_{socket, clock_, *this};
};

}  // namespace

int sc_main(int, char*[]) {
  const heddle::gpu_config config = heddle::load_config(
      "gtx1080", {"memory.channels=1", "l2.size_bytes=16384", "l2.ways=4", "memory.model=external"});
  heddle::clock_domain clock("clock", config.interconnect.clock_mhz);
  heddle::l2_slice slice("slice", clock, config, 0, 30);
  traffic source("source");
  cosim::at_dram dram("dram", 1);
  source.socket.bind(slice.request_socket);
  slice.memory_socket.bind(dram.port[0].socket);
  sc_core::sc_start();

  slice.check_invariants();
  const auto& count = slice.counters().at(0);
  std::cout << (source.finished && source.wrong == 0 ? "right" : "wrong") << ", " << count.fetches << " fetches, "
            << count.write_backs << " write-backs, slowest " << source.slowest << "\n";
  const bool worked = count.fetches > 0 && count.write_backs > 0;
  return source.finished && source.wrong == 0 && worked && slice.idle() ? 0 : 1;
}
