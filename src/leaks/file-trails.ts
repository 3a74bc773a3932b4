/**
 * Trails in the names of files: what programs leave beside somebody's work, which tells who works
 * where and with what, or lets somebody in. Trails in messages: trails.ts; in contents:
 * file-kinds.ts.
 */

/** A kind of files, with what they tell. */
interface FileTrail {
  readonly tells: string;
  readonly pattern: RegExp;
}

const FILE_TRAILS: readonly FileTrail[] = [
  // Apple, "About .DS_Store"; Microsoft, "Desktop.ini"; KDE's .directory.
  {
    tells: 'how a file manager shows a folder of yours',
    pattern: /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.directory)$/i,
  },
  // MS-FSCC, 5.6 ("Known Alternate Stream Names"); microsoft/WSL#4609, which writes them as files.
  {
    tells: 'the address from which you have a file',
    pattern: /[:\uf03a](?:Zone\.Identifier|com\.dropbox\.\w+)$/,
  },
  // RFC 1740 (AppleDouble).
  { tells: 'attributes of a file on your Mac', pattern: /(?:^|\/)(?:\._[^/]+$|__MACOSX\/)/ },
  // Linux, fs/nfs/unlink.c; libfuse, lib/fuse.c.
  { tells: 'a server that your files are on', pattern: /(?:^|\/)\.(?:nfs|fuse_hidden)[\da-f]{16}/ },
  // code.visualstudio.com, "User and workspace settings"; learn.microsoft.com, ".suo".
  {
    tells: 'settings of your editor',
    pattern: /(?:^|\/)\.(?:vscode|vs)\/|\.(?:code-workspace|csproj\.user|suo)$/i,
  },
  // jetbrains.com, "How to manage projects under version control systems".
  { tells: 'settings of your editor', pattern: /(?:^|\/)(?:\.idea\/|workspace\.xml$)/ },
  // Apple's Xcode: folders that begin with the login.
  { tells: 'your login', pattern: /(?:^|\/)xcuserdata\// },
  // Emacs's manual, "Interlocking" (links to login@host.pid), "Auto-Save Files".
  { tells: 'a copy by your editor, or your login', pattern: /(?:^|\/)(?:\.#[^/]+|#[^/]+#|[^/]+~)$/ },
  // Vim's help, "swap-file", "viminfo".
  {
    tells: 'a copy by your editor, with your login',
    pattern: /(?:^|\/)(?:[^/]*\.sw[nop]|\.viminfo|\.netrwhist)$/,
  },
  // bash(1), HISTFILE; less(1); R's ?history.
  { tells: 'what you have typed', pattern: /(?:^|\/)\.\w{1,20}_history$|(?:^|\/)\.(?:Rhistory|lesshst)$/ },
  // aider.chat, "Options reference"; docs.specstory.com; in the folders of other agents.
  { tells: 'what you have said to an agent', pattern: /(?:^|\/)\.aider\.(?:chat|input|llm|tags)/ },
  {
    tells: 'what you have said to an agent',
    pattern:
      /(?:^|\/)\.[\w-]+\/(?:[\w-]+\/)?(?:history|sessions?|conversations?|chats?|transcripts?)(?=\/|\.(?:md|jsonl?|db|sqlite)$)/,
  },
  {
    tells: 'the id of a session of yours',
    pattern:
      /(?:session|thread|chat|conversation|transcript)s?[ ._-][\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i,
  },
  // code.claude.com, "Settings": `.claude/settings.local.json`, `CLAUDE.local.md`.
  {
    tells: 'settings of your machine',
    pattern: /(?:^|\/)(?:\.[\w-]+\/[^/]+\.local\.\w+|[A-Z]+\.local\.md|\.env)$/,
  },
  // HAR 1.2 (cookies and headers); draft-ietf-opsawg-pcap; asciinema.org, "asciicast".
  { tells: 'what your machine has sent or shown', pattern: /\.(?:har|pcap|pcapng|cast)$/i },
  // jupyter.org: copies of notebooks.
  { tells: 'a copy of your notebook', pattern: /(?:^|\/)\.ipynb_checkpoints\// },
  // cmake(1).
  { tells: 'paths of your machine', pattern: /(?:^|\/)CMakeCache\.txt$/ },
  // curl(1), git-credential-store(1), packaging.python.org, docs.docker.com.
  {
    tells: 'where you log in',
    pattern: /(?:^|\/)(?:\.netrc|\.git-credentials|\.pypirc|\.htpasswd|\.docker\/config\.json)$/,
  },
  // ssh(1), gpg(1), FILES.
  {
    tells: 'your keys, or machines that you know',
    pattern: /(?:^|\/)(?:(?:id_(?:rsa|dsa|ecdsa|ed25519)|known_hosts)$|\.(?:gnupg|ssh)\/)/,
  },
  // HotSpot's and Cygwin's documents, core(5), valgrind(1).
  {
    tells: 'memory and settings of a program of yours',
    pattern: /(?:^|\/)(?:(?:hs_err|replay)_pid\d+\.log|java_pid\d+\.hprof|(?:vg)?core\.\d+)$|\.stackdump$/,
  },
];

/** Returns what a file tells by its name, or null if that is nothing known. */
export function toldByName(path: string): string | null {
  return FILE_TRAILS.find(({ pattern }) => pattern.test(path))?.tells ?? null;
}
