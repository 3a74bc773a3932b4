#!/usr/bin/env bash
# Copies all that lasts of a service on this machine, while it runs, into a new folder: `backup.sh <state> <folder>`.
# Not a plain copy, which would be inconsistent and has what was deleted. Needs the program sqlite3.
set -euo pipefail
umask 077
state=${1:-/var/lib/gitveil/state/service}
backup=${2:-/var/backups/gitveil/$(date +%FT%H%M%S)}
cd "$state"
for file in do/gitveil-{PullRequest,Identity,NotificationFeed,ServiceSecret,Tally}/*.sqlite d1/*/*.sqlite; do
  mkdir -p "$backup/$(dirname "$file")"
  # The service may be writing it.
  sqlite3 -cmd '.timeout 10000' "$file" "VACUUM INTO '$backup/$file'" || echo "not copied: $file"
done
