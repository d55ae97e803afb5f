// SPDX-License-Identifier: MIT
#include "testbench/files/executable.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace heddle::testbench {

namespace {

/// `count` items at an offset of the file; none if the file has not all of them.
template <class T>
std::vector<T> items_at(std::ifstream& in, std::uint64_t offset, std::uint16_t count) {
  std::vector<T> items(count);
  const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
  in.clear();
  in.seekg(static_cast<std::streamoff>(offset & INT64_MAX));
  in.read(reinterpret_cast<char*>(items.data()), bytes);
  if (in.gcount() != bytes) items.clear();
  return items;
}

bool has_fat_binary(std::ifstream& in, const Elf64_Ehdr& head) {
  const auto sections = items_at<Elf64_Shdr>(in, head.e_shoff, head.e_shnum);
  if (head.e_shstrndx >= sections.size()) return false;
  constexpr char wanted[] = ".nvFatBinSegment";
  return std::any_of(sections.begin(), sections.end(), [&](const Elf64_Shdr& s) {
    const auto name = items_at<char>(in, sections[head.e_shstrndx].sh_offset + s.sh_name, sizeof wanted);
    return !name.empty() && std::memcmp(name.data(), wanted, sizeof wanted) == 0;
  });
}

bool has_linker(const std::vector<Elf64_Phdr>& segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Elf64_Phdr& p) { return p.p_type == PT_INTERP; });
}

/// True if a segment or the section table ends behind the end of the file.
bool is_cut_off(std::ifstream& in, const Elf64_Ehdr& head, const std::vector<Elf64_Phdr>& segments) {
  in.clear();
  in.seekg(0, std::ios::end);
  const auto bytes = static_cast<std::uint64_t>(in.tellg());
  const auto ends_behind = [bytes](std::uint64_t offset, std::uint64_t size) {
    return size != 0 && (offset > bytes || size > bytes - offset);
  };
  return ends_behind(head.e_shoff, std::uint64_t{head.e_shnum} * head.e_shentsize) ||
         std::any_of(segments.begin(), segments.end(),
                     [&](const Elf64_Phdr& p) { return p.p_type == PT_LOAD && ends_behind(p.p_offset, p.p_filesz); });
}

}  // namespace

std::string defect_of_executable(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const auto heads = items_at<Elf64_Ehdr>(in, 0, 1);
  if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      heads[0].e_ident[EI_CLASS] != ELFCLASS64 || heads[0].e_phentsize != sizeof(Elf64_Phdr))
    return "";
  const auto segments = items_at<Elf64_Phdr>(in, heads[0].e_phoff, heads[0].e_phnum);
  if (is_cut_off(in, heads[0], segments)) return "is cut off: the file ends before the program does";
  if (!segments.empty() && !has_linker(segments) && has_fat_binary(in, heads[0]))
    return "is linked with -static, so that no library can be put under it; link it without -static (nvcc's static "
           "CUDA runtime may stay)";
  return "";
}

}  // namespace heddle::testbench
