// SPDX-License-Identifier: MIT
#include "observe/kanata_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "config/error.h"

namespace heddle {

namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

// Columns are parted by tabs, commands by line ends.
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
    if (e.stage != nullptr)
      begin(e.id, pipeline_lane, e.stage);
    else
      retire(e.id, false);
  }
  cycle_ = cycle;
}

// A command, in the cycle that it belongs to.
void kanata_writer::line(const std::string& text) {
  if (!begun_)
    buffer_ += fmt::format("C=\t{}\n", cycle_);
  else if (cycle_ != written_)
    buffer_ += fmt::format("C\t{}\n", cycle_ - written_);
  begun_ = true;
  written_ = cycle_;
  buffer_ += text;
  if (buffer_.size() > buffer_bytes) flush();
}

kanata_writer::instruction_id kanata_writer::open(std::uint64_t number, unsigned thread, const std::string& label,
                                                  const std::string& details) {
  const instruction_id id = next_++;
  open_[id].thread = thread;
  line(fmt::format("I\t{}\t{}\t{}\nL\t{}\t0\t{}\nL\t{}\t1\t{}\n", id, number, thread, id, plain(label), id, plain(details)));
  return id;
}

void kanata_writer::begin(instruction_id id, unsigned lane, const char* stage) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const char*& now = found->second.stage[lane];
  if (now != nullptr && std::strcmp(now, stage) == 0) return;
  end(id, lane);
  line(fmt::format("S\t{}\t{}\t{}\n", id, lane, stage));
  now = stage;
}

void kanata_writer::end(instruction_id id, unsigned lane) {
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.stage[lane] == nullptr) return;
  line(fmt::format("E\t{}\t{}\t{}\n", id, lane, found->second.stage[lane]));
  found->second.stage[lane] = nullptr;
}

void kanata_writer::depends(instruction_id consumer, instruction_id producer) {
  line(fmt::format("W\t{}\t{}\t0\n", consumer, producer));
}

void kanata_writer::retire(instruction_id id, bool flushed) {
  if (!is_open(id)) return;
  end(id, pipeline_lane);
  end(id, stall_lane);
  line(fmt::format("R\t{}\t{}\t{}\n", id, retired_, flushed ? 1 : 0));
  retired_ += !flushed;
  open_.erase(id);
}

void kanata_writer::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) failed_ = true;
  buffer_.clear();
}

void kanata_writer::close() {
  while (!open_.empty()) retire(open_.begin()->first, true);
  flush();
  if (std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  if (failed_) throw input_error(path_ + ": the pipeline view could not be written whole, expected room on the disk");
}

}  // namespace heddle
