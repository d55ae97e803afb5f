// SPDX-License-Identifier: MIT
#include "gpu/host_driver.h"

#include <algorithm>
#include <cstring>

#include "config/error.h"
#include "frontend/ptx/lower.h"
#include "gpu/host_registers.h"
#include "gpu/idempotence.h"
#include "gpu/launch_check.h"
#include "gpu/recorded_kernel.h"
#include "isa/program.h"
#include "simt/texture.h"

namespace heddle {

namespace {
constexpr std::uint64_t gap = 4096;   // unmapped, behind every allocation
constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t heap_bytes = 8u << 20;   // CUDA's default for malloc in kernels
constexpr unsigned transfer_bytes = 1u << 20;
}  // namespace

struct host_driver::module_record {
  ptx::loaded_module module;
  unsigned handle = 0;
  std::uint64_t constants_address = 0;
  std::map<std::pair<std::string, unsigned>, std::shared_ptr<const isa::program>> programs;
};

/// What kernels may touch, as the GPU was told.
struct host_driver::memory_record {
  address_ranges mapped;
  simt::texture_table textures;
};

// The driver never takes the backward path: its accesses are blocking.
struct host_driver::backward_path : tlm::tlm_bw_transport_if<> {
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    throw internal_error("the host driver's accesses are blocking, a non-blocking answer came");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

host_driver::host_driver(sc_core::sc_module_name name, const gpu_config& config, std::uint64_t first_address)
    : sc_module(name),
      host_socket("host_socket"),
      irq("irq"),
      config_(config),
      next_address_(first_address),
      memory_(std::make_unique<memory_record>()),
      backward_(std::make_unique<backward_path>()) {
  host_socket.bind(*backward_);
}

host_driver::~host_driver() = default;

void host_driver::end_of_elaboration() {
  if (irq.size() == 0) return;
  // Only here is it known whether there is a line to listen to.
  SC_HAS_PROCESS(host_driver);
  SC_METHOD(on_interrupt);
  sensitive << irq;
  dont_initialize();
  write_register(host_register::interrupt_enable, host_interrupt::completion | host_interrupt::fault | host_interrupt::print);
}

// The interrupt line says that there is something to fetch; without one, whoever polls finds it.
void host_driver::on_interrupt() {
  if (!irq->read()) return;
  poll();
  write_register(host_register::interrupt_pending, host_interrupt::completion | host_interrupt::fault | host_interrupt::print);
  poll();
  progress_.notify(sc_core::SC_ZERO_TIME);
}

void host_driver::access(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes, recorded_kernel* recorded) {
  auto* at = static_cast<std::uint8_t*>(data);
  while (bytes != 0) {
    const unsigned n = static_cast<unsigned>(std::min<std::size_t>(bytes, transfer_bytes));
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(at);
    p.set_data_length(n);
    p.set_streaming_width(n);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (recorded != nullptr) p.set_extension(recorded);
    sc_core::sc_time delay;
    host_socket->b_transport(p, delay);
    if (recorded != nullptr) p.clear_extension(recorded);   // it is the caller's
    if (!p.is_response_ok() && address >= isa::heap_base)
      throw input_error("device memory at address " + std::to_string(address) +
                        " cannot be reached by debug transport: the memory bound to the GPU must offer it there");
    if (!p.is_response_ok())
      throw internal_error("the GPU refused a host access to address " + std::to_string(address) + ": " + p.get_response_string());
    at += n;
    address += n;
    bytes -= n;
  }
}

std::uint64_t host_driver::read_register(std::uint64_t offset) {
  std::uint64_t value = 0;
  access(tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
  return value;
}

void host_driver::write_register(std::uint64_t offset, std::uint64_t value) {
  access(tlm::TLM_WRITE_COMMAND, offset, &value, sizeof value);
}

std::string host_driver::message() {
  std::string text(std::min<std::uint64_t>(read_register(host_register::message_bytes), host_register::message_size), '\0');
  if (!text.empty()) access(tlm::TLM_READ_COMMAND, host_register::message, text.data(), text.size());
  return text;
}

std::uint64_t host_driver::allocate(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t address = next_address_;
  next_address_ = (address + size + gap + alignment - 1) / alignment * alignment;
  map(address, size);
  return address;
}

void host_driver::map(std::uint64_t address, std::uint64_t bytes) {
  write_register(host_register::map_base, address);
  write_register(host_register::map_bytes, bytes);
  write_register(host_register::map_command, 1);
  if (read_register(host_register::error) != 0) throw input_error(message());
  memory_->mapped.add(address, bytes);
}

void host_driver::write(std::uint64_t address, const void* data, std::size_t bytes) {
  access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
}

void host_driver::read(std::uint64_t address, void* data, std::size_t bytes) {
  access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

void host_driver::fill(std::uint64_t address, std::uint8_t byte, std::size_t bytes) {
  std::vector<std::uint8_t> block(std::min<std::size_t>(bytes, transfer_bytes), byte);
  for (std::size_t done = 0; done < bytes; done += block.size())
    write(address + done, block.data(), std::min(block.size(), bytes - done));
}

// Puts bytes where the GPU can fetch them for a command.
std::uint64_t host_driver::stage(const void* data, std::size_t bytes) {
  const std::uint64_t address = next_address_;
  next_address_ = (address + std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (bytes != 0) write(address, data, bytes);
  return address;
}

std::uint64_t host_driver::command(const void* descriptor, std::size_t bytes, recorded_kernel* recorded) {
  std::uint64_t address = stage(descriptor, bytes);
  access(tlm::TLM_WRITE_COMMAND, host_register::command, &address, sizeof address, recorded);
  if (read_register(host_register::error) != 0) throw input_error(message());
  return read_register(host_register::result);
}

unsigned host_driver::load_module(const std::string& ptx, const std::string& file_name) {
  auto m = std::make_unique<module_record>();
  auto ast = ptx::parse(ptx, file_name);
  const std::uint64_t bytes = ptx::global_bytes(*ast);
  const std::uint64_t globals = bytes != 0 ? allocate(bytes) : 0;
  const std::uint64_t constant_bytes = ptx::constant_bytes(*ast);
  if (constant_bytes != 0) m->constants_address = allocate(constant_bytes);
  m->module = ptx::place(std::move(ast), globals, m->constants_address);
  if (bytes != 0) write(globals, m->module.global_image.data(), m->module.global_image.size());
  const auto& constants = m->module.constant_image;
  if (constant_bytes != 0) write(m->constants_address, constants.data(), constants.size());
  if (!has_heap_ && ptx::calls_malloc(*m->module.ast)) {
    write_register(host_register::heap_base, allocate(heap_bytes));
    write_register(host_register::heap_bytes, heap_bytes);
    has_heap_ = true;
  }
  if (!has_workspace_ && ptx.find("%envreg") != std::string::npos) {
    write_register(host_register::grid_workspace, allocate(std::uint64_t{workspace_slots} * workspace_bytes));
    has_workspace_ = true;
  }
  load_module_descriptor d;
  d.text_address = stage(ptx.data(), ptx.size());
  d.text_bytes = ptx.size();
  d.name_address = stage(file_name.data(), file_name.size());
  d.name_bytes = file_name.size();
  d.globals_address = globals;
  d.constants_address = m->constants_address;
  m->handle = static_cast<unsigned>(command(&d, sizeof d));
  modules_.push_back(std::move(m));
  return static_cast<unsigned>(modules_.size() - 1);
}

std::uint64_t host_driver::create_texture(const simt::texture_descriptor& t) {
  create_texture_descriptor d;
  memory_->textures.push_back(t);
  d.address = t.address;
  d.width = t.width;
  d.height = t.height;
  d.depth = t.depth;
  d.type = static_cast<std::uint8_t>(t.type);
  d.channels = t.channels;
  d.linear = t.linear;
  d.normalized = t.normalized;
  for (unsigned k = 0; k < 3; ++k) d.mode[k] = static_cast<std::uint8_t>(t.mode[k]);
  return command(&d, sizeof d);
}

std::vector<std::string> host_driver::kernels(unsigned module) const { return ptx::kernels(*modules_.at(module)->module.ast); }

const isa::program& host_driver::program(unsigned module, const std::string& kernel, unsigned max_registers) {
  auto& p = modules_.at(module)->programs[{kernel, max_registers}];
  if (!p) p = ptx::lower(modules_[module]->module, kernel, config_, max_registers);
  return *p;
}

unsigned host_driver::module_of(const std::string& kernel) const {
  std::string known;
  for (unsigned m = 0; m < modules_.size(); ++m)
    for (const std::string& k : kernels(m)) {
      if (k == kernel) return m;
      known += (known.empty() ? "" : ", ") + k;
    }
  throw input_error("no kernel '" + kernel + "' in the loaded modules, expected one of: " + (known.empty() ? "(none)" : known));
}

symbol_location host_driver::symbol(const std::string& name) const {
  for (const auto& m : modules_) {
    const auto found = m->module.symbols.find(name);
    if (found == m->module.symbols.end()) continue;
    const ptx::module_symbol& s = found->second;
    const bool constant = s.space == ptx::state_space::constant;
    return {constant, constant ? m->constants_address + s.address : s.address, s.size};
  }
  throw input_error("no module variable '" + name + "' in the loaded modules");
}

host_driver::launch_plan host_driver::plan(const launch_request& r) {
  launch_plan p;
  p.program = &program(r.module, r.kernel, r.max_registers);
  p.local_bytes = std::uint64_t{(p.program->local_bytes + 3) / 4 * 4} * isa::warp_size * config_.sm.max_warps * config_.gpu.sm_count;
  return p;
}

void host_driver::check(const launch_request& r) {
  if (r.recording) return check_launch(config_, *r.recording->program, r.recording->header.grid, r.recording->header.block, 0, r.carveout_percent);
  const launch_plan p = plan(r);
  check_launch(config_, *p.program, r.grid, r.block, r.dynamic_shared_bytes, r.carveout_percent);
  if (r.parameters.size() != p.program->parameter_bytes)
    throw input_error("kernel '" + r.kernel + "': " + std::to_string(r.parameters.size()) + " bytes of parameters, expected " +
                      std::to_string(p.program->parameter_bytes));
}

unsigned host_driver::launch(const launch_request& r) {
  if (r.recording) return launch_recording(r);
  const launch_plan p = plan(r);
  launch_descriptor d;
  d.module = modules_.at(r.module)->handle;
  d.kernel_address = stage(r.kernel.data(), r.kernel.size());
  d.kernel_bytes = r.kernel.size();
  std::copy(r.grid, r.grid + 3, d.grid);
  std::copy(r.block, r.block + 3, d.block);
  d.dynamic_shared_bytes = r.dynamic_shared_bytes;
  d.stream = r.stream;
  d.priority = r.priority;
  d.carveout_percent = r.carveout_percent;
  d.max_registers = r.max_registers;
  d.parameter_bytes = static_cast<std::uint32_t>(r.parameters.size());
  d.parameter_address = stage(r.parameters.data(), r.parameters.size());
  d.local_bytes = p.local_bytes;
  d.local_address = p.local_bytes != 0 ? local_area(r.stream, p.local_bytes) : 0;
  return started(command(&d, sizeof d));
}

unsigned host_driver::launch_recording(const launch_request& r) {
  launch_recording_descriptor d;
  d.stream = r.stream;
  d.priority = r.priority;
  d.carveout_percent = r.carveout_percent;
  recorded_kernel extension(r.recording);
  return started(command(&d, sizeof d, &extension));
}

unsigned host_driver::started(std::uint64_t number) {
  finished_.resize(std::max<std::size_t>(finished_.size(), number + 1), false);
  return static_cast<unsigned>(number);
}

void host_driver::check_preempt(const std::vector<unsigned>& sms, preemption_mode mode) const {
  check_preemption(config_, sms, mode);
}

void host_driver::check_flush(const launch_request& r) {
  std::string why = "a recording does not say what its stores change";
  if (!r.recording) why = why_not_idempotent(footprint_of(program(r.module, r.kernel, r.max_registers)), r.parameters, memory_->mapped, &memory_->textures);
  if (!why.empty()) throw input_error(flush_refusal(r.kernel, why));
}

void host_driver::preempt(const std::vector<unsigned>& sms, preemption_mode mode, std::uint64_t resume_after) {
  preempt_descriptor d;
  d.mode = static_cast<std::uint32_t>(mode);
  d.sms_address = stage(sms.data(), sms.size() * sizeof sms[0]);
  d.sm_count = sms.size();
  d.resume_after = resume_after;
  command(&d, sizeof d);
}

// Launches of one stream follow each other, so they share one area of local memory; it grows as needed.
std::uint64_t host_driver::local_area(std::uint32_t stream, std::uint64_t bytes) {
  auto& area = local_areas_[stream];
  if (area.second < bytes) area = {allocate(bytes), bytes};
  return area.first;
}

void host_driver::poll() {
  while (const std::uint64_t n = read_register(host_register::completion_pop)) {
    finished_.resize(std::max<std::size_t>(finished_.size(), n), false);
    finished_[n - 1] = true;
  }
  take_prints();
}

void host_driver::take_prints() {
  std::string text;
  while (const std::uint64_t waiting = read_register(host_register::print_bytes)) {
    const std::size_t have = text.size(), n = std::min(waiting, host_register::print_size);
    text.resize(have + n);
    access(tlm::TLM_READ_COMMAND, host_register::print, &text[have], n);
    write_register(host_register::print_pop, n);
  }
  if (text.empty()) return;
  if (on_print) on_print(text);
  else SC_REPORT_INFO("/heddle/printf", text.c_str());
}

bool host_driver::finished(unsigned launch_number) {
  poll();
  return launch_number < finished_.size() && finished_[launch_number];
}

void host_driver::wait_for(unsigned launch_number) {
  const sc_core::sc_time between(1000.0 / config_.gpu.core_clock_mhz, sc_core::SC_US);
  while (!finished(launch_number) && fault().empty()) {
    if (irq.size() > 0)
      sc_core::wait(progress_);
    else
      sc_core::wait(between);
  }
}

std::string host_driver::fault() {
  const std::uint64_t status = read_register(host_register::status);
  const std::string text = status & (host_status::fault | host_status::stuck) ? message() : std::string();
  take_prints();
  return text;
}

}  // namespace heddle
