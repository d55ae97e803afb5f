// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/functional/execution_watcher.h"
#include "heddle/functional/failure_cause.h"
#include "heddle/functional/functional_memory.h"
#include "heddle/functional/functional_observer.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/memory/common/spaced_heap.h"
#include "heddle/sanitize/findings.h"
#include "heddle/sanitize/host_work.h"
#include "heddle/sub_partition/program_services.h"

namespace heddle {

/// Looks for data races, accesses outside allocations, reads of unwritten bytes, divergent barriers and leaks
/// (docs/use/sanitize.md). When a launch begins in the simulated GPU, it is executed functionally as well, on a copy of
/// the device memory that it changes, and each of its accesses is checked. So a launch in detail keeps its timing, and
/// what is found depends neither on the number of host threads nor on preemption.
class sanitizer {
 public:
  /// `kinds`: bits of sanitize_kind.
  sanitizer(const gpu_config& config, unsigned kinds);
  ~sanitizer();

  /// The host has allocated device memory. `name`: for messages, may be empty. `written`: its bytes have values.
  /// `client`: the only one whose launches may access it; 0: all may.
  void allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name, bool written,
                 std::uint32_t client = 0);
  void freed(std::uint64_t address);
  /// The program has ended and not freed an allocation. `where`: it was made.
  void leaked(std::uint64_t address, std::uint64_t bytes, const std::string& where);
  /// The program did not come to its end: what it has not freed is no leak.
  void interrupted();
  /// The host has written device memory.
  void written(std::uint64_t address, std::uint64_t bytes);
  /// The host's work that is submitted next, a launch or a transfer; and the number of the launch.
  void submits(const sanitize::host_work& work);
  void submitted(std::uint32_t launch);
  /// The transfer that was submitted last accesses device memory now, or no longer; and what it reads.
  void transfers(bool now);
  void read(std::uint64_t address, std::uint64_t bytes);
  /// The host uses several streams: races between their operations are looked for.
  void several_streams();

  /// The heap of malloc in kernels of a client; 0: of all that have none.
  void heap_placed(std::uint64_t address, std::uint64_t bytes, std::uint32_t client);

  /// A launch begins. Executes it on a copy of the memory that `below` reads. `services` are a copy of the device
  /// runtime's. Launches may be ended by `observer`, which may be null. `early`: the launch before it in its stream has
  /// not ended; it is executed on what the check of that has left.
  void check(const resident_launch& launch, const address_ranges& ranges, backing_memory& below,
             program_services& services, std::uint64_t cycle, functional_observer* observer, bool early);
  /// The launch that is checked now.
  [[nodiscard]] std::optional<std::uint32_t> checked() const;
  /// For a launch that is executed functionally anyway.
  execution_watcher& watcher();
  /// That launch of a client begins in a memory with these ranges; it has failed; and it has ended.
  void begin(const address_ranges& ranges, std::uint32_t client);
  void failed(const failure_cause& cause);
  void end();

  /// The executed launch has allocated memory of the heap, is about to free it, has freed it.
  void heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w, const isa::instruction& i,
                  unsigned lane);
  void heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i, unsigned lane);
  void heap_freed(std::uint64_t address);
  /// It has tried to free what is not in use. False: that is not looked for.
  bool heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i, unsigned lane);
  /// The addresses of malloc in a launch that is checked on a copy of the memory.
  spaced_heap& spaced();
  /// The simulated GPU has allocated or freed memory of the heap: what is never freed is a leak.
  void heap_kept(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w, const isa::instruction& i,
                 unsigned lane);
  void heap_released(std::uint64_t address);

  /// All launches have ended: reports leaks, and judges races.
  void finish();
  [[nodiscard]] unsigned kinds() const;
  [[nodiscard]] const std::vector<finding>& found() const;
  /// After finish(): races that the program seems to intend (docs/use/sanitize.md); they are not among found().
  [[nodiscard]] const std::vector<finding>& intended() const;
  /// Launches that were checked not at all or not to their end, with the reason.
  [[nodiscard]] const std::vector<std::string>& unchecked() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace heddle
