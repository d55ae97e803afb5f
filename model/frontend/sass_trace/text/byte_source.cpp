// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/text/byte_source.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

#include "heddle/frontend/sass_trace/text/random_access_file.h"

namespace heddle::sass_trace {

namespace {

constexpr std::size_t packed_bytes = std::size_t{1} << 16;            // compressed bytes per read
constexpr std::uint64_t most_decoder_bytes = std::uint64_t{1} << 28;  // xz -9 needs 65 MiB, zstd --ultra 128 MiB

class plain_source : public byte_source {
 public:
  explicit plain_source(const std::string& file) : file_(file) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t n = file_.read_some(to, most, at_);
    at_ += n;
    return n;
  }

 private:
  random_access_file file_;
  std::uint64_t at_ = 0;
};

struct stretch {
  std::uint8_t* at = nullptr;
  std::size_t bytes = 0;
};

// The decoder of one library. step() consumes from `in` and writes to `out` as much as possible and advances both;
// `last`: no input follows `in`. True: the compressed data may end here.
class gzip_decoder {
 public:
  gzip_decoder() {
    constexpr int gzip_window = 15 + 16;
    if (inflateInit2(&z_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_decoder() { inflateEnd(&z_); }
  bool step(stretch& in, stretch& out, bool) {
    if (ended_ && in.bytes != 0) inflateReset(&z_);  // the next part begins
    z_.next_in = in.at;
    z_.avail_in = static_cast<uInt>(in.bytes);
    z_.next_out = out.at;
    z_.avail_out = static_cast<uInt>(out.bytes);
    const int result = inflate(&z_, Z_NO_FLUSH);
    in = {z_.next_in, z_.avail_in};
    out = {z_.next_out, z_.avail_out};
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw std::runtime_error(std::string("gzip: ") + (z_.msg != nullptr ? z_.msg : "bad data"));
    ended_ = result == Z_STREAM_END;
    return ended_;
  }

 private:
  z_stream z_{};
  bool ended_ = false;
};

class xz_decoder {
 public:
  xz_decoder() {
    if (lzma_stream_decoder(&s_, most_decoder_bytes, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~xz_decoder() { lzma_end(&s_); }
  bool step(stretch& in, stretch& out, bool last) {
    s_.next_in = in.at;
    s_.avail_in = in.bytes;
    s_.next_out = out.at;
    s_.avail_out = out.bytes;
    const lzma_ret result = lzma_code(&s_, last ? LZMA_FINISH : LZMA_RUN);
    in = {in.at + (in.bytes - s_.avail_in), s_.avail_in};
    out = {s_.next_out, s_.avail_out};
    switch (result) {
      case LZMA_OK:
      case LZMA_BUF_ERROR: return false;
      case LZMA_STREAM_END: return true;
      case LZMA_FORMAT_ERROR: throw std::runtime_error("xz: no data in that format");
      case LZMA_MEMLIMIT_ERROR: throw std::runtime_error("xz: needs more than 256 MiB to be decompressed");
      default: throw std::runtime_error("xz: bad data");
    }
  }

 private:
  lzma_stream s_ = LZMA_STREAM_INIT;
};

class zstd_decoder {
 public:
  zstd_decoder() {
    if (z_ == nullptr) throw std::bad_alloc();
  }
  ~zstd_decoder() { ZSTD_freeDStream(z_); }
  bool step(stretch& in, stretch& out, bool) {
    if (ended_ && in.bytes == 0) return true;  // more input would begin another part
    ZSTD_inBuffer from{in.at, in.bytes, 0};
    ZSTD_outBuffer to{out.at, out.bytes, 0};
    const std::size_t result = ZSTD_decompressStream(z_, &to, &from);
    if (ZSTD_isError(result) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(result));
    in = {in.at + from.pos, in.bytes - from.pos};
    out = {out.at + to.pos, out.bytes - to.pos};
    ended_ = result == 0;
    return ended_;
  }

 private:
  ZSTD_DStream* z_ = ZSTD_createDStream();
  bool ended_ = false;
};

template <class Decoder>
class packed_source : public byte_source {
 public:
  explicit packed_source(const std::string& file) : file_(file) {}

  std::size_t read(char* to, std::size_t most) override {
    const stretch room{reinterpret_cast<std::uint8_t*>(to), most};
    for (;;) {
      if (in_.bytes == 0 && !last_) {
        in_ = {packed_, file_.read(reinterpret_cast<char*>(packed_), packed_bytes)};
        last_ = in_.bytes == 0;
      }
      stretch out = room;
      const bool ended = decoder_.step(in_, out, last_);
      if (out.bytes != most) return most - out.bytes;
      if (!last_) continue;
      if (!ended) throw std::runtime_error("the compressed data are not complete");
      return 0;
    }
  }

 private:
  plain_source file_;
  Decoder decoder_;
  std::uint8_t packed_[packed_bytes];
  stretch in_;
  bool last_ = false;  // no input follows `in_`, which is empty
};

bool ends_with(const std::string& text, const char* ending) {
  const std::size_t n = std::strlen(ending);
  return text.size() >= n && text.compare(text.size() - n, n, ending) == 0;
}

}  // namespace

std::unique_ptr<byte_source> byte_source::open(const std::string& file) {
  if (ends_with(file, ".xz")) return std::make_unique<packed_source<xz_decoder>>(file);
  if (ends_with(file, ".zst")) return std::make_unique<packed_source<zstd_decoder>>(file);
  if (ends_with(file, ".gz")) return std::make_unique<packed_source<gzip_decoder>>(file);
  return std::make_unique<plain_source>(file);
}

}  // namespace heddle::sass_trace
