#!/usr/bin/env bash
# help_examples.sh PROGRAM: runs the examples of every command's help, in their order. Those of the window only are parsed.
set -euo pipefail
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

for command in $(stickslip --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  examples=$(stickslip "$command" --help | sed -n '/^Examples:$/,$s/^  \(stickslip .*\)/\1/p')
  [ "$(wc -l <<<"$examples")" -ge 2 ] || {
    echo "stickslip $command --help: fewer than two examples" >&2
    exit 1
  }
  while read -r line; do
    case $line in
      "stickslip $command"*) ;;
      *)
        echo "stickslip $command --help: the example is of another command: $line" >&2
        exit 1
        ;;
    esac
    start=$SECONDS
    [ "$command" != view ] || line+=' --keys'
    bash -c "$line" >out 2>&1 </dev/null || {
      echo "$line: exit code $?" >&2
      cat out >&2
      exit 1
    }
    echo "$((SECONDS - start)) s  $line"
  done <<<"$examples"
done
