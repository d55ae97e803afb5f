// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// The registers of the host socket (docs/library/host_interface.md): 64 bits each, little endian. One row per
/// register: name, offset, access, meaning. The names as constants and the checks of accesses are made from the rows.
/// Addresses from isa::heap_base on are device memory.
#define HEDDLE_HOST_REGISTERS(X)                                                                                 \
  X(identity, 0x00, read_only, "HEDDLE, 0, 1")                                                                   \
  X(status, 0x08, read_only, "bits of host_status")                                                              \
  X(command, 0x10, write_only, "doorbell: device address of a command descriptor")                               \
  X(result, 0x18, read_only, "module handle, launch number or warp instructions of the last command")            \
  X(error, 0x20, read_only, "1: the last command, mapping, context area, flush or reset was rejected (message)") \
  X(message_bytes, 0x28, read_only, "length of the message")                                                     \
  X(completions, 0x30, read_only, "launches completed")                                                          \
  X(completion_pop, 0x38, read_takes, "takes the oldest completion: launch number + 1; 0: none")                 \
  X(interrupt_enable, 0x40, read_write, "bits of host_interrupt")                                                \
  X(interrupt_pending, 0x48, write_1_clears, "bits of host_interrupt")                                           \
  X(map_base, 0x50, read_write, "first address for map_command")                                                 \
  X(map_bytes, 0x58, read_write, "length for map_command")                                                       \
  X(map_command, 0x60, write_only, "1 maps [map_base, map_base + map_bytes) for kernels, 2 unmaps it")           \
  X(cycle, 0x68, read_only, "core cycle")                                                                        \
  X(heap_base, 0x70, write_only, "start of the heap of malloc in kernels, used with heap_bytes")                 \
  X(heap_bytes, 0x78, write_only, "sets the heap to [heap_base, heap_base + heap_bytes)")                        \
  X(print_bytes, 0x80, read_only, "bytes of printed text that the host has not taken")                           \
  X(print_pop, 0x88, write_only, "drops that many bytes of the text")                                            \
  X(grid_workspace, 0x90, write_only, "zeroed, for grid barriers: workspace_slots x workspace_bytes")            \
  X(context_area, 0x98, read_write, "context area; written only while not busy")                                 \
  X(flush_caches, 0xa0, write_only, "caches are written back and emptied; only while not busy")                  \
  X(reset, 0xa8, write_only, "any value resets the GPU")                                                         \
  X(client, 0xb0, read_write, "client of the launches that follow (bits of client_register)")                    \
  X(print_client, 0xb8, read_only, "client whose text comes first, as much as print_bytes says")                 \
  X(resets, 0xc0, read_only, "resets that have ended, by the pin or the register")                               \
  X(completion_take, 0x400, read_takes, "completion_pop, in no aligned beat of up to 1 KiB with another register")

namespace host_register {
#define HEDDLE_X(name, offset, access, meaning) constexpr std::uint64_t name = offset;
HEDDLE_HOST_REGISTERS(HEDDLE_X)
#undef HEDDLE_X
constexpr std::uint64_t message = 0x1000;  // RO: text of the last error or fault
constexpr std::uint64_t message_size = 0x4000;
constexpr std::uint64_t print = 0x5000;  // RO: the first bytes of the printed text
constexpr std::uint64_t print_size = 0x4000;
}  // namespace host_register

/// What the host may do with a register. read_takes: a read that begins at it removes what it returns.
enum class register_access : std::uint8_t { read_only, write_only, read_write, read_takes, write_1_clears };

struct host_register_row {
  const char* name;
  std::uint64_t offset;
  register_access access;
  const char* meaning;
};
constexpr host_register_row host_register_rows[] = {
#define HEDDLE_X(name, offset, access, meaning) {#name, offset, register_access::access, meaning},
    HEDDLE_HOST_REGISTERS(HEDDLE_X)
#undef HEDDLE_X
};

/// The value of the register `client`: of a process that shares the GPU with others. Its launches' streams are its own.
struct client_register {
  std::uint32_t client = 0;     // bits 0 to 31: its number; 0: none
  std::uint32_t sms = 0;        // bits 32 to 55: its blocks are on at most so many SMs at once; 0: on any number
  std::uint32_t partition = 0;  // bits 56 to 63: the partition of the GPU for launches and modules, from 1 on; 0: none
  client_register() = default;
  client_register(std::uint32_t client, std::uint32_t sms, std::uint32_t partition)
      : client(client), sms(sms), partition(partition) {}
  explicit client_register(std::uint64_t value)
      : client(static_cast<std::uint32_t>(value)),
        sms(static_cast<std::uint32_t>(value >> 32) & 0xffffff),
        partition(static_cast<std::uint32_t>(value >> 56)) {}
  [[nodiscard]] std::uint64_t value() const {
    return std::uint64_t{partition} << 56 | std::uint64_t{sms} << 32 | client;
  }
};

constexpr unsigned workspace_slots = 1024, workspace_bytes = 16;  // launch n takes slot n modulo workspace_slots

/// The bits of status: name, bit, meaning.
#define HEDDLE_HOST_STATUS_BITS(X)                                                          \
  X(busy, 0, "launches are pending or running")                                             \
  X(fault, 1, "the simulated program failed; the GPU has stopped (message)")                \
  X(stuck, 2, "launches are pending; the GPU is deadlocked or its memory silent (message)") \
  X(flushing, 3, "caches are being written back; launches are refused")                     \
  X(resetting, 4, "commands are refused")
/// The bits of interrupt_enable and interrupt_pending.
#define HEDDLE_HOST_INTERRUPT_BITS(X)        \
  X(completion, 0, "a launch has completed") \
  X(fault, 1, "status has fault or stuck")   \
  X(print, 2, "much text is waiting")        \
  X(flushed, 3, "the caches are empty")      \
  X(reset, 4, "a reset has ended; enabled by it")

#define HEDDLE_X(name, bit, meaning) constexpr std::uint64_t name = std::uint64_t{1} << (bit);
namespace host_status {
HEDDLE_HOST_STATUS_BITS(HEDDLE_X)
}  // namespace host_status
namespace host_interrupt {
HEDDLE_HOST_INTERRUPT_BITS(HEDDLE_X)
}  // namespace host_interrupt
#undef HEDDLE_X

enum class host_command : std::uint32_t {
  load_module = 1,
  launch = 2,
  preempt = 3,
  launch_recording = 4,
  create_texture = 5,
  execute = 6,
  terminate = 7
};

/// Command descriptors in device memory, little endian.
struct load_module_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::load_module);
  std::uint32_t reserved = 0;
  std::uint64_t text_address = 0;  // PTX source
  std::uint64_t text_bytes = 0;
  std::uint64_t name_address = 0;  // file name, for messages
  std::uint64_t name_bytes = 0;
  std::uint64_t globals_address = 0;    // where the .global variables are (the host writes their image)
  std::uint64_t constants_address = 0;  // where the .const variables are: read at each launch
};

/// Also used for host_command::execute, which needs no local memory area and has no stream, priority or carve-out.
struct launch_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::launch);
  std::uint32_t module = 0;          // handle
  std::uint64_t kernel_address = 0;  // entry name
  std::uint64_t kernel_bytes = 0;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t stream = 0;
  std::int32_t priority = 0;
  std::int32_t carveout_percent = -1;
  std::uint32_t max_registers = 0;
  std::uint32_t parameter_bytes = 0;
  std::uint64_t parameter_address = 0;
  std::uint64_t local_address = 0;  // local memory: sm_count x max_warps x 32 x the kernel's bytes per thread
  std::uint64_t local_bytes = 0;
  std::uint32_t cluster[3] = {0, 0, 0};    // blocks of a thread block cluster; 0: as the kernel requires
  std::uint16_t non_portable_cluster = 0;  // 1: of more than 8 blocks, too
  std::uint16_t programmatic = 0;          // 1: may begin before the launch before it in its stream has ended
};

/// Takes the resident blocks off SMs for a time.
struct preempt_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::preempt);
  std::uint32_t mode = 0;          // 0 drain, 1 switch, 2 flush, 3 auto
  std::uint64_t sms_address = 0;   // the SMs' numbers, 32 bits each
  std::uint64_t sm_count = 0;      // how many; 0: all SMs
  std::uint64_t resume_after = 0;  // core cycles from an SM's saved cycle on
};

/// Ends a launch: its blocks leave the SMs and do not return. It then counts as completed.
struct terminate_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::terminate);
  std::uint32_t launch = 0;  // its number
};

/// Launches the kernel in the doorbell's recorded_kernel extension; grid, block and resources are as recorded.
struct launch_recording_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::launch_recording);
  std::uint32_t stream = 0;
  std::int32_t priority = 0;
  std::int32_t carveout_percent = -1;
};

/// Registers an image in device memory as a texture or surface; the result is its handle. The values' names are in
/// simt/texture/texture.h.
struct create_texture_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::create_texture);
  std::uint32_t width = 1;
  std::uint64_t address = 0;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;  // or layers
  std::uint8_t type = 0;    // texel_type
  std::uint8_t channels = 1;
  std::uint8_t linear = 0;
  std::uint8_t normalized = 0;
  std::uint8_t mode[3] = {1, 1, 1};  // texture_address
  std::uint8_t levels = 0;           // 0: one
  std::uint64_t pitch_bytes = 0;     // from row to row; 0: rows without gaps
  float bias = 0, least_level = 0, most_level = 0;
  std::uint32_t levels_linear = 0;
  std::uint64_t further[17] = {};  // addresses of the levels from 1 on
};

}  // namespace heddle
