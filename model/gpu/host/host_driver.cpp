// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/host_driver.h"

#include <algorithm>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/config/suggestion.h"
#include "heddle/frontend/ptx/kernel_list.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "heddle/gpu/host/host_link.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/idempotence.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/gpu/host/recorded_kernel.h"
#include "heddle/isa/program.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/simt/texture/texture.h"

namespace heddle {

namespace {
constexpr std::uint64_t gap = 4096;         // unmapped, after every allocation
constexpr std::uint64_t page_bytes = 4096;  // the smallest page size of the GPUs
constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::size_t fill_bytes = std::size_t{1} << 20;  // written per access
}  // namespace

/// The memory that kernels may access, as mapped on the GPU.
struct host_driver::memory_record {
  address_ranges mapped;
  simt::texture_table textures;
};

host_driver::host_driver(sc_core::sc_module_name name, const gpu_config& config, std::uint64_t first_address,
                         std::uint64_t socket_base, ptx::parsed_modules* modules)
    : sc_module(name),
      host_socket("host_socket"),
      irq("irq"),
      config_(config),
      first_address_(first_address),
      link_(std::make_unique<host_link>(host_socket, socket_base)),
      modules_(std::make_unique<module_list>()),
      next_address_(first_address),
      context_area_(std::uint64_t{config.context.area_mib} * mebibyte),
      own_parsed_(std::make_unique<ptx::parsed_modules>()),
      parsed_(modules != nullptr ? modules : own_parsed_.get()),
      memory_(std::make_unique<memory_record>()) {
  if (first_address < default_first_address || first_address % alignment != 0)
    throw input_error(std::string(this->name()) + ": device memory from address " + std::to_string(first_address) +
                      " on, expected a multiple of 256 of at least " + std::to_string(default_first_address));
}

host_driver::~host_driver() = default;

void host_driver::stream_areas::exchange(state_image& image) { image(area, last); }
void host_driver::process_memory::exchange(state_image& image) { image(spare, owned); }

void exchange(host_driver& driver, state_image& image) {
  image.part(driver.name());
  image(driver.local_areas_, driver.next_address_, driver.context_area_, driver.heaps_, driver.workspaces_,
        driver.has_context_area_, driver.memory_->mapped, driver.finished_, driver.asks_, driver.next_in_partition_,
        driver.known_client_, driver.known_resets_);
}

// What is lost with the GPU's context.
void host_driver::forget() {
  modules_->clear();
  local_areas_.clear();
  next_address_ = first_address_;
  context_area_ = std::uint64_t{config_.context.area_mib} * mebibyte;
  has_context_area_ = false;
  heaps_ = workspaces_ = {};
  next_in_partition_.clear();
  known_client_ = 0;
  memory_ = std::make_unique<memory_record>();
  finished_.assign(finished_.size(), true);
}

std::uint64_t host_driver::allocate(std::uint64_t bytes) {
  const host_link::call call(*link_);
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t address = reserve(size, gap);
  map(address, size);
  return address;
}

// As a driver maps whole pages, kernels may access the rest of a variable's last page, which lies in the gap after it.
std::uint64_t host_driver::allocate_variables(const ptx::global_size& size) {
  static_assert(gap >= page_bytes, "the rest of the last page meets no other allocation");
  constexpr std::uint64_t unit = ptx::global_size::managed_unit;
  static_assert(unit == host_regions::unit, "the GPU may access managed variables in place");
  const host_link::call call(*link_);
  std::uint64_t address = reserve(size.all + (size.managed != 0 ? unit : 0), gap);
  if (size.managed != 0) address = (address + unit - 1) / unit * unit;
  const auto map_pages = [this](std::uint64_t begin, std::uint64_t bytes) {
    if (bytes != 0) map(begin, (begin + bytes + page_bytes - 1) / page_bytes * page_bytes - begin);
  };
  map_pages(address, size.own);
  map_pages(address + size.all - size.managed, size.managed_used);
  return address;
}

// Reserves the next free bytes. The context area is never handed out.
std::uint64_t host_driver::reserve(std::uint64_t bytes, std::uint64_t behind) {
  place_contexts();
  std::uint64_t& next = next_free();
  const std::uint64_t address = next;
  const std::uint64_t contexts = partition_ != 0 ? partition_contexts(partition_ - 1) : context_area_;
  const bool before_contexts = partition_ != 0 || context_area_ > first_address_;
  const std::uint64_t end = before_contexts ? contexts : ~std::uint64_t{0} / alignment * alignment;
  const std::uint64_t taken = behind + alignment - 1;
  if (address > end || end - address < taken || end - address - taken < bytes)
    throw input_error("no " + std::to_string(bytes) + " bytes of device memory are left from " +
                      std::to_string(address) +
                      " on: " + (before_contexts ? "the area where contexts are saved begins at " : "it ends at ") +
                      std::to_string(end));
  next = (address + bytes + taken) / alignment * alignment;
  return address;
}

void host_driver::map(std::uint64_t address, std::uint64_t bytes) {
  const host_link::call call(*link_);
  refuse_lost_context();
  place_contexts();
  link_->write_register(host_register::map_base, address);
  link_->write_register(host_register::map_bytes, bytes);
  link_->write_register(host_register::map_command, 1);
  if (link_->read_register(host_register::error) != 0) refuse_command();
  memory_->mapped.add(address, bytes);
}

void host_driver::unmap(std::uint64_t address) {
  const host_link::call call(*link_);
  refuse_lost_context();
  if (!memory_->mapped.begins(address)) throw input_error("nothing is mapped at address " + std::to_string(address));
  link_->write_register(host_register::map_base, address);
  link_->write_register(host_register::map_command, 2);
  if (link_->read_register(host_register::error) != 0) refuse_command();
  memory_->mapped.remove(address);
}

void host_driver::write(std::uint64_t address, const void* data, std::size_t bytes) {
  const host_link::call call(*link_);
  link_->access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
}

void host_driver::read(std::uint64_t address, void* data, std::size_t bytes) {
  const host_link::call call(*link_);
  link_->access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

void host_driver::fill(std::uint64_t address, std::uint8_t byte, std::size_t bytes) {
  const host_link::call call(*link_);
  std::vector<std::uint8_t> block(std::min<std::size_t>(bytes, fill_bytes), byte);
  for (std::size_t done = 0; done < bytes; done += block.size())
    write(address + done, block.data(), std::min(block.size(), bytes - done));
}

// Copies bytes into device memory, from where the GPU fetches them for a command.
std::uint64_t host_driver::stage(const void* data, std::size_t bytes) {
  const std::uint64_t address = next_address_;
  next_address_ = (address + std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (bytes != 0) write(address, data, bytes);
  return address;
}

// Drivers of GPUs that share a memory know only that their ranges of device memory are disjoint, so the context area is
// derived from the driver's range. An area chosen in the configuration is kept.
void host_driver::place_contexts() {
  if (has_context_area_) return;
  begin_context();
  constexpr std::uint64_t part = 16 * mebibyte, area = 65536 * mebibyte;
  if (first_address_ == default_first_address || config_.context.area_mib != context_parameters().area_mib) return;
  save_contexts_at(config_.context.area_mib * mebibyte + (first_address_ - default_first_address) / part * area);
}

void host_driver::save_contexts_at(std::uint64_t address) {
  const host_link::call call(*link_);
  if (address >= first_address_ && address < next_address_)
    throw input_error("contexts cannot be saved at " + std::to_string(address) +
                      ": the driver has handed out the memory up to " + std::to_string(next_address_));
  begin_context();
  link_->write_register(host_register::context_area, address);
  if (link_->read_register(host_register::error) != 0) refuse_command();
  context_area_ = address;
}

std::uint64_t host_driver::command(const void* descriptor, std::size_t bytes, recorded_kernel* recorded) {
  refuse_lost_context();
  place_contexts();
  std::uint64_t address = stage(descriptor, bytes);
  link_->access(tlm::TLM_WRITE_COMMAND, host_register::command, &address, sizeof address, recorded);
  if (link_->read_register(host_register::error) != 0) refuse_command();
  return link_->read_register(host_register::result);
}

std::uint64_t host_driver::create_texture(const simt::texture_descriptor& t) {
  const host_link::call call(*link_);
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
  d.pitch_bytes = t.pitch_bytes;
  for (unsigned k = 0; k < 3; ++k) d.mode[k] = static_cast<std::uint8_t>(t.mode[k]);
  d.levels = t.levels;
  d.levels_linear = t.levels_linear;
  d.bias = t.bias;
  d.least_level = t.least_level;
  d.most_level = t.most_level;
  std::copy(t.further.begin(), t.further.end(), d.further);
  return command(&d, sizeof d);
}

const isa::program& host_driver::program(unsigned module, const std::string& kernel, unsigned max_registers) {
  auto& p = modules_->at(module).programs[{kernel, max_registers}];
  if (!p) p = ptx::lower(*parsed_, modules_->at(module).module, kernel, config_, max_registers);
  return *p;
}

symbol_location host_driver::symbol(const std::string& name, unsigned module) const {
  std::vector<std::string> known;
  for (unsigned m = 0; m < modules_->all().size() && module == any_module; ++m) {
    const auto& symbols = modules_->all()[m]->module.symbols;
    for (const auto& s : symbols) known.push_back(s.first);
    if (symbols.count(name) != 0) module = m;
  }
  if (module == any_module)
    throw input_error("no module variable '" + name + "' in the loaded modules" + suggestion(name, known));
  const module_record& m = modules_->at(module);
  const auto found = m.module.symbols.find(name);
  if (found == m.module.symbols.end()) {
    for (const auto& s : m.module.symbols) known.push_back(s.first);
    throw input_error("no module variable '" + name + "' in '" + m.module.ast->file + "'" + suggestion(name, known));
  }
  const ptx::module_symbol& s = found->second;
  const bool constant = s.space == ptx::state_space::constant;
  return {constant, constant ? m.constants_address + s.address : s.address, s.size};
}

host_driver::launch_plan host_driver::plan(const launch_request& r) {
  launch_plan p;
  p.program = &program(r.module, r.kernel, r.max_registers);
  p.local_bytes = std::uint64_t{(p.program->local_bytes + 3) / 4 * 4} * isa::warp_size * config_.sm.max_warps *
                  config_.gpu.sm_count;
  return p;
}

void host_driver::check(const launch_request& r) {
  if (r.recording)
    return check_launch(config_, *r.recording->program, r.recording->header.grid, r.recording->header.block,
                        r.recording->header.shared_bytes - r.recording->program->shared_bytes, r.carveout_percent);
  const launch_plan p = plan(r);
  check_launch(config_, *p.program, r.grid, r.block, r.dynamic_shared_bytes, r.carveout_percent, r.cluster,
               {r.client_sms, r.partition});
  if (r.parameters.size() != p.program->parameter_bytes)
    throw input_error("kernel '" + r.kernel + "': " + std::to_string(r.parameters.size()) +
                      " bytes of parameters, expected " + std::to_string(p.program->parameter_bytes));
}

unsigned host_driver::launch(const launch_request& r) {
  const host_link::call call(*link_);
  return r.recording ? launch_recording(r) : started(ring(r, false));
}

std::uint64_t host_driver::execute(const launch_request& r) {
  if (r.recording) throw input_error("a recording cannot be executed functionally: it has no data");
  const host_link::call call(*link_);
  const std::uint64_t instructions = ring(r, true);
  take_prints();
  return instructions;
}

std::uint64_t host_driver::ring(const launch_request& r, bool functionally) {
  const launch_plan p = plan(r);
  launch_descriptor d;
  if (functionally) d.command = static_cast<std::uint32_t>(host_command::execute);
  d.module = modules_->at(r.module).handle;
  d.kernel_address = stage(r.kernel.data(), r.kernel.size());
  d.kernel_bytes = r.kernel.size();
  std::copy(r.grid, r.grid + 3, d.grid);
  std::copy(r.block, r.block + 3, d.block);
  d.dynamic_shared_bytes = r.dynamic_shared_bytes;
  d.stream = r.stream;
  d.priority = r.priority;
  d.carveout_percent = r.carveout_percent;
  d.max_registers = r.max_registers;
  std::copy(r.cluster.blocks, r.cluster.blocks + 3, d.cluster);
  d.non_portable_cluster = r.cluster.non_portable;
  d.programmatic = r.programmatic;
  announce_client(client_register{r.client, r.client_sms, r.partition}.value());
  provide(r);
  d.parameter_bytes = static_cast<std::uint32_t>(r.parameters.size());
  d.parameter_address = stage(r.parameters.data(), r.parameters.size());
  if (!functionally && p.local_bytes != 0) {
    d.local_bytes = p.local_bytes;
    d.local_address = local_area(r, p.local_bytes);
  }
  return command(&d, sizeof d);
}

unsigned host_driver::launch_recording(const launch_request& r) {
  announce_client(client_register{r.client, r.client_sms, r.partition}.value());
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

void host_driver::check_flush(const launch_request& r) {
  std::string why = "a recording does not say what its stores change";
  if (!r.recording)
    why = why_not_idempotent(footprint_of(program(r.module, r.kernel, r.max_registers)), r.parameters, memory_->mapped,
                             &memory_->textures);
  if (!why.empty()) throw input_error(flush_refusal(r.kernel, why));
}

void host_driver::preempt(const std::vector<unsigned>& sms, preemption_mode mode, std::uint64_t resume_after) {
  const host_link::call call(*link_);
  preempt_descriptor d;
  d.mode = static_cast<std::uint32_t>(mode);
  d.sms_address = stage(sms.data(), sms.size() * sizeof sms[0]);
  d.sm_count = sms.size();
  d.resume_after = resume_after;
  command(&d, sizeof d);
}

void terminate(host_driver& driver, unsigned launch_number) {
  const host_link::call call(*driver.link_);
  terminate_descriptor d;
  d.launch = launch_number;
  driver.command(&d, sizeof d);
}

}  // namespace heddle
