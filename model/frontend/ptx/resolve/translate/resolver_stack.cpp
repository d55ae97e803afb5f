// SPDX-License-Identifier: MIT
// Calls that cannot be inlined. A recursive function has one body in the program. A call saves the caller's live
// registers on a stack in local memory, writes the parameters and the number of the call, and jumps; at the end of the
// body the number selects the return address. An indirect call compares the address with those of all possible
// functions.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

namespace heddle::ptx {

namespace {

bool same_shape(const std::vector<ast_variable>& a, const std::vector<ast_variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ast_variable& x, const ast_variable& y) { return x.size_bytes() == y.size_bytes(); });
}

std::vector<std::uint32_t> registers_of(const std::vector<std::uint32_t>& words, std::uint32_t first) {
  return words.empty() ? std::vector<std::uint32_t>{first} : words;
}

}  // namespace

value resolver::stack_pointer() {
  if (!stack_pointer_.is_reg()) stack_pointer_ = register_value(code_.new_register(1, 32));
  return stack_pointer_;
}

/// Copies the words of one parameter to another of the same kind.
void resolver::copy_words(const kernel_symbol& to, const kernel_symbol& from) {
  if (to.parameter || from.parameter) return transfer(to, from);
  const auto a = registers_of(to.registers, to.first), b = registers_of(from.registers, from.first);
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    const unsigned words = code_.registers()[a[k]].words;
    const isa::dtype type = words == 0   ? isa::dtype::pred
                            : words == 1 ? isa::dtype::b32
                            : words == 2 ? isa::dtype::b64
                                         : isa::dtype::b128;
    code_.append(new_instruction(ptx_op::mov, type, {register_value(a[k])}, {register_value(b[k])}));
  }
}

resolver::outlined& resolver::body_of(const ast_function& f) {
  auto known = outlined_.find(f.name);
  if (known != outlined_.end()) return *known->second;
  auto o = std::make_unique<outlined>();
  o->function = &f;
  o->entry = code_.new_label();
  o->exit = code_.new_label();
  o->first_register = static_cast<std::uint32_t>(code_.registers().size());
  activation* const caller = places_.set_activation(
      nullptr);  // these values are live across the jump only, so all activations share their registers
  names_.open();
  for (const ast_variable& v : f.returns) declarations_.declare(v, uses_.is_large(v));
  for (const ast_variable& v : f.parameters) declarations_.declare(v, uses_.is_large(v));
  o->formals = names_.close();
  places_.set_activation(caller);
  o->return_to = register_value(code_.new_register(1, 32));
  o->frame.base = register_value(code_.new_register(1, 32));
  o->own_end = static_cast<std::uint32_t>(code_.registers().size());
  waiting_.push_back(o.get());
  return *outlined_.emplace(f.name, std::move(o)).first->second;
}

void resolver::outlined_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                             const ast_operand& arguments) {
  const auto kept_end =
      static_cast<std::uint32_t>(code_.registers().size());  // registers created for the call itself need not be saved
  // Arguments may be the caller's own parameters: all are read before any is written.
  names_.open();
  for (const ast_variable& v : f.returns) declarations_.declare(v, uses_.is_large(v));
  for (const ast_variable& v : f.parameters) declarations_.declare(v, uses_.is_large(v));
  scope passed = names_.close();
  for (std::size_t n = 0; n < arguments.list.size(); ++n) bind(f.parameters[n], arguments.list[n], true, passed);
  stack_pointer();
  outlined& o = body_of(f);
  const std::uint32_t site = static_cast<std::uint32_t>(sites_.size());
  if (instance_) {
    sites_.push_back({instance_->body_first, kept_end, instance_->first_register, instance_->own_end});
    hir_instruction save;
    save.op = ptx_op::save;
    save.target = site;
    code_.append(std::move(save));
  }
  for (const ast_variable& v : f.parameters) copy_words(o.formals.names.at(v.name), passed.names.at(v.name));
  const std::uint32_t back = code_.new_label();
  code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {o.return_to}, {immediate_value(o.returns.size())}));
  o.returns.push_back(back);
  code_.jump(o.entry, back);
  code_.place_label(back);
  code_.start(i);
  for (const ast_variable& v : f.returns) copy_words(passed.names.at(v.name), o.formals.names.at(v.name));
  if (instance_) {
    hir_instruction restore;
    restore.op = ptx_op::restore;
    restore.target = site;
    code_.append(std::move(restore));
  }
  for (std::size_t n = 0; n < results.list.size(); ++n) bind(f.returns[n], results.list[n], false, passed);
}

/// Places the bodies of functions that are not inlined after the kernel's code.
void resolver::place_bodies() {
  while (!waiting_.empty()) {
    outlined& o = *waiting_.back();
    waiting_.pop_back();
    instance_ = &o;
    places_.set_activation(&o.frame);
    o.body_first = static_cast<std::uint32_t>(code_.registers().size());
    code_.place_label(o.entry);
    code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {o.frame.base}, {stack_pointer()}));
    code_.append(
        new_instruction(ptx_op::add, isa::dtype::u32, {stack_pointer()}, {stack_pointer(), immediate_value(0)}));
    const std::size_t block = out_.blocks.size() - 1, at = out_.blocks.back().code.size() - 1;
    const name_table::function_view kernel = names_.enter_function(o.function->unit);
    return_label_ = o.exit;
    call_chain_ = {kernel_.name, o.function->name};
    names_.open(o.formals);
    // Parameters of the activation whose address is taken.
    for (const ast_variable& v : o.function->returns)
      if (uses_.lives_in_memory(v, o.function->body)) declarations_.declare(v, true);
    for (const ast_variable& v : o.function->parameters) {
      if (!uses_.lives_in_memory(v, o.function->body)) continue;
      declarations_.declare(v, true);
      transfer(names_.innermost().names.at(v.name), o.formals.names.at(v.name));
    }
    const scope formals = names_.innermost();
    body(o.function->body);
    names_.close();
    names_.show(kernel);
    code_.place_label(o.exit);
    for (const ast_variable& v : o.function->returns)
      if (const kernel_symbol& s = formals.names.at(v.name); s.parameter) transfer(o.formals.names.at(v.name), s);
    const std::uint32_t bytes = (o.frame.local_bytes + 15) / 16 * 16;
    out_.blocks[block].code[at].src[1] = immediate_value(bytes);
    largest_frame_ = std::max(largest_frame_, bytes);
    code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {stack_pointer()}, {o.frame.base}));
    exits_.push_back({&o, static_cast<std::uint32_t>(code_.new_label())});
    code_.jump(exits_.back().second);
    instance_ = nullptr;
    places_.set_activation(nullptr);
  }
  // All calls are known now: emits the return sequences.
  for (const auto& [o, label] : exits_) {
    code_.place_label(label);
    for (std::size_t k = 0; k < o->returns.size(); ++k) {
      hir_instruction go;
      go.op = ptx_op::bra;
      go.target = o->returns[k];
      if (k + 1 < o->returns.size()) {
        hir_instruction test =
            new_instruction(ptx_op::setp, isa::dtype::u32, {register_value(code_.new_register(0, 1))},
                            {o->return_to, immediate_value(k)});
        test.m.cmp = isa::compare::eq;
        go.guard = test.dst[0];
        code_.append(std::move(test));
      }
      code_.append(std::move(go));
    }
  }
}

/// Called when all blocks are known: places the stack and emits the code of calls that saves registers.
void resolver::finish_stack() {
  if (!stack_pointer_.is_reg()) return;
  const std::uint32_t base = (out_.local_bytes + 15) / 16 * 16;
  out_.local_bytes = base + call_stack_bytes;
  expand_call_frames(out_, sites_, stack_pointer_, out_.local_bytes, largest_frame_);
  hir_instruction start = new_instruction(ptx_op::mov, isa::dtype::b32, {stack_pointer_}, {immediate_value(base)});
  hir_block& first = out_.blocks.front();
  if (!first.code.empty()) {
    start.where = first.code.front().where;
    start.source = first.code.front().source;
  }
  first.code.insert(first.code.begin(), std::move(start));
  for (hir_block& b : out_.blocks)
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.what == value::kind::constant && v.bank == stack_limit_bank) v = immediate_value(out_.local_bytes);
}

// alloca reserves stack memory until the function returns; stacksave and stackrestore read and write the stack
// pointer.
void resolver::stack_instruction(const hir_instruction& h, const ast_instruction& i) {
  const bool restores = h.op == ptx_op::stackrestore;
  if (i.operands.size() < (h.op == ptx_op::alloca_ ? 2u : 1u) || h.guard.what != value::kind::none)
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  if (h.op == ptx_op::alloca_ && i.operands.size() > 2) {
    const std::uint64_t align = i.operands[2].bits;
    if (align == 0 || (align & (align - 1)) != 0 || align >> 31 != 0)
      code_.fail(i.operands[2].where,
                 "alignment " + i.operands[2].text + " in '" + i.mnemonic() + "', expected a power of two");
  }
  const value top = stack_pointer();
  hir_instruction narrow = h;
  if (restores) {
    narrow.op = ptx_op::cvt;
    narrow.m.type2 = h.m.type;
    narrow.m.type = isa::dtype::u32;
    narrow.m.types = 2;
    narrow.dst = {top};
    narrow.src = {in_.operand(i.operands[0], isa::dtype::u64, i.where)};
    return code_.append(std::move(narrow));
  }
  const value d = in_.destination(i.operands[0], i.where);
  hir_instruction read =
      new_instruction(ptx_op::cvt, isa::size_of(h.m.type) == 8 ? isa::dtype::u64 : isa::dtype::u32, {d}, {top});
  read.m.type2 = isa::dtype::u32;
  read.m.types = 2;
  if (h.op == ptx_op::stacksave) return code_.append(std::move(read));
  const value size = in_.operand(i.operands[1], isa::dtype::u64, i.where);
  const value bytes = register_value(code_.new_register(1, 32)), room = register_value(code_.new_register(1, 32));
  const value full = register_value(code_.new_register(0, 1));
  // A size beyond any stack is limited to an impossible size; sizes are rounded up to 16 bytes.
  hir_instruction least = new_instruction(
      ptx_op::min, isa::size_of(h.m.type) == 8 ? isa::dtype::u64 : isa::dtype::u32,
      {register_value(code_.new_register(isa::size_of(h.m.type) == 8 ? 2 : 1, isa::size_of(h.m.type) * 8))},
      {size, immediate_value(1u << 20)});
  hir_instruction cut = new_instruction(ptx_op::cvt, isa::dtype::u32, {bytes}, {least.dst[0]});
  cut.m.type2 = least.m.type;
  cut.m.types = 2;
  code_.append(std::move(least));
  code_.append(std::move(cut));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u32, {bytes}, {bytes, immediate_value(15)}));
  code_.append(new_instruction(ptx_op::and_, isa::dtype::b32, {bytes}, {bytes, immediate_value(0xfffffff0u)}));
  code_.append(new_instruction(ptx_op::sub, isa::dtype::u32, {room}, {constant_value(stack_limit_bank, 0, 1), top}));
  hir_instruction test = new_instruction(ptx_op::setp, isa::dtype::u32, {full}, {bytes, room});
  test.m.cmp = isa::compare::gt;
  code_.append(std::move(test));
  hir_instruction trap = new_instruction(ptx_op::trap, isa::dtype::none, {}, {});
  trap.m.sub = isa::trap_stack_overflow;
  trap.guard = full;
  code_.append(std::move(trap));
  code_.append(std::move(read));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u32, {top}, {top, bytes}));
}

std::vector<const ast_function*> resolver::possible_targets(const ast_instruction& i, const ast_operand& list,
                                                            std::size_t returns, std::size_t parameters) {
  kernel_symbol s;
  if (!names_.find(list.text, s) || s.what != kernel_symbol::kind::prototype || !s.targets)
    code_.fail(list.where, "'" + i.mnemonic() + "' through a register needs a .callprototype or .calltargets");
  std::vector<const ast_function*> found;
  if (s.targets->what == ast_statement::kind::call_targets) {
    for (const std::string& name : s.targets->targets) {
      const ast_function* f = find_function(*module_.ast, names_.meaning(name));
      if (!f)
        code_.fail(s.targets->where, "'" + name + "' in .calltargets is not a function with a body in this module");
      if (f->returns.size() != returns || f->parameters.size() != parameters)
        code_.fail(i.where,
                   "a call through '" + list.text + "' with another number of arguments than '" + name + "' has");
      found.push_back(f);
    }
    return found;
  }
  const ast_function& prototype = *s.targets->prototype;
  if (prototype.returns.size() != returns || prototype.parameters.size() != parameters)
    code_.fail(i.where, "a call through '" + list.text + "' with the wrong number of arguments");
  for (const std::string& name : calls_.address_taken()) {
    const ast_function* f = find_function(*module_.ast, name);
    if (f && same_shape(f->returns, prototype.returns) && same_shape(f->parameters, prototype.parameters))
      found.push_back(f);
  }
  return found;
}

void resolver::indirect_call(const ast_instruction& i, const ast_operand& target, const ast_operand& list,
                             const ast_operand& results, const ast_operand& arguments) {
  const std::vector<const ast_function*> targets =
      possible_targets(i, list, results.list.size(), arguments.list.size());
  kernel_symbol shape;
  if (names_.find(list.text, shape) && shape.targets && shape.targets->prototype) {
    const ast_function& prototype = *shape.targets->prototype;
    for (std::size_t k = 0; k < results.list.size(); ++k) check_argument(prototype.returns[k], results.list[k]);
    for (std::size_t k = 0; k < arguments.list.size(); ++k) check_argument(prototype.parameters[k], arguments.list[k]);
  }
  const value address = in_.operand(target, isa::dtype::u64, target.where);
  if (address.is_reg() && isa::is_float(code_.registers()[address.reg].type))
    code_.fail(target.where, "'" + target.text + "' in '" + i.mnemonic() + "', expected a register for .u64");
  const bool narrow = address.is_reg() && code_.registers()[address.reg].words == 1;
  const std::uint32_t done = code_.new_label();
  for (const ast_function* f : targets) {
    const std::uint32_t next = code_.new_label();
    hir_instruction test = new_instruction(ptx_op::setp, narrow ? isa::dtype::u32 : isa::dtype::u64,
                                           {register_value(code_.new_register(0, 1))},
                                           {address, immediate_value(function_address(*module_.ast, f->name))});
    test.m.cmp = isa::compare::ne;
    hir_instruction skip;
    skip.op = ptx_op::bra;
    skip.target = next;
    skip.guard = test.dst[0];
    code_.append(std::move(test));
    code_.append(std::move(skip));
    call_function(i, *f, results, arguments);
    code_.jump(done);
    code_.place_label(next);
  }
  hir_instruction wild;
  wild.op = ptx_op::trap;
  wild.m.sub = isa::trap_wild_call;
  code_.append(std::move(wild));
  code_.place_label(done);
}

}  // namespace heddle::ptx
