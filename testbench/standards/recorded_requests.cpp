// SPDX-License-Identifier: MIT
// Two SMs, the crossbar, two L2 slices and a foreign DRAM, with recorders before the L2 and before the DRAM. Each
// request is recorded with its SM, its warp and its purpose, as text of SCV, or as a database of LWTR where that is.
//
//   sm[i] --> before_l2[i] --> crossbar --> l2[m] --> before_dram[m] --> dram.port[m]
#include <heddle/gpu/path_latency.h>
#include <heddle/heddle.h>
#include <heddle/memory/common/address_ranges.h>
#include <heddle/memory/l2/l2_slice.h>
#include <heddle/memory/noc/interconnect.h>
#include <heddle/sm/sm.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "testbench/cosim/at_dram.h"
#include "testbench/cosim/text_file.h"
#include "testbench/parts/own_cwd.h"
#include "testbench/parts/saxpy_launch.h"
#include "testbench/standards/request_recorder.h"
#include "testbench/standards/scv_text_log.h"
#ifdef HEDDLE_WITH_LWTR
#include "testbench/standards/lwtr_log.h"
#endif

namespace {

using parts::x_array;
using parts::y_array;
using standards::request_recorder;

constexpr unsigned sms = 2, channels = 2;

struct machine : sc_core::sc_module {
  heddle::clock_domain core, l2_clock;
  heddle::address_ranges mapped;
  sc_core::sc_vector<parts::own_cwd> cwd{"cwd"};
  sc_core::sc_vector<heddle::sm> sm{"sm"};
  heddle::interconnect crossbar;
  sc_core::sc_vector<heddle::l2_slice> l2{"l2"};
  sc_core::sc_vector<request_recorder> before_l2{"before_l2"}, before_dram{"before_dram"};
  cosim::at_dram dram{"dram", channels};

  machine(sc_core::sc_module_name name, const heddle::gpu_config& c, standards::transaction_log& log)
      : sc_module(name),
        core("core_clock", c.gpu.core_clock_mhz),
        l2_clock("l2_clock", c.interconnect.clock_mhz),
        crossbar("crossbar", l2_clock, c) {
    mapped.add(x_array, 0x2'0000);
    cwd.init(sms, [&](const char* n, std::size_t) {
      return new parts::own_cwd(n, 3, core.time_of(c.cwd.dispatch_latency_cycles));
    });
    sm.init(sms,
            [&](const char* n, std::size_t i) { return new heddle::sm(n, core, c, static_cast<unsigned>(i), mapped); });
    l2.init(channels, [&](const char* n, std::size_t m) {
      return new heddle::l2_slice(n, l2_clock, c, static_cast<unsigned>(m), heddle::l2_hit_cycles(c),
                                  heddle::l2_code_hit_cycles(c));
    });
    before_l2.init(sms, [&](const char* n, std::size_t) {
      return new request_recorder(n, log, request_recorder::place::before_l2);
    });
    before_dram.init(channels, [&](const char* n, std::size_t) {
      return new request_recorder(n, log, request_recorder::place::before_memory);
    });
    for (unsigned i = 0; i < sms; ++i) {
      cwd[i].cta_socket.bind(sm[i].resource_manager.cta_socket);
      sm[i].l1.memory_socket.bind(before_l2[i].target_socket);
      before_l2[i].initiator_socket.bind(crossbar.sm_socket[i]);
    }
    for (unsigned m = 0; m < channels; ++m) {
      crossbar.slice_socket[m].bind(l2[m].request_socket);
      l2[m].memory_socket.bind(before_dram[m].target_socket);
      before_dram[m].initiator_socket.bind(dram.port[m].socket);
    }
  }
};

/// Where nothing else is asked for, text of SCV.
std::unique_ptr<standards::transaction_log> log_in(const std::string& file, const std::string& form) {
#ifdef HEDDLE_WITH_LWTR
  if (form == "ftr") return std::make_unique<standards::lwtr_log>(file);
#endif
  if (form != "text") return nullptr;
  auto log = std::make_unique<standards::scv_text_log>(file);
  return log->good() ? std::move(log) : nullptr;
}

/// As many records as requests arrived, and none without an end.
bool complete(const machine& top) {
  std::uint64_t at_l2 = 0, before_l2 = 0, at_dram = 0;
  bool idle = true;
  for (const heddle::l2_slice& slice : top.l2)
    for (std::uint32_t launch = 0; launch < slice.counters().end(); ++launch)
      at_l2 += slice.counters().at(launch).reads + slice.counters().at(launch).writes;
  for (const request_recorder& r : top.before_l2) before_l2 += r.recorded(), idle = idle && r.idle();
  for (const request_recorder& r : top.before_dram) at_dram += r.recorded(), idle = idle && r.idle();
  std::cout << before_l2 << " requests before the L2, which received " << at_l2 << "; " << at_dram
            << " before the DRAM, which received " << top.dram.accesses() << "\n";
  return idle && before_l2 == at_l2 && at_dram == top.dram.accesses() && at_dram != 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  const auto log = argc == 4 ? log_in(argv[2], argv[3]) : nullptr;
  if (log == nullptr) {
    std::cerr << "usage: recorded_requests saxpy.ptx FILE text|ftr (ftr: with LWTR); FILE must be writable\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config(
      "gtx1080", {"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=262144", "memory.model=external"});
  machine top("top", config, *log);
  const std::uint32_t n = 3000, blocks = 8;
  const float a = -2.0f;
  std::vector<float> x(n), y(n);
  for (std::uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 50), y[i] = static_cast<float>(i);
  top.dram.bytes.write(x_array, reinterpret_cast<const std::uint8_t*>(x.data()), n * 4);
  top.dram.bytes.write(y_array, reinterpret_cast<const std::uint8_t*>(y.data()), n * 4);
  const auto launch = parts::saxpy_launch(config, cosim::text_file(argv[1]), blocks, 128, n, a);
  for (unsigned i = 0; i < sms; ++i) top.cwd[i].launch(launch, i * blocks / sms, blocks / sms);
  sc_core::sc_start();
  bool good = complete(top);
  for (unsigned i = 0; i < sms; ++i)
    good = good && top.cwd[i].completed() == blocks / sms && top.cwd[i].fault().empty() && top.sm[i].idle();
  return good ? 0 : 1;
}
