// SPDX-License-Identifier: MIT
#include "testbench/options/option_groups.h"

namespace heddle::testbench {

void add_gpu_options(option_parser& p) {
  p.group("The GPU");
  p.value("gpu", "NAME|FILE.ini", "a shipped GPU or a configuration file (default: gtx1080)");
  p.values("set", "SECTION.KEY=VALUE", "override one parameter; repeatable; wins over the file");
}

void add_simulation_options(option_parser& p) {
  p.group("Results");
  p.value("metrics", "FILE.json", "write the metrics; when SIGUSR1 comes, those so far");
  p.value("report", "FILE.html", "write the report, a page for a browser");
  p.value("vcd", "FILE.vcd", "write a waveform, with FILE.gtkw and its filters beside it");
  p.value("timeline", "FILE.json", "write a timeline for Perfetto or speedscope: launches, blocks, warps, counters");
  p.value("pipeline", "FILE.kanata", "write a pipeline view of warp instructions for Konata");
  p.value("trace-scope", "GLOB[,GLOB]", "modules in the waveform and the pipeline view (default: gpu.cwd,gpu.sm0*)");
  p.value("trace-window", "A:B", "only cycles A to B");
  p.flag("quiet", "no summary");
  p.group("The run");
  p.value(
      "max-cycles", "N",
      "stop there (exit code 1, of exec the program's own; Ctrl-C stops the run and keeps what ran: exit code 130)");
  p.flag("cold", "launches begin with empty caches, one at a time, as profilers make them");
  p.flag("warm", "launches find in the caches what earlier ones left (the default)");
  p.value(
      "threads", "N",
      "host threads for SMs and for functional launches (default: as many as cores without work, at most 16); results "
      "do not depend on it");
  p.value("progress", "auto|always|never|json",
          "a progress line on stderr (auto: only on a terminal), with the time left as far as it can be known; json: "
          "lines for programs");
  p.value("serve", "PORT", "a page of the run for browsers on this machine: http://127.0.0.1:PORT/ (0: a free port)");
  p.flag("serve-control", "that page may also pause the run, step by cycles, and stop at a line or condition");
  p.value("log-level", "error|warning|info|debug", "which messages are written to stderr (default: warning)");
  p.flag("help,h", "this text");
  p.note(
      "Ctrl-C (SIGINT) or SIGTERM ends a run and keeps what ran until then, with exit code 130 or 143; a second one leaves at once. "
      "SIGUSR1 writes a snapshot of the metrics, and the run continues.");
}

void add_block_sampling(option_parser& p) {
  p.value(
      "sample-blocks", "PERCENT",
      "simulate only as many blocks of a launch as tell its cycles with an error of at most PERCENT (confidence 95 %); "
      "the others are executed functionally, those of a trace are left out");
}

void add_record(option_parser& p) {
  p.group("Traces");
  p.value("record", "DIR",
          "write a trace of the run to a new folder; heddle replay DIR/kernelslist.g takes the same cycles");
}

void add_sanitizer(option_parser& p) {
  p.group("Checks");
  p.optional_value(
      "sanitize", "KINDS",
      "look for data races, accesses outside allocations, reads of unwritten bytes, divergent barriers and "
      "leaks; KINDS: some of races,memory,init,sync,leaks (default: all); exit code 1 if any are found; "
      "timing stays as it is");
  p.value("sanitize-json", "FILE.json", "write what --sanitize finds");
}

void add_shared_bytes(option_parser& p, const char* help) { p.value("shared-bytes", "N", help).also("smem"); }
void add_carveout(option_parser& p) {
  p.value("carveout", "PERCENT", "share of the unified cache that is shared memory (default: the chip's choice)");
}

void add_launch(option_parser& p) {
  p.group("One launch");
  p.value("kernel", "FILE.ptx[:ENTRY]", "the kernel; ENTRY may be left out where the file has one");
  p.value("grid", "X[,Y[,Z]]", "blocks");
  p.value("block", "X[,Y[,Z]]", "threads of a block");
  p.value("cluster", "X[,Y[,Z]]", "blocks of a thread block cluster (default: what the kernel requires)");
  p.flag("non-portable-cluster", "clusters may have more blocks than every chip with clusters allows (8)");
  add_shared_bytes(p, "dynamic shared memory of a block (default: 0)");
  add_carveout(p);
  p.value("registers-per-thread", "R",
          "registers that the kernel may use; what finds no room is kept in local memory (default: what it needs)")
      .also("regs");
  p.values("arg", "TYPE:VALUE",
           "the next kernel argument: u32:7 s32:-1 f32:1.5 (u8 to u64, s8 to s64, f32, f64); "
           "buf:BYTES[:iota32|:iotaf|:random:SEED], in:FILE, out:BYTES:FILE, inout:FILE:OUTFILE");
}

void add_checkpoints(option_parser& p) {
  p.group("Checkpoints");
  p.value("checkpoint", "FILE", "write the state of the machine here, for heddle resume, when SIGTERM ends the run");
  p.value("checkpoint-every", "N", "also every N cycles; each replaces the one before");
}

}  // namespace heddle::testbench
