// SPDX-License-Identifier: MIT
// Stream operations as data. An API call sends an operation to the simulator, or adds it to a graph if its stream is
// being captured; a graph launch sends it to the simulator each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "testbench/cuda/core/registry.h"
#include "testbench/cuda/core/types.h"
#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// A box of `width` bytes, `height` rows and `depth` layers.
struct copy_work {
  void* to = nullptr;
  std::size_t to_pitch = 0, to_layer = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0, from_layer = 0;
  std::size_t width = 0, height = 1, depth = 1;
  int kind = by_pointers;
  bool is_read_at_once = false;  // the program may change the source when the call has returned, even pinned memory
};
copy_work copy_of_row(void* to, const void* from, std::size_t bytes, int kind);

struct fill_work {
  void* to = nullptr;
  std::size_t pitch = 0, layer = 0;
  unsigned value = 0, value_bytes = 1;
  std::size_t width = 0, height = 1, depth = 1;  // width in bytes
};

/// What the attributes of a launch say.
struct launch_traits {
  bool cooperative = false;
  bool programmatic = false;         // may begin before the launch before it in its stream has ended
  unsigned cluster[3] = {0, 0, 0};   // blocks of a thread block cluster; 0: not given
  std::vector<event_t> ends_with{};  // events that are recorded after the launch
};

struct kernel_work {
  function_record* function = nullptr;
  const void* key = nullptr;  // the handle that the program uses
  dim3_t grid{}, block{};
  std::uint32_t shared_bytes = 0;
  launch_traits traits;
  std::vector<std::uint8_t> parameters;  // laid out as in the kernel's parameter area
};

struct host_work {
  void (*function)(void*) = nullptr;
  void (*callback)(stream_t, error_t, void*) = nullptr;
  void* data = nullptr;
  stream_t stream = nullptr;
};

struct word_work {
  std::vector<wire::value_request> words;
};

/// The kind of caller: a call that returns when all is done, a call that returns at once, or a graph, whose data must
/// stay in place until the operation runs.
enum class manner { waits, asynchronous, graph };

error_t copy(const copy_work& w, std::uint32_t stream, manner how);
error_t fill(const fill_work& w, std::uint32_t stream, manner how);
error_t launch(const kernel_work& w, std::uint32_t stream, manner how);
/// The error that CUDA gives when it takes work into a graph: the one of the launch or the copy.
error_t checked(const kernel_work& w);
error_t checked(const copy_work& w);
error_t checked(const fill_work& w);
/// Which sides of a copy are memory of the host: source and destination.
std::pair<bool, bool> on_host(const copy_work& w);
error_t run_on_host(const host_work& w, std::uint32_t stream, manner how);
/// Writes the words and waits for them, in the order given; the requests' streams do not count.
error_t use_words(const word_work& w, std::uint32_t stream);

/// Converts a copy between arrays and memory; returns an error if it is invalid.
error_t box_of(const copy_3d& p, copy_work& w);
/// `arguments` null: the parameters are consecutive in `extra`, as the driver API allows.
error_t kernel_of(const void* function, dim3_t grid, dim3_t block, void** arguments, void** extra, std::size_t shared,
                  const launch_traits& traits, kernel_work& w);
/// Attributes that say nothing to the simulator are checked only.
error_t read(const launch_attribute& attribute, launch_traits& traits);
/// Writes the value of an attribute that the traits hold.
void show(const launch_traits& traits, int attribute, launch_attribute& to);
error_t read(const launch_attribute* attributes, unsigned count, launch_traits& traits);
/// Attributes that a kernel node of a graph has.
bool is_of_nodes(int attribute);

/// What cudaFuncGetAttributes says of clusters.
void show_clusters(const function_record& f, function_attributes_12& a);
/// Clusters of `blocks` that the chip can hold. Returns invalid_cluster_size if a launch of such clusters is refused.
error_t active_clusters(const function_record& f, dim3_t block, std::size_t shared, unsigned blocks, int& clusters);
/// The largest cluster of which the chip can hold one; `asked`: that the launch's attributes ask for.
error_t largest_cluster(const function_record& f, dim3_t block, std::size_t shared, unsigned asked, int& blocks);
/// Dynamic shared memory that a launch may have.
int most_dynamic_shared(const function_record& f);
/// Blocks of the cluster of a launch of the function.
unsigned cluster_blocks(const function_record& f, const launch_traits& traits);

/// Several copies in one call. They are made in the order of the array.
enum access_order : int { in_stream = 1, during_the_call, any_order };
struct copy_attributes {
  int access_order, from[2], to[2];
  unsigned flags;
};
struct row_batch {
  void* const* to;
  const void* const* from;
  const std::size_t* bytes;
  std::size_t count;
  const copy_attributes* attributes;
  const std::size_t* first_copies;  // of each attribute
  std::size_t attribute_count;
};

/// Source or destination of a box.
struct batch_side {
  int kind;
  union {
    struct {
      void* pointer;
      std::size_t row, rows;  // in elements; 0: as many as are copied
      int location[2];
    } memory;
    struct {
      array_t array;
      position_t at;
    } array;
  } of;
};
struct batch_box {
  batch_side from, to;
  extent_t extent;  // in elements
  int access_order;
  unsigned flags;
};

/// `failed`: the number of the first copy that CUDA refuses, unless null.
error_t copy(const row_batch& b, std::size_t* failed, std::uint32_t stream);
error_t copy(const batch_box* boxes, std::size_t count, unsigned long long flags, std::size_t* failed,
             std::uint32_t stream);

}  // namespace heddle::cuda

// Defines a function, and its variant for programs compiled with per-thread default streams.
#define HEDDLE_BOTH(name, twin, arguments, body)        \
  HEDDLE_CUDA error_t name arguments {                  \
    [[maybe_unused]] constexpr bool per_thread = false; \
    body                                                \
  }                                                     \
  HEDDLE_CUDA error_t twin arguments {                  \
    [[maybe_unused]] constexpr bool per_thread = true;  \
    body                                                \
  }
