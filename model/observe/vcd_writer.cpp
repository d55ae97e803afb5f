// SPDX-License-Identifier: MIT
#include "heddle/observe/vcd_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "heddle/config/error.h"

namespace heddle {

namespace {

constexpr std::size_t vcd_buffer_bytes = 1 << 20;

template <class T>
std::uint64_t load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Thousands of values are read each cycle: the common sizes are read without a call.
std::uint64_t value_of(const void* p, unsigned bytes) {
  switch (bytes) {
    case 1: return load<std::uint8_t>(p);
    case 2: return load<std::uint16_t>(p);
    case 4: return load<std::uint32_t>(p);
    default: return load<std::uint64_t>(p);
  }
}

// VCD identifiers are strings of printable characters: a number in base 94.
void make_code(std::size_t number, char code[8]) {
  unsigned n = 0;
  do {
    code[n++] = static_cast<char>('!' + number % 94);
    number /= 94;
  } while (number != 0);
  code[n] = 0;
}

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1)
    parts.push_back(name.substr(from, dot - from));
  parts.push_back(name.substr(from));
  return parts;
}

}  // namespace

vcd_writer::vcd_writer(const std::string& path, const trace_window& window)
    : trace_window(window), path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) throw input_error(path + ": " + std::strerror(errno) + ", expected a file that can be written");
}

vcd_writer::~vcd_writer() {
  if (file_ != nullptr) std::fclose(file_);
}

void vcd_writer::refuse(const std::string& name) const {
  throw internal_error(name + ": a value of this type cannot be put into a VCD file");
}

void vcd_writer::trace(const sc_core::sc_event&, const std::string& name) { refuse(name); }
void vcd_writer::trace(const sc_core::sc_time&, const std::string& name) { refuse(name); }

void vcd_writer::add(const void* value, const std::string& name, std::size_t bytes, int width) {
  invariant(!begun_, "a signal was added to a waveform that has begun");
  if (!known_.insert(name).second) return;
  item i;
  i.value = value;
  i.last = 0;
  i.bytes = static_cast<std::uint8_t>(bytes);
  i.width = static_cast<std::uint8_t>(width);
  make_code(items_.size(), i.code);
  items_.push_back(i);
  names_.push_back({name, static_cast<unsigned>(width)});
}

// Signals of one scope must be adjacent, so the header lists them sorted by name.
void vcd_writer::write_header() {
  if (!comment_.empty()) buffer_ += "$comment " + comment_ + " $end\n";
  buffer_ += "$timescale 1 ps $end\n";
  std::vector<std::size_t> order(items_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [this](std::size_t a, std::size_t b) { return split(names_[a].name) < split(names_[b].name); });
  std::vector<std::string> open;
  for (const std::size_t k : order) {
    std::vector<std::string> scope = split(names_[k].name);
    const std::string leaf = scope.back();
    scope.pop_back();
    std::size_t same = 0;
    while (same < open.size() && same < scope.size() && open[same] == scope[same]) ++same;
    for (std::size_t n = open.size(); n > same; --n) buffer_ += "$upscope $end\n";
    for (std::size_t n = same; n < scope.size(); ++n) buffer_ += "$scope module " + scope[n] + " $end\n";
    open = scope;
    const unsigned w = names_[k].width;
    buffer_ += "$var wire " + std::to_string(w) + " " + items_[k].code + " " + leaf +
               (w > 1 ? " [" + std::to_string(w - 1) + ":0]" : std::string()) + " $end\n";
  }
  for (std::size_t n = open.size(); n > 0; --n) buffer_ += "$upscope $end\n";
  buffer_ += "$enddefinitions $end\n";
}

void vcd_writer::put(const item& i) {
  char text[80];
  char* to = text;
  if (i.width == 1) {
    *to++ = static_cast<char>('0' + (i.last & 1));
  } else {
    *to++ = 'b';
    const unsigned significant = i.last == 0 ? 1 : 64 - static_cast<unsigned>(__builtin_clzll(i.last));
    for (unsigned b = std::min<unsigned>(significant, i.width); b-- > 0;)
      *to++ = static_cast<char>('0' + (i.last >> b & 1));
    *to++ = ' ';
  }
  for (const char* c = i.code; *c != 0; ++c) *to++ = *c;
  *to++ = '\n';
  buffer_.append(text, static_cast<std::size_t>(to - text));
}

void vcd_writer::note() {
  for (item& i : items_) i.last = value_of(i.value, i.bytes);
}

void vcd_writer::start(std::uint64_t time) {
  begun_ = true;
  write_header();
  buffer_ += "#" + std::to_string(time) + "\n$dumpvars\n";
  for (const item& i : items_) put(i);
  buffer_ += "$end\n";
  time_ = time;
}

void vcd_writer::sample(std::uint64_t now) {
  if (failed_) return;
  if (!begun_) {
    note();
    return start(now);
  }
  for (item& i : items_) {
    const std::uint64_t v = value_of(i.value, i.bytes);
    if (v == i.last) continue;
    if (now != time_) {
      buffer_ += '#';
      buffer_ += std::to_string(now);
      buffer_ += '\n';
      time_ = now;
    }
    i.last = v;
    put(i);
  }
  if (buffer_.size() > vcd_buffer_bytes) flush();
}

void vcd_writer::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) failed_ = true;
  buffer_.clear();
}

void vcd_writer::close(std::uint64_t end, const std::string& mark) {
  if (!begun_) sample(end);
  if (end > time_) buffer_ += "#" + std::to_string(end) + "\n";
  if (!mark.empty()) buffer_ += "$comment " + mark + " $end\n";
  flush();
  if (std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  if (failed_) throw input_error(path_ + ": the waveform could not be written whole, expected room on the disk");
}

}  // namespace heddle
