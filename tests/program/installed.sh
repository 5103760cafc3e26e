# shellcheck shell=bash
# check_installed PREFIX SOURCE: whether a program that was installed there runs without the source tree.
check_installed() {
  local prefix=$1 source=$2 file
  (
    unset STICKSLIP_ASSETS
    cd /
    "$prefix/bin/stickslip" --version | tee /dev/stderr |
      tr '\n' ' ' | grep -qE '^stickslip [0-9]+\.[0-9]+\.[0-9]+( \(commit [0-9a-f]+\))? backends: cpu(, cuda)? real: (double|float) $'
    "$prefix/bin/stickslip" run slope --frames 5 --quiet
    "$prefix/bin/stickslip" list scenes --json | grep -F "\"file\": \"$prefix/share/stickslip/assets/scenes/slope.toml\""
  )
  if grep -qF -- "$source/assets" "$prefix/bin/stickslip"; then
    echo "the program names the source tree: $source/assets" >&2
    return 1
  fi
  for file in man/man1/stickslip.1 bash-completion/completions/stickslip zsh/vendor-completions/_stickslip \
    fish/vendor_completions.d/stickslip.fish stickslip/tools/bench/race_plot.py doc/stickslip/README.md; do
    [ -s "$prefix/share/$file" ] || {
      echo "not installed: share/$file" >&2
      return 1
    }
  done
}
