// SPDX-License-Identifier: MIT
// Modules of a host program: parsed, linked if they depend on each other, placed in device memory and passed to the
// GPU.
#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_link.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/memory/common/address_map.h"

namespace heddle {

namespace {

constexpr std::uint64_t default_heap_bytes = 8u << 20;  // CUDA's default for malloc in kernels
constexpr std::uint64_t all_workspace_bytes = std::uint64_t{workspace_slots} * workspace_bytes;

/// Texts and names of linked modules are passed to the GPU separated by NUL.
void check_separable(const ptx::module_source& s) {
  if (s.text.find('\0') != std::string::npos)
    throw input_error(s.file + ": the character NUL, expected none in a module that is linked");
}

}  // namespace

void place_in(host_driver& driver, unsigned partition) {
  if (partition > driver.config_.partitions.size())
    throw input_error("the GPU has no partition " + std::to_string(partition));
  driver.partition_ = partition;
}

// A partition's memory begins as that of an undivided GPU: below the first address lies its code.
std::uint64_t& host_driver::next_free() {
  if (partition_ == 0) return next_address_;
  return next_in_partition_.emplace(partition_, partition_base(partition_ - 1) + default_first_address).first->second;
}

// To the GPU, before the command that it concerns.
void host_driver::announce_client(std::uint64_t value) {
  if (value == known_client_) return;
  place_contexts();
  link_->write_register(host_register::client, value);
  known_client_ = value;
}

void host_driver::keep_spare(process_memory& memory, std::uint64_t bytes) {
  const auto [spare, is_first] = memory.spare.emplace(partition_, 0);
  if (is_first) spare->second = allocate(bytes);
}

// False: the client has it.
bool host_driver::provide(process_memory& memory, const launch_request& r, std::uint64_t bytes) {
  if (memory.owned.count(r.client) != 0) return false;
  std::uint64_t address = std::exchange(memory.spare[r.partition], 0);
  const unsigned before = std::exchange(partition_, r.partition);
  if (address == 0) address = allocate(bytes);
  partition_ = before;
  memory.owned[r.client] = address;
  return true;
}

// The register `client` names the launch's client.
void host_driver::provide(const launch_request& r) {
  const module_record& m = modules_->at(r.module);
  if (m.allocates && provide(heaps_, r, default_heap_bytes)) {
    link_->write_register(host_register::heap_base, heaps_.owned[r.client]);
    link_->write_register(host_register::heap_bytes, default_heap_bytes);
  }
  if (m.meets && provide(workspaces_, r, all_workspace_bytes))
    link_->write_register(host_register::grid_workspace, workspaces_.owned[r.client]);
}

unsigned host_driver::load_module(const std::string& ptx, const std::string& file_name) {
  return load_modules({{ptx, file_name}}).front();
}

std::vector<unsigned> host_driver::load_modules(const std::vector<module_text>& modules, managed_ranges* managed) {
  const host_link::call call(*link_);
  std::vector<std::shared_ptr<const ptx::ast_module>> parsed;
  for (const module_text& m : modules) parsed.push_back(parsed_->parse(m.text, m.file));
  std::vector<unsigned> handles(modules.size());
  for (const std::vector<std::size_t>& group : ptx::link_groups(parsed)) {
    const auto note_managed = [&] {
      const ptx::loaded_module& m = modules_->all().back()->module;
      if (managed != nullptr && m.managed_bytes != 0) managed->emplace_back(m.managed_base, m.managed_bytes);
    };
    if (group.size() == 1) {
      const std::size_t k = group.front();
      handles[k] = load(parsed[k], modules[k].text, modules[k].file);
      note_managed();
      continue;
    }
    std::vector<ptx::module_source> sources;
    std::string texts, names;
    for (const std::size_t k : group) {
      sources.push_back({modules[k].text, modules[k].file});
      check_separable(sources.back());
      texts += (k == group.front() ? std::string() : std::string(1, '\0')) + modules[k].text;
      names += (k == group.front() ? std::string() : std::string(1, '\0')) + modules[k].file;
    }
    const unsigned handle = load(parsed_->parse(texts, names), texts, names);
    note_managed();
    for (const std::size_t k : group) handles[k] = handle;
  }
  return handles;
}

unsigned host_driver::load(std::shared_ptr<const ptx::ast_module> ast, const std::string& texts,
                           const std::string& names) {
  auto m = std::make_unique<module_record>();
  const ptx::global_size size = ptx::global_bytes(*ast);
  const std::uint64_t globals = size.all != 0 ? allocate_variables(size) : 0;
  const std::uint64_t constant_bytes = ptx::constant_bytes(*ast);
  if (constant_bytes != 0) m->constants_address = allocate(constant_bytes);
  m->module = ptx::place(std::move(ast), globals, m->constants_address);
  if (size.all != 0) write(globals, m->module.global_image.data(), m->module.global_image.size());
  const auto& constants = m->module.constant_image;
  if (constant_bytes != 0) write(m->constants_address, constants.data(), constants.size());
  m->allocates = ptx::calls_malloc(*m->module.ast);
  m->meets = texts.find("%envreg") != std::string::npos;
  if (m->allocates) keep_spare(heaps_, default_heap_bytes);
  if (m->meets) keep_spare(workspaces_, all_workspace_bytes);
  announce_client(client_register{0, 0, partition_}.value());
  load_module_descriptor d;
  d.text_address = stage(texts.data(), texts.size());
  d.text_bytes = texts.size();
  d.name_address = stage(names.data(), names.size());
  d.name_bytes = names.size();
  d.globals_address = globals;
  d.constants_address = m->constants_address;
  m->handle = static_cast<unsigned>(command(&d, sizeof d));
  return modules_->add(std::move(m));
}

/// Replaces places in linked modules by places in their own files, in a message from the GPU.
std::string host_driver::with_own_places(std::string message) const {
  for (const auto& m : modules_->all()) message = ptx::with_own_places(*m->module.ast, std::move(message));
  return message;
}

// Launches of one stream follow each other, so they share one area of local memory; it grows as needed.
// At most two launches of a stream run at a time: one that may begin early takes the other area than the one before.
std::uint64_t host_driver::local_area(const launch_request& request, std::uint64_t bytes) {
  stream_areas& own = local_areas_[std::uint64_t{request.client} << 32 | request.stream];
  if (request.programmatic && compute_capability(config_) >= 90) own.last ^= 1u;
  auto& area = own.area[own.last];
  if (area.second >= bytes) return area.first;
  const unsigned before = std::exchange(partition_, request.partition);
  area = {allocate(bytes), bytes};
  partition_ = before;
  return area.first;
}

bool host_driver::bind_texture(const std::string& reference, std::uint64_t handle) {
  bool bound = false;
  for (const auto& m : modules_->all()) {
    const auto found = m->module.symbols.find(reference);
    if (found == m->module.symbols.end() || !found->second.opaque) continue;
    write(found->second.address, &handle, sizeof handle);
    bound = true;
  }
  return bound;
}

}  // namespace heddle
