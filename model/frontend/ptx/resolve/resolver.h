// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heddle/frontend/ptx/hir/call_frames.h"
#include "heddle/frontend/ptx/hir/hir.h"
#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/hir/texture_form.h"
#include "heddle/frontend/ptx/resolve/loaded_module.h"
#include "heddle/frontend/ptx/syntax/call_graph.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// Bank number that marks the address of an extern shared array until the size of the static variables is known.
constexpr std::uint8_t dynamic_shared_bank = 0xfe;

/// Translates the syntax tree of one kernel to HIR: names are resolved through the scopes, variables are placed in
/// shared and local memory, labels become blocks, and called functions are inlined.
class resolver {
 public:
  resolver(const loaded_module& m, const ast_function& kernel, hir_function& out);

  /// Throws input_error at the position of an element that cannot be resolved.
  void run();

 private:
  struct symbol {
    enum class kind : std::uint8_t { reg, ranged, components, address, words, prototype };
    kind what = kind::reg;
    std::uint32_t first = 0;  // reg, ranged: virtual register
    std::uint32_t range = 0;
    std::uint32_t vector = 1;              // ranged: registers of one name
    std::vector<std::uint32_t> registers;  // components of a vector; words of a parameter of an inlined function
    state_space space = state_space::none;
    value address;
    value copy;               // of a kernel parameter in local memory, if its generic address is taken
    bool opaque = false;      // a texture, surface or sampler reference: `address` is the address of its handle
    bool parameter = false;   // a .param of a function or a call, placed in local memory
    std::uint32_t bytes = 0;  // its size in whole words
    std::uint64_t size = 0;   // declared size of a .param of a function or a call
    const ast_statement* targets = nullptr;
  };
  struct scope {
    std::unordered_map<std::string, symbol> names;
    std::unordered_map<std::string, std::uint32_t> labels;
  };

  [[noreturn]] void fail(const location& where, const std::string& message) const;

  // Declarations.
  void check_names(const ast_block& b) const;
  void enter_block(const ast_block& b);
  void declare(const ast_variable& v, bool in_memory = false);
  void declare_register(const ast_variable& v);
  void declare_parameters();
  value place_shared(const ast_variable& v);
  value place_once(const ast_variable& v);
  value place_local(const ast_variable& v, std::uint32_t align, std::uint64_t bytes);
  bool find(const std::string& name, symbol& s);
  bool find_ranged(const std::string& name, std::size_t scope, symbol& s) const;
  bool find_in_module(const std::string& name, symbol& s);
  [[nodiscard]] std::uint32_t find_label(const std::string& name, const location& where) const;

  // Statements.
  void body(const ast_block& b);
  void instruction(const ast_instruction& i);
  void generic_instruction(hir_instruction h, const ast_instruction& i);
  void memory_instruction(hir_instruction h, const ast_instruction& i);
  void branch(hir_instruction h, const ast_instruction& i);
  std::uint32_t go_around(const hir_instruction& h);
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

  // Types of register operands (resolver_types.cpp).
  void check_type(const value& v, isa::dtype wanted, bool wider, const location& where) const;
  void check_element_types(const std::vector<value>& elements, std::size_t from, isa::dtype wanted, bool wider,
                           const location& where) const;

  // Comparison of operands with their form (resolver_operands.cpp).
  struct mismatch {
    std::string what;  // empty: none
    location where;
    bool counts = false;  // the number of operands is wrong
  };
  void check_operands(const ast_instruction& i, const std::vector<matched_form>& forms);
  void check_literal(const ast_instruction& i, std::size_t k, std::uint64_t least, std::uint64_t most) const;
  mismatch compare_operands(const ast_instruction& i, const matched_form& f);
  std::string compare_operand(const ast_operand& given, const operand_form& o, const matched_form& f);
  std::string compare_value(const ast_operand& given, const operand_form& o, isa::dtype t);
  std::string compare_identifier(const ast_operand& given, const operand_form& o, isa::dtype t);
  [[nodiscard]] std::string compare_register(isa::dtype declared, isa::dtype t, bool wider, bool narrow) const;
  std::string compare_components(const ast_operand& given, isa::dtype t);
  std::string compare_address(const ast_operand& given);
  bool is_vector_register(const ast_operand& given);
  [[nodiscard]] bool is_special(const ast_operand& given) const;
  [[nodiscard]] bool takes_operands_unread() const;
  [[nodiscard]] bool accepts_space(const symbol& s) const;
  [[nodiscard]] bool is_of_named_space(const symbol& s) const;
  std::string compare_parts(const std::vector<ast_operand>& parts, isa::dtype t);

  // Calls.
  void call(const hir_instruction& h, const ast_instruction& i);
  bool system_call(const hir_instruction& h, const ast_instruction& i, const ast_operand& results,
                   const std::string& name, const ast_operand& arguments);
  value argument(const ast_variable& formal, const ast_operand& actual);
  value wide_address(value v);
  void system_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal, unsigned words,
                     const ast_operand& actual);
  void call_function(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                     const ast_operand& arguments);
  void inline_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                   const ast_operand& arguments);
  void check_argument(const ast_variable& formal, const ast_operand& actual);
  void bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, scope& callee);
  void bind_vector(const ast_variable& formal, const symbol& inner, const ast_operand& actual, bool into_callee);
  void load_words(const hir_instruction& h, const symbol& s, const ast_operand& address);
  void store_words(const hir_instruction& h, const symbol& s, const ast_operand& address);

  // Parameters whose address is taken (resolver_parameters.cpp).
  const std::set<std::string>& addressed_in(const ast_block& b);
  bool lives_in_memory(const ast_variable& v, const ast_block& scope);
  static bool is_large(const ast_variable& v);
  bool takes_local_parameters(const ast_block& b);
  void copy_kernel_parameters();
  value copy_to_local(const ast_variable& v, value from);
  hir_instruction access_local(ptx_op op, const symbol& place, std::uint32_t at, unsigned bytes,
                               const std::vector<value>& data) const;
  void transfer(const symbol& to, const symbol& from);
  void transfer(const symbol& place, value data, bool store, const location& where);
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
  bool cluster_register(const std::string& name, value& v);

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
    value return_to;                                // index of the call in `returns`
    value base;                                     // stack pointer at entry
    std::uint32_t first_register = 0, own_end = 0;  // registers of its parameters
    std::uint32_t body_first = 0;
    std::uint32_t local_bytes = 0;
    std::vector<std::uint32_t> returns;  // labels after its calls
  };
  static constexpr std::uint8_t stack_limit_bank = 0xfd;  // marks the end of the stack until it is known
  value stack_pointer();
  void jump(std::uint32_t label, std::uint32_t back = isa::no_target);
  void copy_words(const symbol& to, const symbol& from);
  outlined& body_of(const ast_function& f);
  void outlined_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                     const ast_operand& arguments);
  void place_bodies();
  void finish_stack();
  value place_on_stack(const ast_variable& v, std::uint32_t align, std::uint64_t bytes);
  value stack_address(value base, std::int64_t offset);
  void stack_instruction(const hir_instruction& h, const ast_instruction& i);
  std::vector<const ast_function*> possible_targets(const ast_instruction& i, const ast_operand& list,
                                                    std::size_t returns, std::size_t parameters);
  void indirect_call(const ast_instruction& i, const ast_operand& target, const ast_operand& list,
                     const ast_operand& results, const ast_operand& arguments);

  // Operands.
  value operand(const ast_operand& o, isa::dtype type, const location& where);
  value identifier(const ast_operand& o, const location& where);
  bool special_register(const std::string& name, value& v);
  bool environment_register(const std::string& number, value& v) const;
  value read_special(isa::special s, unsigned words);
  void check_special(hir_instruction& h, const ast_operand& o) const;
  value destination(const ast_operand& o, const location& where);
  void address(hir_instruction& h, const ast_operand& o);
  void name_space(hir_instruction& h, const ast_operand& o);
  value handle_of(const symbol& s);
  value sum_with(const value& v, const ast_operand& o);
  bool function_name(const ast_operand& o, value& v) const;
  [[nodiscard]] bool is_undefined(const std::string& name) const;
  [[nodiscard]] bool is_declared(const std::string& function) const;
  void elements(const ast_operand& o, isa::dtype type, std::vector<value>& to, bool write, const location& where);

  // Blocks.
  std::uint32_t new_label();
  void place_label(std::uint32_t label);
  void append(hir_instruction h);
  void finish();

  const loaded_module& module_;
  const ast_function& kernel_;
  hir_function& out_;
  std::vector<scope> scopes_;
  std::uint32_t unit_ = 0;  // index of the linked module of the current function
  std::size_t frame_ = 0;   // first scope of the current function
  std::vector<std::string> call_chain_;
  std::uint32_t return_label_ = 0;  // of the inlined function
  std::vector<std::uint32_t> label_blocks_;
  std::uint32_t dynamic_shared_align_ = 0;                 // 0: no extern shared array is used
  std::unordered_map<const ast_variable*, value> places_;  // by place_once()
  const ast_instruction* current_ = nullptr;
  std::size_t instructions_ = 0;
  std::unordered_set<const ast_function*> reached_;  // by calls
  const call_graph calls_;
  value stack_pointer_;           // none if no stack is needed
  outlined* instance_ = nullptr;  // function whose body is being resolved; null: the kernel
  std::unordered_map<std::string, std::unique_ptr<outlined>> outlined_;
  std::vector<outlined*> waiting_;                          // functions whose bodies are still to be resolved
  std::vector<std::pair<outlined*, std::uint32_t>> exits_;  // with the label of the return sequence
  std::vector<call_site> sites_;
  std::uint32_t largest_frame_ = 0;
  std::unordered_map<const ast_block*, std::set<std::string>> addressed_;  // by addressed_in()
  // The kernel may use addresses of its parameters, which are then copies in local memory.
  bool parameters_in_memory_ = false;
  std::uint32_t copies_begin_ = 0, copies_end_ = 0;  // range of the copies of kernel parameters in local memory
  value reserved_shared_;                            // none: not used
};

}  // namespace heddle::ptx
