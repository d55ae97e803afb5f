// SPDX-License-Identifier: MIT
#include "heddle/simt/warp/print_format.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "heddle/config/error.h"

namespace heddle::simt {

namespace {

constexpr std::size_t longest_string = 65536;
constexpr int widest = 65535;

/// One parsed conversion of a format.
struct conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  std::string length;
  char kind = 0;
};

class printer {
 public:
  printer(const lane_reader& read, std::uint64_t arguments) : read_(read), next_(arguments) {}

  printed_text run(const std::string& format) {
    for (at_ = 0; at_ < format.size();) {
      if (format[at_] != '%') {
        out_.text += format[at_++];
        continue;
      }
      const std::size_t begin = at_++;
      conversion c;
      if (!parse(format, c)) out_.text.append(format, begin, at_ - begin);
      else if (c.kind == '%') out_.text += '%';
      else convert(c);
      if (out_.text.size() > 16 * longest_string) throw program_error("printf prints more than a megabyte at once");
    }
    return std::move(out_);
  }

 private:
  template <class T>
  T take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T v;
    read_(next_, &v, sizeof v);
    next_ += sizeof v;
    return v;
  }

  int number(const std::string& f) {
    if (at_ < f.size() && f[at_] == '*') {
      ++at_;
      const auto n = take<std::int32_t>();
      if (n > widest || n < -widest) throw program_error("printf with a width or precision of " + std::to_string(n));
      return n;
    }
    int n = 0;
    for (; at_ < f.size() && f[at_] >= '0' && f[at_] <= '9'; ++at_) {
      n = n * 10 + (f[at_] - '0');
      if (n > widest) throw program_error("printf with a width or precision above " + std::to_string(widest));
    }
    return n;
  }

  // Returns false for an unknown conversion; at_ is after the characters that were read.
  bool parse(const std::string& f, conversion& c) {
    while (at_ < f.size() && std::strchr("-+ #0", f[at_])) {
      if (c.flags.find(f[at_]) == std::string::npos) c.flags += f[at_];
      ++at_;
    }
    if (at_ < f.size() && (f[at_] == '*' || (f[at_] >= '0' && f[at_] <= '9'))) c.width = number(f);
    if (c.width < -1) {
      c.flags += '-';
      c.width = -c.width;
    }
    if (at_ < f.size() && f[at_] == '.') {
      ++at_;
      c.precision = number(f);
      if (c.precision < 0) c.precision = -1;  // as without a precision
    }
    while (at_ < f.size() && std::strchr("hlLzjt", f[at_])) c.length += f[at_++];
    if (at_ >= f.size()) return false;
    c.kind = f[at_++];
    return std::strchr("diuxXocspfFeEgGaA%", c.kind) != nullptr;
  }

  template <class T>
  void put(const conversion& c, const char* length, char kind, T v) {
    std::string f = "%" + c.flags;
    if (c.width >= 0) f += std::to_string(c.width);
    if (c.precision >= 0) f += "." + std::to_string(c.precision);
    f += length;
    f += kind;
    const int n = std::snprintf(nullptr, 0, f.c_str(), v);
    invariant(n >= 0, "a conversion of printf cannot be printed");
    std::vector<char> text(static_cast<std::size_t>(n) + 1);
    std::snprintf(text.data(), text.size(), f.c_str(), v);
    out_.text.append(text.data(), static_cast<std::size_t>(n));
  }

  void convert(const conversion& c) {
    ++out_.arguments;
    const bool wide = c.length == "l" || c.length == "ll" || c.length == "z" || c.length == "j" || c.length == "t";
    switch (c.kind) {
      case 'd':
      case 'i': {
        long long v = wide ? take<std::int64_t>() : take<std::int32_t>();
        if (c.length == "h") v = static_cast<std::int16_t>(v);
        if (c.length == "hh") v = static_cast<std::int8_t>(v);
        return put(c, "ll", 'd', v);
      }
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        unsigned long long v = wide ? take<std::uint64_t>() : take<std::uint32_t>();
        if (c.length == "h") v = static_cast<std::uint16_t>(v);
        if (c.length == "hh") v = static_cast<std::uint8_t>(v);
        return put(c, "ll", c.kind, v);
      }
      case 'c': {
        conversion s = c;
        s.precision = -1;
        const char v = static_cast<char>(take<std::int32_t>());
        if (v != 0) return put(s, "", 'c', static_cast<int>(v));
        out_.text += v;
        return;
      }
      case 's': {
        const auto address = take<std::uint64_t>();
        const std::string v = address == 0 ? "(null)" : read_string(read_, address);
        return put(c, "", 's', v.c_str());
      }
      case 'p': {
        const auto v = take<std::uint64_t>();
        conversion s = c;
        s.precision = -1;
        if (v == 0) return put(s, "", 's', "(nil)");
        if (s.flags.find('#') == std::string::npos) s.flags += '#';
        return put(s, "ll", 'x', static_cast<unsigned long long>(v));
      }
      default: return put(c, "", c.kind, take<double>());
    }
  }

  const lane_reader& read_;
  std::uint64_t next_;
  std::size_t at_ = 0;
  printed_text out_;
};

}  // namespace

std::string read_string(const lane_reader& read, std::uint64_t address) {
  std::string s;
  for (;; ++address) {
    char c;
    read(address, &c, 1);
    if (c == 0) return s;
    if (s.size() == longest_string) throw program_error("a string of the program has no end within 64 KiB");
    s += c;
  }
}

printed_text format_print(const lane_reader& read, std::uint64_t format, std::uint64_t arguments) {
  if (format == 0) return {"", -1};
  return printer(read, arguments).run(read_string(read, format));
}

}  // namespace heddle::simt
