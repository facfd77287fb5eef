#!/bin/sh
# Installs sessctl from its releases:
#
#   curl -fsSL https://raw.githubusercontent.com/sessctl/sessctl/main/install.sh | sh
#
# VERSION       the release to install: 1.2.3, or latest (the default)
# BIN_DIR       the folder that the program goes to; $HOME/.local/bin by default
# RELEASES_URL  where the releases are, for a mirror with the paths that GitHub has
#
# The archive has to match checksums.txt of its release. It needs curl or wget, tar
# (unzip on Windows), and sha256sum or shasum.
set -eu

releases=${RELEASES_URL:-https://github.com/sessctl/sessctl/releases}

main() {
  version=${VERSION:-latest}
  bin_dir=${BIN_DIR:-$HOME/.local/bin}
  find_target
  has sha256sum || has shasum ||
    fail "neither sha256sum nor shasum is there, so a download cannot be verified." "Install one of them."
  [ ! -d "$bin_dir/$program" ] ||
    fail "$bin_dir/$program is a folder, so the program cannot be put there." "Set BIN_DIR to another folder."
  work=$(mktemp -d)
  new= # the program beside its place
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 130' HUP INT TERM

  fetch_checksums
  download "$releases/download/v$version/$archive" "$work/$archive" ||
    fail "$archive could not be downloaded." "Try again, or look at $releases/tag/v$version."
  [ "$(sha256 <"$work/$archive")" = "$sum" ] ||
    fail "$archive is not what checksums.txt of the release says. It was not installed." "Try again; if it stays so, do not use the file and report it."
  unpack
  put_in_place
}

# find_target sets target to the system as the names of archives have it, and ending
# and program to what goes with it.
find_target() {
  ending=.tar.gz program=sessctl
  case $(uname -s) in
    Linux) target=linux ;;
    Darwin) target=darwin ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT) target=windows ending=.zip program=sessctl.exe ;;
    *) unsupported ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) target=${target}_amd64 ;;
    aarch64 | arm64) target=${target}_arm64 ;;
    *) unsupported ;;
  esac
}

unsupported() {
  fail "there is no release for $(uname -s) on $(uname -m)." "With Go: go install github.com/sessctl/sessctl@latest"
}

# fetch_checksums sets archive, its sum, and the version that latest stands for.
fetch_checksums() {
  from=$releases/latest/download
  [ "$version" = latest ] || from=$releases/download/v${version#v}
  download "$from/checksums.txt" "$work/checksums.txt" ||
    fail "$from/checksums.txt could not be fetched." "If the message above says 404, there is no such release: set VERSION to one of those at $releases (1.2.3), or leave it out for the latest. Else see whether the network is there; behind a proxy set https_proxy."
  archive=
  while read -r listed name; do
    case $name in
      sessctl_*_"$target$ending") sum=$listed archive=$name ;;
    esac
  done <"$work/checksums.txt"
  [ -n "$archive" ] ||
    fail "checksums.txt of the release $version lists no archive for $target." "Try again, in case it came only in part, or see $releases for what there is."
  version=${archive#sessctl_}
  version=${version%_"$target$ending"}
}

download() {
  if has curl; then
    curl -fsSL --proto-redir =https --connect-timeout 30 --retry 3 -o "$2" "$1"
  elif has wget; then
    wget -nv -T 30 -t 3 -O "$2" "$1"
  else
    fail "neither curl nor wget is there." "Install one of them."
  fi
}

sha256() {
  if has sha256sum; then
    sha256sum | cut -d ' ' -f 1
  else
    shasum -a 256 | cut -d ' ' -f 1
  fi
}

unpack() {
  if [ "$ending" = .zip ]; then
    unzip -q -o "$work/$archive" "$program" -d "$work"
  else
    tar -xzf "$work/$archive" -C "$work" "$program"
  fi || fail "$archive could not be unpacked." "Look at the message above."
}

# put_in_place replaces the program in one step: one that is running stays whole.
put_in_place() {
  { mkdir -p "$bin_dir" && new=$(mktemp "$bin_dir/.sessctl.XXXXXX") && cp "$work/$program" "$new"; } ||
    fail "$bin_dir cannot be written to." "Set BIN_DIR to a folder of yours, or run this as a user who may."
  chmod 755 "$new"
  mv -f "$new" "$bin_dir/$program"
  echo "sessctl $version is installed: $bin_dir/$program"
  case :$PATH: in
    *:"$bin_dir":*) ;;
    *) echo "$bin_dir is not in PATH; add it: export PATH=\"$bin_dir:\$PATH\"" ;;
  esac
}

has() { command -v "$1" >/dev/null 2>&1; }

fail() {
  printf 'install.sh: %s\n  %s\n' "$1" "$2" >&2
  exit 1
}

main
