// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle {

/// Unit of a parameter.
enum class parameter_unit : std::uint8_t {
  none,
  count,
  per_cycle,
  lanes,
  cycles,
  l2_cycles,
  dram_cycles,
  bytes,
  bytes_per_cycle,
  bytes_per_core_cycle,
  mib,
  mhz,
  gb_per_second,
  us,
  pj,
  watts,
  volts
};
/// "core cycles"; empty for a parameter without unit.
const char* text_of(parameter_unit unit);

/// Where the value for a chip is found.
enum class parameter_source : std::uint8_t {
  guide,       // fixed by the compute capability: CUDA C++ Programming Guide, PTX ISA
  calculator,  // fixed by the compute capability: cuda_occupancy.h
  product,     // the product's data, the architecture's white paper
  measured,    // a microbenchmark on the chip
  data_sheet,  // of the DRAM device or its standard
  power,       // measured power (heddle energy-fit)
  design,      // seldom published, a choice of who designs the chip
  setting      // no property of a chip: a choice of who runs the model
};
/// "programming guide".
const char* text_of(parameter_source source);

/// Smallest and largest legal value of a number, and which values in between are legal.
struct numeric_range {
  enum class form : std::uint8_t { any, or_zero, powers_of_two, multiples_of_32, warp_rates, warp_rates_or_zero };
  double lowest = 0;
  double highest = 0;
  form which = form::any;  // or_zero: 0 is legal, too; warp_rates: 32 over a whole number of cycles

  [[nodiscard]] bool holds(double value) const;
  /// "1 to 64", "a power of two, 1 to 64", "0 or 0.25 to 128", "128", "32 / a whole number of cycles, 0.25 to 32".
  [[nodiscard]] std::string text() const;
};

/// Pointer to a value. A choice is accessed as the number of its enumerator.
struct choice_value {
  std::uint8_t* number;
};
using value_pointer = std::variant<std::string*, unsigned*, double*, bool*, choice_value, std::vector<unsigned>*>;

/// Description of one parameter. INI reading, checks, `heddle config`, completion, reports and
/// docs/model/configuration.md are generated from it. The rows are in parameter_list.h; the default is that of the
/// member.
struct parameter {
  /// A choice, "sub_partition.scheduler", and those of its names with which the parameter acts. No key: always.
  struct condition {
    std::string key;
    std::vector<std::string> names;
  };

  std::string section;
  std::string key;
  std::string description;  // one sentence; may contain Markdown links
  parameter_unit unit = parameter_unit::none;
  parameter_source source = parameter_source::design;
  numeric_range range;               // for a number, and for those of a list
  std::vector<std::string> choices;  // for a choice, by enumerator
  std::string default_text;
  std::function<value_pointer(gpu_config&)> in;
  condition needs;
  bool is_list = false;  // of ascending numbers
  bool is_text = false;  // any text

  [[nodiscard]] std::string name() const { return section + "." + key; }
  [[nodiscard]] bool is_number() const { return unit != parameter_unit::none; }
  [[nodiscard]] bool is_choice() const { return !choices.empty(); }
  /// The legal values: "1 to 64", "lrr, gto", "true, false", "text"; of a list "ascending numbers, 0 to 64, separated
  /// by commas".
  [[nodiscard]] std::string values() const;
  /// Whether they are a legal list.
  [[nodiscard]] bool holds(const std::vector<unsigned>& numbers) const;
};

/// The rows of parameter_list.h, without their defaults.
std::vector<parameter> parameter_rows();
/// All parameters in the order of the INI file.
const std::vector<parameter>& parameters();
/// The parameter "section.key", by its present or a former name; nullptr for an unknown name.
const parameter* find_parameter(const std::string& name);

/// A parameter's name in earlier versions, which files may still use.
struct renamed_parameter {
  std::string former;
  std::string now;
};
const std::vector<renamed_parameter>& renamed_parameters();
/// The present name of a parameter that was renamed; any other text as it is.
std::string current_name(const std::string& name);
/// "sm.warp_dealing (now sm.warp_assignment)": a text for one warning about the former names that were used.
std::string renamed_text(const std::vector<std::string>& former_names);

/// One parameter of a configuration. Refers to the configuration from which it was made.
struct parameter_reference {
  const parameter* about;
  value_pointer value;
};
std::vector<parameter_reference> parameters_of(gpu_config& config);

/// The value as INI text; set_text reads it back to the same value (doubles: the shortest such text).
std::string text_of(const parameter_reference& reference);
std::string text_of(const parameter& p, const gpu_config& config);

/// Sets a parameter from its INI text. Returns an empty text on success. Otherwise returns what was expected ("an
/// unsigned integer") and does not change the parameter.
std::string set_text(const parameter_reference& reference, const std::string& text);
/// The same for a whole configuration, for values that stand for several: dram.preset and dram.standard set
/// everything that a memory kind determines.
std::string set_text(gpu_config& config, const parameter& p, const std::string& text);
/// Whether the parameter's value stands for others, too.
bool determines_others(const parameter& p);

/// A description without its links: "see scheduling" for "see [scheduling](scheduling.md)".
std::string without_links(const std::string& description);

}  // namespace heddle
