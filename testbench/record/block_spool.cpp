// SPDX-License-Identifier: MIT
#include "testbench/record/block_spool.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {
constexpr int zstd_level = 3;
}

block_spool::block_spool(const std::string& folder) : folder_(folder) {
  std::string name = folder + "/.heddle_record_XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) fail("made");
  ::unlink(name.c_str());
}

block_spool::~block_spool() { ::close(fd_); }

void block_spool::fail(const char* what) const {
  throw input_error("--record: a file in the folder '" + folder_ + "' cannot be " + what + ": " + std::strerror(errno));
}

std::string block_spool::packed(const std::string& text) {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, zstd_level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes = ZSTD_compress2(context.get(), frame.data(), frame.size(), text.data(), text.size());
  invariant(ZSTD_isError(bytes) == 0, "a part of a trace could not be compressed");
  frame.resize(bytes);
  return frame;
}

block_spool::part block_spool::append(const std::string& data) {
  const part p{end_, data.size()};
  for (std::size_t done = 0; done < data.size();) {
    const ssize_t n = ::pwrite(fd_, data.data() + done, data.size() - done, static_cast<off_t>(end_ + done));
    if (n < 0 && errno != EINTR) fail("written");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  end_ += data.size();
  return p;
}

std::string block_spool::read(const part& p) const {
  std::string data(p.bytes, '\0');
  for (std::size_t done = 0; done < data.size();) {
    const ssize_t n = ::pread(fd_, data.data() + done, data.size() - done, static_cast<off_t>(p.at + done));
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) fail("read");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return data;
}

}  // namespace heddle::testbench
