// SPDX-License-Identifier: MIT
// By default, nvcc links its runtime statically into the program, or into a library. Before the constructors of either
// run, the start of each runtime function listed in its symbol table is overwritten with a jump to Heddle's function.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "testbench/cuda/core/runtime_version.h"
#include "testbench/cuda/runtime/library_watch.h"
#include "testbench/cuda/runtime/runtime_table.h"

namespace heddle::cuda {

namespace {

int version_found = 0;

/// The file of the program or of a library, mapped while it is examined.
class elf_file {
 public:
  explicit elf_file(const char* path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat s {};
    if (fd >= 0 && ::fstat(fd, &s) == 0 && s.st_size > static_cast<off_t>(sizeof(Elf64_Ehdr))) {
      bytes_ = static_cast<std::size_t>(s.st_size);
      void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
      data_ = at == MAP_FAILED ? nullptr : static_cast<const std::uint8_t*>(at);
    }
    if (fd >= 0) ::close(fd);
  }
  ~elf_file() {
    if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), bytes_);
  }
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;

  /// `count` items at an offset; null: outside of the file.
  template <class T>
  [[nodiscard]] const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    const bool there = data_ != nullptr && offset <= bytes_ && count <= (bytes_ - offset) / sizeof(T);
    return there ? reinterpret_cast<const T*>(data_ + offset) : nullptr;
  }
  [[nodiscard]] const char* text(std::uint64_t offset) const {
    const char* begin = at<char>(offset);
    return begin != nullptr && std::memchr(begin, 0, bytes_ - offset) != nullptr ? begin : "";
  }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The relevant sections.
struct sections {
  const Elf64_Shdr* symbols = nullptr;
  const Elf64_Shdr* names = nullptr;
  bool has_fat_binary = false;
};

sections sections_of(const elf_file& file) {
  sections s;
  const auto* head = file.at<Elf64_Ehdr>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
    return s;
  const auto* all = file.at<Elf64_Shdr>(head->e_shoff, head->e_shnum);
  if (all == nullptr || head->e_shstrndx >= head->e_shnum) return s;
  for (unsigned k = 0; k < head->e_shnum; ++k) {
    const char* name = file.text(all[head->e_shstrndx].sh_offset + all[k].sh_name);
    s.has_fat_binary |= std::strcmp(name, ".nvFatBinSegment") == 0;
    if (all[k].sh_type != SHT_SYMTAB || all[k].sh_link >= head->e_shnum) continue;
    s.symbols = &all[k];
    s.names = &all[all[k].sh_link];
  }
  return s;
}

std::uintptr_t load_address() {
  std::uintptr_t base = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;  // the first entry is the program
      },
      &base);
  return base;
}

int version_of_libraries() {
  int version = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const char* name = info->dlpi_name != nullptr ? std::strstr(info->dlpi_name, "libcudart.so.") : nullptr;
        if (name != nullptr) *static_cast<int*>(to) = 1000 * std::atoi(name + std::strlen("libcudart.so."));
        return 0;
      },
      &version);
  return version;
}

constexpr const char* hidden_runtime =
    " whose functions cannot be found, since it was stripped or cut off; link it with nvcc -cudart shared, or do not strip it";

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "heddle: error: %s\n", why);
  ::_exit(2);
}

[[noreturn]] void refuse_program() {
  refuse((std::string("this program has a CUDA runtime within it") + hidden_runtime).c_str());
}

/// Writes the jumps into the program or library in `file`; false: it has no runtime within it.
bool take_over(const elf_file& file, const sections& s, std::uintptr_t base) {
  const std::uint64_t count = s.symbols != nullptr ? s.symbols->sh_size / sizeof(Elf64_Sym) : 0;
  const auto* symbols = s.symbols != nullptr ? file.at<Elf64_Sym>(s.symbols->sh_offset, count) : nullptr;
  bool has_runtime = false, has_old = false, has_v2 = false;
  const auto& table = runtime_table();
  for (std::uint64_t k = 0; symbols != nullptr && k < count; ++k) {
    const Elf64_Sym& symbol = symbols[k];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0 || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = file.text(s.names->sh_offset + symbol.st_name);
    const auto ours = std::lower_bound(table.begin(), table.end(), name, [](const runtime_function& f, const char* n) {
      return std::strcmp(f.name, n) < 0;
    });
    if (ours == table.end() || std::strcmp(ours->name, name) != 0) continue;
    has_runtime = true;
    has_old |= std::strcmp(name, "cudaBindTexture") == 0;
    has_v2 |= std::strcmp(name, "cudaGetDeviceProperties_v2") == 0;
#if defined(__x86_64__)
    if (!write_jump(base + symbol.st_value, ours->address, symbol.st_size))
      refuse(
          "this system does not let a program's code be changed, as a static CUDA runtime needs; link it with nvcc -cudart shared");
#else
    refuse("on this processor a program with a static CUDA runtime cannot be served; link it with nvcc -cudart shared");
#endif
  }
  if (has_runtime && version_found == 0) version_found = has_old ? 11000 : has_v2 ? 12000 : 13000;
  return has_runtime;
}

/// The file has kernels, or functions of NVIDIA's runtime by their internal names: a program need not have kernels.
bool uses_runtime(const elf_file& file, const sections& s) {
  if (s.has_fat_binary) return true;
  const std::uint64_t count = s.symbols != nullptr ? s.symbols->sh_size / sizeof(Elf64_Sym) : 0;
  const auto* symbols = s.symbols != nullptr ? file.at<Elf64_Sym>(s.symbols->sh_offset, count) : nullptr;
  for (std::uint64_t k = 0; symbols != nullptr && k < count; ++k) {
    if (ELF64_ST_TYPE(symbols[k].st_info) != STT_FUNC) continue;
    const char* name = file.text(s.names->sh_offset + symbols[k].st_name);
    for (const char* internal : {"libcudart_static_", "_ZN6cudart"})
      if (std::strncmp(name, internal, std::strlen(internal)) == 0) return true;
  }
  return false;
}

void take_over_library(const char* path, std::uintptr_t base) {
  const elf_file file(path);
  const sections s = sections_of(file);
  if (uses_runtime(file, s)) take_over(file, s, base);
}

__attribute__((constructor(101))) void take_over_static_runtimes() {
  watch_libraries(take_over_library);
  const elf_file file("/proc/self/exe");
  const sections s = sections_of(file);
  if (!uses_runtime(file, s) || take_over(file, s, load_address())) return;
  if (version_found == 0 && version_of_libraries() == 0) refuse_program();
}

}  // namespace

bool refuse_hidden_runtime(const void* caller) {
  Dl_info program{}, library{};
  const auto* headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  if (::dladdr(headers, &program) == 0 || ::dladdr(caller, &library) == 0) return false;
  if (program.dli_fbase != library.dli_fbase) {
    std::fprintf(
        stderr,
        "heddle: error: %s has a CUDA runtime within it%s. NVIDIA's own libraries cannot be used: take one that "
        "is compiled from source, as CUB or CUTLASS\n",
        library.dli_fname, hidden_runtime);
    return true;
  }
  if (version_found == 0 && version_of_libraries() == 0) refuse_program();
  return false;
}

int runtime_version() {
  if (version_found == 0) version_found = version_of_libraries();
  if (version_found == 0) version_found = 13000;
  return version_found;
}

}  // namespace heddle::cuda
