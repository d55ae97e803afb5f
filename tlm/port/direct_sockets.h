// SPDX-License-Identifier: MIT
// TLM sockets for arrows within a module. Bound to each other they are two pointers, and no objects of SystemC: a large
// chip has thousands of them. Bound to TLM's own sockets of the same protocol, as those are to each other, they make
// the ports and exports that this needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <typeindex>

#include "heddle/tlm/port/creation_scope.h"
#include "heddle/tlm/port/module_part.h"
#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

/// What the sockets of both sides have: the interface of their own unit, and the peer's. `Own`, `Peer`: the interfaces.
template <class Own, class Peer>
class direct_socket {
 public:
  direct_socket(const direct_socket&) = delete;
  direct_socket& operator=(const direct_socket&) = delete;

  /// The unit that this socket belongs to.
  void bind(Own& unit) { unit_ = &unit; }
  /// Whether the other side is known.
  [[nodiscard]] bool bound() const { return peer_ != nullptr || port_ != nullptr; }
  /// The peer's interface, from the start of simulation on. An error if there is none.
  Peer* operator->() {
    if (__builtin_expect(peer_ == nullptr, 0)) find_peer();
    return peer_;
  }
  /// To be called at the end of elaboration: it is an error if nothing is bound.
  void check_bound() const {
    if (!bound()) SC_REPORT_ERROR(protocol_report, (name_.full() + " is not bound").c_str());
  }
  [[nodiscard]] std::string name() const { return name_.full(); }

 protected:
  using port = sc_core::sc_port<Peer, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using own_export = sc_core::sc_export<Own>;

  explicit direct_socket(const part_name& name) : name_(name) {}
  ~direct_socket() = default;

  [[nodiscard]] Own& unit() const {
    if (unit_ == nullptr) SC_REPORT_ERROR(protocol_report, (name_.full() + " has no unit").c_str());
    return *unit_;
  }
  void set_peer(Peer& peer) {
    if (bound()) SC_REPORT_ERROR(protocol_report, (name_.full() + " is bound twice").c_str());
    peer_ = &peer;
  }
  /// Objects for sockets of another kind, made at their first use, with the names that TLM's sockets give them.
  port& outer_port(const char* suffix) {
    if (port_ == nullptr) port_ = made<port>(suffix);
    return *port_;
  }
  own_export& outer_export(const char* suffix) {
    if (export_ != nullptr) return *export_;
    export_ = made<own_export>(suffix);
    export_->bind(unit());
    return *export_;
  }

 private:
  template <class Object>
  [[nodiscard]] std::unique_ptr<Object> made(const char* suffix) const {
    std::optional<creation_scope> scope;
    if (name_.owner != nullptr) scope.emplace(*name_.owner);
    const std::string name = name_.own() + suffix;
    return std::make_unique<Object>(*suffix == 0 ? name.c_str() : sc_core::sc_gen_unique_name(name.c_str()));
  }
  void find_peer() {
    check_bound();
    peer_ = port_->operator->();
    if (peer_ == nullptr) SC_REPORT_ERROR(protocol_report, (name_.full() + " is not bound").c_str());
  }

  part_name name_;
  Own* unit_ = nullptr;
  Peer* peer_ = nullptr;
  std::unique_ptr<port> port_;
  std::unique_ptr<own_export> export_;
};

template <class Types>
class direct_initiator_socket;

/// The target's socket.
template <class Types>
class direct_target_socket final
    : public tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<Types>, tlm::tlm_bw_transport_if<Types>>,
      public direct_socket<tlm::tlm_fw_transport_if<Types>, tlm::tlm_bw_transport_if<Types>> {
  using forward = tlm::tlm_fw_transport_if<Types>;
  using backward = tlm::tlm_bw_transport_if<Types>;

 public:
  explicit direct_target_socket(const part_name& name) : direct_socket<forward, backward>(name) {}

  sc_core::sc_port_b<backward>& get_base_port() override { return this->outer_port("_port"); }
  [[nodiscard]] const sc_core::sc_port_b<backward>& get_base_port() const override {
    return const_cast<direct_target_socket*>(this)->get_base_port();
  }
  sc_core::sc_export<forward>& get_base_export() override { return this->outer_export(""); }
  [[nodiscard]] const sc_core::sc_export<forward>& get_base_export() const override {
    return const_cast<direct_target_socket*>(this)->get_base_export();
  }
  forward& get_base_interface() override { return this->unit(); }
  [[nodiscard]] const forward& get_base_interface() const override { return this->unit(); }

  [[nodiscard]] unsigned get_bus_width() const override { return 32; }
  [[nodiscard]] std::type_index get_protocol_types() const override { return typeid(Types); }
  [[nodiscard]] tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_TARGET_SOCKET; }
  /// Overrides a function that tlm_base_socket_if has from SystemC 3.0 on.
  [[nodiscard]] bool is_multi_socket() const { return false; }

 private:
  friend class direct_initiator_socket<Types>;
};

/// The initiator's socket.
template <class Types>
class direct_initiator_socket final
    : public tlm::tlm_base_initiator_socket_b<32, tlm::tlm_fw_transport_if<Types>, tlm::tlm_bw_transport_if<Types>>,
      public direct_socket<tlm::tlm_bw_transport_if<Types>, tlm::tlm_fw_transport_if<Types>> {
  using forward = tlm::tlm_fw_transport_if<Types>;
  using backward = tlm::tlm_bw_transport_if<Types>;

 public:
  using base_target_socket_type = tlm::tlm_base_target_socket_b<32, forward, backward>;
  using base_initiator_socket_type = tlm::tlm_base_initiator_socket_b<32, forward, backward>;

  explicit direct_initiator_socket(const part_name& name) : direct_socket<backward, forward>(name) {}
  direct_initiator_socket(const part_name& name, backward& unit) : direct_initiator_socket(name) { bind(unit); }

  using direct_socket<backward, forward>::bind;
  /// Both units are bound to their sockets already.
  void bind(direct_target_socket<Types>& target) {
    this->set_peer(target.unit());
    target.set_peer(this->unit());
  }
  void bind(base_target_socket_type& target) {
    if (auto* const direct = dynamic_cast<direct_target_socket<Types>*>(&target)) return bind(*direct);
    get_base_port().bind(target.get_base_interface());
    target.get_base_port().bind(this->unit());
  }
  /// The socket of a module around this one's.
  void bind(base_initiator_socket_type& outer) {
    get_base_port().bind(outer.get_base_port());
    outer.get_base_export().bind(get_base_export());
  }

  sc_core::sc_port_b<forward>& get_base_port() override { return this->outer_port(""); }
  [[nodiscard]] const sc_core::sc_port_b<forward>& get_base_port() const override {
    return const_cast<direct_initiator_socket*>(this)->get_base_port();
  }
  sc_core::sc_export<backward>& get_base_export() override { return this->outer_export("_export"); }
  [[nodiscard]] const sc_core::sc_export<backward>& get_base_export() const override {
    return const_cast<direct_initiator_socket*>(this)->get_base_export();
  }
  backward& get_base_interface() override { return this->unit(); }
  [[nodiscard]] const backward& get_base_interface() const override { return this->unit(); }

  [[nodiscard]] unsigned get_bus_width() const override { return 32; }
  [[nodiscard]] std::type_index get_protocol_types() const override { return typeid(Types); }
  [[nodiscard]] tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_INITIATOR_SOCKET; }
  /// As above.
  [[nodiscard]] bool is_multi_socket() const { return false; }
};

}  // namespace heddle
