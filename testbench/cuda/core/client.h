// SPDX-License-Identifier: MIT
// The program's side of the socket. No function throws, and nothing depends on SystemC.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "testbench/exec/wire.h"

namespace heddle::cuda {

/// The result of a call; `body` holds the returned data.
struct reply {
  std::int32_t status = wire::unknown;
  std::vector<std::uint8_t> body;
  [[nodiscard]] wire::reader read() const { return wire::reader(body); }
};

/// Makes a call and waits for its reply; prints the output of kernels received with it. The first call of a thread
/// connects.
reply call(wire::call what, const wire::writer& arguments);
/// Has the simulator move the bytes of this thread's large copies through memory that both share, if it can.
void offer_window();
/// Waits for the GPU.
std::int32_t wait(wire::wait_kind kind, std::uint32_t number);

/// The error that every call returns since the simulated program has failed or the run has ended; success: none.
std::int32_t gpu_failure();
void set_gpu_failure(std::int32_t status);

/// True while this thread runs a host function of a stream, which must not use the GPU: CUDA refuses all calls.
extern thread_local bool in_host_function;

/// The modelled chip; connects if necessary. Null: there is no simulator, and a message was printed.
const wire::device_info* chip();

/// A mutex that no other thread holds while this one forks, so that a child finds what it guards whole.
class lock_over_fork {
 public:
  lock_over_fork(const lock_over_fork&) = delete;
  lock_over_fork& operator=(const lock_over_fork&) = delete;
  /// Locks all such mutexes. Threads take them in any order, so this waits for one at a time.
  static void lock_all();
  static void unlock_all();
  /// In the child, whose threads are other ones than the mutexes' owner.
  static void reset_all();

 protected:
  enum class step { wait, lock, unlock, reset };
  /// False: it cannot be locked at once.
  using taker = bool (*)(lock_over_fork& mutex, step what);
  explicit lock_over_fork(taker take);

 private:
  taker take_;
  lock_over_fork* next_;
};

/// They live as long as the library.
template <class Mutex>
class library_lock : public Mutex, private lock_over_fork {
 public:
  library_lock() : lock_over_fork(&take) {}

 private:
  static bool take(lock_over_fork& mutex, step what) {
    Mutex& own = static_cast<library_lock&>(mutex);
    switch (what) {
      case step::wait: own.lock(); break;
      case step::lock: return own.try_lock();
      case step::unlock: own.unlock(); break;
      case step::reset: new (&own) Mutex; break;
    }
    return true;
  }
};
using library_mutex = library_lock<std::mutex>;

/// The thread's value of this type. The program's own thread_local objects may be destroyed after those of a library
/// and still make calls, so it goes later, with the thread's keys.
template <class T>
T& value_of_thread() {
  static thread_local T* value = nullptr;  // trivially destroyed
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    ::pthread_key_create(&k, [](void*) {
      delete value;
      value = nullptr;
    });
    return k;
  }();
  if (value == nullptr) {
    value = new T;
    ::pthread_setspecific(key, value);
  }
  return *value;
}

}  // namespace heddle::cuda
