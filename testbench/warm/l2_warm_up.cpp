// SPDX-License-Identifier: MIT
#include "testbench/warm/l2_warm_up.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/functional/recorded_lines.h"
#include "heddle/gpu/cwd/sampled_l2.h"
#include "heddle/gpu/host/launch_builder.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/sm/instruction_port.h"
#include "heddle/sm/sm.h"
#include "heddle/sub_partition/dependence/decode.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::size_t most_kept_bytes = std::size_t{128} << 20;

std::uint64_t blocks_together(const sass_trace::trace_kernel& k, const gpu_config& config) {
  const sass_trace::kernel_header& h = k.header;
  const auto dynamic = h.shared_bytes - k.program->shared_bytes;
  constexpr int usual_carveout = -1;
  check_launch(config, *k.program, h.grid, h.block, dynamic, usual_carveout);
  const auto threads = h.block[0] * h.block[1] * h.block[2];
  const unsigned of_sm = compute(config, demand_of(*k.program, threads, dynamic, usual_carveout)).blocks_per_sm;
  return std::max<std::uint64_t>(1, std::uint64_t{of_sm} * config.gpu.sm_count);
}

// As far as its blocks' lines depend on it.
simt::launch_context context_of(const sass_trace::trace_kernel& k, const gpu_config& config) {
  simt::launch_context c;
  c.program = k.program;
  c.block = {k.header.block[0], k.header.block[1], k.header.block[2]};
  c.local_base = local_base_of(k.header, 0);
  c.sm_count = config.gpu.sm_count;
  c.warps_per_sm = config.sm.max_warps;
  return c;
}

}  // namespace

l2_warm_up::l2_warm_up(gpu& chip, bool strict) : chip_(chip), config_(chip.config()), room_(most_kept_bytes) {
  constexpr std::size_t none_kept = 0;
  const auto store = std::make_shared<sass_trace::trace_store>(sass_trace::trace_store::usual_mib << 20, none_kept);
  set_ = std::make_shared<sass_trace::trace_set>(strict, store);
}

// Launches of one trace share their code, also with those that are simulated.
l2_warm_up::recorded& l2_warm_up::read(const std::string& trace, const traces_by_file& next) {
  recorded& r = read_[trace];
  if (r.trace != nullptr) return r;
  const auto same = next.find(trace);
  r.trace = same != next.end() ? same->second : std::make_shared<const sass_trace::trace_file>(trace, set_);
  const auto kernel = r.trace->open();
  r.together = blocks_together(*kernel, config_);
  r.code_address = placed(chip_, kernel->program).code_address;
  r.code_bytes = kernel->program->code.size() * config_.instruction_cache.instruction_bytes;
  keep(r);
  return r;
}

// The lines of small launches, which are followed again and again.
void l2_warm_up::keep(recorded& r) {
  auto lines = std::make_shared<block_lines>();
  std::size_t bytes = 0;
  each_block(r, [&](std::vector<line_touch> block) {
    bytes += sizeof block + block.size() * sizeof(line_touch);
    if (bytes <= room_) lines->push_back(std::move(block));
    else lines->clear();
  });
  if (bytes > room_) return;
  room_ -= bytes;
  r.lines = std::move(lines);
}

void l2_warm_up::each_block(const recorded& r, const block_user& use) const {
  if (r.lines != nullptr) {
    for (const auto& block : *r.lines) use(block);
    return;
  }
  const auto kernel = r.trace->open();
  const auto program = decode(kernel->program, config_, r.code_address);
  const simt::launch_context launch = context_of(*kernel, config_);
  std::uint64_t number = 0;
  for (sass_trace::trace_recording blocks(kernel); !blocks.exhausted();)
    use(lines_of(*blocks.next(), *program, launch, number++, r.together));
}

// The L2 has whole lines of the SMs' caches, with those that are prefetched behind the code's end.
void l2_warm_up::follow_code(const recorded& r) {
  const instruction_cache_parameters& c = config_.instruction_cache;
  const auto in_lines = [](std::uint64_t bytes, std::uint64_t line) { return (bytes + line - 1) / line * line; };
  const std::uint64_t bytes =
      in_lines(in_lines(r.code_bytes, c.line_bytes) + std::uint64_t{c.prefetch_lines} * c.line_bytes,
               std::max(c.line_bytes, c.second_level_line_bytes));
  if (c.second_level_bytes != 0)
    for (unsigned n = 0; n < chip_.sm_count(); ++n)
      chip_.sm_at(n).second_instruction_cache.preload(r.code_address, bytes);
  touched_lines lines;
  lines.add(instruction_port::code_area + r.code_address, bytes, line_use::reads);
  follow_blocks(1, [&](const block_user& use) { use(lines.take()); });
}

void l2_warm_up::follow_blocks(std::uint64_t together, const std::function<void(const block_user& use)>& each) {
  sampled_l2& l2 = untimed_l2(chip_);
  l2.begin_untimed(0, together);
  std::uint64_t block = 0;
  each([&](std::vector<line_touch> lines) { l2.block_touched(block++, std::move(lines)); });
  l2.end_untimed();
}

void l2_warm_up::follow(const std::vector<std::string>& traces, const traces_by_file& next) {
  const std::uint64_t held = config_.l2.size_bytes / line_bytes;
  std::unordered_set<std::uint64_t> touched;
  std::size_t first = traces.size();
  while (first > 0 && touched.size() < held)
    each_block(read(traces[--first], next), [&](const std::vector<line_touch>& lines) {
      for (const line_touch& t : lines) touched.insert(t.line);
    });
  for (std::size_t k = first; k < traces.size(); ++k) {
    const recorded& r = read(traces[k], next);
    follow_code(r);
    follow_blocks(r.together, [&](const block_user& use) { each_block(r, use); });
  }
}

}  // namespace heddle::testbench
