// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/registry.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "testbench/cuda/core/host_memory.h"

namespace heddle::cuda {

thread_local error_t last_error = error::none;

error_t noted(error_t e) {
  if (in_host_function) e = error::not_permitted;
  if (gpu_failure() != wire::success) e = gpu_failure();
  if (e != error::none && e != error::not_ready) last_error = e;
  return e;
}

error_t noted_lost_handle() { return last_error = error::invalid_handle; }

void missing(const char* name) {
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: the program calls %s, which Heddle does not have\n", name);
  ::_exit(2);
}

registry& registry::get() {
  // Never destroyed: programs make calls while their static objects are destroyed.
  static auto* the_registry = new registry;
  return *the_registry;
}

image* registry::add_image(std::uint32_t what, std::vector<std::pair<const void*, std::uint64_t>> parts) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  images_.push_back(std::make_unique<image>());
  images_.back()->what = what;
  images_.back()->parts = std::move(parts);
  return images_.back().get();
}

void registry::add_function(image* owner, const void* key, const char* name) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  auto f = std::make_unique<function_record>();
  f->owner = owner;
  f->name = name;
  functions_[key] = std::move(f);
}

void registry::add_variable(image* owner, const void* key, const char* name, std::size_t bytes, void** managed) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  auto v = std::make_unique<variable_record>();
  v->owner = owner;
  v->name = name;
  v->bytes = bytes;
  v->managed = managed;
  variables_[key] = std::move(v);
  if (managed != nullptr) managed_placed_ = false;
}

// After the GPU has ended what may use them.
void registry::release_managed(image& i) {
  for (const auto& [address, bytes] : i.managed) {
    call(wire::call::host_range, wire::writer().put(address).put(bytes).put(wire::range_step::forget));
    ::munmap(pointer_at(address), bytes);
  }
  i.managed.clear();
}

error_t registry::load(image& i) {
  if (i.loaded) return i.status;
  release_managed(i);  // a device reset has unloaded it
  i.loaded = true;
  i.has_known_variables = false;
  wire::writer w;
  w.put(i.what).put(static_cast<std::uint32_t>(i.parts.size()));
  for (const auto& [at, bytes] : i.parts) w.put(reinterpret_cast<std::uint64_t>(at)).put(bytes);
  const reply r = call(wire::call::load_image, w);
  i.status = r.status;
  if (r.status == error::none) {
    wire::reader in = r.read();
    i.module = in.get<std::uint32_t>();
    i.managed.resize(in.get<std::uint32_t>());
    for (auto& [address, bytes] : i.managed) {
      address = in.get<std::uint64_t>();
      bytes = in.get<std::uint64_t>();
      if (i.status == error::none) i.status = share_memory(address, bytes, wire::range_step::variables);
    }
  } else {
    i.failure = r.read().get_text();
  }
  return i.status;
}

void registry::forget_modules() {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  for (const auto& [key, f] : functions_) {
    function_record fresh;
    fresh.owner = f->owner;
    fresh.name = f->name;
    *f = fresh;
  }
  for (const auto& [key, v] : variables_) {
    v->address = 0;
    managed_placed_ &= v->managed == nullptr;
  }
  for (const auto& i : images_)
    if (i->owner == nullptr) i->loaded = false;
}

error_t registry::find(function_record& f) {
  if (f.found) return f.status;
  f.found = true;
  f.status = load(*f.owner);
  if (f.status != error::none) return f.status;
  const reply r = call(wire::call::find_function, wire::writer().put(f.owner->module).put_text(f.name));
  f.status = r.status == error::not_found ? error::invalid_function : r.status;
  if (f.status != error::none) return f.status;
  wire::reader in = r.read();
  f.number = in.get<std::uint32_t>();
  f.info = in.get<wire::function_info>();
  f.parameters.resize(in.get<std::uint32_t>());
  for (auto& p : f.parameters) {
    p.first = in.get<std::uint32_t>();
    p.second = in.get<std::uint32_t>();
  }
  return f.status;
}

function_record* registry::function(const void* key) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  auto found = functions_.find(key);
  if (found != functions_.end()) {
    find(*found->second);
    return found->second.get();
  }
  for (const auto& [stub, f] : functions_)
    if (f.get() == key) {
      find(*f);
      return f.get();
    }
  for (const auto& [name, f] : by_name_)
    if (f.get() == key) return f.get();
  return nullptr;
}

function_record* registry::function(image* owner, const std::string& name, error_t& status) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  auto& f = by_name_[{owner, name}];
  if (!f) {
    f = std::make_unique<function_record>();
    f->owner = owner;
    f->name = name;
  }
  status = find(*f);
  if (status == error::invalid_function) status = error::not_found;
  return status == error::none ? f.get() : nullptr;
}

variable_record* registry::variable(const void* key) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  auto found = variables_.find(key);
  if (found == variables_.end() && key != nullptr)  // a program names a managed variable by its address, too
    found = std::find_if(variables_.begin(), variables_.end(),
                         [key](const auto& v) { return v.second->managed != nullptr && *v.second->managed == key; });
  if (found == variables_.end()) return nullptr;
  variable_record& v = *found->second;
  if (v.address == 0 && load(*v.owner) == error::none) {
    const variable_record of_module = variable(*v.owner, v.name);
    v.address = of_module.address;
    if (v.address != 0) v.bytes = of_module.bytes;
  }
  return v.address != 0 ? &v : nullptr;
}

void registry::find_variables() {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  for (const auto& [key, v] : variables_)
    if (v->owner->loaded) variable(key);
  for (const auto& i : images_) {
    if (!i->loaded || i->status != error::none || std::exchange(i->has_known_variables, true)) continue;
    for (const std::string& name : names(*i).second) variable(*i, name);
  }
}

error_t registry::place_managed() {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  if (managed_placed_) return error::none;
  managed_placed_ = true;
  bool failed = false;
  for (const auto& [key, record] : variables_) {
    if (record->managed == nullptr || record->address != 0) continue;
    if (const variable_record* v = variable(key); v != nullptr) *v->managed = reinterpret_cast<void*>(v->address);
    else failed = true;
  }
  return failed ? error::initialization : error::none;
}

variable_record registry::variable(image& owner, const std::string& name) {
  variable_record v;
  v.owner = &owner;
  v.name = name;
  const reply r = call(wire::call::find_variable, wire::writer().put(owner.module).put_text(name));
  if (r.status != error::none) return v;
  wire::reader in = r.read();
  v.address = in.get<std::uint64_t>();
  v.bytes = in.get<std::uint64_t>();
  const bool is_managed = std::any_of(owner.managed.begin(), owner.managed.end(),
                                      [&v](const auto& m) { return v.address - m.first < m.second; });
  if (allocation_of(reinterpret_cast<const void*>(v.address)).type == unregistered)
    note_allocation({v.address, v.bytes, is_managed ? managed : device, is_managed ? 1u : 0u, true, nullptr});
  return v;
}

void registry::forget_variables(const image* owner) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  for (auto v = variables_.begin(); v != variables_.end();) v = v->second->owner == owner ? variables_.erase(v) : ++v;
}

std::pair<std::vector<std::string>, std::vector<std::string>> registry::names(image& owner) {
  const reply r = call(wire::call::list_names, wire::writer().put(owner.module));
  if (r.status != error::none) return {};
  wire::reader in = r.read();
  std::pair<std::vector<std::string>, std::vector<std::string>> all;
  for (auto* const names : {&all.first, &all.second}) {
    names->resize(in.get<std::uint32_t>());
    for (std::string& n : *names) n = in.get_text();
  }
  return all;
}

bool registry::has(const image* i) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  return std::any_of(images_.begin(), images_.end(), [i](const auto& own) { return own.get() == i; }) &&
         std::find(unloaded_.begin(), unloaded_.end(), i) == unloaded_.end();
}

std::vector<image*> registry::images_of(const void* owner) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  std::vector<image*> all;
  for (const auto& i : images_)
    if (i->owner == owner && has(i.get())) all.push_back(i.get());
  return all;
}

void registry::unload(image* i) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  unloaded_.push_back(i);
  i->has_known_variables = true;  // it has none any more
  for (const auto& [name, f] : by_name_)
    if (f->owner == i) f->status = error::invalid_handle;
  release_managed(*i);
  call(wire::call::unload_image, wire::writer().put(i->module));
}

}  // namespace heddle::cuda
