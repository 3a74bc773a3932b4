#!/usr/bin/env bash
# A first pull request and its update, such as `pull-request.sh http://127.0.0.1:8080 octo/hello`, with the address that
# `npm start` prints. Needs Git only.
set -euo pipefail
: "${2:?usage: pull-request.sh <service> <owner>/<repo>}"
service=$1 repository=$2

# Git asks for a name and an address. The service replaces both.
export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@example.invalid
export GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@example.invalid

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet "$service/v1/gh/$repository" "$folder"
cd "$folder"
git switch --quiet --create my-change

echo 'Good morning.' >greeting.txt
git add greeting.txt
git commit --quiet --message 'Greet in the morning'
answer=$(git push origin my-change 2>&1) || { echo "$answer"; exit 1; }
echo "$answer"

# The hash says which pull request; the key proves that it is yours. Keep the key.
hash=$(sed -nE 's/.*PR hash: *([0-9a-f]+).*/\1/p' <<<"$answer")
key=$(sed -nE 's/.*[Kk]ey: +([0-9a-f]{32}).*/\1/p' <<<"$answer" | head -n 1)

echo 'Good evening.' >>greeting.txt
git commit --quiet --all --message 'Greet in the evening'
git push -o "pr-hash=$hash" -o "pr-key=$key" origin my-change

echo "Follow it: $service/v1/pr/$hash"
