// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

struct module_source {
  std::string text;
  std::string file;
};

/// Which modules belong together, because one declares .extern what another defines: groups by the order of their first
/// modules, in each its modules' numbers. A module that needs none of the others is a group of its own.
std::vector<std::vector<std::size_t>> link_groups(const std::vector<std::shared_ptr<const ast_module>>& modules);

/// One module out of several, as nvlink makes it: .extern names become what another module defines as .visible, .weak
/// or .common, other names stay each module's own. Its lines are those of the texts one after another. Throws
/// input_error: a name that two modules define, address sizes that differ.
std::shared_ptr<const ast_module> link(const std::vector<module_source>& sources);

/// The same of texts and names that each are separated by the character NUL; a single name is that of a module to be
/// parsed alone. Who asks for the same again, as a host and its GPU do, shares one tree as long as somebody has it.
std::shared_ptr<const ast_module> parse_linked(const std::string& texts, const std::string& names);

/// The texts one after another, each with a line's end: what link() counts the lines of.
std::string joined_text(const std::vector<module_source>& sources);

/// FILE:LINE:COL of a place in a module, linked or not.
std::string place_in(const ast_module& m, location where);

/// A message whose places count the lines of the linked module, with the places in the files that they come from.
std::string with_own_places(const ast_module& m, std::string text);

}  // namespace heddle::ptx
