// SPDX-License-Identifier: MIT
#include "testbench/exec/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

constexpr std::uint32_t fat_binary_magic = 0xba55ed50;
constexpr std::uint64_t most_ptx = std::uint64_t{1} << 30;  // limit of one entry; a larger size is taken for an error
constexpr std::uint16_t kind_of_ptx = 1;
constexpr std::uint64_t packed_by_lz4 = 0x2000, packed_by_zstd = 0x8000;

constexpr std::uint64_t most_ratio = 1000;

[[noreturn]] void refuse_binary(const std::string& what) { throw input_error("the fat binary " + what); }

template <class T>
T field(const std::uint8_t* data, std::size_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

std::string unpacked(const std::uint8_t* data, std::size_t bytes, std::uint64_t unpacked_bytes, std::uint64_t flags) {
  if ((flags & (packed_by_lz4 | packed_by_zstd)) == 0) return {reinterpret_cast<const char*>(data), bytes};
  if (unpacked_bytes > most_ptx || bytes > most_ptx)
    refuse_binary("has PTX of " + std::to_string(unpacked_bytes) + " bytes, expected at most " +
                  std::to_string(most_ptx));
  // No compiler's text shrinks to a thousandth; a few bytes that say so would take a gigabyte.
  if (unpacked_bytes / most_ratio > bytes)
    refuse_binary("has PTX of " + std::to_string(unpacked_bytes) + " bytes in " + std::to_string(bytes) +
                  " packed ones");
  std::string text(unpacked_bytes, '\0');
  std::size_t got = 0;
  if (flags & packed_by_zstd) {
    got = ZSTD_decompress(text.data(), text.size(), data, bytes);
    if (ZSTD_isError(got)) refuse_binary(std::string("has PTX that zstd cannot unpack: ") + ZSTD_getErrorName(got));
  } else {
    const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(data), text.data(), static_cast<int>(bytes),
                                      static_cast<int>(text.size()));
    if (n < 0) refuse_binary("has PTX that LZ4 cannot unpack");
    got = static_cast<std::size_t>(n);
  }
  if (got != text.size())
    refuse_binary("has PTX of " + std::to_string(got) + " bytes, and says that they are " +
                  std::to_string(text.size()));
  return text;
}

constexpr std::size_t least_entry = 64;

fat_binary_entry read_entry(const std::uint8_t* data, std::size_t left, std::size_t& taken) {
  if (left < least_entry) refuse_binary("ends within an entry's head");
  const auto what = field<std::uint16_t>(data, 0);
  const auto head = field<std::uint32_t>(data, 4);
  const auto payload = field<std::uint64_t>(data, 8);
  const auto packed = field<std::uint32_t>(data, 16);
  const auto flags = field<std::uint64_t>(data, 40);
  if (head < least_entry || head > left)
    refuse_binary("has an entry with a head of " + std::to_string(head) + " bytes");
  if (payload > left - head)
    refuse_binary("has an entry of " + std::to_string(payload) + " bytes, and ends before that");
  if (packed > payload)
    refuse_binary("has an entry of " + std::to_string(payload) + " bytes with " + std::to_string(packed) +
                  " packed ones");
  fat_binary_entry e;
  e.is_ptx = what == kind_of_ptx;
  e.architecture = field<std::uint32_t>(data, 28);
  if (e.is_ptx) {
    e.text = unpacked(data + head, (flags & (packed_by_lz4 | packed_by_zstd)) != 0 ? packed : payload,
                      field<std::uint64_t>(data, 56), flags);
    e.text.resize(std::min(e.text.size(), e.text.find('\0')));  // removes the padding
  }
  taken = head + payload;
  return e;
}

}  // namespace

std::uint64_t fat_binary_bytes(const std::uint8_t* data, std::size_t bytes) {
  if (bytes < fat_binary_head_bytes || field<std::uint32_t>(data, 0) != fat_binary_magic)
    refuse_binary("does not begin as one");
  const auto head = field<std::uint16_t>(data, 6);
  const auto body = field<std::uint64_t>(data, 8);
  if (head < fat_binary_head_bytes || body > (std::uint64_t{1} << 36))
    refuse_binary("has a head of " + std::to_string(head) + " bytes for " + std::to_string(body));
  return head + body;
}

std::vector<fat_binary_entry> read_fat_binary(const std::uint8_t* data, std::size_t bytes) {
  const std::uint64_t whole = fat_binary_bytes(data, bytes);
  if (whole > bytes) refuse_binary("of " + std::to_string(whole) + " bytes is cut after " + std::to_string(bytes));
  std::vector<fat_binary_entry> entries;
  for (std::size_t offset = field<std::uint16_t>(data, 6); offset < whole;) {
    std::size_t taken = 0;
    entries.push_back(read_entry(data + offset, whole - offset, taken));
    offset += taken;
  }
  return entries;
}

std::string ptx_target(const fat_binary_entry& entry) {
  const std::string number = std::to_string(entry.architecture), name = "sm_" + number;
  const std::size_t directive = entry.text.find(".target");
  const std::size_t at = directive == std::string::npos ? directive : entry.text.find(name, directive);
  if (at == std::string::npos) return number;
  const std::size_t end = at + name.size();
  const char letter = end < entry.text.size() ? entry.text[end] : ' ';
  return letter == 'a' || letter == 'f' ? number + letter : number;
}

bool runs_ptx(const fat_binary_entry& entry, unsigned compute_capability) {
  if (entry.architecture > compute_capability) return false;
  switch (ptx_target(entry).back()) {
    case 'a': return entry.architecture == compute_capability;
    case 'f': return entry.architecture / 10 == compute_capability / 10;
    default: return true;
  }
}

const fat_binary_entry& choose_ptx(const std::vector<fat_binary_entry>& entries, unsigned compute_capability) {
  const fat_binary_entry* fits = nullptr;
  const fat_binary_entry* newest = nullptr;
  unsigned machine = 0;
  const auto rank = [](const fat_binary_entry& e) { return std::make_pair(e.architecture, ptx_target(e).size()); };
  for (const fat_binary_entry& e : entries) {
    if (!e.is_ptx) {
      machine = std::max(machine, e.architecture);
      continue;
    }
    if (newest == nullptr || e.architecture > newest->architecture) newest = &e;
    if (runs_ptx(e, compute_capability) && (fits == nullptr || rank(e) > rank(*fits))) fits = &e;
  }
  if (newest == nullptr) {
    const std::string arch = std::to_string(machine != 0 ? machine : compute_capability);
    refuse_binary("has machine code of sm_" + arch + " alone, and no PTX; build it with nvcc -gencode arch=compute_" +
                  arch + ",code=compute_" + arch + " (or -arch=sm_" + arch + ", which keeps both)");
  }
  return fits != nullptr ? *fits : *newest;
}

}  // namespace heddle::testbench
