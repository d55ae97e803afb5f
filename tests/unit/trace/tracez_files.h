// SPDX-License-Identifier: MIT
// Writes .tracez files as Accel-Sim 2.0's tracer does: the head as text, a zstd dictionary, frames of lines, an index.
#pragma once

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sass_trace_test {

struct packed_block {
  std::uint32_t place[3];
  std::vector<std::vector<std::string>> warps;  // lines
};

inline void put(std::string& to, std::uint64_t value, unsigned bytes) {
  for (unsigned k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k));
}

/// What frames of lines are packed with; the tracer's have no checksum.
struct packing {
  std::string dictionary;  // may be empty
  bool checksums = false;
};

/// `frame_lines`: most lines of a frame. `frames_at`: takes begin and end of each one in the file.
inline std::string tracez(const std::string& head, const std::vector<packed_block>& blocks, std::size_t frame_lines,
                          const packing& how, std::vector<std::pair<std::size_t, std::size_t>>* frames_at = nullptr) {
  const std::string& dictionary = how.dictionary;
  std::string file = head, index;
  file += '\0';
  put(file, dictionary.size(), 4);
  put(file, frame_lines, 4);
  file += dictionary;
  put(index, blocks.size(), 4);
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, how.checksums);
  ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  for (const packed_block& b : blocks) {
    for (const std::uint32_t n : b.place) put(index, n, 4);
    for (unsigned k = 0; k < 7; ++k) put(index, 0, 4);  // the cluster's and its rank
    put(index, b.warps.size(), 4);
    for (const auto& lines : b.warps) {
      const std::size_t frames = (lines.size() + frame_lines - 1) / frame_lines;
      put(index, lines.size(), 4);
      put(index, frames, 4);
      put(index, file.size(), 8);
      put(file, lines.size(), 4);
      put(file, frames, 4);
      for (std::size_t from = 0; from < lines.size(); from += frame_lines) {
        const std::size_t end = std::min(lines.size(), from + frame_lines);
        std::string text;
        for (std::size_t k = from; k < end; ++k) text += (k == from ? "" : "\n") + lines[k];
        std::string packed(ZSTD_compressBound(text.size()), '\0');
        packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
        put(file, packed.size(), 4);
        if (frames_at != nullptr) frames_at->emplace_back(file.size(), file.size() + packed.size());
        file += packed;
        put(index, end - from, 4);
      }
    }
  }
  ZSTD_freeCCtx(context);
  put(index, file.size(), 8);
  return file + index;
}

inline std::string tracez(const std::string& head, const std::vector<packed_block>& blocks, std::size_t frame_lines,
                          const std::string& dictionary) {
  return tracez(head, blocks, frame_lines, packing{dictionary});
}

/// A dictionary made from samples, as the tracer makes it.
inline std::string dictionary_of(const std::vector<std::string>& samples) {
  std::string all, dictionary(4096, '\0');
  std::vector<std::size_t> sizes;
  for (const std::string& s : samples) {
    all += s;
    sizes.push_back(s.size());
  }
  const std::size_t n = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(), sizes.data(),
                                              static_cast<unsigned>(sizes.size()));
  dictionary.resize(ZDICT_isError(n) != 0 ? 0 : n);
  return dictionary;
}

}  // namespace sass_trace_test
