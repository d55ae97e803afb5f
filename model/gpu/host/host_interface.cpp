// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/host_interface.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "heddle/config/error.h"
#include "heddle/gpu/host/runtime/copied_services.h"
#include "heddle/sanitize/sanitizer.h"
#include "heddle/simt/warp/print_format.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/protocol/gpu_request.h"

namespace heddle {

namespace {
constexpr std::uint64_t register_space = host_register::print + host_register::print_size;
constexpr std::size_t much_text = std::size_t{1} << 20;          // the default size of CUDA's buffer
constexpr std::uint64_t identity_value = 0x0100'454c'4444'4548;  // "HEDDLE\0\1"

bool writable(std::uint64_t address) {
  for (const host_register_row& r : host_register_rows)
    if (r.offset == address) return r.access != register_access::read_only && r.access != register_access::read_takes;
  return false;
}
bool takes_completion(std::uint64_t address) {
  return address == host_register::completion_pop || address == host_register::completion_take;
}
}  // namespace

host_interface::host_interface(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config)
    : sc_module(name),
      memory_socket("memory_socket"),
      config_(config),
      modules_(config_),
      memory_(memory_socket, modules_),
      clock_(clock),
      context_area_(std::uint64_t{config.context.area_mib} << 20),
      functional_executor_(config, memory_.functional(), memory_.ranges(), services_),
      launch_builder_(config_, modules_, memory_) {
  HEDDLE_HAS_PROCESS(host_interface);
  SC_METHOD(drive_irq);
  sensitive << irq_changed_;
  dont_initialize();
  SC_METHOD(report_fault);
  sensitive << details_due_;
  dont_initialize();
}

void host_interface::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
  p.set_dmi_allowed(false);
  if (!p.is_read() && !p.is_write()) return p.set_response_status(tlm::TLM_OK_RESPONSE);
  const byte_transfer t(p);
  tlm::tlm_response_status status = t.check();
  if (status == tlm::TLM_OK_RESPONSE) {
    if (p.get_address() >= isa::heap_base) {
      t.each_run([&](std::uint64_t address, std::uint8_t* data, unsigned bytes) {
        return memory_.access(p.get_command(), address, data, bytes, &status) == bytes;
      });
    } else if (p.is_read()) {
      status = read_registers(t, true);
    } else {
      const recorded_kernel* recorded = p.get_extension<recorded_kernel>();
      recorded_ = recorded != nullptr ? recorded->kernel : nullptr;
      status = write_registers(t);
    }
  }
  p.set_response_status(status);
}

unsigned host_interface::transport_dbg(tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address();
  if (p.get_data_ptr() == nullptr) return 0;
  if (address >= isa::heap_base) return memory_.access(p.get_command(), address, p.get_data_ptr(), p.get_data_length());
  if (!p.is_read() || address >= register_space) return 0;
  const auto n = static_cast<unsigned>(std::min<std::uint64_t>(p.get_data_length(), register_space - address));
  read_registers(byte_transfer(address, p.get_data_ptr(), n), false);
  return n;
}

// The lowest byte of a register carries out the write, with the other bytes written before; a narrow host writes it
// last. If one byte is in no register that can be written, nothing is.
tlm::tlm_response_status host_interface::write_registers(const byte_transfer& t) {
  if (!t.each_word([](const byte_transfer::word& w) { return writable(w.address); }))
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  t.each_word([this](const byte_transfer::word& w) {
    std::uint64_t value = early_register_ == w.address ? early_bytes_ : 0;
    for (unsigned k = 0; k < w.count; ++k) {
      const unsigned lane = w.first + k;
      if ((w.lanes >> lane & 1) == 0) continue;
      value = (value & ~(std::uint64_t{0xff} << lane * 8)) | std::uint64_t{w.data[k]} << lane * 8;
    }
    const bool carried_out = (w.lanes & 1) != 0;
    early_register_ = carried_out ? no_register : w.address;
    early_bytes_ = value;
    if (carried_out) write_register(w.address, value);
    return true;
  });
  return tlm::TLM_OK_RESPONSE;
}

// `takes`: a read that begins at its lowest byte takes the oldest completion from the queue. A wider beat that only
// covers the register takes nothing.
tlm::tlm_response_status host_interface::read_registers(const byte_transfer& t, bool takes) {
  if (!t.each_word([](const byte_transfer::word& w) { return w.address < register_space; }))
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  t.each_word([&](const byte_transfer::word& w) {
    std::uint64_t value = 0;
    if (w.address >= host_register::message) value = text_at(w.address);
    else if (takes && takes_completion(w.address) && w.begins && (w.lanes & 1) != 0) value = pop_completion();
    else value = read_register(w.address);
    for (unsigned k = 0; k < w.count; ++k)
      if ((w.lanes >> (w.first + k) & 1) != 0) w.data[k] = static_cast<std::uint8_t>(value >> (w.first + k) * 8);
    return true;
  });
  return tlm::TLM_OK_RESPONSE;
}

// Eight bytes of the message or of the printed text, with zeros behind its end.
std::uint64_t host_interface::text_at(std::uint64_t address) const {
  const bool prints = address >= host_register::print;
  const std::string& text = prints ? printed_.first() : message_;
  const std::uint64_t at = address - (prints ? host_register::print : host_register::message);
  std::uint64_t value = 0;
  if (at < text.size()) std::memcpy(&value, text.data() + at, std::min<std::size_t>(sizeof value, text.size() - at));
  return value;
}

std::uint64_t host_interface::pop_completion() {
  const std::uint64_t value = read_register(host_register::completion_take);
  if (value != 0) completion_queue_.pop_front();
  return value;
}

std::uint64_t host_interface::read_register(std::uint64_t address) {
  using namespace host_register;
  switch (address) {
    case identity: return identity_value;
    case status: {
      std::uint64_t s = (busy() ? host_status::busy : 0) | (flushing_ ? host_status::flushing : 0) |
                        (in_reset() ? host_status::resetting : 0);
      if (faulted() && !in_reset()) {
        message_ = fault_;
        return s | host_status::fault;
      }
      std::string why;
      if ((busy() || resetting_) && supervisor_ != nullptr && supervisor_->stuck(why)) {
        message_ = why;
        s |= host_status::stuck;
      }
      return s;
    }
    case result: return result_;
    case error: return error_;
    case message_bytes: return message_.size();
    case completions: return completed_;
    case completion_pop:
    case completion_take: return completion_queue_.empty() ? 0 : std::uint64_t{completion_queue_.front()} + 1;
    case interrupt_enable: return interrupt_enable_;
    case interrupt_pending: return interrupt_pending_;
    case map_base: return map_base_;
    case map_bytes: return map_bytes_;
    case print_bytes: return printed_.first().size();
    case print_client: return printed_.client();
    case cycle: return clock_.cycle();
    case resets: return resets_;
    case host_register::context_area: return context_area_;
    case host_register::client: return launch_builder_.client();
    default: return 0;
  }
}

void host_interface::write_register(std::uint64_t address, std::uint64_t value) {
  using namespace host_register;
  switch (address) {
    case host_register::reset:
      attempt([&] {
        if (supervisor_ != nullptr) supervisor_->reset();
      });
      break;
    case command: attempt([&] { execute(value); }); break;
    case interrupt_enable:
      interrupt_enable_ = value;
      raise(0);
      break;
    case interrupt_pending:
      interrupt_pending_ &= ~value;
      raise(0);
      break;
    case host_register::heap_base: services_.set_heap_base(value); break;
    case heap_bytes: services_.place_heap(client_register(launch_builder_.client()).client, value); break;
    case host_register::grid_workspace: launch_builder_.set_grid_workspace(value); break;
    case print_pop: printed_.drop(value); break;
    case host_register::context_area: attempt([&] { move_context_area(value); }); break;
    case host_register::flush_caches: attempt([&] { flush_caches(); }); break;
    case host_register::client: launch_builder_.set_client(value); break;
    case map_base: map_base_ = value; break;
    case map_bytes: map_bytes_ = value; break;
    case map_command:
      attempt([&] {
        refuse_during_reset();
        memory_.change_map(value, map_base_, map_bytes_);
      });
      break;
    default: break;
  }
}

void host_interface::raise(std::uint64_t cause) {
  interrupt_pending_ |= cause;
  irq_fell_ = irq_fell_ || (interrupt_pending_ & interrupt_enable_) == 0;
  irq_changed_.notify(sc_core::SC_ZERO_TIME);
}

// The line is driven from one process for all causes, since sc_signal allows only one writer.
void host_interface::drive_irq() {
  if (irq == nullptr || irq->size() == 0) return;
  const bool active = (interrupt_pending_ & interrupt_enable_) != 0;
  // A cause that arrives in the delta cycle in which the last one was cleared gets an edge of its own, for
  // edge-triggered hosts.
  (*irq)->write(active && !irq_fell_);
  if (active && irq_fell_) irq_changed_.notify(sc_core::SC_ZERO_TIME);
  irq_fell_ = false;
}

// Carries out a command at once. If it is refused, the message registers hold the reason.
template <class Action>
void host_interface::attempt(Action&& action) {
  error_ = 0;
  message_.clear();
  try {
    action();
  } catch (const input_error& e) {
    error_ = 1;
    message_ = e.what();
  } catch (const std::bad_alloc&) {
    error_ = 1;
    message_ = "more memory is requested than there is";
  } catch (const std::length_error&) {
    error_ = 1;
    message_ = "more memory is requested than can be";
  }
}

void host_interface::flush_caches() {
  refuse_during_reset();
  if (busy() || flushing_)
    throw input_error("caches cannot be flushed while launches are pending or running, or caches are being flushed");
  memory_.functional().close();
  flushing_ = true;
  if (supervisor_ != nullptr) supervisor_->flush_caches();
  else caches_flushed();
}

void host_interface::caches_flushed() {
  flushing_ = false;
  raise(host_interrupt::flushed);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::grid_finished(const grid_record& grid, cycle_t) {
  const std::uint32_t launch = grid.launch->launch_id;
  if (supervisor_ != nullptr) supervisor_->grid_ended(launch);
  else report_end(launch);
}

void host_interface::report_end(std::uint32_t launch) {
  if (resetting_) return;
  ++completed_;
  completion_queue_.push_back(launch);
  raise(host_interrupt::completion);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

// The host takes the text when a grid has ended, as CUDA does; earlier only if much is waiting.
void host_interface::printed(std::uint32_t client, const std::string& text) {
  const bool little = printed_.bytes() < much_text;
  printed_.add(client, text);
  if (little && printed_.bytes() >= much_text) raise(host_interrupt::print);
}

void host_interface::program_fault_with(const std::string& text, const fault_details& details) {
  if (failing_ || resetting_) return;
  failing_ = true;
  failure_ = text;
  details_ = details;
  if (supervisor_ != nullptr) supervisor_->program_failed(failure_);
  // At this instant the memory clocks' edges may come before or after the core's. The text is read after both.
  if (details_.parts.empty()) report_fault();
  else details_due_.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::report_fault() {
  const simt::lane_reader read = [this](std::uint64_t address, void* data, unsigned bytes) {
    if (!memory_.inspect(address, data, bytes)) throw program_error("there is no memory");
  };
  try {
    std::string more;
    for (const fault_details::part& p : details_.parts)
      more += p.text.empty() ? simt::read_string(read, p.address) : p.text;
    failure_.insert(details_.at, more);
  } catch (const program_error&) {
    // Text that cannot be read is left out.
  }
  fault_ = failure_;
  raise(host_interrupt::fault);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::report_stuck() {
  raise(host_interrupt::fault);
  completion_event.notify(sc_core::SC_ZERO_TIME);
}

void host_interface::trace(sc_core::sc_trace_file* file) const {
  const std::string base(name());
  sc_core::sc_trace(file, launches_, base + ".launches");
  sc_core::sc_trace(file, completed_, base + ".completed");
}

void host_interface::sanitize(sanitizer& sanitizer) {
  sanitizer_ = &sanitizer;
  services_.sanitize(sanitizer);
  memory_.sanitize(sanitizer);
  functional_executor_.watch(&sanitizer.watcher());
}

// All that the launch depends on has ended, and its stores are in memory; unless it begins early.
void host_interface::grid_resident(const grid_record& grid) {
  blocks_.hand_over(grid);
  if (sanitizer_ == nullptr || grid.launch->recorded()) return;
  copied_services services(*sanitizer_, services_.heap_of(*grid.launch));
  sanitizer_->check(*grid.launch, memory_.ranges(), memory_.reader(), services, clock_.cycle(),
                    functional_executor_.observer(), grid.early);
}

}  // namespace heddle
