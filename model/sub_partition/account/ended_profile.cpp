// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/ended_profile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "heddle/config/error.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

namespace {

/// What accesses to memory have counted, as numbers.
struct access_numbers {
  instruction_traffic traffic;
  std::uint64_t bank_conflicts;
};

template <class T>
using words_of = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;

/// Numbers in seven bits a byte, the lowest first; of a group, those that are not 0 behind a mask that names them.
class number_writer {
 public:
  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) put(static_cast<std::uint8_t>(n | 0x80));
    put(static_cast<std::uint8_t>(n));
  }
  template <std::size_t n>
  void group(const std::array<std::uint64_t, n>& numbers) {
    static_assert(n <= 64);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < n; ++i) mask |= std::uint64_t{numbers[i] != 0} << i;
    number(mask);
    for (; mask != 0; mask &= mask - 1) number(numbers[static_cast<unsigned>(__builtin_ctzll(mask))]);
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void put(std::uint8_t byte) { bytes_.push_back(byte); }

  std::vector<std::uint8_t> bytes_;
};

class number_reader {
 public:
  explicit number_reader(const std::vector<std::uint8_t>& bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  std::uint64_t number() {
    std::uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == end_ || shift > 63) throw state_error("the counts of a launch that has ended are cut");
      n |= std::uint64_t{*at_ & 0x7fu} << shift;
      if (*at_++ < 0x80) return n;
    }
  }
  template <std::size_t n>
  void group(std::array<std::uint64_t, n>& numbers) {
    std::uint64_t mask = number();
    if (n < 64 && mask >> n != 0) throw state_error("the counts of a launch that has ended are no counts");
    for (; mask != 0; mask &= mask - 1) numbers[static_cast<unsigned>(__builtin_ctzll(mask))] = number();
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

static_assert(std::has_unique_object_representations_v<access_numbers>);

}  // namespace

ended_profile::ended_profile(const launch_code& code, std::vector<sm_energy> energies)
    : energies_(std::move(energies)) {
  thread_local number_writer w;
  w.clear();
  for (std::size_t i = 0; i < code.counts.size(); ++i) {
    const instruction_sum& sum = code.counts[i];
    w.group(sum.counts);
    if (!accesses_memory(code.program->code[i])) continue;
    const access_numbers access{sum.traffic, sum.bank_conflicts};
    words_of<access_numbers> words;
    std::memcpy(words.data(), &access, sizeof access);
    w.group(words);
    shared_passes_ += sum.traffic.shared_passes;
  }
  bytes_ = w.bytes();
}

launch_code ended_profile::code_of(const decoded_program& program) const {
  launch_code code;
  if (bytes_.empty()) return code;
  code.program = &program;
  code.counts.resize(program.code.size());
  number_reader r(bytes_);
  for (std::size_t i = 0; i < code.counts.size(); ++i) {
    instruction_sum& sum = code.counts[i];
    r.group(sum.counts);
    if (!accesses_memory(program.code[i])) continue;
    words_of<access_numbers> words{};
    r.group(words);
    access_numbers access{};
    std::memcpy(static_cast<void*>(&access), words.data(), sizeof access);
    sum.traffic = access.traffic;
    sum.bank_conflicts = access.bank_conflicts;
  }
  return code;
}

double ended_profile::instruction_pj(unsigned sm) const {
  const auto found = std::lower_bound(energies_.begin(), energies_.end(), sm,
                                      [](const sm_energy& e, unsigned number) { return e.first < number; });
  invariant(found != energies_.end() && found->first == sm, "the energy of a launch that has ended is not known");
  return found->second;
}

void ended_profile::exchange(state_image& image) { image(bytes_, energies_, shared_passes_); }

}  // namespace heddle
