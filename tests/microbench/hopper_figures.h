// SPDX-License-Identifier: MIT
// What others have measured of Hopper's clusters, mbarriers and bulk copies: the figures that hopper_test.cpp compares.
#pragma once

namespace heddle::test {

/// A published figure. `explained` says why the model differs by more than 3 %; its value is then in
/// explained_values.txt.
struct hopper_figure {
  const char* what;
  double published;
  const char* source;
  const char* explained = "";
};

namespace hopper_sources {

inline constexpr char hpmll[] = "HPMLL/NVIDIA-Hopper-Benchmark, log of an H800";
inline constexpr char luo[] = "Luo et al. 2025, arXiv:2501.12084 (H800)";
inline constexpr char seanzw[] = "seanzw.github.io/posts/gpu_dsm_bw (H200)";
inline constexpr char flash_gpu[] = "FlashGPU-Sim's configuration of an H100";

inline constexpr char latency_csv[] = "an H100, tests/hardware/h100/latency.csv";

inline constexpr char any_blocks[] =
    "as long for all clusters here; on the chip fences and messages take longer the more blocks there are";
inline constexpr char one_hop[] =
    "one latency between all TPCs of a GPC here; on the chip some pairs of a large cluster are 30 cycles nearer";
inline constexpr char own_shared[] = "the log's loads have generic addresses, which take longer on the chip than here";
inline constexpr char no_requests[] =
    "only data take the sender's time here, and no links are shared; on the chip requests and neighbours take some, too";
inline constexpr char fitted[] =
    "FlashGPU-Sim's value is fitted to bulk copies and their waits together; an H100 takes 46 cycles for an arrival and "
    "a wait (tests/hardware/h100/latency.csv)";
inline constexpr char arrival_atomic[] =
    "an arrival whose state is used is an atomic of shared memory here, and FlashGPU-Sim's value is from the bytes' "
    "arrival to the end of the phase";
inline constexpr char test_is_a_load[] =
    "a load, a comparison and a predicate here; an H100 takes 50 cycles with two further instructions "
    "(tests/hardware/h100/latency.csv)";
inline constexpr char hint[] = "a phase that is over answers at once here, with a time limit or without";
inline constexpr char barrier[] =
    "set by an H100's 13.9 cycles for a barrier of one warp (tests/hardware/h100/latency.csv)";
inline constexpr char store_way[] =
    "a store is seen after half of a load's time here; an H100 takes 318 cycles a way (tests/hardware/h100/latency.csv)";
inline constexpr char global_way[] =
    "the L2 performs a store as soon as a load here, and the paper's method is not known";
inline constexpr char arrival_behind[] =
    "tma.latency_cycles was set by a chase with the arrival before the copy (tests/system/memory/bulk_copy.cu); behind "
    "the copy, as in the log's program, the arrival takes no time";
inline constexpr char box_of_memory[] =
    "the chip takes 857 cycles for a box of 1 KB, 100 more than for a step of a chase through memory, and 1,005 for 4 KB; "
    "here a box takes as long as a step until the memory is at its limit";
inline constexpr char box_of_tensor[] =
    "the unit takes a tensor's box apart without additional time here; on the chip a box of 1 KB takes 60 cycles longer "
    "in one dimension, 220 in two and 260 in three, and rows of 64 bytes are slower";

}  // namespace hopper_sources

// Cycles, if nothing else is said. "GiB/s" are GB/s in the log, whose program divides by 1,073,741,824.
inline constexpr hopper_figure hopper_figures[] = {
    {"load in a cluster of 2", 181, hopper_sources::hpmll},
    {"load in a cluster of 3", 205.3, hopper_sources::hpmll},
    {"load in a cluster of 4", 204.1, hopper_sources::hpmll},
    {"load in a cluster of 6", 206.9, hopper_sources::hpmll},
    {"load in a cluster of 8", 202.6, hopper_sources::hpmll},
    {"load in a cluster of 16", 196.4, hopper_sources::hpmll, hopper_sources::one_hop},
    {"load of the own block", 33, hopper_sources::hpmll, hopper_sources::own_shared},
    {"TB/s of clusters of 2", 3.27, hopper_sources::luo, hopper_sources::no_requests},
    {"TB/s of clusters of 4", 2.65, hopper_sources::luo, hopper_sources::no_requests},
    {"loads one way, bytes/cycle", 19.87, hopper_sources::seanzw, hopper_sources::no_requests},
    {"loads both ways, bytes/cycle", 15.37, hopper_sources::seanzw, hopper_sources::no_requests},
    {"stores one way, bytes/cycle", 18.87, hopper_sources::seanzw, hopper_sources::no_requests},
    {"stores both ways, bytes/cycle", 18.12, hopper_sources::seanzw},
    {"puts one way, bytes/cycle", 21.25, hopper_sources::seanzw},
    {"puts both ways, bytes/cycle", 20.29, hopper_sources::seanzw},
    {"store seen, there and back", 599, hopper_sources::seanzw, hopper_sources::store_way},  // 573 to 625
    {"through memory, there and back", 1110, hopper_sources::luo, hopper_sources::global_way},
    {"mbarrier.arrive", 29, hopper_sources::flash_gpu, hopper_sources::arrival_atomic},
    {"mbarrier.try_wait", 32, hopper_sources::flash_gpu, hopper_sources::fitted},
    {"mbarrier.test_wait", 42, hopper_sources::flash_gpu, hopper_sources::test_is_a_load},
    {"mbarrier.try_wait with a limit", 150, hopper_sources::flash_gpu, hopper_sources::hint},
    {"barrier of a warp", 15, hopper_sources::flash_gpu, hopper_sources::barrier},
    {"barrier, each further warp", 2, hopper_sources::flash_gpu},
    {"cluster barrier, 2 blocks of 1 warp", 749.39, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"cluster barrier, 2 blocks of 8 warps", 837.5, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"cluster barrier, 2 blocks of 32 warps", 1364.64, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"cluster barrier, 16 blocks of 1 warp", 899.98, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"cluster barrier, 16 blocks of 8 warps", 992.19, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"cluster barrier, 16 blocks of 32 warps", 1536.38, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"relaxed cluster barrier, 2 blocks of 1 warp", 74.14, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"relaxed cluster barrier, 2 blocks of 8 warps", 89.41, hopper_sources::latency_csv},
    {"relaxed cluster barrier, 2 blocks of 32 warps", 148.3, hopper_sources::latency_csv},
    {"relaxed cluster barrier, 16 blocks of 1 warp", 86.14, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"relaxed cluster barrier, 16 blocks of 8 warps", 101.41, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"relaxed cluster barrier, 16 blocks of 32 warps", 160.23, hopper_sources::latency_csv, hopper_sources::any_blocks},
    {"bulk copy from the L2", 367, hopper_sources::hpmll},  // 365 to 369
    {"bulk copy from memory", 759, hopper_sources::hpmll},  // 757 to 761
    {"bulk copy, L2: beyond a load", 104.5, hopper_sources::hpmll, hopper_sources::arrival_behind},
    {"bulk copy, memory: beyond a load", 104.5, hopper_sources::hpmll, hopper_sources::arrival_behind},
    {"bulk copies, issue", 32.5, hopper_sources::flash_gpu},  // 32 to 33
};

/// One block an SM or more, each of which copies one box after another: GiB/s of a whole H800 PCIe.
struct hopper_boxes {
  unsigned blocks;
  unsigned box[3];         // elements along x, y and z; 0: not a dimension. A bulk copy has bytes along x alone
  unsigned element_bytes;  // 1: a bulk copy
  double published;        // GiB/s
  const char* explained = "";
};
inline constexpr hopper_boxes hopper_few_boxes[] = {
    {114, {1024}, 1, 222.8, hopper_sources::box_of_memory},   {114, {2048}, 1, 422.3, hopper_sources::box_of_memory},
    {114, {4096}, 1, 759.4, hopper_sources::box_of_memory},   {114, {64}, 8, 108.8, hopper_sources::box_of_tensor},
    {114, {16, 16}, 4, 177.6, hopper_sources::box_of_tensor},
};
inline constexpr hopper_boxes hopper_many_boxes[] = {
    {114, {8192}, 1, 1229.0, hopper_sources::box_of_memory},
    {456, {1024}, 1, 830.3, hopper_sources::box_of_memory},
    {456, {2048}, 1, 1379.8, hopper_sources::box_of_memory},
    {114, {32, 32}, 4, 630.5, hopper_sources::box_of_tensor},
    {456, {64}, 8, 425.7, hopper_sources::box_of_tensor},
    {456, {128}, 8, 779.6, hopper_sources::box_of_tensor},
    {456, {192}, 8, 1447.8},
    {456, {256}, 8, 1328.3, hopper_sources::box_of_tensor},
    {456, {16, 16}, 4, 642.9, hopper_sources::box_of_tensor},
};

}  // namespace heddle::test
