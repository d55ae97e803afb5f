// SPDX-License-Identifier: MIT
#include "testbench/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_table.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "testbench/checkpoint/program_digest.h"
#include "testbench/files/result_files.h"
#include "testbench/job/job.h"
#include "testbench/sweep/plan/sha256.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

using json = nlohmann::ordered_json;

// A file is this line, the SHA-256 of what follows, and a zstd frame. The frame holds the description's length, the
// description (JSON) and the state. zstd's own checksum is of the content, and some bits of a frame do not change that.
constexpr char first_line[] = "heddle checkpoint 2\n";
constexpr std::size_t first_bytes = sizeof first_line - 1;
constexpr std::size_t frame_at = first_bytes + sizeof(sha256::digest);
constexpr int compression_level = 1;

[[noreturn]] void refuse_checkpoint(const std::string& file, const std::string& why) {
  throw input_error(printable(file) + ": " + why);
}

json description_of(const checkpoint& c) {
  return {{"version", HEDDLE_VERSION},
          {"program", program_digest()},
          {"command", c.command},
          {"arguments", c.arguments},
          {"folder", c.folder},
          {"files", c.files},
          {"configuration", c.configuration},
          {"cycle", c.cycle},
          {"time", c.time}};
}

checkpoint described(const json& d) {
  checkpoint c;
  d.at("command").get_to(c.command);
  d.at("arguments").get_to(c.arguments);
  d.at("folder").get_to(c.folder);
  d.at("files").get_to(c.files);
  d.at("configuration").get_to(c.configuration);
  d.at("cycle").get_to(c.cycle);
  d.at("time").get_to(c.time);
  return c;
}

std::string packed(const std::vector<std::uint8_t>& content) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level);
  std::string out(first_line, first_bytes);
  out.resize(frame_at + ZSTD_compressBound(content.size()));
  const std::size_t n =
      ZSTD_compress2(context.get(), &out[frame_at], out.size() - frame_at, content.data(), content.size());
  if (ZSTD_isError(n) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(n));
  out.resize(frame_at + n);
  const sha256::digest digest = sha256().update(&out[frame_at], n).finish();
  std::copy(digest.begin(), digest.end(), out.begin() + first_bytes);
  return out;
}

std::vector<std::uint8_t> unpacked(const std::string& file, const std::string& text) {
  if (text.size() <= frame_at) refuse_checkpoint(file, "the checkpoint was cut short or edited");
  const char* const frame = text.data() + frame_at;
  const std::size_t bytes = text.size() - frame_at;
  const sha256::digest digest = sha256().update(frame, bytes).finish();
  if (std::memcmp(digest.data(), text.data() + first_bytes, digest.size()) != 0)
    refuse_checkpoint(file, "the checkpoint was cut short or edited");
  const unsigned long long size = ZSTD_getFrameContentSize(frame, bytes);
  const bool sane = size != ZSTD_CONTENTSIZE_ERROR && size != ZSTD_CONTENTSIZE_UNKNOWN && size / 65536 <= bytes &&
                    ZSTD_findFrameCompressedSize(frame, bytes) == bytes;
  if (!sane) refuse_checkpoint(file, "the checkpoint was cut short or edited");
  std::vector<std::uint8_t> content(size);
  const std::size_t n = ZSTD_decompress(content.data(), content.size(), frame, bytes);
  if (ZSTD_isError(n) != 0 || n != size) refuse_checkpoint(file, "the checkpoint was cut short or edited");
  return content;
}

std::string content_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.good() && !in.eof()) refuse_checkpoint(file, "cannot be read");
  return text;
}

// update(bytes, count) with all of a file.
template <class F>
void read_parts(const std::string& file, F&& update) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
    throw input_error("--checkpoint: '" + printable(file) +
                      "' is not a regular file, so a resumed run could not read it");
  std::ifstream in(file, std::ios::binary);
  std::vector<char> part(1 << 18);
  while (in.good()) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    update(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) throw input_error("--checkpoint: '" + printable(file) + "' cannot be read");
}

std::string digest_of(const std::string& file) {
  sha256 hash;
  read_parts(file, [&hash](const char* bytes, std::size_t count) { hash.update(bytes, count); });
  return hex(hash.finish(), 16);
}

// Traces may have hundreds of gigabytes, of which SHA-256 reads 0.16 a second and this 1.6 to 6.6. It tells what was
// edited or broke.
std::string sum_of(const std::string& file) {
  std::uint64_t sum = 0, size = 0;
  read_parts(file, [&](const char* bytes, std::size_t count) {
    sum = lzma_crc64(reinterpret_cast<const std::uint8_t*>(bytes), count, sum);
    size += count;
  });
  return fmt::format("{} {:016x}", size, sum);
}

void check_same(const std::map<std::string, std::string>& then, const std::map<std::string, std::string>& now,
                const std::function<std::string(const std::string& name)>& difference) {
  for (const auto& [name, text] : then)
    if (const auto at = now.find(name); at == now.end() || at->second != text) throw input_error(difference(name));
  for (const auto& [name, text] : now)
    if (then.count(name) == 0) throw input_error(difference(name));
}

void add_traces(const std::vector<operation>& operations, std::map<std::string, std::string>& files) {
  for (const operation& op : operations)
    if (op.recording && files.count(op.recording->file()) == 0)
      files[op.recording->file()] = sum_of(op.recording->file());
}

}  // namespace

void write_checkpoint(const std::string& file, const checkpoint& c) {
  const std::string text = description_of(c).dump();
  const std::uint64_t length = text.size();
  std::vector<std::uint8_t> content(sizeof length + text.size() + c.state.size());
  std::memcpy(content.data(), &length, sizeof length);
  std::memcpy(content.data() + sizeof length, text.data(), text.size());
  std::copy(c.state.begin(), c.state.end(), content.begin() + static_cast<std::ptrdiff_t>(sizeof length + length));
  result_files files;
  files.add(file, packed(content), "--checkpoint");
  files.commit();
}

checkpoint read_checkpoint(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
    refuse_checkpoint(file, "expected a checkpoint, a regular file");
  const std::string text = content_of_file(file);
  if (text.compare(0, first_bytes, first_line) != 0) {
    const bool other = text.compare(0, 18, first_line, 18) == 0;
    refuse_checkpoint(file, other ? "the checkpoint has a format of another version of Heddle"
                                  : "not a checkpoint of heddle run or heddle replay");
  }
  const std::vector<std::uint8_t> content = unpacked(file, text);
  std::uint64_t length = 0;
  if (content.size() < sizeof length) refuse_checkpoint(file, "the checkpoint was cut short or edited");
  std::memcpy(&length, content.data(), sizeof length);
  if (length > content.size() - sizeof length) refuse_checkpoint(file, "the checkpoint was cut short or edited");
  const auto begin = content.begin() + sizeof length;
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  try {
    const json d = json::parse(begin, end);
    const std::string version = d.at("version").get<std::string>();
    if (version != HEDDLE_VERSION)
      refuse_checkpoint(file, "the checkpoint is of Heddle " + printable(version) + ", this is " HEDDLE_VERSION);
    if (d.value("program", "") != program_digest())
      refuse_checkpoint(file, "the checkpoint is of a Heddle " HEDDLE_VERSION
                              " built from other source, whose state may mean something else to this one");
    checkpoint c = described(d);
    c.file = file;
    c.state.assign(end, content.end());
    return c;
  } catch (const json::exception&) {
    refuse_checkpoint(file, "the checkpoint was cut short or edited");
  }
}

std::map<std::string, std::string> texts_of(const gpu_config& config) {
  std::map<std::string, std::string> texts;
  for (const parameter& p : parameters()) texts[p.name()] = text_of(p, config);
  return texts;
}

std::map<std::string, std::string> files_of(const job& j) {
  std::map<std::string, std::string> files;
  const auto add = [&files](const std::string& file) {
    if (files.count(file) == 0) files[file] = digest_of(file);
  };
  add(j.name);
  for (const std::string& module : j.modules) add(module);
  for (const buffer& b : j.buffers) {
    if (b.content == buffer::fill::descriptor)
      throw input_error("--checkpoint: " + b.where + ": a resumed run could not read this open file again");
    if (!b.file.empty()) add(b.file);
  }
  for (const symbol_data& s : j.symbols) add(s.file);
  add_traces(j.operations, files);
  for (const std::string& trace : j.untimed)
    if (files.count(trace) == 0) files[trace] = sum_of(trace);
  return files;
}

void check_same_machine(const checkpoint& c, const gpu_config& config) {
  const auto now = texts_of(config);
  check_same(c.configuration, now, [&](const std::string& name) {
    const auto then = c.configuration.find(name);
    const auto at = now.find(name);
    return printable(c.file) + ": the machine is another one now: " + printable(name) + " was " +
           (then == c.configuration.end() ? "not a parameter" : printable(then->second)) + " and is " +
           (at == now.end() ? "not a parameter" : printable(at->second));
  });
}

void check_same_program(const checkpoint& c, const job& j) {
  check_same(c.files, files_of(j), [&](const std::string& name) {
    return printable(c.file) + ": '" + printable(name) + "' has changed since the checkpoint was written";
  });
}

}  // namespace heddle::testbench
