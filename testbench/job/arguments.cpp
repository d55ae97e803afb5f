// SPDX-License-Identifier: MIT
#include "testbench/job/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heddle/config/suggestion.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

const std::vector<std::string>& scalar_names() {
  static const std::vector<std::string> names = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"};
  return names;
}

namespace {

void set_bytes(argument& a, std::uint64_t bits, unsigned size) {
  for (unsigned i = 0; i < size; ++i) a.bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
}

std::uint64_t integer_bits(const std::string& name, const std::string& text, unsigned bits, const place& where) {
  if (name[0] == 'u') {
    std::uint64_t value = 0;
    const std::uint64_t maximum = ~std::uint64_t{0} >> (64 - bits);
    if (parse_unsigned(text, value) && value <= maximum) return value;
    refuse(where, "got '" + text + "', expected a whole number from 0 to " + std::to_string(maximum));
  }
  std::int64_t value = 0;
  const auto maximum = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  if (parse_signed(text, value) && value <= maximum && value >= -maximum - 1) return static_cast<std::uint64_t>(value);
  refuse(where, "got '" + text + "', expected a whole number from " + std::to_string(-maximum - 1) + " to " +
                    std::to_string(maximum));
}

template <class T>
std::uint64_t float_bits(const std::string& text, const place& where) {
  T value = 0;
  if (!parse_float(text, value)) refuse(where, "got '" + text + "', expected a number");
  // "inf" and "nan" have no digits.
  if (!std::isfinite(value) && text.find_first_of("0123456789") != std::string::npos)
    refuse(where, "got '" + text + "', which is out of range of f" + std::to_string(8 * sizeof value));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

std::uint64_t parse_bytes(const std::string& text, const place& where) {
  std::uint64_t bytes = 0;
  if (!parse_unsigned(text, bytes) || bytes == 0)
    refuse(where, "got '" + text + "', expected a number of bytes above 0");
  return bytes;
}

/// buf:BYTES[:FILL], in:FILE, out:BYTES:FILE or inout:FILE:OUTFILE; `rest` is what follows the kind.
argument add_buffer(job& j, const std::string& kind, const std::string& rest, const place& where) {
  buffer b;
  b.name = "argument " + std::to_string(j.operations[0].arguments.size() + 1);
  b.where = where;
  output o;
  o.name = b.name;
  o.where = where;
  const auto colon = rest.find(':');
  const std::string first = rest.substr(0, colon);
  const std::string second = colon == std::string::npos ? "" : rest.substr(colon + 1);
  if (kind == "buf") {
    b.bytes = parse_bytes(first, where);
    if (colon != std::string::npos) parse_fill(second, b);
  } else if (kind == "out") {
    if (second.empty()) refuse(where, "expected out:BYTES:FILE");
    b.bytes = parse_bytes(first, where);
    o.file = second;
  } else {
    b.content = buffer::fill::file;
    b.file = kind == "in" ? rest : first;
    if (kind == "inout") {
      if (second.empty()) refuse(where, "expected inout:FILE:OUTFILE");
      o.file = second;
    }
    b.bytes = j.access.size(b.file, where);
  }
  j.buffers.push_back(b);
  if (!o.file.empty()) j.outputs.push_back(o);
  argument a;
  a.what = argument::kind::buffer;
  a.name = b.name;
  a.text = kind;
  a.where = where;
  return a;
}

}  // namespace

argument parse_scalar(const std::string& name, const std::string& text, const place& where) {
  argument a;
  a.text = name;
  a.where = where;
  std::uint64_t bits = 0;
  parse_unsigned(name.substr(1), bits);
  const auto width = static_cast<unsigned>(bits);
  if (name == "f32") {
    set_bytes(a, float_bits<float>(text, where), 4);
  } else if (name == "f64") {
    set_bytes(a, float_bits<double>(text, where), 8);
  } else {
    set_bytes(a, integer_bits(name, text, width, where), width / 8);
  }
  return a;
}

std::vector<std::uint8_t> parse_hex_bytes(const std::string& text, const place& where) {
  const auto digit = [&](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    refuse(where, std::string("'") + c + "' is not a hexadecimal digit");
  };
  if (text.empty() || text.size() % 2) refuse(where, "expected two hexadecimal digits for each byte");
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

void parse_fill(const std::string& text, buffer& b) {
  if (text == "zero") {
    b.content = buffer::fill::zero;
  } else if (text == "iota32") {
    b.content = buffer::fill::iota32;
  } else if (text == "iotaf") {
    b.content = buffer::fill::iotaf;
  } else if (text.rfind("random:", 0) == 0 && parse_unsigned(text.substr(7), b.seed)) {
    b.content = buffer::fill::random;
  } else {
    refuse(b.where, "got fill '" + text + "', expected zero, iota32, iotaf or random:SEED" +
                        suggestion(text, {"zero", "iota32", "iotaf", "random:SEED"}));
  }
}

job job_of_arguments(const std::vector<std::string>& arguments, const file_access& access) {
  job j;
  j.access = access;
  j.operations.resize(1);
  for (const std::string& text : arguments) {
    const place where = "--arg '" + text + "'";
    const auto colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    const auto& scalars = scalar_names();
    if (rest.empty()) refuse(where, "expected TYPE:VALUE, such as u32:7 or buf:1024");
    if (std::find(scalars.begin(), scalars.end(), kind) != scalars.end()) {
      j.operations[0].arguments.push_back(parse_scalar(kind, rest, where));
    } else if (kind == "buf" || kind == "in" || kind == "out" || kind == "inout") {
      j.operations[0].arguments.push_back(add_buffer(j, kind, rest, where));
    } else {
      std::vector<std::string> known = scalars;
      known.insert(known.end(), {"buf", "in", "out", "inout"});
      refuse(where, "unknown type '" + kind + "', expected one of " + join(known, " ") + suggestion(kind, known));
    }
  }
  return j;
}

}  // namespace heddle::testbench
