// SPDX-License-Identifier: MIT
#include "heddle/observe/kanata_writer.h"

#include <cerrno>
#include <cstring>
#include <set>

#include "heddle/config/error.h"

namespace heddle {

namespace {

constexpr std::size_t kanata_buffer_bytes = 1 << 18;

// Columns are separated by tabs, commands by line ends.
std::string plain(const std::string& text) {
  std::string out = text;
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return out;
}

}  // namespace

kanata_writer::kanata_writer(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) throw input_error(path + ": " + std::strerror(errno) + ", expected a file that can be written");
  buffer_ = "Kanata\t0004\n";
}

kanata_writer::~kanata_writer() {
  if (file_ != nullptr) std::fclose(file_);
}

void kanata_writer::advance(cycle_t cycle) {
  invariant(cycle >= cycle_, "a pipeline view went back in time");
  while (!pending_.empty() && pending_.begin()->first <= cycle) {
    const auto [at, e] = *pending_.begin();
    pending_.erase(pending_.begin());
    if (!is_open(e.id)) continue;
    cycle_ = std::max(cycle_, at);
    if (e.stage != nullptr) begin(e.id, pipeline_lane, e.stage);
    else retire(e.id, false);
  }
  cycle_ = cycle;
}

// Starts a command, in the cycle that it belongs to.
void kanata_writer::command(char what) {
  if (!begun_ || cycle_ != written_) {
    buffer_ += begun_ ? "C" : "C=";
    column(begun_ ? cycle_ - written_ : cycle_);
    buffer_ += '\n';
  }
  begun_ = true;
  written_ = cycle_;
  buffer_ += what;
}

void kanata_writer::column(std::uint64_t number) {
  char digits[24];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  *--at = '\t';
  buffer_.append(at, static_cast<std::size_t>(digits + sizeof digits - at));
}

void kanata_writer::column(const char* text) {
  buffer_ += '\t';
  buffer_ += text;
}

void kanata_writer::end_line() {
  buffer_ += '\n';
  if (buffer_.size() > kanata_buffer_bytes) flush();
}

kanata_writer::instruction_id kanata_writer::open(std::uint64_t number, std::uint64_t thread, const std::string& label,
                                                  const std::string& details) {
  const instruction_id id = next_++;
  open_[id] = {};
  command('I');
  column(id);
  column(number);
  column(thread);
  end_line();
  unsigned kind = 0;
  for (const std::string* text : {&label, &details}) {
    command('L');
    column(id);
    column(std::uint64_t{kind++});
    column(plain(*text).c_str());
    end_line();
  }
  return id;
}

void kanata_writer::begin(instruction_id id, unsigned lane, const char* stage) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  record& r = found->second;
  if (r.stage[lane] != nullptr && std::strcmp(r.stage[lane], stage) == 0) return;
  end(r, id, lane);
  r.stage[lane] = stage;
  command('S');
  column(id);
  column(std::uint64_t{lane});
  column(stage);
  end_line();
}

void kanata_writer::end(record& r, instruction_id id, unsigned lane) {
  if (r.stage[lane] == nullptr) return;
  command('E');
  column(id);
  column(std::uint64_t{lane});
  column(r.stage[lane]);
  end_line();
  r.stage[lane] = nullptr;
}

void kanata_writer::end(instruction_id id, unsigned lane) {
  const auto found = open_.find(id);
  if (found != open_.end()) end(found->second, id, lane);
}

void kanata_writer::depends(instruction_id consumer, instruction_id producer) {
  command('W');
  column(consumer);
  column(producer);
  column("0");
  end_line();
}

void kanata_writer::retire(instruction_id id, bool flushed) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  end(found->second, id, pipeline_lane);
  end(found->second, id, stall_lane);
  command('R');
  column(id);
  column(retired_);
  column(flushed ? "1" : "0");
  end_line();
  retired_ += !flushed;
  open_.erase(found);
}

void kanata_writer::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) failed_ = true;
  buffer_.clear();
}

void kanata_writer::close() {
  std::set<instruction_id> rest;
  for (const auto& [id, r] : open_) rest.insert(id);
  for (const instruction_id id : rest) retire(id, true);
  flush();
  if (std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  if (failed_) throw input_error(path_ + ": the pipeline view could not be written whole, expected room on the disk");
}

}  // namespace heddle
