// SPDX-License-Identifier: MIT
// The commands of the host's command descriptors: modules, textures, launches, preemption.
#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/trace_recording.h"
#include "heddle/gpu/host/host_interface.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/sub_partition/dependence/decode.h"

namespace heddle {

namespace {
constexpr std::uint64_t constant_bank_bytes = 65536;
// Limits of sizes in descriptors: larger values are errors and must not exhaust the host's memory.
constexpr std::uint64_t most_text = std::uint64_t{1} << 28;
constexpr std::uint64_t most_name = std::uint64_t{1} << 16;
// Local memory of recorded launches lies above all addresses that programs use.
constexpr std::uint64_t recorded_local_base = std::uint64_t{1} << 47;
constexpr std::uint64_t recorded_local_bytes = std::uint64_t{1} << 40;  // per stream
}  // namespace

std::vector<std::uint8_t> host_interface::fetch(std::uint64_t address, std::uint64_t bytes, std::uint64_t most,
                                                const char* what) {
  if (bytes > most)
    throw input_error("a command descriptor names " + std::to_string(bytes) + " bytes of " + what +
                      ", expected at most " + std::to_string(most));
  std::vector<std::uint8_t> data(bytes);
  if (bytes != 0 && memory_access(tlm::TLM_READ_COMMAND, address, data.data(), static_cast<unsigned>(bytes)) != bytes)
    throw input_error("device memory at " + std::to_string(address) + " cannot be read for a command");
  return data;
}

template <class T>
T host_interface::fetch_descriptor(std::uint64_t address) {
  T d;
  const auto bytes = fetch(address, sizeof d, sizeof d, "descriptor");
  std::memcpy(&d, bytes.data(), sizeof d);
  return d;
}

void host_interface::execute(std::uint64_t descriptor) {
  const auto kind = fetch_descriptor<std::uint32_t>(descriptor);
  if (kind == static_cast<std::uint32_t>(host_command::load_module))
    result_ = load_module(fetch_descriptor<load_module_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch))
    result_ = launch(fetch_descriptor<launch_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::execute))
    result_ = execute_functionally(fetch_descriptor<launch_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::preempt))
    preempt(fetch_descriptor<preempt_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch_recording))
    result_ = launch_recording(fetch_descriptor<launch_recording_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::create_texture))
    result_ = create_texture(fetch_descriptor<create_texture_descriptor>(descriptor));
  else throw input_error("unknown command " + std::to_string(kind) + " in a command descriptor");
}

std::uint64_t host_interface::load_module(const load_module_descriptor& d) {
  const auto text = fetch(d.text_address, d.text_bytes, most_text, "PTX");
  const auto name = fetch(d.name_address, d.name_bytes, most_name, "file name");
  loaded l;
  l.module = ptx::place(parsed_.parse(std::string(text.begin(), text.end()), std::string(name.begin(), name.end())),
                        d.globals_address, d.constants_address);
  l.constants_address = d.constants_address;
  modules_.push_back(std::move(l));
  return modules_.size() - 1;
}

// Running launches keep the table that they started with. A handle is an index into the table, counted from 1.
std::uint64_t host_interface::create_texture(const create_texture_descriptor& d) {
  simt::texture_descriptor t;
  t.address = d.address;
  t.width = d.width;
  t.height = d.height;
  t.depth = d.depth;
  t.type = static_cast<simt::texel_type>(d.type);
  t.channels = d.channels;
  t.linear = d.linear != 0;
  t.normalized = d.normalized != 0;
  t.pitch_bytes = d.pitch_bytes;
  for (unsigned k = 0; k < 3; ++k) t.mode[k] = static_cast<simt::texture_address>(d.mode[k]);
  simt::check_texture(t);
  auto table = textures_ ? std::make_shared<simt::texture_table>(*textures_) : std::make_shared<simt::texture_table>();
  table->push_back(t);
  textures_ = std::move(table);
  return textures_->size();
}

std::shared_ptr<const decoded_program> host_interface::program(std::uint32_t module, const std::string& kernel,
                                                               std::uint32_t max_registers) {
  if (module >= modules_.size()) throw input_error("no module " + std::to_string(module) + " is loaded");
  auto& known = modules_[module].programs[{kernel, max_registers}];
  if (!known) known = place_code(ptx::lower(modules_[module].module, kernel, config_, max_registers));
  return known;
}

// Kernels are placed one after another in code memory, each on its own line.
std::shared_ptr<const decoded_program> host_interface::place_code(std::shared_ptr<const isa::program> program) {
  const std::uint64_t bytes = program->code.size() * config_.instruction_cache.instruction_bytes;
  auto decoded = decode(std::move(program), config_, next_code_address_);
  next_code_address_ += (bytes / 4096 + 2) * 4096;
  return decoded;
}

std::uint64_t host_interface::launch(const launch_descriptor& d) {
  auto l = prepare(d);
  const std::uint64_t local = std::uint64_t{(l->program->local_bytes + 3) / 4 * 4} * isa::warp_size *
                              config_.sm.max_warps * config_.gpu.sm_count;
  if (d.local_bytes < local)
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.local_bytes) +
                      " bytes of local memory, expected " + std::to_string(local));
  return submit(std::move(l));
}

// No launch may be in flight: the caches' contents and the pages held here are not coherent.
std::uint64_t host_interface::execute_functionally(const launch_descriptor& d) {
  if (config_.memory.model == choice::memory_model::external)
    throw input_error("a launch cannot be executed functionally in memory outside the GPU (memory.model = external)");
  if (busy()) throw input_error("a launch cannot be executed functionally while others are pending or running");
  if (faulted() || failing_) throw input_error("a launch cannot be executed: the simulated program has failed");
  auto l = prepare(d);
  l->launch_id = launches_;
  const functional_executor::outcome o = functional_executor_.execute(*l, clock_.cycle());
  if (o.how == functional_executor::ending::stopped)
    throw input_error("kernel '" + l->program->kernel + "' was given up: it was to be stopped");
  if (o.how == functional_executor::ending::failed) {
    program_fault_with(o.text, o.details);
    if (fault_.empty()) {  // memory no longer changes
      details_due_.cancel();
      tell_fault();
    }
  }
  return o.warp_instructions;
}

std::shared_ptr<resident_launch> host_interface::prepare(const launch_descriptor& d) {
  const auto name = fetch(d.kernel_address, d.kernel_bytes, most_name, "kernel name");
  auto l = std::make_shared<resident_launch>();
  l->decoded = program(d.module, std::string(name.begin(), name.end()), d.max_registers);
  l->program = l->decoded->program;
  l->grid = {d.grid[0], d.grid[1], d.grid[2]};
  l->block = {d.block[0], d.block[1], d.block[2]};
  l->stream = d.stream;
  l->priority = d.priority;
  l->carveout_percent = d.carveout_percent;
  l->dynamic_shared_bytes = d.dynamic_shared_bytes;
  l->shared_bytes = l->program->shared_bytes + d.dynamic_shared_bytes;
  l->local_base = d.local_address;
  check_launch(config_, *l->program, d.grid, d.block, d.dynamic_shared_bytes, d.carveout_percent);
  if (d.parameter_bytes != l->program->parameter_bytes)
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.parameter_bytes) +
                      " bytes of parameters, expected " + std::to_string(l->program->parameter_bytes));
  auto& bank = l->banks[0];
  bank.assign(isa::bank0::parameters + d.parameter_bytes, 0);
  const auto put32 = [&](std::uint32_t at, std::uint32_t v) { std::memcpy(&bank[at], &v, sizeof v); };
  const auto put64 = [&](std::uint32_t at, std::uint64_t v) { std::memcpy(&bank[at], &v, sizeof v); };
  for (unsigned i = 0; i < 3; ++i) {
    put32(isa::bank0::ntid + 4 * i, d.block[i]);
    put32(isa::bank0::nctaid + 4 * i, d.grid[i]);
  }
  put64(isa::bank0::shared_window, isa::shared_window_base);
  put64(isa::bank0::local_window, isa::local_window_base);
  put32(isa::bank0::dynamic_shared, d.dynamic_shared_bytes);
  if (grid_workspace_ != 0)
    put64(isa::bank0::grid_workspace, grid_workspace_ + launches_ % workspace_slots * workspace_bytes);
  const auto parameters = fetch(d.parameter_address, d.parameter_bytes, d.parameter_bytes, "parameters");
  std::copy(parameters.begin(), parameters.end(), bank.begin() + isa::bank0::parameters);
  l->banks[2] = l->program->bank2;
  l->textures = textures_;
  const auto& constants = modules_[d.module].module.constant_image;
  invariant(constants.size() <= constant_bank_bytes, "a module has more constant memory than a bank holds");
  l->banks[3] = fetch(modules_[d.module].constants_address, constants.size(), constant_bank_bytes, "constants");
  l->sm_count = config_.gpu.sm_count;
  l->warps_per_sm = config_.sm.max_warps;
  return l;
}

std::uint64_t host_interface::launch_recording(const launch_recording_descriptor& d) {
  if (!recorded_) throw input_error("a launch of a recording came without the recording");
  const sass_trace::kernel_header& h = recorded_->header;
  auto l = std::make_shared<resident_launch>();
  l->program = recorded_->program;
  check_launch(config_, *l->program, h.grid, h.block, 0, d.carveout_percent);
  auto& decoded = recorded_programs_[l->program.get()];
  if (!decoded) decoded = place_code(l->program);
  l->decoded = decoded;
  l->grid = {h.grid[0], h.grid[1], h.grid[2]};
  l->block = {h.block[0], h.block[1], h.block[2]};
  l->stream = d.stream;
  l->priority = d.priority;
  l->carveout_percent = d.carveout_percent;
  l->shared_bytes = l->program->shared_bytes;
  l->local_base = recorded_local_base + d.stream % 64 * recorded_local_bytes;
  l->recorded_blocks = sass_trace::trace_recording(recorded_).blocks();
  blocks_.add(launches_, recorded_);
  return submit(std::move(l));
}

std::uint64_t host_interface::submit(std::shared_ptr<resident_launch> l) {
  l->sm_count = config_.gpu.sm_count;
  l->warps_per_sm = config_.sm.max_warps;
  if (flushing_) throw input_error("a launch cannot begin while caches are being flushed");
  functional_memory_.close();
  if (supervisor_ != nullptr) supervisor_->launch_accepted();
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
  const auto bytes = fetch(d.sms_address, d.sm_count * 4, d.sm_count * 4, "SM numbers");
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

// Launches of one program with different parameters share the analysis of its code.
std::string host_interface::why_not_flush(const resident_launch& launch) {
  if (launch.recorded()) return "a recording does not say what its stores change";
  const isa::program& p = *launch.program;
  const auto known = footprints_.find(&p);
  const global_footprint& f =
      known != footprints_.end() ? known->second : footprints_.emplace(&p, footprint_of(p)).first->second;
  const auto& bank = launch.banks[0];
  const std::vector<std::uint8_t> parameters(bank.begin() + isa::bank0::parameters, bank.end());
  return why_not_idempotent(f, parameters, ranges_, launch.textures.get());
}

bool host_interface::idempotent(const resident_launch& launch) { return why_not_flush(launch).empty(); }

}  // namespace heddle
