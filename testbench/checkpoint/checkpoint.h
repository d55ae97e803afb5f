// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"

namespace heddle::testbench {

struct job;

/// The command of a checkpoint that is a sweep's point's.
constexpr char command_of_points[] = "sweep";

/// A run between two cycles: what it was started with, and the state of the machine and its host.
struct checkpoint {
  std::string file;                                  // that it was read from
  std::string command;                               // "run", "replay" or "sweep"
  std::vector<std::string> arguments;                // of that command
  std::string folder;                                // in which it was given
  std::map<std::string, std::string> configuration;  // every parameter's text, by name
  std::map<std::string, std::string> files;          // a digest of each file that the run has read, by name
  std::uint64_t cycle = 0;                           // of the core clock, of which nothing has been simulated
  std::uint64_t time = 0;                            // in units of SystemC's resolution
  std::vector<std::uint8_t> state;
};

/// Writes a file that appears complete or not at all. Throws input_error.
void write_checkpoint(const std::string& file, const checkpoint& c);
/// Throws input_error: the file cannot be read, is no checkpoint, was cut short or edited, or is of a program of
/// another version or source.
checkpoint read_checkpoint(const std::string& file);

std::map<std::string, std::string> texts_of(const gpu_config& config);
/// Of the job, its modules, its inputs and its traces, each as a whole. Throws input_error for one that is not a
/// regular file: it could not be read again.
std::map<std::string, std::string> files_of(const job& j);
/// Throws input_error that names the first parameter, or file, in which the run that resumes differs from the one of
/// the checkpoint.
void check_same_machine(const checkpoint& c, const gpu_config& config);
void check_same_program(const checkpoint& c, const job& j);

}  // namespace heddle::testbench
