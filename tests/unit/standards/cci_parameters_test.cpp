// SPDX-License-Identifier: MIT
// A GPU's parameters as CCI parameters: all of them, with the broker's presets, and every kind of wrong value.
#include "heddle/cci/cci_parameters.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"

namespace heddle {
namespace cci_parameters_test {

/// The broker of this program; tests give their GPUs names of their own.
cci::cci_broker_handle broker() {
  static cci::cci_broker_if& only = []() -> cci::cci_broker_if& {
    auto& made = *new cci_utils::consuming_broker("broker");
    cci::cci_register_broker(made);
    return made;
  }();
  return only.create_broker_handle(cci::cci_originator("test"));
}
void preset(const std::string& name, const std::string& json) {
  broker().set_preset_cci_value(name, cci::cci_value::from_json(json));
}

/// The message of the CCI error that `f` reports.
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const sc_core::sc_report& report) {
    const std::string message = report.get_msg();
    return cci::cci_report_handler::decode_param_failure(report) == cci::CCI_SET_PARAM_FAILURE
               ? message
               : "no failure to set a parameter: " + message;
  }
  return "no error";
}

TEST(cci_parameters, are_all_of_the_table_with_its_descriptions) {
  broker();
  cci_parameters all("complete", "v100");
  gpu_config config = load_config("v100");
  for (const parameter_reference& r : parameters_of(config)) {
    const parameter& p = *r.about;
    const cci::cci_param_untyped* const made = all.find(p.name());
    ASSERT_NE(made, nullptr) << p.name();
    EXPECT_EQ(made->name(), "complete." + p.name());
    EXPECT_EQ(made->get_description(), without_links(p.description));
    EXPECT_TRUE(made->is_default_value()) << p.name();
    const auto expected = p.is_list                                    ? cci::CCI_LIST_PARAM
                          : std::holds_alternative<unsigned*>(r.value) ? cci::CCI_INTEGRAL_PARAM
                          : std::holds_alternative<double*>(r.value)   ? cci::CCI_REAL_PARAM
                          : std::holds_alternative<bool*>(r.value)     ? cci::CCI_BOOL_PARAM
                                                                       : cci::CCI_STRING_PARAM;
    EXPECT_EQ(made->get_data_category(), expected) << p.name();
    const cci::cci_value_map about = made->get_metadata();
    EXPECT_EQ(about.at("unit").get_list().at(0).get_string(), std::string(text_of(p.unit))) << p.name();
    EXPECT_EQ(about.at("values").get_list().at(0).get_string(), p.values()) << p.name();
    EXPECT_EQ(about.at("source").get_list().at(0).get_string(), std::string(text_of(p.source))) << p.name();
  }
  EXPECT_EQ(all.find("l2.hashh"), nullptr);
  EXPECT_EQ(to_ini(all.lock()), to_ini(config));
}

TEST(cci_parameters, have_the_presets_of_their_gpu) {
  preset("one.configuration", "\"a100\"");
  preset("one.gpu.sm_count", "7");
  preset("one.gpu.core_clock_mhz", "1000");  // a number without a point for a double
  preset("one.l2.hash", "\"none\"");
  preset("one.tlm.check", "true");
  preset("one.gpu.name", "\"mine\"");
  preset("other.gpu.sm_count", "9");
  cci_parameters one("one", "gtx1080"), other("other", "gtx1080");
  EXPECT_TRUE(one.find("gpu.sm_count")->is_preset_value());
  EXPECT_EQ(one.find("gpu.sm_count")->get_default_cci_value().to_json(),
            std::to_string(load_config("a100").gpu.sm_count));
  const std::vector<std::string> same{"gpu.sm_count=7", "gpu.core_clock_mhz=1000", "l2.hash=none", "tlm.check=true",
                                      "gpu.name=mine"};
  EXPECT_EQ(to_ini(one.lock()), to_ini(load_config("a100", same)));
  EXPECT_EQ(to_ini(other.lock()), to_ini(load_config("gtx1080", {"gpu.sm_count=9"})));
}

TEST(cci_parameters, accept_lists) {
  preset("lists.shared_memory.carveouts_kb", "[48,96]");
  cci_parameters made("lists", "gtx1080");
  cci::cci_param_untyped& sizes = *made.find("shared_memory.carveouts_kb");
  EXPECT_EQ(sizes.get_cci_value().to_json(), "[48,96]");
  EXPECT_EQ(error_of([&] { sizes.set_cci_value(cci::cci_value::from_json("[96,48]")); }),
            "lists.shared_memory.carveouts_kb: expected " + find_parameter("shared_memory.carveouts_kb")->values() +
                ", not '96,48'");
  EXPECT_EQ(made.lock().shared_memory.carveouts_kb, (std::vector<unsigned>{48, 96}));
}

// dram.preset is the kind of a memory: what it determines follows, before and after the parameters are made.
TEST(cci_parameters, that_determine_others_take_them_along) {
  preset("hbm.dram.preset", "\"hbm2\"");
  preset("hbm.dram.burst_bytes", "64");
  cci_parameters before("hbm", "gtx1080"), after("gddr", "gtx1080");
  const gpu_config expected = load_config("gtx1080", {"dram.preset=hbm2", "dram.burst_bytes=64"});
  EXPECT_EQ(before.find("dram.clock_mhz")->get_cci_value().get_double(), expected.dram.clock_mhz);
  EXPECT_EQ(to_ini(before.lock()), to_ini(expected));
  after.find("dram.preset")->set_cci_value(cci::cci_value(std::string("hbm2")));
  after.find("dram.burst_bytes")->set_cci_value(cci::cci_value(64u));
  EXPECT_EQ(after.find("dram.clock_mhz")->get_cci_value().get_double(), expected.dram.clock_mhz);
  EXPECT_EQ(to_ini(after.lock()), to_ini(expected));
}

// What has a value of its own keeps it, whenever another parameter that determines it is written.
TEST(cci_parameters, that_are_set_by_name_win_in_any_order) {
  const gpu_config expected =
      load_config("gtx1080", {"dram.preset=hbm2", "dram.burst_bytes=64", "dram.t_cl_cycles=21", "gpu.sm_count=3"});
  preset("preset_first.dram.burst_bytes", "64");
  preset("preset_first.dram.t_cl_cycles", "21");
  cci_parameters preset_first("preset_first", "gtx1080");
  const auto write = [](cci_parameters& to, const std::string& name, cci::cci_value value) {
    to.find(name)->set_cci_value(value);
  };
  write(preset_first, "gpu.sm_count", cci::cci_value(3u));
  write(preset_first, "dram.preset", cci::cci_value(std::string("hbm2")));
  EXPECT_EQ(preset_first.find("dram.burst_bytes")->get_cci_value().to_json(), "64");
  EXPECT_TRUE(preset_first.find("dram.burst_bytes")->is_preset_value());
  EXPECT_EQ(preset_first.find("dram.clock_mhz")->get_cci_value().get_double(), expected.dram.clock_mhz);
  EXPECT_EQ(to_ini(preset_first.lock()), to_ini(expected));

  cci_parameters written_first("written_first", "gtx1080");
  write(written_first, "dram.t_cl_cycles", cci::cci_value(21u));
  write(written_first, "dram.burst_bytes", cci::cci_value(32u));
  write(written_first, "dram.standard", cci::cci_value(std::string("ddr4")));
  write(written_first, "dram.burst_bytes", cci::cci_value(64u));
  write(written_first, "dram.preset", cci::cci_value(std::string("hbm2")));
  write(written_first, "gpu.sm_count", cci::cci_value(3u));
  EXPECT_EQ(written_first.find("dram.standard")->get_cci_value().to_json(), "\"generic\"");
  EXPECT_EQ(written_first.find("dram.t_cl_cycles")->get_cci_value().to_json(), "21");
  EXPECT_EQ(to_ini(written_first.lock()), to_ini(expected));
}

TEST(cci_parameters, refuse_wrong_presets_with_the_messages_of_ini_files) {
  const auto made = [](const std::string& gpu) { return error_of([&] { cci_parameters(gpu, "gtx1080"); }); };
  preset("a.gpu.sm_count", "\"20\"");
  EXPECT_EQ(made("a"), "a.gpu.sm_count=\"20\": expected an unsigned integer for gpu.sm_count, not '\"20\"'");
  preset("b.gpu.sm_count", "2000");
  EXPECT_NE(made("b").find("b.gpu.sm_count=2000: "), std::string::npos) << made("b");
  preset("c.l2.hash", "\"xorr\"");
  EXPECT_EQ(made("c").find("c.l2.hash=xorr: unknown hash 'xorr', expected "), 0u) << made("c");
  preset("d.tlm.check", "1");
  EXPECT_EQ(made("d"), "d.tlm.check=1: expected true or false for tlm.check, not '1'");
  preset("e.configuration", "\"gtx1081\"");
  EXPECT_EQ(made("e").find("e: "), 0u) << made("e");
  EXPECT_NE(made("e").find("gtx1081"), std::string::npos) << made("e");
}

TEST(cci_parameters, refuse_wrong_writes_and_keep_their_value) {
  cci_parameters all("writes", "gtx1080");
  cci::cci_param_untyped& sms = *all.find("gpu.sm_count");
  sms.set_cci_value(cci::cci_value(5u));
  EXPECT_EQ(error_of([&] { sms.set_cci_value(cci::cci_value(0u)); }),
            "writes.gpu.sm_count: expected 1 to 1024, not '0'");
  EXPECT_EQ(error_of([&] {
              all.find("l2.hash")->set_cci_value(cci::cci_value(std::string("no")));
            }).find("writes.l2.hash: expected "),
            0u);
  EXPECT_EQ(sms.get_cci_value().to_json(), "5");
  EXPECT_EQ(to_ini(all.lock()), to_ini(load_config("gtx1080", {"gpu.sm_count=5"})));
  EXPECT_EQ(error_of([&] { sms.set_cci_value(cci::cci_value(6u)); }), "Parameter locked.");
  EXPECT_FALSE(sms.unlock());
}

TEST(cci_parameters, that_contradict_each_other_are_refused_by_lock) {
  cci_parameters all("contradiction", "gtx1080");
  all.find("shared_memory.size_bytes")->set_cci_value(cci::cci_value(65536u));
  std::string expected = "no error";
  try {
    load_config("gtx1080", {"shared_memory.size_bytes=65536"});
  } catch (const input_error& e) {
    expected = e.what();
  }
  const std::string error = error_of([&] { all.lock(); });
  ASSERT_EQ(error.find("contradiction: "), 0u) << error;
  EXPECT_NE(expected.find(error.substr(15)), std::string::npos) << error << " against " << expected;
}

struct board : sc_core::sc_module {
  cci_parameters parameters{"gpu", "gtx1080"};
  explicit board(sc_core::sc_module_name name) : sc_module(name) {}
};

TEST(cci_parameters, of_a_module_have_its_name) {
  preset("board.gpu.gpu.sm_count", "3");
  board made("board");
  EXPECT_EQ(made.parameters.lock().gpu.sm_count, 3u);
  EXPECT_EQ(broker().get_param_handle("board.gpu.gpu.sm_count").get_cci_value().to_json(), "3");
}

}  // namespace cci_parameters_test
}  // namespace heddle
