// SPDX-License-Identifier: MIT
// The kernels of the table of advice.
#pragma once

#include <string>
#include <vector>

namespace advice_table_test {

using words = std::vector<std::string>;

inline std::string words_of(unsigned n) { return "buf:" + std::to_string(4 * n) + ":random:5"; }
inline std::string bytes_of(unsigned n) { return words_of(n / 4); }
inline std::string bytes(unsigned n) { return "buf:" + std::to_string(n); }
inline std::string number(unsigned n) { return "s32:" + std::to_string(n); }

/// A kernel and the same mended, with 256 threads a block, and how many blocks an SM has.
struct row {
  const char* rule;
  const char* file;  // below tests/system
  const char* kernel;
  const char* mended;
  words (*arguments)(unsigned threads);
  double blocks[2] = {1, 4};                         // a small grid and a large one
  words (*mended_arguments)(unsigned threads) = {};  // null: the same
  double mended_blocks = 1;                          // times as many
  bool is_placed = true;                             // the advice names a line
  const char* note = "";                             // behind the kernel's name on the page
};

inline constexpr const char* first = "views/advice";
inline constexpr const char* waits = "views/advice_waits";
inline constexpr const char* more = "advice/more";
inline constexpr const char* serial = "advice/serial";
inline constexpr const char* one_wave = "advice/one_wave";
inline constexpr const char* bounds = "advice/bounds";

inline words values_and_turns(unsigned threads, unsigned turns) {
  return {words_of(threads + 4096), bytes(16 * threads), number(turns)};
}
inline words no_turns(unsigned threads) { return {words_of(threads + 4096), bytes(16 * threads)}; }
inline words chase(unsigned threads, unsigned turns) { return {bytes(4194304), bytes(4 * threads), number(turns)}; }
template <unsigned turns>
inline words values(unsigned threads) {
  return values_and_turns(threads, turns);
}
template <unsigned turns>
inline words streamed(unsigned threads) {
  return {words_of(turns * threads), bytes(4 * turns * threads), number(turns)};
}
template <unsigned turns>
inline words chased(unsigned threads) {
  return chase(threads, turns);
}

inline const row rows[] = {
    {"uncoalesced access", first, "strided", "strided_mended",
     [](unsigned n) {
       return words{words_of(16 * n), bytes(16 * n)};
     }},
    {"uncoalesced access", one_wave, "row_of_thread", "row_of_thread_mended",
     [](unsigned n) {
       return words{words_of(16 * n), bytes(4 * n), number(16)};
     }},
    {"uncoalesced access", bounds, "transposed", "transposed_mended",
     [](unsigned n) {
       return words{words_of(4 * n), bytes(16 * n), number(n / 32)};
     }},
    {"uncoalesced access", bounds, "gathered", "gathered_mended",
     [](unsigned n) {
       return words{words_of(262144), bytes(4 * n), number(16)};
     }},
    {"unused vector width", bounds, "row_by_words", "row_by_words_mended",
     [](unsigned n) {
       return words{words_of(64 * n), bytes(4 * n), number(64)};
     }},
    {"unused vector width", first, "quads", "quads_mended",
     [](unsigned n) {
       return words{words_of(8 * n), bytes(16 * n), number(16), number(0)};
     }},
    {"unused vector width", bounds, "cut_bytes", "cut_bytes_mended",
     [](unsigned n) {
       return words{bytes_of(32 * n), bytes(32 * n), number(32), number(200)};
     }},
    {"unused vector width", bounds, "sum_of_halves", "sum_of_halves_mended",
     [](unsigned n) {
       return words{bytes_of(128 * n), bytes(4 * n), number(64)};
     }},
    {"unused vector width", bounds, "axpy_of_halves", "axpy_of_halves_mended",
     [](unsigned n) {
       return words{bytes_of(64 * n), bytes(64 * n), number(32)};
     }},
    {"unused vector width",
     bounds,
     "flip_byte",
     "flip_byte_mended",
     [](unsigned n) {
       return words{bytes_of(n), bytes(n), number(n)};
     },
     {32, 64},
     {},
     0.25},
    {"unused vector width",
     bounds,
     "add_to_short",
     "add_to_short_mended",
     [](unsigned n) {
       return words{bytes_of(2 * n), bytes(2 * n), number(7)};
     },
     {32, 64},
     [](unsigned n) {
       return words{bytes_of(4 * n), bytes(4 * n), number(7)};
     },
     0.5},
    {"misaligned access", first, "shifted", "shifted_mended",
     [](unsigned n) {
       return words{words_of(2 * n + 4096), bytes(16 * n), number(32), number(32)};
     }},
    {"bank conflicts", first, "columns", "columns_mended", values<64>},
    {"constants by lane", first, "looked_up", "looked_up_mended", values<64>},
    {"constants by lane", serial, "looked_up_at_random", "looked_up_at_random_mended", values<64>},
    {"local memory", first, "indexed", "indexed_mended", values<64>},
    {"register spills", more, "spilled", "spilled_mended", values<16>},
    {"register spills", more, "by_maxnreg", "unlimited", values<16>},
    {"register spills", one_wave, "spilled_weights", "spilled_weights_mended", values<8>},
    {"divergence", first, "by_thread", "by_thread_mended", values<100>},
    {"divergence", more, "even_and_odd", "even_and_odd_mended", values<100>},
    {"divergence", more, "one_side_long", "one_side_long_mended", values<100>},
    {"divergence", more, "unlike_turns", "unlike_turns_mended", values<96>, {16, 32}},
    {"divergence", bounds, "ways_in_a_loop", "ways_in_a_loop_mended", values<48>},
    {"double precision", first, "widened", "widened_mended", values<100>},
    {"double precision", one_wave, "double_literals", "double_literals_mended", values<16>},
    {"double precision", bounds, "scaled_stream", "scaled_stream_mended", streamed<8>},
    {"double precision", bounds, "deviation", "deviation_mended", values<16>},
    {"barriers", waits, "uneven", "uneven_mended", values<8>},
    {"serial work", serial, "one_sums", "one_sums_mended", values<8>},
    {"serial work", serial, "four_sum", "one_sums_mended", values<8>},
    {"serial work", serial, "one_computes", "one_computes_mended", values<8>},
    {"serial work", serial, "one_reads", "one_reads_mended", values<8>},
    {"serial work", serial, "last_sum", "last_sum_mended", no_turns, {1, 16}},
    {"steps in shared memory", waits, "step_by_step", "step_by_step_mended", values<8>},
    {"steps in shared memory", serial, "unrolled_steps", "steps_mended", no_turns, {1, 8}},
    {"steps in shared memory", serial, "spread_steps", "steps_mended", no_turns, {1, 8}},
    {"atomics by address", waits, "one_counter", "one_counter_mended",
     [](unsigned n) {
       return words{words_of(64 * n), bytes(16 * n), number(16)};
     }},
    {"atomics by address", waits, "few_bins", "few_bins_mended", values<64>},
    {"atomics by address", more, "apart", "apart_mended", values<16>},
    {"atomics by address", more, "histogram_of_few", "histogram_of_few_mended", values<16>},
    {"atomics by address", one_wave, "sums_of_blocks", "sums_of_blocks_mended", values<4>},
    {"atomics by address", bounds, "sums_by_key", "sums_by_key_mended",
     [](unsigned n) {
       return words{words_of(8 * n), bytes(1024), number(8)};
     }},
    {"atomics by address", bounds, "counted", "counted_mended", values<16>},
    {"atomics by address", bounds, "many_counters", "many_counters_mended",
     [](unsigned n) {
       return words{words_of(16 * n), bytes(4096), number(16)};
     }},
    {"prefetch distance", one_wave, "between_barriers", "between_barriers_mended",
     [](unsigned n) {
       return words{words_of(n + 8192), bytes(4 * n), number(32)};
     }},
    {"prefetch distance", waits, "used_at_once", "used_at_once_mended",
     [](unsigned n) {
       return words{words_of(33 * n), bytes(16 * n), number(32), number(n)};
     }},
    {"prefetch distance", bounds, "two_sums", "two_sums_mended",
     [](unsigned n) {
       return words{words_of(32 * n), bytes(4 * n), number(32)};
     }},
    {"imbalance within blocks", more, "one_warp_works", "one_warp_works_mended", values<320>},
    {"imbalance between blocks", first, "one_is_long", "one_is_long_mended", values<100>, {2, 8}, {}, 1, false},
    {"imbalance between blocks", first, "one_is_long", "one_is_long_mended", values<100>, {9.6, 17.6}, {}, 1, false},
    {"imbalance between blocks", serial, "eighth_is_long", "eighth_is_long_mended", values<64>, {8, 16}, {}, 1, false},
    {"imbalance between blocks",
     serial,
     "longer_and_longer",
     "longer_and_longer_mended",
     values<32>,
     {8, 16},
     {},
     1,
     false},
    {"imbalance between blocks", bounds, "triangle", "triangle_mended", values<32>, {4, 8}, {}, 1, false},
    {"partial last wave", first, "walk", "walk", chased<64>, {8.8, 17.6}, chased<16>, 4, false},
    {"occupancy", more, "many_registers", "many_registers_mended", chased<24>, {12, 24}, {}, 1, false},
    {"occupancy",
     more,
     "many_registers",
     "many_registers_mended",
     chased<192>,
     {12, 24},
     {},
     1,
     false,
     ", 192 iterations"},
};

}  // namespace advice_table_test
