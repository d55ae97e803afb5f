// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "heddle/config/parameters.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/gpu/host/host_memory.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/loaded_modules.h"
#include "heddle/simt/texture/texture.h"

namespace heddle {

/// Where the local memory of a recorded launch lies.
std::uint64_t local_base_of(const sass_trace::kernel_header& h, std::uint64_t stream);

/// Makes launches from the host's descriptors: program, constant banks, textures, local memory.
class launch_builder {
 public:
  launch_builder(const gpu_config& config, loaded_modules& modules, host_memory& memory)
      : config_(config), modules_(modules), memory_(memory) {}

  /// A texture for the launches that follow; returns its handle. Throws input_error.
  std::uint64_t create_texture(const create_texture_descriptor& d);
  /// Device memory for the device runtime's workspaces of the client that set_client() has named; 0: none. A client
  /// without some uses that of no client.
  void set_grid_workspace(std::uint64_t address) { workspaces_[client_register(client_).client] = address; }
  /// Value of the register `client`: the client of the launches that follow, and where they and modules lie.
  void set_client(std::uint64_t value) { client_ = value; }
  [[nodiscard]] std::uint64_t client() const { return client_; }
  /// Forgets textures, workspaces and the client.
  void clear() {
    textures_.reset();
    workspaces_.clear();
    client_ = 0;
  }
  /// But for textures, which are created again.
  void exchange(state_image& image) { image(workspaces_, client_); }
  /// The `launch`-th launch. Throws input_error.
  std::shared_ptr<resident_launch> prepared(const launch_descriptor& d, std::uint32_t launch);
  /// A launch of a recorded kernel, without its blocks. Throws input_error.
  std::shared_ptr<resident_launch> recorded(const launch_recording_descriptor& d,
                                            const sass_trace::trace_kernel& kernel);

 private:
  void add_client(resident_launch& l) const;
  [[nodiscard]] std::uint64_t workspace_of(std::uint32_t client) const;

  const gpu_config& config_;
  loaded_modules& modules_;
  host_memory& memory_;
  std::shared_ptr<const simt::texture_table> textures_;
  std::map<std::uint32_t, std::uint64_t> workspaces_;  // by client
  std::uint64_t client_ = 0;
};

}  // namespace heddle
