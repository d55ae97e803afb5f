// SPDX-License-Identifier: MIT
// The allocations that the program has made.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "testbench/cuda/core/caller.h"
#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/context.h"
#include "testbench/cuda/core/host_memory.h"
#include "testbench/cuda/core/registry.h"

namespace heddle::cuda {

namespace {
library_mutex allocations_mutex;
std::map<std::uint64_t, allocation>& allocations() {
  static auto* all = new std::map<std::uint64_t, allocation>;
  return *all;
}

// Memory that a thread is about to map, or has given back and is about to unmap, and the thread's process. In a child
// the parent's threads do not go on.
struct unsettled_memory {
  std::uint64_t bytes;
  pid_t process;
};
std::multimap<std::uint64_t, unsettled_memory>& unsettled() {
  static auto* all = new std::multimap<std::uint64_t, unsettled_memory>;
  return *all;
}
bool has_file(const allocation& a) { return a.type != device && !a.registered; }
void add_unsettled(std::uint64_t address, std::uint64_t bytes) { unsettled().insert({address, {bytes, ::getpid()}}); }
void drop_unsettled(std::uint64_t address) {
  const auto same = unsettled().equal_range(address);
  for (auto m = same.first; m != same.second; ++m)
    if (m->second.process == ::getpid()) return void(unsettled().erase(m));
}
void set_unsettled(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  add_unsettled(address, bytes);
}
void set_settled(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  drop_unsettled(address);
}

ended_by end_of(const allocation& a) {
  return a.type != host ? ended_by::free : a.registered ? ended_by::unregister : ended_by::free_host;
}

// The allocations that a parent has freed since it forked this process, or was making or freeing then, in the place of
// a new one.
bool drop_stale(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  const auto first = allocations().lower_bound(address), end = allocations().lower_bound(address + bytes);
  bool any = first != end;
  allocations().erase(first, end);
  auto m = unsettled().lower_bound(address + bytes);
  while (m != unsettled().begin() && std::prev(m)->first + std::prev(m)->second.bytes > address) {
    --m;
    if (m->second.process == ::getpid()) continue;
    m = unsettled().erase(m);
    any = true;
  }
  return any;
}

// Memory that the simulator has given again may still be mapped: by another thread, which has just freed it, or since
// it is a freed allocation of the parent.
bool map_file(std::uint64_t address, std::uint64_t bytes, std::uint64_t whole, int file) {
  constexpr unsigned tries = 10000, pause_us = 100;
  void* const at = pointer_at(address);
  for (unsigned k = 0; k < tries; ++k) {
    if (::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) == at) return true;
    if (errno != EEXIST) return false;
    if (drop_stale(address, whole)) ::munmap(at, whole);
    else ::usleep(pause_us);
  }
  return false;
}
}  // namespace

void note_allocation(const allocation& a) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  allocations()[a.address] = a;
  if (has_file(a)) drop_unsettled(a.address);
}

void drop_allocation(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  allocations().erase(address);
}

bool forget_allocation(const void* p, ended_by call, allocation& was) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  const auto found = allocations().find(address_number(p));
  const bool is_variable = found != allocations().end() && found->second.registered && found->second.type != host;
  if (found == allocations().end() || is_variable || end_of(found->second) != call) return false;
  was = found->second;
  if (has_file(was)) add_unsettled(was.address, was.bytes);
  allocations().erase(found);
  return true;
}

allocation allocation_of(const void* p) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  auto found = allocations().upper_bound(address_number(p));
  if (found == allocations().begin()) return {};
  --found;
  const allocation& a = found->second;
  return address_number(p) - a.address < a.bytes || address_number(p) == a.address ? a : allocation();
}

bool overlaps_registered(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(allocations_mutex);
  auto next = allocations().lower_bound(address + bytes);
  if (next == allocations().begin()) return false;
  const allocation& last = std::prev(next)->second;
  return last.type == host && last.registered && address < last.address + last.bytes;
}

error_t share_memory(std::uint64_t address, std::uint64_t bytes, wire::range_step what) {
  const std::uint64_t whole = (bytes + wire::shared_unit - 1) / wire::shared_unit * wire::shared_unit;
  const int file = ::memfd_create("heddle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return error::out_of_memory;
  error_t e = error::out_of_memory;
  if (::ftruncate(file, static_cast<off_t>(whole)) == 0 &&
      ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 && map_file(address, bytes, whole, file)) {
    e = call(wire::call::host_range,
             wire::writer().put(address).put(whole).put(what).put(static_cast<std::uint32_t>(file)))
            .status;
    if (e != error::none) ::munmap(pointer_at(address), bytes);
  }
  ::close(file);
  return e;
}

error_t allocate(void** pointer, std::size_t bytes, wire::memory_kind kind, memory_type type, unsigned flags) {
  if (pointer == nullptr) return noted(error::invalid_value);
  *pointer = nullptr;
  if (bytes == 0) return noted(error::none);
  const reply r = call(wire::call::allocate, wire::writer().put(std::uint64_t{bytes}).put(kind).put_text(caller()));
  if (r.status != error::none) return noted(r.status);
  const auto address = r.read().get<std::uint64_t>();
  if (type != device) {
    set_unsettled(address, bytes);
    if (const error_t e = share_memory(address, bytes, wire::range_step::allocation); e != error::none) {
      set_settled(address);
      call(wire::call::release, wire::writer().put(address));
      return noted(e);
    }
  }
  note_allocation({address, bytes, type, flags, false, current_context()});
  *pointer = reinterpret_cast<void*>(address);
  return error::none;
}

error_t release(void* pointer, ended_by call_that_ends) {
  if (pointer == nullptr) {  // programs call this first to create a context
    if (chip() != nullptr) use_primary_context();
    return noted(error::none);
  }
  allocation a;
  if (!forget_allocation(pointer, call_that_ends, a)) return noted(error::invalid_value);
  forget_advice(a);
  const error_t e = call(wire::call::release, wire::writer().put(a.address)).status;
  if (has_file(a)) {
    ::munmap(pointer, a.bytes);
    set_settled(a.address);
  }
  return noted(e);
}

void release_of(const void* owner) {
  std::vector<allocation> owned;
  {
    const std::lock_guard<std::mutex> lock(allocations_mutex);
    for (const auto& [address, a] : allocations())
      if (a.owner == owner && !a.registered) owned.push_back(a);
  }
  for (const allocation& a : owned) release(reinterpret_cast<void*>(a.address), end_of(a));
}

allocation device_allocation_of(const void* p) {
  const allocation a = allocation_of(p);
  if (a.type != unregistered) return a;
  registry::get().find_variables();
  return allocation_of(p);
}

// Modules place several variables in one allocation.
bool leaves(const allocation& a, const void* p, std::size_t pitch, std::size_t layer, std::size_t width,
            std::size_t height, std::size_t depth) {
  if (a.type == unregistered || (a.registered && a.type != host)) return false;
  std::uint64_t left = a.address + a.bytes - address_number(p);
  const std::pair<std::size_t, std::size_t> steps[] = {{depth - 1, layer}, {height - 1, pitch}, {1, width}};
  for (const auto& [count, step] : steps) {
    if (step != 0 && count > left / step) return true;
    left -= count * step;
  }
  return false;
}

}  // namespace heddle::cuda
