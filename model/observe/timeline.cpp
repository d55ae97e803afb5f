// SPDX-License-Identifier: MIT
#include "heddle/observe/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/memory/dram/memory_model.h"
#include "heddle/sm/sm.h"

namespace heddle {

namespace {

// Tracks: process 0 is the GPU as a whole, with a thread per stream; process 1 + n is SM n.
constexpr unsigned first_cta_track = 1;
constexpr unsigned first_warp_track = 1000;
constexpr unsigned switch_track = 2000;
constexpr unsigned first_early_track = 1u << 30;
constexpr unsigned first_client_track = 1u << 20;  // of client 1; its streams' numbers follow

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out + "\"";
}

}  // namespace

timeline::timeline(gpu& g, const std::string& path, cycle_t first, cycle_t last, const power_ledger* ledger)
    : gpu_(g), path_(path), file_(std::fopen(path.c_str(), "wb")), first_(first), last_(last), sampled_(first) {
  if (file_ == nullptr) throw input_error(path + ": " + std::strerror(errno) + ", expected a file that can be written");
  write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  const gpu_config& c = g.config();
  blocks_.assign(c.gpu.sm_count, std::vector<open_block>(c.sm.max_blocks));
  warps_.assign(c.gpu.sm_count, std::vector<open_warp>(c.sm.max_warps));
  name_track(0, -1, "process_name", c.gpu.name);
  for (unsigned i = 0; i < c.gpu.sm_count; ++i) {
    name_track(1 + i, -1, "process_name", "SM " + std::to_string(i));
    g.sm_at(i).resource_manager.observe(this);
  }
  if (c.energy.account) power_ = std::make_unique<power_probe>(g, ledger);
  g.core_clock().observe(*this);
}

timeline::~timeline() {
  gpu_.core_clock().ignore(*this);
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) gpu_.sm_at(i).resource_manager.observe(nullptr);
  if (file_ != nullptr) std::fclose(file_);
}

void timeline::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) failed_ = true;
}

void timeline::put(const std::string& event) {
  if (!first_event_) write(",\n");
  write(event);
  first_event_ = false;
}

// Microseconds, exact to the picosecond, so that an end and a beginning at the same time have the same text.
std::string timeline::time_of(cycle_t cycle) const {
  const double ps = static_cast<double>(cycle) * 1e6 / gpu_.config().gpu.core_clock_mhz;
  const auto whole = static_cast<std::uint64_t>(std::floor(ps + 0.5));
  return fmt::format("{}.{:06}", whole / 1000000, whole % 1000000);
}

void timeline::name_track(unsigned pid, int tid, const char* what, const std::string& name) {
  const std::string thread = tid < 0 ? "" : fmt::format("\"tid\":{},", tid);
  put(fmt::format("{{\"ph\":\"M\",\"pid\":{},{}\"name\":\"{}\",\"args\":{{\"name\":{}}}}}", pid, thread, what,
                  quoted(name)));
}

// Slices of one track never overlap; each is a begin and an end event. Both have the arguments, because speedscope
// treats them as part of the name.
void timeline::slice(unsigned pid, unsigned tid, const std::string& name, cycle_t from, cycle_t to,
                     const std::string& arguments) {
  from = std::max(from, first_);
  to = std::min(to, last_);
  if (from >= to) return;
  put(fmt::format("{{\"ph\":\"B\",\"pid\":{},\"tid\":{},\"ts\":{},\"name\":{},\"args\":{{{}}}}}", pid, tid,
                  time_of(from), quoted(name), arguments));
  put(fmt::format("{{\"ph\":\"E\",\"pid\":{},\"tid\":{},\"ts\":{},\"name\":{},\"args\":{{{}}}}}", pid, tid, time_of(to),
                  quoted(name), arguments));
}

void timeline::counter(const char* name, cycle_t at, double value, unsigned pid) {
  put(fmt::format("{{\"ph\":\"C\",\"pid\":{},\"ts\":{},\"name\":\"{}\",\"args\":{{\"value\":{}}}}}", pid, time_of(at),
                  name, value));
}

void timeline::block_entered(unsigned sm, unsigned cta_slot, const resident_launch& launch, std::uint64_t block,
                             cycle_t cycle) {
  blocks_[sm][cta_slot] = {&launch, block, cycle};
}

void timeline::block_left(unsigned sm, unsigned cta_slot, cycle_t cycle) {
  open_block& b = blocks_[sm][cta_slot];
  if (b.launch == nullptr) return;
  slice(1 + sm, first_cta_track + cta_slot, fmt::format("{} block {}", b.launch->program->kernel, b.block), b.since,
        cycle, fmt::format("\"launch\":{},\"block\":{}", b.launch->launch_id, b.block));
  b.launch = nullptr;
}

void timeline::warp_entered(unsigned sm, unsigned warp, unsigned cta_slot, unsigned warp_in_block, cycle_t cycle) {
  count_warps(cycle);
  ++live_warps_;
  warps_[sm][warp] = {cta_slot, warp_in_block, cycle, true};
}

void timeline::warp_left(unsigned sm, unsigned warp, cycle_t cycle) {
  open_warp& w = warps_[sm][warp];
  if (!w.open) return;
  count_warps(cycle);
  --live_warps_;
  w.open = false;
  const open_block& b = blocks_[sm][w.cta_slot];
  slice(1 + sm, first_warp_track + warp, fmt::format("block {} warp {}", b.block, w.in_block), w.since, cycle,
        fmt::format("\"launch\":{},\"block\":{}", b.launch != nullptr ? b.launch->launch_id : 0, b.block));
}

void timeline::count_warps(cycle_t cycle) {
  if (cycle <= warps_counted_) return;
  warp_cycles_ += live_warps_ * (cycle - warps_counted_);
  warps_counted_ = cycle;
}

timeline::sums timeline::sums_now(cycle_t cycle) {
  count_warps(cycle);
  sums s;
  s.warps = warp_cycles_;
  for (unsigned i = 0; i < gpu_.sm_count(); ++i)
    for (const auto& p : gpu_.sm_at(i).partitions)
      for (std::uint32_t l = 0; l < p.account.counters.end(); ++l) {
        const issue_counters* c = p.account.counters.find(l);
        if (c == nullptr) continue;
        s.instructions += c->inst_executed;
        s.eligible += c->states[static_cast<std::size_t>(warp_stall::selected)] +
                      c->states[static_cast<std::size_t>(warp_stall::not_selected)];
      }
  for (unsigned i = 0; i < gpu_.channel_count(); ++i) {
    const per_launch<memory_counters>& counters = gpu_.channel_at(i).counters();
    for (std::uint32_t l = 0; l < counters.end(); ++l)
      if (const memory_counters* c = counters.find(l)) s.dram_bytes += c->read_bytes + c->write_bytes;
  }
  return s;
}

// Counters over [sampled_, end): rates of the whole GPU.
void timeline::sample(cycle_t end) {
  if (end <= sampled_) return;
  const sums now = sums_now(end);
  const double cycles = static_cast<double>(end - sampled_);
  const double slots = static_cast<double>(gpu_.config().gpu.sm_count) * gpu_.config().sm.max_warps;
  const auto grown = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>(b - std::min(a, b)); };
  counter("IPC", sampled_, grown(before_.instructions, now.instructions) / cycles);
  counter("occupancy", sampled_, grown(before_.warps, now.warps) / cycles / slots);
  counter("eligible warps", sampled_, grown(before_.eligible, now.eligible) / cycles);
  counter("DRAM bytes per cycle", sampled_, grown(before_.dram_bytes, now.dram_bytes) / cycles);
  sample_power(end);
  before_ = now;
  sampled_ = end;
}

void timeline::sample_power(cycle_t end) {
  if (power_ == nullptr) return;
  power_->advance(end);
  const auto watts = [](double w) { return std::round(w * 1000) / 1000; };
  counter("power (W)", sampled_, watts(power_->chip_watts()));
  if (gpu_.config().energy.power_cap_watts > 0) counter("core clock (MHz)", sampled_, watts(power_->clock_mhz()));
  sm_watts_.resize(gpu_.sm_count(), -1);
  for (unsigned i = 0; i < gpu_.sm_count(); ++i) {
    const double now = watts(power_->sm_watts(i));
    if (now != sm_watts_[i]) counter("power (W)", sampled_, now, 1 + i);
    sm_watts_[i] = now;
  }
}

void timeline::after_cycle() {
  const cycle_t now = gpu_.cycle();
  if (now >= last_) {
    sample(last_);
    return;
  }
  if (worked_ < first_ && now >= first_) {  // what was before the window
    before_ = sums_now(now);
    if (power_ != nullptr) power_->advance(now);
  }
  if (now >= first_ && now - sampled_ >= interval_cycles) {
    // A period without warps is an interval of its own.
    if (was_empty_ && worked_ + interval_cycles < now) sample(worked_ + 1);
    sample(now);
  }
  worked_ = now;
  was_empty_ = live_warps_ == 0;
}

// Of two launches of a stream that run at the same time, the second one gets a track of its own.
void timeline::write_kernels() {
  std::map<unsigned, cycle_t> busy_until;  // by track
  const auto& all = gpu_.cwd().grids();
  const bool several = std::any_of(
      all.begin(), all.end(), [&](const grid_record& g) { return g.launch->client != all.front().launch->client; });
  for (const grid_record& g : all) {
    if (g.dispatched == 0) continue;
    const resident_launch& l = *g.launch;
    const unsigned own = (several ? l.client * first_client_track : 0) + l.stream;
    const auto usual = busy_until.find(own);
    const bool beside = usual != busy_until.end() && usual->second > g.start_cycle;
    const unsigned track = own + (beside ? first_early_track : 0);
    const cycle_t end = g.finished ? g.end_cycle : gpu_.cycle();
    if (busy_until.emplace(track, end).second)
      name_track(0, static_cast<int>(track), "thread_name",
                 fmt::format("{}stream {}{}", !several || l.client == 0 ? "" : fmt::format("client {}, ", l.client),
                             l.stream, beside ? ", launched early" : ""));
    busy_until[track] = end;
    slice(0, track, l.program->kernel, g.start_cycle, end,
          fmt::format("\"launch\":{},\"blocks\":{},\"priority\":{}", l.launch_id, g.blocks(), l.priority));
  }
}

void timeline::write_switches() {
  std::vector<bool> named(gpu_.sm_count());
  std::uint64_t id = 0;
  for (const auto& c : gpu_.cwd().context_switches()) {
    const unsigned pid = 1 + c->sm;
    if (!named[c->sm]) name_track(pid, switch_track, "thread_name", "context engine");
    named[c->sm] = true;
    const char* mode = c->mode == preemption_mode::drain   ? "drain"
                       : c->mode == preemption_mode::flush ? "flush"
                                                           : "switch";
    // Clips to the window.
    const cycle_t from = std::max(c->request_cycle, first_),
                  to = std::min(c->resumed_cycle != 0 ? c->resumed_cycle : gpu_.cycle(), last_);
    ++id;
    if (from <= to)
      for (const bool begins : {true, false})
        put(fmt::format(
            "{{\"ph\":\"{}\",\"cat\":\"preemption\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"{}\"}}",
            begins ? "b" : "e", id, pid, switch_track, time_of(begins ? from : to), mode));
    if (c->mode != preemption_mode::context_switch) continue;
    std::uint64_t bytes = 0;
    for (const switched_block& b : c->blocks) bytes += b.bytes_saved;
    const std::string arguments = fmt::format("\"bytes\":{},\"blocks\":{}", bytes, c->blocks.size());
    if (c->saved_cycle != 0) slice(pid, switch_track, "save", c->quiesced_cycle, c->saved_cycle, arguments);
    if (c->resumed_cycle != 0) slice(pid, switch_track, "restore", c->restore_cycle, c->resumed_cycle, arguments);
  }
}

void timeline::close(const std::string& mark) {
  const cycle_t end = gpu_.cycle();
  for (unsigned sm = 0; sm < gpu_.sm_count(); ++sm) {
    for (unsigned w = 0; w < warps_[sm].size(); ++w) warp_left(sm, w, end);
    for (unsigned s = 0; s < blocks_[sm].size(); ++s) {
      block_left(sm, s, end);
      name_track(1 + sm, static_cast<int>(first_cta_track + s), "thread_name", "CTA slot " + std::to_string(s));
    }
    for (unsigned w = 0; w < warps_[sm].size(); ++w)
      name_track(1 + sm, static_cast<int>(first_warp_track + w), "thread_name", "warp " + std::to_string(w));
  }
  sample(std::min(end, last_));
  write_kernels();
  write_switches();
  if (!mark.empty())
    put(fmt::format("{{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":{},\"name\":\"{}\"}}",
                    time_of(std::min(end, last_)), mark));
  write("\n]}\n");
  if (std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  if (failed_) throw input_error(path_ + ": the timeline could not be written whole, expected room on the disk");
}

}  // namespace heddle
