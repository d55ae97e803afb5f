// SPDX-License-Identifier: MIT
#include "testbench/cuda/pages/registered_pages.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>

#include "testbench/cuda/core/client.h"
#include "testbench/cuda/core/host_memory.h"

namespace heddle::cuda {

namespace {

constexpr char file_name[] = "heddle-pages";
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 30;

struct run {
  std::uint64_t begin, end;
  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
  [[nodiscard]] void* at() const { return pointer_at(begin); }
};

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}
run pages_of(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t page = page_bytes();
  return {address / page * page, (address + bytes + page - 1) / page * page};
}

std::recursive_mutex pages_mutex;
// Pages of our files: where a run of them begins, and where it ends.
std::map<std::uint64_t, std::uint64_t>& taken() {
  static auto* all =
      new std::map<std::uint64_t, std::uint64_t>;  // never destroyed, as programs make calls at their end
  return *all;
}

bool is_taken(std::uint64_t page) {
  const auto after = taken().upper_bound(page);
  return after != taken().begin() && page < std::prev(after)->second;
}

bool any_taken(const run& r) {
  const auto after = taken().lower_bound(r.end);
  return after != taken().begin() && std::prev(after)->second > r.begin;
}

void forget(const run& r) {
  auto it = taken().upper_bound(r.begin);
  if (it != taken().begin()) --it;
  while (it != taken().end() && it->first < r.end) {
    const run was{it->first, it->second};
    it = taken().erase(it);
    if (was.end <= r.begin) {
      taken()[was.begin] = was.end;
      continue;
    }
    if (was.begin < r.begin) taken()[was.begin] = r.begin;
    if (was.end > r.end) taken()[r.end] = was.end;
  }
}

using step = wire::range_step;

bool agrees(const run& r, step what, int file = -1) {
  return call(wire::call::host_range,
              wire::writer().put(r.begin).put(r.bytes()).put(what).put(static_cast<std::uint32_t>(file)))
             .status == error::none;
}

// Only private, writable memory, or our files. The program may have unmapped those without a call: such runs are
// forgotten.
bool can_be_taken(const run& r) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  std::uint64_t at = r.begin;
  char line[512];
  bool fits = true;
  while (fits && at < r.end && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long first = 0, last = 0;
    char rights[5] = "", path[256] = "";
    if (std::sscanf(line, "%llx-%llx %4s %*s %*s %*s %255s", &first, &last, rights, path) < 3 || last <= at) continue;
    const bool ours =
        std::strncmp(path, "/memfd:", 7) == 0 && std::strncmp(path + 7, file_name, sizeof file_name - 1) == 0;
    fits = first <= at && (ours ? std::strcmp(rights, "rw-s") == 0 : std::strcmp(rights, "rw-p") == 0);
    if (const run there{at, std::min<std::uint64_t>(last, r.end)}; fits && !ours && any_taken(there)) {
      agrees(there, step::end_pages);
      forget(there);
    }
    at = last;
  }
  std::fclose(maps);
  return fits && at >= r.end;
}

// While pages are exchanged other threads may read them. A thread that writes to them waits. Its fault may be seen when
// they are open again: the access is then made again, not without end.
std::atomic<std::uint64_t> moves_from{0}, moves_to{0};
std::atomic<bool> moves{false};
std::atomic<int> late_faults{0};
struct sigaction action_before;

void wait_for_pages(int signal, siginfo_t* what, void* context) {
  const std::uint64_t at = address_number(what->si_addr);
  constexpr int most_late = 10000;
  if (signal == SIGSEGV && what->si_code == SEGV_ACCERR && at >= moves_from.load() && at < moves_to.load()) {
    const bool waits = moves.load();
    while (moves.load()) ::sched_yield();
    if (waits || late_faults.fetch_add(1) < most_late) return;
  }
  if ((action_before.sa_flags & SA_SIGINFO) != 0) return action_before.sa_sigaction(signal, what, context);
  if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN)
    return action_before.sa_handler(signal);
  ::signal(signal, SIG_DFL);                // the access is made again, and ends the program
  if (what->si_code <= 0) ::raise(signal);  // it was sent
}

class closed_pages {
 public:
  explicit closed_pages(const run& r) : run_(r), active_(other_threads_run()) {
    sigset_t all;
    ::sigfillset(&all);
    ::sigdelset(&all, SIGSEGV);
    ::pthread_sigmask(SIG_BLOCK, &all, &signals_);  // a handler of this thread may write there
    if (!active_) return;
    moves_from = r.begin;
    moves_to = r.end;
    late_faults = 0;
    moves = true;
    handle_faults();
    ::mprotect(r.at(), r.bytes(), PROT_READ);
  }
  // `exchanged`: other pages are there now.
  void open(bool exchanged) {
    if (active_) {
      if (!exchanged) ::mprotect(run_.at(), run_.bytes(), PROT_READ | PROT_WRITE);
      moves = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  }

 private:
  static bool other_threads_run() {
    struct stat about {};
    return ::stat("/proc/self/task", &about) != 0 || about.st_nlink > 3;  // itself, its parent, one thread
  }
  // The program may have set a handler since the last time.
  static void handle_faults() {
    struct sigaction now {
    }, own{};
    ::sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == wait_for_pages) return;
    action_before = now;
    own.sa_sigaction = wait_for_pages;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigaction(SIGSEGV, &own, nullptr);
  }
  const run run_;
  const bool active_;
  sigset_t signals_{};
};

// The simulator writes to the program's memory, too.
class lone_access {
 public:
  lone_access() : allowed_(agrees({0, 0}, step::begin_exchange)) {}
  ~lone_access() {
    if (allowed_) agrees({0, 0}, step::end_exchange);
  }
  lone_access(const lone_access&) = delete;
  lone_access& operator=(const lone_access&) = delete;
  [[nodiscard]] bool is_allowed() const { return allowed_; }

 private:
  const bool allowed_;
};

// System calls copy: an instrumented memcpy would refuse what lies between the program's objects.
bool write_file(int file, const run& r) {
  for (std::uint64_t done = 0; done < r.bytes();) {
    const std::uint64_t wanted = std::min(most_at_once, r.bytes() - done);
    const long n = ::syscall(SYS_pwrite64, file, r.begin + done, wanted, done);
    if (n <= 0) return false;
    done += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool copy_to(void* to, const run& from) {
  for (std::uint64_t done = 0; done < from.bytes();) {
    const std::uint64_t wanted = std::min(most_at_once, from.bytes() - done);
    iovec here{static_cast<char*>(to) + done, wanted}, there{pointer_at(from.begin + done), wanted};
    const long n = ::syscall(SYS_process_vm_readv, ::getpid(), &here, 1, &there, 1, 0);
    if (n <= 0) return false;
    done += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool make_private(const run& r) {
  void* const fresh = ::mmap(nullptr, r.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return false;
  closed_pages closed(r);
  const bool done =
      copy_to(fresh, r) && ::mremap(fresh, r.bytes(), r.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, r.at()) == r.at();
  closed.open(done);
  if (!done) ::munmap(fresh, r.bytes());
  return done;
}

// The program may have limited the size of files. False: it is.
bool set_size(int file, std::uint64_t bytes) {
  sigset_t limit, before;
  ::sigemptyset(&limit);
  ::sigaddset(&limit, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &limit, &before);
  const bool done = ::ftruncate(file, static_cast<off_t>(bytes)) == 0;
  const timespec at_once{};
  if (!done && errno == EFBIG) ::sigtimedwait(&limit, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return done;
}

bool take(const run& r) {
  const int file = ::memfd_create(file_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return false;
  bool done = set_size(file, r.bytes()) && ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
  if (done) {
    closed_pages closed(r);
    done = write_file(file, r) &&
           ::mmap(r.at(), r.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == r.at();
    closed.open(done);
  }
  if (done && !agrees(r, step::pages, file)) {
    make_private(r);
    done = false;
  }
  ::close(file);
  if (done) taken()[r.begin] = r.end;
  return done;
}

// After fork() a child has memory of its own, with what its parent had then: the parent waits until it is copied, or
// until the child has ended.
int copied[2] = {-1, -1};

void before_fork() {
  pages_mutex.lock();
  if (taken().empty() || ::pipe2(copied, O_CLOEXEC) != 0) copied[0] = copied[1] = -1;
}
void close_one(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}
void after_fork() {
  close_one(copied[1]);
  char none = 0;
  if (copied[0] >= 0)
    while (::syscall(SYS_read, copied[0], &none, 1) < 0 && errno == EINTR) continue;
  close_one(copied[0]);
  pages_mutex.unlock();
}
void become_child() {
  for (const auto& [begin, end] : taken()) make_private({begin, end});
  taken().clear();
  close_one(copied[0]);
  close_one(copied[1]);
  pages_mutex.unlock();
}

}  // namespace

std::unique_lock<std::recursive_mutex> lock_pages() { return std::unique_lock<std::recursive_mutex>(pages_mutex); }

bool take_pages(std::uint64_t address, std::uint64_t bytes) {
  static const bool at_fork = ::pthread_atfork(before_fork, after_fork, become_child) == 0;
  const run all = pages_of(address, bytes);
  constexpr std::uint64_t stack = 65536;  // what this call needs at most
  const std::uint64_t frame = address_number(__builtin_frame_address(0)) + 64;
  if (!at_fork || (all.begin < frame && all.end > frame - stack)) return false;
  const std::lock_guard<std::recursive_mutex> lock(pages_mutex);
  const lone_access alone;
  if (!alone.is_allowed() || !can_be_taken(all)) return false;
  for (std::uint64_t at = all.begin; at < all.end;) {
    if (is_taken(at)) {
      at = std::prev(taken().upper_bound(at))->second;
      continue;
    }
    const auto next = taken().upper_bound(at);
    const run free{at, next == taken().end() ? all.end : std::min(all.end, next->first)};
    if (!take(free)) return false;
    at = free.end;
  }
  return true;
}

void give_back_pages(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard<std::recursive_mutex> lock(pages_mutex);
  run all = pages_of(address, bytes);
  const std::uint64_t page = page_bytes();
  if (overlaps_registered(all.begin, page)) all.begin += page;
  if (all.begin < all.end && overlaps_registered(all.end - page, page)) all.end -= page;
  if (all.begin >= all.end) return;
  auto it = taken().upper_bound(all.begin);
  if (it != taken().begin()) --it;
  std::map<std::uint64_t, std::uint64_t> parts;
  for (; it != taken().end() && it->first < all.end; ++it) {
    const run part{std::max(it->first, all.begin), std::min(it->second, all.end)};
    if (part.begin < part.end) parts[part.begin] = part.end;
  }
  if (parts.empty()) return;
  const lone_access alone;
  for (const auto& [begin, end] : parts) {
    agrees({begin, end}, step::end_pages);
    make_private({begin, end});
    forget({begin, end});
  }
}

}  // namespace heddle::cuda
