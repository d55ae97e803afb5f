// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/block_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle {

namespace {

// Of fewer the deviation is known so badly that the first ones that happen to be alike would end the simulation.
constexpr std::size_t least_batches = 8;
constexpr std::size_t least_groups = 5;
constexpr std::size_t most_batches = 64;  // then pairs of them become one
// Trends are looked for at a level of 20 %, as overlooking one is worse than waiting for nothing.
constexpr double trend_quantile = 1.2816;
// Part of the error that a trend may cause which is so small that it does not matter.
constexpr double trend_share = 0.25;
// Before any batches differ in their instructions, their time is taken as proportional to them, more or less.
constexpr double usual_doubt = 0.5;
constexpr double most_correlation = 0.95;
constexpr double full_cache = 0.97;  // that it is full: sets fill one after another
constexpr double normal_quantile = 1.959964;
// By how many percent blocks take longer that miss 1 % more of their sectors in the L2: 0 to 1.
constexpr double missing_costs = 0.5;
constexpr double most_missing = 2;             // more than that many times as many count as that
constexpr double least_missed_sectors = 0.05;  // of an instruction: fewer hardly count

// The 97.5 % quantile of Student's distribution, to 0.2 % from 3 degrees of freedom on (Abramowitz and Stegun 26.7.5).
double student_quantile(double freedom) {
  constexpr double terms[] = {2.37227, 2.82250, 2.55585, 1.58953};
  double t = normal_quantile, power = 1;
  for (const double term : terms) t += term / (power *= freedom);
  return t;
}

// Kendall's statistic in standard deviations, with the correction for continuity.
double trend_of(const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t a = 0; a < v.size(); ++a)
    for (std::size_t b = a + 1; b < v.size(); ++b) sum += (v[b] > v[a]) - (v[b] < v[a]);
  const auto n = static_cast<double>(v.size());
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  return std::max(0.0, std::fabs(sum) - 1) / deviation;
}

// The median of the slopes between all pairs (Sen, JASA 63, 1968).
double slope_of(const std::vector<double>& v) {
  std::vector<double> slopes;
  for (std::size_t a = 0; a < v.size(); ++a)
    for (std::size_t b = a + 1; b < v.size(); ++b) slopes.push_back((v[b] - v[a]) / static_cast<double>(b - a));
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

// By which the variance of the mean is larger than that of independent values. The estimate of the correlation of
// neighbours is too small by about 1/n.
double inflation_of(const std::vector<double>& residuals, double squares) {
  if (squares <= 0) return 1;
  double products = 0;
  for (std::size_t k = 1; k < residuals.size(); ++k) products += residuals[k - 1] * residuals[k];
  const double correlation = products / squares + 1 / static_cast<double>(residuals.size());
  const double counted = std::clamp(correlation, 0.0, most_correlation);
  return (1 + counted) / (1 - counted);
}

double squares_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

// Half of the interval of the mean by the means of groups of so many neighbours: slow changes show in these.
double half_of_groups(const std::vector<double>& v, std::size_t size) {
  const std::size_t groups = v.size() / size, first = v.size() % size;
  const auto n = static_cast<double>(groups);
  double sum = 0, squares = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    double mean = 0;
    for (std::size_t k = 0; k < size; ++k) mean += v[first + g * size + k] / static_cast<double>(size);
    sum += mean;
    squares += mean * mean;
  }
  return student_quantile(n - 2) * std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1) / n);
}

// The mean of the second half less that of the first.
double growth_of(const std::vector<double>& v) {
  const std::size_t half = v.size() / 2;
  double sum = 0;
  for (std::size_t k = 0; k < half; ++k) sum += v[v.size() - 1 - k] - v[k];
  return sum / static_cast<double>(half);
}

}  // namespace

block_sampler::block_sampler(double error, std::uint64_t blocks, std::uint64_t wave, const sampled_cache& cache)
    : error_(error), blocks_(blocks), wave_(std::max<std::uint64_t>(wave, 1)), cache_(cache), batch_blocks_(wave_) {}

void block_sampler::block_ended(cycle_t cycle, cycle_t took, std::uint64_t instructions) {
  if (ended_++ == 0) first_begin_ = cycle - took;
  if (!open_) return;
  present_.instructions += static_cast<double>(instructions);
  most_instructions_ = std::max(most_instructions_, instructions);
  longest_ = std::max(longest_, took);
  present_.longest = std::max(present_.longest, static_cast<double>(took));
  if (++in_batch_ == batch_blocks_) end_batch(cycle);
}

void block_sampler::end_batch(cycle_t cycle) {
  present_.cycles = static_cast<double>(cycle - batch_begin_);
  const cache_use use = cache_.use_now();
  present_.touched = use.touched;
  present_.missed = static_cast<double>(use.missed_sectors - missed_);
  missed_ = use.missed_sectors;
  if (!cold_) batches_.push_back(present_);
  else first_touched_ = present_.touched;
  cold_ = false;
  present_ = batch();
  batch_begin_ = cycle;
  in_batch_ = 0;
  if (batches_.size() < most_batches) return;
  for (std::size_t k = 0; k < most_batches / 2; ++k) {
    const batch &a = batches_[2 * k], &b = batches_[2 * k + 1];
    batches_[k] = {a.cycles + b.cycles, a.instructions + b.instructions, std::max(a.longest, b.longest), b.touched,
                   a.missed + b.missed};
  }
  batches_.resize(most_batches / 2);
  batch_blocks_ *= 2;
}

// The batches from here on count; none: not these, as there will be others.
std::optional<std::size_t> block_sampler::end_of_filling() const {
  const auto begin_of = [this](std::size_t k) { return k == 0 ? first_touched_ : batches_[k - 1].touched; };
  const double now = batches_.back().touched;
  if (now < full_cache) {
    const double each = (now - first_touched_) / static_cast<double>(batches_.size());
    const double left = static_cast<double>(blocks_ - ended_) / static_cast<double>(batch_blocks_);
    if (now + each * left >= full_cache) return std::nullopt;
    return 0;
  }
  std::size_t first = 0;
  while (first < batches_.size() && begin_of(first) < full_cache) ++first;
  return first;
}

// MSER: leaves out the first batches without which the standard error of the rest is least; at most half of them.
std::size_t block_sampler::end_of_transient(std::size_t first) const {
  std::size_t best = first;
  const std::size_t all = batches_.size() - first;
  bool found = false;
  double least = 0, sum = 0, squares = 0;
  for (std::size_t left = batches_.size(); left-- > first;) {
    const batch& b = batches_[left];
    const double rate = b.cycles / std::max(b.instructions, 1.0), n = static_cast<double>(batches_.size() - left);
    sum += rate;
    squares += rate * rate;
    const double error = std::max(0.0, squares - sum * sum / n) / (n * n);
    if (2 * (left - first) > all || batches_.size() - left < least_batches) continue;
    if (found && error > least) continue;
    best = left;
    least = error;
    found = true;
  }
  return best;
}

// The elasticity by the means of two halves (Wald, Annals of Mathematical Statistics 11, 1940), weighted against what
// is taken for it without any. A batch's blocks begin in the batch before, so that its instructions are known with an
// error, for which least squares would make the elasticity too small.
void block_sampler::describe(steady_state& s) const {
  std::vector<double> x, y;
  for (std::size_t k = s.first; k < batches_.size(); ++k) {
    x.push_back(s.instructions > 0 ? batches_[k].instructions / s.instructions - 1 : 0);
    y.push_back(batches_[k].cycles / s.cycles - 1);
  }
  const double apart = growth_of(x);
  const double slope = apart != 0 ? growth_of(y) / apart : 1;
  constexpr double usual = 1 / (usual_doubt * usual_doubt), rounding = 1e-12;
  double unexplained = rounding;
  for (std::size_t k = 0; k < x.size(); ++k) unexplained += std::pow(y[k] - slope * x[k], 2);
  // Weight of the batches' own slope: one over its variance.
  const double own = apart * apart * s.batches / 4 / (unexplained / (s.batches - 2));
  s.elasticity = (usual + own * slope) / (usual + own);
  s.doubt = 1 / std::sqrt(usual + own);
  for (std::size_t k = 0; k < x.size(); ++k) y[k] -= s.elasticity * x[k];
  const double squares = squares_of(y);
  s.deviation = std::sqrt(squares / (s.batches - 1) / s.batches * inflation_of(y, squares));
  s.slope_deviation = std::sqrt(squares / (s.batches - 2) * 12 / std::pow(s.batches, 3));
  s.student = student_quantile(s.batches - 2);
  for (std::size_t size = 2; y.size() / size >= least_groups; size *= 2)
    s.deviation = std::max(s.deviation, half_of_groups(y, size) / s.student);
  if (trend_of(y) > trend_quantile) s.trend = slope_of(y);
  if (trend_of(x) > trend_quantile) s.instruction_trend = slope_of(x);
}

std::optional<block_sampler::steady_state> block_sampler::find_steady_state() const {
  if (batches_.size() < least_batches) return std::nullopt;
  const std::optional<std::size_t> filled = end_of_filling();
  if (!filled || batches_.size() - *filled < least_batches) return std::nullopt;
  steady_state s;
  s.first = end_of_transient(*filled);
  s.batches = static_cast<double>(batches_.size() - s.first);
  double longest = 0, longest_squared = 0, missed_squared = 0;
  for (std::size_t k = s.first; k < batches_.size(); ++k) {
    const batch& b = batches_[k];
    s.cycles += b.cycles / s.batches;
    s.instructions += b.instructions / s.batches;
    s.missed += b.missed / s.batches;
    missed_squared += b.missed * b.missed / s.batches;
    longest += b.longest / s.batches;
    longest_squared += b.longest * b.longest / s.batches;
  }
  if (s.cycles <= 0) return std::nullopt;
  s.end = std::sqrt(std::max(0.0, longest_squared - longest * longest) * s.batches / (s.batches - 1));
  s.missed_deviation = std::sqrt(std::max(0.0, missed_squared - s.missed * s.missed) / (s.batches - 1));
  describe(s);
  return s;
}

// How many times more sectors the rest has missed than so many batches here, beyond what chance explains.
double block_sampler::missed_more(const steady_state& s, double batches, double missed) {
  const double more = missed / batches - s.missed;
  const double chance = s.student * s.missed_deviation * std::sqrt(1 + s.batches / batches);
  const double counted = std::copysign(std::max(0.0, std::fabs(more) - chance), more);
  const double usual = std::max({s.missed, least_missed_sectors * s.instructions, 1.0});
  return std::clamp(counted / usual, -1.0, most_missing);
}

// The rest varies by chance, too: its mean differs from that of all such batches as theirs does. The time in which the
// last blocks end is not the one that the simulated blocks have.
double block_sampler::half_width(const steady_state& s, double batches, double more) {
  const double mean = s.student * s.deviation * std::sqrt(1 + s.batches / batches),
               instructions = s.student * more * s.doubt;
  const double end = normal_quantile * std::sqrt(2) * s.end / (s.cycles * batches);
  return std::sqrt(mean * mean + instructions * instructions + end * end) + std::fabs(s.later(s.trend, batches));
}

std::uint64_t block_sampler::needless(std::uint64_t dispatched) const {
  if (!open_ || in_batch_ != 0 || dispatched + wave_ > blocks_) return 0;
  const std::optional<steady_state> s = find_steady_state();
  if (!s) return 0;
  const std::uint64_t rest = (blocks_ - dispatched) / wave_ * wave_;
  const double batches = static_cast<double>(rest) / static_cast<double>(batch_blocks_);
  const double other = static_cast<double>(batch_begin_ - first_begin_) +
                       static_cast<double>(blocks_ - rest - ended_) / static_cast<double>(batch_blocks_) * s->cycles;
  const double all = other + batches * s->cycles;
  const double allowed = error_ * all / (batches * s->cycles);  // relative to the rest
  if (std::fabs(s->later(s->trend, batches)) > trend_share * allowed) return 0;
  // A trend that mattered would have been seen.
  if (s->later(s->slope_deviation, batches) > allowed) return 0;
  return half_width(*s, batches, s->later(s->instruction_trend, batches)) <= allowed ? rest : 0;
}

// From another state, the batches are others, too: half of the interval of the difference of two such launches.
double block_sampler::another_run(const steady_state& s, std::uint64_t blocks) const {
  const double batches = static_cast<double>(blocks) / static_cast<double>(batch_blocks_);
  return s.student * s.cycles * s.deviation * std::sqrt(2 * batches * s.batches);
}

block_sample block_sampler::estimate(std::uint64_t left_out, const executed_blocks& rest, cycle_t cycles,
                                     bool after_others) const {
  block_sample e;
  e.simulated_blocks = blocks_ - left_out;
  e.cycles = static_cast<double>(cycles);
  const std::optional<steady_state> s = find_steady_state();
  const double others = after_others && s ? another_run(*s, e.simulated_blocks) : 0;
  if (after_others) e.error = std::max(error_, others / e.cycles);
  if (left_out == 0 || !s) return e;
  const double batches = static_cast<double>(left_out) / static_cast<double>(batch_blocks_);
  const double more =
      s->instructions > 0 ? static_cast<double>(rest.instructions) / (batches * s->instructions) - 1 : 0;
  const double missed =
      rest.missed_sectors ? missing_costs * missed_more(*s, batches, static_cast<double>(*rest.missed_sectors)) : 0;
  e.cycles += batches * s->cycles * std::max(0.0, 1 + s->elasticity * more) * (1 + missed);
  double half = (half_width(*s, batches, more) + std::fabs(missed)) * batches * s->cycles;
  // A block that is longer than all that were seen may run alone at the end.
  if (rest.most > most_instructions_)
    half += static_cast<double>(longest_) *
            (static_cast<double>(rest.most) / static_cast<double>(std::max<std::uint64_t>(most_instructions_, 1)) - 1);
  e.error = std::max(error_, std::hypot(half, others) / e.cycles);  // slow changes do not show in few batches
  e.steady_from = wave_ + s->first * batch_blocks_;
  return e;
}

}  // namespace heddle
