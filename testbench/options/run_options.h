// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/shipped.h"
#include "heddle/frontend/sass_trace/replay/trace_store.h"
#include "heddle/occupancy/clusters.h"

namespace heddle::testbench {

/// Which launches of a CUDA program are simulated in detail; all others are executed functionally.
struct launch_choice {
  struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  std::vector<range> numbers;      // empty: all
  std::vector<std::string> names;  // patterns, one of which must match; empty: all
  bool none = false;               // no launch is simulated in detail

  /// `number` counts the program's launches from 0; `kernel` is the name in the module.
  [[nodiscard]] bool in_detail(std::uint64_t number, const std::string& kernel) const;
  [[nodiscard]] bool all() const { return !none && numbers.empty() && names.empty(); }
};

/// The names by which a user may refer to a kernel: the module's name, the demangled declaration, the name without
/// return type and parameters, and the name without template arguments.
std::vector<std::string> names_of_kernel(const std::string& kernel);

enum class progress_mode : std::uint8_t { automatic, always, never, json };
enum class log_level : std::uint8_t { error, warning, info, debug };

/// Of `heddle view`: the line whose worst moment is looked for, and where that is written.
struct line_request {
  std::string file;  // empty: none is looked for
  std::uint32_t line = 0;
  std::uint64_t cycles = 0;  // of the moment
  std::string result;        // a file
};

struct checkpoint;

/// The options of `heddle run`, `heddle replay` and `heddle exec`.
struct run_options {
  std::string job_file;  // empty: a single launch, given below
  std::string confine;   // the job's files must be below this folder; empty: no restriction
  std::string kernel_file;
  std::string kernel;  // entry; empty: the only kernel of the module
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  cluster_request cluster;
  std::uint32_t shared_bytes = 0;
  std::int32_t carveout = -1;          // percent; -1: the chip's default
  std::uint32_t registers = 0;         // per thread; 0: as many as the kernel needs
  std::vector<std::string> arguments;  // kernel arguments; exec: the program and its arguments
  launch_choice chosen;                // exec
  bool exact_bounds = false;           // exec: kernels may access no byte outside an allocation
  bool environment = false;            // exec: only prints the environment that a shell needs
  std::string kernels_list;            // replay
  bool strict = false;                 // replay
  std::uint64_t trace_memory_mib = sass_trace::trace_store::usual_mib;  // replay

  std::string gpu = default_gpu();
  std::vector<std::string> overrides;

  std::string metrics_file;  // empty: not written
  std::string report_file;
  std::string vcd_file;
  std::string record_folder;  // a trace of the run; empty: none
  std::string timeline_file;
  std::string pipeline_file;
  const char* vcd_option = "--vcd";  // that named the file, for messages
  const char* pipeline_option = "--pipeline";
  std::string trace_scope = "gpu.cwd,gpu.sm0*";
  std::uint64_t trace_begin = 0;  // cycles [begin, end)
  std::uint64_t trace_end = ~std::uint64_t{0};
  std::uint64_t layout_begin = ~std::uint64_t{0};  // cycle with which the waveform's layout opens; none: it chooses
  line_request watched;
  std::string view;  // `heddle view` of the same run, without a line; empty: it has none

  std::uint64_t max_cycles = 0;               // 0: no limit
  std::uint64_t end_after = 0;                // exec: of launches that have not ended; 0: no limit
  bool sanitizes = false;                     // run, exec: launches are checked
  std::string sanitize;                       // for what: a list of kinds; empty: all
  std::string sanitize_file;                  // the findings as JSON; empty: not written
  double sample_error = 0;                    // of a launch's cycles, by which blocks are left out; 0: none are
  bool cold = false;                          // launches begin with empty caches, one at a time
  unsigned threads = 1;                       // of the host that simulate SMs
  bool threads_named = false;                 // by the user, who gets a message where they cannot be used
  bool serves = false;                        // a page of the run
  std::uint16_t serve_port = 0;               // 0: a free one
  bool serve_control = false;                 // the page may pause the run
  std::string checkpoint_file;                // empty: no checkpoints
  std::uint64_t checkpoint_every = 0;         // cycles; 0: only at the end by SIGTERM
  std::vector<std::string> words;             // with checkpoints: the command's arguments
  bool interference = false;                  // run: each client runs alone, too
  std::vector<std::uint64_t> alone_cycles;    // by client: from start to end of that run; 0: none
  std::shared_ptr<const checkpoint> resumes;  // where the run begins; null: at its begin
  bool is_point = false;                      // of a sweep, whose command goes on with its checkpoint
  progress_mode progress = progress_mode::automatic;
  log_level level = log_level::warning;
  bool quiet = false;
};

}  // namespace heddle::testbench
