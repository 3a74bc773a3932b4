#!/usr/bin/env bash
# Sends the commits of the branch that is checked out, without a push: as a bundle, or with a third word as a patch. Run it in a
# clone, such as `patch.sh http://127.0.0.1:8080 octo/hello`. Needs Git and curl.
set -euo pipefail
: "${2:?usage: patch.sh <service> <owner>/<repo> [patch]}"
service=$1 repository=$2 door=${3:-bundle}

base=$(git merge-base HEAD origin/HEAD)
if [ "$door" = patch ]; then
  make=(git format-patch --stdout "$base")
else
  make=(git bundle create --quiet - "$base..HEAD")
fi

# With the same Idempotency-Key, curl may try again: there is one pull request.
"${make[@]}" | curl --silent --show-error --fail-with-body --retry 3 \
  --header "Idempotency-Key: $(git rev-parse HEAD)-$RANDOM$RANDOM$RANDOM" --data-binary @- "$service/v1/gh/$repository/$door"
