// A Git client around go-git. The command line that all clients of the matrix share is described in
// ../support/program-client.ts.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

func main() {
	client.InstallProtocol("http", githttp.NewClient(&http.Client{Transport: withHeaders{}}))
	if err := perform(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func perform(verb string, args []string) error {
	if verb == "clone" {
		return clone(args)
	}
	repository, err := git.PlainOpen(args[0])
	if err != nil {
		return err
	}
	switch args = args[1:]; verb {
	case "fetch":
		return repository.Fetch(&git.FetchOptions{})
	case "switch":
		return switchTo(repository, args[0])
	case "commit":
		count, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return commit(repository, count, args[1])
	case "merge":
		return merge(repository, args[0])
	case "tag":
		return tag(repository, args[0])
	case "push":
		return push(repository, args)
	}
	return errors.New("unknown verb " + verb)
}

func clone(args []string) error {
	options := &git.CloneOptions{URL: args[0]}
	if len(args) > 2 {
		depth, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		options.Depth = depth
	}
	_, err := git.PlainClone(args[1], false, options)
	return err
}

func switchTo(repository *git.Repository, branch string) error {
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	name := plumbing.NewBranchReferenceName(branch)
	_, err = repository.Reference(name, false)
	return tree.Checkout(&git.CheckoutOptions{Branch: name, Create: err != nil})
}

func commit(repository *git.Repository, count int, message string) error {
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	head, err := repository.Head()
	if err != nil {
		return err
	}
	log := filepath.Join(tree.Filesystem.Root(), head.Name().Short()+".log")
	for index := 0; index < count; index++ {
		line := message
		if count > 1 {
			line = fmt.Sprintf("%s %d", message, index+1)
		}
		if err := appendLine(log, line); err != nil {
			return err
		}
		if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
			return err
		}
		_, err := tree.Commit(line+"\n", &git.CommitOptions{
			Author:    person("AUTHOR", index),
			Committer: person("COMMITTER", index),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// go-git merges by fast-forward only. A program that needs a merge commit brings the other side's files in by itself
// and names both parents, as here; the stories let the two sides touch different files.
func merge(repository *git.Repository, branch string) error {
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	head, err := repository.Head()
	if err != nil {
		return err
	}
	other, err := repository.Reference(plumbing.NewBranchReferenceName(branch), true)
	if err != nil {
		return err
	}
	theirs, err := repository.CommitObject(other.Hash())
	if err != nil {
		return err
	}
	files, err := theirs.Files()
	if err != nil {
		return err
	}
	err = files.ForEach(func(file *object.File) error {
		path := filepath.Join(tree.Filesystem.Root(), file.Name)
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		content, err := file.Contents()
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(content), 0o644)
	})
	if err != nil {
		return err
	}
	if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		return err
	}
	_, err = tree.Commit("Merge "+branch+"\n", &git.CommitOptions{
		Author:    person("AUTHOR", 0),
		Committer: person("COMMITTER", 0),
		Parents:   []plumbing.Hash{head.Hash(), other.Hash()},
	})
	return err
}

func tag(repository *git.Repository, name string) error {
	head, err := repository.Head()
	if err != nil {
		return err
	}
	_, err = repository.CreateTag(name, head.Hash(), &git.CreateTagOptions{
		Tagger:  person("COMMITTER", 0),
		Message: name + "\n",
	})
	return err
}

func push(repository *git.Repository, args []string) error {
	options := map[string]string{}
	var specs []config.RefSpec
	for index := 0; index < len(args); index++ {
		if args[index] != "-o" {
			specs = append(specs, config.RefSpec(args[index]))
			continue
		}
		index++
		name, value, _ := strings.Cut(args[index], "=")
		options[name] = value
	}
	return repository.Push(&git.PushOptions{RefSpecs: specs, Options: options, Progress: &remoteLines{}})
}

func appendLine(path string, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

func person(role string, index int) *object.Signature {
	seconds, _ := strconv.ParseInt(os.Getenv("COMMIT_TIME"), 10, 64)
	minutes, _ := strconv.Atoi(os.Getenv("COMMIT_ZONE_MINUTES"))
	return &object.Signature{
		Name:  os.Getenv("GIT_" + role + "_NAME"),
		Email: os.Getenv("GIT_" + role + "_EMAIL"),
		When:  time.Unix(seconds+int64(10*index), 0).In(time.FixedZone("", minutes*60)),
	}
}

// withHeaders adds the person's headers to every request.
type withHeaders struct{}

func (withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	for _, header := range strings.Split(os.Getenv("HTTP_HEADERS"), "\n") {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(request)
}

// remoteLines shows what the service says as git does.
type remoteLines struct{ unfinished string }

func (lines *remoteLines) Write(text []byte) (int, error) {
	lines.unfinished += string(text)
	for {
		line, rest, found := strings.Cut(lines.unfinished, "\n")
		if !found {
			return len(text), nil
		}
		fmt.Println("remote: " + line)
		lines.unfinished = rest
	}
}
