// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/gpu/cwd/block_sample.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// Decides how many blocks of a launch must be simulated to estimate its cycles, and estimates them: the cycles of a
/// launch of the simulated blocks alone, and for each other block the time that a block took in the steady state.
///
/// A batch is as many blocks as the GPU can hold, in the order of their ends. The first batch is left out, and of the
/// others as many as MSER says (White, Simulation 69(6), 1997). The mean time of the others has the confidence interval
/// of batch means, wider if neighbours are alike; there must be no trend (Mann, Econometrica 13, 1945). The auxiliary
/// variable of a regression estimator is the number of executed instructions (Cochran, Sampling Techniques, 7.1). The
/// error is never said to be less than what is asked for.
///
/// As long as the L2 has lines that the launch has not touched, it evicts what others have left, or nothing. So where
/// the launch touches all, only batches count that begin when it has. What the other blocks miss in the L2 is known
/// when they have been executed. If it is more or less than here, the estimate moves, and its interval is wider.
class block_sampler {
 public:
  /// For a launch of `blocks` blocks, of which the GPU can hold `wave`. `error`: the relative error to be reached.
  /// `cache`: the L2, which outlives the sampler.
  block_sampler(double error, std::uint64_t blocks, std::uint64_t wave, const sampled_cache& cache);

  /// A block has ended in `cycle` that was dispatched `took` cycles before; all earlier ends have been told.
  void block_ended(cycle_t cycle, cycle_t took, std::uint64_t instructions);
  /// How many blocks, the last ones, need not be simulated, as far as it is known now: a multiple of `wave`, so that
  /// the last wave is as full as without them. 0: none. `dispatched`: blocks that are simulated in any case.
  [[nodiscard]] std::uint64_t needless(std::uint64_t dispatched) const;
  [[nodiscard]] std::uint64_t wave() const { return wave_; }
  /// From now on the SMs run empty, or all blocks are simulated: no end counts any more.
  void close() { open_ = false; }
  /// Of the launch whose last `left_out` blocks have executed `rest`. It took `cycles` without them.
  /// `after_others`: of an earlier launch, too, blocks were left out, so that this one began in about the state that
  /// it would have found.
  [[nodiscard]] block_sample estimate(std::uint64_t left_out, const executed_blocks& rest, cycle_t cycles,
                                      bool after_others) const;

 private:
  struct batch {
    double cycles = 0;
    double instructions = 0;
    double longest = 0;  // time that one of its blocks took
    double touched = 0;  // share of the L2 that the launch has touched by its end
    double missed = 0;   // sectors, in the L2
  };
  /// The steady state. Deviations and trends are relative to the means.
  struct steady_state {
    std::size_t first = 0;  // batch
    double batches = 0;
    double cycles = 0, instructions = 0;  // of a batch, on average
    double elasticity = 1;                // by how many percent a batch with 1 % more instructions takes longer
    double doubt = 0;                     // standard deviation of that
    double deviation = 0;                 // standard deviation of the mean of cycles
    double slope_deviation = 0;           // standard deviation of a trend from batch to batch
    double trend = 0;                     // from batch to batch, of cycles; 0: none is seen
    double instruction_trend = 0;         // the same of instructions
    double end = 0;                       // standard deviation of the time in which the last blocks end, in cycles
    double student = 0;                   // quantile
    double missed = 0;                    // sectors of a batch, in the L2, on average
    double missed_deviation = 0;          // standard deviation of that
    /// What changes from batch to batch, has changed so much in the middle of the batches behind these.
    [[nodiscard]] double later(double change, double batches_left) const {
      return change * (batches + batches_left) / 2;
    }
  };
  void end_batch(cycle_t cycle);
  [[nodiscard]] std::optional<std::size_t> end_of_filling() const;
  [[nodiscard]] std::size_t end_of_transient(std::size_t first) const;
  [[nodiscard]] std::optional<steady_state> find_steady_state() const;
  void describe(steady_state& s) const;
  /// Half of the interval of the cycles of so many batches, of which a block has `more` instructions than here,
  /// relative to them.
  [[nodiscard]] static double half_width(const steady_state& s, double batches, double more);

  [[nodiscard]] double another_run(const steady_state& s, std::uint64_t blocks) const;
  [[nodiscard]] static double missed_more(const steady_state& s, double batches, double missed);

  const double error_;
  const std::uint64_t blocks_, wave_;
  const sampled_cache& cache_;
  double first_touched_ = 0;             // share of the L2 when the first batch had ended
  std::uint64_t missed_ = 0;             // sectors, before the present batch
  std::uint64_t most_instructions_ = 0;  // of one block
  cycle_t longest_ = 0;                  // time that one took
  bool open_ = true;
  bool cold_ = true;            // the first batch has not ended
  std::uint64_t ended_ = 0;     // blocks
  std::uint64_t in_batch_ = 0;  // blocks of the present one
  std::uint64_t batch_blocks_;  // of each batch
  cycle_t first_begin_ = 0;     // of the first block
  cycle_t batch_begin_ = 0;
  batch present_;
  std::vector<batch> batches_;
};

}  // namespace heddle
