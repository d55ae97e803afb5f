// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/read/kernels_list.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/text/line_reader.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

// Parses all of `text` as a number in base 10 or 16 (with 0x).
bool number(std::string_view text, unsigned base, std::uint64_t& value) {
  if (base == 16 && (starts_with(text, "0x") || starts_with(text, "0X"))) text.remove_prefix(2);
  if (text.empty()) return false;
  value = 0;
  for (const char c : text) {
    unsigned d = 16;
    if (c >= '0' && c <= '9') d = static_cast<unsigned>(c - '0');
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') d = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    if (d >= base || value > (~std::uint64_t{0} - d) / base) return false;
    value = value * base + d;
  }
  return true;
}

list_command copy_of(std::string_view line, const line_reader& reader) {
  list_command c;
  c.what = list_command::kind::copy_to_device;
  const std::size_t first = line.find(',');
  const std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
  if (second == std::string_view::npos || !number(trimmed(line.substr(first + 1, second - first - 1)), 16, c.address) ||
      !number(trimmed(line.substr(second + 1)), 10, c.bytes))
    reader.fail(1, "expected MemcpyHtoD,ADDRESS,BYTES with a hexadecimal address and a decimal number of bytes");
  return c;
}

constexpr char untimed[] = "Untimed,";

bool names_kernel(std::string_view line) {
  const std::size_t name = line.rfind('/') == std::string_view::npos ? 0 : line.rfind('/') + 1;
  return starts_with(line.substr(name), "kernel");
}

// Checks the trace file of a kernel line: it must exist in a supported format.
list_command kernel_of(std::string_view line, const std::string& folder, const line_reader& reader) {
  list_command c;
  c.file = (line[0] == '/' ? "" : folder) + std::string(line);
  std::string_view name = line;
  for (const char* packed : {".xz", ".zst", ".gz"})
    if (name.size() > std::strlen(packed) && name.substr(name.size() - std::strlen(packed)) == packed) {
      name.remove_suffix(std::strlen(packed));
      break;
    }
  const auto ends_in = [&](std::string_view ending) {
    return name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending;
  };
  if (!ends_in(".traceg") && !(name.size() == line.size() && ends_in(".tracez")))
    reader.fail(1, "'" + std::string(line) +
                       "' is no trace that is read, expected a name that ends in .tracez, .traceg, .traceg.xz, "
                       ".traceg.zst or .traceg.gz");
  if (::access(c.file.c_str(), R_OK) != 0)
    reader.fail(1, "the trace '" + c.file + "' cannot be read: " + std::strerror(errno));
  struct stat status {};
  if (::stat(c.file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    reader.fail(1, "the trace '" + c.file + "' is no regular file");
  return c;
}

list_command untimed_of(std::string_view line, const std::string& folder, bool any_kernel, const line_reader& reader) {
  const std::string_view name = trimmed(line.substr(std::strlen(untimed)));
  if (any_kernel) reader.fail(1, "launches without time only fill the L2 before the first launch, expected them there");
  if (!names_kernel(name)) reader.fail(1, "expected Untimed,FILE with the name of a kernel's trace");
  list_command c = kernel_of(name, folder, reader);
  c.what = list_command::kind::untimed;
  return c;
}

}  // namespace

std::deque<list_command> read_kernels_list(const std::string& file) {
  line_reader reader(file);
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : file.substr(0, slash + 1);
  std::deque<list_command> commands;
  bool any_kernel = false;
  std::string_view text;
  while (reader.next_with_text(text)) {
    const std::string_view line = trimmed(text);
    if (line.find('\0') != std::string_view::npos) reader.fail(1, "not a list of kernels: it holds a zero byte");
    if (line[0] == '#' || starts_with(line, "//")) continue;
    const bool only_fills = starts_with(line, untimed), kernel = !only_fills && names_kernel(line);
    if (only_fills) commands.push_back(untimed_of(line, folder, any_kernel, reader));
    else if (kernel) commands.push_back(kernel_of(line, folder, reader));
    else if (starts_with(line, "MemcpyHtoD")) commands.push_back(copy_of(line, reader));
    else if (contains(line, ".traceg") || contains(line, ".tracez"))
      reader.fail(1, "got '" + printable(std::string(line)) +
                         "', expected the name of a kernel's trace, such as kernel-1.traceg");
    else continue;
    commands.back().line = reader.line();
    any_kernel = any_kernel || kernel;
  }
  if (!any_kernel)
    throw input_error(file, reader.line() + 1, 1, "the list names no kernel, expected lines such as kernel-1.traceg");
  return commands;
}

}  // namespace heddle::sass_trace
