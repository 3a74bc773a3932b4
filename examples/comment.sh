#!/usr/bin/env bash
# A comment, and a reply by the same pseudonym. Needs curl, jq and openssl.
set -euo pipefail
: "${3:?usage: comment.sh <service> <owner>/<repo> <number of an issue>}"
service=$1 repository=$2 number=$3
comments=$service/v1/gh/$repository/issues/$number/comments/anonymous

# jq quotes the text. A random Idempotency-Key makes a second try post nothing twice.
post() {
  curl --silent --show-error --fail-with-body "$comments" \
    --header 'Content-Type: application/json' --header "Idempotency-Key: $(openssl rand -hex 16)" --data "$1"
}

first=$(post "$(jq --null-input '{body: "It breaks here, too."}')")
echo "Posted: $(jq --raw-output .comment_url <<<"$first")"

# The token keeps your pseudonym on this thread. Nobody can recover it.
token=$(jq --raw-output .user_token <<<"$first")
second=$(post "$(jq --null-input --arg token "$token" '{body: "A restart helps.", user_token: $token}')")
echo "Posted: $(jq --raw-output .comment_url <<<"$second")"
