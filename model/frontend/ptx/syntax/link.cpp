// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/link.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

bool is_traced(linkage l) { return l == linkage::visible || l == linkage::weak || l == linkage::common; }
bool yields(linkage l) { return l == linkage::weak || l == linkage::common; }

/// A host launches kernels by name regardless of their linkage, so they are at least visible.
linkage linkage_of(const ast_function& f) {
  return f.is_entry && f.link == linkage::internal ? linkage::visible : f.link;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// The names that a module exports, and those that it imports.
void list_names(const ast_module& m, std::set<std::string>& defines, std::set<std::string>& wants) {
  for (const ast_variable& v : m.variables) {
    if (v.is_extern) wants.insert(v.name);
    else if (is_traced(v.link)) defines.insert(v.name);
  }
  for (const ast_function& f : m.functions) {
    if (!f.has_body && f.link == linkage::external) wants.insert(f.name);
    else if (f.has_body && !f.is_entry && is_traced(f.link)) defines.insert(f.name);
  }
}

/// Module-scope names that occur in several modules.
std::set<std::string> common_names(const std::vector<std::shared_ptr<ast_module>>& modules) {
  std::map<std::string, const ast_module*> first;
  std::set<std::string> common;
  for (const auto& m : modules) {
    const auto see = [&](const std::string& name) {
      if (first.emplace(name, m.get()).first->second != m.get()) common.insert(name);
    };
    for (const ast_variable& v : m->variables) see(v.name);
    for (const ast_function& f : m->functions) see(f.name);
  }
  return common;
}

/// Merges the parsed units into one module.
class linker {
 public:
  linker(ast_module& out, std::set<std::string> common) : out_(out), common_(std::move(common)) {}

  void add(ast_module& m, std::uint32_t unit) {
    std::set<std::string> own;
    const auto is_own = [&](const std::string& name, linkage l) {
      return l == linkage::internal && own.insert(name).second;
    };
    for (ast_variable& v : m.variables)
      if (is_own(v.name, v.link)) rename(v.name, unit);
    for (const ast_function& f : m.functions)
      if (f.has_body && is_own(f.name, linkage_of(f))) rename(f.name, unit);
    for (ast_variable& v : m.variables) add_variable(std::move(v), unit, own);
    for (ast_function& f : m.functions) add_function(std::move(f), unit, own);
  }

  /// Drops the declarations of names that another unit defines.
  void drop_declarations() {
    const auto defined = [&](const std::string& name) { return places_.count(name) != 0; };
    auto& variables = out_.variables;
    variables.erase(std::remove_if(variables.begin(), variables.end(),
                                   [&](const ast_variable& v) { return v.is_extern && defined(v.name); }),
                    variables.end());
    auto& functions = out_.functions;
    functions.erase(std::remove_if(functions.begin(), functions.end(),
                                   [&](const ast_function& f) { return !f.has_body && defined(f.name); }),
                    functions.end());
  }

 private:
  struct definition {
    location where;
    linkage link = linkage::internal;
    std::size_t index = 0;
  };

  /// Makes an internal name unique to its unit: '@' cannot occur in a PTX name.
  void rename(const std::string& name, std::uint32_t unit) {
    if (common_.count(name) != 0) out_.units[unit].renamed[name] = name + "@" + std::to_string(unit);
  }

  /// True: the entity is appended to its list. False: it exists already at `known->index`, and `replaces` is true if
  /// the new one takes its place.
  bool is_new(const std::string& name, const definition& d, bool& replaces) {
    const auto [at, fresh] = places_.emplace(name, d);
    replaces = false;
    if (fresh) return true;
    if (!yields(at->second.link) && !yields(d.link))
      throw input_error(place_in(out_, d.where) + ": '" + name + "' is defined at " + place_in(out_, at->second.where) +
                        ", too");
    replaces = yields(at->second.link) && !yields(d.link);
    if (replaces) at->second = {d.where, d.link, at->second.index};
    return false;
  }

  void add_variable(ast_variable v, std::uint32_t unit, const std::set<std::string>& own) {
    for (ast_variable::initial& e : v.initialiser) e.symbol = out_.meaning(e.symbol, unit);
    if (own.count(v.name) != 0 && v.link == linkage::internal) v.name = out_.meaning(v.name, unit);
    bool replaces = false;
    if (v.is_extern) {
      keep_largest_declaration(v);
    } else if (is_new(v.name, {v.where, v.link, out_.variables.size()}, replaces)) {
      out_.variables.push_back(std::move(v));
    } else if (ast_variable& known = out_.variables[places_.at(v.name).index];
               replaces || (known.link == linkage::common && known.size_bytes() < v.size_bytes())) {
      known = std::move(v);
    }
  }

  /// Dynamic shared memory may be declared in several units: the declarations are merged with the strictest alignment.
  void keep_largest_declaration(const ast_variable& v) {
    const auto [at, fresh] = declared_.emplace(v.name, out_.variables.size());
    if (fresh) return out_.variables.push_back(v);
    ast_variable& known = out_.variables[at->second];
    known.align = std::max(known.alignment(), v.alignment());
  }

  void add_function(ast_function f, std::uint32_t unit, const std::set<std::string>& own) {
    f.unit = unit;
    bool replaces = false;
    if (!f.has_body) {
      if (own.count(f.name) == 0 && declared_functions_.insert(f.name).second) out_.functions.push_back(std::move(f));
      return;
    }
    const linkage l = linkage_of(f);
    if (l == linkage::internal) f.name = out_.meaning(f.name, unit);
    if (is_new(f.name, {f.where, l, out_.functions.size()}, replaces)) out_.functions.push_back(std::move(f));
    else if (replaces) out_.functions[places_.at(f.name).index] = std::move(f);
  }

  ast_module& out_;
  const std::set<std::string> common_;
  std::map<std::string, definition> places_;     // defined names, with their places in the lists
  std::map<std::string, std::size_t> declared_;  // .extern variables
  std::set<std::string> declared_functions_;
};

}  // namespace

std::vector<std::vector<std::size_t>> link_groups(const std::vector<std::shared_ptr<const ast_module>>& modules) {
  std::vector<std::set<std::string>> defines(modules.size()), wants(modules.size());
  for (std::size_t k = 0; k < modules.size(); ++k) list_names(*modules[k], defines[k], wants[k]);
  std::vector<std::size_t> group(modules.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = std::max(group[a], group[b]), to = std::min(group[a], group[b]);
    std::replace(group.begin(), group.end(), from, to);
  };
  std::map<std::string, std::vector<std::size_t>> defining;
  for (std::size_t k = 0; k < modules.size(); ++k)
    for (const std::string& name : defines[k]) defining[name].push_back(k);
  for (std::size_t k = 0; k < modules.size(); ++k)
    for (const std::string& name : wants[k])
      if (const auto d = defining.find(name); d != defining.end() && defines[k].count(name) == 0)
        for (const std::size_t other : d->second) join(k, other);
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t k = 0; k < modules.size(); ++k) members[group[k]].push_back(k);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [first, list] : members) groups.push_back(std::move(list));
  return groups;
}

std::shared_ptr<const ast_module> link(const std::vector<module_source>& sources) {
  const auto out = std::make_shared<ast_module>();
  std::vector<std::shared_ptr<ast_module>> parsed;
  std::uint32_t line = 1;
  for (const module_source& s : sources) {
    out->file += out->file.empty() ? s.file : "+" + base_name(s.file);
    out->units.push_back({s.file, line, {}});
    parsed.push_back(parse(s.text, s.file, line));
    line += static_cast<std::uint32_t>(std::count(s.text.begin(), s.text.end(), '\n')) +
            (s.text.empty() || s.text.back() != '\n' ? 1 : 0);
  }
  out->version = parsed.front()->version;
  out->target = parsed.front()->target;
  out->target_options = parsed.front()->target_options;
  out->address_size = parsed.front()->address_size;
  auto lines = std::make_shared<isa::source_map>();
  for (std::size_t k = 0; k < parsed.size(); ++k) {
    if (parsed[k]->source) lines->append(*parsed[k]->source);
    if (k + 1 < parsed.size()) lines->ranges.push_back({out->units[k + 1].first_line, isa::source_map::none});
  }
  if (!lines->places.empty()) out->source = lines;
  linker l(*out, common_names(parsed));
  for (std::size_t k = 0; k < parsed.size(); ++k) {
    if (parsed[k]->address_size != out->address_size)
      throw input_error(sources[k].file + ": .address_size " + std::to_string(parsed[k]->address_size) + ", expected " +
                        std::to_string(out->address_size) + " as in " + sources[0].file + ", with which it is linked");
    l.add(*parsed[k], static_cast<std::uint32_t>(k));
  }
  l.drop_declarations();
  return out;
}

std::string joined_text(const std::vector<module_source>& sources) {
  std::string text;
  for (const module_source& s : sources) {
    text += s.text;
    if (s.text.empty() || s.text.back() != '\n') text += '\n';
  }
  return text;
}

std::string place_in(const ast_module& m, location where) {
  const auto unit =
      std::find_if(m.units.rbegin(), m.units.rend(), [&](const ast_unit& u) { return u.first_line <= where.line; });
  const bool found = unit != m.units.rend();
  const std::uint32_t line = found ? where.line - unit->first_line + 1 : where.line;
  return (found ? unit->file : m.file) + ":" + std::to_string(line) + ":" + std::to_string(where.column);
}

std::string with_own_places(const ast_module& m, std::string text) {
  if (m.units.empty()) return text;
  const std::string unit = m.file + ":";
  for (std::size_t begin = 0; (begin = text.find(unit, begin)) != std::string::npos;) {
    location where;
    std::size_t at = begin + unit.size();
    const auto number = [&](std::uint32_t& n) {
      const std::size_t first = at;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        n = 10 * n + static_cast<std::uint32_t>(text[at] - '0');
      return at > first;
    };
    const bool is_place = number(where.line) && at < text.size() && text[at++] == ':' && number(where.column);
    const std::string own = is_place ? place_in(m, where) : unit;
    text.replace(begin, (is_place ? at : begin + unit.size()) - begin, own);
    begin += own.size();
  }
  return text;
}

}  // namespace heddle::ptx
