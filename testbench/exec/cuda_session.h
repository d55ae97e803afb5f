// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "testbench/exec/device_memory.h"
#include "testbench/exec/host_queues.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/exec/wire.h"
#include "testbench/run/machine.h"

namespace heddle::testbench {

/// What comes of a call: a reply now, or when operations have ended.
struct call_answer {
  std::int32_t status = wire::success;
  wire::writer body;
  std::vector<queue_entry> until;          // not empty: the reply waits until all of these have ended
  std::function<void(call_answer&)> then;  // then this completes it
  bool host_function = false;              // waits for the turn of one
};

/// What all CUDA programs of a run share: the machine, and what was loaded into it.
struct cuda_machine {
  cuda_machine(const run_options& o, const gpu_config& config);
  const launch_choice chosen;
  machine chip;
  host_queues queues;
  device_memory memory;
  unsigned launch_calls = 0;
  std::vector<unsigned> positions;  // of launches, by the driver's number: in the order of the program's calls
  std::map<std::string, std::string> sources;                   // PTX by the name of its file
  std::set<std::string> told;                                   // warnings, of which one is enough
  std::map<std::vector<std::uint8_t>, std::uint64_t> textures;  // handles, by the bytes of what was asked for
  std::string printed;                                          // by kernels, for the next reply
  wire::device_info info() const;
};

/// One process of the CUDA program: its modules, streams, events and memory, by the numbers that it was given for them.
class cuda_session {
 public:
  cuda_session(cuda_machine& m, pid_t process, std::string program);
  ~cuda_session();

  /// Carries out a call. A wrong one gets a status, whatever is wrong with it.
  call_answer handle(wire::call what, wire::reader& arguments);
  /// To be called before a reply to a wait is sent: managed memory is the program's again.
  void return_memory();
  /// Answers who waits for a host function whose turn has come, or who waits though none is left. False: not yet.
  bool take_host_function(call_answer& out);
  /// The program runs one now.
  bool runs_host_function() const;

 private:
  using module_entry = std::vector<unsigned>;  // the driver's: several when parts of an image do not need each other
  struct function_entry {
    unsigned module = 0;
    std::string name;
    std::int32_t carveout = -1;
    std::uint32_t dynamic_shared = 0;  // that the program has asked to be allowed
  };
  struct event_entry {
    queue_entry recorded;  // null: never
    std::shared_ptr<sc_core::sc_time> time = std::make_shared<sc_core::sc_time>();
  };
  struct host_memory {
    std::uint64_t bytes = 0;
    bool managed = false;  // else the program's own, pinned
    bool used = false;     // by kernels
  };

  void load_image(wire::reader& in, call_answer& out);
  void find_function(wire::reader& in, call_answer& out);
  void find_variable(wire::reader& in, call_answer& out);
  void list_functions(wire::reader& in, call_answer& out);
  void allocate(wire::reader& in, call_answer& out);
  void release(wire::reader& in, call_answer& out);
  void host_range(wire::reader& in, call_answer& out);
  void copy(wire::reader& in, call_answer& out);
  void fill(wire::reader& in, call_answer& out);
  void launch(wire::reader& in, call_answer& out);
  void streams_and_events(wire::call what, wire::reader& in, call_answer& out);
  void wait(wire::reader& in, call_answer& out);
  void query(wire::reader& in, call_answer& out);
  void make_texture(wire::reader& in, call_answer& out);
  void occupancy(wire::reader& in, call_answer& out);

  std::vector<queue_entry> pending(wire::wait_kind kind, std::uint32_t number, call_answer& out) const;
  std::string image_text(std::uint64_t address, call_answer& out);
  bool move_box(const wire::copy_request& r, const std::vector<std::uint8_t>& staged);
  void take_memory();
  void give_to_program(std::uint64_t address, std::uint64_t bytes);
  bool is_shared(std::uint64_t address) const;  // with kernels, in the program's own memory
  void use_pinned(const std::vector<std::uint8_t>& parameters);
  std::uint32_t stream_of(std::uint32_t number, call_answer& out) const;
  const isa::program& program_of(const function_entry& f) const;

  cuda_machine& m_;
  remote_memory program_memory_;
  std::string program_;
  std::vector<module_entry> modules_;
  std::vector<function_entry> functions_;
  std::map<std::uint32_t, event_entry> events_;
  std::uint32_t next_event_ = 1;
  std::set<std::uint32_t> streams_;
  std::map<std::uint64_t, host_memory> host_memory_;  // by address: managed and pinned
  bool memory_is_away_ = false;                       // managed memory has been handed to the GPU
  std::map<std::uint64_t, queue_entry> host_functions_;
  std::set<std::uint64_t> allocations_;
};

}  // namespace heddle::testbench
