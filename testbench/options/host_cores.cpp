// SPDX-License-Identifier: MIT
#include "testbench/options/host_cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "heddle/config/error.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

std::string content(const char* file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

unsigned cores_of_quota(const std::string& text) {
  std::istringstream words(text);
  std::uint64_t quota = 0;
  std::uint64_t period = 0;
  if (!(words >> quota >> period) || period == 0) return 0;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(quota / period, 1, most_threads));
}

unsigned running_processes(const std::string& text) {
  static const std::string key = "\nprocs_running ";
  const std::size_t at = text.find(key);
  unsigned running = 0;
  if (at != std::string::npos) std::istringstream(text.substr(at + key.size(), 12)) >> running;
  return running;
}

unsigned host_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const auto allowed = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  const unsigned quota = cores_of_quota(content("/sys/fs/cgroup/cpu.max"));
  return quota == 0 ? allowed : std::min(allowed, quota);
}

unsigned usual_threads() {
  if (const char* named = std::getenv("HEDDLE_THREADS")) {
    std::uint64_t number = 0;
    if (!parse_unsigned(named, number) || number == 0 || number > most_threads)
      throw input_error("HEDDLE_THREADS: got '" + std::string(named) + "', expected a number from 1 to " +
                        std::to_string(most_threads));
    return static_cast<unsigned>(number);
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  const unsigned others = std::max(1u, running_processes(content("/proc/stat"))) - 1;
  const auto idle = static_cast<unsigned>(std::max(1L, online - static_cast<long>(others)));
  return std::min({host_cores(), idle, most_usual_threads});
}

}  // namespace heddle::testbench
