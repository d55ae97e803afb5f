// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace heddle {

/// The place of a part in the hierarchy: `owner`.`name`, or `name` alone without an owner. With a `number` that follows
/// the name. The characters of `name` are not copied.
struct part_name {
  static constexpr unsigned no_number = ~0u;
  const char* name;
  sc_core::sc_module* owner = nullptr;
  unsigned number = no_number;

  /// Without the owner.
  [[nodiscard]] std::string own() const;
  [[nodiscard]] std::string full() const;
};

/// A unit within a module that is called directly. It has a name in the hierarchy and signals for waveforms, but is no
/// object of SystemC: a large chip has thousands of such units, and objects are what its construction spends its time
/// on. Where one is wanted, part_objects makes it.
class module_part {
 public:
  explicit module_part(const part_name& name) : name_(name) {}
  module_part(const module_part&) = delete;
  module_part& operator=(const module_part&) = delete;
  virtual ~module_part() = default;

  /// The hierarchical name.
  [[nodiscard]] std::string name() const { return name_.full(); }
  [[nodiscard]] std::string own_name() const { return name_.own(); }
  virtual void trace(sc_core::sc_trace_file* file) const = 0;

 private:
  const part_name name_;
};

/// A module with such units.
class part_owner {
 public:
  /// In the order in which they are shown.
  [[nodiscard]] virtual std::vector<const module_part*> parts() const = 0;

 protected:
  ~part_owner() = default;
};

/// The module that stands for a part: a child of the part's owner.
class part_object final : public sc_core::sc_module {
 public:
  part_object(const sc_core::sc_module_name& name, const module_part& part) : sc_module(name), part_(part) {}
  void trace(sc_core::sc_trace_file* file) const override { part_.trace(file); }

 private:
  const module_part& part_;
};

/// Makes a part_object for each part of `owner`, which is a part_owner. Call before elaboration ends.
[[nodiscard]] std::vector<std::unique_ptr<part_object>> part_objects(sc_core::sc_module& owner);
/// What trace() of a module with parts does: traces these and the modules within it.
void trace_parts_and_children(const part_owner& parts, const sc_core::sc_module& module, sc_core::sc_trace_file* file);

}  // namespace heddle
