// SPDX-License-Identifier: MIT
// Modules linked into one: the meaning of a name in each, rejected inputs, and the positions in messages.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/frontend/ptx/lower.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/frontend/ptx/syntax/parsed_modules.h"
#include "ptx_machine.h"

namespace heddle {
namespace ptx_link_test {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using sources = std::vector<ptx::module_source>;

const std::string header = ".version 8.4\n.target sm_90\n.address_size 64\n";

std::string kernel(const std::string& code, const std::string& name = "k") {
  return ".visible .entry " + name +
         "(.param .u64 out) {\n.reg .b64 %out, %d<4>; .reg .b32 %r<8>;\nld.param.u64 %out, [out]; mov.u32 %r0, 0;\n" +
         code + "\nst.global.u32 [%out], %r0; ret; }\n";
}

u32 result_of(const sources& modules, const std::string& name = "k") {
  ptx_machine machine(ptx::link(modules));
  const u64 out = machine.buffer(std::vector<u32>(1, 0x5555));
  machine.run(name, {1, 1, 1}, {1, 1, 1}, {out});
  return machine.read<u32>(out, 1)[0];
}

std::string refusal_of(const sources& modules) {
  try {
    ptx_machine(ptx::link(modules)).program("k");
  } catch (const input_error& e) {
    return e.what();
  }
  return "no error";
}

const std::string wants_f = ".extern .func (.reg .u32 r) f(.reg .u32 a);\n";
const std::string defines_f = ".visible .func (.reg .u32 r) f(.reg .u32 a) { mul.lo.u32 r, a, 10; ret; }\n";

TEST(linked_modules, call_each_others_functions) {
  EXPECT_EQ(result_of({{header + wants_f + kernel("mov.u32 %r1, 7; call (%r0), f, (%r1);"), "a.ptx"},
                       {header + defines_f, "b.ptx"}}),
            70u);
  EXPECT_EQ(result_of({{header + defines_f, "b.ptx"},
                       {header + wants_f + kernel("mov.u32 %r1, 7; call (%r0), f, (%r1);"), "a.ptx"}}),
            70u);
}

TEST(linked_modules, share_visible_variables) {
  const std::string user =
      header +
      ".extern .global .u32 g[2];\n.extern .const .u32 c;\n.extern .shared .align 4 .b8 s[8];\n.extern .func f();\n" +
      kernel(
          "st.shared.u32 [s+4], 500; call f, (); ld.global.u32 %r0, [g+4]; ld.const.u32 %r1, [c]; add.u32 %r0, %r0, %r1; "
          "ld.shared.u32 %r1, [s]; add.u32 %r0, %r0, %r1;");
  const std::string owner =
      header +
      ".visible .global .u32 g[2] = {1, 20};\n.visible .const .u32 c = 3000;\n.visible .shared .align 4 .b8 s[8];\n"
      ".visible .func f() { .reg .u32 %t; ld.shared.u32 %t, [s+4]; add.u32 %t, %t, 1; st.shared.u32 [s], %t; ret; }\n";
  EXPECT_EQ(result_of({{user, "a.ptx"}, {owner, "b.ptx"}}), 20u + 3000 + 501);
}

TEST(linked_modules, keep_what_is_internal_apart) {
  const std::string first =
      header + wants_f +
      ".global .u32 own = 5;\n.func (.reg .u32 r) mine(.reg .u32 a) { ld.global.u32 r, [own]; add.u32 r, r, a; ret; }\n" +
      kernel("mov.u32 %r1, 100; call (%r0), mine, (%r1); call (%r1), f, (%r1); mad.lo.u32 %r0, %r0, 10000, %r1;");
  const std::string second =
      header +
      ".global .u32 own = 7;\n.global .u64 at = own;\n"
      ".func (.reg .u32 r) mine(.reg .u32 a) { .reg .u64 %p; ld.global.u64 %p, [at]; ld.global.u32 r, [%p]; mul.lo.u32 r, r, a; ret; }\n"
      ".visible .func (.reg .u32 r) f(.reg .u32 a) { call (r), mine, (a); ret; }\n";
  EXPECT_EQ(result_of({{first, "a.ptx"}, {second, "b.ptx"}}), 105u * 10000 + 700);
}

TEST(linked_modules, call_through_tables_of_functions) {
  // The scheme of collectives: a table of functions in one module; each other module knows only its own.
  const std::string user =
      header + ".extern .global .align 8 .b8 table[];\n" +
      kernel(
          "ld.global.u64 %d1, [table+8]; mov.u32 %r1, 4; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r0), %d1, (%r1), P;");
  const std::string owner = header + ".extern .func (.reg .u32 r) g(.reg .u32 a);\n" + wants_f +
                            ".visible .global .align 8 .u64 table[2] = {f, g};\n";
  const std::string more = header + ".visible .func (.reg .u32 r) g(.reg .u32 a) { add.u32 r, a, 1; ret; }\n";
  EXPECT_EQ(result_of({{user, "a.ptx"}, {owner, "b.ptx"}, {header + defines_f, "c.ptx"}, {more, "d.ptx"}}), 5u);
}

TEST(linked_modules, recurse_across_files) {
  const std::string odd =
      ".func (.reg .u32 r) odd(.reg .u32 a) { .reg .pred %q; .reg .u32 %t; mov.u32 r, 0; setp.eq.u32 %q, a, 0; @%q ret; sub.u32 %t, a, 1; "
      "call (r), even, (%t); add.u32 r, r, step; ret; }\n";
  const std::string even =
      ".func (.reg .u32 r) even(.reg .u32 a) { .reg .pred %q; .reg .u32 %t, %s; mov.u32 r, 1; setp.eq.u32 %q, a, 0; @%q ret; sub.u32 %t, a, 1; "
      "call (r), odd, (%t); ld.global.u32 %s, [step]; add.u32 r, r, %s; ret; }\n";
  std::string odd_text = odd;
  odd_text.replace(odd_text.find("add.u32 r, r, step"), 18, "ld.global.u32 %t, [step]; add.u32 r, r, %t");
  const std::string a = header + ".extern .func (.reg .u32 r) even(.reg .u32 a);\n.global .u32 step = 100;\n.visible " +
                        odd_text + kernel("mov.u32 %r1, 5; call (%r0), odd, (%r1);");
  const std::string b =
      header + ".extern .func (.reg .u32 r) odd(.reg .u32 a);\n.global .u32 step = 1000;\n.visible " + even;
  EXPECT_EQ(result_of({{a, "a.ptx"}, {b, "b.ptx"}}), 3u * 100 + 2 * 1000 + 1);
}

TEST(linked_modules, take_one_of_several_weak_definitions) {
  const std::string weak =
      ".weak .func (.reg .u32 r) f(.reg .u32 a) { mov.u32 r, 1; ret; }\n.weak .global .u32 w = 3;\n";
  const std::string user = header + weak + ".extern .func (.reg .u32 r) g();\n" +
                           kernel("call (%r0), f, (%r0); call (%r1), g, (); mad.lo.u32 %r0, %r0, 100, %r1;");
  const std::string other = header + weak + ".visible .func (.reg .u32 r) g() { ld.global.u32 r, [w]; ret; }\n";
  EXPECT_EQ(result_of({{user, "a.ptx"}, {other, "b.ptx"}}), 103u);
  EXPECT_EQ(result_of({{user, "a.ptx"}, {other, "b.ptx"}, {header + defines_f, "c.ptx"}}), 3u);  // a strong one wins
}

TEST(linked_modules, define_a_name_once) {
  const std::string error = refusal_of({{header + wants_f + kernel(""), "a.ptx"},
                                        {header + defines_f, "dir/b.ptx"},
                                        {header + "\n" + defines_f, "c.ptx"}});
  EXPECT_EQ(error, "c.ptx:5:30: 'f' is defined at dir/b.ptx:4:30, too");
}

TEST(linked_modules, have_addresses_of_one_size) {
  EXPECT_NE(refusal_of({{header + kernel(""), "a.ptx"}, {".version 8.4\n.target sm_90\n.address_size 32\n", "b.ptx"}})
                .find("b.ptx: .address_size 32, expected 64 as in a.ptx"),
            std::string::npos);
}

TEST(linked_modules, name_the_file_in_messages) {
  const std::string user = header + wants_f + kernel("mov.u32 %r1, 7; call (%r0), f, (%r1);");
  EXPECT_EQ(refusal_of(
                {{user, "a.ptx"},
                 {header + "\n.visible .func (.reg .u32 r) f(.reg .u32 a) {\nfrobnicate.u32 r, a; ret; }\n", "b.ptx"}}),
            "b.ptx:6:1: unknown instruction 'frobnicate.u32'");
  const std::string error = refusal_of(
      {{user, "a.ptx"},
       {header + ".visible .func (.reg .u32 r) f(.reg .u32 a) { ret; }\n.global .u32 v = 1;\n.const .b8 big[70000];\n",
        "b.ptx"}});
  EXPECT_EQ(error, "b.ptx:6:12: constant variables exceed 64 KiB at 'big'");
  EXPECT_EQ(refusal_of({{user, "a.ptx"}, {header + "\n.glubal .u32 x;\n", "b.ptx"}}).substr(0, 10), "b.ptx:5:1:");
}

TEST(linked_modules, are_lowered_with_the_places_of_both_files) {
  const auto module = ptx::link({{header + wants_f + kernel("mov.u32 %r1, %tid.x; call (%r0), f, (%r1);"), "a.ptx"},
                                 {header + defines_f, "b.ptx"}});
  ptx_machine machine(module);
  const isa::program& p = machine.program("k");
  EXPECT_EQ(p.file, "a.ptx+b.ptx");
  bool in_a = false, in_b = false;
  for (const isa::instruction& i : p.code) {
    in_a = in_a || i.line == 8;
    in_b = in_b || i.line == 9 + 4;
  }
  EXPECT_TRUE(in_a);
  EXPECT_TRUE(in_b);
  EXPECT_EQ(ptx::with_own_places(*module, "a.ptx+b.ptx:13:5: wrong\nwarp 1 at a.ptx+b.ptx:7:1, of a.ptx+b.ptx: all"),
            "b.ptx:4:5: wrong\nwarp 1 at a.ptx:7:1, of a.ptx+b.ptx: all");
}

TEST(linked_modules, are_those_that_need_each_other) {
  std::vector<std::shared_ptr<const ptx::ast_module>> parsed;
  for (const std::string& text :
       {wants_f + kernel(""), kernel("", "other") + ".visible .global .u32 g;\n", defines_f,
        std::string(".extern .global .u32 nowhere;\n"), std::string(".extern .global .u32 g;\n")})
    parsed.push_back(ptx::parse(header + text, "m.ptx"));
  EXPECT_EQ(ptx::link_groups(parsed), (std::vector<std::vector<std::size_t>>{{0, 2}, {1, 4}, {3}}));
}

TEST(parsed_modules, share_the_tree_of_equal_requests_while_it_is_in_use) {
  const std::string text = header + kernel("");
  ptx::parsed_modules modules, others;
  const auto first = modules.parse(text, "a.ptx");
  EXPECT_EQ(first, modules.parse(text, "a.ptx"));
  EXPECT_NE(first, modules.parse(text, "b.ptx"));
  EXPECT_NE(first, modules.parse(text + " ", "a.ptx"));
  EXPECT_NE(first, others.parse(text, "a.ptx")) << "modules of two owners were shared";
}

TEST(parsed_modules, share_the_kernels_of_equal_requests_while_they_are_in_use) {
  const std::string text = header + ".global .u32 g;\n" + kernel("ld.global.u32 %r0, [g];") + kernel("", "other");
  const gpu_config gpu = load_config("h100"), equal = load_config("h100"),
                   banked = load_config("h100", {"sub_partition.register_banks=1"});
  ptx::parsed_modules modules, others;
  const auto place = [&](u64 globals) { return ptx::place(modules.parse(text, "a.ptx"), globals); };
  const ptx::loaded_module here = place(0x10000000), again = place(0x10000000), elsewhere = place(0x20000000);
  auto first = ptx::lower(modules, here, "k", gpu, 0);
  EXPECT_EQ(first, ptx::lower(modules, again, "k", equal, 0));
  EXPECT_NE(first, ptx::lower(modules, elsewhere, "k", gpu, 0)) << "the variable is elsewhere";
  EXPECT_NE(first, ptx::lower(modules, here, "other", gpu, 0));
  EXPECT_NE(first, ptx::lower(modules, here, "k", gpu, 32));
  EXPECT_NE(first, ptx::lower(modules, here, "k", banked, 0)) << "another GPU";
  EXPECT_NE(first, ptx::lower(others, here, "k", gpu, 0)) << "kernels of two owners were shared";
  EXPECT_EQ(first, ptx::lower(modules, here, "k", gpu, 0));
  EXPECT_EQ(modules.lowered().size(), 1u) << "an unused program was kept";
  const std::weak_ptr<const isa::program> watched = first;
  first.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(undefined_variables, are_refused_where_they_are_used) {
  const std::string text = header + ".extern .global .u32 nowhere;\n" + kernel("ld.global.u32 %r0, [nowhere];") +
                           kernel("mov.u32 %r0, 1;", "other");
  EXPECT_EQ(result_of({{text, "a.ptx"}}, "other"), 1u);
  EXPECT_EQ(refusal_of({{text, "a.ptx"}}),
            "a.ptx:8:20: 'nowhere' is declared .extern, and no module among those loaded defines it");
  EXPECT_NE(refusal_of({{header + wants_f + kernel("call (%r0), f, (%r0);"), "a.ptx"}})
                .find("is not supported: it is declared .extern, and no module among those loaded defines it"),
            std::string::npos);
}

}  // namespace ptx_link_test
}  // namespace heddle
