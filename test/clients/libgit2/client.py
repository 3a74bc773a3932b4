"""A Git client around libgit2, through pygit2.

The command line that all clients of the matrix share is described in ../support/program-client.ts.
"""

import os
import sys

import pygit2


class Callbacks(pygit2.RemoteCallbacks):
    """Adds the person's headers, and shows what the service says as git does."""

    def __init__(self):
        super().__init__()
        self.unfinished = ""
        self.is_ok = True

    def custom_headers(self):
        return os.environ["HTTP_HEADERS"].split("\n")

    def sideband_progress(self, string):
        *lines, self.unfinished = (self.unfinished + string).split("\n")
        for line in lines:
            print("remote: " + line)

    def push_update_reference(self, refname, message):
        self.is_ok = self.is_ok and message is None
        print(refname, "ok" if message is None else message)


def person(role, index):
    return pygit2.Signature(
        os.environ[f"GIT_{role}_NAME"],
        os.environ[f"GIT_{role}_EMAIL"],
        int(os.environ["COMMIT_TIME"]) + 10 * index,
        int(os.environ["COMMIT_ZONE_MINUTES"]),
    )


def record(repository, index, message, parents):
    """Commits what the index holds."""
    tree = repository.index.write_tree()
    repository.create_commit(
        "HEAD", person("AUTHOR", index), person("COMMITTER", index), message + "\n", tree, parents
    )


def clone(url, folder, depth="0"):
    pygit2.clone_repository(url, folder, callbacks=Callbacks(), depth=int(depth))


def fetch(repository):
    repository.remotes["origin"].fetch(callbacks=Callbacks())


def switch(repository, branch):
    if branch not in repository.branches.local:
        repository.branches.local.create(branch, repository.head.peel(pygit2.Commit))
    repository.checkout(f"refs/heads/{branch}")


def commit(repository, count, message):
    log = os.path.join(repository.workdir, repository.head.shorthand + ".log")
    for index in range(int(count)):
        line = message if count == "1" else f"{message} {index + 1}"
        with open(log, "a", encoding="utf-8") as file:
            file.write(line + "\n")
        repository.index.add_all()
        repository.index.write()
        record(repository, index, line, [repository.head.target])


def merge(repository, branch):
    other = repository.branches.local[branch].target
    repository.merge(other)
    record(repository, 0, f"Merge {branch}", [repository.head.target, other])
    repository.state_cleanup()


def tag(repository, name):
    tagger = person("COMMITTER", 0)
    repository.create_tag(name, repository.head.target, pygit2.enums.ObjectType.COMMIT, tagger, name + "\n")


def push(repository, *args):
    options, specs = [], []
    remaining = iter(args)
    for arg in remaining:
        if arg == "-o":
            options.append(next(remaining))
        else:
            specs.append(arg)
    callbacks = Callbacks()
    repository.remotes["origin"].push(specs, callbacks=callbacks, push_options=options or None)
    if not callbacks.is_ok:
        sys.exit(1)


VERBS = {"fetch": fetch, "switch": switch, "commit": commit, "merge": merge, "tag": tag, "push": push}

if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    if verb == "clone":
        clone(*arguments)
    else:
        VERBS[verb](pygit2.Repository(arguments[0]), *arguments[1:])
