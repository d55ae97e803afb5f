// SPDX-License-Identifier: MIT
#include "testbench/job/job_parser.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "heddle/config/input_file.h"
#include "heddle/config/suggestion.h"
#include "testbench/job/argument_parser.h"
#include "testbench/job/arguments.h"
#include "testbench/job/part_parsers.h"
#include "testbench/job/texture_parser.h"
#include "testbench/text/json_tree.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

const std::vector<std::string> element_names = {"u8",  "s8",  "u16", "s16", "u32", "s32",
                                                "u64", "s64", "f16", "f32", "f64"};

using kind = json_value::kind;

/// Converts the JSON of one file into a job.
class parser {
 public:
  parser(const std::string& file, const file_access& access) : file_(file) {
    job_.access = access;
    const auto slash = file.rfind('/');
    if (slash != std::string::npos && !names_own_descriptor(file)) directory_ = file.substr(0, slash + 1);
  }

  job parse(const json_value& root) {
    job_.name = file_;
    json_reader r(root, file_, "");
    if (r.has("$schema")) r.string("$schema");  // for editors
    r.offer({"$schema", "module", "modules"});
    modules(r);
    parse_clients(r, job_);
    if (const json_value* v = r.optional("buffers")) buffers(r, *v);
    if (const json_value* v = r.optional("symbols")) {
      each(r, *v, "symbols", [this](json_reader& s) { symbol(s); });
    }
    if (const json_value* v = r.optional("textures")) job_.textures = parse_textures(*v, file_, job_);
    if (const json_value* v = r.optional("preempt")) {
      each(r, *v, "preempt", [this](json_reader& p) { job_.preemptions.push_back(parse_preemption(p)); });
      std::stable_sort(job_.preemptions.begin(), job_.preemptions.end(),
                       [](const preemption& a, const preemption& b) { return a.at_cycle < b.at_cycle; });
    }
    job_.operations = operations(r, r.required("launches"), "launches", nullptr);
    if (job_.operations.empty()) r.fail(*root.find("launches"), "launches", "expected at least one launch");
    if (const json_value* v = r.optional("outputs")) {
      each(r, *v, "outputs", [this](json_reader& o) { add_output(o); });
    }
    r.finish();
    if (!texts_.empty()) job_.read_before = std::make_shared<const file_contents>(std::move(texts_));
    return std::move(job_);
  }

 private:
  template <class F>
  void each(json_reader& r, const json_value& list, const std::string& path, F&& f) {
    static_cast<void>(r.expect(list, kind::array, path));
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      json_reader item(list.items[i], file_, path + "[" + std::to_string(i) + "]");
      f(item);
      item.finish();
    }
  }

  std::string path_to(json_reader& r, const json_value& v, const std::string& path) {
    const std::string& name = r.expect(v, kind::string, path).text;
    if (name.empty() || name.find('\0') != std::string::npos) r.fail(v, path, "expected the name of a file");
    return name[0] == '/' ? name : directory_ + (name == "-" ? "./-" : name);
  }
  std::string path_to(json_reader& r, const std::string& key) { return path_to(r, r.required(key), r.path_of(key)); }

  void modules(json_reader& r) {
    if (r.has("module") == r.has("modules"))
      throw input_error(r.place() + ": expected either 'module' or 'modules'" +
                        (r.has("module") ? ", got both" : r.suggestion_among({"module", "modules"})));
    if (r.has("module")) {
      add_module(r, r.required("module"), "module");
      job_.modules_where = r.place("module");
      return;
    }
    const json_value& list = r.expect(r.required("modules"), kind::array, "modules");
    if (list.items.empty()) r.fail(list, "modules", "expected at least one module");
    for (const auto& v : list.items) add_module(r, v, "modules");
    job_.modules_where = r.place_of(list);
  }

  // A file, or the PTX itself under a name that messages give.
  void add_module(json_reader& r, const json_value& v, const std::string& path) {
    if (v.what != kind::object) {
      job_.modules.push_back(path_to(r, v, path));
      return;
    }
    json_reader m(v, file_, path);
    const std::string name = m.string("name");
    if (name.empty()) refuse(m.place("name"), m.path_of("name") + ": expected a name for messages");
    if (!texts_.emplace(name, m.string("text")).second) refuse(m.place("name"), "there are two modules '" + name + "'");
    m.finish();
    job_.modules.push_back(name);
  }

  void buffers(json_reader& r, const json_value& all) {
    static_cast<void>(r.expect(all, kind::object, "buffers"));
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      json_reader item(all.items[i], file_, "buffers." + all.keys[i]);
      buffer b;
      b.name = all.keys[i];
      b.where = item.place();
      item.offer({"bytes", "file", "fill", "pointers", "descriptor", "at"});
      b.client = parse_client(item, job_);
      const bool sized = item.has("bytes");
      b.bytes = item.number("bytes", 0);
      if (item.has("descriptor")) {
        open_content(item, b);
      } else if (item.has("file")) {
        if (item.has("fill")) item.fail(*item.optional("fill"), item.path(), "expected either 'file' or 'fill'");
        b.content = buffer::fill::file;
        b.file = path_to(item, "file");
        const std::uint64_t size = job_.access.size(b.file, item.place("file"));
        if (sized && size != b.bytes) {
          refuse(item.place("bytes"),
                 "'" + b.file + "' has " + std::to_string(size) + " bytes, the buffer has " + std::to_string(b.bytes));
        }
        b.bytes = size;
      } else {
        if (!sized)
          item.fail(all.items[i], item.path(), "expected 'bytes' or 'file'" + item.suggestion_among({"bytes", "file"}));
        if (item.has("fill")) {
          b.where = item.place("fill");
          parse_fill(item.string("fill"), b);
          b.where = item.place();
        } else {
          item.optional("fill");
        }
        item.optional("file");
      }
      if (const json_value* list = item.optional("pointers")) {
        each(item, *list, item.path_of("pointers"), [&b](json_reader& p) {
          p.required("at");
          b.pointers.push_back({p.number("at", 0), p.string("to"), p.number("offset", 0), p.place()});
        });
      }
      item.finish();
      job_.buffers.push_back(std::move(b));
    }
  }

  void open_content(json_reader& r, buffer& b) {
    for (const char* other : {"file", "fill"})
      if (r.has(other))
        r.fail(*r.optional(other), r.path(), std::string("expected either 'descriptor' or '") + other + "'");
    r.required("bytes");
    b.content = buffer::fill::descriptor;
    b.source = parse_open_file(r, job_.access, false);
  }

  void symbol(json_reader& s) {
    symbol_data d;
    d.symbol = s.string("symbol");
    d.module = named_module(s);
    d.file = path_to(s, "file");
    d.bytes = job_.access.size(d.file, s.place("file"));
    d.where = s.place();
    d.client = parse_client(s, job_);
    job_.symbols.push_back(std::move(d));
  }

  void dimensions(json_reader& r, const std::string& key, std::uint32_t (&out)[3]) {
    const json_value& v = r.expect(r.required(key), kind::array, r.path_of(key));
    if (v.items.empty() || v.items.size() > 3) r.fail(v, r.path_of(key), "expected one to three numbers");
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      out[i] = static_cast<std::uint32_t>(r.to_number(v.items[i], r.path_of(key), largest_u32));
      if (out[i] == 0) r.fail(v.items[i], r.path_of(key), "got 0, expected at least 1");
    }
  }

  std::vector<operation> operations(json_reader& r, const json_value& list, const std::string& path,
                                    const operation* parent) {
    std::vector<operation> result;
    each(r, list, path, [&](json_reader& o) {
      operation op;
      op.where = o.place();
      op.stream = static_cast<std::uint32_t>(o.number("stream", parent ? parent->stream : 0, largest_u32));
      if (parent && op.stream != parent->stream) {
        refuse(o.place("stream"),
               "expected stream " + std::to_string(parent->stream) + ", that of the 'repeat' (which may name one)");
      }
      op.client = parse_client(o, job_);
      if (parent && o.has("client") && op.client != parent->client)
        refuse(o.place("client"), "expected the client of the 'repeat' (which may name one)");
      if (parent) op.client = parent->client;
      if (o.has("kernel")) {
        kernel(o, op);
      } else if (o.has("memset")) {
        memset(o, op);
      } else if (o.has("copy")) {
        copy(o, op);
      } else if (o.has("repeat")) {
        repeat(o, op);
      } else {
        refuse(op.where, o.path() + ": expected one of the keys 'kernel', 'memset', 'copy', 'repeat'" +
                             o.suggestion_among({"kernel", "memset", "copy", "repeat"}));
      }
      result.push_back(std::move(op));
    });
    return result;
  }

  void cluster(json_reader& o, cluster_request& cluster) {
    if (o.has("cluster")) {
      std::fill(cluster.blocks, cluster.blocks + 3, 1u);
      dimensions(o, "cluster", cluster.blocks);
    } else {
      o.optional("cluster");
    }
    cluster.non_portable = o.truth("non_portable_cluster");
  }

  void kernel(json_reader& o, operation& op) {
    op.what = operation::kind::kernel;
    op.position = next_position_++;
    op.kernel = o.string("kernel");
    if (op.kernel.empty()) refuse(o.place("kernel"), o.path_of("kernel") + ": expected a kernel's name");
    op.module = named_module(o);
    dimensions(o, "grid", op.grid);
    dimensions(o, "block", op.block);
    cluster(o, op.cluster);
    op.programmatic = o.truth("programmatic");
    op.shared_bytes = static_cast<std::uint32_t>(o.number("shared_bytes", 0, largest_u32));
    op.at_cycle = o.number("at_cycle", 0, latest_cycle);
    if (const json_value* v = o.optional("priority")) {
      std::int64_t priority = 0;
      if (!parse_signed(o.expect(*v, kind::number, o.path_of("priority")).text, priority) ||
          priority != static_cast<std::int32_t>(priority)) {
        o.fail(*v, o.path_of("priority"), "got " + v->text + ", expected a whole number of 32 bits");
      }
      op.priority = static_cast<std::int32_t>(priority);
    }
    if (const json_value* v = o.optional("carveout"); v && v->what != kind::null) {
      op.carveout = static_cast<std::int32_t>(o.to_number(*v, o.path_of("carveout"), 100));
    }
    if (const json_value* v = o.optional("registers_per_thread"); v && v->what != kind::null) {
      op.registers = static_cast<std::uint32_t>(o.to_number(*v, o.path_of("registers_per_thread"), 65535));
      if (op.registers == 0) o.fail(*v, o.path_of("registers_per_thread"), "got 0, expected at least 1 or null");
    }
    if (const json_value* v = o.optional("args")) {
      each(o, *v, o.path_of("args"), [&](json_reader& a) {
        op.arguments.push_back(parse_argument(a, job_));
        if (op.arguments.back().what == argument::kind::symbol) op.arguments.back().module = named_module(a);
      });
    }
  }

  // As `modules` names it; empty: none is named.
  std::string named_module(json_reader& o) {
    if (!o.has("module")) {
      o.optional("module");
      return {};
    }
    const std::string given = o.string("module");
    const std::string name = texts_.count(given) != 0 ? given : path_to(o, "module");
    if (std::find(job_.modules.begin(), job_.modules.end(), name) != job_.modules.end()) return name;
    refuse(o.place("module"), "the job has no module '" + given + "', expected one of: " + join(job_.modules, ", ") +
                                  suggestion(name, job_.modules));
  }

  const buffer& named_buffer(json_reader& r, const std::string& key) {
    const std::string name = r.string(key);
    return existing_buffer(job_, name, r.place(key));
  }

  void memset(json_reader& o, operation& op) {
    op.what = operation::kind::memset;
    op.position = next_position_++;
    const buffer& b = named_buffer(o, "memset");
    op.buffer = b.name;
    op.byte = static_cast<std::uint8_t>(o.number("byte", 0, 255));
    op.offset = o.number("offset", 0);
    op.bytes = o.number("bytes", b.bytes - std::min(op.offset, b.bytes));
  }

  void copy(json_reader& o, operation& op) {
    op.what = operation::kind::copy;
    op.position = next_position_++;
    json_reader c(o.required("copy"), file_, o.path_of("copy"));
    const buffer& from = named_buffer(c, "from");
    op.from = from.name;
    op.buffer = named_buffer(c, "to").name;
    op.from_offset = c.number("from_offset", 0);
    op.offset = c.number("to_offset", 0);
    op.bytes = c.number("bytes", from.bytes - std::min(op.from_offset, from.bytes));
    c.finish();
  }

  void repeat(json_reader& o, operation& op) {
    op.what = operation::kind::repeat;
    op.body = operations(o, o.required("repeat"), o.path_of("repeat"), &op);
    // Iterations without a kernel would take no simulated time.
    const auto runs = [](const operation& b) {
      return b.what == operation::kind::kernel || b.what == operation::kind::repeat;
    };
    if (std::none_of(op.body.begin(), op.body.end(), runs)) {
      refuse(o.place("repeat"), o.path_of("repeat") + ": expected at least one kernel");
    }
    if (o.has("while_nonzero")) {
      const buffer& b = named_buffer(o, "while_nonzero");
      if (b.bytes != 4)
        refuse(o.place("while_nonzero"),
               "buffer '" + b.name + "' has " + std::to_string(b.bytes) + " bytes, expected a flag of 4");
      op.while_nonzero = b.name;
    } else {
      o.optional("while_nonzero");
    }
    o.required("max");
    op.max = o.number("max", 1);
    if (op.max == 0) refuse(o.place("max"), o.path_of("max") + ": got 0, expected at least 1");
  }

  void add_output(json_reader& r) {
    output out;
    out.where = r.place();
    r.offer({"buffer", "symbol", "file", "descriptor", "at", "expect", "type", "rtol", "atol", "client", "module"});
    out.is_symbol = r.has("symbol");
    if (r.has("buffer") == out.is_symbol) refuse(out.where, r.path() + ": expected either 'buffer' or 'symbol'");
    out.name = r.string(out.is_symbol ? "symbol" : "buffer");
    out.client = parse_client(r, job_);
    if (out.client != 0 && !out.is_symbol)
      refuse(r.place("client"), "'client' has no meaning without 'symbol': a buffer names its own");
    if (r.has("module") && !out.is_symbol) refuse(r.place("module"), "'module' has no meaning without 'symbol'");
    out.module = named_module(r);
    if (r.has("file")) out.file = path_to(r, "file");
    if (r.has("descriptor")) {
      if (!out.file.empty()) refuse(out.where, r.path() + ": expected either 'file' or 'descriptor'");
      out.target = parse_open_file(r, job_.access, true);
    }
    if (r.has("expect")) out.expect = path_to(r, "expect");
    if (out.file.empty() && out.expect.empty() && !out.target.is_open())
      refuse(out.where, r.path() + ": expected 'file', 'expect' or both");
    for (const char* key : {"type", "rtol", "atol"}) {
      if (r.has(key) && out.expect.empty())
        refuse(r.place(key), std::string("'") + key + "' has no meaning without 'expect'");
    }
    if (r.has("type")) {
      out.type = static_cast<element_type>(r.to_choice(r.required("type"), r.path_of("type"), element_names));
    }
    out.rtol = tolerance(r, "rtol");
    out.atol = tolerance(r, "atol");
    job_.outputs.push_back(std::move(out));
  }

  double tolerance(json_reader& r, const char* key) {
    const double value = r.real(key, 0);
    if (!(value >= 0)) refuse(r.place(key), std::string(key) + ": expected a number that is not negative");
    return value;
  }

  const std::string& file_;
  std::string directory_;
  job job_;
  file_contents texts_;  // of modules that the job holds itself
  unsigned next_position_ = 0;
};

}  // namespace

job parse_job(const std::string& text, const std::string& file_name, const file_access& access) {
  const json_value root = parse_json(text, file_name);
  return parser(file_name, access).parse(root);
}

job load_job(const std::string& file_name, const file_access& access) {
  return parse_job(read_file_or_stream(file_name, "job"), file_name, access);
}

}  // namespace heddle::testbench
