#!/usr/bin/env bash
# Compiler launcher: clang in place of the given compiler. GCC's -fsanitize=thread does not see results that a
# call returns straight into memory; clang's sees all loads and stores.
set -euo pipefail
shift # the given compiler
arguments=()
for argument in "$@"; do
  case "$argument" in
    -mmove-max=* | -mstore-max=* | -Werror) ;;
    *) arguments+=("$argument") ;;
  esac
done
launcher=()
if command -v ccache >/dev/null; then launcher=(ccache); fi
# Instrumentation for hooks.cpp; the sanitizer's own library is not linked. Loads through volatile are CUDA's idiom
# for reading what atomic operations write.
instrumentation=(-fsanitize=thread)
for option in tsan-distinguish-volatile tsan-instrument-read-before-write tsan-instrument-func-entry-exit=0; do
  instrumentation+=(-mllvm "-$option")
done
exec "${launcher[@]}" clang++ -w "${instrumentation[@]}" "${arguments[@]}"
