// SPDX-License-Identifier: MIT
// Models: a recorder between an initiator and a target of the memory path: each transaction with its times and what
// gpu_request tells of it.
// Sockets: target_socket, initiator_socket (32 bits); the bound modules provide both exclusion rules.
// One cycle: none; it adds no time.
// Parameters: the log; whether SM and warp have a meaning here (between an SM and the L2 they do).
#pragma once

#include <heddle/tlm/port/pass_through.h>
#include <heddle/tlm/protocol/gpu_request.h>

#include <cstdint>
#include <map>
#include <systemc>
#include <tlm>

#include "testbench/standards/transaction_log.h"

namespace standards {

class request_recorder : public sc_core::sc_module, private heddle::pass_through<> {
 public:
  enum class place { before_l2, before_memory };
  request_recorder(sc_core::sc_module_name name, transaction_log& log, place where)
      : sc_module(name), pass_through(target_socket, initiator_socket), log_(log), where_(where) {
    bind_sockets();
    stream_ = log_.add_stream(this->name());
  }
  tlm::tlm_target_socket<32> target_socket{"target_socket"};
  tlm::tlm_initiator_socket<32> initiator_socket{"initiator_socket"};
  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }
  [[nodiscard]] bool idle() const { return open_.empty(); }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_REQ) return pass_through::nb_transport_fw(p, phase, delay);
    begin(p, delay);
    const tlm::tlm_sync_enum answer = pass_through::nb_transport_fw(p, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) end(p, delay);
    return answer;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_RESP) end(p, delay);
    return pass_through::nb_transport_bw(p, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    begin(p, delay);
    pass_through::b_transport(p, delay);
    end(p, delay);
  }

  // Index: gpu_request::kind.
  static const char* text_of(heddle::gpu_request::kind kind) {
    static constexpr const char* names[] = {"load",     "store",       "atomic",  "texture",
                                            "constant", "instruction", "context", "fence"};
    return names[static_cast<unsigned>(kind)];
  }

  void begin(const tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
    const heddle::gpu_request* const request = heddle::request_of(p);
    attributes known{{"address", p.get_address()}, {"bytes", std::uint64_t{p.get_data_length()}}};
    if (request != nullptr) {
      known.push_back({"why", std::string(text_of(request->what))});
      known.push_back({"launch", std::uint64_t{request->launch}});
      known.push_back({"sectors", std::uint64_t{request->sectors}});
    }
    if (request != nullptr && where_ == place::before_l2) {
      known.push_back({"sm", std::uint64_t{request->sm}});
      known.push_back({"warp", std::uint64_t{request->warp}});
      known.push_back({"system", request->system});
    }
    const char* const kind = p.is_read() ? "read" : p.is_write() ? "write" : "other";
    open_[&p] = log_.begin(stream_, kind, sc_core::sc_time_stamp() + delay, known);
    ++recorded_;
  }

  void end(const tlm::tlm_generic_payload& p, const sc_core::sc_time& delay) {
    const auto transaction = open_.find(&p);
    attributes known{{"response", p.get_response_string()}};
    const heddle::gpu_request* const request = heddle::request_of(p);
    if (request != nullptr && where_ == place::before_l2) {
      known.push_back({"l2_hits", std::uint64_t{request->l2.hits}});
      known.push_back({"l2_misses", std::uint64_t{request->l2.misses}});
    }
    log_.end(transaction->second, sc_core::sc_time_stamp() + delay, known);
    open_.erase(transaction);
  }

  transaction_log& log_;
  place where_;
  unsigned stream_ = 0;
  std::uint64_t recorded_ = 0;
  std::map<const tlm::tlm_generic_payload*, std::uint64_t> open_;  // number in the log
};

}  // namespace standards
