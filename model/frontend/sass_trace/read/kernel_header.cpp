// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/read/kernel_header.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/text/field_scanner.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

constexpr unsigned newest_version = 6;
constexpr std::uint32_t most_threads = 1024;  // of a block, on every chip for which traces exist

constexpr std::uint64_t code_alignment = 4096, local_alignment = 4;
constexpr std::size_t most_lines = 1000;
constexpr std::size_t most_unknown_keys = 20;  // that are kept for a warning

/// A text of the header that is kept.
std::string kept(std::string_view text) { return printable(std::string(text.substr(0, 200))); }

/// The fields of every format, with their brackets; in front of them are those of the block and the source line.
constexpr std::string_view common_fields[] = {"PC",     "mask",    "dest_num",   "[reg_dests]",
                                              "opcode", "src_num", "[reg_srcs]", "mem_width"};
constexpr std::string_view block_fields[] = {"threadblock_x", "threadblock_y", "threadblock_z", "warpid_tb"};

bool is_last_field(std::string_view field) {
  return field == "[adrrescompress?]" || field == "[mem_addresses]" || field == "[addresses]" || field == "immediate" ||
         field == "immediate1" || field == "immediate2";
}

// The mandatory keys.
enum key : unsigned {
  key_name = 1,
  key_grid = 2,
  key_block = 4,
  key_shared = 8,
  key_registers = 16,
  key_binary = 32,
  key_version = 64
};
constexpr const char* key_texts[] = {
    "kernel name", "grid dim", "block dim", "shmem", "nregs", "binary version", "accelsim tracer version"};

// Parses the "-key = value" lines.
class header_parser {
 public:
  explicit header_parser(line_reader& reader) : reader_(reader) {}
  kernel_header parse();

 private:
  void entry(std::string_view line);
  void version(std::string_view value);
  void own_entry(std::string_view name);
  void binary_version();
  void dimensions(std::uint32_t (&out)[3], std::uint32_t most_x, std::uint32_t most_yz);
  void describe_lines(std::string_view text);
  void check_fields(std::string_view text);
  std::uint64_t decimal(std::uint64_t most, const char* what);
  std::uint64_t hex(const char* what);
  [[nodiscard]] std::size_t column() const { return static_cast<std::size_t>(value_.data() - line_.data()) + 1; }

  line_reader& reader_;
  kernel_header h_;
  std::string_view line_;
  std::string_view value_;
  unsigned seen_ = 0;
  std::set<std::string> keys_;
  bool line_info_ = false;
};

kernel_header header_parser::parse() {
  for (std::size_t lines = 1; reader_.next_with_text(line_); ++lines) {
    const std::string_view text = trimmed(line_);
    if (lines > most_lines) reader_.fail(1, "the head has more than " + std::to_string(most_lines) + " lines");
    if (text[0] == '-') {
      entry(text);
      continue;
    }
    if (text[0] != '#')
      reader_.fail(
          1, "got '" + shown(text) + "', expected a line '-key = value' of a trace's head, or '#traces format = ...'");
    for (unsigned k = 0; k < 7; ++k)
      if (!(seen_ >> k & 1)) reader_.fail(1, std::string("the head ends without '-") + key_texts[k] + " = ...'");
    describe_lines(text);
    return h_;
  }
  throw input_error(reader_.file(), reader_.line() + 1, 1,
                    "the file ends in the trace's head, expected '#traces format = ...'");
}

void header_parser::entry(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) reader_.fail(1, "got '" + shown(text) + "', expected '-key = value'");
  const std::string_view name = trimmed(text.substr(1, equals - 1));
  value_ = trimmed(text.substr(equals + 1));
  if (value_.empty()) value_ = text.substr(text.size());
  if (!keys_.insert(std::string(name)).second) reader_.fail(1, "'-" + shown(name) + "' is given twice");
  if (name == "kernel name") {
    if (value_.empty()) reader_.fail(column(), "the kernel has no name");
    h_.name = h_.own ? printable(std::string(value_)) : kept(value_);
    seen_ |= key_name;
  } else if (name == "kernel id") {
    h_.id = decimal(~std::uint64_t{0}, "a whole number of at most 64 bits");
  } else if (name == "grid dim") {
    dimensions(h_.grid, 0x7fffffff, 65535);
    seen_ |= key_grid;
  } else if (name == "block dim") {
    dimensions(h_.block, most_threads, most_threads);
    if (std::uint64_t{h_.block[0]} * h_.block[1] * h_.block[2] > most_threads)
      reader_.fail(column(), "a block of more than " + std::to_string(most_threads) + " threads");
    seen_ |= key_block;
  } else if (name == "shmem") {
    h_.shared_bytes = static_cast<std::uint32_t>(decimal(1u << 24, "bytes of shared memory, at most 16777216"));
    seen_ |= key_shared;
  } else if (name == "nregs") {
    h_.registers = static_cast<std::uint32_t>(decimal(256, "registers of a thread, at most 256"));
    seen_ |= key_registers;
  } else if (name == "binary version") {
    binary_version();
  } else if (name == "cuda stream id") {
    h_.stream = decimal(~std::uint64_t{0}, "a stream's number of at most 64 bits");
  } else if (name == "shmem base_addr") {
    h_.shared_base = hex("an address of at most 64 bits");
  } else if (name == "local mem base_addr") {
    h_.local_base = hex("an address of at most 64 bits");
  } else if (name == "nvbit version") {
    h_.tracer = kept(value_);
  } else if (name == "accelsim tracer version") {
    version(value_);
  } else if (name == "enable lineinfo") {
    line_info_ = decimal(1, "0 or 1") == 1;
  } else if (starts_with(name, "heddle ")) {
    own_entry(name.substr(std::string_view("heddle ").size()));
  } else if (h_.unknown_keys.size() < most_unknown_keys) {
    h_.unknown_keys.push_back(shown(name));
  }
}

// Keys of what heddle --record writes; the version comes first.
void header_parser::own_entry(std::string_view name) {
  constexpr std::uint64_t most_address = std::uint64_t{1} << 47;
  const auto address = [&](std::uint64_t multiple) {
    const std::uint64_t a = hex("an address");
    if (a >= most_address || a % multiple != 0)
      reader_.fail(column(), "expected an address below 2^47, a multiple of " + std::to_string(multiple));
    return a;
  };
  if (name == "version") {
    if (decimal(1000, "a version") != kernel_header::own_version)
      reader_.fail(column(), "got version '" + shown(value_) + "', expected " +
                                 std::to_string(kernel_header::own_version) + ": another version of Heddle wrote it");
    h_.own = true;
  } else if (name == "code address") {
    h_.code_address = address(code_alignment);
  } else if (name == "local address") {
    h_.local_address = address(local_alignment);
  } else if (name == "launch cycle") {
    h_.launch_cycle = decimal(std::uint64_t{1} << 53, "a cycle");
  } else if (name == "carveout") {
    h_.carveout = static_cast<std::int32_t>(decimal(101, "a percentage plus one, or 0")) - 1;
  } else if (name == "machine") {
    h_.machine = value_;
  } else if (name == "source") {
    h_.source = printable(std::string(value_));
  } else if (name == "priority") {
    h_.priority = static_cast<std::int32_t>(decimal(0xffffffffu, "a priority, as 32 bits without a sign"));
  } else if (h_.unknown_keys.size() < most_unknown_keys) {
    h_.unknown_keys.push_back("heddle " + shown(name));
  }
}

std::uint64_t header_parser::decimal(std::uint64_t most, const char* what) {
  field_scanner s(line_, reader_);
  s.skip(column() - 1);
  const std::uint64_t value = s.decimal(most, what);
  s.expect_end("nothing more on the line");
  return value;
}

std::uint64_t header_parser::hex(const char* what) {
  field_scanner s(line_, reader_);
  s.skip(column() - 1);
  const std::uint64_t value = s.hex(64, what);
  s.expect_end("nothing more on the line");
  return value;
}

void header_parser::binary_version() {
  h_.binary_version = static_cast<unsigned>(decimal(100000, "a binary version, at most 100000"));
  if (!h_.own && !generation_of(h_.binary_version, h_.generation))
    reader_.fail(column(), "binary version " + std::to_string(h_.binary_version) + " is not known, expected " +
                               known_binary_versions());
  seen_ |= key_binary;
}

// "5", or "1.2": only the first version has a part after a dot, which does not matter.
void header_parser::version(std::string_view value) {
  unsigned major = 0;
  std::size_t i = 0;
  for (; i < value.size() && value[i] >= '0' && value[i] <= '9' && major < 1000; ++i)
    major = major * 10 + static_cast<unsigned>(value[i] - '0');
  bool good = i != 0;
  if (i < value.size()) {
    good = good && value[i] == '.' && i + 1 < value.size();
    for (++i; i < value.size(); ++i) good = good && value[i] >= '0' && value[i] <= '9';
  }
  if (!good || major == 0 || major > newest_version || (major != 1 && value.find('.') != std::string_view::npos))
    reader_.fail(column(), "tracer version '" + shown(value) + "'" +
                               (h_.tracer.empty() ? "" : " (of NVBit " + h_.tracer + ")") +
                               " is not known, expected 1 to " + std::to_string(newest_version));
  h_.version = major;
  seen_ |= key_version;
}

void header_parser::dimensions(std::uint32_t (&out)[3], std::uint32_t most_x, std::uint32_t most_yz) {
  std::uint32_t parsed[3] = {};
  std::string_view v = value_;
  const bool brackets = v.size() > 2 && v.front() == '(' && v.back() == ')';
  if (brackets) v = v.substr(1, v.size() - 2);
  std::size_t at = 0;
  bool good = brackets;
  for (unsigned k = 0; good && k < 3; ++k) {
    const std::size_t end = k < 2 ? v.find(',', at) : v.size();
    good = end != std::string_view::npos && end > at && end - at < 11;
    std::uint64_t value = 0;
    for (; good && at < end; ++at) {
      good = v[at] >= '0' && v[at] <= '9';
      value = value * 10 + static_cast<unsigned>(v[at] - '0');
    }
    good = good && value >= 1 && value <= (k == 0 ? most_x : most_yz);
    parsed[k] = static_cast<std::uint32_t>(value);
    ++at;
  }
  if (!good)
    reader_.fail(column(), "got '" + shown(value_) + "', expected (X,Y,Z) with X from 1 to " + std::to_string(most_x) +
                               ", Y and Z from 1 to " + std::to_string(most_yz));
  for (unsigned k = 0; k < 3; ++k) out[k] = parsed[k];
}

// The version alone is not sufficient: tracers for Hopper write further fields under existing version numbers.
void header_parser::describe_lines(std::string_view text) {
  if (!starts_with(text, "#traces format"))
    reader_.fail(1, "got '" + shown(text) + "', expected '#traces format = ...'");
  if (h_.own) return;
  check_fields(text);
  line_format& f = h_.format;
  f.block_ids = h_.version < 3;
  f.line_number = h_.version >= 4 && line_info_;
  if (contains(text, "immediate2")) f.immediates = 2;
  else if (contains(text, "immediate")) f.immediates = 1;
  f.values = contains(text, "Val|NoVal");
  const bool expected = h_.version < 5    ? f.immediates == 0 && !f.values
                        : h_.version == 5 ? f.immediates != 0 && !f.values
                                          : true;
  if (!expected)
    reader_.fail(1, "tracer version " + std::to_string(h_.version) + " does not write lines of this format");
}

// Lines with fields that the parser does not know would be misread.
void header_parser::check_fields(std::string_view text) {
  field_scanner s(text, reader_);
  s.skip(std::string_view("#traces format").size());
  if (s.word() != "=") reader_.fail(1, "got '" + shown(text) + "', expected '#traces format = ...'");
  std::vector<std::string_view> fields;
  while (!s.done()) fields.push_back(s.word());
  std::size_t at = 0;
  const auto refuse = [&](const std::string& expected) {
    const std::size_t column =
        at < fields.size() ? static_cast<std::size_t>(fields[at].data() - text.data()) : text.size();
    reader_.fail(column + 1, (at < fields.size() ? "got the field '" + shown(fields[at]) + "'" : "the fields end") +
                                 ", expected " + expected);
  };
  constexpr std::size_t in_front = std::size(block_fields);
  if (fields.size() > in_front && std::equal(std::begin(block_fields), std::end(block_fields), fields.begin()))
    at = in_front;
  if (at < fields.size() && fields[at] == "[line_num]") ++at;
  for (const std::string_view want : common_fields) {
    if (at == fields.size() || fields[at] != want) refuse("'" + std::string(want) + "'");
    ++at;
  }
  for (; at < fields.size() && fields[at] != "Val|NoVal"; ++at)
    if (!is_last_field(fields[at])) refuse("addresses and immediates");
}

}  // namespace

kernel_header read_header(line_reader& reader) { return header_parser(reader).parse(); }

}  // namespace heddle::sass_trace
