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

/// Groups modules of which one declares .extern what another defines. Groups are in the order of their first modules,
/// and each lists the indices of its modules. An independent module is a group of its own.
std::vector<std::vector<std::size_t>> link_groups(const std::vector<std::shared_ptr<const ast_module>>& modules);

/// Links several modules into one, as nvlink does: .extern names are bound to definitions that are .visible, .weak or
/// .common in another module; other names stay local to their module. Line numbers count through the concatenated
/// texts. Throws input_error if two modules define the same name, or if address sizes differ.
[[nodiscard]] std::shared_ptr<const ast_module> link(const std::vector<module_source>& sources);

/// The concatenated texts, each ending with a line break: the text to which line numbers of link() refer.
std::string joined_text(const std::vector<module_source>& sources);

/// FILE:LINE:COL of a position in a module, linked or not.
std::string place_in(const ast_module& m, location where);

/// Converts positions in a message from lines of the linked module to those of the original files.
std::string with_own_places(const ast_module& m, std::string text);

}  // namespace heddle::ptx
