// SPDX-License-Identifier: MIT
// Models: no L2: every request is forwarded to the memory unchanged. Atomics, which plain memories do not support, are
// refused.
// Sockets: request_socket (target), memory_socket (initiator); the bound modules provide both exclusion rules.
// One cycle: none.
// Parameters: none.
#pragma once

#include <heddle/memory/l2/l2_cache.h>
#include <heddle/tlm/port/pass_through.h>
#include <heddle/tlm/protocol/gpu_request.h>

namespace cosim {

class transparent_l2 : public heddle::l2_cache, private heddle::pass_through<> {
 public:
  explicit transparent_l2(const char* name) : l2_cache(name), pass_through(request_socket, memory_socket) {
    bind_sockets();
  }
  [[nodiscard]] bool idle() const override { return begun_ == ended_; }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      ++begun_;
      if (!count(p)) {
        ++ended_;
        p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
      }
    }
    const bool ends = phase == tlm::END_RESP;
    const tlm::tlm_sync_enum answer = pass_through::nb_transport_fw(p, phase, delay);
    ended_ += ends || answer == tlm::TLM_COMPLETED;
    return answer;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const bool response = phase == tlm::BEGIN_RESP;
    const tlm::tlm_sync_enum answer = pass_through::nb_transport_bw(p, phase, delay);
    ended_ += response && answer != tlm::TLM_ACCEPTED;
    return answer;
  }
  // For the metrics: the requests of one level must equal those that the next level receives.
  bool count(const tlm::tlm_generic_payload& p) {
    const auto* request = p.get_extension<heddle::gpu_request>();
    heddle::l2_counters& c = counters_[request != nullptr ? request->launch : 0];
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < p.get_data_length(); ++i)
      bytes += p.get_byte_enable_ptr() == nullptr ||
               p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED;
    if (p.is_read()) {
      ++c.reads;
      ++c.fetches;
      c.fetch_bytes += p.get_data_length();
    } else if (p.is_write()) {
      ++c.writes;
      ++c.write_backs;
      c.write_back_bytes += bytes;
    } else {
      // A fence has nothing to write back or invalidate here.
      c.atomics += request != nullptr && request->atomic != nullptr;
      return false;
    }
    return true;
  }

  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace cosim
