"""A Git client around dulwich's porcelain.

The command line that all clients of the matrix share is described in ../support/program-client.ts. The person's
headers come from their Git configuration, which dulwich reads.
"""

import os
import sys

from dulwich import porcelain
from dulwich.repo import Repo


class RemoteLines:
    """A stream that shows what the service says as git does."""

    def write(self, data):
        for line in data.decode().splitlines():
            print("remote: " + line)

    def flush(self):
        sys.stdout.flush()


def person(role):
    return f"{os.environ[f'GIT_{role}_NAME']} <{os.environ[f'GIT_{role}_EMAIL']}>".encode()


def record(folder, index, message, **more):
    """Commits what the index holds."""
    time = int(os.environ["COMMIT_TIME"]) + 10 * index
    zone = int(os.environ["COMMIT_ZONE_MINUTES"]) * 60
    with Repo(folder) as repository:
        repository.get_worktree().commit(
            message=message.encode() + b"\n",
            author=person("AUTHOR"),
            author_timestamp=time,
            author_timezone=zone,
            committer=person("COMMITTER"),
            commit_timestamp=time,
            commit_timezone=zone,
            sign=False,
            **more,
        )


def clone(url, folder, depth=None):
    porcelain.clone(url, folder, depth=None if depth is None else int(depth))


def fetch(folder):
    porcelain.fetch(folder)


def switch(folder, branch):
    if branch.encode() not in porcelain.branch_list(folder):
        porcelain.branch_create(folder, branch)
    porcelain.checkout(folder, branch)


def commit(folder, count, message):
    log = os.path.join(folder, porcelain.active_branch(folder).decode() + ".log")
    for index in range(int(count)):
        line = message if count == "1" else f"{message} {index + 1}"
        with open(log, "a", encoding="utf-8") as file:
            file.write(line + "\n")
        porcelain.add(folder, [folder])
        record(folder, index, line)


def merge(folder, branch):
    _, conflicts = porcelain.merge(folder, branch, no_commit=True, no_ff=True)
    if conflicts:
        raise RuntimeError(conflicts)
    with Repo(folder) as repository:
        other = repository.refs[b"refs/heads/" + branch.encode()]
    record(folder, 0, f"Merge {branch}", merge_heads=[other])


def tag(folder, name):
    porcelain.tag_create(
        folder,
        name,
        author=person("COMMITTER"),
        message=name.encode() + b"\n",
        annotated=True,
        tag_time=int(os.environ["COMMIT_TIME"]),
        tag_timezone=int(os.environ["COMMIT_ZONE_MINUTES"]) * 60,
    )


def push(folder, *args):
    options, specs = [], []
    remaining = iter(args)
    for arg in remaining:
        if arg == "-o":
            options.append(next(remaining))
        else:
            specs.append(arg)
    result = porcelain.push(folder, "origin", specs, errstream=RemoteLines(), push_options=options or None)
    refused = {ref: status for ref, status in (result.ref_status or {}).items() if status is not None}
    for ref, status in refused.items():
        print(ref.decode(), status)
    if refused:
        sys.exit(1)


VERBS = {
    "clone": clone,
    "fetch": fetch,
    "switch": switch,
    "commit": commit,
    "merge": merge,
    "tag": tag,
    "push": push,
}

if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    VERBS[verb](*arguments)
