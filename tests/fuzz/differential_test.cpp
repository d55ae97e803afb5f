// SPDX-License-Identifier: MIT
// Random kernels on the simulated GPU and in zero simulated time against the scalar reference, some with so few
// registers that they spill. A difference is shown with its seed and the smallest kernel that still has it.
// HEDDLE_FUZZ_FIRST and HEDDLE_FUZZ_KERNELS choose other seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "differential_kernel.h"
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "tests/conformance/reference/machine.h"

namespace heddle::differential {
namespace {

using conformance::machine;
using conformance::memory_region;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::uint8_t> input_data() {
  std::mt19937_64 random(12345);
  std::vector<std::uint8_t> bytes(in_bytes);
  static constexpr std::uint32_t words[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                            0x3f800000, 0xbf800000, 0x7f800000, 0x7fc00000, 0x00000001,
                                            0x40490fdb, 31,         64,         0x3ff00000};
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    const std::uint64_t v = random();
    std::uint32_t w = static_cast<std::uint32_t>(v);
    if ((v >> 40) % 4 == 0) w = words[(v >> 44) % (sizeof words / 4)];
    if ((v >> 40) % 4 == 1) w &= 0xff;
    if ((v >> 40) % 4 == 2) w = (w & 0x807fffffu) | (0x70u + (v >> 44) % 32) << 23;
    std::memcpy(&bytes[at], &w, 4);
  }
  return bytes;
}

/// One GPU, made anew after a failure.
class pair_of_runs {
 public:
  explicit pair_of_runs(std::string gpu) : gpu_(std::move(gpu)), data_(input_data()) { renew(); }

  enum class verdict { same, different, refused, invalid };

  /// Runs the kernel on both, on the GPU in both ways; `what` says how they differ or why not.
  verdict compare(const random_kernel& k, unsigned max_registers, std::string& what) {
    const std::string text = k.text();
    const std::uint32_t out_bytes = k.block * k.grid * out_stride;
    conformance::scalar_launch launch;
    launch.block[0] = k.block;
    launch.grid[0] = k.grid;
    const std::uint64_t arguments[3] = {in_, out_, sums_};
    launch.parameters.resize(sizeof arguments);
    std::memcpy(launch.parameters.data(), arguments, sizeof arguments);
    std::vector<memory_region> memory(3);
    memory[0] = {in_, data_};
    memory[1] = {out_, std::vector<std::uint8_t>(out_bytes)};
    memory[2] = {sums_, std::vector<std::uint8_t>(sums_bytes)};
    try {
      const auto ast = ptx::parse(text, "fuzz.ptx");
      conformance::run_reference(conformance::scalar_program(*ast, "k"), launch, memory, 20'000);
    } catch (const std::exception& e) {
      what = e.what();
      return verdict::invalid;
    }
    try {
      if (++runs_ % 4096 == 0) renew();  // modules stay loaded
      const unsigned module = machine_->load(text, "fuzz.ptx");
      clear(out_bytes);
      machine_->run(module, "k", launch, max_registers);
      if (!agree(memory, out_bytes, what)) return verdict::different;
      clear(out_bytes);
      machine_->execute(module, "k", launch, max_registers);
      if (agree(memory, out_bytes, what)) return verdict::same;
      what = "executed functionally: " + what;
      return verdict::different;
    } catch (const input_error& e) {
      what = e.what();
      return verdict::refused;
    } catch (const std::exception& e) {
      what = e.what();
    }
    renew();
    return verdict::different;
  }

 private:
  void renew() {
    machine_.reset();
    machine_ = std::make_unique<machine>(gpu_);
    in_ = machine_->allocate(in_bytes);
    out_ = machine_->allocate(2 * 160 * out_stride);
    sums_ = machine_->allocate(sums_bytes);
    machine_->write(in_, data_);
  }

  void clear(std::uint32_t out_bytes) {
    machine_->write(out_, std::vector<std::uint8_t>(out_bytes));
    machine_->write(sums_, std::vector<std::uint8_t>(sums_bytes));
  }

  bool agree(const std::vector<memory_region>& memory, std::uint32_t out_bytes, std::string& what) {
    for (const memory_region* m : {&memory[1], &memory[2]}) {
      const auto got = machine_->read(m->address, m == &memory[1] ? out_bytes : sums_bytes);
      for (std::size_t at = 0; at < got.size(); ++at) {
        if (got[at] == m->bytes[at]) continue;
        std::uint64_t g = 0, e = 0;
        std::memcpy(&g, &got[at / 8 * 8], 8);
        std::memcpy(&e, &m->bytes[at / 8 * 8], 8);
        char text[160];
        std::snprintf(text, sizeof text, "%s: thread %zu, offset %zu: got %016llx, expected %016llx",
                      m == &memory[1] ? "out" : "sums", at / out_stride, at % out_stride / 8 * 8,
                      static_cast<unsigned long long>(g), static_cast<unsigned long long>(e));
        what = text;
        return false;
      }
    }
    return true;
  }

  std::string gpu_;
  std::vector<std::uint8_t> data_;
  std::unique_ptr<machine> machine_;
  std::uint64_t in_ = 0, out_ = 0, sums_ = 0, runs_ = 0;
};

/// Takes away whatever is not needed for the difference: nodes, or a structure around its body.
class minimiser {
 public:
  minimiser(pair_of_runs& runs, random_kernel k, unsigned registers)
      : runs_(runs), kernel_(std::move(k)), registers_(registers) {}

  random_kernel run() {
    for (bool smaller = true; smaller && tries_ < 600;) smaller = shrink(kernel_.body);
    for (const std::uint32_t block : {1u, 32u, kernel_.block}) {
      random_kernel k = kernel_;
      k.block = block;
      k.grid = 1;
      if (!differs(k)) continue;
      kernel_ = k;
      break;
    }
    return kernel_;
  }

 private:
  bool differs(const random_kernel& k) {
    ++tries_;
    std::string what;
    return runs_.compare(k, registers_, what) == pair_of_runs::verdict::different;
  }

  bool shrink(std::vector<node>& nodes) {
    bool smaller = false;
    for (std::size_t length = nodes.size() / 2; length > 1; length /= 2)
      for (std::size_t k = 0; k + length <= nodes.size() && tries_ < 600;) {
        const std::vector<node> before = nodes;
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k),
                    nodes.begin() + static_cast<std::ptrdiff_t>(k + length));
        if (differs(kernel_)) smaller = true;
        else nodes = before, k += length;
      }
    for (std::size_t k = 0; k < nodes.size() && tries_ < 600;) {
      const node n = nodes[k];
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k));
      if (differs(kernel_)) {
        smaller = true;
        continue;
      }
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(k), n);
      smaller |= shrink_node(nodes, k);
      ++k;
    }
    return smaller;
  }

  bool shrink_node(std::vector<node>& nodes, std::size_t k) {
    const node n = nodes[k];
    for (const auto& body : n.bodies) {
      const std::vector<node> before = nodes;
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k));
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(k), body.begin(), body.end());
      if (differs(kernel_)) return true;
      nodes = before;
    }
    bool smaller = false;
    for (auto& body : nodes[k].bodies) smaller |= shrink(body);
    return smaller;
  }

  pair_of_runs& runs_;
  random_kernel kernel_;
  unsigned registers_, tries_ = 0;
};

void fuzz(const std::string& gpu, std::uint64_t kernels = 500) {
  const std::uint64_t first = setting("HEDDLE_FUZZ_FIRST", 1), count = setting("HEDDLE_FUZZ_KERNELS", kernels);
  pair_of_runs runs(gpu);
  unsigned same = 0, refused = 0, invalid = 0, different = 0;
  std::string what, refusal;
  for (std::uint64_t seed = first; seed < first + count && different < 10; ++seed) {
    const random_kernel k = generate(seed);
    const unsigned registers = seed % 3 == 0 ? 24 + static_cast<unsigned>(seed * 7 % 32) : 0;
    switch (runs.compare(k, registers, what)) {
      case pair_of_runs::verdict::same: ++same; break;
      case pair_of_runs::verdict::refused: ++refused, refusal = "seed " + std::to_string(seed) + ": " + what; break;
      case pair_of_runs::verdict::invalid:
        ++invalid;
        ADD_FAILURE() << "seed " << seed << " makes no valid kernel: " << what;
        break;
      default: {
        ++different;
        std::string again;
        const random_kernel least = minimiser(runs, k, registers).run();
        runs.compare(least, registers, again);
        ADD_FAILURE() << gpu << ", seed " << seed << ", max_registers " << registers << ", " << what
                      << "\nreduced (grid " << least.grid << ", block " << least.block << "): " << again << "\n"
                      << least.text();
      }
    }
  }
  std::cout << gpu << ": " << same << " kernels agree, " << different << " differ, " << refused << " refused, "
            << invalid << " invalid\n";
  if (refused != 0) std::cout << "  last refusal: " << refusal << "\n";
  EXPECT_GE(same + different, count * 9 / 10);
}

TEST(differential, gtx1080) { fuzz("gtx1080"); }
TEST(differential, v100) { fuzz("v100"); }
TEST(differential, h100) { fuzz("h100", 150); }  // its chip takes four times as long as gtx1080's

}  // namespace
}  // namespace heddle::differential
