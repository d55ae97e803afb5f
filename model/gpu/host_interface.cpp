// SPDX-License-Identifier: MIT
#include "gpu/host_interface.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include "config/error.h"
#include "gpu/launch_check.h"

namespace heddle {

namespace {
constexpr std::uint64_t register_space = host_register::print + host_register::print_size;
constexpr std::size_t much_text = std::size_t{1} << 20;   // as large as CUDA's buffer is by default
constexpr std::uint64_t identity_value = 0x0100'454c'4444'4548;   // "HEDDLE\0\1"
constexpr std::uint64_t constant_bank_bytes = 65536;
// What a descriptor may name: more is a mistake, and must not exhaust the host's memory.
constexpr std::uint64_t most_text = std::uint64_t{1} << 28;
constexpr std::uint64_t most_name = std::uint64_t{1} << 16;
// Local memory of recorded launches: above all addresses that a GPU's programs use.
constexpr std::uint64_t recorded_local_base = std::uint64_t{1} << 47;
constexpr std::uint64_t recorded_local_bytes = std::uint64_t{1} << 40;   // of a stream
}  // namespace

host_interface::host_interface(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config)
    : sc_module(name), memory_socket("memory_socket"), config_(config), clock_(clock) {
  memory_socket.bind(*this);
  SC_HAS_PROCESS(host_interface);
  SC_METHOD(drive_irq);
  sensitive << irq_changed_;
  dont_initialize();
}

tlm::tlm_sync_enum host_interface::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
  throw internal_error(std::string(name()) + ": the host's memory accesses are debug transports");
}

// Approximately-timed hosts get their answer at once.
tlm::tlm_sync_enum host_interface::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  b_transport(p, delay);
  return tlm::TLM_COMPLETED;
}

void host_interface::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
  const std::uint64_t address = p.get_address();
  p.set_dmi_allowed(false);
  if (p.get_data_ptr() == nullptr && p.get_data_length() != 0) {
    p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  if (p.get_byte_enable_ptr() != nullptr) {
    p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  if (p.get_streaming_width() < p.get_data_length()) {
    p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (p.is_write() && address < host_register::message) {
    const recorded_kernel* recorded = p.get_extension<recorded_kernel>();
    recorded_ = recorded != nullptr ? recorded->kernel : nullptr;
    p.set_response_status(store_register(address, p.get_data_ptr(), p.get_data_length()));
    return;
  }
  // Only a read that is no debug read takes a completion.
  if (p.is_read() && address == host_register::completion_pop && (p.get_data_length() == 8 || p.get_data_length() == 4)) {
    const std::uint64_t value = pop_completion();
    std::memcpy(p.get_data_ptr(), &value, p.get_data_length());
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  const unsigned done = p.get_command() == tlm::TLM_IGNORE_COMMAND ? p.get_data_length() : transport_dbg(p);
  p.set_response_status(done == p.get_data_length() ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned host_interface::transport_dbg(tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address();
  std::uint8_t* data = p.get_data_ptr();
  const unsigned bytes = p.get_data_length();
  if (data == nullptr) return 0;
  if (address >= isa::heap_base) return memory_access(p.get_command(), address, data, bytes);
  if (!p.is_read() || address >= register_space) return 0;
  if (address >= host_register::message) {
    const bool prints = address >= host_register::print;
    const std::string& text = prints ? printed_ : message_;
    const std::uint64_t at = address - (prints ? host_register::print : host_register::message);
    const std::uint64_t end = prints ? register_space : host_register::print;
    const unsigned n = static_cast<unsigned>(std::min<std::uint64_t>(bytes, end - address));
    for (unsigned i = 0; i < n; ++i) data[i] = at + i < text.size() ? static_cast<std::uint8_t>(text[at + i]) : 0;
    return n;
  }
  return load_register(address, data, bytes);
}

// A host of 32 bits writes the upper half first; the lower one carries out both.
tlm::tlm_response_status host_interface::store_register(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  if ((bytes != 8 && bytes != 4) || address % bytes != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  std::uint64_t value = 0;
  std::memcpy(&value, data, bytes);
  if (address % 8 != 0) {
    upper_half_ = value;
    upper_register_ = address - 4;
    return tlm::TLM_OK_RESPONSE;
  }
  if (bytes == 4 && upper_register_ == address) value |= upper_half_ << 32;
  upper_half_ = 0;
  return write_register(address, value) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

unsigned host_interface::load_register(std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  if ((bytes != 8 && bytes != 4) || address % bytes != 0) return 0;
  const std::uint64_t value = read_register(address / 8 * 8) >> (address % 8 * 8);
  std::memcpy(data, &value, bytes);
  return bytes;
}

std::uint64_t host_interface::pop_completion() {
  if (completion_queue_.empty()) return 0;
  const std::uint64_t value = std::uint64_t{completion_queue_.front()} + 1;
  completion_queue_.pop_front();
  return value;
}

std::uint64_t host_interface::read_register(std::uint64_t address) {
  using namespace host_register;
  switch (address) {
    case identity: return identity_value;
    case status: {
      std::uint64_t s = completed_ < launches_ ? host_status::busy : 0;
      if (faulted()) {
        message_ = fault_;
        return s | host_status::fault;
      }
      std::string why;
      if (s != 0 && stuck && stuck(why)) {
        message_ = why;
        s |= host_status::stuck;
      }
      return s;
    }
    case result: return result_;
    case error: return error_;
    case message_bytes: return message_.size();
    case completions: return completed_;
    case interrupt_enable: return interrupt_enable_;
    case interrupt_pending: return interrupt_pending_;
    case map_base: return map_base_;
    case map_bytes: return map_bytes_;
    case print_bytes: return printed_.size();
    case cycle: return clock_.cycle();
    default: return 0;
  }
}

bool host_interface::write_register(std::uint64_t address, std::uint64_t value) {
  using namespace host_register;
  switch (address) {
    case command: attempt([&] { execute(value); }); return true;
    case interrupt_enable:
      interrupt_enable_ = value;
      raise(0);
      return true;
    case interrupt_pending:
      interrupt_pending_ &= ~value;
      raise(0);
      return true;
    case host_register::heap_base: heap_base_ = value; return true;
    case heap_bytes: heap_.place(heap_base_, value); return true;
    case host_register::grid_workspace: grid_workspace_ = value; return true;
    case print_pop: printed_.erase(0, std::min<std::uint64_t>(value, printed_.size())); return true;
    case map_base: map_base_ = value; return true;
    case map_bytes: map_bytes_ = value; return true;
    case map_command:
      attempt([&] { change_map(value); });
      return true;
    default: return false;
  }
}

void host_interface::raise(std::uint64_t cause) {
  interrupt_pending_ |= cause;
  irq_changed_.notify(sc_core::SC_ZERO_TIME);
}

// The line is driven from one process, whoever caused the change: a plain sc_signal allows no second writer.
void host_interface::drive_irq() {
  if (irq != nullptr && irq->size() > 0) (*irq)->write((interrupt_pending_ & interrupt_enable_) != 0);
}

unsigned host_interface::memory_access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  tlm::tlm_generic_payload p;
  p.set_command(command);
  p.set_address(address);
  p.set_data_ptr(data);
  p.set_data_length(bytes);
  p.set_streaming_width(bytes);
  return memory_socket->transport_dbg(p);
}

std::vector<std::uint8_t> host_interface::fetch(std::uint64_t address, std::uint64_t bytes, std::uint64_t most, const char* what) {
  if (bytes > most)
    throw input_error("a command descriptor names " + std::to_string(bytes) + " bytes of " + what + ", expected at most " +
                      std::to_string(most));
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

// A command is carried out at once; a refused one leaves its reason in the message registers.
template <class Action>
void host_interface::attempt(Action&& action) {
  error_ = 0;
  message_.clear();
  try {
    action();
  } catch (const input_error& e) {
    error_ = 1;
    message_ = e.what();
  } catch (const std::bad_alloc&) {
    error_ = 1;
    message_ = "more memory is asked for than there is";
  } catch (const std::length_error&) {
    error_ = 1;
    message_ = "more memory is asked for than can be";
  }
}

void host_interface::execute(std::uint64_t descriptor) {
  const auto kind = fetch_descriptor<std::uint32_t>(descriptor);
  if (kind == static_cast<std::uint32_t>(host_command::load_module))
    result_ = load_module(fetch_descriptor<load_module_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch))
    result_ = launch(fetch_descriptor<launch_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::preempt))
    preempt(fetch_descriptor<preempt_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::launch_recording))
    result_ = launch_recording(fetch_descriptor<launch_recording_descriptor>(descriptor));
  else if (kind == static_cast<std::uint32_t>(host_command::create_texture))
    result_ = create_texture(fetch_descriptor<create_texture_descriptor>(descriptor));
  else
    throw input_error("unknown command " + std::to_string(kind) + " in a command descriptor");
}

void host_interface::change_map(std::uint64_t what) {
  const auto text = [](std::uint64_t v) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(v));
    return std::string(digits);
  };
  if (what == 1) {
    if (!ranges_.takes(map_base_, map_bytes_))
      throw input_error("cannot map " + text(map_bytes_) + " bytes at " + text(map_base_) +
                        ": expected a range that is not empty, does not wrap around and meets nothing that is mapped");
    ranges_.add(map_base_, map_bytes_);
  } else if (what == 2) {
    if (!ranges_.begins(map_base_)) throw input_error("cannot unmap " + text(map_base_) + ": no mapped range begins there");
    ranges_.remove(map_base_);
  } else {
    throw input_error("map command " + std::to_string(what) + ", expected 1 (map) or 2 (unmap)");
  }
}

std::uint64_t host_interface::load_module(const load_module_descriptor& d) {
  const auto text = fetch(d.text_address, d.text_bytes, most_text, "PTX");
  const auto name = fetch(d.name_address, d.name_bytes, most_name, "file name");
  loaded l;
  l.module = ptx::place(ptx::parse(std::string(text.begin(), text.end()), std::string(name.begin(), name.end())), d.globals_address,
                         d.constants_address);
  l.constants_address = d.constants_address;
  modules_.push_back(std::move(l));
  return modules_.size() - 1;
}

// Launches that run keep the table that they began with; a handle is a place in it, from 1 on.
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

// Kernels lie one after another in code memory, each on a line of its own.
std::shared_ptr<const decoded_program> host_interface::place_code(std::shared_ptr<const isa::program> program) {
  const std::uint64_t bytes = program->code.size() * config_.instruction_cache.instruction_bytes;
  auto decoded = decode(std::move(program), config_, next_code_address_);
  next_code_address_ += (bytes / 4096 + 2) * 4096;
  return decoded;
}

std::uint64_t host_interface::launch(const launch_descriptor& d) {
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
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.parameter_bytes) + " bytes of parameters, expected " +
                      std::to_string(l->program->parameter_bytes));
  const std::uint64_t local = std::uint64_t{(l->program->local_bytes + 3) / 4 * 4} * isa::warp_size * config_.sm.max_warps * config_.gpu.sm_count;
  if (d.local_bytes < local)
    throw input_error("kernel '" + l->program->kernel + "': " + std::to_string(d.local_bytes) + " bytes of local memory, expected " +
                      std::to_string(local));
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
  if (grid_workspace_ != 0) put64(isa::bank0::grid_workspace, grid_workspace_ + launches_ % workspace_slots * workspace_bytes);
  const auto parameters = fetch(d.parameter_address, d.parameter_bytes, d.parameter_bytes, "parameters");
  std::copy(parameters.begin(), parameters.end(), bank.begin() + isa::bank0::parameters);
  l->banks[2] = l->program->bank2;
  l->textures = textures_;
  const auto& constants = modules_[d.module].module.constant_image;
  invariant(constants.size() <= constant_bank_bytes, "a module has more constant memory than a bank holds");
  l->banks[3] = fetch(modules_[d.module].constants_address, constants.size(), constant_bank_bytes, "constants");
  return submit(std::move(l));
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
  l->recording = std::make_shared<sass_trace::trace_recording>(recorded_);
  return submit(std::move(l));
}

std::uint64_t host_interface::submit(std::shared_ptr<resident_launch> l) {
  l->sm_count = config_.gpu.sm_count;
  l->warps_per_sm = config_.sm.max_warps;
  if (before_launch) before_launch();
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
    throw input_error("a preemption names " + std::to_string(d.sm_count) + " SMs of " + std::to_string(config_.gpu.sm_count));
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

// Launches of one program, at addresses of their own, share what its code shows.
std::string host_interface::why_not_flush(const resident_launch& launch) {
  if (launch.recording) return "a recording does not say what its stores change";
  const isa::program& p = *launch.program;
  const auto known = footprints_.find(&p);
  const global_footprint& f = known != footprints_.end() ? known->second : footprints_.emplace(&p, footprint_of(p)).first->second;
  const auto& bank = launch.banks[0];
  const std::vector<std::uint8_t> parameters(bank.begin() + isa::bank0::parameters, bank.end());
  return why_not_idempotent(f, parameters, ranges_, launch.textures.get());
}

bool host_interface::idempotent(const resident_launch& launch) { return why_not_flush(launch).empty(); }

void host_interface::grid_finished(const grid_record& grid, cycle_t) {
  const std::uint32_t id = grid.launch->launch_id;
  auto tell = [this, id] {
    ++completed_;
    completion_queue_.push_back(id);
    raise(host_interrupt::completion);
    completion_event.notify(sc_core::SC_ZERO_TIME);
  };
  if (before_completion)
    before_completion(tell);
  else
    tell();
}

bool host_interface::inspect(std::uint64_t address, void* data, unsigned bytes) {
  ranges_.refresh(inspected_);
  if (!ranges_.find(address, bytes, inspected_)) return false;
  return memory_access(tlm::TLM_READ_COMMAND, address, static_cast<std::uint8_t*>(data), bytes) == bytes;
}

// The host takes the text when a grid has ended, as CUDA's does; before that only where much waits.
void host_interface::print(const std::string& text) {
  const bool little = printed_.size() < much_text;
  printed_ += text;
  if (little && printed_.size() >= much_text) raise(host_interrupt::print);
}

void host_interface::program_fault(const std::string& text) {
  if (faulted()) return;
  fault_ = text;
  if (on_fault) on_fault();
  raise(host_interrupt::fault);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, launches_, base + ".launches");
  sc_core::sc_trace(file, completed_, base + ".completed");
}

}  // namespace heddle
