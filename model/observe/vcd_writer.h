// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/tlm/kernel/trace_window.h"

namespace heddle {

/// A trace file in VCD format (IEEE 1364) for any module's trace(). Unlike SystemC's own writer it samples only on
/// demand, uses a time axis and a file name of the caller, and reports a full disk. Dotted names become nested scopes;
/// a repeated name is used once. Types that the model does not use are rejected with internal_error.
class vcd_writer : public sc_core::sc_trace_file, public trace_window {
 public:
  /// Samples should be taken only in the core cycles of `window`. Throws input_error if the file cannot be written.
  explicit vcd_writer(const std::string& path, const trace_window& window = {});
  ~vcd_writer() override;

  struct signal {
    std::string name;    // hierarchical
    unsigned width = 1;  // bits
  };
  [[nodiscard]] const std::vector<signal>& signals() const { return names_; }

  /// The value of signals()[index] at the last sample.
  [[nodiscard]] std::uint64_t value(std::size_t index) const { return items_[index].last; }

  /// Sets the comment at the start of the file; call it before the first sample.
  void set_comment(const std::string& text) { comment_ = text; }
  /// Notes all values: they are those of the first sample, if start() comes next.
  void note();
  /// Writes the noted values as the first sample, at `time` in picoseconds of the file's axis.
  void start(std::uint64_t time);
  /// Writes the changes since the last sample, at `time`; the first time, all values.
  void sample(std::uint64_t time);
  /// Completes the file, which ends at `end`; `mark`, unless empty, becomes a comment after all changes. Throws
  /// input_error if not everything could be written (full disk).
  void close(std::uint64_t end, const std::string& mark = {});

  void trace(const sc_core::sc_event&, const std::string&) override;
  void trace(const sc_core::sc_time&, const std::string&) override;
  void trace(const bool& v, const std::string& n) override { add(&v, n, sizeof v, 1); }
  void trace(const sc_dt::sc_bit&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_logic&, const std::string& n) override { refuse(n); }
  void trace(const unsigned char& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const unsigned short& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const unsigned int& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const unsigned long& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const char& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const short& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const int& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const long& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const sc_dt::int64& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const sc_dt::uint64& v, const std::string& n, int w) override { add(&v, n, sizeof v, w); }
  void trace(const float&, const std::string& n) override { refuse(n); }
  void trace(const double&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_int_base&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_uint_base&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_signed&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_unsigned&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_fxval&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_fxval_fast&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_fxnum&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_fxnum_fast&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_bv_base&, const std::string& n) override { refuse(n); }
  void trace(const sc_dt::sc_lv_base&, const std::string& n) override { refuse(n); }
  void trace(const unsigned int& v, const std::string& n, const char**) override { add(&v, n, sizeof v, 32); }

 private:
  struct item {
    const void* value;
    std::uint64_t last;
    std::uint8_t bytes;
    std::uint8_t width;
    char code[8];  // VCD identifier
  };
  void cycle(bool) override {}
  void write_comment(const std::string&) override {}
  void set_time_unit(double, sc_core::sc_time_unit) override {}
  void add(const void* value, const std::string& name, std::size_t bytes, int width);
  [[noreturn]] void refuse(const std::string& name) const;
  void write_header();
  void put(const item& i);
  void flush();

  std::string path_;
  std::string comment_;
  std::FILE* file_;
  std::vector<item> items_;
  std::vector<signal> names_;
  std::set<std::string> known_;
  std::string buffer_;
  std::uint64_t time_ = 0;
  bool begun_ = false;
  bool failed_ = false;
};

}  // namespace heddle
