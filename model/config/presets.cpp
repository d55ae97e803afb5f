// SPDX-License-Identifier: MIT
#include "heddle/config/presets.h"

#include <systemc>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/ini_reader.h"
#include "heddle/config/parameter_table.h"

namespace heddle {

void config_presets::set(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t key = equals == std::string::npos || equals == 0 ? equals : text.rfind('.', equals - 1);
  const std::size_t section = key == std::string::npos || key == 0 ? std::string::npos : text.rfind('.', key - 1);
  if (equals == std::string::npos || section == std::string::npos || section == 0)
    throw input_error("preset '" + printable(text) + "': expected INSTANCE.SECTION.KEY=VALUE");
  preset p;
  p.instance = text.substr(0, section);
  p.text = text.substr(section + 1);
  presets_.push_back(std::move(p));
}

void config_presets::read(const std::string& file) {
  std::vector<ini_section> sections;
  const std::vector<ini_entry> entries = read_ini(read_text_file(file), printable(file), &sections);
  for (const ini_section& section : sections) {
    const std::size_t dot = section.name.rfind('.');
    if (dot == std::string::npos || dot == 0)
      throw input_error(printable(file), section.line, section.column,
                        "section [" + printable(section.name) + "], expected [INSTANCE.SECTION], such as [top.gpu.l2]");
  }
  for (const ini_entry& entry : entries) {
    const std::size_t dot = entry.section.rfind('.');
    preset p;
    p.instance = entry.section.substr(0, dot);
    p.text = entry.section.substr(dot + 1) + "." + entry.key + "=" + entry.value;
    p.file = file;
    p.line = entry.line;
    p.column = entry.key_column;
    presets_.push_back(std::move(p));
  }
}

std::string config_presets::name_of(const preset& p) { return p.instance + "." + p.text.substr(0, p.text.find('=')); }

gpu_config config_presets::config_of(const std::string& instance, const std::string& name_or_file) {
  std::vector<std::string> determining, overrides;
  for (preset& p : presets_) {
    if (p.instance != instance) continue;
    p.used = true;
    const parameter* const about = find_parameter(p.text.substr(0, p.text.find('=')));
    (about != nullptr && determines_others(*about) ? determining : overrides).push_back(p.text);
  }
  overrides.insert(overrides.begin(), determining.begin(), determining.end());
  try {
    return load_config(name_or_file, overrides);
  } catch (const input_error& e) {
    // An override's error begins with the override's text. It is replaced by the place that set the preset.
    const std::string message = e.what();
    for (auto p = presets_.rbegin(); p != presets_.rend(); ++p) {
      const std::string begin = "--set " + printable(p->text) + ": ";
      if (p->instance != instance || message.rfind(begin, 0) != 0) continue;
      const std::string what = printable(name_of(*p)) + ": " + message.substr(begin.size());
      if (p->file.empty()) throw input_error(what);
      throw input_error(printable(p->file), p->line, p->column, what);
    }
    throw;
  }
}

std::vector<std::string> config_presets::unused() const {
  std::vector<std::string> names;
  for (const preset& p : presets_)
    if (!p.used) names.push_back(name_of(p));
  return names;
}

void config_presets::refuse(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  if (!names.empty())
    throw input_error("no GPU has these parameters: " + text + "; expected INSTANCE.SECTION.KEY of one that was built");
}

void config_presets::check_used() const { refuse(unused()); }

void config_presets::check_built() const {
  check_used();
  std::vector<std::string> names;
  for (const preset& p : presets_) {
    const sc_core::sc_object* object = sc_core::sc_find_object(p.instance.c_str());
    if (dynamic_cast<const sc_core::sc_module*>(object) == nullptr) names.push_back(name_of(p));
  }
  refuse(names);
}

std::string to_ini(const gpu_config& config, const std::string& instance) {
  const std::string plain = to_ini(config);
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    text += plain[i];
    if (plain[i] == '[' && (i == 0 || plain[i - 1] == '\n')) text += instance + ".";
  }
  return text;
}

}  // namespace heddle
