// SPDX-License-Identifier: MIT
// The protocol between the library in a CUDA program and `heddle exec` over a socket: each call gets one reply.
// Numbers are in the host's byte order, because both run on one machine. Included by both sides; depends only on the
// standard library.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::wire {

/// Changes with everything below: a library and a program of different versions refuse each other.
constexpr std::uint32_t version = 18;
/// The first line that a simulator started by the library sends, without its end; the second one is its address.
inline std::string protocol_line() { return "heddle " + std::to_string(version); }
/// The size limit of calls and replies; the program's data are read and written directly in its memory.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

/// The size of a copy window: memory of the program and of the simulator, through which a thread that waits for a large
/// copy moves the bytes itself. It does so four times as fast as the system does between two processes.
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 22;
/// Memory that the simulator accesses in place begins and ends at multiples of it.
constexpr std::uint64_t shared_unit = 65536;
/// A thread opens its window at its first copy of that size.
constexpr std::uint64_t least_for_window = std::uint64_t{1} << 20;

enum class call : std::uint32_t {
  // u32 version, u32 process, u64 address of the next there, u64 program number (differs after exec() in the same
  // process, and after fork()), u64 number of the program that has forked this one, 0: none; string
  // CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of its environment -> device_info
  hello,
  // u32 1: PTX, 2: fat binaries, 3: PTX that is only checked, 4: the same for texts that are linked; u32 count; u64
  // address in the program, u64 bytes (of PTX) each -> u32 module, u32 count, u64 address, u64 bytes of managed
  // variables each; on failure: a string with the reason.
  load_image,
  unload_image,   // u32 module
  find_function,  // u32 module, string name -> u32 function, function_info, parameters as u32 count, then u32 offset,
                  // u32 bytes each
  find_variable,  // u32 module, string name -> u64 address, u64 bytes
  allocate,       // u64 bytes, u32 memory_kind -> u64 address
  release,        // u64 address
  host_range,     // u64 address, u64 bytes, range_step, what that says
  copy,           // copy_request
  fill,           // fill_request
  launch,         // launch_head, parameter bytes
  make_stream,    // u32 flags, s32 priority -> u32 stream
  drop_stream,    // u32 stream
  make_event,     // -> u32 event
  drop_event,     // u32 event
  record_event,   // u32 event, u32 stream
  wait_event,     // u32 stream, u32 event
  host_function,  // u32 stream, u64 number: the program runs it when it is due
  next_host_function,  // -> u64 number of a due host function, in a delayed reply; 0: none is left
  host_function_done,  // u64 number
  wait,                // u32 wait_kind, u32 number: replied to when it has ended
  query,               // u32 wait_kind, u32 number -> status not_ready until it has ended
  elapsed,             // u32 event, u32 event -> f64 nanoseconds of simulated time
  make_texture,        // texture_request -> u64 handle
  occupancy,           // u32 function, u32 threads, u64 dynamic shared bytes -> u32 blocks per SM
  active_clusters,     // u32 function, u32 threads, u64 dynamic shared bytes, u32 blocks of a cluster -> u32 clusters
  memory_info,         // -> u64 free, u64 total
  function_setting,    // u32 function, u32 setting, s32 value
  bind_texture,        // u32 module, string reference, u64 handle
  list_names,          // u32 module -> of its kernels u32 count, then a string each; the same of its variables
  // The process ends; no reply; the connection is closed when the results are written, if it is the last process.
  leave,
  // u32 descriptor in the program: a sealed file in memory, the window of this thread's copies from now on
  open_window,
  memory_value,  // value_request
  context_ends,  // what has not been freed is a leak
  // virtual_request -> of reserve: u64 address; of the others nothing
  virtual_memory,
};

/// Values of cudaError_t and CUresult that the simulator returns; they are equal in both.
enum status : std::int32_t {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  no_kernel_image = 209,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  assertion = 710,
  already_registered = 712,
  misaligned_address = 716,
  launch_failed = 719,
  cooperative_too_large = 720,
  not_supported = 801,
  invalid_cluster_size = 912,
  unknown = 999
};

/// True for failures after which the GPU has stopped: all later calls return the same.
constexpr bool is_lasting(std::int32_t s) {
  return s == illegal_address || s == launch_timeout || s == assertion || s == misaligned_address || s == launch_failed;
}

/// Virtual memory: addresses without memory, and memory that is given to some of them.
enum class virtual_step : std::uint32_t {
  reserve,  // bytes of addresses that begin at a multiple of `number`
  forget,   // what was reserved at an address
  take,     // bytes of memory
  give,     // bytes of memory back
  map,      // memory `number` at an address: gets the bytes that it had at another one
  open,     // kernels may access an address range
  close,    // they may not any more, when running work has ended
  unmap     // memory `number`, when running work has ended; keeps its bytes
};
struct virtual_request {
  virtual_step what;
  std::uint32_t reserved;
  std::uint64_t address, bytes, number;
};

/// Memory of the program that kernels access. Some has a file in memory behind it, which the simulator maps: u32
/// descriptor.
enum class range_step : std::uint32_t {
  forget,      // it is no longer registered; replied to when running work has ended
  registered,  // it is at any address, and kernels access it there; u32: other processes may have mapped it, too
  variables,   // managed ones of a module; file
  allocation   // pinned or managed; file
};
enum class memory_kind : std::uint32_t { device, managed, host };
enum class wait_kind : std::uint32_t { device, stream, event };
enum class function_setting : std::uint32_t { carveout, dynamic_shared, non_portable_cluster };

namespace stream_flag {
constexpr std::uint32_t non_blocking = 1;
}

struct message_head {
  std::uint32_t what;   // call; in a reply: status; in the answer to a move: the thread's processor + 1, 0: unknown
  std::uint32_t moves;  // 1: not a call or reply; data: move_request, from the simulator. The thread answers when done.
  std::uint64_t bytes;  // length of the following data
};

/// Copies between the window, from its begin on, and the program's memory.
struct move_request {
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint32_t to_window;
};

/// The modelled chip, for device properties and attributes.
struct device_info {
  char name[256];
  std::int32_t major, minor;
  std::int32_t sms;
  std::int32_t clock_khz, memory_clock_khz, memory_bus_bits;
  std::int32_t max_threads_per_sm, max_blocks_per_sm, max_threads_per_block;
  std::int32_t registers_per_sm, registers_per_block;
  std::int32_t shared_per_sm, shared_per_block, shared_per_block_optin, reserved_shared_per_block;
  std::int32_t l2_bytes;
  std::int32_t max_resident_grids;
  std::int32_t preemption;          // preemption of running blocks is supported
  std::int32_t max_cluster_blocks;  // 0: the chip has no thread block clusters
  std::int32_t reserved;
  std::uint64_t memory_bytes;
};

struct function_info {
  std::uint32_t registers, shared_bytes, local_bytes, max_threads, architecture, ptx_architecture, constant_bytes;
  std::uint32_t required_cluster[3];  // blocks; 0: none
  std::uint32_t needs_cluster;
};

/// A box of bytes: `width` bytes of `height` rows of `depth` layers, with separate pitches for each side.
struct copy_request {
  std::uint32_t stream;
  std::uint8_t source_on_host, destination_on_host;
  std::uint8_t source_is_kept;  // it is read when the copy is executed, else at once: the program may change it
  std::uint8_t reserved;
  std::uint64_t source, destination;
  std::uint64_t source_pitch, source_layer, destination_pitch, destination_layer;
  std::uint64_t width, height, depth;
};

struct fill_request {
  std::uint32_t stream;
  std::uint32_t value, value_bytes;  // 1, 2 or 4
  std::uint32_t reserved;
  std::uint64_t address, pitch, layer;
  std::uint64_t width, height, depth;  // width in bytes
};

/// What a stream does with a word of memory: writes it, or waits until it has a value.
enum class value_operation : std::uint32_t { write, at_least, equal, any_bit, any_zero };
struct value_request {
  std::uint32_t stream;
  value_operation what;
  std::uint32_t bytes;  // 4 or 8
  std::uint32_t reserved;
  std::uint64_t address, value;
};

struct launch_head {
  std::uint32_t function, stream;
  std::uint32_t grid[3], block[3], cluster[3];  // cluster 0: as the kernel requires
  std::uint32_t dynamic_shared_bytes;
  std::uint32_t cooperative;
  std::uint32_t programmatic;  // programmatic stream serialization
  std::uint32_t only_checked;  // 1: it is not launched
  std::uint32_t parameter_bytes;
};

struct texture_request {
  std::uint64_t address;
  std::uint32_t width, height, depth;
  std::uint8_t type, channels, linear, normalized;  // simt::texel_type
  std::uint8_t mode[3];
  std::uint8_t levels;
  std::uint64_t pitch_bytes;  // 0: rows without gaps
  float bias, least_level, most_level;
  std::uint32_t levels_linear;
  std::uint64_t further[17];  // addresses of the levels from 1 on
};

class writer {
 public:
  template <class T>
  writer& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "plain data");
    return put_bytes(&value, sizeof value);
  }
  writer& put_bytes(const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::uint8_t*>(data);
    if (bytes != 0) bytes_.insert(bytes_.end(), begin, begin + bytes);
    return *this;
  }
  writer& put_text(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    return put_bytes(text.data(), text.size());
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Reads the output of a writer. After the end all values are zero and good() is false.
class reader {
 public:
  reader(const std::uint8_t* data, std::size_t bytes) : at_(data), left_(bytes) {}
  explicit reader(const std::vector<std::uint8_t>& data) : reader(data.data(), data.size()) {}

  template <class T>
  T get() {
    T value{};
    if (const std::uint8_t* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::string get_text() {
    const auto bytes = get<std::uint32_t>();
    const std::uint8_t* from = take(bytes);
    return from != nullptr ? std::string(reinterpret_cast<const char*>(from), bytes) : std::string();
  }
  /// A pointer to the next bytes; null: not enough data.
  const std::uint8_t* take(std::size_t bytes) {
    if (bytes > left_) {
      good_ = false;
      left_ = 0;
      return nullptr;
    }
    const std::uint8_t* from = at_;
    at_ += bytes;
    left_ -= bytes;
    return from;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
  bool good_ = true;
};

/// A reply begins with the output of kernels since the last one (text), followed by the results of the call.

}  // namespace heddle::wire
