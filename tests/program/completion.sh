#!/usr/bin/env bash
# completion.sh PROGRAM: what its completion for bash offers, and that zsh and fish read theirs where they are there.
set -euo pipefail
program=$1
# shellcheck disable=SC1090
. <("$program" completion bash)

# offered WORD...: the completions of the last word, on one line.
offered() {
  COMP_WORDS=(stickslip "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _stickslip
  echo "${COMPREPLY[*]}"
}

# expect WANTED WORD...: the completions of the last word are these, or among them stand those of +WANTED.
expect() {
  local wanted=$1 got
  shift
  got=$(offered "$@")
  case $wanted in
    +*) [[ " $got " == *" ${wanted#+} "* ]] ;;
    *) [ "$got" = "$wanted" ] ;;
  esac || {
    echo "stickslip $*: '$wanted' is expected, not '$got'" >&2
    exit 1
  }
}

expect 'run race replay reproduce' r
expect --version --v
expect '--steps --step-budget' soak --st
expect 'slope slope-ramp slope-sweep' run slope
expect slope-sweep view slope-s
expect --frames run --fra
expect 'auto cpu cuda emulated' run slope --backend ''
expect 'auto off' view --interop ''
expect 'prox_jacobi prox_gs' run slope --solver prox
expect poisson= run stack --set poiss
expect +contact.tolerance= run stack --set contact.tol
expect 'true false' run stack --set check_intersections = ''
expect +nsgs run stack --set contact_solver =
expect tolerance= solve x.hdf5 --set toler
expect 'bash zsh fish' completion ''
expect +solvers list ''

for shell in zsh fish; do
  "$program" completion $shell >/dev/null
  ! command -v $shell >/dev/null || "$program" completion $shell | $shell -n
done
