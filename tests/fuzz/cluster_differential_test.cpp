// SPDX-License-Identifier: MIT
// Random kernels of clusters on a simulated h100, undisturbed and preempted at random times, and in zero simulated
// time, against what their generator computes.
// HEDDLE_FUZZ_FIRST and HEDDLE_FUZZ_KERNELS choose other seeds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "cluster_kernel.h"
#include "heddle/config/error.h"
#include "heddle/isa/tensor_map.h"
#include "tests/conformance/reference/machine.h"

namespace heddle::differential {
namespace {

using words = std::vector<std::uint32_t>;

std::vector<std::uint8_t> bytes_of(const words& w) {
  std::vector<std::uint8_t> b(4 * w.size());
  std::memcpy(b.data(), w.data(), b.size());
  return b;
}

class cluster_runs {
 public:
  cluster_runs() : input_(input_words) {
    std::mt19937 random(4711);
    for (std::uint32_t& w : input_) w = random();
    renew();
  }
  [[nodiscard]] const words& input() const { return input_; }

  enum class way { simulated, preempted, functional };
  /// How often a kernel was preempted while it ran.
  [[nodiscard]] std::uint64_t preempted() const { return preempted_; }
  /// What is wrong with a run of the kernel; empty: nothing.
  std::string problem(const cluster_kernel& k, way w) {
    if (++runs_ % 2048 == 0) renew();  // modules stay loaded
    machine_->write(out_, std::vector<std::uint8_t>(4 * out_words * k.blocks()));
    machine_->write(sums_, std::vector<std::uint8_t>(4 * sum_words));
    std::string failure;
    try {
      const conformance::scalar_launch l = launch_of(k);
      const unsigned module = machine_->load(k.text, "clusters.ptx");
      if (w == way::functional) machine_->execute(module, "k", l);
      else preempted_ += machine_->run(module, "k", l, 0, w == way::preempted ? preemptions() : no_preemption{});
    } catch (const std::exception& e) {
      failure = e.what();
      renew();
    }
    if (k.deadlocks) return names_deadlock(failure) ? "" : "a deadlock ends with '" + failure + "'";
    if (!failure.empty()) return failure;
    const std::string wrong = differences("out", out_, k.out);
    return wrong.empty() ? differences("sums", sums_, k.sums) : wrong;
  }

 private:
  void renew() {
    machine_.reset();
    machine_ = std::make_unique<conformance::machine>("h100", false, sms);
    in_ = machine_->allocate(4 * input_words);
    out_ = machine_->allocate(4 * out_words * 2 * most_ranks);
    sums_ = machine_->allocate(4 * sum_words);
    machine_->write(in_, bytes_of(input_));
  }

  using no_preemption = std::vector<conformance::timed_preemption>;
  // Most kernels take 3 to 10 us.
  std::vector<conformance::timed_preemption> preemptions() {
    std::vector<conformance::timed_preemption> all(1 + random_() % 3);
    for (conformance::timed_preemption& p : all) {
      p.after = sc_core::sc_time(static_cast<double>(random_() % 4000), sc_core::SC_NS);
      if (random_() % 2 != 0) p.sms = {static_cast<unsigned>(random_() % sms)};
      p.mode = random_() % 4 != 0 ? preemption_mode::context_switch : preemption_mode::drain;
      p.resume_after = random_() % 3 * 1000;
    }
    return all;
  }

  static bool names_deadlock(const std::string& failure) { return failure.find("deadlock") != std::string::npos; }

  conformance::scalar_launch launch_of(const cluster_kernel& k) const {
    conformance::scalar_launch l;
    l.block[0] = k.threads;
    l.grid[0] = k.blocks();
    isa::tensor_map map;
    map.type = isa::tensor_type::u32;
    map.rank = 2;
    map.address = in_;
    map.strides[0] = 4 * input_width;
    map.last = {input_width - 1, input_words / input_width - 1};
    map.box = {7, 7};
    isa::tensor_map swizzled = map, tiles = map;
    swizzled.swizzle = isa::tensor_swizzle::b32;
    tiles.rank = 3;
    tiles.address = out_ + 4 * tile_offset;
    tiles.strides = {4 * 32, 4 * out_words};
    tiles.last = {31, 7, k.blocks() - 1};
    const std::uint64_t pointers[] = {in_, out_, sums_};
    l.parameters.resize(64 + 3 * sizeof map);
    std::memcpy(l.parameters.data(), pointers, sizeof pointers);
    std::size_t at = 64;
    for (const isa::tensor_map* m : {&map, &swizzled, &tiles}) {
      EXPECT_EQ(isa::problem_of(*m), "");
      std::memcpy(&l.parameters[at], m, sizeof *m);
      at += sizeof *m;
    }
    return l;
  }

  std::string differences(const char* what, std::uint64_t address, const words& expected) {
    const std::vector<std::uint8_t> got = machine_->read(address, 4 * expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      std::uint32_t word = 0;
      std::memcpy(&word, &got[4 * k], 4);
      if (word == expected[k]) continue;
      char text[120];
      std::snprintf(text, sizeof text, "%s: word %zu of block %zu: got %08x, expected %08x", what, k % out_words,
                    k / out_words, word, expected[k]);
      return text;
    }
    return "";
  }

  static constexpr unsigned sms = 8;
  std::mt19937 random_{2026};
  words input_;
  std::unique_ptr<conformance::machine> machine_;
  std::uint64_t in_ = 0, out_ = 0, sums_ = 0, runs_ = 0, preempted_ = 0;
};

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(differential, clusters) {
  const std::uint64_t first = number_from("HEDDLE_FUZZ_FIRST", 1), count = number_from("HEDDLE_FUZZ_KERNELS", 60);
  cluster_runs runs;
  using way = cluster_runs::way;
  const std::pair<way, const char*> ways[] = {
      {way::simulated, "simulated"}, {way::preempted, "preempted"}, {way::functional, "executed functionally"}};
  unsigned wrong = 0, deadlocks = 0;
  for (std::uint64_t seed = first; seed < first + count && wrong < 5; ++seed) {
    const cluster_kernel k = generate_clusters(seed, runs.input());
    deadlocks += k.deadlocks;
    for (const auto& [w, name] : ways) {
      const std::string problem = runs.problem(k, w);
      if (problem.empty()) continue;
      ++wrong;
      ADD_FAILURE() << "seed " << seed << ", " << name << ", " << k.clusters << " clusters of " << k.ranks
                    << " blocks of " << k.threads << " threads: " << problem << "\n"
                    << k.text;
    }
  }
  std::cout << "h100: " << count << " kernels of clusters, " << deadlocks << " deadlocks among them, preempted "
            << runs.preempted() << " times, " << wrong << " wrong\n";
  EXPECT_GT(runs.preempted(), count / 2);
}

}  // namespace
}  // namespace heddle::differential
