/** Files that programs leave, and that tell who works where, or let somebody in. Known by their names. */

/** Each with where its makers describe it. */
const LEFTOVERS: readonly (readonly [source: string, pattern: RegExp])[] = [
  ['macOS and Windows: file managers', /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.directory)$/i],
  ['Visual Studio Code, Visual Studio', /(?:^|\/)\.(?:vscode|vs)\/|\.(?:code-workspace|csproj\.user|suo)$/i],
  ['JetBrains: project files', /(?:^|\/)(?:\.idea\/|workspace\.xml$)/],
  ['Xcode: user data, by the login', /(?:^|\/)xcuserdata\//],
  [
    'Emacs: lock links (login@host.pid) and auto-saves; others’ copies',
    /(?:^|\/)(?:\.#[^/]+|#[^/]+#|[^/]+~)$/,
  ],
  ['Vim: swap files, .viminfo', /(?:^|\/)(?:[^/]*\.sw[nop]|\.viminfo|\.netrwhist)$/],
  ['shells and interpreters: histories', /(?:^|\/)\.\w{1,20}_history$|(?:^|\/)\.(?:Rhistory|lesshst)$/],
  ['Jupyter: checkpoints', /(?:^|\/)\.ipynb_checkpoints\//],
  ['CMake: cache, with paths of the machine', /(?:^|\/)CMakeCache\.txt$/],
  [
    'curl, Git, PyPI, Docker: who logs in where',
    /(?:^|\/)(?:\.netrc|\.git-credentials|\.pypirc|\.htpasswd|\.docker\/config\.json)$/,
  ],
  [
    'OpenSSH, GnuPG: keys and known machines',
    /(?:^|\/)(?:(?:id_(?:rsa|dsa|ecdsa|ed25519)|known_hosts)$|\.(?:gnupg|ssh)\/)/,
  ],
  ['dotenv: settings of one machine', /(?:^|\/)\.env$/],
];

export function isLeftover(path: string): boolean {
  return LEFTOVERS.some(([, pattern]) => pattern.test(path));
}
