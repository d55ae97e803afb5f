// SPDX-License-Identifier: MIT
// Every host error: rejected by response status or by the error register with a reason, and the GPU continues to work.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/gpu/host/host_registers.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/gpu/host/module_list.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/common/store_kernel.h"

namespace heddle {
namespace host_errors_test {

namespace reg = host_register;

// Addresses of the test host's command data.
constexpr std::uint64_t descriptor_at = 0x1000'0000, text_at = 0x1000'1000, name_at = 0x1000'8000,
                        data_at = 0x1001'0000;

/// A host without a driver, which accesses registers and descriptors directly.
struct bare_host : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<bare_host> socket{"socket"};
  explicit bare_host(sc_core::sc_module_name name) : sc_module(name) {}

  /// Fills in a valid payload.
  static tlm::tlm_generic_payload& fill(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address,
                                        void* data, unsigned bytes) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<std::uint8_t*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return p;
  }
  tlm::tlm_response_status send(tlm::tlm_generic_payload& p) {
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    return p.get_response_status();
  }
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload p;
    return send(fill(p, command, address, data, bytes));
  }
  void put(std::uint64_t address, const void* data, std::size_t bytes) {
    ASSERT_EQ(access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), static_cast<unsigned>(bytes)),
              tlm::TLM_OK_RESPONSE);
  }
  void set(std::uint64_t offset, std::uint64_t value) { put(offset, &value, sizeof value); }
  std::uint64_t get(std::uint64_t offset) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset, &value, sizeof value), tlm::TLM_OK_RESPONSE);
    return value;
  }
  std::string message() {
    std::string text(get(reg::message_bytes), '\0');
    if (!text.empty()) access(tlm::TLM_READ_COMMAND, reg::message, text.data(), static_cast<unsigned>(text.size()));
    return text;
  }
};

class host_errors : public fresh_simulation {
 protected:
  void SetUp() override {
    gpu_ = std::make_unique<gpu>("gpu", load_config("g80", {"gpu.sm_count=2", "memory.model=fixed"}));
    host_ = std::make_unique<bare_host>("host");
    host_->socket.bind(gpu_->host_socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    host_->put(text_at, store_kernel, std::strlen(store_kernel));
    host_->put(name_at, "store", 5);
    ring(module());
    ASSERT_EQ(host_->get(reg::error), 0u) << host_->message();
  }
  /// The GPU still executes commands.
  void TearDown() override {
    host_->set(reg::map_base, data_at);
    host_->set(reg::map_bytes, 64);
    host_->set(reg::map_command, 1);
    ASSERT_EQ(host_->get(reg::error), 0u) << host_->message();
    launch_descriptor d = launch();
    d.block[0] = 16;
    ring(d);
    ASSERT_EQ(host_->get(reg::error), 0u) << host_->message();
    sc_core::sc_start();
    EXPECT_EQ(host_->get(reg::completions), 1u) << host_->message();
    std::uint32_t stored[16] = {};
    host_->access(tlm::TLM_READ_COMMAND, data_at, stored, sizeof stored);
    for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(stored[i], i);
    gpu_->check_invariants();
    host_.reset();
    gpu_.reset();
  }

  load_module_descriptor module() {
    load_module_descriptor d;
    d.text_address = text_at;
    d.text_bytes = std::strlen(store_kernel);
    d.name_address = name_at;
    d.name_bytes = 5;
    return d;
  }
  launch_descriptor launch() {
    const std::uint64_t parameter = data_at;
    host_->put(data_at + 4096, &parameter, 8);
    launch_descriptor d;
    d.kernel_address = name_at;
    d.kernel_bytes = 5;
    d.parameter_address = data_at + 4096;
    d.parameter_bytes = 8;
    return d;
  }
  template <class D>
  void ring(const D& d) {
    host_->put(descriptor_at, &d, sizeof d);
    host_->set(reg::command, descriptor_at);
  }
  template <class D>
  void refused(const D& d, const char* reason) {
    ring(d);
    refused(reason);
  }
  void refused(const char* reason) {
    EXPECT_EQ(host_->get(reg::error), 1u) << "expected a refusal: " << reason;
    EXPECT_NE(host_->message().find(reason), std::string::npos) << host_->message();
  }

  std::unique_ptr<gpu> gpu_;
  std::unique_ptr<bare_host> host_;
};

TEST_F(host_errors, doorbells) {
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{0x5000'0000}, ~std::uint64_t{0}, ~std::uint64_t{6}}) {
    host_->set(reg::command, at);
    EXPECT_EQ(host_->get(reg::error), 1u) << at;
    EXPECT_NE(host_->message(), "");
  }
  std::uint32_t unknown[40] = {99};
  host_->put(descriptor_at, unknown, sizeof unknown);
  host_->set(reg::command, descriptor_at);
  refused("unknown command 99");
}

TEST_F(host_errors, modules) {
  load_module_descriptor d = module();
  d.text_bytes = std::uint64_t{1} << 40;
  refused(d, "bytes of PTX");
  d = module();
  d.name_bytes = ~std::uint64_t{0};
  refused(d, "bytes of file name");
  d = module();
  d.text_bytes = 40;  // ends in the middle of a directive
  refused(d, "store:");
  d = module();
  d.text_address = 0x7000'0000;  // zeros
  refused(d, "store:1");
  // Variables whose image would exhaust the host's memory, or whose size overflows.
  for (const char* size : {"[8589934592]", "[9223372036854775807]", "[4294967296][4294967296]", "[536870913]"}) {
    const std::string text = ".version 7.0\n.target sm_60\n.address_size 64\n.global .align 4 .b8 big" +
                             std::string(size) + ";\n.visible .entry store(.param .u64 to) { ret; }\n";
    host_->put(text_at, text.data(), text.size());
    d = module();
    d.text_bytes = text.size();
    refused(d, "store:4:");
    EXPECT_NE(host_->message().find("'big'"), std::string::npos) << host_->message();
  }
  host_->put(text_at, store_kernel, std::strlen(store_kernel));
}

TEST_F(host_errors, launches) {
  const auto with = [&](const std::function<void(launch_descriptor&)>& change, const char* reason) {
    launch_descriptor d = launch();
    change(d);
    refused(d, reason);
  };
  with([](auto& d) { d.module = 7; }, "no module 7");
  with([](auto& d) { d.kernel_bytes = 3; }, "'sto'");
  with([](auto& d) { d.kernel_bytes = 1u << 30; }, "bytes of kernel name");
  with([](auto& d) { d.grid[1] = 0; }, "dimension is 0");
  with([](auto& d) { d.block[0] = 0; }, "dimension is 0");
  with([](auto& d) { d.grid[2] = 70000; }, "65535");
  with([](auto& d) { d.block[0] = 513; }, "allows 512");
  with([](auto& d) { d.block[2] = 65; }, "at most 64 in z");
  with([](auto& d) { d.block[0] = d.block[1] = 0xffffffff; }, "allows 512");
  with([](auto& d) { d.dynamic_shared_bytes = 1u << 20; }, "shared memory fits no SM");
  with([](auto& d) { d.dynamic_shared_bytes = 0xffffffff; }, "shared memory fits no SM");
  with([](auto& d) { d.carveout_percent = 101; }, "carve-out of 101");
  with([](auto& d) { d.carveout_percent = -2; }, "carve-out of -2");
  with([](auto& d) { d.parameter_bytes = 4; }, "4 bytes of parameters, expected 8");
  with([](auto& d) { d.parameter_bytes = 0xfffffff0; }, "bytes of parameters, expected 8");
  with([](auto& d) { d.max_registers = 1; }, "register");
}

TEST_F(host_errors, preemptions) {
  preempt_descriptor d;
  d.mode = 4;
  refused(d, "unknown mode of preemption 4");
  d = {};
  d.mode = 1;
  refused(d, "cannot stop a running block");
  d = {};
  d.sm_count = 3;
  refused(d, "3 SMs of 2");
  d = {};
  const std::uint32_t numbers[2] = {1, 2};
  host_->put(data_at, numbers, sizeof numbers);
  d.sms_address = data_at;
  d.sm_count = 2;
  refused(d, "there is no SM 2");
}

TEST_F(host_errors, recordings_and_textures) {
  refused(launch_recording_descriptor(), "without the recording");
  const auto with = [&](const std::function<void(create_texture_descriptor&)>& change, const char* reason) {
    create_texture_descriptor d;
    change(d);
    refused(d, reason);
  };
  with([](auto& d) { d.width = 0; }, "width");
  with([](auto& d) { d.depth = 0xffffffff; }, "depth");
  with([](auto& d) { d.channels = 3; }, "3 channels");
  with([](auto& d) { d.type = 200; }, "unknown type");
  with([](auto& d) { d.mode[1] = 9; }, "address mode");
  with(
      [](auto& d) {
        d.width = 8;
        d.pitch_bytes = 4;
      },
      "pitch of 4 bytes");
  with([](auto& d) { d.pitch_bytes = ~std::uint64_t{0}; }, "whole texels");
  with([](auto& d) { d.levels = 255; }, "255 levels");
  with([](auto& d) { d.width = 4, d.levels = 4; }, "4 levels");
  with([](auto& d) { d.type = 4, d.width = d.levels = 2, d.levels_linear = 1; }, "linear filter");
}

TEST_F(host_errors, maps) {
  const auto map = [&](std::uint64_t base, std::uint64_t bytes, std::uint64_t command) {
    host_->set(reg::map_base, base);
    host_->set(reg::map_bytes, bytes);
    host_->set(reg::map_command, command);
  };
  map(0x2000'0000, 0, 1);
  refused("not empty");
  map(~std::uint64_t{0} - 10, 100, 1);
  refused("wrap around");
  map(0x2000'0000, 4096, 1);
  EXPECT_EQ(host_->get(reg::error), 0u);
  map(0x2000'0800, 4096, 1);
  refused("overlaps nothing that is mapped");
  map(0x1fff'ff00, 0x200, 1);
  refused("overlaps nothing that is mapped");
  map(0x2000'0004, 0, 2);
  refused("no mapped range begins there");
  map(0x2000'0000, 0, 3);
  refused("map command 3");
  map(0x2000'0000, 0, 2);
  EXPECT_EQ(host_->get(reg::error), 0u);
  map(0x2000'0000, 0, 2);
  refused("no mapped range begins there");
}

TEST_F(host_errors, payloads) {
  std::uint64_t word = 0, enables = 0x5aff'00ff'00ff'00ff;
  tlm::tlm_generic_payload p;
  host_->fill(p, tlm::TLM_READ_COMMAND, reg::status, &word, 8);
  p.set_byte_enable_ptr(reinterpret_cast<std::uint8_t*>(&enables));
  p.set_byte_enable_length(8);
  EXPECT_EQ(host_->send(p), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE) << "0x5a is no byte enable";
  p.set_byte_enable_length(0);
  EXPECT_EQ(host_->send(p), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  p.set_byte_enable_length(7);
  EXPECT_EQ(host_->send(p), tlm::TLM_OK_RESPONSE);
  p.set_byte_enable_ptr(nullptr);
  host_->fill(p, tlm::TLM_WRITE_COMMAND, reg::map_base, &word, 8);
  p.set_streaming_width(0);
  EXPECT_EQ(host_->send(p), tlm::TLM_BURST_ERROR_RESPONSE);
  p.set_streaming_width(4);
  EXPECT_EQ(host_->send(p), tlm::TLM_OK_RESPONSE);
  for (const std::uint64_t at :
       {std::uint64_t{reg::status}, std::uint64_t{reg::completion_pop}, std::uint64_t{reg::map_base}, data_at})
    for (const tlm::tlm_command c : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND})
      EXPECT_EQ(host_->access(c, at, nullptr, 8), tlm::TLM_GENERIC_ERROR_RESPONSE) << at;
  EXPECT_EQ(host_->socket->transport_dbg(host_->fill(p, tlm::TLM_READ_COMMAND, data_at, nullptr, 8)), 0u);
  EXPECT_EQ(host_->access(tlm::TLM_IGNORE_COMMAND, data_at, &word, 8), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(host_->access(tlm::TLM_WRITE_COMMAND, reg::message, &word, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(host_->access(tlm::TLM_WRITE_COMMAND, reg::status, &word, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(host_->access(tlm::TLM_READ_COMMAND, 0x9000, &word, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // The last bytes of the address space, and accesses beyond them.
  for (const tlm::tlm_command c : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    EXPECT_EQ(host_->access(c, ~std::uint64_t{7}, &word, 8), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(host_->access(c, ~std::uint64_t{3}, &word, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  // A register next to the doorbell, with the heap at the end of the address space.
  host_->set(reg::heap_base, ~std::uint64_t{0});
  host_->set(reg::heap_bytes, ~std::uint64_t{0});
  host_->set(reg::print_pop, ~std::uint64_t{0});
}

using driver_errors = fresh_simulation;

TEST_F(driver_errors, are_exceptions_that_say_what_is_wrong) {
  const gpu_config config = load_config("g80", {"gpu.sm_count=2", "memory.model=fixed"});
  gpu g("gpu", config);
  host_driver driver("driver", config);
  driver.host_socket.bind(g.host_socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto message = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message([&] { driver.load_module("nonsense", "bad.ptx"); }).find("bad.ptx:1"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(driver.modules().module_of("store")); }).find("(none)"), std::string::npos);
  EXPECT_NE(message([&] { static_cast<void>(driver.symbol("x")); }).find("'x'"), std::string::npos);
  EXPECT_NE(message([&] { check_preemption(config, {5}, preemption_mode::drain); }).find("no SM 5"), std::string::npos);
  const std::uint64_t mapped = driver.allocate(100);
  EXPECT_NE(message([&] { driver.map(mapped + 50, 100); }).find("overlaps nothing that is mapped"), std::string::npos);
  launch_request request;
  request.module = driver.load_module(store_kernel, "store.ptx");
  request.kernel = "store";
  EXPECT_NE(message([&] { driver.check(request); }).find("0 bytes of parameters, expected 8"), std::string::npos);
  EXPECT_NE(message([&] { driver.launch(request); }).find("0 bytes of parameters, expected 8"), std::string::npos);
  request.kernel = "load";
  EXPECT_NE(message([&] { driver.launch(request); }).find("'load'"), std::string::npos);
}

TEST_F(driver_errors, a_configuration_that_makes_no_gpu_is_refused) {
  const auto refused = [](const std::function<void(gpu_config&)>& change) -> std::string {
    restart();
    gpu_config config = load_config("v100");
    change(config);
    try {
      gpu g("gpu", config);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refused([](gpu_config& c) {
              c.memory.model = static_cast<choice::memory_model>(9);
            }).find("unknown model '9', expected dram, fixed, external"),
            std::string::npos);
  EXPECT_NE(refused([](gpu_config& c) { c.gpu.core_clock_mhz = 0; }).find("gpu.core_clock_mhz"), std::string::npos);
  EXPECT_NE(refused([](gpu_config& c) { c.gpu.sm_count = 0; }).find("gpu.sm_count"), std::string::npos);
  EXPECT_NE(refused([](gpu_config& c) { c.sm.sub_partitions = 0; }).find("sm.sub_partitions"), std::string::npos);
  EXPECT_EQ(refused([](gpu_config&) {}), "");
}

}  // namespace host_errors_test
}  // namespace heddle
