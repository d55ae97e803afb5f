// SPDX-License-Identifier: MIT
#include "testbench/record/run_recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/frontend/sass_trace/own/own_steps.h"
#include "heddle/frontend/sass_trace/own/program_text.h"
#include "heddle/frontend/sass_trace/own/recordable.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/sm/sm.h"
#include "testbench/record/recorded_machine.h"

namespace heddle::testbench {

namespace {

namespace fs = std::filesystem;

std::string folder_around(const std::string& folder) {
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  return (folder.back() == '/' ? parent.parent_path() : parent).string();
}

std::string why_not(const resident_launch& launch) {
  const std::string kernel = "kernel '" + launch.program->kernel + "'";
  if (launch.cluster_blocks() > 1) return kernel + " has clusters of blocks, which a trace does not hold";
  if (launch.programmatic)
    return kernel +
           " is launched while the one before it runs (programmatic stream serialization), which a trace does "
           "not hold";
  return sass_trace::why_not_recordable(*launch.program);
}

std::string name_of(std::uint32_t launch) { return fmt::format("kernel-{}.traceg.zst", launch + 1); }

void write_steps(std::string& text, const warp_steps& warp) {
  for (const isa::executed_step& s : warp.steps) {
    const std::uint32_t handle = s.addresses & ~warp_steps::even;
    sass_trace::write_step(text, s, handle == 0 ? nullptr : warp.addresses.data() + (handle - 1),
                           (s.addresses & warp_steps::even) != 0);
  }
}

void put(std::ofstream& file, const std::string& data) {
  file.write(data.data(), static_cast<std::streamsize>(data.size()));
}

void close(std::ofstream& file, const std::string& name) {
  file.close();
  if (!file) throw input_error("--record: '" + name + "' cannot be written: " + std::strerror(errno));
}

}  // namespace

void run_recorder::check(const std::string& folder) {
  std::error_code ignored;
  const bool is_there = fs::exists(fs::symlink_status(folder, ignored));
  if (folder.empty() || (is_there && !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored))))
    throw input_error("--record: got '" + folder + "', expected a new folder, or an empty one");
  const std::string around = folder_around(folder);
  if (!fs::is_directory(around, ignored)) throw input_error("--record: there is no folder '" + around + "'");
  const block_spool can_be_made(around);
}

run_recorder::run_recorder(gpu& chip, std::string folder)
    : chip_(chip), folder_(std::move(folder)), spool_(folder_around(folder_)) {
  for (unsigned i = 0; i < chip.sm_count(); ++i)
    for (sub_partition& p : chip.sm_at(i).partitions) p.record(*this);
}

warp_steps* run_recorder::begun(const resident_launch& launch, const simt::block_context& block, std::uint32_t warp) {
  auto steps = std::make_unique<warp_in_progress>();
  warp_steps* const s = steps.get();
  s->recorder = this;
  s->launch = launch.launch_id;
  s->warp = warp;
  s->block = block.index;
  s->number = (std::uint64_t{block.index.z} * launch.grid.y + block.index.y) * launch.grid.x + block.index.x;
  const std::lock_guard<std::mutex> only_one(mutex_);
  if (!failure_.empty()) return nullptr;
  open_block& b = launches_[launch.launch_id].open[s->number];
  if (b.warps.empty()) {
    b.running = launch.warps_per_block();
    b.warps.resize(b.running);
  }
  if (b.warps[warp] != nullptr) {
    give_up("kernel '" + launch.program->kernel + "' has blocks that were preempted");
    return nullptr;
  }
  b.warps[warp] = std::move(steps);
  return s;
}

void run_recorder::ended(const warp_steps& steps) {
  const std::uint32_t launch = steps.launch;
  const std::uint64_t number = steps.number;
  open_block whole;
  {
    const std::lock_guard<std::mutex> only_one(mutex_);
    auto& open = launches_.at(launch).open;
    open_block& b = open.at(number);
    if (--b.running != 0) return;
    whole = std::move(b);
    open.erase(number);
    if (!failure_.empty()) return;
  }
  const std::vector<block_spool::part> parts = parts_of(whole);
  const std::lock_guard<std::mutex> only_one(mutex_);
  launch_trace& trace = launches_.at(launch);
  trace.packed.push_back(
      {number, static_cast<std::uint32_t>(trace.parts.size()), static_cast<std::uint32_t>(parts.size())});
  trace.parts.insert(trace.parts.end(), parts.begin(), parts.end());
}

// Compresses a text, on the thread of the caller.
block_spool::part run_recorder::keep(const std::string& text) {
  const std::string frame = block_spool::packed(text);
  const std::lock_guard<std::mutex> only_one(mutex_);
  try {
    if (failure_.empty()) return spool_.append(frame);
  } catch (const input_error& e) {
    give_up(e.what());
  }
  return {};
}

void run_recorder::take(warp_steps& steps) {
  auto& warp = static_cast<warp_in_progress&>(steps);
  std::string text;
  write_steps(text, warp);
  warp.steps_taken += warp.steps.size();
  warp.taken.push_back(keep(text));
}

// The number of a warp's steps stands in front of them.
std::vector<block_spool::part> run_recorder::parts_of(const open_block& block) {
  std::vector<block_spool::part> parts;
  const simt::dim3& at = block.warps[0]->block;
  std::string text = fmt::format("#BEGIN_TB\nthread block = {},{},{}\n", at.x, at.y, at.z);
  for (const auto& w : block.warps) {
    text += fmt::format("warp = {}\ninsts = {}\n", w->warp, w->steps_taken + w->steps.size());
    if (!w->taken.empty()) {
      parts.push_back(keep(text));
      parts.insert(parts.end(), w->taken.begin(), w->taken.end());
      text.clear();
    }
    write_steps(text, *w);
  }
  parts.push_back(keep(text + "#END_TB\n"));
  return parts;
}

// Blocks that run keep their steps, to which their warps point.
void run_recorder::give_up(std::string why) {
  failure_ = std::move(why);
  for (auto& [launch, trace] : launches_) trace.packed = {}, trace.parts = {};
}

void run_recorder::copied(std::uint64_t address, std::uint64_t bytes) {
  copies_.push_back({chip_.cwd().grids().size(), address, bytes});
}

std::string run_recorder::news_of_last_launch() {
  const std::string why = why_not(*chip_.cwd().grids().back().launch);
  const std::lock_guard<std::mutex> only_one(mutex_);
  if (why.empty() || !failure_.empty()) return {};
  give_up(why);
  return why;
}

std::string run_recorder::head_of(const grid_record& grid) const {
  const resident_launch& l = *grid.launch;
  std::string text = fmt::format(
      "-heddle version = {}\n-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n"
      "-shmem = {}\n-nregs = {}\n-binary version = {}\n-cuda stream id = {}\n-accelsim tracer version = 5\n",
      sass_trace::kernel_header::own_version, l.program->kernel, l.launch_id + 1, l.grid.x, l.grid.y, l.grid.z,
      l.block.x, l.block.y, l.block.z, l.shared_bytes, l.program->registers, compute_capability(chip_.config()),
      l.stream);
  text += fmt::format(
      "-heddle source = {}\n-heddle machine = {}\n-heddle code address = 0x{:x}\n-heddle local address = 0x{:x}\n"
      "-heddle launch cycle = {}\n-heddle carveout = {}\n-heddle priority = {}\n\n"
      "#traces format = PC active mask flags [address] [differences]\n",
      printable(l.program->file), recorded_machine(chip_.config()), l.decoded->code_address, l.local_base,
      grid.doorbell_cycle, l.carveout_percent + 1, static_cast<std::uint32_t>(l.priority));
  sass_trace::write_program(text, *l.program);
  return text;
}

std::string run_recorder::obstacle() const {
  if (!failure_.empty()) return failure_;
  for (const grid_record& g : chip_.cwd().grids()) {
    std::string why = why_not(*g.launch);
    if (!why.empty()) return why;
    const auto found = launches_.find(g.launch->launch_id);
    if (found == launches_.end() || found->second.packed.size() != g.blocks())
      return "kernel '" + g.launch->program->kernel + "' has blocks that did not run from begin to end on one SM";
  }
  return launches_.empty() ? "no kernel was simulated" : "";
}

// Blocks are in the order of the grid, in which they begin.
void run_recorder::write_launch(const grid_record& grid, const std::string& folder) {
  const std::string name = folder + "/" + name_of(grid.launch->launch_id);
  std::ofstream file(name, std::ios::binary);
  put(file, block_spool::packed(head_of(grid)));
  launch_trace& trace = launches_.at(grid.launch->launch_id);
  std::vector<packed_block>& blocks = trace.packed;
  std::sort(blocks.begin(), blocks.end(),
            [](const packed_block& a, const packed_block& b) { return a.number < b.number; });
  for (const packed_block& b : blocks)
    for (std::uint32_t k = 0; k < b.count; ++k) put(file, spool_.read(trace.parts[b.first + k]));
  close(file, name);
}

// At a copy, a replay waits for all earlier launches. So copies are listed where the run had none that ran.
void run_recorder::write_to(const std::string& folder) {
  const std::string list_name = folder + "/kernelslist.g";
  std::ofstream list(list_name);
  cycle_t ended = 0;  // when all launches so far had ended
  std::size_t launches = 0;
  auto copy = copies_.cbegin();
  for (const grid_record& g : chip_.cwd().grids()) {
    const bool waited = ended <= g.doorbell_cycle;
    const auto first = copy;
    for (; copy != copies_.cend() && copy->launches <= launches; ++copy)
      if (waited) list << fmt::format("MemcpyHtoD,0x{:016x},{}\n", copy->address, copy->bytes);
    if (waited && copy == first && launches != 0) list << "MemcpyHtoD,0x0,0\n";
    ended = std::max(ended, g.end_cycle);
    ++launches;
    list << name_of(g.launch->launch_id) << "\n";
    write_launch(g, folder);
  }
  close(list, list_name);
}

std::string run_recorder::finish() {
  std::string why = obstacle();
  if (!why.empty()) return why;
  std::string beside = folder_around(folder_) + "/.heddle_record_XXXXXX";
  std::error_code failed;
  if (::mkdtemp(beside.data()) == nullptr)
    throw input_error("--record: a folder beside '" + folder_ + "' cannot be made: " + std::strerror(errno));
  try {
    write_to(beside);
    fs::permissions(beside, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                fs::perms::others_read | fs::perms::others_exec);
    fs::rename(beside, fs::path(folder_).lexically_normal() / "", failed);
    if (failed) throw input_error("--record: '" + folder_ + "' cannot be made: " + failed.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throw;
  }
  return {};
}

}  // namespace heddle::testbench
