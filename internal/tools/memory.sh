#!/bin/sh
# Runs a program whose temporary files are in memory, where there is room for 3 GB and
# programs can be started from there; else they are where they always are. Tests write
# thousands of small files that nobody needs afterwards.
#
# Usage: memory.sh PROGRAM ARGS…
if [ -z "$TMPDIR" ] && folder=$(mktemp -d /dev/shm/sessctl-XXXXXX 2>/dev/null); then
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 130' INT TERM HUP
  chmod 1777 "$folder" # some tests run as other users
  free=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
  printf '#!/bin/sh\n' >"$folder/program" && chmod +x "$folder/program"
  if [ "$free" -gt 3000000 ] && "$folder/program" 2>/dev/null; then
    TMPDIR=$folder
    export TMPDIR
  fi
fi
"$@"
