// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heddle/frontend/ptx/hir/call_frames.h"
#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/resolve/block_builder.h"
#include "heddle/frontend/ptx/resolve/declarations.h"
#include "heddle/frontend/ptx/resolve/kernel_symbol.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/frontend/ptx/resolve/memory_places.h"
#include "heddle/frontend/ptx/resolve/name_table.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"
#include "heddle/frontend/ptx/resolve/parameter_uses.h"
#include "heddle/frontend/ptx/resolve/special_registers.h"
#include "heddle/frontend/ptx/syntax/call_graph.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// Translates the syntax tree of one kernel to HIR: names are resolved through the scopes, variables are placed in
/// shared and local memory, labels become blocks, and called functions are inlined.
class resolver {
 public:
  resolver(const loaded_module& m, const ast_function& kernel, hir_function& out);

  /// Throws input_error at the position of an element that cannot be resolved.
  void run();

 private:
  // Statements.
  void body(const ast_block& b);
  void instruction(const ast_instruction& i);
  void generic_instruction(hir_instruction h, const ast_instruction& i);
  void memory_instruction(hir_instruction h, const ast_instruction& i);
  void branch(hir_instruction h, const ast_instruction& i);
  void indirect_branch(const hir_instruction& h, const ast_instruction& i);
  void move(hir_instruction h, const ast_instruction& i);
  void move_elements(hir_instruction h, const ast_operand& d, const ast_operand& s);
  void barrier(hir_instruction h, const ast_instruction& i);
  void check_fragment(const ast_instruction& i, std::size_t k, const matrix_form& form);
  void matrix_instruction(hir_instruction h, const ast_instruction& i);
  void store_matrices(const hir_instruction& h, const ast_instruction& i);
  void check_reference(const ast_instruction& i, const ast_operand& at) const;
  void check_coordinates(const ast_instruction& i, const ast_operand& at, const texture_form& form);
  void check_texels(const ast_instruction& i, const texture_form& form);
  void texture_instruction(hir_instruction h, const ast_instruction& i);
  void constant_address(hir_instruction h, const ast_instruction& i);
  void return_from(hir_instruction h);

  // Calls.
  void call(const hir_instruction& h, const ast_instruction& i);
  bool system_call(const hir_instruction& h, const ast_instruction& i, const ast_operand& results,
                   const std::string& name, const ast_operand& arguments);
  value argument(const ast_variable& formal, const ast_operand& actual);
  void system_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal, unsigned words,
                     const ast_operand& actual);
  void call_function(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                     const ast_operand& arguments);
  void inline_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                   const ast_operand& arguments);
  void check_argument(const ast_variable& formal, const ast_operand& actual);
  void bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, scope& callee);
  void bind_vector(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual, bool into_callee);
  void load_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address);
  void store_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address);

  // Parameters whose address is taken (resolver_parameters.cpp).
  void copy_kernel_parameters();
  value copy_to_local(const ast_variable& v, value from);
  hir_instruction access_local(ptx_op op, const kernel_symbol& place, std::uint32_t at, unsigned bytes,
                               const std::vector<value>& data) const;
  void transfer(const kernel_symbol& to, const kernel_symbol& from);
  void transfer(const kernel_symbol& place, value data, bool store, const location& where);
  void parameter_address(hir_instruction h, const ast_instruction& i);
  void check_parameter_bounds(const hir_instruction& h, const ast_operand& where);
  bool parameter_access(hir_instruction& h, const ast_operand& where);

  // PTX instructions that expand to several machine instructions (resolver_macros.cpp).
  void packed_integers(const hir_instruction& h, const ast_instruction& i);
  void pack_saturated(const hir_instruction& h, const ast_instruction& i);
  void pair_of_halves(const hir_instruction& h, const ast_instruction& i);
  void find_nth_set(const hir_instruction& h, const ast_instruction& i);
  void vector_atomic(const hir_instruction& h, const ast_instruction& i);
  void access(hir_instruction h);
  void cluster_address(hir_instruction h, const ast_instruction& i);

  // Asynchronous copies (resolver_async.cpp).
  void asynchronous_copy(const hir_instruction& h, const ast_instruction& i);
  void bulk_copy(const hir_instruction& h, const ast_instruction& i);
  void copy_part(const hir_instruction& h, hir_instruction load, value taken, bool ignores, std::uint64_t bytes,
                 const std::vector<value>& data);

  // Arrival barriers (resolver_mbarrier.cpp).
  void arrival_barrier(const hir_instruction& h, const ast_instruction& i);
  void arrival_start(const hir_instruction& h, const ast_instruction& i);
  void arrival_wait(const hir_instruction& h, const ast_instruction& i);
  void arrive_at(const hir_instruction& h, const ast_operand& where, value state, value count, value bytes);

  // Video instructions (resolver_video.cpp).
  class video_expansion;
  void video_instruction(const hir_instruction& h, const ast_instruction& i);

  // Calls with a stack (resolver_stack.cpp).
  struct outlined {  // a function that is not inlined
    const ast_function* function = nullptr;
    std::uint32_t entry = 0, exit = 0;  // labels
    scope formals;
    activation frame;
    value return_to;                                // index of the call in `returns`
    std::uint32_t first_register = 0, own_end = 0;  // registers of its parameters
    std::uint32_t body_first = 0;
    std::vector<std::uint32_t> returns;  // labels after its calls
  };
  static constexpr std::uint8_t stack_limit_bank = 0xfd;  // marks the end of the stack until it is known
  value stack_pointer();
  void copy_words(const kernel_symbol& to, const kernel_symbol& from);
  outlined& body_of(const ast_function& f);
  void outlined_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                     const ast_operand& arguments);
  void place_bodies();
  void finish_stack();
  void stack_instruction(const hir_instruction& h, const ast_instruction& i);
  std::vector<const ast_function*> possible_targets(const ast_instruction& i, const ast_operand& list,
                                                    std::size_t returns, std::size_t parameters);
  void indirect_call(const ast_instruction& i, const ast_operand& target, const ast_operand& list,
                     const ast_operand& results, const ast_operand& arguments);

  const loaded_module& module_;
  const ast_function& kernel_;
  hir_function& out_;
  std::vector<std::string> call_chain_;
  std::uint32_t return_label_ = 0;                   // of the inlined function
  std::unordered_set<const ast_function*> reached_;  // by calls
  const call_graph calls_;
  block_builder code_;
  memory_places places_;
  name_table names_;
  parameter_uses uses_;
  declarations declarations_;
  special_registers special_;
  operand_resolver in_;
  operand_checker checker_;
  value stack_pointer_;           // none if no stack is needed
  outlined* instance_ = nullptr;  // function whose body is being resolved; null: the kernel
  std::unordered_map<std::string, std::unique_ptr<outlined>> outlined_;
  std::vector<outlined*> waiting_;                          // functions whose bodies are still to be resolved
  std::vector<std::pair<outlined*, std::uint32_t>> exits_;  // with the label of the return sequence
  std::vector<call_site> sites_;
  std::uint32_t largest_frame_ = 0;
  // The kernel may use addresses of its parameters, which are then copies in local memory.
  bool parameters_in_memory_ = false;
  std::uint32_t copies_begin_ = 0, copies_end_ = 0;  // range of the copies of kernel parameters in local memory
};

}  // namespace heddle::ptx
