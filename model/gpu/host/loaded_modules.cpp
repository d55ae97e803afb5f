// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/loaded_modules.h"

#include "heddle/config/error.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/sub_partition/dependence/decode.h"

namespace heddle {

std::uint64_t loaded_modules::add(const std::string& texts, const std::string& names, std::uint64_t globals_address,
                                  std::uint64_t constants_address, unsigned partition) {
  loaded l;
  l.module = ptx::place(parsed_.parse(texts, names), globals_address, constants_address);
  l.constants_address = constants_address;
  l.partition = partition;
  modules_.push_back(std::move(l));
  return modules_.size() - 1;
}

std::shared_ptr<const decoded_program> loaded_modules::program(std::uint32_t module, const std::string& kernel,
                                                               std::uint32_t max_registers) {
  if (module >= modules_.size()) throw input_error("no module " + std::to_string(module) + " is loaded");
  auto& known = modules_[module].programs[{kernel, max_registers}];
  loaded& l = modules_[module];
  if (!known) known = place_code(ptx::lower(parsed_, l.module, kernel, config_, max_registers), l.partition);
  return known;
}

std::shared_ptr<const decoded_program> loaded_modules::recorded(const std::shared_ptr<const isa::program>& program) {
  auto& known = recorded_[program.get()];
  if (!known) known = place_code(program, 0);
  return known;
}

std::shared_ptr<const decoded_program> loaded_modules::place_code(std::shared_ptr<const isa::program> program,
                                                                  unsigned partition) {
  if (program->follows) return decode(program, config_, program->code_address);
  const std::uint64_t bytes = program->code.size() * config_.instruction_cache.instruction_bytes;
  std::uint64_t& used = code_bytes_.at(partition);
  auto decoded = decode(std::move(program), config_, (partition == 0 ? 0 : partition_base(partition - 1)) + used);
  used += (bytes / 4096 + 2) * 4096;
  return decoded;
}

std::pair<std::uint64_t, std::size_t> loaded_modules::constants(std::uint32_t module) const {
  const loaded& l = modules_.at(module);
  return {l.constants_address, l.module.constant_image.size()};
}

void loaded_modules::exchange(state_image& image) {
  image.same(modules_.size(), "modules");
  for (loaded& l : modules_) {
    image.each(l.module.global_image);
    image.each(l.module.constant_image);
  }
  for (const std::uint64_t used : code_bytes_) image.same(used, "bytes of code");
}

void loaded_modules::written(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  for (loaded& l : modules_)
    for (auto [base, image] : l.images())
      if (base < address + bytes && address < base + image->size())
        for (unsigned i = 0; i < bytes; ++i)
          if (address + i - base < image->size()) (*image)[address + i - base] = data[i];
}

const std::uint8_t* loaded_modules::variable_byte(std::uint64_t address) {
  for (auto l = modules_.rbegin(); l != modules_.rend(); ++l)
    for (auto [base, image] : l->images())
      if (address >= base && address - base < image->size()) return &(*image)[address - base];
  return nullptr;
}

}  // namespace heddle
