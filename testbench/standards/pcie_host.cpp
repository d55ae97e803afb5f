// SPDX-License-Identifier: MIT
// A host that finds a GPU on PCI Express: it reads the configuration space, sizes and places the BARs, enables
// messages, and runs kernels through Heddle's driver, which is woken by them. Then the slot resets the device while a
// kernel runs: a message tells the driver, and the host runs the kernel again.
//
//   host.config, host.memory --> endpoint.config, endpoint.memory      endpoint.gpu --> gpu.host_socket
//   host.messages <-- endpoint.upstream                                gpu.irq --> endpoint.irq
//   host.slot_reset --> gpu.reset
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <iostream>
#include <string>

#include "testbench/cosim/text_file.h"
#include "testbench/standards/pcie_endpoint.h"
#include "testbench/standards/saxpy_host.h"

namespace {

namespace pcie = standards::pcie;

// The driver expects device memory 0x1000_0000 above the registers, so BAR 2 goes there.
constexpr std::uint64_t registers_at = 0xc000'0000, memory_at = registers_at + 0x1000'0000, messages_at = 0xfee0'0000;
constexpr std::uint64_t memory_bytes = 0x1000'0000;
constexpr std::uint32_t vector = 0x41;

struct host : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<host> config{"config"};
  tlm_utils::simple_initiator_socket<host> memory{"memory"};
  tlm_utils::simple_target_socket<host> messages{"messages"};
  tlm_utils::simple_target_socket<host> from_driver{"from_driver"};
  heddle::host_driver driver;
  sc_core::sc_out<bool> slot_reset{"slot_reset"};
  sc_core::sc_signal<bool> line{"line"};  // of the interrupt controller
  std::string ptx;
  bool right = false;
  bool was_lost = false;
  unsigned wrong_messages = 0;

  host(sc_core::sc_module_name name, const heddle::gpu_config& c, std::string text)
      : sc_module(name),
        driver("driver", c, heddle::host_driver::default_first_address, registers_at),
        ptx(std::move(text)) {
    messages.register_b_transport(this, &host::receive);
    from_driver.register_b_transport(this, &host::forward);
    driver.host_socket.bind(from_driver);
    driver.irq(line);
    HEDDLE_HAS_PROCESS(host);
    SC_THREAD(run);
    SC_THREAD(reset_slot);
    SC_METHOD(drive_line);
    sensitive << raised_ << lowered_;
    dont_initialize();
  }

 private:
  void run() {
    right = is_refused() && refuses_empty_enables() && find_gpu();
    if (!right) return;
    found_ = true;
    found_event_.notify();
    driver.load_module(ptx, "saxpy.ptx");
    for (const float a : {2.0f, -0.5f, 3.0f}) right = right && standards::saxpy_is_right(driver, 3000, a);
    reset_is_due_.notify(sc_core::SC_ZERO_TIME);
    try {
      for (;;) static_cast<void>(standards::saxpy_is_right(driver, 3000, 1.0f));
    } catch (const heddle::context_lost&) {
      was_lost = true;
    }
    heddle::recover(driver);
    driver.load_module(ptx, "saxpy.ptx");
    right = right && standards::saxpy_is_right(driver, 3000, -2.0f);
  }

  void reset_slot() {
    wait(reset_is_due_);
    wait(30, sc_core::SC_US);
    slot_reset.write(true);
    wait(1, sc_core::SC_US);
    slot_reset.write(false);
  }

  // The driver's first access waits until there is a device.
  void forward(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    while (!found_) wait(found_event_);
    memory->b_transport(p, delay);
  }

  /// Whether the device refuses memory requests, as it must before it has addresses.
  bool is_refused() {
    std::uint8_t byte = 0;
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(registers_at);
    p.set_data_ptr(&byte);
    p.set_data_length(1);
    p.set_streaming_width(1);
    sc_core::sc_time delay;
    memory->b_transport(p, delay);
    return p.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }

  /// Whether byte enables of length 0 are an error, as in the rest of the device.
  bool refuses_empty_enables() {
    std::uint32_t value = 0;
    std::uint8_t enabled = TLM_BYTE_ENABLED;
    tlm::tlm_generic_payload p;
    p.set_byte_enable_ptr(&enabled);
    p.set_byte_enable_length(0);
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(pcie::identity);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    p.set_data_length(sizeof value);
    p.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    config->b_transport(p, delay);
    return p.get_response_status() == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  }

  /// Enumeration, as firmware does it. False if what it finds is not the GPU.
  bool find_gpu() {
    if (read(pcie::identity) != 0x4850'4845 || read(pcie::class_code) >> 8 != 0x0302'00) return false;
    if (size_of(pcie::bar_0, false) != standards::pcie_endpoint::register_bytes) return false;
    if (size_of(pcie::bar_2, true) != memory_bytes) return false;
    write(pcie::bar_0, registers_at);
    write(pcie::bar_2, static_cast<std::uint32_t>(memory_at));
    write(pcie::bar_2 + 4, memory_at >> 32);
    const auto capability = read(pcie::capability) & 0xff;
    if ((read(capability) & 0xff) != 5) return false;  // MSI
    write(pcie::msi_address, static_cast<std::uint32_t>(messages_at));
    write(pcie::msi_address + 4, messages_at >> 32);
    access(tlm::TLM_WRITE_COMMAND, pcie::msi_data, vector | 0xff00, 0b0001);  // byte by byte, as firmware may
    access(tlm::TLM_WRITE_COMMAND, pcie::msi_data, vector | 0x00ff, 0b0010);
    write(capability, pcie::msi_enable);
    write(pcie::command, pcie::memory_space | pcie::bus_master);
    return true;
  }
  std::uint64_t size_of(unsigned bar, bool wide) {
    write(bar, ~0u);
    if (wide) write(bar + 4, ~0u);
    return ~((wide ? std::uint64_t{read(bar + 4)} << 32 : ~std::uint64_t{0} << 32) | (read(bar) & ~0xfu)) + 1;
  }

  // `lanes`: bit i for byte i of the register.
  std::uint32_t access(tlm::tlm_command command, unsigned at, std::uint32_t value, unsigned lanes = 0b1111) {
    std::uint8_t enables[sizeof value];
    for (unsigned i = 0; i < sizeof value; ++i) enables[i] = lanes >> i & 1 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    tlm::tlm_generic_payload p;
    p.set_byte_enable_ptr(enables);
    p.set_byte_enable_length(sizeof value);
    p.set_command(command);
    p.set_address(at);
    p.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    p.set_data_length(sizeof value);
    p.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    config->b_transport(p, delay);
    if (p.is_response_error()) SC_REPORT_ERROR("/standards/host", p.get_response_string().c_str());
    wait(delay);
    return value;
  }
  std::uint32_t read(unsigned at) { return access(tlm::TLM_READ_COMMAND, at, 0); }
  void write(unsigned at, std::uint64_t value) {
    access(tlm::TLM_WRITE_COMMAND, at, static_cast<std::uint32_t>(value));
  }

  // The interrupt controller turns a message into a level that lasts longer than the driver's handler.
  void receive(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    std::uint32_t data = 0;
    if (p.get_data_length() == sizeof data) std::memcpy(&data, p.get_data_ptr(), sizeof data);
    wrong_messages += !p.is_write() || p.get_address() != messages_at || data != vector;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    raise_ = true;
    raised_.notify(sc_core::SC_ZERO_TIME);
  }
  void drive_line() {
    line.write(raise_);
    if (!raise_) return;
    raise_ = false;
    lowered_.cancel();
    lowered_.notify(sc_core::sc_time(5, sc_core::SC_US));
  }

  bool found_ = false;
  sc_core::sc_event found_event_, reset_is_due_;
  bool raise_ = false;
  sc_core::sc_event raised_, lowered_;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: pcie_host saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=2"});
  heddle::gpu gpu("gpu", config);
  standards::pcie_endpoint endpoint("endpoint", memory_bytes);
  host top("host", config, cosim::text_file(argv[1]));
  sc_core::sc_signal<bool> irq("irq"), reset("reset");
  top.config.bind(endpoint.config);
  top.memory.bind(endpoint.memory);
  endpoint.upstream.bind(top.messages);
  endpoint.gpu.bind(gpu.host_socket);
  gpu.irq(irq);
  endpoint.irq(irq);
  top.slot_reset(reset);
  gpu.reset(reset);

  sc_core::sc_start();
  std::cout << (top.right ? "right" : "wrong") << " at " << sc_core::sc_time_stamp() << ", " << endpoint.messages
            << " messages, " << top.wrong_messages << " of them wrong; the reset "
            << (top.was_lost ? "was noticed\n" : "was not noticed\n");
  return top.right && top.was_lost && endpoint.messages >= 3 && top.wrong_messages == 0 ? 0 : 1;
}
