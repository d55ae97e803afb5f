// SPDX-License-Identifier: MIT
#include "testbench/job/job.h"

#include <unistd.h>

#include <algorithm>

#include "heddle/config/suggestion.h"
#include "testbench/files/file_roles.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

std::string bytes_text(std::uint64_t n) { return grouped(n) + (n == 1 ? " byte" : " bytes"); }

/// Throws if bytes [offset, offset + bytes) are not all within buffer `b`.
void check_range(const buffer& b, std::uint64_t offset, std::uint64_t bytes, const place& where) {
  if (offset <= b.bytes && bytes <= b.bytes - offset) return;
  refuse(where, "bytes " + std::to_string(offset) + " to " + std::to_string(offset) + "+" + std::to_string(bytes) +
                    " are outside of buffer '" + b.name + "', which has " + bytes_text(b.bytes));
}

template <class T>
const T& existing(const std::vector<T>& all, const char* what, const std::string& name, const place& where) {
  std::vector<std::string> known;
  for (const T& one : all) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  refuse(where, std::string("there is no ") + what + " '" + name + "'" + suggestion(name, known));
}

void check_buffers(const job& j) {
  // The simulator should not make its host swap, or be killed for lack of memory.
  const std::uint64_t host_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t total = 0;
  for (const buffer& b : j.buffers) {
    if (b.bytes == 0) refuse(b.where, "buffer '" + b.name + "' has 0 bytes, expected at least 1");
    if (b.bytes > host_bytes || (total += b.bytes) > host_bytes) {
      refuse(b.where, "the buffers up to '" + b.name + "' are larger than this machine's memory (" +
                          bytes_text(host_bytes) + ")");
    }
    for (const pointer_patch& p : b.pointers) {
      check_range(b, p.at, 4, p.where);  // 4 bytes are the least; 8 where the modules use 64-bit addresses, which is
                                         // known only after parsing
      const buffer& to = existing_buffer(j, p.to, p.where);
      if (p.offset > to.bytes)
        refuse(p.where, "offset " + std::to_string(p.offset) + " is outside of buffer '" + to.name + "'");
    }
  }
}

void check_operations(const job& j, const std::vector<operation>& operations) {
  for (const operation& op : operations) {
    switch (op.what) {
      case operation::kind::kernel:
        for (const argument& a : op.arguments) {
          if (a.what != argument::kind::buffer) continue;
          const buffer& b = existing_buffer(j, a.name, a.where);
          if (a.offset > b.bytes)
            refuse(a.where, "offset " + std::to_string(a.offset) + " is outside of buffer '" + b.name +
                                "', which has " + bytes_text(b.bytes));
        }
        break;
      case operation::kind::copy: {
        const buffer& from = existing_buffer(j, op.from, op.where);
        check_range(from, op.from_offset, op.bytes, op.where);
        check_range(existing_buffer(j, op.buffer, op.where), op.offset, op.bytes, op.where);
        const std::uint64_t apart = std::max(op.offset, op.from_offset) - std::min(op.offset, op.from_offset);
        if (op.from == op.buffer && apart < op.bytes)
          refuse(op.where, "the bytes copied and those that they replace overlap in buffer '" + op.from + "'");
        break;
      }
      case operation::kind::memset:
        check_range(existing_buffer(j, op.buffer, op.where), op.offset, op.bytes, op.where);
        break;
      case operation::kind::repeat: check_operations(j, op.body); break;
      case operation::kind::synchronise: break;
    }
  }
}

void check_outputs(const job& j) {
  file_roles roles;
  add_files(j, roles);
  for (const output& o : j.outputs) {
    if (!o.is_symbol) existing_buffer(j, o.name, o.where);
    if (!o.expect.empty()) {
      const std::uint64_t size = size_of(j, o.expect, o.where);
      if (size % bytes_of(o.type)) {
        refuse(o.where, "'" + o.expect + "' has " + bytes_text(size) + ", expected a multiple of " +
                            std::to_string(bytes_of(o.type)) + ", the size of its type");
      }
      if (!o.is_symbol && size != find_buffer(j, o.name)->bytes) {
        refuse(o.where, "'" + o.expect + "' has " + bytes_text(size) + ", expected " +
                            bytes_text(find_buffer(j, o.name)->bytes) + ", the size of buffer '" + o.name + "'");
      }
    }
  }
}

}  // namespace

const texture* find_texture(const job& j, const std::string& name) {
  for (const texture& t : j.textures)
    if (t.name == name) return &t;
  return nullptr;
}

std::string content_of(const job& j, const std::string& file, const place& where) {
  if (j.read_before) {
    const auto found = j.read_before->find(file);
    if (found != j.read_before->end()) return found->second;
  }
  return j.access.read(file, where);
}

std::uint64_t size_of(const job& j, const std::string& file, const place& where) {
  if (j.read_before) {
    const auto found = j.read_before->find(file);
    if (found != j.read_before->end()) return found->second.size();
  }
  return j.access.size(file, where);
}

const buffer* find_buffer(const job& j, const std::string& name) {
  for (const buffer& b : j.buffers) {
    if (b.name == name) return &b;
  }
  return nullptr;
}

const buffer& existing_buffer(const job& j, const std::string& name, const place& where) {
  return existing(j.buffers, "buffer", name, where);
}

const texture& existing_texture(const job& j, const std::string& name, const place& where) {
  return existing(j.textures, "texture", name, where);
}

void validate(const job& j) {
  for (const std::string& module : j.modules) {
    const std::uint64_t size = size_of(j, module, j.modules_where);
    if (size > file_access::largest_text)
      refuse(j.modules_where, "module '" + module + "' has " + bytes_text(size) + ", expected at most " +
                                  grouped(file_access::largest_text));
  }
  check_buffers(j);
  check_operations(j, j.operations);
  check_outputs(j);
}

void add_files(const job& j, file_roles& roles) {
  const auto reader = [](const buffer& b) { return "buffer '" + b.name + "'"; };
  for (const std::string& module : j.modules) roles.add_input(module, module == j.name ? "the module" : "a module");
  roles.add_input(j.name == "-" ? "/dev/stdin" : j.name, "the job");
  for (const buffer& b : j.buffers)
    if (!b.file.empty()) roles.add_input(b.file, reader(b));
  for (const symbol_data& s : j.symbols) roles.add_input(s.file, "symbol '" + s.symbol + "'");
  for (const output& o : j.outputs)
    if (!o.expect.empty()) roles.add_input(o.expect, "an expected output");
  for (const output& o : j.outputs) {
    if (o.file.empty()) continue;
    // inout:FILE:FILE requests this: the input file is replaced by the output.
    const buffer* b = o.is_symbol ? nullptr : find_buffer(j, o.name);
    roles.add_output(find_output(o.file, o.where, j.access), o.where,
                     b != nullptr && b->where == o.where ? reader(*b) : "");
  }
}

}  // namespace heddle::testbench
