/*
 * A Git client around JGit's porcelain, which is what Eclipse calls. The command line that all clients of the matrix
 * share is described in ../support/program-client.ts. The person's headers come from their Git configuration, which JGit
 * reads.
 */
import java.io.File;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.api.CommitCommand;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.MergeCommand;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;

public final class Client {
  public static void main(String[] args) {
    try {
      perform(args);
    } catch (Exception error) {
      // The innermost cause is what Eclipse shows.
      Throwable cause = error;
      while (cause.getCause() != null) cause = cause.getCause();
      System.err.println("error: " + cause);
      System.exit(1);
    }
  }

  private static void perform(String[] args) throws Exception {
    List<String> rest = List.of(args).subList(1, args.length);
    switch (args[0]) {
      case "clone" -> cloneTo(rest);
      case "fetch" -> inClone(rest, git -> git.fetch().call());
      case "switch" -> inClone(rest, git -> switchTo(git, rest.get(1)));
      case "commit" -> inClone(rest, git -> commit(git, Integer.parseInt(rest.get(1)), rest.get(2)));
      case "merge" -> inClone(rest, git -> merge(git, rest.get(1)));
      case "tag" -> inClone(rest, git -> tag(git, rest.get(1)));
      case "push" -> inClone(rest, git -> push(git, rest.subList(1, rest.size())));
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /** Shows what the service says as git does. */
  private static final class RemoteLines extends OutputStream {
    private boolean isLineStart = true;

    @Override
    public void write(int character) {
      if (isLineStart) System.out.print("remote: ");
      isLineStart = character == '\n';
      System.out.write(character);
      if (isLineStart) System.out.flush();
    }
  }

  private interface Verb {
    void perform(Git git) throws Exception;
  }

  private static void inClone(List<String> args, Verb verb) throws Exception {
    try (Git git = Git.open(new File(args.get(0)))) {
      verb.perform(git);
    }
  }

  private static void cloneTo(List<String> args) throws Exception {
    var command = Git.cloneRepository().setURI(args.get(0)).setDirectory(new File(args.get(1)));
    if (args.size() > 2) command.setDepth(Integer.parseInt(args.get(2)));
    command.call().close();
  }

  private static void switchTo(Git git, String branch) throws Exception {
    boolean isNew = git.getRepository().findRef("refs/heads/" + branch) == null;
    git.checkout().setName(branch).setCreateBranch(isNew).call();
  }

  private static void commit(Git git, int count, String message) throws Exception {
    String branch = git.getRepository().getBranch();
    Path log = git.getRepository().getWorkTree().toPath().resolve(branch + ".log");
    for (int index = 0; index < count; index++) {
      String line = count == 1 ? message : message + " " + (index + 1);
      Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      git.add().addFilepattern(".").call();
      signed(git.commit(), index).setMessage(line + "\n").call();
    }
  }

  private static void merge(Git git, String branch) throws Exception {
    var result =
        git.merge()
            .include(git.getRepository().findRef(branch))
            .setFastForward(MergeCommand.FastForwardMode.NO_FF)
            .setCommit(false)
            .call();
    if (!result.getMergeStatus().isSuccessful()) throw new IllegalStateException(result.toString());
    signed(git.commit(), 0).setMessage("Merge " + branch + "\n").call();
  }

  private static void tag(Git git, String name) throws Exception {
    git.tag().setName(name).setAnnotated(true).setTagger(person("COMMITTER", 0)).setMessage(name + "\n").call();
  }

  private static void push(Git git, List<String> args) throws Exception {
    List<String> options = new ArrayList<>();
    List<RefSpec> specs = new ArrayList<>();
    for (int index = 0; index < args.size(); index++) {
      if (args.get(index).equals("-o")) options.add(args.get(++index));
      else specs.add(new RefSpec(args.get(index)));
    }
    // What the service says is lost with the exception by which JGit tells of a refusal, unless it is shown as it comes.
    var command = git.push().setRefSpecs(specs).setOutputStream(new RemoteLines());
    if (!options.isEmpty()) command.setPushOptions(options);
    boolean isOk = true;
    for (PushResult result : command.call()) {
      for (RemoteRefUpdate update : result.getRemoteUpdates()) {
        System.out.printf("%s %s %s%n", update.getStatus(), update.getRemoteName(), update.getMessage());
        isOk &= update.getStatus() == RemoteRefUpdate.Status.OK;
      }
    }
    if (!isOk) System.exit(1);
  }

  private static CommitCommand signed(CommitCommand commit, int index) {
    return commit.setAuthor(person("AUTHOR", index)).setCommitter(person("COMMITTER", index)).setSign(false);
  }

  private static PersonIdent person(String role, int index) {
    Map<String, String> env = System.getenv();
    long time = Long.parseLong(env.get("COMMIT_TIME")) + 10L * index;
    int zone = Integer.parseInt(env.get("COMMIT_ZONE_MINUTES"));
    return new PersonIdent(
        env.get("GIT_" + role + "_NAME"),
        env.get("GIT_" + role + "_EMAIL"),
        Instant.ofEpochSecond(time),
        ZoneOffset.ofTotalSeconds(zone * 60));
  }
}
