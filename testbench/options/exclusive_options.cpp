// SPDX-License-Identifier: MIT
#include "testbench/options/exclusive_options.h"

namespace heddle::testbench {

void read_checkpoints(const option_parser& p, run_options& o) {
  if (p.has("checkpoint-every")) o.checkpoint_every = p.number("checkpoint-every", 1, std::uint64_t{1} << 63);
  if (!p.has("checkpoint") && p.has("checkpoint-every")) p.fail("--checkpoint-every belongs to --checkpoint");
  if (!p.has("checkpoint")) return;
  if (o.sanitizes) p.fail("--checkpoint and --sanitize exclude each other");
  if (!o.record_folder.empty()) p.fail("--checkpoint and --record exclude each other");
  if (!o.vcd_file.empty() || !o.timeline_file.empty() || !o.pipeline_file.empty())
    p.fail("--checkpoint excludes --vcd, --timeline and --pipeline, whose files would begin in the middle");
  o.checkpoint_file = p.text("checkpoint");
  o.words = p.words();
}

void read_block_sampling(const option_parser& p, run_options& o) {
  if (!p.has("sample-blocks")) return;
  o.sample_error = p.percentage("sample-blocks");
  if (o.sanitizes) p.fail("--sample-blocks and --sanitize exclude each other");
  if (!o.record_folder.empty()) p.fail("--sample-blocks and --record exclude each other: a trace has all blocks");
  if (!o.checkpoint_file.empty()) p.fail("--sample-blocks and --checkpoint exclude each other");
}

}  // namespace heddle::testbench
