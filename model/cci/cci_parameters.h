// SPDX-License-Identifier: MIT
// Optional: needs Accellera's SystemC CCI 1.0 or later, with which the program that includes this header links. The
// library itself neither needs nor contains it.
#pragma once

#include <cci_configuration>
#include <memory>
#include <string>
#include <systemc>
#include <type_traits>
#include <variant>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"

namespace heddle {

/// Every parameter of a GPU as a CCI parameter: `top.first.gpu.l2.hash` is `l2.hash` of the GPU `top.first.gpu`. One
/// more, `top.first.gpu.configuration`, names the shipped GPU or INI file from which all others have their defaults.
/// Numbers are unsigned or double, flags bool, choices and texts std::string, lists std::vector<unsigned>. Descriptions
/// are those of the table; the metadata of a parameter are its `unit` ("core cycles"), its legal `values` ("1 to 64")
/// and the `source` of a chip's value. A preset value of the broker is used in place of the configuration's. Preset
/// and written values replace what dram.preset and dram.standard determine, in any order. A value that is not legal is
/// a CCI error (CCI_SET_PARAM_FAILURE) with the message that an INI file would get.
///
/// Make it before the GPU, in the same module, and build the GPU with what lock() returns:
///
///     heddle::cci_parameters parameters{"gpu", "v100"};
///     heddle::gpu gpu{"gpu", parameters.lock()};
class cci_parameters {
 public:
  /// `gpu`: the name that the GPU will have in the module whose constructor calls, or outside of modules.
  /// `configuration`: as in load_config, unless the broker has a preset for it. The parameters are registered with the
  /// broker of that module, outside of modules with the global one. Throws input_error for a wrong configuration or
  /// preset if the program's report handler does not throw.
  cci_parameters(const std::string& gpu, const std::string& configuration)
      : name_(full_name(gpu)), broker_(broker_here()), base_(make_base(configuration)) {
    const gpu_config plain = loaded({});
    config_ = loaded(presets());
    parameters_.reserve(heddle::parameters().size());
    for (const parameter& p : heddle::parameters()) {
      named_.push_back(broker_.has_preset_value(full(p)));
      const gpu_config& from = named_.back() ? plain : config_;
      parameters_.push_back(make(p, from));
      parameters_.back()->add_metadata("unit", cci::cci_value(std::string(text_of(p.unit))), "unit of the value");
      parameters_.back()->add_metadata("values", cci::cci_value(p.values()), "the legal values");
      parameters_.back()->add_metadata("source", cci::cci_value(std::string(text_of(p.source))),
                                       "where a chip's value is found");
    }
  }
  cci_parameters(const cci_parameters&) = delete;
  cci_parameters& operator=(const cci_parameters&) = delete;

  /// The configuration to build the GPU with. Locks all parameters, since a GPU is what it was built with. Values that
  /// contradict each other are a CCI error; throws input_error if the report handler does not throw.
  gpu_config lock() {
    try {
      check(config_);
    } catch (const input_error& e) {
      refuse(name_ + ": " + e.what());
      throw;
    }
    base_->lock(this);
    for (const auto& p : parameters_) p->lock(this);
    return config_;
  }

  /// The parameter "section.key"; nullptr for an unknown name.
  [[nodiscard]] cci::cci_param_untyped* find(const std::string& name) const {
    const parameter* const p = find_parameter(name);
    return p == nullptr ? nullptr : parameters_[static_cast<std::size_t>(p - heddle::parameters().data())].get();
  }

 private:
  using pointer = std::unique_ptr<cci::cci_param_untyped>;

  static std::string full_name(const std::string& gpu) {
    const sc_core::sc_object* const here = sc_core::sc_get_current_object();
    return here == nullptr ? gpu : std::string(here->name()) + "." + gpu;
  }
  [[nodiscard]] std::string full(const parameter& p) const { return name_ + "." + p.name(); }
  // CCI has one call for each place.
  [[nodiscard]] cci::cci_originator originator() const {
    return sc_core::sc_get_current_object() == nullptr ? cci::cci_originator(name_) : cci::cci_originator();
  }
  [[nodiscard]] cci::cci_broker_handle broker_here() const {
    return sc_core::sc_get_current_object() == nullptr ? cci::cci_get_global_broker(originator())
                                                       : cci::cci_get_broker();
  }

  static void refuse(const std::string& message) {
    cci::cci_report_handler::set_param_failed(message.c_str(), __FILE__, __LINE__);
  }

  pointer make_base(const std::string& configuration) {
    return std::make_unique<cci::cci_param<std::string, cci::CCI_IMMUTABLE_PARAM>>(
        name_ + ".configuration", configuration, broker_,
        "shipped GPU or INI file from which the parameters have their defaults", cci::CCI_ABSOLUTE_NAME, originator());
  }

  // The text that an INI file would have; JSON for a value of another type.
  static std::string text_of_value(const parameter& p, const cci::cci_value& value) {
    if (value.is_string() && (p.is_choice() || p.is_text)) return value.get_string();
    if (!value.is_list() || !p.is_list) return value.to_json();
    std::string text;
    for (const auto& number : value.get_list()) text += (text.empty() ? "" : ",") + number.to_json();
    return text;
  }

  [[nodiscard]] std::vector<std::string> presets() const {
    std::vector<std::string> all;
    for (const parameter& p : heddle::parameters())
      if (broker_.has_preset_value(full(p)))
        all.push_back(p.name() + "=" + text_of_value(p, broker_.get_preset_cci_value(full(p))));
    return all;
  }

  // The messages of overrides begin with "--set SECTION.KEY=VALUE".
  [[nodiscard]] gpu_config loaded(const std::vector<std::string>& overrides) const {
    try {
      return load_config(base_->get_cci_value(originator()).get_string(), overrides);
    } catch (const input_error& e) {
      const std::string message = e.what(), begin = "--set ";
      refuse(message.rfind(begin, 0) == 0 ? name_ + "." + message.substr(begin.size()) : name_ + ": " + message);
      throw;
    }
  }

  pointer make(const parameter& p, const gpu_config& from) {
    const value_pointer value = p.in(const_cast<gpu_config&>(from));  // for reading only
    return std::visit(
        [&](auto v) -> pointer {
          if constexpr (std::is_same_v<decltype(v), choice_value>) return make_typed(p, text_of({&p, value}));
          else return make_typed(p, *v);
        },
        value);
  }

  template <class T>
  pointer make_typed(const parameter& p, const T& value) {
    auto made = std::make_unique<cci::cci_param<T>>(full(p), value, broker_, without_links(p.description),
                                                    cci::CCI_ABSOLUTE_NAME, originator());
    using written = cci::cci_param_write_event<T>;
    made->register_pre_write_callback(
        [this, &p](const written& event) { return is_legal(p, cci::cci_value(event.new_value)); });
    made->register_post_write_callback([this, &p](const written& event) { take(p, cci::cci_value(event.new_value)); });
    return made;
  }

  [[nodiscard]] bool is_legal(const parameter& p, const cci::cci_value& value) const {
    gpu_config tried = config_;
    const std::string text = text_of_value(p, value);
    std::string expected = set_text(tried, p, text);
    if (expected.empty() && value.is_number() && !p.range.holds(value.get_number())) expected = p.range.text();
    if (expected.empty()) return true;
    refuse(full(p) + ": expected " + expected + ", not '" + text + "'");
    return false;
  }

  // Some choices determine other values (dram.preset, dram.standard): their parameters follow, unless they have been
  // set by their own names.
  void take(const parameter& p, const cci::cci_value& value) {
    const gpu_config before = config_;
    set_text(config_, p, text_of_value(p, value));
    if (follows_) return;
    named_[static_cast<std::size_t>(&p - heddle::parameters().data())] = true;
    if (!determines_others(p)) return;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const parameter& other = heddle::parameters()[i];
      if (named_[i] && !determines_others(other)) set_text(config_, other, text_of(other, before));
      else if (&other != &p && text_of(other, before) != text_of(other, config_)) follow(i);
    }
  }
  void follow(std::size_t i) {
    const parameter& p = heddle::parameters()[i];
    const value_pointer value = p.in(config_);
    const cci::cci_value now = std::visit(
        [&](auto v) {
          if constexpr (std::is_same_v<decltype(v), choice_value>) return cci::cci_value(text_of({&p, value}));
          else return cci::cci_value(*v);
        },
        value);
    const struct mark {
      bool& is_set;
      explicit mark(bool& flag) : is_set(flag) { is_set = true; }
      ~mark() { is_set = false; }
    } following(follows_);
    parameters_[i]->set_cci_value(now, nullptr, originator());
  }

  std::string name_;
  cci::cci_broker_handle broker_;
  pointer base_;
  gpu_config config_;
  std::vector<pointer> parameters_;  // in the order of the table
  std::vector<bool> named_;          // likewise: has a preset value, or was written
  bool follows_ = false;             // a parameter is being set to what another one determines
};

}  // namespace heddle
