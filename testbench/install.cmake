# SPDX-License-Identifier: MIT
# What belongs to the program in an installed tree: manual pages and completion, made by the program itself; kernels, sweeps, layouts, the
# schema of jobs; the pages.
set(heddle_data ${CMAKE_INSTALL_DATADIR}/heddle)
set(made ${PROJECT_BINARY_DIR}/installed)
file(MAKE_DIRECTORY ${made}/man ${made}/completion)
find_program(HEDDLE_GZIP gzip)
mark_as_advanced(HEDDLE_GZIP)
# Another machine's program cannot be run here, so such a tree has none of them.
if(NOT CMAKE_CROSSCOMPILING AND HEDDLE_GZIP)
  add_custom_command(OUTPUT ${made}/stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}/man
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made}/man
    COMMAND heddle_program man --folder ${made}/man
    COMMAND ${HEDDLE_GZIP} -9 -n -r -q ${made}/man
    COMMAND heddle_program completion bash > ${made}/completion/heddle
    COMMAND heddle_program completion zsh > ${made}/completion/_heddle
    COMMAND heddle_program completion fish > ${made}/completion/heddle.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${made}/stamp
    DEPENDS heddle_program VERBATIM COMMENT "Writing manual pages and completion")
  add_custom_target(heddle_man ALL DEPENDS ${made}/stamp)
  install(DIRECTORY ${made}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${made}/completion/heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  install(FILES ${made}/completion/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
  install(FILES ${made}/completion/heddle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endif()

install(DIRECTORY testbench/workloads/ DESTINATION ${heddle_data}/workloads COMPONENT tools
  FILES_MATCHING PATTERN "*.ptx" PATTERN "*.cu" PATTERN "*.json" PATTERN "*.bin" PATTERN "*.out.bin" EXCLUDE)
# They find kernels and jobs in ../workloads and ../occupancy, there as here.
install(DIRECTORY testbench/sweeps/ DESTINATION ${heddle_data}/sweeps COMPONENT tools FILES_MATCHING PATTERN "*.ini" PATTERN "*.json")
install(DIRECTORY testbench/occupancy/ DESTINATION ${heddle_data}/occupancy COMPONENT tools FILES_MATCHING PATTERN "*.ptx" PATTERN "*.json")
install(DIRECTORY waveforms/ DESTINATION ${heddle_data}/waveforms COMPONENT tools
  FILES_MATCHING PATTERN "*.gtkw" PATTERN "*.filter" PATTERN "*.md" PATTERN "*.png")
install(FILES docs/job.schema.json DESTINATION ${heddle_data} COMPONENT tools)

# The pages name each other, configurations and layouts by their places in the source tree, so they stand beside them here, too.
install(DIRECTORY docs/ DESTINATION ${heddle_data}/docs COMPONENT docs
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.json")
install(DIRECTORY testbench/cosim testbench/parts DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle/examples COMPONENT docs
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "*.v")
install(FILES README.md DESTINATION ${heddle_data} COMPONENT docs)
file(CREATE_LINK ../../heddle/docs ${made}/pages SYMBOLIC)
install(FILES ${made}/pages DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle COMPONENT docs)
