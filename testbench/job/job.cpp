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

std::string client_text(const job& j, unsigned client) {
  return client == 0 ? "no client" : "client '" + j.clients[client - 1].name + "'";
}

// Processes have memories of their own. What is of no client is of all, but for the parts of a divided GPU.
void check_owner(const job& j, unsigned client, const std::string& name, const place& where) {
  const buffer& b = existing_buffer(j, name, where);
  if (b.client != client && b.client != 0)
    refuse(where,
           "buffer '" + name + "' is that of " + client_text(j, b.client) + ", not of " + client_text(j, client));
}

void check_owners(const job& j, const operation& op) {
  if (!op.buffer.empty()) check_owner(j, op.client, op.buffer, op.where);
  if (!op.from.empty()) check_owner(j, op.client, op.from, op.where);
  if (!op.while_nonzero.empty()) check_owner(j, op.client, op.while_nonzero, op.where);
  for (const argument& a : op.arguments) {
    if (a.what == argument::kind::buffer || a.what == argument::kind::tensor_map)
      check_owner(j, op.client, a.name, a.where);
    if (a.what == argument::kind::texture)
      check_owner(j, op.client, existing_texture(j, a.name, a.where).buffer, a.where);
  }
  for (const operation& part : op.body) check_owners(j, part);
}

void check_clients(const job& j) {
  if (j.clients.empty() && j.slices.empty()) return;
  for (const operation& op : j.operations) check_owners(j, op);
  for (const buffer& b : j.buffers)
    for (const pointer_patch& p : b.pointers) check_owner(j, b.client, p.to, p.where);
  if (j.slices.empty()) return;
  // The memory of each part is its clients' alone, and only clients of a part run there.
  for (const gpu_client& c : j.clients)
    if (c.slice.empty())
      refuse(c.where, "client '" + c.name + "' has no 'slice', expected one, since the job has slices");
  for (const buffer& b : j.buffers)
    if (b.client == 0)
      refuse(b.where, "buffer '" + b.name + "' has no 'client', expected one, since the job has slices");
  for (const operation& op : j.operations)
    if (op.client == 0) refuse(op.where, "the launch has no 'client', expected one, since the job has slices");
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

unsigned partition_of(const job& j, unsigned client) {
  if (client == 0) return 0;
  for (unsigned n = 0; n < j.slices.size(); ++n)
    if (j.slices[n].name == j.clients[client - 1].slice) return n + 1;
  return 0;
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
  check_clients(j);
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
