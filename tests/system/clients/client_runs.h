// SPDX-License-Identifier: MIT
// Jobs of clients with kernels that call malloc, wait for their grid, follow pointers or have clusters.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace client_runs {

using json = nlohmann::ordered_json;

/// `keep` stores addresses that malloc gives; `drop` replaces those at `at` by the words there, and frees them; `peek`
/// reads through an address, which `tell` stores. `meet` stores numbers of blocks, waits for its grid and reads those
/// of the next block. `ranks` stores the SM of each block.
inline const char* const kernels = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 given) malloc (.param .b64 bytes);
.extern .func free (.param .b64 given);
.visible .entry keep(.param .u64 out, .param .u32 bytes)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<6>;
	.reg .pred %p;
	ld.param.u64 %d1, [out];
	ld.param.u32 %r1, [bytes];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %d2, %r2, 8;
	add.u64 %d1, %d1, %d2;
	cvt.u64.u32 %d3, %r1;
	{
	.param .b64 a;
	.param .b64 g;
	st.param.b64 [a], %d3;
	call.uni (g), malloc, (a);
	ld.param.b64 %d4, [g];
	}
	st.global.u64 [%d1], %d4;
	setp.eq.u64 %p, %d4, 0;
	@%p bra full;
	add.u32 %r2, %r2, 7;
	st.u32 [%d4], %r2;
full:
	ret;
}
.visible .entry drop(.param .u64 at)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [at];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %d2, %r2, 8;
	add.u64 %d1, %d1, %d2;
	ld.global.u64 %d3, [%d1];
	ld.u32 %r1, [%d3];
	cvt.u64.u32 %d4, %r1;
	st.global.u64 [%d1], %d4;
	{
	.param .b64 a;
	st.param.b64 [a], %d3;
	call.uni free, (a);
	}
	ret;
}
.visible .entry peek(.param .u64 at, .param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [at];
	ld.param.u64 %d2, [out];
	ld.global.u64 %d3, [%d1];
	ld.u32 %r1, [%d3];
	st.global.u32 [%d2], %r1;
	ret;
}
.visible .entry tell(.param .u64 what, .param .u64 at)
{
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [what];
	ld.param.u64 %d2, [at];
	st.global.u64 [%d2], %d1;
	ret;
}
.visible .entry meet(.param .u64 first, .param .u64 second)
{
	.reg .b32 %r<12>;
	.reg .b64 %d<8>;
	.reg .pred %p;
	ld.param.u64 %d1, [first];
	ld.param.u64 %d2, [second];
	mov.b32 %r1, %envreg1;
	mov.b32 %r2, %envreg2;
	mov.b64 %d3, {%r2, %r1};
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %nctaid.x;
	mul.wide.u32 %d4, %r3, 4;
	add.u64 %d5, %d1, %d4;
	add.u32 %r5, %r3, 100;
	st.volatile.global.u32 [%d5], %r5;
	membar.gl;
	mov.u32 %r6, 0x80000001;
	sub.u32 %r6, %r6, %r4;
	setp.eq.u32 %p, %r3, 0;
	selp.b32 %r6, %r6, 1, %p;
	atom.global.add.u32 %r7, [%d3+4], %r6;
again:
	ld.volatile.global.u32 %r8, [%d3+4];
	xor.b32 %r9, %r7, %r8;
	setp.ge.s32 %p, %r9, 0;
	@%p bra again;
	membar.gl;
	add.u32 %r10, %r3, 1;
	rem.u32 %r10, %r10, %r4;
	mul.wide.u32 %d6, %r10, 4;
	add.u64 %d6, %d1, %d6;
	ld.volatile.global.u32 %r11, [%d6];
	add.u64 %d7, %d2, %d4;
	st.global.u32 [%d7], %r11;
	ret;
}
.visible .entry ranks(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d1, %d1, %d2;
	mov.u32 %r2, %smid;
	st.global.u32 [%d1], %r2;
	ret;
}
)";

struct result : ptx_runs::outcome {
  json metrics;
  [[nodiscard]] const json& client(std::size_t n) const { return metrics.at("clients").at(n); }
};

/// Runs the job, whose module is k.ptx.
inline result run(const json& job, const std::string& options) {
  result r{ptx_runs::run_job({{"k.ptx", kernels}, {"job.json", job.dump()}}, "--metrics m.json " + options), {}};
  const std::string text = ptx_runs::content(ptx_runs::place_of_test() / "m.json");
  if (text.empty()) return r;
  r.metrics = json::parse(text);
  r.metrics.erase("host");
  return r;
}

/// The content of a result file.
template <class T>
std::vector<T> values(const std::string& file) {
  const std::string bytes = ptx_runs::content(ptx_runs::place_of_test() / file);
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

/// A list with one object is that object, as the JSON library reads it.
inline json launch(const char* kernel, const std::string& client, unsigned blocks, unsigned threads, const json& args) {
  const json listed = args.is_array() ? args : json::array({args});
  return {{"kernel", kernel}, {"client", client}, {"grid", {blocks}}, {"block", {threads}}, {"args", listed}};
}

inline json buffer(const char* name) { return {{"buffer", name}}; }

/// Clients a and b; in slices, if they are given.
inline json job_of_two(const json& slices = nullptr) {
  json job = {{"module", "k.ptx"}, {"clients", {{"a", json::object()}, {"b", json::object()}}}};
  if (slices.is_null()) return job;
  job["slices"] = slices;
  job["clients"] = {{"a", {{"slice", slices.begin().key()}}}, {"b", {{"slice", std::next(slices.begin()).key()}}}};
  return job;
}

}  // namespace client_runs
