// SPDX-License-Identifier: MIT
// The dynamic linker calls an empty function for debuggers (r_brk of its r_debug, see link.h) after it has loaded
// libraries and before it runs their constructors. A jump written over that function tells of each library in time.
#include "testbench/cuda/runtime/library_watch.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace heddle::cuda {

namespace {

void (*visitor)(const char*, std::uintptr_t) = nullptr;

void visit_new_libraries() {
  static auto* known = new std::vector<const link_map*>;
  std::vector<const link_map*> now;
  for (const link_map* m = _r_debug.r_map; m != nullptr; m = m->l_next) {
    now.push_back(m);
    const bool is_file = m->l_name != nullptr && std::strchr(m->l_name, '/') != nullptr;
    if (is_file && std::find(known->begin(), known->end(), m) == known->end()) visitor(m->l_name, m->l_addr);
  }
  known->swap(now);  // without those that were closed: another library may get their place
}

/// Takes the place of the linker's empty function; its callers hold the linker's lock.
void on_change() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) visit_new_libraries();
}

/// Whether a function consists of a return and of padding that a jump may overwrite.
bool is_empty_function(const std::uint8_t* code) {
  static constexpr std::uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  static constexpr std::uint8_t padding[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x80, 0x40, 0x44, 0x00, 0x90, 0xcc};
  const std::uint8_t* end = code + jump_bytes;
  if (std::memcmp(code, endbr64, sizeof endbr64) == 0) code += sizeof endbr64;
  if (*code++ != 0xc3) return false;
  return std::all_of(code, end, [](std::uint8_t b) {
    return std::find(std::begin(padding), std::end(padding), b) != std::end(padding);
  });
}

}  // namespace

bool write_jump([[maybe_unused]] std::uintptr_t at, [[maybe_unused]] const void* to,
                [[maybe_unused]] std::uint64_t bytes) {
#if defined(__x86_64__)
  constexpr std::uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip), followed by the address
  static_assert(sizeof jump + sizeof to == jump_bytes);
  constexpr std::uint64_t prologue = 32, farthest = 2 + 127;  // of a short jump
  const std::uint64_t place = bytes >= prologue + jump_bytes ? std::min(bytes - jump_bytes, farthest) : 0;
  const std::uint8_t to_place[] = {0xeb, static_cast<std::uint8_t>(place - 2)};
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = at / page * page;
  const std::uintptr_t end = (at + place + jump_bytes + page - 1) / page * page;
  if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(at + place), jump, sizeof jump);
  std::memcpy(reinterpret_cast<void*>(at + place + sizeof jump), &to, sizeof to);
  if (place != 0) std::memcpy(reinterpret_cast<void*>(at), to_place, sizeof to_place);
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_EXEC) == 0;
#else
  return false;
#endif
}

void watch_libraries(void (*visit)(const char* path, std::uintptr_t base)) {
  visitor = visit;
  visit_new_libraries();
  const std::uintptr_t empty = _r_debug.r_brk;
  if (empty != 0 && is_empty_function(reinterpret_cast<const std::uint8_t*>(empty)))
    write_jump(empty, reinterpret_cast<const void*>(&on_change), jump_bytes);
}

}  // namespace heddle::cuda
