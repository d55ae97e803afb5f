// SPDX-License-Identifier: MIT
#include "heddle/metrics/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/metrics/json_code.h"

namespace heddle {

namespace {

template <class T>
void write_list(json_writer& w, const char* key, const T& list) {
  w.key(constant_key{key}).begin_array();
  if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<std::uint64_t>>) {
    w.values(list);
  } else {
    for (const auto& v : list) w.value(v);
  }
  w.end_array();
}

template <class T>
void write_counts(json_writer& w, const char* key, const T& counts) {
  w.key(constant_key{key}).again_or(counts, [&] {
    w.begin_object();
    counts.visit([&w](const char* name, const auto& v) { w.member(constant_key{name}, v); });
    w.end_object();
  });
}

void write_states(json_writer& w, const warp_state_counts& states) {
  w.key("warp_states").again_or(states, [&] {
    w.begin_object();
    for (std::size_t s = 0; s < states.states.size(); ++s) {
      const auto state = static_cast<warp_stall>(s);
      if (const std::uint64_t n = states.states[s]; n != 0 || !is_rare(state))
        w.member(constant_key{name_of(state)}, n);
    }
    w.end_object();
  });
}

void write_gpu(json_writer& w, const gpu_config& config) {
  w.key("gpu").begin_object();
  w.member("name", config.gpu.name).member("compute_capability", compute_capability_text(config));
  w.key("config").begin_object();
  write_parameters(w, config);
  w.end_object().end_object();
}

template <class E>
void write_joules(json_writer& w, const char* key, const joules_by<E>& joules) {
  w.key(constant_key{key}).begin_object().members(names_of(E()), joules.values).end_object();
}

unsigned first_sm(const energy_metrics& e) { return e.active_sms.empty() ? 0 : e.active_sms.front().sm; }

// Without what write_by_sm() writes, which comes behind it.
void write_energy(json_writer& w, const energy_metrics& e) {
  const energy_total& total = e;
  w.again_or(total, [&] {
    static constexpr std::array<const char*, 7> names = {
        "total_joules", "mean_watts", "static_joules", "static_share", "energy_delay_product", "seconds", "volts"};
    w.members(names, {e.total_joules, e.mean_watts(), e.static_joules, e.static_share(), e.energy_delay_product(),
                      e.seconds, e.volts});
    if (e.capped()) w.member("mean_clock_mhz", e.mean_clock_mhz).member("throttled_cycles", e.throttled_cycles);
    write_joules(w, "by_unit", e.by_unit);
    write_joules(w, "by_class", e.by_class);
    w.member("idle_sm_joules", e.idle_sm_joules);
  });
  w.member("first_sm", first_sm(e));
}

// From the first SM that worked to the last: a small launch is in few of many.
void write_by_sm(json_writer& w, const energy_metrics& e) {
  w.key("by_sm").begin_array();
  unsigned next = first_sm(e);
  for (const sm_joules& s : e.active_sms) {
    w.values(e.idle_sm_joules, s.sm - next).value(s.total);
    next = s.sm + 1;
  }
  w.end_array();
}

/// The energy of an SM or of a line, by number.
struct part_joules {
  std::uint64_t number;
  double joules;
};

// Lines in the order of the kernel's `lines`. `parts`: room for what the text of the SMs and the lines is made of.
void write_kernel_energy(json_writer& w, const kernel_metrics& k, std::vector<part_joules>& parts) {
  w.key("energy").begin_object();
  write_energy(w, k.energy);
  parts.resize(2 + k.energy.active_sms.size() + k.lines.size());
  part_joules* part = parts.data();
  *part++ = {k.energy.active_sms.size(), k.energy.idle_sm_joules};
  for (const sm_joules& s : k.energy.active_sms) *part++ = {s.sm - first_sm(k.energy), s.total};
  *part++ = {0, k.energy.after_end_joules};
  for (const line_metrics& l : k.lines) *part++ = {l.line, l.joules};
  w.again_or(parts, [&] {
    write_by_sm(w, k.energy);
    w.member("after_end_joules", k.energy.after_end_joules).key("by_line").begin_object();
    for (const line_metrics& l : k.lines) w.member(l.line, l.joules);
    w.end_object();
  });
  if (!k.joules_over_time.empty()) {
    w.member("first_interval", k.first_interval);
    write_list(w, "joules_over_time", k.joules_over_time);
  }
  w.end_object();
}

void write_line_memory(json_writer& w, const line_metrics& l) {
  w.key("memory").begin_object().member("accesses", l.accesses).again_or(l.memory, [&] {
    l.memory.visit([&w](const char* name, std::uint64_t n) {
      if (n != 0 || std::string_view(name).rfind("atomic_", 0) != 0) w.member(constant_key{name}, n);
    });
  });
  w.end_object();
}

void write_lines(json_writer& w, const kernel_metrics& k) {
  w.key("lines").begin_array();
  for (const line_metrics& l : k.lines) {
    w.begin_object().member("line", l.line);
    if (!l.text.empty()) w.member("text", l.text);
    if (!l.source.empty()) w.member("source", l.source);
    if (!l.source_text.empty()) w.member("source_text", l.source_text);
    if (!l.function.empty()) w.member("function", l.function);
    if (!l.called_at.empty()) {
      write_list(w, "called_at", l.called_at);
      write_list(w, "callers", l.callers);
    }
    w.member("executed", l.executed).member("thread_executed", l.thread_executed);
    write_counts(w, "warp_cycles", l.warp_cycles);
    write_states(w, l.warp_states);
    if (l.accesses != 0) write_line_memory(w, l);
    w.end_object();
  }
  w.end_array();
}

void write_kernel(json_writer& w, const kernel_metrics& k, std::vector<part_joules>& parts) {
  w.begin_object();
  w.member("name", k.name).member("launch", k.launch).member("stream", k.stream);
  if (!k.client_name.empty()) w.member("client", k.client_name).member("client_sms", k.client_sms);
  write_list(w, "grid", k.grid);
  write_list(w, "block", k.block);
  if (k.programmatic) w.member("programmatic", true).member("early_cycles", k.early_cycles);
  if (k.cluster[0] != 0) {
    write_list(w, "cluster", k.cluster);
    w.member("max_active_clusters", k.max_active_clusters);
  }
  w.member("registers_per_thread", k.registers_per_thread).member("shared_bytes_per_block", k.shared_bytes_per_block);
  w.member("blocks", k.blocks).member("warps", k.warps);
  w.member("start_cycle", k.start_cycle).member("end_cycle", k.end_cycle).member("cycles", k.cycles);
  if (!k.failed.empty()) w.member("failed", k.failed);
  if (k.sampled.known) write_sampled(w, k);
  w.member("theoretical_occupancy", k.theoretical_occupancy).member("blocks_per_sm", k.blocks_per_sm);
  write_list(w, "occupancy_limiters", k.occupancy_limiters);
  w.member("waves", k.waves).member("launch_cycles", k.launch_cycles);
  write_counts(w, "lost_occupancy", k.lost);
  w.key("occupancy_over_time").begin_object();
  w.member("from_cycle", k.over_time.from_cycle).member("step_cycles", k.over_time.step_cycles);
  write_list(w, "achieved_occupancy", k.over_time.achieved_occupancy);
  write_list(w, "active_sms", k.over_time.active_sms);
  w.end_object();
  write_counts(w, "metrics", k.metrics);
  write_counts(w, "warp_cycles", k.warp_cycles);
  write_states(w, k.warp_states);
  write_counts(w, "instructions", k.instructions);
  w.key("memory").begin_object();
  k.memory.visit([&w](const char* level, const auto& counts) { write_counts(w, level, counts); });
  if (!k.memory.bulk.none()) write_counts(w, "bulk", k.memory.bulk);
  if (!k.memory.cluster.none()) write_counts(w, "cluster", k.memory.cluster);
  w.end_object();
  write_extremes(w, k);
  if (k.energy.known) write_kernel_energy(w, k, parts);
  w.member("file", k.file);
  write_lines(w, k);
  write_code(w, k);
  w.end_object();
}

// Whose lines and code are not in memory yet.
void write_with_details(json_writer& w, const kernel_metrics& k, kernel_details& details,
                        std::vector<part_joules>& parts) {
  kernel_metrics whole = k;
  details.fill(whole);
  write_kernel(w, whole, parts);
}

void write_switch(json_writer& w, const context_switch_metrics& c) {
  w.begin_object();
  w.member("sm", c.sm).member("kernel", c.kernel).member("mode", c.mode);
  w.member("request_cycle", c.request_cycle).member("quiesced_cycle", c.quiesced_cycle);
  w.member("saved_cycle", c.saved_cycle).member("restore_cycle", c.restore_cycle);
  w.member("resumed_cycle", c.resumed_cycle);
  w.member("bytes_saved", c.bytes_saved).member("bytes_restored", c.bytes_restored);
  write_list(w, "blocks", c.blocks);
  write_list(w, "block_modes", c.block_modes);
  write_list(w, "warp_ids", c.warp_ids);
  w.member("restored_sm", c.restored_sm);
  write_list(w, "restored_warp_ids", c.restored_warp_ids);
  if (c.energy.known) {
    w.key("energy").begin_object();
    w.member("total_joules", c.energy.total_joules()).member("transfer_joules", c.energy.transfer_joules);
    w.member("repeated_joules", c.energy.repeated_joules).member("static_joules", c.energy.static_joules);
    w.end_object();
  }
  w.end_object();
}

void write_sm(json_writer& w, const sm_metrics& s) {
  w.begin_object();
  w.member("sm", s.sm).member("active_cycles", s.active_cycles).member("active_warps", s.active_warps);
  w.member("inst_executed", s.inst_executed).member("inst_issued", s.inst_issued);
  w.member("achieved_occupancy", s.achieved_occupancy).member("ipc", s.ipc);
  w.member("blocks", s.blocks).member("warps", s.warps);
  w.key("sub_partitions").begin_array();
  for (const sub_partition_metrics& p : s.sub_partitions) {
    w.begin_object();
    write_counts(w, "warp_cycles", p.warp_cycles);
    write_states(w, p.warp_states);
    w.end_object();
  }
  w.end_array();
  if (!s.warp_slots.empty()) {
    w.key("warp_slots").begin_array();
    for (const warp_slot_metrics& p : s.warp_slots) {
      w.begin_object().member("warp_id", p.warp_id);
      write_counts(w, "warp_cycles", p.warp_cycles);
      write_states(w, p.warp_states);
      w.end_object();
    }
    w.end_array();
  }
  w.member("occupancy_step_cycles", s.occupancy_step_cycles);
  write_list(w, "occupancy_over_time", s.occupancy_over_time);
  if (!s.inst_executed_over_time.empty()) write_list(w, "inst_executed_over_time", s.inst_executed_over_time);
  w.end_object();
}

// Columns: one list per state.
void write_intervals(json_writer& w, const interval_series& s) {
  w.key("intervals").begin_object();
  write_list(w, "end_cycles", s.end_cycles);
  write_list(w, "inst_executed", s.inst_executed);
  write_list(w, "dram_read_bytes", s.dram_read_bytes);
  write_list(w, "dram_write_bytes", s.dram_write_bytes);
  w.key("warp_states").begin_object();
  std::vector<std::uint64_t> column(s.warp_states.size());
  for (std::size_t n = 0; n < warp_state_counts().states.size(); ++n) {
    const auto state = static_cast<warp_stall>(n);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = s.warp_states[i].states[n];
    if (!is_rare(state) || std::any_of(column.begin(), column.end(), [](std::uint64_t c) { return c != 0; }))
      write_list(w, name_of(state), column);
  }
  w.end_object().end_object();
}

// Of the whole run. Powers over time are whole milliwatts, in the intervals of "intervals".
// Mean power of the parts, over the run.
void write_watts(json_writer& w, const energy_metrics& e) {
  const auto watts = [&e](double joules) { return e.seconds > 0 ? joules / e.seconds : 0; };
  const auto write_parts = [&](const char* name, const auto& joules) {
    w.key(std::string_view(name)).begin_object();
    joules.visit([&](const char* part, double j) { w.member(constant_key{part}, watts(j)); });
    w.end_object();
  };
  write_parts("watts_by_unit", e.by_unit);
  write_parts("watts_by_class", e.by_class);
  w.key("watts_by_sm").begin_array();
  for (const sm_joules& s : e.active_sms) w.value(watts(s.total));
  w.end_array();
}

void write_run_energy(json_writer& w, const run_metrics& m) {
  w.key("energy").begin_object();
  write_energy(w, m.energy);
  write_by_sm(w, m.energy);
  write_watts(w, m.energy);
  if (!m.power.joules.empty()) {
    std::vector<std::uint64_t> milliwatts;
    const auto write_watts = [&](const std::vector<double>& watts) {
      milliwatts.resize(watts.size());
      for (std::size_t n = 0; n < watts.size(); ++n)
        milliwatts[n] = n > 0 && watts[n] == watts[n - 1] ? milliwatts[n - 1]
                                                          : static_cast<std::uint64_t>(std::llround(watts[n] * 1000));
      w.begin_array().values(milliwatts).end_array();
    };
    write_list(w, "joules_over_time", m.power.joules);
    w.key("milliwatts_over_time");
    write_watts(m.power.watts);
    if (!m.power.clock_mhz.empty()) write_list(w, "clock_mhz_over_time", m.power.clock_mhz);
    w.key("sm_milliwatts_over_time").begin_array();
    for (const std::vector<double>& sm : m.power.sm_watts) write_watts(sm);
    w.end_array();
  }
  w.end_object();
}

// Room for all kernels if they are as long as the first, so that the text is seldom copied as it grows. Pages that are
// not written cost nothing.
void reserve_for_kernels(json_writer& w, std::size_t kernels) {
  constexpr std::size_t rest = std::size_t{1} << 21, most = std::size_t{1} << 30;
  w.reserve(std::min(rest + kernels * w.size(), most));
}

}  // namespace

namespace {

using text_sink = std::function<void(std::string_view)>;

// `to`: null, or where the text goes whenever there is much of it.
void write_kernels(json_writer& w, const run_metrics& m, const text_sink* to) {
  constexpr std::size_t much = std::size_t{1} << 20;
  std::vector<part_joules> parts;
  w.key("kernels").begin_array();
  for (const auto& k : m.kernels) {
    if (m.details != nullptr) write_with_details(w, k, *m.details, parts);
    else write_kernel(w, k, parts);
    if (to != nullptr && w.size() > much) w.drain(*to);
    if (to == nullptr && &k == &m.kernels.front()) reserve_for_kernels(w, m.kernels.size());
  }
  w.end_array();
}

std::string rest_of_json(const run_metrics& m, const text_sink* to) {
  json_writer w;
  w.begin_object();
  w.member("schema", "heddle.metrics/1");
  if (!m.stopped.empty()) w.member("stopped", m.stopped).member("stopped_cycle", m.cut_cycle);
  if (m.snapshot) w.member("snapshot_cycle", m.cut_cycle);
  write_gpu(w, m.config);
  w.member("cycles", m.cycles);
  if (const sampled_metrics s = sampled_of(m); s.known) {
    w.key("sampled").begin_object();
    w.member("cycles", static_cast<std::uint64_t>(std::llround(s.cycles))).member("error", s.error);
    w.member("confidence", s.confidence).end_object();
  }
  write_kernels(w, m, to);
  w.key("context_switches").begin_array();
  for (const auto& c : m.context_switches) write_switch(w, c);
  w.end_array();
  w.key("preempt_requests").begin_object();
  w.member("asked", m.preempt_requests.asked).member("found_no_blocks", m.preempt_requests.found_no_blocks);
  if (m.preempt_requests.after_the_end != 0) w.member("after_the_end", m.preempt_requests.after_the_end);
  w.end_object();
  if (!m.clients.empty()) write_clients(w, m.clients);
  w.key("sms").begin_array();
  for (const auto& s : m.sms) write_sm(w, s);
  w.end_array();
  if (!m.intervals.end_cycles.empty()) write_intervals(w, m.intervals);
  if (m.energy.known) write_run_energy(w, m);
  write_sources(w, m.details != nullptr ? m.details->sources() : m.sources);
  w.key("host").begin_object();
  w.member("wall_seconds", m.host.wall_seconds).member("cpu_seconds", m.host.cpu_seconds);
  w.member("peak_rss_bytes", m.host.peak_rss_bytes);
  w.member("warp_instructions_per_second", m.host.warp_instructions_per_second);
  w.member("cycles_per_second", m.host.cycles_per_second);
  if (!m.host.view.empty()) w.member("view", m.host.view);
  w.end_object().end_object();
  return w.text();
}

}  // namespace

std::string to_json(const run_metrics& m) { return rest_of_json(m, nullptr); }

void write_json(const run_metrics& m, const std::function<void(std::string_view)>& to) { to(rest_of_json(m, &to)); }

}  // namespace heddle
