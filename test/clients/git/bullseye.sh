#!/bin/sh
# Puts Git 2.30 of Debian 11 into a folder, and nothing else on the machine: a package from the Debian server that the
# machine already uses, checked with Debian's keys. Its program runs with the machine's own libraries.
set -eu
cd "$1"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
server=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Created-By: Packages' | head -n 1)
test -n "$server" || { echo 'apt knows no server of Debian' >&2; exit 1; }
mkdir -p apt/lists/partial apt/archives/partial
echo "deb [signed-by=$keys] $server bullseye main" >apt/sources.list
apt() {
  apt-get --quiet --quiet \
    -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User= "$@"
}
apt update
apt download git/bullseye
dpkg-deb --extract git_*.deb root
rm -r apt git_*.deb
mkdir bin
cat >bin/git <<END
#!/bin/sh
root=\$(dirname "\$0")/../root/usr
GIT_EXEC_PATH=\$root/lib/git-core exec "\$root/bin/git" "\$@"
END
chmod +x bin/git
bin/git --version
