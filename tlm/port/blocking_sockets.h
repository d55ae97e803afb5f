// SPDX-License-Identifier: MIT
// TLM sockets for arrows on which calls go forward only (blocking transport). They bind to TLM's own sockets of the
// same protocol as those do to each other. Bound to each other they have no backward path, which no call takes: each is
// one object of SystemC in place of two. A large chip has ten thousand of them, and its construction is mostly theirs.
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <typeindex>

namespace heddle {

/// The socket of a unit that answers within the call, as a blocking_target does.
template <class Types>
class blocking_target_socket final
    : public tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<Types>, tlm::tlm_bw_transport_if<Types>>,
      public sc_core::sc_export<tlm::tlm_fw_transport_if<Types>> {
  using forward = tlm::tlm_fw_transport_if<Types>;
  using backward = tlm::tlm_bw_transport_if<Types>;

 public:
  explicit blocking_target_socket(const char* name) : sc_core::sc_export<forward>(name) {}
  [[nodiscard]] const char* kind() const override { return "tlm_target_socket"; }

  /// The port to the initiator, made at its first use: a socket of another kind that is bound to this one.
  sc_core::sc_port_b<backward>& get_base_port() override {
    if (!port_) port_ = std::make_unique<backward_port>(sc_core::sc_gen_unique_name("initiator_port"));
    return *port_;
  }
  [[nodiscard]] const sc_core::sc_port_b<backward>& get_base_port() const override {
    return const_cast<blocking_target_socket*>(this)->get_base_port();
  }
  sc_core::sc_export<forward>& get_base_export() override { return *this; }
  [[nodiscard]] const sc_core::sc_export<forward>& get_base_export() const override { return *this; }
  forward& get_base_interface() override { return *this; }
  [[nodiscard]] const forward& get_base_interface() const override { return *this; }

  [[nodiscard]] unsigned get_bus_width() const override { return 32; }
  [[nodiscard]] std::type_index get_protocol_types() const override { return typeid(Types); }
  [[nodiscard]] tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_TARGET_SOCKET; }
  /// Overrides a function that tlm_base_socket_if has from SystemC 3.0 on.
  [[nodiscard]] bool is_multi_socket() const { return false; }

 private:
  using backward_port = sc_core::sc_port<backward, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  std::unique_ptr<backward_port> port_;
};

/// The socket of an initiator that uses blocking transport only. `answers` is a blocking_initiator.
template <class Types>
class blocking_initiator_socket final
    : public tlm::tlm_base_initiator_socket_b<32, tlm::tlm_fw_transport_if<Types>, tlm::tlm_bw_transport_if<Types>>,
      public sc_core::sc_port<tlm::tlm_fw_transport_if<Types>> {
  using forward = tlm::tlm_fw_transport_if<Types>;
  using backward = tlm::tlm_bw_transport_if<Types>;

 public:
  using base_target_socket_type = tlm::tlm_base_target_socket_b<32, forward, backward>;

  blocking_initiator_socket(const char* name, backward& answers) : sc_core::sc_port<forward>(name), answers_(answers) {}
  [[nodiscard]] const char* kind() const override { return "tlm_initiator_socket"; }

  void bind(base_target_socket_type& target) {
    sc_core::sc_port<forward>::bind(target.get_base_interface());
    if (dynamic_cast<blocking_target_socket<Types>*>(&target) == nullptr) target.get_base_port().bind(answers_);
  }
  void operator()(base_target_socket_type& target) { bind(target); }

  sc_core::sc_port_b<forward>& get_base_port() override { return *this; }
  [[nodiscard]] const sc_core::sc_port_b<forward>& get_base_port() const override { return *this; }
  /// Made at its first use.
  sc_core::sc_export<backward>& get_base_export() override {
    if (!export_) {
      export_ = std::make_unique<sc_core::sc_export<backward>>(sc_core::sc_gen_unique_name("initiator_export"));
      export_->bind(answers_);
    }
    return *export_;
  }
  [[nodiscard]] const sc_core::sc_export<backward>& get_base_export() const override {
    return const_cast<blocking_initiator_socket*>(this)->get_base_export();
  }
  backward& get_base_interface() override { return answers_; }
  [[nodiscard]] const backward& get_base_interface() const override { return answers_; }

  [[nodiscard]] unsigned get_bus_width() const override { return 32; }
  [[nodiscard]] std::type_index get_protocol_types() const override { return typeid(Types); }
  [[nodiscard]] tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_INITIATOR_SOCKET; }
  /// As above.
  [[nodiscard]] bool is_multi_socket() const { return false; }

 private:
  backward& answers_;
  std::unique_ptr<sc_core::sc_export<backward>> export_;
};

}  // namespace heddle
