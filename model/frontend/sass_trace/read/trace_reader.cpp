// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/read/trace_reader.h"

#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/own/own_steps.h"
#include "heddle/frontend/sass_trace/own/program_text.h"
#include "heddle/frontend/sass_trace/text/trace_text.h"

namespace heddle::sass_trace {

namespace {

constexpr std::size_t records_between_checks = 256;  // interval of the checks of a block's memory

std::string place_text(const block_trace& b) {
  return "thread block (" + std::to_string(b.index[0]) + "," + std::to_string(b.index[1]) + "," +
         std::to_string(b.index[2]) + ")";
}

std::uint32_t lanes_of(std::uint32_t threads, std::uint32_t warp) {
  const std::uint32_t own = std::min(threads - warp * isa::warp_size, isa::warp_size);
  return own == isa::warp_size ? ~std::uint32_t{0} : (1u << own) - 1;
}

// The last record belongs to the step that follows.
bool in_own_step(const block_trace& b) {
  return !b.records.empty() && (b.records.back().instruction & isa::step::precedes) != 0;
}

}  // namespace

trace_reader::trace_reader(const std::string& file)
    : reader_(file),
      header_(read_header(reader_)),
      code_(std::make_shared<code_table>(header_.generation)),
      parser_(reader_, header_.format, *code_) {
  if (header_.own) read_own_program();
}

trace_reader::trace_reader(const std::string& file, std::shared_ptr<code_table> code)
    : reader_(file), header_(read_header(reader_)), code_(std::move(code)), parser_(reader_, header_.format, *code_) {
  if (header_.own) read_own_program();
}

void trace_reader::read_own_program() {
  program_ = read_program(reader_, header_.name);
  if (!header_.source.empty()) program_->file = header_.source;
  program_->code_address = header_.code_address;
  if (header_.shared_bytes < program_->shared_bytes || header_.registers != program_->registers)
    reader_.fail(1, "the head of the trace has " + std::to_string(header_.shared_bytes) +
                        " bytes of shared memory and " + std::to_string(header_.registers) +
                        " registers, the program " + std::to_string(program_->shared_bytes) + " and " +
                        std::to_string(program_->registers));
}

void trace_reader::refuse(std::string_view line, const std::string& expected) const {
  reader_.fail(
      1, "got '" + shown(trimmed(line)) + "' in the trace of kernel '" + header_.name + "', expected " + expected);
}

void trace_reader::truncated(const std::string& where) const {
  throw input_error(reader_.file(), reader_.line() + 1, 1,
                    "the file ends in " + where + " of kernel '" + header_.name + "', it is truncated");
}

// Parses "key = value".
bool trace_reader::keyed(std::string_view line, std::string_view key, std::string_view& value) const {
  const std::string_view text = trimmed(line);
  if (!starts_with(text, key)) return false;
  const std::string_view rest = trimmed(text.substr(key.size()));
  if (rest.empty() || rest[0] != '=') return false;
  value = trimmed(rest.substr(1));
  if (value.empty()) value = rest.substr(rest.size());
  return true;
}

std::uint32_t trace_reader::number(std::string_view line, std::string_view value, std::uint64_t most,
                                   const char* what) const {
  field_scanner s(line, reader_);
  s.skip(static_cast<std::size_t>(value.data() - line.data()));
  const auto n = static_cast<std::uint32_t>(s.decimal(most, what));
  s.expect_end("nothing more on the line");
  return n;
}

void trace_reader::block_place(block_trace& block) {
  std::string_view line, value;
  if (!reader_.next_with_text(line)) truncated("a thread block");
  if (!keyed(line, "thread block", value)) refuse(line, "'thread block = X,Y,Z'");
  std::size_t at = 0;
  for (unsigned k = 0; k < 3; ++k) {
    const std::size_t end = k < 2 ? std::min(value.find(',', at), value.size()) : value.size();
    std::uint64_t n = 0;
    bool good = end > at && end - at < 11;
    for (std::size_t c = at; good && c < end; ++c) {
      good = value[c] >= '0' && value[c] <= '9';
      n = n * 10 + static_cast<unsigned>(value[c] - '0');
    }
    if (!good || n >= header_.grid[k])
      refuse(line, "'thread block = X,Y,Z' within the grid of (" + std::to_string(header_.grid[0]) + "," +
                       std::to_string(header_.grid[1]) + "," + std::to_string(header_.grid[2]) + ")");
    block.index[k] = static_cast<std::uint32_t>(n);
    at = std::min(end + 1, value.size());
  }
}

bool trace_reader::next_block(block_trace& block, std::size_t part_bytes, const part_consumer& consume_part) {
  block.clear();
  begun_.assign(header_.warps(), false);
  std::string_view line;
  if (!reader_.next_with_text(line)) return false;
  if (trimmed(line) != "#BEGIN_TB") refuse(line, "'#BEGIN_TB' or the end of the file");
  if (blocks_ == header_.blocks())
    reader_.fail(
        1, "more thread blocks than the " + std::to_string(blocks_) + " of the grid of kernel '" + header_.name + "'");
  block_place(block);
  if (!seen_.insert((std::uint64_t{block.index[2]} * header_.grid[1] + block.index[1]) * header_.grid[0] +
                    block.index[0]))
    reader_.fail(1, place_text(block) + " of kernel '" + header_.name + "' comes twice");
  for (;;) {
    if (!reader_.next_with_text(line)) truncated(place_text(block));
    if (trimmed(line) == "#END_TB") break;
    if (block.warps.empty() && starts_with(trimmed(line), "cluster ")) continue;
    warp(line, block, part_bytes, consume_part);
  }
  const auto absent = std::find(begun_.begin(), begun_.end(), false);
  if (header_.own && absent != begun_.end())
    reader_.fail(1, place_text(block) + " of kernel '" + header_.name + "' has no warp " +
                        std::to_string(absent - begun_.begin()));
  ++blocks_;
  return true;
}

void trace_reader::warp(std::string_view line, block_trace& block, std::size_t part_bytes,
                        const part_consumer& consume_part) {
  std::string_view value;
  if (!keyed(line, "warp", value)) refuse(line, "'warp = N', or '#END_TB'");
  warp_trace w;
  w.warp = number(line, value, header_.warps() - 1, "the number of a warp of the block");
  if (begun_[w.warp]) reader_.fail(1, "warp " + std::to_string(w.warp) + " of " + place_text(block) + " comes twice");
  begun_[w.warp] = true;
  if (!reader_.next_with_text(line)) truncated(place_text(block));
  if (!keyed(line, "insts", value)) refuse(line, "'insts = N'");
  const std::size_t count = number(line, value, 0xffffffffu, "a number of instructions");
  if (header_.own && count == 0) reader_.fail(1, "got a warp without steps, expected one that ends with an EXIT");
  w.first = block.records.size();
  parser_.start_warp();
  for (std::size_t k = 0; k < count; ++k) {
    const bool in_step = parser_.in_copy() || in_own_step(block);
    if (k % records_between_checks == records_between_checks - 1 && block.bytes() > part_bytes && !in_step) {
      w.count = block.records.size() - w.first;
      block.warps.push_back(w);
      consume_part(block);
      block.clear();
      w.first = 0;
    }
    if (header_.own) {
      if (!reader_.next_with_text(line)) truncated("warp " + std::to_string(w.warp) + " of " + place_text(block));
      read_step({reader_, *program_, lanes_of(header_.threads(), w.warp), k + 1 == count}, line, block);
      continue;
    }
    if (parser_.as_expected(block)) {
      if (parser_.in_copy()) parser_.join_copy(block, w.first);
      continue;
    }
    if (!reader_.next_with_text(line)) truncated("warp " + std::to_string(w.warp) + " of " + place_text(block));
    if (line[0] == '#' || line[0] == 'w')
      refuse(line, "an instruction: 'insts' says that warp " + std::to_string(w.warp) + " of " + place_text(block) +
                       " has " + std::to_string(count) + ", and there are " + std::to_string(k));
    parser_.instruction(line, block);
    if (parser_.in_copy()) parser_.join_copy(block, w.first);
  }
  w.count = block.records.size() - w.first;
  block.warps.push_back(w);
}

}  // namespace heddle::sass_trace
