// SPDX-License-Identifier: MIT
// Models: the driver of the GPU on the host: all accesses of CPU software go through the GPU's host socket.
// Sockets: host_socket (LT initiator) to gpu.host_socket; irq (optional input) from gpu.irq.
// One cycle: none; a call takes the time of the path to the GPU: none if it is bound directly.
// Parameters: those of the GPU it drives. Source: docs/library/host_interface.md (register map).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/config/parameters.h"
#include "heddle/gpu/host/print_observer.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/tlm/protocol/preemption_mode.h"

namespace heddle {

class host_link;
class state_image;
class module_list;

namespace isa {
struct program;
enum class dtype : std::uint8_t;
}  // namespace isa
namespace ptx {
struct ast_module;
struct global_size;
class parsed_modules;
}  // namespace ptx
struct recorded_kernel;
namespace sass_trace {
struct trace_kernel;
}
namespace simt {
struct texture_descriptor;
}

/// One kernel launch as requested by a host program.
struct launch_request {
  /// A recorded kernel; of the other members only stream, priority and carve-out are used then.
  std::shared_ptr<const sass_trace::trace_kernel> recording;
  unsigned module = 0;  // handle of load_module
  std::string kernel;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t stream = 0;
  std::int32_t priority = 0;           // larger is more urgent
  std::int32_t carveout_percent = -1;  // -1: default
  std::uint32_t max_registers = 0;     // 0: as the kernel needs
  cluster_request cluster;
  std::uint32_t client = 0;      // the process that shares the GPU with others; its streams are its own. 0: none
  std::uint32_t client_sms = 0;  // its blocks are on at most so many SMs at once; 0: on any number
  std::uint32_t partition = 0;   // of the divided GPU, from 1 on, on whose SMs it runs; 0: none
  bool programmatic = false;  // programmatic stream serialization: may begin before the launch before it in its stream
                              // has ended, once all blocks of that have executed griddepcontrol.launch_dependents
  std::vector<std::uint8_t> parameters;  // the parameter area: values in the kernel's order, naturally aligned

  /// Appends the next parameter: a number, or a struct in CUDA's layout. Its size must be that of the kernel's
  /// parameter.
  template <class T>
  launch_request& argument(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "kernels take plain data");
    const std::size_t at = (parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    parameters.resize(at + sizeof value);
    std::memcpy(parameters.data() + at, &value, sizeof value);
    return *this;
  }
};

/// The location of a module variable.
struct symbol_location {
  bool constant = false;
  std::uint64_t address = 0;  // device address (of the bank image for .const)
  std::uint64_t size = 0;
};

/// A PTX module to be loaded, with its file name for messages.
struct module_text {
  std::string text;
  std::string file;
};

/// The GPU has been reset, but not by this driver: by its pin, or by another host. Modules, allocations and launches of
/// the driver are gone. Launches, all other commands and waits throw it until recover() or reset().
class context_lost : public input_error {
 public:
  using input_error::input_error;
};

/// Any number of SC_THREADs may call: calls are carried out one at a time, in the order in which they were made. A
/// delay that the path to the GPU annotates is waited for. If the GPU is in reset when a thread begins to use it, as
/// when power comes, the thread waits for the end. Calls from outside the simulation and from SC_METHODs require a path
/// that does not wait, take no time, and throw input_error while a thread's call is in progress.
class host_driver : public sc_core::sc_module {
 public:
  /// The driver hands out device memory from `first_address` on. Drivers of GPUs that share a memory need start
  /// addresses at least 16 MiB apart; each derives its own context area from its start address
  /// (docs/model/preemption.md). `socket_base` is the bus address of the GPU's host socket; it is added to the address
  /// of every access. `modules`: those of the GPU (gpu::parsed_modules), which saves parsing them twice; null: its own.
  /// Throws input_error for a `first_address` below the default or not a multiple of 256.
  host_driver(sc_core::sc_module_name name, const gpu_config& config,
              std::uint64_t first_address = default_first_address, std::uint64_t socket_base = 0,
              ptx::parsed_modules* modules = nullptr);
  ~host_driver() override;

  static constexpr std::uint64_t default_first_address = 0x1000'0000;

  tlm::tlm_initiator_socket<32> host_socket;
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> irq;

  /// Parses a PTX module, places its variables in device memory and passes it to the GPU. Throws input_error.
  unsigned load_module(const std::string& ptx, const std::string& file_name);
  /// Loads several modules. Those that depend on each other (.extern names that another one defines) are linked and
  /// share one handle. Returns a handle for each, in their order.
  /// `managed`: gets address and bytes of their managed variables, which have mappings of their own, and units of
  /// host_regions that hold nothing else.
  using managed_ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  [[nodiscard]] std::vector<unsigned> load_modules(const std::vector<module_text>& modules,
                                                   managed_ranges* managed = nullptr);
  /// The loaded modules and what they define (module_list.h).
  [[nodiscard]] const module_list& modules() const { return *modules_; }
  /// Sets the .texref and .surfref of this name in the loaded modules to a texture's handle. False if there is none.
  bool bind_texture(const std::string& reference, std::uint64_t handle);
  /// The machine program that a launch would run (lowered once and kept). Throws input_error.
  const isa::program& program(unsigned module, const std::string& kernel, unsigned max_registers = 0);
  static constexpr unsigned any_module = ~0u;
  /// A variable of a module, or of the first loaded one that has it. Throws input_error.
  [[nodiscard]] symbol_location symbol(const std::string& name, unsigned module = any_module) const;

  /// Allocates device memory, 256-byte aligned and followed by an unmapped gap; addresses depend only on the order of
  /// calls. Throws input_error if it would reach the context area, which `context.area_mib` or save_contexts_at()
  /// moves.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  /// Modules, and memory that allocate() hands out, lie from now on in the memory of a partition of a divided GPU, from
  /// 1 on; 0: in that of none, which SMs of no partition use.
  friend void place_in(host_driver& driver, unsigned partition);
  /// Lets kernels access memory that another agent has allocated: another GPU's driver, a CPU. Throws input_error if it
  /// overlaps mapped memory.
  void map(std::uint64_t address, std::uint64_t bytes);
  /// Withdraws the access granted by map() or allocate() at this address. Throws input_error if no mapping begins
  /// there.
  void unmap(std::uint64_t address);
  /// Sets the address at which the GPU saves contexts, instead of the driver's default. Throws input_error while
  /// launches run and for an address that is not a multiple of 128.
  void save_contexts_at(std::uint64_t address);
  /// Write and read device memory. Throw input_error for an address that the GPU or the path to it refuses.
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  void read(std::uint64_t address, void* data, std::size_t bytes);
  void fill(std::uint64_t address, std::uint8_t byte, std::size_t bytes);

  /// `observer` receives the text that kernels print (printf), in the order of execution, when a kernel ends, a fault
  /// stops the GPU or much text is waiting. If none is set, the text goes to sc_report as information.
  void observe(print_observer& observer) { print_observer_ = &observer; }

  /// Registers an image in device memory as a texture or surface. Returns its handle, to be passed as a kernel
  /// parameter. Earlier launches do not know it. Throws input_error.
  [[nodiscard]] std::uint64_t create_texture(const simt::texture_descriptor& t);

  /// Checks that the launch can run at all (the block fits an SM, limits); throws input_error naming the limiting
  /// resource.
  void check(const launch_request& request);
  /// Rings the doorbell; returns the launch's number (0, 1, 2 … in the order of calls). Call check() first.
  unsigned launch(const launch_request& request);
  /// Executes a launch functionally, at once and in zero simulated time, with the same effect on memory, printed text
  /// and faults as a launch. It has no number and no metrics. Throws input_error while launches are pending or running,
  /// with external memory, and when it was asked to stop. Returns the warp instructions executed; fault() tells whether
  /// the program has failed.
  std::uint64_t execute(const launch_request& request);
  /// Takes the resident blocks off SMs, each until `resume_after` core cycles after its SM was free; an empty list of
  /// SMs means all. Call check_preemption() (launch_check.h) first.
  void preempt(const std::vector<unsigned>& sms, preemption_mode mode, std::uint64_t resume_after);
  /// Throws input_error if it is not shown that blocks of the launch give the same result when they are dropped and
  /// restarted.
  void check_flush(const launch_request& request);
  /// Throws context_lost if the launch was not known to have finished when the GPU was reset.
  bool finished(unsigned launch_number);
  /// With `begin`: begins to write back and empty all caches (L2, L1s, constant and instruction caches), as a profiler
  /// does before a launch; throws input_error while launches are pending or running. Returns whether caches are being
  /// written back, which ends with progress_event(); until then launches are refused.
  bool flush_caches(bool begin);
  /// Notified when a launch completes, the caches have been flushed or the GPU faults.
  [[nodiscard]] const sc_core::sc_event& progress_event() const { return progress_; }
  /// Blocks the calling SC_THREAD until the launch has finished or the GPU has faulted. With `irq` bound it sleeps
  /// until the GPU interrupts; if it is unbound, or found not to rise, the GPU is polled every thousand core cycles.
  /// Throws input_error for an unknown launch number and outside threads, and as finished().
  void wait_for(unsigned launch_number);
  /// Text of the fault that stopped the GPU (kernel, PTX line, block, thread, address); empty if none.
  std::string fault();

  /// With `begin`: begins to reset the GPU, at any time, also after a fault. Returns whether the GPU is being reset.
  /// When that has ended, the driver is as constructed: modules, allocations, textures and mapped ranges are gone, and
  /// all launches made before count as finished. Device memory keeps its bytes; launch numbers continue. Throws
  /// input_error if a CWD of the user's cannot be reset.
  friend bool reset(host_driver& driver, bool begin);
  /// As reset(), and waits for its end. Throws input_error outside threads, and with the oldest request that memory
  /// outside does not answer (gpu.watchdog_cycles); the reset goes on if it answers later.
  friend void recover(host_driver& driver);
  /// Ends a launch, as for a process that has gone: its blocks leave the SMs. It then counts as finished.
  friend void terminate(host_driver& driver, unsigned launch_number);
  /// What the driver knows of its launches, no call being in progress. An image is read when the same launches have
  /// been made again.
  friend void exchange(host_driver& driver, state_image& image);

 private:
  struct memory_record;
  struct launch_plan {
    const isa::program* program = nullptr;
    std::uint64_t local_bytes = 0;  // for the whole GPU
  };
  void end_of_elaboration() override;
  void serve_interrupts();
  [[nodiscard]] sc_core::sc_time between_questions() const;
  bool interrupt_is_missing();
  void note_resets();
  void begin_context();
  void await_reset();
  bool has_lost_context();
  void refuse_lost_context();
  [[noreturn]] void refuse_command();
  [[noreturn]] void report_lost_context() const;
  void place_contexts();
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t behind);
  std::uint64_t allocate_variables(const ptx::global_size& size);
  std::uint64_t& next_free();
  void announce_client(std::uint64_t value);
  std::uint64_t stage(const void* data, std::size_t bytes);
  std::uint64_t command(const void* descriptor, std::size_t bytes, recorded_kernel* recorded = nullptr);
  unsigned launch_recording(const launch_request& request);
  std::uint64_t ring(const launch_request& request, bool functionally);
  unsigned started(std::uint64_t number);
  [[nodiscard]] std::string with_own_places(std::string message) const;
  unsigned load(std::shared_ptr<const ptx::ast_module> ast, const std::string& texts, const std::string& names);
  launch_plan plan(const launch_request& request);
  std::uint64_t local_area(const launch_request& request, std::uint64_t bytes);
  void poll();
  void take_prints();
  void forget();

  gpu_config config_;
  std::uint64_t first_address_;
  std::unique_ptr<host_link> link_;
  std::unique_ptr<module_list> modules_;
  struct stream_areas {
    std::pair<std::uint64_t, std::uint64_t> area[2];  // address, bytes; of launches that run at the same time
    unsigned last = 0;

    void exchange(state_image& image);
  };
  std::map<std::uint64_t, stream_areas> local_areas_;  // by client and stream
  /// What each client has once, for all its launches. The first client of a partition has what was allocated with the
  /// first module that needs it; the address of others follows their first launch that needs it.
  struct process_memory {
    std::map<unsigned, std::uint64_t> spare;       // by partition: of no client yet; 0: given
    std::map<std::uint32_t, std::uint64_t> owned;  // by client
    void exchange(state_image& image);
  };
  void keep_spare(process_memory& memory, std::uint64_t bytes);
  bool provide(process_memory& memory, const launch_request& r, std::uint64_t bytes);
  void provide(const launch_request& r);
  std::uint64_t next_address_;
  std::uint64_t context_area_;
  std::map<unsigned, std::uint64_t> next_in_partition_;
  unsigned partition_ = 0;          // of allocations and modules
  std::uint64_t known_client_ = 0;  // in the register
  print_observer* print_observer_ = nullptr;
  const std::unique_ptr<ptx::parsed_modules> own_parsed_;
  ptx::parsed_modules* const parsed_;
  process_memory heaps_, workspaces_;
  bool has_context_area_ = false;  // and so has made something on the GPU
  bool resetting_ = false;
  std::uint64_t known_resets_ = 0;  // of the GPU
  bool asks_ = false;               // polls, since no interrupt arrives or none is bound
  std::unique_ptr<memory_record> memory_;
  std::vector<bool> finished_;
  sc_core::sc_event progress_;
  std::uint64_t wakes_ = 0;  // notifications of progress_
};

bool reset(host_driver& driver, bool begin);
void recover(host_driver& driver);
void terminate(host_driver& driver, unsigned launch_number);
void place_in(host_driver& driver, unsigned partition);
void exchange(host_driver& driver, state_image& image);

}  // namespace heddle
