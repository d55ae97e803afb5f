// SPDX-License-Identifier: MIT
// heddle energy-fit: what is fitted, what is written, what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace energy_fit_test {

namespace fs = std::filesystem;
using words = std::vector<std::string>;
using heddle::test::content;
using heddle::test::outcome;

const std::string v100_terms =
    "constant_watts,active_sm_watts,instruction_pj,l1_read_hit_pj+l1_read_miss_pj+l1_write_hit_pj+l1_write_miss_pj,"
    "shared_pj";
const std::string v100_given =
    "constant_pj=7,flit_pj=33.7,l2_read_hit_pj=42.2,l2_read_miss_pj=42.2,l2_write_hit_pj=42.2,l2_write_miss_pj=42.2,"
    "dram_read_pj=235,dram_write_pj=235";

class energy_fit : public ::testing::Test {
 protected:
  energy_fit()
      : place_(fs::path(HEDDLE_SCRATCH "/energy_fit") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  outcome fit(words arguments) {
    arguments.insert(arguments.begin(), {HEDDLE_PROGRAM, "energy-fit"});
    return heddle::test::run_program(arguments, {place_});
  }
  void write(const std::string& text) const { std::ofstream(place_ / "m.csv") << text; }
  void refused(const words& arguments, const std::string& line) {
    const outcome o = fit(arguments);
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.first_line(), "heddle: error: " + line);
    EXPECT_FALSE(fs::exists(place_ / "f.ini"));
  }

  const fs::path place_;
};

// Powers made from known figures: 50 W + 0.5 W an active SM + 200 pJ an instruction + 1000 pJ a sector.
std::string made_table() {
  std::ostringstream text;
  text << "kernel,watts,seconds,clock_mhz,active_sms,instruction,dram_read,flit\n";
  for (int k = 0; k < 8; ++k) {
    const double sms = 40 + 5 * k, instructions = 1e8 * ((k * k) % 7), sectors = 1e7 * ((k * k * k) % 5);
    const double watts = 50 + 0.5 * sms + instructions * 200e-12 / 1e-3 + sectors * 1000e-12 / 1e-3;
    text << "k" << k << "," << watts << ",0.001,1417," << sms << "," << instructions << "," << sectors << "," << k % 3
         << "\n";
  }
  return text.str();
}

TEST_F(energy_fit, finds_the_figures_that_powers_were_made_from) {
  write(made_table());
  const outcome o =
      fit({"m.csv", "--terms", "constant_watts,active_sm_watts,instruction_pj,dram_read_pj", "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| mean of 8, absolute | | | 0.0 % | | 0.0 % |"), std::string::npos) << o.out;
  const heddle::gpu_config c = heddle::load_config((place_ / "f.ini").string());
  EXPECT_EQ(c.gpu.sm_count, 80u);
  EXPECT_NEAR(c.energy.constant_watts, 50, 0.01);
  EXPECT_NEAR(c.energy.active_sm_watts, 0.5, 1e-3);
  EXPECT_NEAR(c.energy.instruction_pj, 200, 0.1);
  EXPECT_NEAR(c.energy.dram_read_pj, 1000, 1);
  EXPECT_EQ(c.energy.fp32_pj, 0) << "its energy is in that of the instructions";
}

// Nothing is left to tell the only figure apart from.
TEST_F(energy_fit, finds_a_figure_alone) {
  write(made_table());
  const outcome o = fit({"m.csv", "--terms", "instruction_pj", "--given",
                         "constant_watts=50,active_sm_watts=0.5,dram_read_pj=1000", "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NEAR(heddle::load_config((place_ / "f.ini").string()).energy.instruction_pj, 200, 0.1);
}

TEST_F(energy_fit, gives_no_figure_more_than_0_where_the_given_ones_explain_all) {
  write(made_table());
  for (const char* terms : {"instruction_pj", "instruction_pj,flit_pj"}) {
    const outcome o = fit({"m.csv", "--terms", terms, "--given", "constant_watts=1000", "-o", "f.ini"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(heddle::load_config((place_ / "f.ini").string()).energy.instruction_pj, 0);
  }
}

TEST_F(energy_fit, keeps_the_bases_share_of_leakage) {
  write(made_table());
  std::ofstream(place_ / "chip.ini") << "base = v100\n[energy]\nleakage_share = 0.25\n";
  const outcome o = fit({"m.csv", "--gpu", "chip.ini", "--terms", "constant_watts,active_sm_watts", "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(content(place_ / "f.ini").find("\nleakage_share = 0.25 "), std::string::npos);
  EXPECT_EQ(heddle::load_config((place_ / "f.ini").string()).energy.leakage_share, 0.25);
}

TEST_F(energy_fit, leaves_what_is_given_as_it_is) {
  write(made_table());
  const outcome o = fit({"m.csv", "--terms", "constant_watts,active_sm_watts,instruction_pj", "--given",
                         "dram_read_pj=1000", "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| mean of 8, absolute | | | 0.0 % | | 0.0 % |"), std::string::npos) << o.out;
  const heddle::energy_parameters e = heddle::load_config((place_ / "f.ini").string()).energy;
  EXPECT_EQ(e.dram_read_pj, 1000);
  EXPECT_NEAR(e.constant_watts, 50, 0.01);
  EXPECT_NEAR(e.instruction_pj, 200, 0.1);
  const outcome wrong =
      fit({"m.csv", "--terms", "constant_watts,active_sm_watts,instruction_pj", "--given", "dram_read_pj=500"});
  EXPECT_EQ(wrong.out.find(" | 0.0 % | | 0.0 % |"), std::string::npos) << wrong.out;
}

// So a file can have the energies of lanes and of idle SMs, which few tables have.
TEST_F(energy_fit, writes_given_figures_that_the_table_has_no_events_of) {
  write(made_table());
  const std::vector<std::string> arguments = {"m.csv", "--terms",
                                              "constant_watts,active_sm_watts,instruction_pj,dram_read_pj"};
  std::vector<std::string> with = arguments;
  with.insert(with.end(), {"--given", "fp32_pj=1.5,register_read_pj=0.25", "-o", "f.ini"});
  const outcome o = fit(with);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, fit(arguments).out) << "they explain no measured power";
  const heddle::energy_parameters e = heddle::load_config((place_ / "f.ini").string()).energy;
  EXPECT_EQ(e.fp32_pj, 1.5);
  EXPECT_EQ(e.register_read_pj, 0.25);
  EXPECT_NE(content(place_ / "f.ini").find("; given; the measurements have no events of it"), std::string::npos);
}

TEST_F(energy_fit, gives_nothing_a_negative_energy) {
  // The second event lowers the power.
  std::ostringstream text;
  text << "kernel,watts,seconds,active_sms,instruction,flit\n";
  for (int k = 0; k < 6; ++k)
    text << "k" << k << "," << 50 + 10 * k - 2 * ((k * 5) % 6) << ",0.001,80," << k * 1e8 << "," << ((k * 5) % 6) * 1e6
         << "\n";
  write(text.str());
  ASSERT_EQ(fit({"m.csv", "--terms", "constant_watts,instruction_pj,flit_pj", "-o", "f.ini"}).code, 0);
  const heddle::gpu_config c = heddle::load_config((place_ / "f.ini").string());
  EXPECT_EQ(c.energy.flit_pj, 0);
  EXPECT_GT(c.energy.instruction_pj, 0);
}

TEST_F(energy_fit, names_what_the_measurements_do_not_tell_apart) {
  write(made_table());
  outcome o = fit({"m.csv", "--terms", "constant_watts,active_sm_watts,idle_sm_watts,instruction_pj", "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.first_line(),
            "heddle: warning: m.csv: these kernels do not tell apart constant_watts, active_sm_watts, idle_sm_watts, "
            "whose figures are arbitrary: join them by + or leave one out (--terms), or give one (--given)");
  EXPECT_NE(content(place_ / "f.ini").find("; fitted; arbitrary: not told apart from others"), std::string::npos);
  // One of them given, the others are determined. Without --terms that of idle SMs is not fitted.
  o = fit({"m.csv", "--terms", "constant_watts,active_sm_watts,instruction_pj", "--given", "idle_sm_watts=0.2"});
  EXPECT_EQ(o.err, "");
  o = fit({"m.csv", "-o", "f.ini"});
  EXPECT_EQ(o.err, "");
  EXPECT_NE(content(place_ / "f.ini").find("idle_sm_watts = 0"), std::string::npos);

  std::ostringstream text;  // two sectors for each instruction, nearly, and no events of flit
  text << "kernel,watts,seconds,active_sms,instruction,dram_read,flit\n";
  for (int k = 0; k < 6; ++k)
    text << "k" << k << "," << 60 + 7 * k << ",0.001," << 40 + k * k << "," << (k + 1) * 1e8 << ","
         << (k + 1) * 2e8 + (k % 2) * 1e3 << ",0\n";
  write(text.str());
  o = fit({"m.csv", "--terms", "constant_watts,instruction_pj,dram_read_pj,flit_pj", "--quiet"});
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.err.find("do not tell apart instruction_pj, dram_read_pj, whose"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("m.csv: no kernel has events of flit_pj"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("m.csv: no column clock_mhz: the figures are written as measured at the base's "),
            std::string::npos)
      << o.err;
}

TEST_F(energy_fit, reproduces_the_page_and_the_file_of_the_v100) {
  const outcome o = fit({HEDDLE_SOURCE "/tests/hardware/energy/v100_power.csv", "--terms", v100_terms, "--given",
                         v100_given, "-o", "f.ini"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(content(HEDDLE_SOURCE "/docs/model/energy.md").find(o.out), std::string::npos) << o.out;
  const heddle::gpu_config fitted = heddle::load_config((place_ / "f.ini").string()),
                           v100 = heddle::load_config("v100");
  const auto near = [](double a, double b) { EXPECT_NEAR(a / b, 1, 0.01); };
  // The fit has the power of idle SMs in the constant one.
  const unsigned sms = v100.gpu.sm_count;
  near(v100.energy.constant_watts + sms * v100.energy.idle_sm_watts, fitted.energy.constant_watts);
  near(v100.energy.active_sm_watts - v100.energy.idle_sm_watts, fitted.energy.active_sm_watts);
  near(v100.energy.constant_watts / (sms * v100.energy.idle_sm_watts), 32.33 / (80 * 0.283));  // AccelWattch
  near(v100.energy.l1_read_hit_pj, fitted.energy.l1_read_hit_pj);
  near(v100.energy.shared_pj, fitted.energy.shared_pj);
  near(v100.energy.flit_pj, fitted.energy.flit_pj);
  near(v100.energy.l2_read_hit_pj, fitted.energy.l2_read_hit_pj);
  near(v100.energy.constant_pj, fitted.energy.constant_pj);
  near(v100.energy.dram_read_pj, fitted.energy.dram_read_pj);
  near(3 * v100.energy.instruction_pj, fitted.energy.instruction_pj);
  // The mean error is the last row's first percentage.
  const std::size_t last = o.out.rfind("| mean of 25, absolute | | | ");
  ASSERT_NE(last, std::string::npos) << o.out;
  EXPECT_LT(std::stod(o.out.substr(last + 29)), 10);
}

TEST_F(energy_fit, refuses_what_it_cannot_read) {
  refused({"none.csv"}, "energy-fit: cannot read 'none.csv': No such file or directory");
  write("a,b\n1,2\n");
  refused({"m.csv"}, "m.csv:1: got the columns a, b, expected also kernel, watts, active_sms");
  refused({HEDDLE_SOURCE "/tests/hardware/energy/h100_operands.csv"}, HEDDLE_SOURCE
          "/tests/hardware/energy/h100_operands.csv:4: got the columns kernel, random_watts, "
          "constant_watts, seconds, expected also watts, active_sms");
  write("# no table\n");
  refused({"m.csv"}, "m.csv: expected a header with the columns kernel, watts and active_sms");
  write("kernel,watts,seconds,active_sms,instructon\n");
  refused({"m.csv", "-o", "f.ini"},
          "m.csv:1: unknown column 'instructon', expected a key of [energy] without _pj, did you mean 'instruction'?");
  write("kernel,watts,seconds,active_sms\n");
  refused({"m.csv"}, "m.csv: expected a row for each measured kernel");
  write("kernel,watts,active_sms\nk,1,2\n");
  refused({"m.csv"}, "m.csv:1: expected a column seconds, or cycles and clock_mhz");
  write("kernel,watts,seconds,active_sms\nk,1,0,2\n");
  refused({"m.csv"}, "m.csv:2: seconds: got 0, expected more");
  write("kernel,watts,seconds,active_sms\nk,warm,1,2\n");
  refused({"m.csv"}, "m.csv:2: watts: got 'warm', expected a number of 0 or more");
  write("kernel,watts,seconds,active_sms\nk,0x10,1,2\n");
  refused({"m.csv"}, "m.csv:2: watts: got '0x10', expected a number of 0 or more");
  write("kernel,watts,seconds,active_sms\nk,1e308,1,2\n");
  refused({"m.csv"}, "m.csv:2: watts: got 1e308, expected at most 1e18");
  write("kernel,watts,seconds,active_sms\nk,2e6,1,2\n");
  refused({"m.csv"}, "m.csv:2: watts: got 2e6, expected at most 1e6");
  write("kernel,watts,seconds,active_sms\nk,1,1,2,3\n");
  refused({"m.csv"}, "m.csv:2: got 5 fields, expected at most 4 as in the header");
  write("kernel,watts,seconds,active_sms\nk,1,1,2\nk,1,1,3\n");
  refused({"m.csv"}, "m.csv:3: kernel 'k' occurs twice, expected one row, or names that tell them apart");
  write("kernel,watts,seconds,active_sms\nk,1,1,81\n");
  refused({"m.csv"}, "m.csv:2: active_sms: got 81, expected at most 80, the SMs of --gpu");
  for (const std::string clock : {"1e18", "1e-5", "1417000"}) {
    write("kernel,watts,cycles,clock_mhz,active_sms\nk,1,9," + clock + ",2\n");
    refused({"m.csv"}, "m.csv:2: clock_mhz: got " + clock + ", expected 1 to 100000");
  }
  write("kernel,watts,cycles,clock_mhz,active_sms\nk,1,9,700,2\nl,1,9,1200,2\n");
  refused({"m.csv"},
          "m.csv:3: clock_mhz: got 1200, expected that of the rows before: the voltage of another clock changes all "
          "energies");
  write("kernel,watts,seconds,active_sms,fp32\na,5,1e-300,1,1e17\nb,5,1,1,1\nc,5,1,1,1\nd,5,1,1,1\ne,5,1,1,1\n");
  refused({"m.csv", "-o", "f.ini"},
          "m.csv: kernel 'a': fp32_pj: the rate is too large, expected events, seconds and watts of a run");
  write("kernel,watts,seconds,active_sms,flit\na,100,1,1,1\nb,120,1,1,3\nc,140,1,1,5\n");
  refused({"m.csv", "--terms", "constant_watts,flit_pj", "-o", "f.ini"},
          "m.csv: the fit gives: flit_pj = 1e+13: expected 0 to 1000000000");
  write("kernel,watts,seconds,active_sms\nk,1,1,2\n");
  refused({"m.csv", "-o", "f.ini"},
          "m.csv: got 1 kernels, expected more than 2, the figures to be fitted (see --terms)");
  refused({"m.csv", "--terms", "constant_watts", "--given", "dram_pj=3"},
          "--given: 'dram_pj': expected an energy or a power of [energy]");
  refused({"m.csv", "--terms", "constant_watts", "--given", "idle_sm_watts=-3"},
          "--given: 'idle_sm_watts=-3': expected KEY=VALUE with a number of 0 or more");
  refused({"m.csv", "--terms", "constant_watts", "--given", "idle_sm_watts=0x10"},
          "--given: 'idle_sm_watts=0x10': expected KEY=VALUE with a number of 0 or more");
  refused({"m.csv", "--terms", "constant_watts", "--given", "idle_sm_watts=1e300"},
          "--given: idle_sm_watts = 1e+300: expected 0 to 100000");
  refused({"m.csv", "--terms", "constant_watts", "--given", "constant_watts=3"},
          "--given: 'constant_watts' is fitted or given twice");
  refused({"m.csv", "--terms", "constant_watts,flit_pj"},
          "--terms: the measurements do not determine 'flit_pj', expected one of constant_watts, active_sm_watts, "
          "idle_sm_watts");
}

}  // namespace energy_fit_test
