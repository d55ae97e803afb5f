// SPDX-License-Identifier: MIT
#include "testbench/run/device_job.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>

#include "heddle/config/suggestion.h"
#include "heddle/frontend/ptx/kernel_list.h"
#include "heddle/frontend/ptx/syntax/link.h"
#include "heddle/frontend/sass_trace/replay/trace_file.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/isa/program.h"
#include "heddle/isa/tensor_map.h"
#include "testbench/job/arguments.h"
#include "testbench/job/buffer_data.h"
#include "testbench/job/slices.h"
#include "testbench/options/log.h"
#include "testbench/record/recorded_machine.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t bytes_at_once = 1u << 18;  // stay in the processor's cache

std::string describe(const isa::program& program) {
  std::vector<std::string> parts;
  for (const auto& p : program.parameters) parts.push_back(p.name + ": " + std::to_string(p.size) + " bytes");
  return parts.empty() ? "none" : join(parts, ", ");
}

// True if the bits of an argument are reinterpreted: an integer or address as a floating-point number, or the reverse.
// Parameters of type .bNN and hexadecimal arguments do not say what they hold, so they never contradict.
bool contradicts(const argument& a, isa::dtype type) {
  using isa::dtype;
  const bool is_integer = type >= dtype::u8 && type <= dtype::s64;
  if (a.what == argument::kind::tensor_map) return false;
  if (a.what != argument::kind::bytes) return isa::is_float(type);
  const auto& scalars = scalar_names();
  if (std::find(scalars.begin(), scalars.end(), a.text) == scalars.end()) return false;
  return a.text[0] == 'f' ? is_integer : isa::is_float(type);
}

// The processes that have modules: all clients, and that of what names no client.
std::set<unsigned> processes_of(const job& j) {
  std::set<unsigned> all;
  if (j.clients.empty()) all.insert(0);
  for (unsigned n = 1; n <= j.clients.size(); ++n) all.insert(n);
  for (const operation& op : j.operations) all.insert(op.client);
  for (const symbol_data& s : j.symbols) all.insert(s.client);
  for (const output& o : j.outputs)
    if (o.is_symbol) all.insert(o.client);
  return all;
}

}  // namespace

device_job::device_job(const job& j, host_driver& driver, const gpu_config& config)
    : job_(j), driver_(driver), config_(config) {
  const auto of_a_run = [](const operation& op) { return op.recording && op.recording->traits().own; };
  if (std::any_of(j.operations.begin(), j.operations.end(), of_a_run)) machine_ = recorded_machine(config);
  check_clients(config);
  for (const unsigned client : processes_of(j)) load_modules(client);
  for (const buffer& b : job_.buffers) {
    place_in(driver_, partition_of(j, b.client));
    addresses_[b.name] = driver_.allocate(b.bytes);
  }
  place_in(driver_, 0);
  for (const texture& t : job_.textures) {
    simt::texture_descriptor d = t.descriptor;
    d.address = addresses_.at(t.buffer);
    try {
      handles_[t.name] = driver_.create_texture(d);
      driver_.bind_texture(t.name, handles_[t.name]);
    } catch (const input_error& e) {
      refuse(t.where, e.what());
    }
  }
  check_symbols();
  prepare(job_.operations);
  check_preemptions();
  fill_buffers();
}

void device_job::check_clients(const gpu_config& config) const {
  for (unsigned n = 0; n < job_.clients.size(); ++n) {
    const gpu_client& c = job_.clients[n];
    if (c.sm_percent == 0) continue;
    // NVIDIA, Multi-Process Service, "Volta MPS Execution Resource Provisioning".
    if (compute_capability(config) < 70)
      refuse(c.where, "client '" + c.name + "': 'sm_percent' needs compute capability 7.0, " + config.gpu.name +
                          " has " + compute_capability_text(config));
  }
}

void device_job::load_modules(unsigned client) {
  std::vector<module_text> texts;
  for (const std::string& file : job_.modules) texts.push_back({content_of(job_, file, job_.modules_where), file});
  place_in(driver_, partition_of(job_, client));
  std::vector<unsigned>& modules = modules_[client];
  modules = driver_.load_modules(texts);
  // Linked modules form one source with continuous line numbers.
  std::map<std::string, std::vector<ptx::module_source>> parts;
  for (std::size_t k = 0; k < texts.size(); ++k)
    parts[driver_.modules().file_of(modules[k])].push_back({texts[k].text, texts[k].file});
  for (const auto& [file, list] : parts) sources_[file] = list.size() == 1 ? list.front().text : ptx::joined_text(list);
}

bool device_job::has_narrow_addresses() const {
  // Those of all clients are the same.
  const std::vector<unsigned>& modules = modules_.begin()->second;
  return !modules.empty() && std::all_of(modules.begin(), modules.end(),
                                         [&](unsigned m) { return driver_.modules().address_size(m) == 32; });
}

const std::string* device_job::source(const std::string& file) const {
  const auto found = sources_.find(file);
  return found != sources_.end() ? &found->second : nullptr;
}

unsigned device_job::number_of(const std::string& module, unsigned client) const {
  const auto named = std::find(job_.modules.begin(), job_.modules.end(), module);
  return modules_.at(client)[static_cast<std::size_t>(named - job_.modules.begin())];
}

bool device_job::has_variable(unsigned module, const std::string& name) const {
  const std::vector<std::string> variables = driver_.modules().names(module).variables;
  return std::find(variables.begin(), variables.end(), name) != variables.end();
}

symbol_location device_job::symbol(const std::string& name, const std::string& module, unsigned client,
                                   const place& where) const {
  try {
    if (!module.empty()) return driver_.symbol(name, number_of(module, client));
    std::set<unsigned> having;  // linked modules are one
    for (const unsigned m : modules_.at(client))
      if (has_variable(m, name)) having.insert(m);
    if (having.size() > 1)
      throw input_error("module variable '" + name + "' is in '" + driver_.modules().file_of(*having.begin()) +
                        "' and in '" + driver_.modules().file_of(*std::next(having.begin())) +
                        "', expected a 'module' beside 'symbol'");
    if (!having.empty()) return driver_.symbol(name, *having.begin());
    if (job_.clients.empty()) return driver_.symbol(name);  // its message
    throw input_error("no module variable '" + name + "' in the job's modules");
  } catch (const input_error& e) {
    refuse(where, e.what());
  }
}

symbol_location device_job::symbol(const argument& a, unsigned module_of_kernel, unsigned client) const {
  const bool own = a.module.empty() && has_variable(module_of_kernel, a.name);
  return own ? driver_.symbol(a.name, module_of_kernel) : symbol(a.name, a.module, client, a.where);
}

void device_job::check_symbols() {
  for (const symbol_data& s : job_.symbols) {
    const symbol_location location = symbol(s.symbol, s.module, s.client, s.where);
    if (location.size != s.bytes) {
      refuse(s.where, "'" + s.file + "' has " + std::to_string(s.bytes) + " bytes, symbol '" + s.symbol + "' has " +
                          std::to_string(location.size));
    }
  }
  for (const output& o : job_.outputs) {
    if (!o.is_symbol) continue;
    const symbol_location location = symbol(o.name, o.module, o.client, o.where);
    if (o.expect.empty()) continue;
    const std::uint64_t size = size_of(job_, o.expect, o.where);
    if (location.size != size) {
      refuse(o.where, "'" + o.expect + "' has " + std::to_string(size) + " bytes, expected " +
                          std::to_string(location.size) + ", the size of symbol '" + o.name + "'");
    }
  }
}

void device_job::check_preemptions() {
  for (const preemption& p : job_.preemptions) {
    try {
      check_preemption(config_, p.sms, p.mode);
      if (p.mode == preemption_mode::flush)
        for (const auto& [op, request] : requests_) driver_.check_flush(request);
    } catch (const input_error& e) {
      refuse(p.where, e.what());
    }
  }
}

void device_job::prepare(const std::vector<operation>& operations) {
  for (const operation& op : operations) {
    if (op.what == operation::kind::repeat) prepare(op.body);
    if (op.what != operation::kind::kernel) continue;
    if (op.recording) check_recorded(op);
    else requests_.emplace(&op, make_request(op));
  }
}

unsigned device_job::module_of(const operation& op, const std::string& kernel) const {
  const std::vector<unsigned>& modules = modules_.at(op.client);
  const auto has_it = [&](unsigned m) {
    const std::vector<std::string> kernels = driver_.modules().names(m).kernels;
    return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
  };
  if (!op.module.empty()) {
    const unsigned m = number_of(op.module, op.client);
    if (has_it(m)) return m;
    const std::vector<std::string> kernels = driver_.modules().names(m).kernels;
    throw input_error("no kernel '" + kernel + "' in module '" + op.module + "', expected one of: " +
                      (kernels.empty() ? "(none)" : ptx::kernel_list(kernels)) + suggestion(kernel, kernels));
  }
  if (!job_.clients.empty())
    if (const auto m = std::find_if(modules.begin(), modules.end(), has_it); m != modules.end()) return *m;
  return driver_.modules().module_of(kernel);  // or its message
}

launch_request device_job::make_request(const operation& op) {
  launch_request r;
  r.kernel = op.kernel;
  try {
    if (r.kernel.empty()) {
      const auto names = driver_.modules().names(modules_.at(op.client).at(0)).kernels;
      if (names.size() != 1) {
        throw input_error("expected FILE.ptx:ENTRY, since the module has " +
                          (names.empty() ? "no kernel" : "the kernels " + ptx::kernel_list(names)));
      }
      r.kernel = names[0];
    }
    r.module = module_of(op, r.kernel);
  } catch (const input_error& e) {
    refuse(op.where, e.what());
  }
  // Error messages of the lowering name the position in the PTX file.
  const isa::program& program = driver_.program(r.module, r.kernel, op.registers);
  programs_.push_back(&program);
  std::copy(std::begin(op.grid), std::end(op.grid), std::begin(r.grid));
  std::copy(std::begin(op.block), std::end(op.block), std::begin(r.block));
  r.cluster = op.cluster;
  r.programmatic = op.programmatic;
  r.dynamic_shared_bytes = op.shared_bytes;
  r.stream = op.stream;
  r.client = op.client;
  r.partition = partition_of(job_, op.client);
  if (op.client != 0 && job_.clients[op.client - 1].sm_percent != 0)
    r.client_sms = sms_of_client(job_, op.client, config_);
  r.priority = op.priority;
  r.carveout_percent = op.carveout;
  r.max_registers = op.registers;
  r.parameters = parameters_of(op, program, r);
  try {
    driver_.check(r);
  } catch (const input_error& e) {
    refuse(op.where, e.what());
  }
  return r;
}

void device_job::check_recorded(const operation& op) const {
  const sass_trace::trace_traits& t = op.recording->traits();
  try {
    check_launch(config_, t.program, t.grid, t.block, t.shared_bytes - t.program.shared_bytes, t.carveout);
  } catch (const input_error& e) {
    refuse(op.where, e.what());
  }
}

bool device_job::is_recorded_elsewhere(const operation& op) const {
  return op.recording && op.recording->traits().own && op.recording->traits().machine != machine_;
}

launch_request device_job::request(const operation& op) const {
  if (!op.recording) return requests_.at(&op);
  launch_request r;
  r.recording = op.recording->open();
  r.kernel = op.recording->kernel();
  r.stream = op.stream;
  r.carveout_percent = op.recording->traits().carveout;
  r.priority = op.recording->traits().priority;
  return r;
}

const std::string& device_job::kernel(const operation& op) const {
  return op.recording ? op.recording->kernel() : requests_.at(&op).kernel;
}

std::vector<std::uint8_t> device_job::parameters_of(const operation& op, const isa::program& program,
                                                    const launch_request& r) {
  const auto& expected = program.parameters;
  const std::vector<isa::dtype> types = driver_.modules().parameter_types(r.module, r.kernel);
  if (op.arguments.size() != expected.size()) {
    refuse(op.where, "kernel '" + program.kernel + "' takes " + std::to_string(expected.size()) +
                         (expected.size() == 1 ? " argument (" : " arguments (") + describe(program) + "), got " +
                         std::to_string(op.arguments.size()));
  }
  std::vector<std::uint8_t> area(program.parameter_bytes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const argument& a = op.arguments[i];
    const isa::kernel_parameter& p = expected[i];
    const bool pointer = a.what == argument::kind::buffer || a.what == argument::kind::symbol;
    const bool narrow = pointer && program.narrow_addresses && p.size == 4;
    if (a.size() != p.size && !narrow) {
      refuse(a.where, "argument " + std::to_string(i + 1) + " of kernel '" + program.kernel + "' ('" + p.name +
                          "') has " + std::to_string(p.size) + " bytes, got " + std::to_string(a.size()) + " bytes (" +
                          a.text + ")");
    }
    if (i < types.size() && contradicts(a, types[i]) && doubtful_.emplace(program.kernel, i).second) {
      message_log::warning(a.where + ": argument " + std::to_string(i + 1) + " of kernel '" + program.kernel + "' ('" +
                           p.name + "') is ." + isa::name_of(types[i]) + " in the PTX, got " + a.text +
                           ": its bits are passed as they are");
    }
    if (a.what == argument::kind::bytes || a.what == argument::kind::tensor_map) {
      std::copy(a.bytes.begin(), a.bytes.end(), area.begin() + p.offset);
      if (a.what == argument::kind::tensor_map) {
        const std::uint64_t tensor = addresses_.at(a.name) + a.offset;
        std::memcpy(area.data() + p.offset + offsetof(isa::tensor_map, address), &tensor, sizeof tensor);
      }
      continue;
    }
    std::uint64_t address = 0;
    if (a.what == argument::kind::buffer) {
      address = addresses_.at(a.name) + a.offset;
    } else if (a.what == argument::kind::texture) {
      address = handles_.at(a.name);
    } else {
      address = symbol(a, r.module, op.client).address;
    }
    if (narrow && address >> 32 != 0)
      refuse(a.where, "argument " + std::to_string(i + 1) + " of kernel '" + program.kernel +
                          "' has a 32-bit address, and '" + a.name + "' lies above it");
    for (unsigned k = 0; k < p.size; ++k) area[p.offset + k] = static_cast<std::uint8_t>(address >> (8 * k));
  }
  return area;
}

void device_job::fill_buffers() {
  for (const symbol_data& s : job_.symbols) {
    const std::string content = content_of(job_, s.file, s.where);
    if (content.size() != s.bytes) refuse(s.where, "'" + s.file + "' changed its size while it was in use");
    driver_.write(symbol(s.symbol, s.module, s.client, s.where).address, content.data(), content.size());
  }
  for (const buffer& b : job_.buffers) fill(b);
}

void device_job::fill(const buffer& b) {
  const std::uint64_t address = addresses_.at(b.name);
  if (b.content == buffer::fill::file) {
    const std::string content = content_of(job_, b.file, b.where);
    if (content.size() != b.bytes) refuse(b.where, "'" + b.file + "' changed its size while it was in use");
    driver_.write(address, content.data(), content.size());
  } else if (b.content == buffer::fill::zero) {
    driver_.fill(address, 0, b.bytes);
  } else if (b.content == buffer::fill::descriptor) {
    std::vector<char> data(static_cast<std::size_t>(std::min(bytes_at_once, b.bytes)));
    for (std::uint64_t at = 0; at < b.bytes; at += bytes_at_once) {
      const auto count = static_cast<std::size_t>(std::min(bytes_at_once, b.bytes - at));
      read_part(b.source, at, data.data(), count, b.where);
      driver_.write(address + at, data.data(), count);
    }
  } else {
    for (std::uint64_t at = 0; at < b.bytes; at += bytes_at_once) {
      const auto data = fill_bytes(b, at, std::min(bytes_at_once, b.bytes - at));
      driver_.write(address + at, data.data(), data.size());
    }
  }
  const unsigned width = has_narrow_addresses() ? 4 : 8;
  std::map<std::uint64_t, std::uint64_t> written;  // first byte of each address, and the byte after it
  for (const pointer_patch& p : b.pointers) {
    const std::uint64_t target = addresses_.at(p.to) + p.offset;
    if (width == 4 && target >> 32 != 0)
      refuse(p.where, "the address of '" + p.to + "' does not fit 4 bytes, which addresses of the job's modules have");
    if (p.at + width > b.bytes)
      refuse(p.where, "bytes " + std::to_string(p.at) + " to " + std::to_string(p.at) + "+" + std::to_string(width) +
                          " are outside of buffer '" + b.name + "', which has " + std::to_string(b.bytes) + " bytes");
    const auto next = written.lower_bound(p.at);
    const bool overlaps = (next != written.end() && next->first < p.at + width) ||
                          (next != written.begin() && std::prev(next)->second > p.at);
    if (overlaps)
      refuse(p.where, "the address at byte " + std::to_string(p.at) + " of buffer '" + b.name +
                          "' overlaps another one of " + std::to_string(width) + " bytes");
    written.emplace(p.at, p.at + width);
    std::uint8_t bytes[8];
    for (unsigned k = 0; k < width; ++k) bytes[k] = static_cast<std::uint8_t>(target >> (8 * k));
    driver_.write(address + p.at, bytes, width);
  }
}

std::uint64_t device_job::size(const output& o) const {
  return o.is_symbol ? symbol(o.name, o.module, o.client, o.where).size : find_buffer(job_, o.name)->bytes;
}

void device_job::read(const output& o, std::uint64_t offset, void* data, std::size_t bytes) const {
  const std::uint64_t address =
      o.is_symbol ? symbol(o.name, o.module, o.client, o.where).address : addresses_.at(o.name);
  driver_.read(address + offset, data, bytes);
}

}  // namespace heddle::testbench
