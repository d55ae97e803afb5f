// SPDX-License-Identifier: MIT
// Models: a 32-bit CPU whose software drives a GPU by its registers alone, as a driver on a real bus would:
// descriptors in memory, the doorbell, the interrupt. It uses no class of the GPU's library, only the register map.
// Sockets: bus (LT initiator); irq (input).
// One cycle: none; it waits as long as its accesses take.
// Parameters: the PTX text of saxpy.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace cosim {

class cpu : public sc_core::sc_module {
 public:
  cpu(sc_core::sc_module_name name, const std::string& ptx);

  tlm_utils::simple_initiator_socket<cpu> bus{"bus"};
  sc_core::sc_in<bool> irq{"irq"};

  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] unsigned wrong_values() const { return wrong_; }

 private:
  void software();
  void load_kernels();
  void run_saxpy(unsigned n, float a);
  void access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes);
  void write_register(std::uint64_t offset, std::uint64_t value);
  std::uint32_t read_register(std::uint64_t offset);
  std::uint32_t ring_doorbell(const void* descriptor, unsigned bytes);
  template <class T>
  void store(std::uint64_t address, const std::vector<T>& data) {
    access(tlm::TLM_WRITE_COMMAND, address, const_cast<T*>(data.data()),
           static_cast<unsigned>(data.size() * sizeof(T)));
  }

  std::string ptx_;
  std::uint32_t module_ = 0;
  bool finished_ = false;
  unsigned wrong_ = 0;
};

}  // namespace cosim
