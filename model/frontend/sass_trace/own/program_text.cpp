// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/own/program_text.h"

#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/own/recordable.h"
#include "heddle/frontend/sass_trace/text/field_scanner.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

// A trace is read where these fields have the same meanings.
static_assert(sizeof(isa::instruction) == 136, "a change of an instruction raises kernel_header::own_version");

// Calls f for each field of an instruction, with the largest value that it may have.
template <class I, class F>
void for_fields(I& i, F f) {
  f(i.op, static_cast<unsigned>(isa::opcode::count) - 1);
  f(i.type, 31);
  f(i.src_type, 31);
  f(i.guard.reg, 7);
  f(i.guard.negate, 1);
  f(i.dst, 255);
  f(i.dst_count, 64);
  for (auto& p : i.pdst) f(p, 7);
  for (auto& o : i.src) {
    f(o.kind, 3);
    f(o.reg, 255);
    f(o.count, 64);
    f(o.bank, 3);
    f(o.negate, 1);
    f(o.absolute, 1);
    f(o.invert, 1);
    f(o.value, ~std::uint64_t{0});
  }
  for (auto& p : i.psrc) {
    f(p.reg, 7);
    f(p.negate, 1);
  }
  f(i.sub, 255);
  f(i.round, 7);
  f(i.cmp, 31);
  f(i.bop, 7);
  for (bool I::*flag : {&I::ftz, &I::saturate, &I::nan, &I::extended, &I::wide, &I::high, &I::wrap, &I::uniform})
    f(i.*flag, 1);
  f(i.mem_space, 15);
  f(i.cache, 15);
  f(i.system, 1);
  f(i.block_scope, 1);
  f(i.counts, 1);
  f(i.aligned, 1);
  f(i.sum_products, 255);
  f(i.sum_fraction_bits, 255);
  f(i.offset, ~std::uint64_t{0});
  f(i.target, 0xffffffffu);
  f(i.reconverge, 0xffffffffu);
  f(i.line, 0xffffffffu);
  f(i.column, 0xffffffffu);
}

template <class P, class F>
void for_properties(P& p, F f) {
  f(p.registers, 255);
  f(p.most_registers, 255);
  f(p.shared_bytes, 1u << 24);
  f(p.local_bytes, 1u << 19);
  f(p.barriers, 16);
}

// Fowler, Noll and Vo's hash, over the lines of a program: who edits one will hardly keep it.
class text_hash {
 public:
  void add(std::string_view line) {
    for (const char c : line) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

constexpr std::string_view begin_mark = "#BEGIN_CODE", end_mark = "#END_CODE";

class program_reader {
 public:
  program_reader(line_reader& reader, const std::string& kernel) : reader_(reader), kernel_(kernel) {}
  std::shared_ptr<isa::program> read();

 private:
  std::string_view next();
  template <class Field>
  static void get(field_scanner& from, Field& field, std::uint64_t most) {
    field = static_cast<Field>(from.decimal(most, "another field of a program as heddle --record writes it"));
  }

  line_reader& reader_;
  const std::string& kernel_;
};

std::string_view program_reader::next() {
  std::string_view line;
  if (!reader_.next_with_text(line))
    throw input_error(reader_.file(), reader_.line() + 1, 1,
                      "the file ends in the program of kernel '" + kernel_ + "', it is truncated");
  return line;
}

std::shared_ptr<isa::program> program_reader::read() {
  auto p = std::make_shared<isa::program>();
  p->kernel = kernel_;
  p->file = reader_.file();
  p->follows = true;
  text_hash hash;
  std::string_view line = next();
  hash.add(line);
  field_scanner first(line, reader_);
  if (first.word() != begin_mark) reader_.fail(1, "got '" + shown(trimmed(line)) + "', expected #BEGIN_CODE");
  const std::uint64_t size = first.decimal(std::uint64_t{1} << 20, "a number of instructions");
  for_properties(*p, [&](auto& field, std::uint64_t most) { get(first, field, most); });
  for (std::uint64_t k = 0; k < size; ++k) {
    line = next();
    hash.add(line);
    field_scanner fields(line, reader_);
    const std::string_view mnemonic = fields.word();
    isa::instruction i;
    for_fields(i, [&](auto& field, std::uint64_t most) { get(fields, field, most); });
    if (mnemonic != isa::info(i.op).mnemonic)
      reader_.fail(1, "got '" + shown(mnemonic) + "' for " + isa::info(i.op).mnemonic +
                          ": another version of Heddle wrote the program");
    p->code.push_back(i);
  }
  field_scanner last(next(), reader_);
  if (last.word() != end_mark || last.word() != hash.text())
    reader_.fail(1, "the program of kernel '" + kernel_ + "' is not as heddle --record wrote it");
  const std::string obstacle = why_not_recordable(*p);
  if (!obstacle.empty()) reader_.fail(1, obstacle);
  return p;
}

}  // namespace

void write_program(std::string& text, const isa::program& program) {
  text_hash hash;
  std::string line;
  const auto put = [&](auto value, std::uint64_t) {
    fmt::format_to(std::back_inserter(line), " {}", static_cast<std::uint64_t>(value));
  };
  const auto end_line = [&] {
    hash.add(line);
    text += line + "\n";
  };
  line = fmt::format("{} {}", begin_mark, program.code.size());
  for_properties(program, put);
  end_line();
  for (const isa::instruction& i : program.code) {
    line = isa::info(i.op).mnemonic;
    for_fields(i, put);
    end_line();
  }
  text += fmt::format("{} {}\n", end_mark, hash.text());
}

std::shared_ptr<isa::program> read_program(line_reader& reader, const std::string& kernel) {
  return program_reader(reader, kernel).read();
}

}  // namespace heddle::sass_trace
