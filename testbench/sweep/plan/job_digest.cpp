// SPDX-License-Identifier: MIT
#include "testbench/sweep/plan/job_digest.h"

#include <memory>

#include "testbench/sweep/plan/sha256.h"

namespace heddle::testbench {

std::string job_digest(const std::string& text, job& j) {
  file_contents contents;
  sha256 hash;
  const auto add = [&](const std::string& file, const place& where, std::uint64_t most = ~std::uint64_t{0}) {
    const auto [at, fresh] = contents.try_emplace(file);
    const bool held = j.read_before && j.read_before->count(file) != 0;  // by the job itself
    if (fresh) at->second = held ? j.read_before->at(file) : j.access.read(file, where, most);
    hash.field(at->second);
  };
  hash.field("job").field(text);
  for (const std::string& module : j.modules) add(module, j.modules_where, file_access::largest_text);
  for (const buffer& b : j.buffers)
    if (!b.file.empty()) add(b.file, b.where);
  for (const symbol_data& s : j.symbols) add(s.file, s.where);
  for (const output& o : j.outputs)
    if (!o.expect.empty()) add(o.expect, o.where);
  j.read_before = std::make_shared<const file_contents>(std::move(contents));
  return hex(hash.finish());
}

}  // namespace heddle::testbench
