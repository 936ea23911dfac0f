# Writes what the program generates: its manual pages and completion scripts. Run by `cmake --install`.
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})

function(generate path)
  execute_process(COMMAND ${program} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${root}/${path}")
  file(WRITE ${root}/${path} "${text}")
endfunction()

execute_process(COMMAND ${program} help --man-pages ${root}/${mandir}/man1 COMMAND_ERROR_IS_FATAL ANY)
generate(${datadir}/bash-completion/completions/signalbox completion bash)
generate(${datadir}/zsh/vendor-completions/_signalbox completion zsh)
generate(${datadir}/fish/vendor_completions.d/signalbox.fish completion fish)
