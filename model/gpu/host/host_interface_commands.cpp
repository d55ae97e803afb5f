// SPDX-License-Identifier: MIT
// The commands of the host's command descriptors: modules, textures, launches, preemption.
#include <algorithm>
#include <cstring>
#include <optional>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/gpu/cwd/block_sampler.h"
#include "heddle/gpu/host/host_interface.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/sanitize/sanitizer.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {
// Limits of sizes in descriptors: larger values are errors and must not exhaust the host's memory.
constexpr std::uint64_t most_text = std::uint64_t{1} << 28;

bool calls_malloc(const isa::instruction& i) {
  return i.op == isa::opcode::syscall && static_cast<isa::system_function>(i.sub) == isa::system_function::malloc;
}
}  // namespace

void host_interface::refuse_during_reset() const {
  if (in_reset()) throw input_error("the GPU is being reset: expected no command until the status bit resetting is 0");
}

// From here on nothing that the units still do is reported.
void host_interface::begin_reset() {
  resetting_ = true;
  details_due_.cancel();
}

void host_interface::end_reset() {
  blocks_.clear();
  launch_builder_.clear();
  modules_.clear();
  footprints_.clear();
  memory_.unmap_all();
  services_.clear();
  recorded_.reset();
  printed_.clear();
  message_.clear();
  fault_.clear();
  failure_.clear();
  details_ = fault_details();
  failing_ = flushing_ = false;
  completion_queue_.clear();
  completed_ = launches_;
  early_register_ = no_register;
  result_ = error_ = map_base_ = map_bytes_ = 0;
  ++resets_;
  interrupt_pending_ = 0;
  interrupt_enable_ = host_interrupt::reset;
  context_area_ = std::uint64_t{config_.context.area_mib} << 20;
  if (supervisor_ != nullptr) supervisor_->context_area_set(context_area_);
  resetting_ = false;
  raise(0);  // the line falls, so that this cause is an edge of its own
  raise(host_interrupt::reset);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::move_context_area(std::uint64_t address) {
  refuse_during_reset();
  if (busy()) throw input_error("the context area cannot move while launches are pending or running");
  if (address % heddle::line_bytes != 0 || address < isa::heap_base)
    throw input_error("the context area cannot begin at " + std::to_string(address) +
                      ": expected a multiple of 128, and device memory (0x10000000 or above)");
  context_area_ = address;
  if (supervisor_ != nullptr) supervisor_->context_area_set(address);
}

void host_interface::execute(std::uint64_t descriptor) {
  refuse_during_reset();
  const auto kind = memory_.descriptor<std::uint32_t>(descriptor);
  if (kind == static_cast<std::uint32_t>(host_command::load_module))
    result_ = load_module(memory_.descriptor<load_module_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch))
    result_ = launch(memory_.descriptor<launch_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::execute))
    result_ = execute_functionally(memory_.descriptor<launch_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::preempt))
    preempt(memory_.descriptor<preempt_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch_recording))
    result_ = launch_recording(memory_.descriptor<launch_recording_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::create_texture))
    result_ = launch_builder_.create_texture(memory_.descriptor<create_texture_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::terminate))
    terminate(memory_.descriptor<terminate_descriptor>(descriptor));
  else throw input_error("unknown command " + std::to_string(kind) + " in a command descriptor");
}

std::uint64_t host_interface::load_module(const load_module_descriptor& d) {
  const auto text = memory_.fetch(d.text_address, d.text_bytes, most_text, "PTX");
  const auto name = memory_.fetch(d.name_address, d.name_bytes, host_memory::most_name, "file name");
  const unsigned partition = client_register(launch_builder_.client()).partition;
  return modules_.add(std::string(text.begin(), text.end()), std::string(name.begin(), name.end()), d.globals_address,
                      d.constants_address, partition);
}

std::uint64_t host_interface::launch(const launch_descriptor& d) {
  auto l = launch_builder_.prepared(d, launches_);
  const std::uint64_t local = std::uint64_t{(l->program->local_bytes + 3) / 4 * 4} * isa::warp_size *
                              config_.sm.max_warps * config_.gpu.sm_count;
  if (d.local_bytes < local)
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.local_bytes) +
                      " bytes of local memory, expected " + std::to_string(local));
  if (sanitizer_ != nullptr) {
    // Blocks of malloc lie elsewhere where a launch is checked, which an early launch would not know.
    bool& allocates = allocates_[l->stream_key()];
    l->programmatic = l->programmatic && !allocates;
    allocates = std::any_of(l->program->code.begin(), l->program->code.end(), calls_malloc);
  }
  return submit(std::move(l));
}

// No launch may be in flight: the caches' contents and the pages held here are not coherent.
std::uint64_t host_interface::execute_functionally(const launch_descriptor& d) {
  if (config_.memory.model == choice::memory_model::external)
    throw input_error("a launch cannot be executed functionally in memory outside the GPU (memory.model = external)");
  if (busy()) throw input_error("a launch cannot be executed functionally while others are pending or running");
  if (faulted() || failing_) throw input_error("a launch cannot be executed: the simulated program has failed");
  auto l = launch_builder_.prepared(d, launches_);
  l->launch_id = launches_;
  services_.executes(true);
  if (sanitizer_ != nullptr) sanitizer_->submitted(launches_);
  if (sanitizer_ != nullptr) sanitizer_->begin(memory_.ranges(), l->client);
  const functional_executor::outcome o = functional_executor_.execute(*l, clock_.cycle());
  if (sanitizer_ != nullptr && o.how == functional_executor::ending::failed) sanitizer_->failed(o.cause);
  if (sanitizer_ != nullptr) sanitizer_->end();
  services_.executes(false);
  if (o.how == functional_executor::ending::stopped)
    throw input_error("kernel '" + l->program->kernel + "' was given up: it was to be stopped");
  if (o.how == functional_executor::ending::failed) {
    program_fault_with(o.text, o.details);
    if (fault_.empty()) {  // memory no longer changes
      details_due_.cancel();
      report_fault();
    }
  }
  return o.warp_instructions;
}

// No block is in flight, and the stores of all are in memory. The next launch may begin at once.
std::optional<executed_blocks> host_interface::execute_left_out(const grid_record& grid) {
  l2_->begin_untimed(grid.dispatched, grid.sampler->wave());
  // Whether a warp finds its local memory in the L2 depends on which warps run beside it at the time.
  const bool has_local = grid.launch->program->local_bytes != 0;
  if (grid.launch->recorded()) {
    executed_blocks rest = blocks_.skip(grid, *l2_);
    if (const std::uint64_t missed = l2_->end_untimed(); !has_local) rest.missed_sectors = missed;
    return rest;
  }
  services_.executes(true);
  const functional_executor::outcome o =
      functional_executor_.execute(*grid.launch, clock_.cycle(), grid.dispatched / grid.launch->cluster_blocks(), l2_);
  memory_.functional().close();
  const std::uint64_t missed = l2_->end_untimed();
  services_.executes(false);
  if (o.how == functional_executor::ending::completed)
    return executed_blocks{o.warp_instructions, o.most_of_block, has_local ? std::nullopt : std::optional(missed)};
  if (o.how == functional_executor::ending::failed) program_fault_with(o.text, o.details);
  return std::nullopt;
}

const decoded_program& placed(host_interface& host, const std::shared_ptr<const isa::program>& recorded) {
  return *host.modules_.recorded(recorded);
}

std::uint64_t host_interface::launch_recording(const launch_recording_descriptor& d) {
  if (!recorded_) throw input_error("a launch of a recording came without the recording");
  auto l = launch_builder_.recorded(d, *recorded_);
  l->recorded_blocks = sass_trace::trace_recording(recorded_).blocks();
  blocks_.add(launches_, recorded_);
  return submit(std::move(l));
}

std::uint64_t host_interface::submit(std::shared_ptr<resident_launch> l) {
  if (flushing_) throw input_error("a launch cannot begin while caches are being flushed");
  if (faulted() || failing_)
    throw input_error(
        "a launch cannot begin: the simulated program has failed, and the GPU accepts none until a reset");
  memory_.functional().close();
  if (supervisor_ != nullptr) supervisor_->launch_accepted(*l);
  if (sanitizer_ != nullptr) sanitizer_->submitted(launches_);
  l->launch_id = launches_++;
  cwd_->submit(std::move(l));
  return launches_ - 1;
}

void host_interface::preempt(const preempt_descriptor& d) {
  if (d.mode > static_cast<std::uint32_t>(preemption_mode::automatic))
    throw input_error("unknown mode of preemption " + std::to_string(d.mode) + ", expected 0 to 3");
  preempt_request r;
  r.mode = static_cast<preemption_mode>(d.mode);
  r.resume_after = d.resume_after;
  if (d.sm_count > config_.gpu.sm_count)
    throw input_error("a preemption names " + std::to_string(d.sm_count) + " SMs of " +
                      std::to_string(config_.gpu.sm_count));
  const auto bytes = memory_.fetch(d.sms_address, d.sm_count * 4, d.sm_count * 4, "SM numbers");
  r.sms.resize(d.sm_count);
  if (d.sm_count != 0) std::memcpy(r.sms.data(), bytes.data(), bytes.size());
  for (unsigned i = 0; d.sm_count == 0 && i < config_.gpu.sm_count; ++i) r.sms.push_back(i);
  check_preemption(config_, r.sms, r.mode);
  if (r.mode == preemption_mode::flush)
    for (const grid_record& g : cwd_->grids()) {
      const std::string why = g.finished ? std::string() : why_not_flush(*g.launch);
      if (!why.empty()) throw input_error(flush_refusal(g.launch->program->kernel, why));
    }
  cwd_->preempt(r);
}

void host_interface::terminate(const terminate_descriptor& d) {
  if (d.launch >= launches_)
    throw input_error("launch " + std::to_string(d.launch) + " cannot be ended: " + std::to_string(launches_) +
                      " have begun");
  if (supervisor_ != nullptr) supervisor_->terminate(d.launch);
}

// Launches of one program with different parameters share the analysis of its code.
std::string host_interface::why_not_flush(const resident_launch& launch) {
  if (launch.recorded()) return "a recording does not say what its stores change";
  const isa::program& p = *launch.program;
  const auto known = footprints_.find(&p);
  const global_footprint& f =
      known != footprints_.end() ? known->second : footprints_.emplace(&p, footprint_of(p)).first->second;
  const auto& bank = launch.banks[0];
  const std::vector<std::uint8_t> parameters(bank.begin() + isa::bank0::parameters, bank.end());
  return why_not_idempotent(f, parameters, memory_.ranges(), launch.textures.get());
}

bool host_interface::idempotent(const resident_launch& launch) { return why_not_flush(launch).empty(); }

bool rests(const host_interface& host) {
  return !host.flushing_ && !host.resetting_ && !host.services_.executing() && !host.faulted() && !host.failing_;
}

void exchange(host_interface& host, state_image& image) {
  invariant(rests(host) || image.reading(), "a checkpoint while the host interface is busy");
  image.part(host.name());
  image.same(host.launches_, "launches");
  image(host.modules_, host.memory_, host.launch_builder_, host.services_, host.context_area_, host.printed_,
        host.completed_, host.completion_queue_, host.result_, host.error_, host.message_, host.interrupt_enable_,
        host.interrupt_pending_, host.map_base_, host.map_bytes_, host.resets_);
  if (!image.reading()) return;
  for (const grid_record& g : host.cwd_->grids())
    if (g.finished) host.blocks_.forget(g.launch->launch_id);
}

}  // namespace heddle
