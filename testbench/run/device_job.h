// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/host/host_driver.h"
#include "testbench/job/job.h"

namespace heddle::testbench {

/// A job placed on a GPU: modules are loaded, memory is initialised, and every launch is checked and ready.
class device_job {
 public:
  /// Places the job through the driver, in no simulated time. Throws input_error; nothing has run on the GPU then.
  device_job(const job& j, host_driver& driver, const gpu_config& config);

  /// Opens the trace of a recorded kernel. Throws input_error.
  [[nodiscard]] launch_request request(const operation& op) const;
  [[nodiscard]] const std::string& kernel(const operation& op) const;
  /// The cycle before which a launch is not made: that of the job, or of the run that was recorded, on its machine.
  [[nodiscard]] std::uint64_t first_cycle(const operation& op) const {
    return is_recorded_elsewhere(op) ? 0 : op.at_cycle;
  }
  /// The programs of all launches but recorded ones.
  [[nodiscard]] const std::vector<const isa::program*>& programs() const { return programs_; }
  /// The text of a module by its file name; null: no such module.
  [[nodiscard]] const std::string* source(const std::string& file) const;
  [[nodiscard]] std::uint64_t address(const std::string& buffer) const { return addresses_.at(buffer); }
  /// The size of an output, and `bytes` bytes of its present content from `offset` on.
  [[nodiscard]] std::uint64_t size(const output& o) const;
  void read(const output& o, std::uint64_t offset, void* data, std::size_t bytes) const;

 private:
  void load_modules(unsigned client);
  void check_clients(const gpu_config& config) const;
  [[nodiscard]] unsigned module_of(const operation& op, const std::string& kernel) const;
  [[nodiscard]] bool has_narrow_addresses() const;  // true if all modules use 32-bit addresses
  void check_symbols();
  void check_preemptions();
  void prepare(const std::vector<operation>& operations);
  launch_request make_request(const operation& op);
  void check_recorded(const operation& op) const;
  [[nodiscard]] bool is_recorded_elsewhere(const operation& op) const;
  std::vector<std::uint8_t> parameters_of(const operation& op, const isa::program& program, const launch_request& r);
  void fill_buffers();
  void fill(const buffer& b);
  [[nodiscard]] unsigned number_of(const std::string& module, unsigned client) const;
  [[nodiscard]] bool has_variable(unsigned module, const std::string& name) const;
  [[nodiscard]] symbol_location symbol(const std::string& name, const std::string& module, unsigned client,
                                       const place& where) const;
  [[nodiscard]] symbol_location symbol(const argument& a, unsigned module_of_kernel, unsigned client) const;

  const job& job_;
  host_driver& driver_;
  const gpu_config config_;
  std::map<unsigned, std::vector<unsigned>> modules_;  // by client: each process has its own
  std::map<std::string, std::string> sources_;
  std::map<std::string, std::uint64_t> addresses_;
  std::map<std::string, std::uint64_t> handles_;         // of textures and surfaces
  std::map<const operation*, launch_request> requests_;  // but for recorded kernels
  std::vector<const isa::program*> programs_;
  std::string machine_;  // as recorded runs name it; empty: there are none
  // Arguments for which a warning was printed: kernel, position.
  std::set<std::pair<std::string, std::size_t>> doubtful_;
};

}  // namespace heddle::testbench
