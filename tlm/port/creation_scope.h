// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>

namespace heddle {

/// Objects of SystemC that are made while it lives are children of a module, which is constructed already. Elaboration
/// must not have ended.
#if SC_VERSION_MAJOR >= 3
class creation_scope {
  /// A module may open its own hierarchy only.
  struct opener : sc_core::sc_module {
    static auto of(sc_core::sc_module& m) { return (m.*&opener::get_hierarchy_scope)(); }
  };

 public:
  explicit creation_scope(sc_core::sc_module& owner) : scope_(opener::of(owner)) {}

 private:
  sc_core::sc_hierarchy_scope scope_;
};
#else
class creation_scope {
 public:
  explicit creation_scope(sc_core::sc_module& owner) { owner.simcontext()->hierarchy_push(&owner); }
  ~creation_scope() { sc_core::sc_get_curr_simcontext()->hierarchy_pop(); }
  creation_scope(const creation_scope&) = delete;
  creation_scope& operator=(const creation_scope&) = delete;
};
#endif

}  // namespace heddle
