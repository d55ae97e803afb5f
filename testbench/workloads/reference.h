// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/hash/splitmix64.h"

namespace heddle::workloads {

/// Random numbers for a workload's data: the same on every machine.
class random_numbers : splitmix64 {
 public:
  using splitmix64::next;
  using splitmix64::splitmix64;

  /// A whole number from 0 to `limit` - 1; the slight bias does not matter here.
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  /// A float from `low` up to `high`, of 24 random bits.
  float real(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }
};

/// The content of a job's buffer with "fill": "random:SEED", as 32-bit words.
inline std::vector<std::uint32_t> random_words(std::uint64_t seed, std::size_t count) {
  random_numbers random(seed);
  std::vector<std::uint32_t> words(count + count % 2);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::uint64_t pair = random.next();
    words[i] = static_cast<std::uint32_t>(pair);
    words[i + 1] = static_cast<std::uint32_t>(pair >> 32);
  }
  words.resize(count);
  return words;
}

inline std::vector<float> random_floats(std::uint64_t seed, std::size_t count, float low, float high) {
  random_numbers random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.real(low, high);
  return values;
}

/// The folder for a workload's data, written in the host's byte order (a GPU is little endian).
class folder {
 public:
  explicit folder(std::filesystem::path path) : path_(std::move(path)) { std::filesystem::create_directories(path_); }

  /// Throws std::runtime_error if the file cannot be written.
  template <class T>
  void write(const std::string& name, const std::vector<T>& values) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    if (!file.flush()) throw std::runtime_error("cannot write " + (path_ / name).string());
  }

 private:
  std::filesystem::path path_;
};

// One function per workload, in WORKLOAD/reference.cpp: writes the inputs that the job reads and the outputs that it
// expects, with the kernel's order of floating-point operations and std::fma where the kernel's PTX has fma.
void make_bfs(const folder& out);
void make_bitonic_sort(const folder& out);
void make_black_scholes(const folder& out);
void make_convolution(const folder& out);
void make_divergent(const folder& out);
void make_fft(const folder& out);
void make_histogram(const folder& out);
void make_hotspot(const folder& out);
void make_intra_warp_lock(const folder& out);
void make_kmeans(const folder& out);
void make_lu_decomposition(const folder& out);
void make_mandelbrot(const folder& out);
void make_nbody(const folder& out);
void make_needleman_wunsch(const folder& out);
void make_pointer_chase(const folder& out);
void make_reduction(const folder& out);
void make_saxpy(const folder& out);
void make_scan(const folder& out);
void make_sgemm(const folder& out);  // sgemm_register_tiled reads the same files
void make_spin_lock(const folder& out);
void make_spmv(const folder& out);
void make_stencil_f64(const folder& out);
void make_texture_filter(const folder& out);
void make_transpose(const folder& out);
void make_vector_add(const folder& out);
void make_wmma_gemm(const folder& out);

}  // namespace heddle::workloads
