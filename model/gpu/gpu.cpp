// SPDX-License-Identifier: MIT
#include "heddle/gpu/gpu.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/conservation.h"
#include "heddle/gpu/gpu_parts.h"
#include "heddle/sub_partition/account/ended_profile.h"
#include "heddle/tlm/kernel/has_process.h"

namespace heddle {

namespace {
const gpu_config& checked(const gpu_config& config) {
  check(config);
  return config;
}
}  // namespace

gpu::gpu(sc_core::sc_module_name name, const gpu_config& config) : gpu(name, config, gpu_blocks()) {}

gpu::gpu(sc_core::sc_module_name name, const gpu_config& config, const gpu_blocks& own)
    : sc_module(name),
      host_socket("host_socket"),
      memory_socket("memory_socket",
                    checked(config).memory.model == choice::memory_model::external ? slices_of(config) : 0),
      clk("clk"),
      irq("irq"),
      reset("reset"),
      parts_(std::make_unique<gpu_parts>(config, own)) {
  gpu_parts& p = *parts_;
  host_socket.bind(p.host);
  p.host.irq = &irq;
  p.host.connect(*p.cwd, p.sampled_l2);
  for (sm& s : p.sms) s.use(p.host.services());
  p.host.supervise(p);
  HEDDLE_HAS_PROCESS(gpu);
  SC_METHOD(halt_memory);
  sensitive << p.memory_halts;
  dont_initialize();
  SC_METHOD(end_listening);
  sensitive << p.silence_due;
  dont_initialize();
  if (p.shared) p.patience = sc_core::sc_time(config.gpu.watchdog_cycles / config.gpu.core_clock_mhz, sc_core::SC_US);
  for (auto& s : p.slices) s.observe_lost_writes(p);
  for (clock_domain* clock : {&p.core, &p.l2_clock, &p.dram_clock}) clock->observe_quiet(&p);
  build_memory(own);
  if (config.gpu.watchdog_cycles != 0 && !p.shared && !own.l2_slice)
    p.watch = std::make_unique<progress_watch>(p.core, p.config, *p.cwd, p.sms, p.slices, p.host);
}

gpu::~gpu() = default;

void gpu::build_memory(const gpu_blocks& own) {
  gpu_parts& p = *parts_;
  const gpu_config& c = p.config;
  const unsigned n = slices_of(c);
  const bool outside = c.memory.model == choice::memory_model::external;
  const auto make_channel = [&](const char*, std::size_t i) -> memory_model* {
    const auto index = static_cast<unsigned>(i);
    if (own.memory_channel)
      return own.memory_channel(numbered("memory_channel", i).c_str(), p.dram_clock, c, index).release();
    if (c.memory.model == choice::memory_model::dram) {
      auto* const channel = new dram_channel(numbered("dram_channel", i).c_str(), p.dram_clock, c, index);
      if (own.channel_scheduler) channel->use(own.channel_scheduler(c));
      if (own.channel_rows) channel->use(own.channel_rows(c));
      if (own.channel_refresh) channel->use(own.channel_refresh(c));
      return channel;
    }
    return new fixed_memory(numbered("fixed_memory", i).c_str(), p.core, c, index);
  };
  if (!outside) p.channels.init(c.memory.channels, make_channel);
  for (memory_model& m : p.channels) m.count_in(p.of_channels);
  const bool split = outside && (c.memory.max_transfer_bytes < c.l2.line_bytes || !c.memory.byte_enables);
  if (split)
    p.splitters.init(n, [&](const char* nm, std::size_t) {
      return new transfer_splitter(nm, c.memory.max_transfer_bytes, c.memory.byte_enables);
    });
  const bool translated = outside && !address_map(c).outside_is_same();
  if (translated) p.translators.init(n, [&](const char* nm, std::size_t) { return new address_translator(nm, c); });
  const unsigned arrows = c.gpu.sm_count + (2 + split + translated) * n;
  const bool delayed = c.tlm.random_delay_cycles != 0;
  if (c.tlm.check)
    p.monitors.init(arrows * (delayed ? 2 : 1), [](const char* nm, std::size_t) { return new protocol_monitor(nm); });
  if (delayed)
    p.delays.init(arrows, [&](const char* nm, std::size_t i) {
      return new random_delay(nm, p.core.time_of(c.tlm.random_delay_cycles),
                              (std::uint64_t{c.tlm.random_delay_seed} << 32) + i);
    });
  connect_memory();
  if (own.in_place != nullptr && !own.l2_slice) {
    for (auto& s : p.slices) static_cast<l2_slice&>(s).access_in_place(*own.in_place);
    p.host.memory().access_in_place(*own.in_place);
  }
  if (outside || own.l2_slice || own.memory_channel || c.l2.interleave_bytes > byte_store::page_bytes) return;
  for (unsigned m = 0; m < n; ++m)
    p.bulk.add(static_cast<const l2_slice&>(p.slices[m]), p.channels[m / c.l2.slices_per_channel].bytes_of_slice(m));
  p.host.memory().move_images_by(p.bulk);
}

void gpu::connect_memory() {
  gpu_parts& p = *parts_;
  const gpu_config& c = p.config;
  // With tlm.check there is a monitor in every connection of the memory path; with delays, one on each side of them.
  std::size_t next_monitor = 0;
  std::size_t next_delay = 0;
  const auto watch = [&](auto& initiator, auto& target) {
    if (!c.tlm.check) {
      initiator.bind(target);
      return;
    }
    protocol_monitor& m = p.monitors[next_monitor++];
    initiator.bind(m.target_socket);
    m.initiator_socket.bind(target);
  };
  const auto join = [&](auto& initiator, auto& target) {
    if (p.delays.size() == 0) {
      watch(initiator, target);
      return;
    }
    random_delay& d = p.delays[next_delay++];
    watch(initiator, d.target_socket);
    watch(d.initiator_socket, target);
  };
  for (unsigned i = 0; i < c.gpu.sm_count; ++i) {
    p.cwd->cta_socket[i].bind(p.sms[i].resource_manager.cta_socket);
    join(p.sms[i].l1.memory_socket, p.interconnect.sm_socket[i]);
    if (p.sm_network != nullptr) p.sms[i].cluster_port->network_socket.bind(p.sm_network->sm_socket[i]);
    p.interconnect.defer_requests(i, p.sms[i].clock.effects());
  }
  p.host.memory_socket.bind(p.interconnect.sm_socket[c.gpu.sm_count]);
  for (unsigned m = 0; m < p.slices.size(); ++m) {
    join(p.interconnect.slice_socket[m], p.slices[m].request_socket);
    if (p.channels.size() != 0) {
      join(p.slices[m].memory_socket, p.channels[m / c.l2.slices_per_channel].socket_of_slice(m));
      continue;
    }
    auto* last = &p.slices[m].memory_socket;
    if (p.splitters.size() != 0) {
      join(*last, p.splitters[m].target_socket);
      last = &p.splitters[m].initiator_socket;
    }
    if (p.translators.size() != 0) {
      join(*last, p.translators[m].target_socket);
      last = &p.translators[m].initiator_socket;
    }
    join(*last, memory_socket[m]);
  }
}

void gpu::end_of_elaboration() {
  if (reset.size() != 0) {
    HEDDLE_HAS_PROCESS(gpu);
    SC_METHOD(follow_reset);
    sensitive << reset->value_changed_event();
    parts_->reset_signal = reset[0];
  }
  if (clk.size() == 0) return;
  const auto* clock = dynamic_cast<const sc_core::sc_clock*>(clk.get_interface());
  parts_->core.follow(clk->posedge_event(), clock != nullptr ? clock->period() : sc_core::SC_ZERO_TIME);
}

void gpu::halt_memory() {
  parts_->l2_clock.halt();
  parts_->dram_clock.halt();
}

void gpu::end_listening() { parts_->end_listening(); }

void gpu::follow_reset() {
  parts_->reset_line = reset->read();
  try {
    if (parts_->reset_line) parts_->reset();
  } catch (const input_error& e) {
    SC_REPORT_ERROR("/heddle/gpu", e.what());
  }
}

std::string barrier_deadlock(const gpu& chip) { return chip.parts().barrier_deadlock(); }

ptx::parsed_modules& gpu::parsed_modules() { return parts_->host.parsed_modules(); }

void gpu::observe(functional_observer& observer) { parts_->host.functional().observe(&observer); }

void sample_blocks(gpu& chip, double error) { chip.parts().cwd->sample_blocks(error, chip.parts().sampled_l2); }

sampled_l2& untimed_l2(gpu& chip) { return chip.parts().sampled_l2; }

const decoded_program& placed(gpu& chip, const std::shared_ptr<const isa::program>& recorded) {
  return placed(chip.parts().host, recorded);
}

void make_part_objects(gpu& chip) {
  const auto make = [&all = chip.parts().part_objects](sc_core::sc_module& owner) {
    for (auto& object : part_objects(owner)) all.push_back(std::move(object));
  };
  for (sm& s : chip.parts().sms) {
    make(s);
    for (sub_partition& p : s.partitions) make(p);
  }
}

void gpu::sanitize(sanitizer& sanitizer) { parts_->host.sanitize(sanitizer); }

const gpu_config& gpu::config() const { return parts_->config; }
cycle_t gpu::cycle() const { return parts_->core.cycle(); }
bool gpu::faulted() const { return parts_->host.faulted(); }
const grid_distributor& gpu::cwd() const { return *parts_->cwd; }
const host_interface& gpu::host() const { return parts_->host; }
unsigned gpu::sm_count() const { return static_cast<unsigned>(parts_->sms.size()); }
const sm& gpu::sm_at(unsigned i) const { return parts_->sms[i]; }
sm& gpu::sm_at(unsigned i) { return parts_->sms[i]; }
unsigned gpu::slice_count() const { return static_cast<unsigned>(parts_->slices.size()); }
const l2_cache& gpu::slice_at(unsigned i) const { return parts_->slices[i]; }
unsigned gpu::channel_count() const { return static_cast<unsigned>(parts_->channels.size()); }
const memory_model& gpu::channel_at(unsigned i) const { return parts_->channels[i]; }
const interconnect& gpu::crossbar() const { return parts_->interconnect; }
clock_domain& gpu::core_clock() { return parts_->core; }
clock_domain& gpu::l2_clock() { return parts_->l2_clock; }
clock_domain& gpu::dram_clock() { return parts_->dram_clock; }

void gpu::simulate_ahead(cycle_t until, bool preemptions) {
  gpu_parts& p = *parts_;
  const bool direct =
      p.config.memory.model != choice::memory_model::external && !p.config.tlm.check && p.delays.size() == 0;
  // With a latency of one cycle, packets before a granted one can delay it by a cycle, so it cannot be announced.
  if (!direct || p.config.interconnect.latency_cycles < 2 || until == 0) return;
  unsigned slice_cycles = ~0u;
  for (const l2_cache& s : p.slices) slice_cycles = std::min(slice_cycles, s.least_response_cycles());
  p.interconnect.announce_responses(sm_count(), slice_cycles);
  p.responded.resize(sm_count());
  p.windows_until = p.windows_limit = until;
  p.windows_preemptible = preemptions;
  p.core.set_lookahead(&p);
}

void gpu::use_threads(unsigned threads) {
  parts_->core.use_threads(threads);
  parts_->host.functional().use_threads(threads);
}

bool simulates_ahead(const gpu& chip) { return chip.parts().windows_until != 0; }

// No SM's safe time lies beyond the cycle before the one in which a fault would be reported.
cycle_t gpu::bring_into_step(cycle_t at) {
  const cycle_t in_step = std::max(at, cycle() + fault_latency_cycles);
  parts_->windows_until = std::min(parts_->windows_until, in_step);
  return in_step;
}

void gpu::release_ahead() { parts_->windows_until = parts_->windows_limit; }

void gpu::host_acts_until(cycle_t cycle) {
  if (parts_->watch != nullptr) parts_->watch->host_acts_until(cycle);
}

bool gpu::idle() const { return parts_->cwd->idle() && parts_->units_idle(); }

void gpu::check_invariants() const {
  const gpu_parts& p = *parts_;
  p.cwd->check_invariants();
  for (const auto& s : p.sms) s.check_invariants();
  p.interconnect.check_invariants();
  if (p.sm_network != nullptr) p.sm_network->check_invariants();
  for (const auto& s : p.slices) s.check_invariants();
  for (const auto& c : p.channels) c.check_invariants();
  if (!idle()) return;
  std::uint64_t ended_passes = 0;
  for (const grid_record& g : p.cwd->grids())
    if (g.ended != nullptr) ended_passes += g.ended->shared_passes();
  check_conservation(p.sms, p.slices, p.channels, ended_passes);
}

void gpu::settle_accounts() {
  for (auto& s : parts_->sms) s.settle_accounts(cycle());
}

void gpu::trace(sc_core::sc_trace_file* file) const {
  for (const sc_core::sc_object* child : get_child_objects()) child->trace(file);
}

}  // namespace heddle
