// SPDX-License-Identifier: MIT
#include "bench_traces.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::uint32_t all = 0xffffffffu;
constexpr unsigned threads = 256;
constexpr std::uint64_t a_base = 0x7f4000000000, b_base = 0x7f4100000000, c_base = 0x7f4200000000;

// Instruction lines of one warp, version 5: 16 bytes an instruction, one immediate.
class warp_text {
 public:
  void alu(const char* instruction, std::uint32_t mask = all) { line(mask, instruction, " 0 0"); }
  void strided(const char* instruction, unsigned bytes, std::uint64_t base, int stride, std::uint32_t mask = all) {
    char rest[64];
    std::snprintf(rest, sizeof rest, " %u 1 0x%" PRIx64 " %d 0", bytes, base, stride);
    line(mask, instruction, rest);
  }
  // Two rows of 16 lanes: `step` within a row, the second row `apart` behind the first.
  void rows(const char* instruction, unsigned bytes, std::uint64_t base, int step, int apart) {
    char rest[64];
    std::snprintf(rest, sizeof rest, " %u 2 0x%" PRIx64, bytes, base);
    std::string text = rest;
    for (int lane = 1; lane < 32; ++lane) text += " " + std::to_string(lane == 16 ? apart - 15 * step : step);
    line(all, instruction, text + " 0");
  }
  void jump(unsigned pc) { pc_ = pc; }
  [[nodiscard]] unsigned pc() const { return pc_; }
  void write(std::ostream& to, unsigned warp) const {
    to << "warp = " << warp << "\ninsts = " << count_ << "\n" << text_ << "\n";
  }

 private:
  void line(std::uint32_t mask, const char* instruction, const std::string& rest) {
    char head[32];
    std::snprintf(head, sizeof head, "%04x %08x ", pc_, mask);
    text_ += head;
    text_ += instruction;
    text_ += rest + "\n";
    pc_ += 16;
    ++count_;
  }
  std::string text_;
  unsigned pc_ = 0;
  unsigned count_ = 0;
};

void tiled_product(warp_text& w, unsigned block, unsigned warp) {
  constexpr unsigned row_bytes = 40 * 16 * 4;  // of the matrices
  for (const char* i : {"1 R0 S2R 0", "1 R2 S2R 0", "1 R5 IMAD 2 R0 R2", "1 R8 IMAD.WIDE 2 R5 R2", "1 R20 MOV 0"})
    w.alu(i);
  const unsigned loop = w.pc();
  for (unsigned tile = 0; tile < 4; ++tile) {
    w.jump(loop);
    w.rows("1 R16 LDG.E.SYS 1 R8", 4, a_base + block / 40 * 16 * row_bytes + 2 * warp * row_bytes + tile * 64, 4,
           row_bytes);
    w.rows("1 R17 LDG.E.SYS 1 R10", 4, b_base + block % 40 * 64 + (tile * 16 + 2 * warp) * row_bytes, 4, row_bytes);
    w.strided("0 STS 2 R12 R16", 4, warp * 128, 4);
    w.strided("0 STS 2 R12 R17", 4, 1024 + warp * 128, 4);
    w.alu("0 BAR.SYNC 0");
    for (unsigned k = 0; k < 16; k += 4) {
      w.rows("1 R24 LDS.U.128 1 R13", 16, warp * 128 + k * 4, 0, 64);
      for (unsigned n = 0; n < 4; ++n) {
        const std::string load = "1 R" + std::to_string(28 + n) + " LDS.U 1 R14";
        w.rows(load.c_str(), 4, 1024 + (k + n) * 64, 4, 0);
      }
      for (unsigned n = 0; n < 4; ++n) {
        const std::string product = "1 R20 FFMA 3 R" + std::to_string(28 + n) + " R" + std::to_string(24 + n) + " R20";
        w.alu(product.c_str());
      }
    }
    w.alu("0 BAR.SYNC 0");
    w.alu("0 BRA 0");
  }
  w.rows("0 STG.E.SYS 2 R8 R20", 4, c_base + block / 40 * 16 * row_bytes + block % 40 * 64 + 2 * warp * row_bytes, 4,
         row_bytes);
  w.alu("0 EXIT 0");
}

void streaming(warp_text& w, unsigned block, unsigned warp) {
  const std::uint64_t at = (std::uint64_t{block} * threads + warp * 32) * 4;
  for (const char* i : {"1 R0 S2R 0", "1 R1 S2R 0", "1 R2 IMAD 2 R0 R1", "1 R4 IMAD.WIDE 1 R2", "1 R6 IMAD.WIDE 1 R2"})
    w.alu(i);
  w.strided("1 R8 LDG.E.SYS 1 R4", 4, a_base + at, 4);
  w.strided("1 R9 LDG.E.SYS 1 R6", 4, b_base + at, 4);
  w.alu("1 R10 FADD 2 R8 R9");
  w.alu("1 R12 IMAD.WIDE 1 R2");
  w.strided("0 STG.E.SYS 2 R12 R10", 4, c_base + at, 4);
  w.alu("0 EXIT 0");
}

// Halves, then quarters of the warp take the two sides of branches, one after the other.
void divergent(warp_text& w, unsigned block, unsigned warp) {
  for (const char* i : {"1 R0 S2R 0", "1 R1 MOV 0"}) w.alu(i);
  const unsigned loop = w.pc();
  for (unsigned turn = 0; turn < 16; ++turn) {
    w.jump(loop);
    const std::uint32_t taken = (turn + warp) % 2 == 0 ? 0xffff0000u : 0xf0f0f0f0u;
    w.alu("0 BRA 0", taken);
    for (unsigned n = 0; n < 4; ++n) w.alu("1 R1 FFMA 3 R1 R1 R0", ~taken);
    w.alu("0 BRA 0", ~taken);
    for (unsigned n = 0; n < 4; ++n) w.alu("1 R1 IADD3 3 R1 R0 R1", taken);
    w.alu("1 R2 LOP3.LUT 2 R1 R0");
    w.alu("0 BRA 0");
  }
  w.strided("0 STG.E.SYS 2 R4 R2", 4, c_base + (std::uint64_t{block} * threads + warp * 32) * 4, 4);
  w.alu("0 EXIT 0");
}

// A tile of 32 x 32 words of a matrix with 1024 columns; every warp moves four of its rows. Rows of the tile are 33
// words long: a column meets no bank twice.
void transpose(warp_text& w, unsigned block, unsigned warp) {
  constexpr unsigned row_bytes = 1024 * 4;
  const std::uint64_t from = a_base + block / 32 * 32 * row_bytes + block % 32 * 128;
  const std::uint64_t to = c_base + block % 32 * 32 * row_bytes + block / 32 * 128;
  for (const char* i : {"1 R0 S2R 0", "1 R1 S2R 0", "1 R2 IMAD 2 R0 R1", "1 R4 IMAD.WIDE 1 R2"}) w.alu(i);
  for (unsigned k = 0; k < 4; ++k)
    w.strided(("1 R" + std::to_string(8 + k) + " LDG.E.SYS 1 R4").c_str(), 4, from + (warp + 8 * k) * row_bytes, 4);
  for (unsigned k = 0; k < 4; ++k)
    w.strided(("0 STS 2 R6 R" + std::to_string(8 + k)).c_str(), 4, (warp + 8 * k) * 132, 4);
  w.alu("0 BAR.SYNC 0");
  for (unsigned k = 0; k < 4; ++k)
    w.strided(("1 R" + std::to_string(8 + k) + " LDS.U 1 R7").c_str(), 4, (warp + 8 * k) * 4, 132);
  for (unsigned k = 0; k < 4; ++k)
    w.strided(("0 STG.E.SYS 2 R4 R" + std::to_string(8 + k)).c_str(), 4, to + (warp + 8 * k) * row_bytes, 4);
  w.alu("0 EXIT 0");
}

unsigned shared_bytes_of(trace_kind kind) {
  switch (kind) {
    case trace_kind::tiled_product: return 2048;
    case trace_kind::transpose: return 32 * 132;
    default: return 0;
  }
}

}  // namespace

const char* name_of(trace_kind kind) {
  constexpr const char* names[] = {"tiled_product", "streaming", "divergent", "transpose"};
  return names[static_cast<unsigned>(kind)];
}

std::string write_trace(trace_kind kind, const std::string& folder, unsigned blocks) {
  const std::string list = folder + "/kernelslist.g";
  std::ofstream(list) << "kernel-1.traceg\n";
  std::ofstream out(folder + "/kernel-1.traceg");
  out << "-kernel name = " << name_of(kind) << "\n-kernel id = 1\n-grid dim = (" << blocks << ",1,1)\n-block dim = ("
      << threads << ",1,1)\n-shmem = " << shared_bytes_of(kind)
      << "\n-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n"
         "-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
         "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] "
         "immediate\n\n";
  for (unsigned block = 0; block < blocks; ++block) {
    out << "#BEGIN_TB\n\nthread block = " << block << ",0,0\n\n";
    for (unsigned warp = 0; warp < threads / 32; ++warp) {
      warp_text w;
      switch (kind) {
        case trace_kind::tiled_product: tiled_product(w, block, warp); break;
        case trace_kind::streaming: streaming(w, block, warp); break;
        case trace_kind::divergent: divergent(w, block, warp); break;
        case trace_kind::transpose: transpose(w, block, warp); break;
      }
      w.write(out, warp);
    }
    out << "#END_TB\n\n";
  }
  out.close();
  if (!out) throw std::runtime_error("cannot write a trace to '" + folder + "'");
  return list;
}

}  // namespace bench
