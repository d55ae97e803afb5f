// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/tracez_source.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/text/random_access_file.h"
#include "heddle/hash/splitmix64.h"

namespace heddle::sass_trace {

namespace {

constexpr std::size_t most_head_bytes = std::size_t{1} << 20;
constexpr std::uint32_t most_dictionary_bytes = std::uint32_t{1} << 24;  // the tracer makes at most 64 KiB
constexpr std::size_t read_bytes_of_frame = std::size_t{1} << 16;        // compressed bytes per read
constexpr std::uint64_t index_end_bytes = 8;                             // the index's place, at the file's end

// A number for a place in the file, for sums of them.
std::uint64_t mark_of(std::uint64_t place) { return splitmix64::at(0, place); }

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("tracez: " + what); }

/// Reads numbers of the file in sequence.
class cursor {
 public:
  cursor(const random_access_file& file, std::uint64_t at, std::uint64_t end, const char* what)
      : file_(file), at_(at), end_(end), what_(what) {}
  std::uint32_t u32() { return take<std::uint32_t>(); }
  std::uint64_t u64() { return take<std::uint64_t>(); }
  [[nodiscard]] std::uint64_t place() const { return at_ + used_; }
  [[nodiscard]] bool at_end() const { return place() == end_; }

 private:
  template <class T>
  T take() {
    if (kept_ - used_ < sizeof(T)) refill(sizeof(T));
    T value = 0;
    for (unsigned k = 0; k < sizeof(T); ++k)  // little-endian on every host
      value |= static_cast<T>(T{static_cast<std::uint8_t>(buffer_[used_ + k])} << (8 * k));
    used_ += sizeof(T);
    return value;
  }
  void refill(std::size_t bytes) {
    at_ += used_;
    used_ = 0;
    if (end_ - at_ < bytes) refuse(std::string(what_) + " is cut off");
    kept_ = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof buffer_, end_ - at_));
    file_.read(buffer_, kept_, at_);
  }

  const random_access_file& file_;
  std::uint64_t at_;  // of buffer_
  std::uint64_t end_;
  const char* what_;
  std::size_t used_ = 0, kept_ = 0;
  char buffer_[4096];
};

struct zstd_deleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};

class tracez_source : public byte_source {
 public:
  explicit tracez_source(const std::string& file);

  std::size_t read(char* to, std::size_t most) override;

 private:
  enum class step : std::uint8_t { block, warp, frame, end };

  void read_head();
  void next_block();
  void next_warp();
  void next_frame();
  std::size_t unpack(char* to, std::size_t most);
  void end_frame();
  [[nodiscard]] std::string place() const { return fmt::format("warp {} of block {}", warp_ - 1, block_ - 1); }

  random_access_file file_;
  std::string text_;  // what is delivered next
  std::size_t given_ = 0;
  std::unique_ptr<ZSTD_DDict, zstd_deleter> dictionary_;
  std::unique_ptr<ZSTD_DCtx, zstd_deleter> context_{ZSTD_createDCtx()};  // may refer to the dictionary
  std::uint64_t frames_begin_ = 0;                                       // warps lie between these places
  std::uint64_t frames_end_ = 0;
  std::unique_ptr<cursor> index_;
  step next_ = step::block;
  std::uint32_t block_ = 0, blocks_ = 0;  // the next one, from 0, and all of them
  std::uint32_t warp_ = 0, warps_ = 0;    // the same of the block
  std::uint32_t frame_ = 0, frames_ = 0;  // the same of the warp
  std::uint64_t lines_left_ = 0;          // of the warp
  std::uint64_t place_ = 0;               // of the next frame
  // Marks of the places where warps begin, less those where warps end: of all that lie between, none is left.
  std::uint64_t marks_ = 0;
  // The frame that is being unpacked.
  bool in_frame_ = false;
  bool frame_ended_ = false;
  bool ends_line_ = false;         // its last byte was a line end
  bool any_text_ = false;          // it has given a byte
  std::uint64_t lines_ = 0;        // that it has ended
  std::uint32_t frame_lines_ = 0;  // that the index names
  std::uint64_t packed_left_ = 0;
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
};

tracez_source::tracez_source(const std::string& file) : file_(file) {
  if (context_ == nullptr) throw std::bad_alloc();
  try {
    read_head();
  } catch (const std::runtime_error& e) {
    throw input_error(file + ": " + e.what() + ": the file is broken or truncated, or no trace");
  }
}

void tracez_source::read_head() {
  std::vector<char> head(static_cast<std::size_t>(std::min<std::uint64_t>(file_.bytes(), most_head_bytes)));
  file_.read(head.data(), head.size(), 0);
  const void* const zero = head.empty() ? nullptr : std::memchr(head.data(), 0, head.size());
  if (zero == nullptr) refuse("no zero byte ends the head");
  const auto length = static_cast<std::size_t>(static_cast<const char*>(zero) - head.data());
  text_.assign(head.data(), length);
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  cursor sizes(file_, length + 1, file_.bytes(), "the compression's head");
  const std::uint32_t dictionary_bytes = sizes.u32();
  sizes.u32();  // lines of a frame as the tracer was asked; the index has the lines of each
  if (dictionary_bytes > most_dictionary_bytes) refuse("the dictionary has more than 16 MiB");
  const std::uint64_t begin = sizes.place();
  if (file_.bytes() < begin + dictionary_bytes + index_end_bytes) refuse("the dictionary is cut off");
  if (dictionary_bytes != 0) {
    std::vector<char> bytes(dictionary_bytes);
    file_.read(bytes.data(), bytes.size(), begin);
    dictionary_.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
    if (dictionary_ == nullptr) refuse("the dictionary is none of zstd");
  }
  const std::uint64_t last = file_.bytes() - index_end_bytes;
  cursor end(file_, last, file_.bytes(), "the index's place");
  frames_begin_ = begin + dictionary_bytes;
  frames_end_ = end.u64();
  if (frames_end_ < frames_begin_ || frames_end_ > last) refuse("the index does not lie within the file");
  index_ = std::make_unique<cursor>(file_, frames_end_, last, "the index");
  blocks_ = index_->u32();
}

std::size_t tracez_source::read(char* to, std::size_t most) {
  for (;;) {
    if (given_ < text_.size()) {
      const std::size_t n = std::min(most, text_.size() - given_);
      std::memcpy(to, text_.data() + given_, n);
      given_ += n;
      return n;
    }
    text_.clear();
    given_ = 0;
    if (in_frame_) {
      if (const std::size_t n = unpack(to, most); n != 0) return n;
      continue;
    }
    switch (next_) {
      case step::block: next_block(); break;
      case step::warp: next_warp(); break;
      case step::frame: next_frame(); break;
      case step::end: return 0;
    }
  }
}

void tracez_source::next_block() {
  if (block_ == blocks_) {
    if (!index_->at_end()) refuse(fmt::format("bytes follow the last of {} blocks in the index", blocks_));
    if (marks_ != mark_of(frames_begin_) - mark_of(frames_end_))
      refuse("the warps of the index are not all those of the file, each once");
    next_ = step::end;
    return;
  }
  ++block_;
  std::uint32_t n[10];
  for (std::uint32_t& k : n) k = index_->u32();
  warps_ = index_->u32();
  warp_ = 0;
  text_ = fmt::format(
      "#BEGIN_TB\nthread block = {},{},{}\ncluster id = {},{},{}\ncluster cta = {},{},{}\ncluster rank = {}\n", n[0],
      n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]);
  next_ = step::warp;
}

void tracez_source::next_warp() {
  if (warp_ == warps_) {
    text_ = "#END_TB\n";
    next_ = step::block;
    return;
  }
  ++warp_;
  const std::uint32_t count = index_->u32();
  frames_ = index_->u32();
  place_ = index_->u64();
  frame_ = 0;
  lines_left_ = count;
  if (place_ < frames_begin_ || place_ > frames_end_) refuse(place() + " does not lie among the warps");
  marks_ += mark_of(place_);
  cursor head(file_, place_, frames_end_, "a warp's head");
  if (head.u32() != count || head.u32() != frames_) refuse("the index contradicts the head of " + place());
  place_ = head.place();
  text_ = fmt::format("warp = {}\ninsts = {}\n", warp_ - 1, count);
  next_ = step::frame;
}

void tracez_source::next_frame() {
  if (frame_ == frames_) {
    if (lines_left_ != 0) refuse(place() + " has fewer instructions than the index says");
    marks_ -= mark_of(place_);
    next_ = step::warp;
    return;
  }
  ++frame_;
  frame_lines_ = index_->u32();
  if (frame_lines_ == 0 || frame_lines_ > lines_left_)
    refuse("the index contradicts itself on the instructions of " + place());
  lines_left_ -= frame_lines_;
  cursor head(file_, place_, frames_end_, "a frame's length");
  packed_left_ = head.u32();
  place_ = head.place();
  if (packed_left_ > frames_end_ - place_) refuse("a frame of " + place() + " is cut off");
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  if (dictionary_ != nullptr) ZSTD_DCtx_refDDict(context_.get(), dictionary_.get());
  in_ = {nullptr, 0, 0};
  in_frame_ = true;
  frame_ended_ = ends_line_ = any_text_ = false;
  lines_ = 0;
}

// Unpacks a part of the frame; 0: it has ended.
std::size_t tracez_source::unpack(char* to, std::size_t most) {
  ZSTD_outBuffer out{to, most, 0};
  while (out.pos == 0) {
    if (in_.pos == in_.size) {
      if (frame_ended_) {
        if (packed_left_ != 0) refuse("bytes follow a frame of " + place());
        end_frame();
        return 0;
      }
      if (packed_left_ == 0) refuse("a frame of " + place() + " is not complete");
      packed_.resize(read_bytes_of_frame);
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(packed_left_, packed_.size()));
      file_.read(packed_.data(), n, place_);
      place_ += n;
      packed_left_ -= n;
      in_ = {packed_.data(), n, 0};
    } else if (frame_ended_) {
      refuse("bytes follow a frame of " + place());
    }
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in_);
    if (ZSTD_isError(result) != 0) refuse(fmt::format("{}: zstd: {}", place(), ZSTD_getErrorName(result)));
    frame_ended_ = result == 0;
  }
  lines_ += static_cast<std::uint64_t>(std::count(to, to + out.pos, '\n'));
  if (std::memchr(to, 0, out.pos) != nullptr) refuse(place() + " holds a zero byte");
  ends_line_ = to[out.pos - 1] == '\n';
  any_text_ = true;
  return out.pos;
}

void tracez_source::end_frame() {
  in_frame_ = false;
  if (any_text_ && !ends_line_) {
    text_ = "\n";
    ++lines_;
  }
  if (lines_ != frame_lines_)
    refuse(fmt::format("a frame of {} has {} lines, the index says {}", place(), lines_, frame_lines_));
}

}  // namespace

std::unique_ptr<byte_source> open_tracez(const std::string& file) { return std::make_unique<tracez_source>(file); }

bool is_tracez(const std::string& file) {
  constexpr std::string_view ending = ".tracez";
  return file.size() >= ending.size() && file.compare(file.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace heddle::sass_trace
