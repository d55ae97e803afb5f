// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// The register map of the host socket (docs/library/host_interface.md): 64-bit little-endian registers, accessed with
/// 8-byte aligned reads and writes. Addresses from isa::heap_base on are device memory.
namespace host_register {
constexpr std::uint64_t identity = 0x00;  // RO: "HEDDLE\0\1"
constexpr std::uint64_t status = 0x08;    // RO: bits of host_status
constexpr std::uint64_t command = 0x10;   // WO, the doorbell: device address of a command descriptor
constexpr std::uint64_t result = 0x18;    // RO: module handle, launch number or warp instructions of the last command
constexpr std::uint64_t error = 0x20;     // RO: 0 or 1: the last command, mapping or context area was refused (message)
constexpr std::uint64_t message_bytes = 0x28;   // RO: length of the message
constexpr std::uint64_t completions = 0x30;     // RO: launches completed so far
constexpr std::uint64_t completion_pop = 0x38;  // RO: takes the oldest completion: launch number + 1; 0: none
constexpr std::uint64_t interrupt_enable = 0x40;
constexpr std::uint64_t interrupt_pending = 0x48;  // RO; write 1s to clear
constexpr std::uint64_t map_base = 0x50;
constexpr std::uint64_t map_bytes = 0x58;
constexpr std::uint64_t map_command = 0x60;  // WO: 1 maps [map_base, map_base + map_bytes) for kernels, 2 unmaps it
constexpr std::uint64_t cycle = 0x68;        // RO: core cycle
constexpr std::uint64_t heap_base = 0x70;    // WO, used with heap_bytes: start of the heap of malloc in kernels
constexpr std::uint64_t heap_bytes = 0x78;   // WO: sets the heap to [heap_base, heap_base + heap_bytes)
constexpr std::uint64_t print_bytes = 0x80;  // RO: bytes of text that kernels have printed and the host has not taken
constexpr std::uint64_t print_pop = 0x88;    // WO: drops that many bytes of the text
constexpr std::uint64_t grid_workspace = 0x90;  // WO: zeroed, for grid barriers: workspace_slots x workspace_bytes
constexpr std::uint64_t context_area = 0x98;    // RW: context area; written only while not busy
constexpr std::uint64_t flush_caches = 0xa0;    // WO: caches are written back and emptied; only while not busy
constexpr std::uint64_t message = 0x1000;       // RO: text of the last error or fault
constexpr std::uint64_t message_size = 0x4000;
constexpr std::uint64_t print = 0x5000;  // RO: the first bytes of the printed text
constexpr std::uint64_t print_size = 0x4000;
}  // namespace host_register

constexpr unsigned workspace_slots = 1024, workspace_bytes = 16;  // launch n takes slot n modulo workspace_slots

namespace host_status {
constexpr std::uint64_t busy = 1;      // launches are pending or running
constexpr std::uint64_t fault = 2;     // the simulated program failed; the GPU has stopped (message)
constexpr std::uint64_t stuck = 4;     // launches are pending, and the GPU is deadlocked (message)
constexpr std::uint64_t flushing = 8;  // caches are being written back; launches are refused
}  // namespace host_status

namespace host_interrupt {
constexpr std::uint64_t completion = 1;
constexpr std::uint64_t fault = 2;
constexpr std::uint64_t print = 4;    // much text is waiting
constexpr std::uint64_t flushed = 8;  // the caches are empty
}  // namespace host_interrupt

enum class host_command : std::uint32_t {
  load_module = 1,
  launch = 2,
  preempt = 3,
  launch_recording = 4,
  create_texture = 5,
  execute = 6
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
};

/// Takes the resident blocks off SMs for a time.
struct preempt_descriptor {
  std::uint32_t command = static_cast<std::uint32_t>(host_command::preempt);
  std::uint32_t mode = 0;          // 0 drain, 1 switch, 2 flush, 3 auto
  std::uint64_t sms_address = 0;   // the SMs' numbers, 32 bits each
  std::uint64_t sm_count = 0;      // how many; 0: all SMs
  std::uint64_t resume_after = 0;  // core cycles from an SM's saved cycle on
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
  std::uint8_t reserved = 0;
  std::uint64_t pitch_bytes = 0;  // from row to row; 0: rows without gaps
};

}  // namespace heddle
