// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "testbench/exec/connection.h"
#include "testbench/exec/copy_window.h"
#include "testbench/exec/device_memory.h"
#include "testbench/exec/host_queues.h"
#include "testbench/exec/remote_memory.h"
#include "testbench/exec/wire.h"
#include "testbench/run/machine.h"

namespace heddle::testbench {

/// The result of a call: a reply now, or when some operations have ended.
struct call_answer {
  std::int32_t status = wire::success;
  wire::writer body;
  std::vector<queue_entry> until;          // if not empty, the reply waits until all of these have ended
  std::function<void(call_answer&)> then;  // completes the reply then
  bool host_function = false;              // waits for the next host function
};

/// State shared by all CUDA programs of a run: the machine and its loaded modules.
struct cuda_machine final : private print_observer, private kernel_observer, private machine_host {
  cuda_machine(const run_options& o, const gpu_config& config);
  virtual ~cuda_machine() = default;
  const launch_choice chosen;
  host_regions in_place;  // memory of the programs that kernels access where it is
  machine chip;
  host_queues queues;
  device_memory memory;
  unsigned launch_calls = 0;
  /// A process that shares the GPU with others.
  struct process_share {
    std::string name;
    unsigned sms = 0;  // on which its blocks may be at once
    bool limited = false;
  };
  std::vector<process_share> processes;  // that have launched something
  /// The share that CUDA_MPS_ACTIVE_THREAD_PERCENTAGE gives a process; empty: all SMs. Without a name.
  process_share share_of(const std::string& text);
  /// Notes a process, with its share. Returns its number as a client of the GPU, from 1 on.
  unsigned join(const std::string& program, process_share p);
  /// The processes for metrics; none if there is only one, without a share.
  [[nodiscard]] std::vector<client_metrics> clients() const override;
  // Position of each launch in the order of the program's calls, by the driver's number.
  std::vector<unsigned> positions;
  std::map<std::string, std::string> sources;                   // PTX by file name
  std::set<std::string> warned;                                 // warnings already printed
  std::map<std::vector<std::uint8_t>, std::uint64_t> textures;  // handles by the bytes of the request
  std::map<unsigned, std::string> texts;                        // printed by kernels, for the next reply, by client
  /// What the process sees of the GPU: of its SMs those that its share has, as under MPS.
  [[nodiscard]] wire::device_info info(const process_share& share) const;
  /// Resets the GPU, whose fault or deadlock is then over. No process uses it: what all of them had is gone.
  void restart();
  std::map<unsigned, std::string> failed;  // calls that a failure has ended, with its text, before a restart
  /// That of calls after the queues' fault.
  [[nodiscard]] std::int32_t status_of_fault() const;
  /// The handle of such a texture.
  std::uint64_t texture(const wire::texture_request& r);
  /// The present cycle is that one, or nothing happens before it.
  [[nodiscard]] bool reaches(std::uint64_t cycle) const;
  /// The cycle in which launches that run will have taken so many cycles, counted from the first launch of all; `never`
  /// while none runs.
  [[nodiscard]] std::uint64_t launches_have_taken(std::uint64_t cycles);

 private:
  void printed(const std::string& more) override { printed_by(0, more); }
  void printed_by(std::uint32_t client, const std::string& more) override { texts[client] += more; }
  void kernel_begins(const queue_operation& op) override;
  [[nodiscard]] const std::vector<unsigned>& launch_positions() const override { return positions; }
  [[nodiscard]] const std::string* module_text(const std::string& file) const override;
};

/// One process of the CUDA program: its modules, streams, events and memory, by the numbers given to it.
class cuda_session {
 public:
  /// A program of which the process has that number at an address, as long as it executes that program.
  struct program_mark {
    std::uint64_t address = 0, number = 0;
  };
  cuda_session(cuda_machine& m, pid_t process, const cuda_machine::process_share& share, const program_mark& mark);
  ~cuda_session();

  /// A child after fork() uses its parent's modules, streams, events and memory. Its parent's end does not matter,
  /// except for streams and for memory.
  void inherit(cuda_session& parent);
  /// The program has ended: what it has not freed is a leak.
  void note_leaks();
  /// The last operations, in each stream, that it waits for when it waits for the device.
  [[nodiscard]] std::vector<queue_entry> work() const { return m_.queues.last_of_all(*family_); }
  /// No operation is pending that may use what it has made.
  [[nodiscard]] bool is_unused() const {
    return (has_children_ ? work() : m_.queues.last_of_all(std::set<pid_t>{process_})).empty();
  }
  /// The call registers memory, at an address that another process may have registered.
  [[nodiscard]] static bool registers(const connection::request& r);
  /// Handles a call of a thread with this copy window, or none. Any invalid call gets an error status.
  call_answer handle(wire::call what, wire::reader& arguments, std::shared_ptr<copy_window> window);
  /// The process has ended, or executes another program: its memory is no longer accessed.
  void program_ended() { program_memory_.end(); }
  /// The process executes another program, or none.
  [[nodiscard]] bool is_replaced() const;
  /// The process, which has ended and has not been waited for, had executed another program by then: the system has
  /// another name for it than at its last operation.
  [[nodiscard]] bool was_replaced() const { return shown_name(process_) != shown_name_; }
  [[nodiscard]] const std::string& program() const { return program_; }
  /// What its kernels have printed since the last call.
  [[nodiscard]] std::string take_text() {
    const auto node = m_.texts.extract(client_);
    return client_ == 0 || node.empty() ? std::string() : node.mapped();
  }
  [[nodiscard]] const cuda_machine::process_share& share() const { return share_; }
  /// Kernels can use memory that the program can write at any time.
  [[nodiscard]] bool shares_memory() const { return !host_memory_.empty(); }
  /// Completes a call that waits for a host function if one is due, or if none is left. False: not yet.
  bool take_host_function(call_answer& out);
  /// True while the program runs a host function; `seconds`: for that long at least.
  [[nodiscard]] bool runs_host_function(double seconds = 0) const;
  [[nodiscard]] pid_t process() const { return process_; }
  /// fork() has made both of one process.
  [[nodiscard]] bool is_of_family(const cuda_session& other) const { return family_ == other.family_; }

 private:
  using module_entry = std::vector<unsigned>;  // the driver's: several when parts of an image do not need each other
  struct function_entry {
    unsigned module = 0;
    std::string name;
    std::int32_t carveout = -1;
    std::uint32_t dynamic_shared = 0;  // limit that the program has requested
    bool non_portable_cluster = false;
  };
  struct event_entry {
    queue_entry recorded;  // null: never
    std::shared_ptr<sc_core::sc_time> time = std::make_shared<sc_core::sc_time>();
  };
  struct host_memory {
    std::uint64_t bytes = 0;
    bool managed = false;   // otherwise pinned or registered
    bool in_place = false;  // mapped by this process, too; otherwise in the program's memory alone
    bool inherited = false;
  };

  void append(const queue_entry& op);
  void load_image(wire::reader& in, call_answer& out);
  void find_function(wire::reader& in, call_answer& out);
  void find_variable(wire::reader& in, call_answer& out);
  void list_names(wire::reader& in, call_answer& out);
  void active_clusters(wire::reader& in, call_answer& out);
  void allocate(wire::reader& in, call_answer& out);
  void release(wire::reader& in, call_answer& out);
  void host_range(wire::reader& in, call_answer& out);
  void forget_range(std::uint64_t address, call_answer& out);
  wire::status add_registered(std::uint64_t address, std::uint64_t bytes, bool shared);
  wire::status share_allocation(std::uint64_t address, std::uint64_t bytes, int file);
  wire::status share_variables(std::uint64_t address, std::uint64_t bytes, int file);
  void end_sharing(std::uint64_t address, const host_memory& h);
  void virtual_memory(wire::reader& in, call_answer& out);
  void end_access(const wire::virtual_request& r);
  void copy(wire::reader& in, call_answer& out, std::shared_ptr<copy_window> window);
  void fill_row(std::uint64_t address, const std::vector<std::uint8_t>& values, std::uint64_t bytes);
  void fill(wire::reader& in, call_answer& out);
  void launch(wire::reader& in, call_answer& out);
  void learn(wire::wait_kind kind, std::uint32_t number);
  void streams_and_events(wire::call what, wire::reader& in, call_answer& out);
  void record_or_wait(wire::call what, wire::reader& in, call_answer& out);
  void elapsed(wire::reader& in, call_answer& out);
  void add_host_function(wire::reader& in, call_answer& out);
  void end_host_function(wire::reader& in, call_answer& out);
  void memory_value(wire::reader& in, call_answer& out);
  void wait(wire::reader& in, call_answer& out);
  void query(wire::reader& in, call_answer& out);
  void note_failed_copy(call_answer& out);
  void make_texture(wire::reader& in, call_answer& out);
  void occupancy(wire::reader& in, call_answer& out);

  std::vector<queue_entry> pending(wire::wait_kind kind, std::uint32_t number, call_answer& out) const;
  std::string image_text(std::uint64_t address, call_answer& out);
  bool move_row(const wire::copy_request& r, const std::uint8_t* data, std::uint64_t from, std::uint64_t to,
                std::uint64_t bytes, std::vector<std::uint8_t>& chunk);
  bool move_box(const wire::copy_request& r, const std::vector<std::uint8_t>& staged, copy_window* window);
  /// Memory of the program that kernels can use; null: the address is in none.
  [[nodiscard]] std::pair<const std::uint64_t, host_memory>* host_at(std::uint64_t address);
  /// Registered memory of the program is not.
  [[nodiscard]] bool is_on_device(std::uint64_t address);
  std::uint64_t word_at(std::uint64_t address, std::uint32_t bytes);
  void set_word(std::uint64_t address, std::uint64_t word, std::uint32_t bytes);
  std::uint32_t stream_of(std::uint32_t number, call_answer& out) const;
  [[nodiscard]] const isa::program& program_of(const function_entry& f) const;

  cuda_machine& m_;
  const pid_t process_;
  remote_memory program_memory_;
  const program_mark mark_;
  std::string shown_name_;  // at its last operation
  std::string program_;     // its name, printable
  cuda_machine::process_share share_;
  unsigned client_ = 0;  // its number among the machine's processes, and that of its family; 0: it has launched nothing
  std::vector<module_entry> modules_;
  std::map<unsigned, unsigned> targets_;              // compute capabilities, times ten, of the driver's modules
  std::map<unsigned, std::uint64_t> constant_bytes_;  // of the driver's modules
  std::vector<function_entry> functions_;
  std::map<std::uint32_t, event_entry> events_;
  std::uint32_t next_event_ = 1;
  std::shared_ptr<const std::uint32_t> default_stream_;  // shared by its family
  std::set<std::uint32_t> streams_;
  std::set<std::uint32_t> inherited_streams_;
  bool has_children_ = false;
  std::shared_ptr<std::set<pid_t>> family_;  // processes that fork() has made of one; each waits for the work of all
  std::map<std::uint64_t, host_memory> host_memory_;             // managed, pinned, registered memory
  std::map<std::uint64_t, std::vector<std::uint8_t>> unmapped_;  // bytes of virtual memory without an address
  std::set<std::uint64_t> used_before_;                          // addresses of that with bytes
  bool copy_failed_ = false;                                     // one that the program has not yet waited for
  std::map<std::uint64_t, queue_entry> host_functions_;
  struct device_allocation {
    std::uint64_t bytes = 0;
    wire::memory_kind kind = wire::memory_kind::device;
    std::string caller;                       // where the program made it
    bool noted = false;                       // as a leak
    std::unique_ptr<shared_memory> memory{};  // accessed in place
  };
  std::map<std::uint64_t, device_allocation> allocations_;
  std::map<std::uint64_t, std::uint64_t> managed_;                     // variables of modules: addresses and bytes
  std::map<std::uint64_t, std::unique_ptr<shared_memory>> variables_;  // the memory of those
};

}  // namespace heddle::testbench
