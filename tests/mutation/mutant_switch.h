// SPDX-License-Identifier: MIT
// Goes into the copy of the sources that holds all mutants at once. HEDDLE_MUTANT=N in the environment switches the Nth
// on in this process and its children; the file that HEDDLE_MUTANTS_REACHED names gets one byte for each mutant that
// any of them comes past.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

inline constexpr int heddle_most_mutants = 65536;
inline unsigned char heddle_not_recorded[heddle_most_mutants];
inline unsigned char* heddle_reached = heddle_not_recorded;
inline int heddle_chosen_mutant = -1;

// Before all other initialisers, in each file that has mutants: the first initialiser that runs sets the switch. A
// mapped file keeps what was reached when the process is killed or leaves by _exit.
__attribute__((constructor(101))) static void heddle_read_switch() {
  if (heddle_chosen_mutant >= 0 || heddle_reached != heddle_not_recorded) return;
  if (const char* chosen = std::getenv("HEDDLE_MUTANT")) heddle_chosen_mutant = std::atoi(chosen);
  const char* name = std::getenv("HEDDLE_MUTANTS_REACHED");
  if (name == nullptr) return;
  const int file = ::open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* bytes = ::mmap(nullptr, heddle_most_mutants, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (bytes != MAP_FAILED) heddle_reached = static_cast<unsigned char*>(bytes);
}

// Not one function for all files: some are compiled for processors that others are not.
__attribute__((always_inline)) static inline bool heddle_mutant(int number) {
  heddle_reached[number] = 1;
  return number == heddle_chosen_mutant;
}
