// SPDX-License-Identifier: MIT
// A base-protocol checker such as third-party IP contains, placed in front of a GPU's memory. It does not use Heddle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace foreign {

/// Forwards everything and records initiator errors.
class checker : public sc_core::sc_module, private tlm::tlm_fw_transport_if<>, private tlm::tlm_bw_transport_if<> {
 public:
  explicit checker(sc_core::sc_module_name name) : sc_module(name) {
    in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    out.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<32> in{"in"};
  tlm::tlm_initiator_socket<32> out{"out"};
  std::vector<std::string> complaints;
  std::uint64_t begun = 0;
  std::uint64_t writes_begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t blocking = 0;  // calls of b_transport
  std::size_t most_open = 0;

 private:
  enum class state { requested, accepted, responding };
  /// A transaction in progress, and its attributes at BEGIN_REQ.
  struct transaction {
    state now;
    tlm::tlm_command command;
    unsigned length;
    std::vector<std::uint8_t> data;  // for a write
    std::vector<std::uint8_t> enables;
    bool operator==(const state& s) const { return now == s; }
  };
  static transaction asked(const tlm::tlm_generic_payload& p) {
    transaction t{state::requested, p.get_command(), p.get_data_length(), {}, {}};
    if (p.is_write()) t.data.assign(p.get_data_ptr(), p.get_data_ptr() + p.get_data_length());
    if (p.get_byte_enable_ptr() != nullptr)
      t.enables.assign(p.get_byte_enable_ptr(), p.get_byte_enable_ptr() + p.get_byte_enable_length());
    return t;
  }
  void expect_attributes(const tlm::tlm_generic_payload& p) {
    const unsigned n = p.get_data_length();
    expect(p.is_read() || p.is_write(), "a command that no memory knows");
    expect(p.get_data_ptr() != nullptr && n != 0 && n <= 128 && (n & (n - 1)) == 0, "an unexpected length");
    expect(n != 0 && p.get_address() % n == 0, "an address that is not aligned");
    expect(p.get_streaming_width() >= p.get_data_length(), "a streaming access");
    expect(p.get_byte_enable_ptr() == nullptr || p.get_byte_enable_length() != 0, "byte enables without a length");
    expect(p.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE, "a response status that is set");
    expect(!p.is_dmi_allowed(), "a DMI hint that is set");
  }
  void expect_unchanged(const tlm::tlm_generic_payload& p) {
    const auto it = open_.find(const_cast<tlm::tlm_generic_payload*>(&p));
    if (it == open_.end()) return;
    const transaction now = asked(p);
    const transaction& then = it->second;
    expect(now.command == then.command && now.length == then.length && now.enables == then.enables,
           "attributes changed while the target has them");
    expect(now.data == then.data, "bytes of a write changed while the target has them");
  }

  void expect(bool right, const char* what) {
    if (!right && complaints.size() < 10)
      complaints.push_back(std::string(what) + " at " + sc_core::sc_time_stamp().to_string());
  }
  void end(tlm::tlm_generic_payload* p) {
    ended += open_.erase(p);
    if (requesting_ == p) requesting_ = nullptr;
  }
  void accept(tlm::tlm_generic_payload* p) {
    if (requesting_ == p) requesting_ = nullptr;
    const auto it = open_.find(p);
    if (it != open_.end() && it->second == state::requested) it->second.now = state::accepted;
  }

  void respond(tlm::tlm_generic_payload* p) {
    expect_unchanged(*p);
    const auto it = open_.find(p);
    expect(it != open_.end(), "a response without a request");
    if (it != open_.end()) it->second.now = state::responding;
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      expect(requesting_ == nullptr, "a request before the end of the one before it");
      expect(open_.emplace(&p, asked(p)).second, "a payload that is still in flight");
      expect(p.has_mm() && p.get_ref_count() > 0, "a payload without memory management");
      expect_attributes(p);
      requesting_ = &p;
      ++begun;
      writes_begun += p.is_write();
      most_open = std::max(most_open, open_.size());
    } else if (phase == tlm::END_RESP) {
      expect(open_.count(&p) != 0 && open_.at(&p) == state::responding, "END_RESP out of place");
      end(&p);
    } else {
      expect(false, "a phase that is not the initiator's");
    }
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum answer = out->nb_transport_fw(p, phase, delay);
    if (!request) return answer;
    if (answer == tlm::TLM_COMPLETED) {
      expect_unchanged(p);
      end(&p);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      accept(&p);
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      accept(&p);
      respond(&p);
    }
    return answer;
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const tlm::tlm_phase sent = phase;
    if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) accept(&p);
    if (phase == tlm::BEGIN_RESP) respond(&p);
    const sc_core::sc_time before = delay;
    const tlm::tlm_sync_enum answer = in->nb_transport_bw(p, phase, delay);
    expect(delay >= before, "a delay made shorter");
    if (sent != tlm::BEGIN_RESP) {
      expect(answer == tlm::TLM_ACCEPTED, "an answer to a phase that has none");
      return answer;
    }
    expect(answer == tlm::TLM_ACCEPTED || phase == tlm::END_RESP, "a response answered with another phase");
    if (answer != tlm::TLM_ACCEPTED) end(&p);
    return answer;
  }

  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    expect_attributes(p);
    ++blocking;
    out->b_transport(p, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override {
    expect(false, "a request for DMI");
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return out->transport_dbg(p); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 a, sc_dt::uint64 b) override { in->invalidate_direct_mem_ptr(a, b); }

  std::map<tlm::tlm_generic_payload*, transaction> open_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
};

}  // namespace foreign
