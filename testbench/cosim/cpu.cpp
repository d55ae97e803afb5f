// SPDX-License-Identifier: MIT
#include "testbench/cosim/cpu.h"

#include <heddle/tlm/kernel/has_process.h>

#include <heddle/gpu/host/host_registers.h>

#include <algorithm>
#include <cstring>

namespace cosim {

namespace reg = heddle::host_register;

namespace {
// The software's memory map of the memory shared with the GPU.
constexpr std::uint64_t descriptors = 0x1000'0000;
constexpr std::uint64_t parameters = 0x1000'1000;
constexpr std::uint64_t names = 0x1000'2000;
constexpr std::uint64_t text = 0x1001'0000;
constexpr std::uint64_t heap = 0x2000'0000;
constexpr std::uint64_t heap_bytes = 0x10'0000;
constexpr std::uint64_t x_array = heap;
constexpr std::uint64_t y_array = heap + heap_bytes / 2;
}  // namespace

cpu::cpu(sc_core::sc_module_name name, const std::string& ptx) : sc_module(name), ptx_(ptx) {
  HEDDLE_HAS_PROCESS(cpu);
  SC_THREAD(software);
}

void cpu::software() {
  load_kernels();
  // The second run finds other values at the same addresses: no stale data of the first run may remain in a cache.
  run_saxpy(1000, 2.0f);
  run_saxpy(3000, -0.5f);
  finished_ = true;
}

void cpu::load_kernels() {
  store(text, std::vector<char>(ptx_.begin(), ptx_.end()));
  const std::string file = "saxpy.ptx";
  store(names, std::vector<char>(file.begin(), file.end()));
  heddle::load_module_descriptor d;
  d.text_address = text;
  d.text_bytes = ptx_.size();
  d.name_address = names;
  d.name_bytes = file.size();
  module_ = ring_doorbell(&d, sizeof d);
  // Kernels may access only this range.
  write_register(reg::map_base, heap);
  write_register(reg::map_bytes, heap_bytes);
  write_register(reg::map_command, 1);
  write_register(reg::interrupt_enable, heddle::host_interrupt::completion | heddle::host_interrupt::fault);
}

void cpu::run_saxpy(unsigned n, float a) {
  std::vector<float> x(n), y(n);
  for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i % 100), y[i] = static_cast<float>(i);
  store(x_array, x);
  store(y_array, y);
  const std::string kernel = "saxpy";
  store(names, std::vector<char>(kernel.begin(), kernel.end()));
  std::vector<std::uint8_t> area(24);
  std::memcpy(&area[0], &n, sizeof n);
  std::memcpy(&area[4], &a, sizeof a);
  std::memcpy(&area[8], &x_array, sizeof x_array);
  std::memcpy(&area[16], &y_array, sizeof y_array);
  store(parameters, area);
  heddle::launch_descriptor d;
  d.module = module_;
  d.kernel_address = names;
  d.kernel_bytes = kernel.size();
  d.grid[0] = 8;
  d.block[0] = 128;
  d.parameter_bytes = static_cast<std::uint32_t>(area.size());
  d.parameter_address = parameters;
  const std::uint32_t launch = ring_doorbell(&d, sizeof d);

  while (!irq.read()) wait(irq.posedge_event());
  if (read_register(reg::completion_pop) != launch + 1) ++wrong_;
  write_register(reg::interrupt_pending, heddle::host_interrupt::completion);
  while (irq.read()) wait(irq.negedge_event());

  std::vector<float> result(n);
  access(tlm::TLM_READ_COMMAND, y_array, result.data(), static_cast<unsigned>(n * sizeof(float)));
  for (unsigned i = 0; i < n; ++i)
    if (result[i] != a * x[i] + y[i]) ++wrong_;
}

std::uint32_t cpu::ring_doorbell(const void* descriptor, unsigned bytes) {
  access(tlm::TLM_WRITE_COMMAND, descriptors, const_cast<void*>(descriptor), bytes);
  write_register(reg::command, descriptors);
  if (read_register(reg::error) != 0) {
    std::string why(read_register(reg::message_bytes), '\0');
    access(tlm::TLM_READ_COMMAND, reg::message, why.data(), static_cast<unsigned>(why.size()));
    SC_REPORT_ERROR("/cosim/cpu", why.c_str());
  }
  return read_register(reg::result);
}

void cpu::write_register(std::uint64_t offset, std::uint64_t value) {
  std::uint32_t half = static_cast<std::uint32_t>(value >> 32);
  access(tlm::TLM_WRITE_COMMAND, offset + 4, &half, sizeof half);
  half = static_cast<std::uint32_t>(value);
  access(tlm::TLM_WRITE_COMMAND, offset, &half, sizeof half);
}

std::uint32_t cpu::read_register(std::uint64_t offset) {
  std::uint32_t value = 0;
  access(tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
  return value;
}

void cpu::access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
  tlm::tlm_generic_payload p;
  p.set_command(command);
  p.set_address(address);
  p.set_data_ptr(static_cast<std::uint8_t*>(data));
  p.set_data_length(bytes);
  p.set_streaming_width(bytes);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  bus->b_transport(p, delay);
  if (p.is_response_error()) SC_REPORT_ERROR("/cosim/cpu", p.get_response_string().c_str());
  wait(delay);
}

}  // namespace cosim
