// SPDX-License-Identifier: MIT
// A platform whose parts are all configured by one CCI broker from one file: two GPUs of different generations and a
// loosely timed CPU on one memory. Nothing of the configuration is in this source.
//
//   cpu.bus -----------------> dram.port[0]     cpu.first, cpu.second (drivers) --> first.gpu, second.gpu
//   first.gpu.memory_socket[i] --> dram.port    second.gpu.memory_socket[i] --> dram.port
#include <heddle/cci/cci_parameters.h>
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <iostream>
#include <string>
#include <vector>

#include "testbench/cosim/at_dram.h"
#include "testbench/cosim/text_file.h"
#include "testbench/standards/preset_file.h"

namespace {

/// A GPU with its parameters.
struct node : sc_core::sc_module {
  heddle::cci_parameters parameters;
  const heddle::gpu_config config;
  heddle::gpu gpu;
  sc_core::sc_signal<bool> irq{"irq"};

  explicit node(sc_core::sc_module_name name)
      : sc_module(name), parameters("gpu", "gtx1080"), config(parameters.lock()), gpu("gpu", config) {
    gpu.irq(irq);
  }
};

/// A loosely timed CPU with temporal decoupling. It writes the arrays to the memory, lets each GPU compute one half,
/// and reads the result.
struct lt_cpu : sc_core::sc_module {
  cci::cci_param<unsigned> elements{"elements", 1000, "elements of the arrays"};
  cci::cci_param<double> quantum_ns{"quantum_ns", 100, "how far the CPU runs ahead of the simulated time, in ns"};
  tlm_utils::simple_initiator_socket<lt_cpu> bus{"bus"};
  heddle::host_driver first, second;
  bool right = false;

  lt_cpu(sc_core::sc_module_name name, const node& one, const node& other, std::string text)
      : sc_module(name),
        first("first", one.config, 0x1000'0000),
        second("second", other.config, 0x8000'0000),
        ptx(std::move(text)) {
    HEDDLE_HAS_PROCESS(lt_cpu);
    SC_THREAD(run);
  }

 private:
  void run() {
    const unsigned n = elements, half = n / 2;
    first.load_module(ptx, "saxpy.ptx");
    second.load_module(ptx, "saxpy.ptx");
    const std::uint64_t x = first.allocate(n * 4), y = first.allocate(n * 4);
    second.map(x, n * 4);
    second.map(y, n * 4);
    local.reset();
    for (unsigned i = 0; i < n; ++i) {
      store(x + i * 4, static_cast<float>(i));
      store(y + i * 4, 1.0f);
    }
    local.sync();  // the doorbells ring at the CPU's time
    const unsigned a = launch(first, half, x, y);
    const unsigned b = launch(second, n - half, x + half * 4, y + half * 4);
    first.wait_for(a);
    second.wait_for(b);
    local.reset();
    right = first.fault().empty() && second.fault().empty();
    for (unsigned i = 0; i < n; ++i) right = right && load(y + i * 4) == 2.0f * static_cast<float>(i) + 1.0f;
    local.sync();
  }

  static unsigned launch(heddle::host_driver& driver, unsigned n, std::uint64_t x, std::uint64_t y) {
    heddle::launch_request request;
    request.kernel = "saxpy";
    request.grid[0] = 8;
    request.block[0] = 128;
    request.argument(n).argument(2.0f).argument(x).argument(y);
    driver.check(request);
    return driver.launch(request);
  }

  void store(std::uint64_t address, float value) { access(tlm::TLM_WRITE_COMMAND, address, value); }
  float load(std::uint64_t address) {
    float value = 0;
    access(tlm::TLM_READ_COMMAND, address, value);
    return value;
  }
  void access(tlm::tlm_command command, std::uint64_t address, float& value) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    p.set_data_length(sizeof value);
    p.set_streaming_width(sizeof value);
    sc_core::sc_time delay = local.get_local_time();
    bus->b_transport(p, delay);
    if (p.is_response_error()) SC_REPORT_ERROR("/standards/cpu", p.get_response_string().c_str());
    local.set(delay);
    if (local.need_sync()) local.sync();
  }

  std::string ptx;
  tlm_utils::tlm_quantumkeeper local;
};

struct platform : sc_core::sc_module {
  node first{"first"}, second{"second"};
  lt_cpu cpu;
  cosim::at_dram dram;

  platform(sc_core::sc_module_name name, const std::string& ptx)
      : sc_module(name),
        cpu("cpu", first, second, ptx),
        dram("dram", 1 + first.config.memory.channels + second.config.memory.channels) {
    tlm_utils::tlm_quantumkeeper::set_global_quantum(sc_core::sc_time(cpu.quantum_ns, sc_core::SC_NS));
    unsigned port = 0;
    cpu.bus.bind(dram.port[port++].socket);
    for (node* n : {&first, &second})
      for (unsigned i = 0; i < n->config.memory.channels; ++i) n->gpu.memory_socket[i].bind(dram.port[port++].socket);
    cpu.first.host_socket.bind(first.gpu.host_socket);
    cpu.second.host_socket.bind(second.gpu.host_socket);
    cpu.first.irq(first.irq);
    cpu.second.irq(second.irq);
  }
};

/// Whether a parameter of a GPU that has been built refuses a value.
bool refuses(cci::cci_broker_handle broker, const std::string& name, const cci::cci_value& value) {
  try {
    broker.get_param_handle(name).set_cci_value(value);
  } catch (...) {
    return cci::cci_handle_exception(cci::CCI_SET_PARAM_FAILURE) == cci::CCI_SET_PARAM_FAILURE;
  }
  return false;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 3) {
    std::cerr << "usage: cci_platform saxpy.ptx cci_platform.presets\n";
    return 2;
  }
  cci::cci_register_broker(new cci_utils::consuming_broker("broker"));
  cci::cci_broker_handle broker = cci::cci_get_global_broker(cci::cci_originator("cci_platform"));
  try {
    standards::read_presets(broker, argv[2]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
  const std::string ptx = cosim::text_file(argv[1]);
  if (ptx.empty()) {
    std::cerr << argv[1] << ": cannot be read, or is empty\n";
    return 2;
  }
  platform top("top", ptx);
  bool good = true;
  for (const cci::cci_name_value_pair& unused : broker.get_unconsumed_preset_values()) {
    std::cerr << argv[2] << ": no part of the platform has " << unused.first << "\n";
    good = false;
  }
  sc_core::sc_start();

  for (const auto& p : broker.get_param_handles())
    if (p.is_preset_value()) std::cout << p.name() << " = " << p.get_cci_value().to_json() << "\n";
  const bool locked = refuses(broker, "top.first.gpu.gpu.sm_count", cci::cci_value(5u));
  std::cout << broker.get_param_handles().size() << " parameters, " << (locked ? "locked" : "not locked") << "; "
            << top.first.gpu.config().gpu.sm_count << " and " << top.second.gpu.config().gpu.sm_count << " SMs; "
            << (top.cpu.right ? "right" : "wrong") << " at " << sc_core::sc_time_stamp() << "\n";
  return good && locked && top.cpu.right ? 0 : 1;
}
