// SPDX-License-Identifier: MIT
#include "testbench/checkpoint/run_checkpoints.h"

#include <filesystem>
#include <utility>

#include "heddle/config/error.h"
#include "testbench/options/log.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

run_checkpoints::run_checkpoints(const run_options& o, const job& j, const gpu_config& config)
    : file_(o.checkpoint_file), every_(o.checkpoint_every) {
  if (!wanted()) return;
  about_.command = o.is_point ? command_of_points : o.kernels_list.empty() ? "run" : "replay";
  about_.arguments = o.words;
  about_.folder = std::filesystem::current_path().string();
  about_.configuration = texts_of(config);
  if (!o.is_point) about_.files = files_of(j);  // a point's id says what it has read
  begin_at(0);
}

void run_checkpoints::write(std::uint64_t cycle, std::uint64_t time, std::vector<std::uint8_t> state) {
  about_.cycle = cycle;
  about_.time = time;
  about_.state = std::move(state);
  try {
    write_checkpoint(file_, about_);
  } catch (const input_error& e) {
    message_log::warning("no checkpoint in cycle " + grouped(cycle) + ": " + e.what());
  }
  about_.state.clear();
  begin_at(cycle);
}

}  // namespace heddle::testbench
