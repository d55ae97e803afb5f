// SPDX-License-Identifier: MIT
#include "testbench/files/temporary_file.h"

#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::testbench {

namespace {

// A signal handler may neither allocate nor lock: the names are in static arrays, and a flag says which entries are
// valid.
constexpr int slot_count = 16;
char slots[slot_count][PATH_MAX];
volatile sig_atomic_t in_use[slot_count];

void remove_and_end(int signal_number) {
  for (int k = 0; k < slot_count; ++k) {
    if (in_use[k]) ::unlink(slots[k]);
  }
  ::raise(signal_number);  // SA_RESETHAND: the second signal ends the program, and its parent sees the signal in the
                           // exit status
}

}  // namespace

void temporary_file::watch_signals() {
  static bool watching = false;
  if (std::exchange(watching, true)) return;
  struct sigaction action = {};
  action.sa_handler = remove_and_end;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  // Exceeding the file size limit (SIGXFSZ) becomes a write error, like a full disk, instead of ending the program.
  ::signal(SIGXFSZ, SIG_IGN);
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    if (::sigaction(signal_number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      ::sigaction(signal_number, &action, nullptr);
  }
}

std::string random_word() {
  constexpr char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
  unsigned char bytes[16];
  // Requests of up to 256 bytes are never cut short once the system's generator is initialised; the call waits for
  // that.
  while (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    if (errno != EINTR) throw internal_error("the system gives no random numbers");
  std::string word;
  for (const unsigned char b : bytes) word += digits[b % 32];
  return word;
}

temporary_file::temporary_file(std::string name) : name_(std::move(name)) {
  watch_signals();
  for (int k = 0; k < slot_count && slot_ < 0 && name_.size() < PATH_MAX; ++k) {
    if (in_use[k]) continue;
    std::memcpy(slots[k], name_.c_str(), name_.size() + 1);
    in_use[k] = 1;
    slot_ = k;
  }
}

temporary_file::temporary_file(temporary_file&& other) noexcept
    : name_(std::exchange(other.name_, {})), slot_(std::exchange(other.slot_, -1)) {}

temporary_file& temporary_file::operator=(temporary_file&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(slot_, other.slot_);
  return *this;
}

void temporary_file::keep() {
  if (slot_ >= 0) in_use[slot_] = 0;
  slot_ = -1;
  name_.clear();
}

void temporary_file::remove() {
  if (!name_.empty()) ::unlink(name_.c_str());
  keep();
}

}  // namespace heddle::testbench
