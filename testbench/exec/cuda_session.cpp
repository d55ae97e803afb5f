// SPDX-License-Identifier: MIT
#include "testbench/exec/cuda_session.h"

#include <algorithm>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/message.h"
#include "heddle/gpu/host/launch_check.h"
#include "heddle/gpu/host/module_list.h"
#include "heddle/isa/program.h"
#include "heddle/occupancy/clusters.h"
#include "heddle/occupancy/occupancy.h"
#include "testbench/exec/fat_binary.h"
#include "testbench/exec/ptx_check.h"
#include "testbench/options/log.h"
#include "testbench/text/text.h"

namespace heddle::testbench {

namespace {

constexpr std::uint64_t most_text = std::uint64_t{1} << 30;  // limit of PTX in a program's memory
constexpr std::uint32_t ptx_module = 1, fat_binary = 2, ptx_to_check = 3, link_to_check = 4;  // kinds of images

/// What CUDA answers to a launch that the chip cannot run.
wire::status status_of_refused(const gpu_config& c, const isa::program& p, const launch_request& r) {
  const std::uint64_t threads = std::uint64_t{r.block[0]} * r.block[1] * r.block[2];
  const std::uint64_t most =
      std::uint64_t{p.max_threads[0]} * std::max(p.max_threads[1], 1u) * std::max(p.max_threads[2], 1u);
  if (threads == 0 || threads > c.sm.max_threads_per_block || (most != 0 && threads > most) ||
      r.grid[0] - 1 >= 0x7fffffff || r.grid[1] - 1 >= 65535 || r.grid[2] - 1 >= 65535 || r.block[2] > 64)
    return wire::invalid_configuration;
  const bool clusters = r.cluster.given() || p.required_cluster[0] != 0;
  const block_demand d = demand_of(p, static_cast<unsigned>(threads), r.dynamic_shared_bytes, r.carveout_percent);
  if (!clusters || compute(c, d).blocks_per_sm == 0) return wire::launch_out_of_resources;
  return wire::invalid_cluster_size;
}

unsigned capability_of(const gpu_config& c) { return static_cast<unsigned>(compute_capability(c)); }

}  // namespace

cuda_session::cuda_session(cuda_machine& m, pid_t process, const cuda_machine::process_share& share,
                           const program_mark& mark)
    : m_(m),
      process_(process),
      program_memory_(process),
      mark_(mark),
      shown_name_(shown_name(process)),
      program_(printable(name_of_program(process))),
      share_(share),
      default_stream_(m.queues.make_default_stream()),
      family_(std::make_shared<std::set<pid_t>>(std::set<pid_t>{process})) {}

cuda_session::~cuda_session() {
  note_leaks();
  for (const auto& [address, h] : host_memory_) end_sharing(address, h);
  for (const auto& [address, a] : allocations_) {
    m_.memory.release(address);
    m_.in_place.remove(address);
  }
  for (const std::uint32_t stream : streams_) m_.queues.drop_stream(stream);
}

void cuda_session::append(const queue_entry& op) {
  op->owner = process_;
  shown_name_ = shown_name(process_);
  m_.queues.add(op);
  m_.queues.advance_queues();
}

void cuda_session::note_leaks() {
  sanitizer* const checks = m_.chip.checks();
  for (auto& [address, a] : allocations_) {
    if (checks != nullptr && a.kind != wire::memory_kind::host && !a.noted)
      checks->leaked(address, a.bytes, program_ + (a.caller.empty() ? "" : ": " + a.caller));
    a.noted = true;
  }
}

call_answer cuda_session::handle(wire::call what, wire::reader& in, std::shared_ptr<copy_window> window) {
  call_answer out;
  try {
    switch (what) {
      case wire::call::load_image: load_image(in, out); break;
      case wire::call::unload_image: break;  // the program no longer calls its functions
      case wire::call::find_function: find_function(in, out); break;
      case wire::call::find_variable: find_variable(in, out); break;
      case wire::call::list_names: list_names(in, out); break;
      case wire::call::allocate: allocate(in, out); break;
      case wire::call::release: release(in, out); break;
      case wire::call::context_ends: note_leaks(); break;
      case wire::call::host_range: host_range(in, out); break;
      case wire::call::virtual_memory: virtual_memory(in, out); break;
      case wire::call::copy: copy(in, out, std::move(window)); break;
      case wire::call::fill: fill(in, out); break;
      case wire::call::launch: launch(in, out); break;
      case wire::call::wait: wait(in, out); break;
      case wire::call::query: query(in, out); break;
      case wire::call::make_texture: make_texture(in, out); break;
      case wire::call::occupancy: occupancy(in, out); break;
      case wire::call::active_clusters: active_clusters(in, out); break;
      case wire::call::memory_info:
        out.body.put(m_.memory.capacity() - m_.memory.taken()).put(m_.memory.capacity());
        break;
      case wire::call::function_setting: {
        const auto function = in.get<std::uint32_t>();
        const auto setting = in.get<wire::function_setting>();
        const auto value = in.get<std::int32_t>();
        if (function >= functions_.size()) {
          out.status = wire::invalid_handle;
        } else if (setting == wire::function_setting::carveout) {
          functions_[function].carveout = value;
        } else if (setting == wire::function_setting::non_portable_cluster) {
          functions_[function].non_portable_cluster = value != 0;
        } else {
          functions_[function].dynamic_shared = static_cast<std::uint32_t>(value);
        }
        break;
      }
      case wire::call::bind_texture: {
        in.get<std::uint32_t>();
        const std::string reference = in.get_text();
        if (!m_.chip.driver().bind_texture(reference, in.get<std::uint64_t>())) out.status = wire::not_found;
        break;
      }
      default: streams_and_events(what, in, out);
    }
    if (!in.good()) out.status = wire::invalid_value;
  } catch (const input_error& e) {
    message_log::error(program_ + ": " + one_line(e.what()));
    out.status = wire::invalid_value;
  }
  if (out.status != wire::success && out.status != wire::not_ready) {
    out.until.clear();
    out.then = nullptr;
  }
  return out;
}

std::string cuda_session::image_text(std::uint64_t address, call_answer& out) {
  std::uint8_t head[fat_binary_head_bytes];
  if (!program_memory_.read(address, head, sizeof head)) {
    out.status = wire::invalid_value;
    return "";
  }
  std::vector<std::uint8_t> image(fat_binary_bytes(head, sizeof head));
  if (!program_memory_.read(address, image.data(), image.size())) {
    out.status = wire::invalid_value;
    return "";
  }
  const std::vector<fat_binary_entry> entries = read_fat_binary(image.data(), image.size());
  const unsigned chip = capability_of(m_.chip.config());
  const fat_binary_entry& chosen = choose_ptx(entries, chip);
  const bool refused = !runs_ptx(chosen, chip) && std::none_of(entries.begin(), entries.end(), [&](const auto& e) {
    return !e.is_ptx && e.architecture / 10 == chip / 10 && e.architecture <= chip;  // machine code for the chip
  });
  // Once a program: its later images are those of libraries, nvcc's device library among them.
  if (refused && m_.warned.insert(program_).second)
    message_log::warning(program_ + ": its PTX is for compute_" + ptx_target(chosen) + ", " +
                         m_.chip.config().gpu.name + " is of compute capability " + std::to_string(chip / 10) + "." +
                         std::to_string(chip % 10) + ", where CUDA would refuse it; it is run all the same");
  return chosen.text;
}

void cuda_session::load_image(wire::reader& in, call_answer& out) {
  const auto what = in.get<std::uint32_t>();
  const auto count = in.get<std::uint32_t>();
  std::vector<module_text> texts;
  try {
    for (std::uint32_t k = 0; k < count && in.good() && out.status == wire::success; ++k) {
      const auto address = in.get<std::uint64_t>();
      const auto bytes = in.get<std::uint64_t>();
      std::string text;
      if (what == fat_binary) {
        text = image_text(address, out);
      } else {
        if (bytes > most_text) out.status = wire::invalid_value;
        text.resize(out.status == wire::success ? bytes : 0);
        if (!program_memory_.read(address, text.data(), text.size())) out.status = wire::invalid_value;
        text.resize(std::min(text.size(), text.find('\0')));
      }
      if (out.status == wire::success)
        texts.push_back({text, program_ + "." + std::to_string(m_.sources.size() + texts.size() + 1) + ".ptx"});
    }
    if (out.status != wire::success || texts.empty()) return;
    add_device_runtime(texts);
    if (what == ptx_to_check) return check_texts(texts, m_.chip.config());
    if (what == link_to_check || what == ptx_module) check_link(texts);
    if (what == link_to_check) return;
    for (const module_text& t : texts) m_.sources[t.file] = t.text;
    host_driver::managed_ranges managed;
    const std::vector<unsigned> handles = m_.chip.driver().load_modules(texts, &managed);
    if (what == ptx_module) check_kernels(m_.chip.driver(), handles);
    for (std::size_t k = 0; k < texts.size(); ++k) {
      targets_[handles[k]] = target_of(texts[k].text);
      constant_bytes_[handles[k]] += constant_bytes_of(m_.chip.chip().parsed_modules(), texts[k]);
    }
    out.body.put(static_cast<std::uint32_t>(modules_.size())).put(static_cast<std::uint32_t>(managed.size()));
    for (const auto& [address, bytes] : managed) {
      managed_[address] = bytes;
      out.body.put(address).put(bytes);
    }
    modules_.emplace_back();
    for (const unsigned h : handles)
      if (std::find(modules_.back().begin(), modules_.back().end(), h) == modules_.back().end())
        modules_.back().push_back(h);
  } catch (const input_error& e) {
    message_log::error(program_ + ": " + one_line(e.what()));
    out.body.put_text(e.what());
    out.status = what == fat_binary ? wire::no_kernel_image : wire::invalid_ptx;
  }
}

const isa::program& cuda_session::program_of(const function_entry& f) const {
  return m_.chip.driver().program(f.module, f.name);
}

void cuda_session::find_function(wire::reader& in, call_answer& out) {
  const auto module = in.get<std::uint32_t>();
  const std::string name = in.get_text();
  if (module >= modules_.size()) {
    out.status = wire::invalid_handle;
    return;
  }
  function_entry f;
  f.name = name;
  bool known = false;
  for (const unsigned handle : modules_[module]) {
    const std::vector<std::string> kernels = m_.chip.driver().modules().names(handle).kernels;
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) continue;
    f.module = handle;
    known = true;
  }
  if (!known) {
    out.status = wire::not_found;
    return;
  }
  const isa::program* p = nullptr;
  try {
    p = &program_of(f);
  } catch (const input_error& e) {
    message_log::error(program_ + ": " + one_line(e.what()));
    out.status = wire::not_supported;
    return;
  }
  wire::function_info info{};
  info.registers = p->registers;
  info.shared_bytes = p->shared_bytes;
  info.local_bytes = p->local_bytes;
  std::copy(std::begin(p->required_cluster), std::end(p->required_cluster), std::begin(info.required_cluster));
  info.needs_cluster = p->needs_cluster;
  info.architecture = capability_of(m_.chip.config());
  info.ptx_architecture = targets_[f.module];
  info.constant_bytes = static_cast<std::uint32_t>(constant_bytes_[f.module]);
  std::uint32_t most = m_.chip.config().sm.max_threads_per_block;
  for (const auto& limit : {p->max_threads, p->required_threads}) {
    const std::uint64_t threads = std::uint64_t{limit[0]} * std::max(limit[1], 1u) * std::max(limit[2], 1u);
    if (threads != 0) most = std::min<std::uint32_t>(most, static_cast<std::uint32_t>(threads));
  }
  block_demand d = demand_of(*p, most, 0, f.carveout);
  while (d.threads > 32 && compute(m_.chip.config(), d).blocks_per_sm == 0)
    d.threads -= d.threads % 32 == 0 ? 32 : d.threads % 32;
  info.max_threads = d.threads;
  out.body.put(static_cast<std::uint32_t>(functions_.size()))
      .put(info)
      .put(static_cast<std::uint32_t>(p->parameters.size()));
  for (const isa::kernel_parameter& q : p->parameters) out.body.put(q.offset).put(q.size);
  functions_.push_back(f);
}

void cuda_session::find_variable(wire::reader& in, call_answer& out) {
  const auto module = in.get<std::uint32_t>();
  const std::string name = in.get_text();
  if (module >= modules_.size()) {
    out.status = wire::invalid_handle;
    return;
  }
  for (const unsigned handle : modules_[module]) {
    try {
      const symbol_location where = m_.chip.driver().symbol(name, handle);
      out.body.put(where.address).put(where.size);
      return;
    } catch (const input_error&) {  // another part may be valid
    }
  }
  out.status = wire::not_found;
}

void cuda_session::list_names(wire::reader& in, call_answer& out) {
  const auto module = in.get<std::uint32_t>();
  if (module >= modules_.size()) {
    out.status = wire::invalid_handle;
    return;
  }
  for (const auto names : {&module_names::kernels, &module_names::variables}) {
    std::vector<std::string> all;
    for (const unsigned handle : modules_[module]) {
      const module_names own = m_.chip.driver().modules().names(handle);
      all.insert(all.end(), (own.*names).begin(), (own.*names).end());
    }
    out.body.put(static_cast<std::uint32_t>(all.size()));
    for (const std::string& name : all) out.body.put_text(name);
  }
}

void cuda_session::launch(wire::reader& in, call_answer& out) {
  const auto head = in.get<wire::launch_head>();
  const std::uint8_t* parameters = in.take(head.parameter_bytes);
  if (head.function >= functions_.size() || parameters == nullptr) {
    out.status = wire::invalid_handle;
    return;
  }
  const std::uint32_t stream = stream_of(head.stream, out);
  if (out.status != wire::success) return;
  const function_entry& f = functions_[head.function];
  auto op = std::make_shared<queue_operation>();
  op->what = queue_operation::kind::kernel;
  op->stream = stream;
  launch_request& r = op->request;
  r.module = f.module;
  r.kernel = f.name;
  std::copy(std::begin(head.grid), std::end(head.grid), r.grid);
  std::copy(std::begin(head.block), std::end(head.block), r.block);
  std::copy(std::begin(head.cluster), std::end(head.cluster), r.cluster.blocks);
  r.cluster.non_portable = f.non_portable_cluster;
  r.programmatic = head.programmatic != 0;
  r.dynamic_shared_bytes = head.dynamic_shared_bytes;
  r.stream = stream;
  if (client_ == 0) client_ = m_.join(program_, share_);
  r.client = client_;
  if (m_.processes[client_ - 1].limited) r.client_sms = m_.processes[client_ - 1].sms;
  r.priority = -m_.queues.priority(stream);  // in CUDA smaller numbers have higher priority
  r.carveout_percent = f.carveout;
  r.parameters.assign(parameters, parameters + head.parameter_bytes);
  const gpu_config& c = m_.chip.config();
  const std::uint64_t shared = std::uint64_t{head.dynamic_shared_bytes} + program_of(f).shared_bytes;
  if (shared > c.shared_memory.max_per_block_bytes && head.dynamic_shared_bytes > f.dynamic_shared) {
    out.status = head.cooperative != 0 ? wire::cooperative_too_large : wire::invalid_value;
    return;
  }
  try {
    m_.chip.driver().check(r);
  } catch (const input_error& e) {
    message_log::error(program_ + ": " + one_line(e.what()));
    out.status = status_of_refused(c, program_of(f), r);
    return;
  }
  if (head.cooperative != 0) {
    const block_demand d =
        demand_of(program_of(f), head.block[0] * head.block[1] * head.block[2], head.dynamic_shared_bytes, f.carveout);
    if (std::uint64_t{head.grid[0]} * head.grid[1] * head.grid[2] >
        std::uint64_t{compute(c, d).blocks_per_sm} * m_.processes[client_ - 1].sms) {
      out.status = wire::cooperative_too_large;
      return;
    }
  }
  if (head.only_checked != 0) return;
  op->call = m_.launch_calls++;
  if (!m_.chosen.in_detail(op->call, r.kernel)) op->what = queue_operation::kind::functional;
  append(op);
}

void cuda_session::occupancy(wire::reader& in, call_answer& out) {
  const auto function = in.get<std::uint32_t>();
  const auto threads = in.get<std::uint32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  if (function >= functions_.size() || threads == 0) {
    out.status = wire::invalid_value;
    return;
  }
  const function_entry& f = functions_[function];
  const block_demand d = demand_of(program_of(f), threads, dynamic, f.carveout);
  out.body.put(static_cast<std::uint32_t>(compute(m_.chip.config(), d).blocks_per_sm));
}

void cuda_session::active_clusters(wire::reader& in, call_answer& out) {
  const auto function = in.get<std::uint32_t>();
  const auto threads = in.get<std::uint32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  const auto blocks = in.get<std::uint32_t>();
  if (function >= functions_.size() || threads == 0 || blocks == 0) {
    out.status = wire::invalid_value;
    return;
  }
  const function_entry& f = functions_[function];
  const unsigned per_sm =
      compute(m_.chip.config(), demand_of(program_of(f), threads, dynamic, f.carveout)).blocks_per_sm;
  out.body.put(static_cast<std::uint32_t>(max_active_clusters(m_.chip.config(), per_sm, blocks, {share_.sms, 0})));
}

void cuda_session::make_texture(wire::reader& in, call_answer& out) {
  const auto r = in.get<wire::texture_request>();
  out.body.put(m_.texture(r));
}

}  // namespace heddle::testbench
