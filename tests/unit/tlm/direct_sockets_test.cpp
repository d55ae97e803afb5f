// SPDX-License-Identifier: MIT
// Sockets that need no objects of SystemC, bound to each other and to TLM's own.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tlm>
#include <vector>

#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/module_part.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "heddle/tlm/port/phase_target.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace direct_sockets_test {

struct types {
  using tlm_payload_type = int;
  using tlm_phase_type = int;
};
using foreign_target = tlm::tlm_target_socket<32, types>;
using foreign_initiator = tlm::tlm_initiator_socket<32, types>;

/// Answers each call by one on the backward path, with the payload doubled.
template <class Socket>
class target : public sc_core::sc_module, public phase_target<types> {
 public:
  template <class Name>
  target(sc_core::sc_module_name name, const Name& socket_name) : sc_module(name), socket(socket_name) {
    socket.bind(*this);
  }
  target(sc_core::sc_module_name name, std::nullptr_t) : sc_module(name), socket(part_name{"socket", this}) {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(int& payload, int& phase, sc_core::sc_time& delay) override {
    int answer = 2 * payload;
    return socket->nb_transport_bw(answer, phase, delay);
  }
  Socket socket;
};

template <class Socket>
class initiator : public sc_core::sc_module, public phase_initiator<types> {
 public:
  template <class Name>
  initiator(sc_core::sc_module_name name, const Name& socket_name) : sc_module(name), socket(socket_name) {
    socket.bind(*this);
  }
  initiator(sc_core::sc_module_name name, std::nullptr_t) : sc_module(name), socket(part_name{"socket", this}) {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_bw(int& payload, int&, sc_core::sc_time&) override {
    answers.push_back(payload);
    return tlm::TLM_ACCEPTED;
  }
  std::vector<int> answered(int payload) {
    int phase = 0;
    sc_core::sc_time delay;
    socket->nb_transport_fw(payload, phase, delay);
    return answers;
  }
  Socket socket;
  std::vector<int> answers;
};

using direct_target = target<direct_target_socket<types>>;
using direct_initiator = initiator<direct_initiator_socket<types>>;

void start() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

class direct_sockets : public fresh_simulation {};

TEST_F(direct_sockets, bound_to_each_other_are_no_objects) {
  direct_target t("t", nullptr);
  direct_initiator i("i", nullptr);
  EXPECT_FALSE(i.socket.bound());
  i.socket.bind(t.socket);
  EXPECT_TRUE(i.socket.bound());
  EXPECT_TRUE(t.socket.bound());
  EXPECT_EQ("i.socket", i.socket.name());
  start();
  EXPECT_EQ(std::vector<int>{14}, i.answered(7));
  EXPECT_TRUE(t.get_child_objects().empty());
  EXPECT_TRUE(i.get_child_objects().empty());
}

TEST_F(direct_sockets, find_each_other_behind_tlms_base_class) {
  direct_target t("t", nullptr);
  direct_initiator i("i", nullptr);
  i.socket.bind(static_cast<direct_initiator_socket<types>::base_target_socket_type&>(t.socket));
  start();
  EXPECT_EQ(std::vector<int>{14}, i.answered(7));
  EXPECT_TRUE(t.get_child_objects().empty());
}

TEST_F(direct_sockets, bind_to_a_target_of_tlm) {
  target<foreign_target> t("t", "socket");
  direct_initiator i("i", nullptr);
  i.socket.bind(t.socket);
  ASSERT_NE(nullptr, sc_core::sc_find_object("i.socket")) << "named as TLM's own";
  start();
  EXPECT_EQ(std::vector<int>{14}, i.answered(7));
}

TEST_F(direct_sockets, are_bound_by_an_initiator_of_tlm) {
  direct_target t("t", nullptr);
  initiator<foreign_initiator> i("i", "socket");
  i.socket.bind(t.socket);
  ASSERT_NE(nullptr, sc_core::sc_find_object("t.socket_port_0")) << "named as TLM's own";
  start();
  EXPECT_EQ(std::vector<int>{14}, i.answered(7));
}

/// A module around a unit, which shows the unit's sockets as its own.
struct around : sc_core::sc_module {
  around(sc_core::sc_module_name name)
      : sc_module(name),
        target_socket("target_socket"),
        initiator_socket("initiator_socket"),
        t("t", nullptr),
        i("i", nullptr) {
    target_socket.bind(t.socket);
    i.socket.bind(initiator_socket);
  }
  foreign_target target_socket;
  foreign_initiator initiator_socket;
  direct_target t;
  direct_initiator i;
};

TEST_F(direct_sockets, lead_through_a_module_around_them) {
  around a("a"), b("b");
  a.initiator_socket.bind(b.target_socket);
  b.initiator_socket.bind(a.target_socket);
  start();
  EXPECT_EQ(std::vector<int>{14}, a.i.answered(7));
  EXPECT_EQ(std::vector<int>{6}, b.i.answered(3));
}

/// What `action` reports.
template <class Action>
std::string report_of(Action&& action) {
  try {
    action();
  } catch (const sc_core::sc_report& r) {
    return r.get_msg();
  }
  return "";
}

TEST_F(direct_sockets, report_what_is_not_bound_and_what_is_bound_twice) {
  direct_target t("t", nullptr), other("other", nullptr);
  direct_initiator i("i", nullptr), idle("idle", nullptr);
  i.socket.bind(t.socket);
  EXPECT_EQ("", report_of([&] { i.socket.check_bound(); }));
  EXPECT_EQ("idle.socket is not bound", report_of([&] { idle.socket.check_bound(); }));
  EXPECT_EQ("idle.socket is not bound", report_of([&] { idle.answered(1); }));
  EXPECT_EQ("i.socket is bound twice", report_of([&] { i.socket.bind(other.socket); }));
  EXPECT_EQ("t.socket is bound twice", report_of([&] { idle.socket.bind(t.socket); }));
  direct_target_socket<types> bare({"bare"});
  direct_initiator second("second", nullptr);
  EXPECT_EQ("bare has no unit", report_of([&] { second.socket.bind(bare); }));
}

struct counter final : module_part {
  explicit counter(const part_name& name) : module_part(name) {}
  void trace(sc_core::sc_trace_file*) const override { ++traced; }
  mutable unsigned traced = 0;
};

struct owner final : sc_core::sc_module, part_owner {
  explicit owner(sc_core::sc_module_name name) : sc_module(name), one({"one", this}), three({"unit", this, 3}) {}
  [[nodiscard]] std::vector<const module_part*> parts() const override { return {&one, &three}; }
  void trace(sc_core::sc_trace_file* file) const override { trace_parts_and_children(*this, *this, file); }
  counter one, three;
};

class module_parts : public fresh_simulation {};

TEST_F(module_parts, become_objects_when_asked_for) {
  owner o("o");
  EXPECT_EQ("o.one", o.one.name());
  EXPECT_EQ("o.unit3", o.three.name());
  EXPECT_EQ("alone", counter({"alone"}).name());
  EXPECT_EQ(nullptr, sc_core::sc_find_object("o.one"));
  const auto objects = part_objects(o);
  ASSERT_EQ(2u, objects.size());
  sc_core::sc_object* const found = sc_core::sc_find_object("o.unit3");
  ASSERT_EQ(objects[1].get(), found);
  found->trace(nullptr);
  EXPECT_EQ(1u, o.three.traced);
  o.trace(nullptr);
  EXPECT_EQ(2u, o.three.traced) << "not once for the part and once for its object";
}

}  // namespace direct_sockets_test
}  // namespace heddle::test
