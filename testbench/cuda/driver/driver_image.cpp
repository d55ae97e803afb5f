// SPDX-License-Identifier: MIT
#include "testbench/cuda/driver/driver_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "testbench/cuda/driver/register_limit.h"

namespace heddle::cuda {

namespace {

enum option : int {
  registers = 0,
  compile_time = 2,
  information_log = 3,
  information_bytes = 4,
  error_log = 5,
  error_bytes = 6
};

constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_binary_magic = 0xba55ed50;
constexpr std::uint32_t ptx_parts = 1, fat_binary_parts = 2, checked_ptx = 3,
                        checked_link = 4;  // as for wire::call::load_image
constexpr char linked_magic[16] = "heddle-linked-1";

struct fat_binary_wrapper {
  std::uint32_t magic;
  std::uint32_t version;  // 2: produced by a device linker, with a list of parts
  const void* data;
  const void* const* parts;
};

/// The architecture in the ELF flags of machine code: bits 8 to 15 since CUDA 13, the lowest bits before.
unsigned architecture_of(const void* elf) {
  Elf64_Ehdr head;
  std::memcpy(&head, elf, sizeof head);
  constexpr unsigned since_13 = 8;
  return head.e_ident[EI_ABIVERSION] >= since_13 ? (head.e_flags >> 8) & 0xff : head.e_flags & 0xff;
}

/// True for text that begins as PTX does, behind space and comments.
bool is_ptx(const char* text) {
  const char* at = text;
  for (;;) {
    at += std::strspn(at, " \t\r\n");
    if (std::strncmp(at, "//", 2) == 0) {
      at += std::strcspn(at, "\n");
    } else if (std::strncmp(at, "/*", 2) == 0 && std::strstr(at, "*/") != nullptr) {
      at = std::strstr(at, "*/") + 2;
    } else {
      return *at == '.';
    }
  }
}

/// The release of PTX, times ten; 0: the text does not tell.
int version_of(const char* ptx) {
  int major = 0, minor = 0;
  const char* at = std::strstr(ptx, ".version");
  return at != nullptr && std::sscanf(at, ".version %d.%d", &major, &minor) == 2 ? 10 * major + minor : 0;
}

/// The oldest release of PTX that has the text's target.
int oldest_version_for(const char* ptx) {
  constexpr std::pair<int, int> releases[] = {{120, 87}, {100, 86}, {89, 78}, {80, 70}, {75, 63},
                                              {70, 60},  {60, 50},  {50, 40}, {30, 30}, {20, 20}};
  const char* at = std::strstr(ptx, ".target");
  at = at != nullptr ? std::strstr(at, "sm_") : nullptr;
  const int target = at != nullptr ? std::atoi(at + 3) : 0;
  for (const auto& [from, release] : releases)
    if (target >= from) return release;
  return 10;
}

bool is_machine_code(const void* elf) {
  constexpr unsigned cuda = 190;  // EM_CUDA
  Elf64_Ehdr head;
  std::memcpy(&head, elf, sizeof head);
  return head.e_machine == cuda;
}

bool begins_with(const void* data, const void* what, std::size_t bytes) {
  // Shorter data end with a zero byte and differ there.
  const auto* a = static_cast<const unsigned char*>(data);
  const auto* b = static_cast<const unsigned char*>(what);
  for (std::size_t k = 0; k < bytes; ++k)
    if (a[k] != b[k]) return false;
  return true;
}

result_t refuse(const std::string& why, jit_options& options) {
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: %s\n", why.c_str());
  options.mistake(why + "\n");
  return result::no_binary_for_gpu;
}

/// Text of a release that no driver of CUDA 13 has, or that has not the text's target yet.
result_t refused_version(const char* text, jit_options& options) {
  constexpr int next_release = 100;
  const int version = version_of(text);
  if (version >= next_release) {
    options.mistake("PTX of release " + std::to_string(version / 10) + " is not known\n");
    return result::unsupported_ptx_version;
  }
  if (version == 0 || version >= oldest_version_for(text)) return result::success;
  options.mistake("PTX of release " + std::to_string(version / 10) + "." + std::to_string(version % 10) +
                  " has not this target\n");
  return result::invalid_ptx;
}

image_parts parts_of_linked(const void* data) {
  const auto* at = static_cast<const char*>(data) + sizeof linked_magic;
  std::uint64_t count = 0;
  std::memcpy(&count, at, sizeof count);
  at += sizeof count;
  image_parts parts(count);
  for (auto& p : parts) {
    std::memcpy(&p.second, at, sizeof p.second);
    at += sizeof p.second;
  }
  for (auto& p : parts) {
    p.first = at;
    at += p.second;
  }
  return parts;
}

result_t load(const void* data, const std::string& what, const char* caller, jit_options& options, image*& loaded) {
  std::uint32_t first = 0;
  constexpr unsigned char elf[] = {0x7f, 'E', 'L', 'F'}, bitcode[] = {'B', 'C', 0xc0, 0xde},
                          intermediate[] = {0xed, 0x43, 0x4e, 0x7f};
  const std::string given = std::string(caller) + " was given " + what;
  if (begins_with(data, elf, sizeof elf) && !is_machine_code(data)) return result::invalid_image;
  if (begins_with(data, elf, sizeof elf))
    return refuse(given + "a cubin (machine code of sm_" + std::to_string(architecture_of(data)) +
                      "); Heddle runs PTX: load the PTX instead",
                  options);
  if (begins_with(data, bitcode, sizeof bitcode) || begins_with(data, intermediate, sizeof intermediate))
    return refuse(given + "a compiler's intermediate code (NVVM or LTO); Heddle runs PTX: load the PTX instead",
                  options);
  std::memcpy(&first, data, std::min(sizeof first, std::strlen(static_cast<const char*>(data))));
  image_parts parts;
  std::uint32_t kind = fat_binary_parts;
  if (first == wrapper_magic) {
    parts = parts_of_wrapper(data);
  } else if (first == fat_binary_magic) {
    parts = {{data, 0}};
  } else if (begins_with(data, linked_magic, sizeof linked_magic)) {
    kind = ptx_parts;
    parts = parts_of_linked(data);
  } else {
    const auto* text = static_cast<const char*>(data);
    if (!is_ptx(text)) return result::invalid_image;
    if (const result_t r = refused_version(text, options); r != result::success) return r;
    kind = ptx_parts;
    parts = {{data, std::strlen(text)}};
  }
  std::vector<std::string> limited;
  if (const unsigned most = options.max_registers(); most != 0 && kind == ptx_parts) {
    for (const auto& [text, bytes] : parts)
      limited.push_back(with_register_limit(std::string(static_cast<const char*>(text), bytes), most));
    std::transform(limited.begin(), limited.end(), parts.begin(), [](const std::string& text) {
      return std::pair<const void*, std::uint64_t>(text.data(), text.size());
    });
  }
  image* i = registry::get().add_image(kind, std::move(parts));
  i->owner = current_context();
  const error_t e = registry::get().load(*i);
  i->parts.clear();  // they belong to the program again
  if (e != error::none) {
    options.mistake(i->failure + "\n");
    return result_of(e);
  }
  loaded = i;
  return result::success;
}

}  // namespace

jit_options::jit_options(unsigned count, const int* names, void** values)
    : names_(names, names + (names != nullptr && values != nullptr ? count : 0)),
      values_(values),
      begin_(std::chrono::steady_clock::now()) {
  const auto ignored = std::count_if(names_.begin(), names_.end(),
                                     [](int n) { return n != registers && (n < compile_time || n > error_bytes); });
  if (void** const most = value(registers))
    max_registers_ = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*most));
  if (ignored != 0)
    information(std::to_string(ignored) +
                " option(s) of the PTX compiler have no effect: Heddle simulates the PTX itself\n");
}

void** jit_options::value(int name) {
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (names_[k] == name) return &values_[k];
  return nullptr;
}

void jit_options::write_back(int buffer, int size, const std::string& text) {
  void** const to = value(buffer);
  void** const room = value(size);
  if (room == nullptr) return;
  // The option first holds the buffer's size, and later the number of bytes used.
  auto [known, added] = sizes_.try_emplace(buffer, static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*room)));
  static_cast<void>(added);
  std::size_t bytes = 0;
  if (to != nullptr && *to != nullptr && known->second != 0) {
    bytes = std::min(text.size(), known->second - 1);
    std::memcpy(*to, text.data(), bytes);
    static_cast<char*>(*to)[bytes] = '\0';
  }
  *room = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bytes));
}

void jit_options::finish() {
  write_back(information_log, information_bytes, information_);
  write_back(error_log, error_bytes, mistake_);
  const auto took =
      static_cast<float>(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count());
  if (void** const time = value(compile_time)) std::memcpy(time, &took, sizeof took);
}

image_parts parts_of_wrapper(const void* wrapper) {
  const auto* w = static_cast<const fat_binary_wrapper*>(wrapper);
  image_parts parts;
  if (w->version == 2 && w->parts != nullptr)
    for (const void* const* p = w->parts; *p != nullptr; ++p) parts.emplace_back(*p, 0);
  if (parts.empty()) parts.emplace_back(w->data, 0);
  return parts;
}

namespace {

result_t check(std::uint32_t what, const std::vector<std::string>& texts, jit_options& options) {
  wire::writer request;
  request.put(what).put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& t : texts)
    request.put(reinterpret_cast<std::uint64_t>(t.data())).put(std::uint64_t{t.size()});
  const reply r = call(wire::call::load_image, request);
  if (r.status != error::none) options.mistake(r.read().get_text() + "\n");
  return result_of(r.status);
}

}  // namespace

result_t check_ptx(const std::string& text, jit_options& options) { return check(checked_ptx, {text}, options); }
result_t check_link(const std::vector<std::string>& texts, jit_options& options) {
  return texts.empty() ? result::success : check(checked_link, texts, options);
}

std::string linked_image(const std::vector<std::string>& inputs, const jit_options& options) {
  std::vector<std::string> texts = inputs;
  if (texts.empty()) return std::string(1, '\0');
  if (const unsigned most = options.max_registers(); most != 0)
    for (std::string& t : texts) t = with_register_limit(t, most);
  if (texts.size() == 1) return texts.front() + '\0';
  std::string whole(linked_magic, sizeof linked_magic);
  const auto put = [&whole](std::uint64_t n) { whole.append(reinterpret_cast<const char*>(&n), sizeof n); };
  put(texts.size());
  for (const std::string& t : texts) put(t.size());
  for (const std::string& t : texts) whole += t;
  return whole;
}

result_t read_file(const char* path, std::string& bytes) {
  if (path == nullptr) return result::invalid_value;
  std::error_code none;
  // CUDA asks for as much memory as a folder claims to have bytes.
  if (std::filesystem::is_directory(path, none)) return result::out_of_memory;
  std::ifstream file(path, std::ios::binary);
  if (!file) return result::file_not_found;
  bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return result::success;
}

result_t load_image(const void* data, const char* caller, jit_options& options, image*& loaded) {
  return data == nullptr ? result::invalid_value : load(data, "", caller, options, loaded);
}

result_t load_file(const char* path, const char* caller, jit_options& options, image*& loaded) {
  std::string bytes;
  if (const result_t r = read_file(path, bytes); r != result::success) return r;
  if (bytes.empty()) return result::invalid_image;
  // Padded with zeros, so that a truncated file cannot be read beyond its end.
  return load((bytes + std::string(sizeof(Elf64_Ehdr), '\0')).data(), "'" + std::string(path) + "', ", caller, options,
              loaded);
}

}  // namespace heddle::cuda
