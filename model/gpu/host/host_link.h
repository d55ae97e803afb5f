// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>

#include "heddle/tlm/port/blocking_initiator.h"

namespace heddle {

struct recorded_kernel;

/// The driver's access path to the GPU: registers and device memory, one call after another.
class host_link {
 public:
  /// `base` is added to the address of every access. Binds the socket's backward path.
  host_link(tlm::tlm_initiator_socket<32>& socket, std::uint64_t base);

  /// While a call object exists, the path belongs to the thread that made it, which may make further ones; other
  /// threads wait in the order in which they came. A caller outside threads cannot wait, so the constructor throws
  /// input_error there while a thread's call is in progress.
  class call {
   public:
    explicit call(host_link& link);
    ~call();
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    /// The thread that made it.
    [[nodiscard]] const sc_core::sc_process_handle& thread() const { return thread_; }

   private:
    void leave();
    host_link& link_;
    sc_core::sc_process_handle thread_;
    bool waits_in_line_ = false;
  };
  /// True if a call could begin here and now.
  [[nodiscard]] bool free_here() const;

  /// Reads or writes, and waits for the delay that the path annotates. Throws input_error if the access is refused.
  void access(tlm::tlm_command command, std::uint64_t address, void* data, std::size_t bytes,
              recorded_kernel* recorded = nullptr);
  std::uint64_t read_register(std::uint64_t offset);
  void write_register(std::uint64_t offset, std::uint64_t value);
  /// Text of the message registers.
  std::string message();

 private:
  tlm::tlm_initiator_socket<32>& socket_;
  blocking_initiator<> backward_;
  std::uint64_t base_;
  std::deque<const call*> line_;  // calls of threads; the first one has the path
  sc_core::sc_event next_call_;
};

}  // namespace heddle
