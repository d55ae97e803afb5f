// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/trace_recording.h"

#include "heddle/config/error.h"
#include "heddle/frontend/sass_trace/replay/prepare_block.h"
#include "heddle/frontend/sass_trace/replay/replayed_block.h"
#include "heddle/frontend/sass_trace/replay/spilled_block.h"

namespace heddle::sass_trace {

block_source::block_source(std::shared_ptr<const trace_kernel> kernel)
    : kernel_(std::move(kernel)), common_(std::make_shared<common_addresses>()) {
  if (kernel_->kept.empty()) reader_ = std::make_unique<trace_reader>(kernel_->file, kernel_->code);
}

std::shared_ptr<const isa::recorded_block> block_source::next() {
  if (delivered_ < kernel_->kept.size())
    return std::make_shared<replayed_block>(kernel_, kernel_->kept[delivered_++], 0);
  auto block = std::make_shared<block_trace>();
  block->reserve(last_);
  std::shared_ptr<spilled_block> spilled;
  const auto spill = [&](block_trace& part) {
    if (!spilled) spilled = std::make_shared<spilled_block>(kernel_);
    share_addresses(*kernel_, common_, part);
    spilled->append(part);
  };
  try {
    if (reader_ && !reader_->next_block(*block, kernel_->store->part_bytes(), spill)) {
      if (reader_->blocks() != kernel_->blocks) throw input_error("'" + kernel_->file + "' was changed while in use");
      reader_.reset();
    }
  } catch (const input_error& e) {
    throw input_error(std::string(e.what()) + ", while kernel '" + kernel_->header.name + "' was running");
  }
  last_ = {block->records.size() + kernel_->header.warps(), block->addresses.size()};
  const std::size_t bytes = block->bytes() + added_bytes(*kernel_, *block);
  if (spilled || !kernel_->store->take(bytes)) {
    spill(*block);
    spilled->complete();
    return spilled;
  }
  share_addresses(*kernel_, common_, *block);
  complete(*kernel_, *block);
  return std::make_shared<replayed_block>(kernel_, std::move(block), bytes);
}

std::shared_ptr<const isa::recorded_block> trace_recording::next() {
  if (!source_) source_ = std::make_unique<block_source>(kernel_);
  auto block = source_->next();
  ++delivered_;
  if (exhausted()) source_.reset();
  return block;
}

}  // namespace heddle::sass_trace
