// SPDX-License-Identifier: MIT
#include "testbench/options/option_tables.h"

#include "testbench/options/option_groups.h"

namespace heddle::testbench {

namespace {

constexpr std::size_t most_suites = 64;
constexpr std::size_t most_reports = 16;  // as many as a reader can distinguish side by side

}  // namespace

option_parser options_of_run() {
  option_parser p("run", "run JOB.json [options]\nrun --kernel FILE.ptx[:ENTRY] --grid X --block X [options]",
                  "Simulates the launches of a job file, or one launch.");
  p.operands("JOB.json");
  add_launch(p);
  add_gpu_options(p);
  add_sanitizer(p);
  add_record(p);
  add_simulation_options(p);
  add_block_sampling(p);
  add_checkpoints(p);
  p.group("Processes that share the GPU");
  p.flag("interference",
         "simulate each client of the job alone, too, and give by how much the others slow it (use/job.md, clients)");
  p.value("confine", "DIR", "refuse a job that names files elsewhere than below DIR (default: it may name any)");
  p.note(
      "A job file is JSON: modules, buffers, launches, and what the results are held against. The page use/job.md describes it; "
      "job.schema.json is its schema, for editors.");
  p.example("run job.json --gpu v100 --report out.html",
            "the launches of a job on a V100, and a page that says what bounds them");
  p.example(
      "run --kernel saxpy.ptx --grid 40 --block 256 --arg u32:10000 \\\n      --arg f32:2 --arg buf:40000:iotaf --arg out:40000:y.bin",
      "one kernel without a job file; y.bin gets its last argument");
  p.example("run job.json --set sub_partition.scheduler=lrr --vcd out.vcd", "another scheduler, with a waveform");
  return p;
}

option_parser options_of_view() {
  option_parser p("view",
                  "view JOB.json --line FILE:LINE [options]\nview --kernel FILE.ptx[:ENTRY] ... --line FILE:LINE\n"
                  "view [options] --line FILE:LINE -- PROGRAM [ARGUMENTS]\nview LIST.g --pc ADDRESS [options]",
                  "Finds the cycles of a run in which the warps at a line of the source, or of the PTX, wait most, and "
                  "writes a waveform and a pipeline view of them.");
  p.operands("JOB.json", std::size_t{1} << 20);
  p.group("What to show");
  p.value("line", "FILE:LINE", "the line, as the report has it: kernel.cu:42, kernel.ptx:42");
  p.value("pc", "[TRACE:]ADDRESS",
          "of recorded kernels: the instruction's address, as the report has it: 0x120, kernel-3.traceg:0x120");
  p.value("cycles", "N",
          "length of the time in which the waits are summed; as many cycles are shown around it (default: 400)");
  p.value("output,o", "NAME",
          "write NAME.vcd, NAME.gtkw with its filters, and NAME.kanata (default: FILE.LINE, in this folder)");
  p.flag("quiet", "say nothing on stdout");
  add_launch(p);
  add_gpu_options(p);
  p.group("The run");
  p.value("max-cycles", "N", "look no further than this cycle");
  p.flag("cold", "launches begin with empty caches, one at a time, as profilers make them");
  p.flag("warm", "launches find in the caches what earlier ones left (the default)");
  p.value("threads", "N", "host threads that simulate the SMs");
  p.value("confine", "DIR", "refuse a job that names files elsewhere than below DIR (default: it may name any)");
  p.value("progress", "auto|always|never|json", "a progress line on stderr (auto: only on a terminal)");
  p.value("log-level", "error|warning|info|debug", "which messages are written to stderr (default: warning)");
  p.flag("help,h", "this text");
  p.note(
      "The job is simulated twice: to find the moment, and to write it. What the job itself would write is not written. "
      "So is a CUDA program, which runs twice, without input and output, and recorded kernels (replay). "
      "The page use/view.md describes what is shown.");
  p.example("view job.json --gpu v100 --line kernel.cu:42", "where the warps at line 42 wait most");
  p.example("view --gpu v100 --line kernel.cu:42 -- ./solver input.txt", "the same of a CUDA program");
  p.example("view traces/kernelslist.g --gpu v100 --pc 0x120", "where the warps of a trace wait at an instruction");
  return p;
}

option_parser options_of_exec() {
  option_parser p(
      "exec", "exec [options] -- PROGRAM [ARGUMENTS]\nexec [options] --environment",
      "Runs a CUDA program as it is, with a simulated GPU under it: what it launches is simulated, its output and exit code stay its own.");
  p.operands("PROGRAM", std::size_t{1} << 20);
  add_gpu_options(p);
  p.group("Which launches");
  p.value(
      "launches", "N[-M][,N[-M]]",
      "simulate these launches in detail, by their number in the order of the program's calls, from 0 on; execute all others functionally: "
      "at once, with right results, without time and metrics");
  p.values(
      "kernel-name", "GLOB",
      "the same of launches of kernels whose name fits, as the program's source or its PTX has it; may be given several times; with "
      "--launches a launch must fit both");
  p.flag(
      "skip-functional",
      "execute all launches functionally that --launches and --kernel-name do not choose; without these all of them");
  p.value(
      "end-after", "CYCLES",
      "end the program, with exit code 1, when its launches have taken so many cycles (`cycles` of the metrics) and "
      "have not ended");
  add_sanitizer(p);
  add_record(p);
  add_simulation_options(p);
  add_block_sampling(p);
  p.group("Memory");
  p.flag(
      "exact-bounds",
      "stop a kernel that accesses a byte outside its allocations; without it, as on a GPU, whose pages are large, an access "
      "less than 4 KiB behind an allocation goes unnoticed");
  p.group("Programs that something else starts");
  p.flag(
      "environment",
      "print the lines that a shell needs (eval) so that each CUDA program which is started from it, a debugger or make has these options");
  p.note(
      "The program needs PTX within it, which nvcc keeps by default, and no GPU, driver or toolkit. The summary goes to stderr. "
      "The page use/cuda_programs.md lists the supported CUDA functions.");
  p.example("exec --gpu h100 --report r.html -- ./vectorAdd",
            "a program on an H100, and a page that says what bounds its kernels");
  p.example("exec --launches 3,17-20 --metrics m.json -- ./solver",
            "five launches in detail; the others bring the program there in little time");
  p.example("exec --gpu h100 --report %n.%p.html --environment",
            "lines for a shell, before gdb ./vectorAdd or make check");
  return p;
}

option_parser options_of_replay() {
  option_parser p(
      "replay", "replay KERNELSLIST [options]",
      "Simulates recorded kernels: Accel-Sim SASS traces (.traceg, also .xz .zst .gz), in the order of their list.");
  p.operands("KERNELSLIST.g");
  add_gpu_options(p);
  p.group("The traces");
  p.flag("strict",
         "refuse opcodes that are not known, and traces of another generation than the GPU's, instead of warning");
  p.value("trace-memory", "MIB",
          "for blocks of traces (default: 192); blocks for which there is no room run from a temporary file");
  add_simulation_options(p);
  add_block_sampling(p);
  add_checkpoints(p);
  p.example("replay traces/kernelslist.g --gpu v100 --metrics out.json", "what a tracer has recorded, on a V100");
  return p;
}

option_parser options_of_gpus() {
  option_parser p("gpus", "gpus [--json]", "Lists the shipped GPUs with their main figures, the oldest first.");
  p.group("Options").flag("json", "one JSON array").flag("help,h", "this text");
  return p;
}

option_parser options_of_config() {
  option_parser p("config", "config --gpu G [--set K=V]... [--describe]",
                  "Prints the whole effective configuration as an INI file.");
  add_gpu_options(p);
  p.group("Options")
      .flag("describe", "with what each parameter means, its range and its unit")
      .flag("help,h", "this text");
  p.example("config --gpu v100 > mine.ini", "a GPU of one's own: edit the file, and run with --gpu mine.ini");
  return p;
}

option_parser options_of_disasm() {
  option_parser p("disasm", "disasm FILE.ptx[:ENTRY] [--gpu G]",
                  "Prints the machine program that a kernel is lowered to.");
  p.operands("FILE.ptx[:ENTRY]");
  add_gpu_options(p);
  p.group("Options")
      .value("kernel", "FILE.ptx[:ENTRY]", "the same as the argument, as run takes it")
      .flag("json", "one JSON array instead: each kernel's names, parameters, registers and memory")
      .flag("help,h", "this text");
  p.example("disasm saxpy.ptx:saxpy --gpu v100", "one kernel, with the PTX line of each instruction");
  return p;
}

option_parser options_of_occupancy() {
  option_parser p("occupancy", "occupancy --gpu G --block X --registers-per-thread R [options]",
                  "Tells how many blocks of a kernel fit an SM, and what limits them.");
  add_gpu_options(p);
  p.group("The kernel");
  p.value("block", "X[,Y[,Z]]", "threads of a block").also("threads");
  p.value("registers-per-thread", "R", "registers of a thread").also("regs");
  add_shared_bytes(p, "shared memory of a block, static and dynamic (default: 0)");
  add_carveout(p);
  p.value("cluster", "X[,Y[,Z]]", "blocks of a thread block cluster: also reports how many clusters the chip holds");
  p.group("Options").flag("json", "one JSON object").flag("help,h", "this text");
  p.example("occupancy --gpu v100 --block 256 --registers-per-thread 40",
            "a block of 256 threads with 40 registers each");
  return p;
}

option_parser options_of_report() {
  option_parser p(
      "report", "report FILE... -o REPORT.html",
      "Writes one page for a browser, with everything in it: of a metrics file, of several beside each other, or of a sweep's store.");
  p.operands("FILE.json|STORE.sqlite", most_reports);
  p.group("Options").value("output,o", "REPORT.html", "the page").flag("help,h", "this text");
  p.example("report out.json -o out.html", "the page of a run that wrote its --metrics");
  p.example("report before.json after.json -o both.html", "two runs beside each other");
  return p;
}

option_parser options_of_sweep() {
  option_parser p("sweep", "sweep SWEEP.ini [options]",
                  "Simulates all points of a design space. Points that the store holds already are not run again.");
  p.operands("SWEEP.ini");
  p.group("Which points");
  p.flag("resume", "run also those again that failed, ran too long or were killed");
  p.value("shard", "I/N", "only every N-th point from the I-th on; results are written for a later gathering");
  p.flag("yes", "more than a million points are meant");
  p.flag("dry-run", "only list the points");
  p.value(
      "confine", "DIR",
      "refuse jobs that name files elsewhere than below DIR (default: each job's own folder; / lets them name any)");
  p.group("Where they run");
  p.value("engine", "local|slurm", "processes on this machine (default), or one job array of Slurm");
  p.value("jobs", "N", "local: points at a time (default: one a core); slurm: tasks of the array (default: 16)");
  p.value(
      "checkpoint-every", "N",
      "keep the state of each point every N cycles, and when a signal ends the sweep; the same command goes on there");
  p.value("slurm-args", "\"...\"", "further arguments of sbatch: partition, time, account");
  p.flag("no-wait", "slurm: submit and return; the same command without --engine gathers later");
  p.group("Output");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.flag("quiet", "no summary");
  p.flag("help,h", "this text");
  p.example("sweep sweep.ini --jobs 4", "all points that have no result yet, four at a time");
  p.example("sweep sweep.ini --dry-run", "only what would run");
  return p;
}

option_parser options_of_correlate() {
  option_parser p(
      "correlate", "correlate SUITE.csv|EXPORT.csv... [options]",
      "Holds Heddle against real chips: runs what was measured, compares launch by launch, metric by metric.");
  p.operands("FILE.csv", most_suites);
  p.group("What a profiler has exported (ncu --csv, nvprof --csv)");
  p.value("gpu", "NAME|FILE.ini", "the chip that it was measured on; of a suite, only the rows of that chip");
  p.values(
      "run", "[KERNEL=]RUN",
      "what does the same: JOB.json, \"--kernel FILE.ptx ...\" with the options of heddle run, or \"-- PROGRAM ...\" as "
      "for heddle exec; KERNEL is a pattern of kernels' names; may be given several times");
  p.value("launch-cycles", "N",
          "cycles of each measured launch before its first block and after its last, or gpu: the GPU's "
          "cwd.launch_overhead_cycles (default: 0)");
  p.group("The runs");
  p.values("set", "SECTION.KEY=VALUE", "override one parameter in all runs; repeatable");
  p.flag("long", "also the rows that are labelled long");
  p.value("jobs", "N", "runs at a time (default: one a core)");
  p.value("timeout", "SECONDS", "end a run that takes longer (default: no limit)");
  p.value("store", "NAME", "keep the results of runs in NAME.points; runs that it holds are not run again");
  p.value(
      "fit", "KEY[,KEY]|all",
      "instead of comparing, search these parameters, or all that rows identify, by the rows that identify them, for "
      "each chip");
  p.group("Results");
  p.value("output,o", "PAGE.html|PAGE.md", "write a page: for a browser, with scatter plots, or in Markdown");
  p.value("csv", "FILE.csv", "write every value of every row");
  p.value("json", "FILE.json", "write chips, rows and values, as the page for a browser has them");
  p.value("ini", "FILE.ini", "of --fit for one chip: write its configuration with the values found");
  p.value("require", "PERCENT", "exit code 1 if the mean error of a chip's compared rows is larger");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.flag("quiet", "no tables on stdout");
  p.flag("help,h", "this text");
  p.note(
      "The page model/correlation.md describes the file of a suite and what is computed; model/hardware_results.md has the names of all metrics in both profilers.");
  p.example("correlate tests/hardware/gpu_benches.csv --output page.html",
            "a suite, and a page with its scatter plots");
  p.example("correlate export.csv --gpu v100 --run \"-- ./vectorAdd\"",
            "what ncu --csv has written of a program, and the same one on Heddle");
  return p;
}

option_parser options_of_whatif() {
  option_parser p(
      "whatif", "whatif [options] JOB.json | --run \"RUN\" | -- PROGRAM ...",
      "Runs a workload on a machine as it is, then with one change after the other: the advice of its "
      "verdict, each parameter doubled or halved, each choice, and pairs of the best; tells which save most.");
  p.operands("JOB.json", 1);
  p.group("The workload and the machine");
  p.value("run", "RUN", "the workload, as heddle run takes it, such as \"--kernel FILE.ptx --grid 8 ...\"");
  p.value("gpu", "NAME|FILE.ini", "the machine (default: gtx1080)");
  p.values("set", "SECTION.KEY=VALUE", "override one parameter of the machine as it is; repeatable");
  p.value("by", "time|energy|product",
          "what is to become smaller: simulated time, energy, or both multiplied (default: "
          "time; then a run ends when it has taken as long as the machine as it is)");
  p.group("How much");
  p.value("minutes", "N", "start no run after so many minutes (default: 5)");
  p.value("runs", "N", "try at most so many changes (default: no limit)");
  p.value("jobs", "N", "runs at a time (default: one a core)");
  p.value("store", "NAME", "keep the results of runs in NAME.points; runs that it holds are not run again");
  p.group("Results");
  p.value("rows", "N", "changes in the table and the chart (default: 20)");
  p.value("csv", "FILE.csv", "write every change with its time and energy");
  p.value("chart", "FILE.svg", "draw the best changes as bars");
  p.value("metrics", "FILE.json", "write the metrics of the machine as it is, with all changes that were tried");
  p.value("report", "FILE.html", "write their report, in which the advice that was tried is marked");
  p.value("progress", "auto|always|never", "a progress line on stderr (auto: only on a terminal)");
  p.flag("quiet", "no table on stdout");
  p.flag("help,h", "this text");
  p.note("The page use/whatif.md says what is tried and what is left out.");
  p.example("whatif testbench/workloads/sgemm/job.json --gpu v100 --chart sgemm.svg", "a job, and a picture");
  p.example("whatif --gpu h100 --by energy -- ./vectorAdd", "a CUDA program, by energy");
  return p;
}

option_parser options_of_help() {
  option_parser p("help", "help [COMMAND]",
                  "Tells what the commands are, or a command's options, as COMMAND --help does.");
  p.operands("COMMAND");
  p.group("Options").flag("help,h", "this text");
  return p;
}

option_parser options_of_version() {
  option_parser p("version", "version", "Tells the version, that of SystemC, and where the shipped GPUs are.");
  p.group("Options").flag("help,h", "this text");
  return p;
}

option_parser options_of_completion() {
  option_parser p("completion", "completion bash|zsh|fish",
                  "Prints what makes a shell complete heddle's commands, options, GPUs, parameters and their values.");
  p.operands("bash|zsh|fish");
  p.group("Options").flag("help,h", "this text");
  p.note(
      "The Debian package installs all three. Elsewhere, bash: source <(heddle completion bash) in ~/.bashrc; zsh: "
      "heddle completion zsh > _heddle in a folder of fpath; fish: heddle completion fish > "
      "~/.config/fish/completions/heddle.fish.");
  return p;
}

option_parser options_of_man() {
  option_parser p("man", "man [COMMAND] [--folder DIR]",
                  "Prints a manual page, as man and groff read it, or writes the pages of all commands.");
  p.operands("COMMAND");
  p.group("Options")
      .value("folder", "DIR", "write heddle.1 and a page for each command into this folder")
      .flag("help,h", "this text");
  p.example("man run | man -l -", "the page of run on the screen, where it is not installed");
  return p;
}

}  // namespace heddle::testbench
