/** Made by `npm run documents` of docs/privacy.md and docs/maintainers.md: change those. */

/** GET /privacy */
export const PRIVACY = `<h1 id="privacy">Privacy</h1>
<p>This page says who can learn what about you, and what is <em>not</em> protected. In its source, each promise stands beside the
tests that prove it.</p>
<h2 id="who-learns-what">Who learns what</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead>
<tr>
<th>Who</th>
<th>Learns</th>
<th>Does not learn</th>
</tr>
</thead>
<tbody>
<tr>
<td>The code host</td>
<td>all that is published; how your Git has compressed and ordered your files, so perhaps which Git you use; what somebody clones, fetches, opens or is about to change</td>
<td>your address, name, dates, zone, signatures, original ids; when you began to push, and at what pace</td>
</tr>
<tr>
<td>Everyone</td>
<td>files, names of files, messages byte for byte, your style and language; the second of publication; which pushes have one pr_hash; numbers of all pushes, see below</td>
<td>the same</td>
</tr>
<tr>
<td>Another user</td>
<td>the same; with a pr_hash, which is public, the page and the topic of the pull request</td>
<td>who you are, whether two pull requests come from one person</td>
</tr>
<tr>
<td>The operator, and who runs the machine</td>
<td>your address and your original commits while you are connected</td>
<td>nothing that this software keeps, if it is this software that runs</td>
</tr>
<tr>
<td>A thief of the disk</td>
<td>which pull requests of the last two hours came from one client</td>
<td>which client</td>
</tr>
<tr>
<td>A thief of the disk and the secret, a court</td>
<td>by trying all IPv4 addresses: who used the service within two hours, and what they opened; who reported something within 30 days; on Cloudflare also what can be restored</td>
<td>names, and original commits that they cannot guess</td>
</tr>
<tr>
<td>Who watches your network</td>
<td>that you use the service, when, and how many bytes you send and get</td>
<td>what is in them, over HTTPS</td>
</tr>
<tr>
<td>The notification service</td>
<td>the address of whoever follows a topic</td>
<td>the address of whoever pushes</td>
</tr>
</tbody>
</table></div>
<p><a href="@/blob/HEAD/docs/storage.md">storage.md</a> lists everything that is stored, in which form and until when. One thing leaves the service that
names you: <strong>the alert</strong> about a client that exceeds the limit of pull requests contains its address, as the service's
contract requires. The address stays in memory until the alert was sent once; the notification service and the
operator's phone may keep it longer. With <code>ALERT_ADDRESS=hidden</code> the alert contains a pseudonym.</p>
<p>Logs contain times, fixed sentences, numbers, classes of errors, and what a code host has said about the bot account.</p>
<p>Unless the operator has set SERVICE_API_KEY, <code>/metrics</code> tells everyone how many bytes the service has read, so also when
somebody sends something large.</p>
<h2 id="what-is-changed-and-what-stays">What is changed, and what stays</h2>
<p>In new commits, author and committer become the bot's name and a placeholder address. The date becomes the second in
which the service was first about to send it. Signatures and all other headers but the message's encoding go.
Tags are refused: they contain a name. Your original ids never reach the code host.</p>
<p>Messages stay byte for byte, but ids of your own commits become new ones, and <code>-o sign-off</code> replaces your sign-offs.
<code>Signed-off-by:</code> lines stay otherwise, and the push warns of them. Files stay as they are, and a submodule's commit id can be recognised if you
publish that commit under your name; the answer lists them.</p>
<p>With <code>-o squash</code> the host still gets the files of the commits in between. The host keeps what it has received, also
after an update or a withdrawal.</p>
<h2 id="your-own-name">Your own name</h2>
<p>Before anything leaves, the service searches for the names and addresses in the headers of your commits and tags: in
messages, title and description, file names, and the contents that the push adds. If it finds an address or
a full name, it refuses the push, and says where, and for whom it has searched. <code>-o publish-names</code> publishes it anyway;
<code>-o preview</code> shows what would become public, and whether the push would be refused. Of a login or a name of one word
(<code>contributor</code>) it only <strong>warns</strong>.</p>
<p>The search ignores case. It finds an address, the login in <code>123+lovelace@users.noreply.github.com</code>, and a name, also
with the last word first (<code>Lovelace, Ada</code>); one word only from six letters on. It does <strong>not</strong> find:</p>
<ul>
<li>a shorter word, initials, a nickname, another login, the name of your computer or company;</li>
<li>a part of your name; your name without its accents, over two lines, or with more than one character between
its words;</li>
<li>what is inside compressed files, images, PDF and office files;</li>
<li>other encodings than UTF-8, Windows-1252 (so Latin-1) and the commit's own, escaped letters (<code>\\u00fc</code>), <code>ada at example.org</code>;</li>
<li>upstream's lines, also joined by a deletion; people who are not in your commits' headers.</li>
</ul>
<p>Git may send only a part of a name, and copy the rest from upstream's files. Then the service reads all
files that you change at the code host, and searches them whole. So the host learns what you are about to change, also
after a preview. Of new objects it never asks. What it cannot read, the push says.</p>
<p><strong>Ids of your own commits</strong> are hashes over your name, address and second, so whoever sees one can test a guess; so is
Gerrit's <code>Change-Id: I…</code>. Ids of the push in files, ids in messages of commits that upstream does not have, and
Change-Ids in messages are refused. An id is found by its first seven digits or more, of the first eighty commits.</p>
<p><strong>The push only warns</strong> of home folders (<code>/home/ada/</code>), and of added files of editors (<code>.DS_Store</code>, <code>.idea/</code>), images,
PDF and office files, which nobody searches. Over 1 MiB, it does not name these files.</p>
<p><strong>What Git writes of a merge</strong> (<code>Merge branch 'x' of ../m2 into topic</code>) is refused if it names a branch or address
that is not upstream's.</p>
<h2 id="what-the-code-host-sees-of-you">What the code host sees of you</h2>
<p>Every byte that leaves is written by the service: a fixed list of header fields with fixed values, and no field of
your request. It leaves by a socket, not by the platform's <code>fetch</code>, which would add your address. Servers behind
Cloudflare that the operator lists (<a href="@/blob/HEAD/docs/deploy.md#8-servers-on-cloudflare">deploy.md</a>) get an address of Cloudflare. On
Cloudflare, the service runs near the code host for everybody (<a href="@/blob/HEAD/docs/deploy.md#7-where-the-service-runs">deploy.md</a>).</p>
<p>Until the last byte of your push has come and the push was judged, the host sees only reads that any visitor causes. A
push that the service refuses leaves neither a fork nor a commit there. One that only the host refuses may leave a
fork. No page, topic or feed tells of a pull
request before the host shows it; statistics count it at once.</p>
<p><strong>A fetch</strong> tells the host which commits of upstream you want, depth and filters, with a date rounded down to a day.
Of the commits that you have, the service passes on only those that upstream lists. It hides the names of your
branches, and the name and version of your Git.</p>
<p>The host sees an id that you type (<code>git fetch origin &lt;id&gt;</code>; in a partial clone, <code>git show &lt;id&gt;</code>), so type none of your own.</p>
<p>What is published names the service by the operator's <code>SERVICE_URL</code>, or without one as your Git calls it.</p>
<h2 id="time-sizes-and-circuits">Time, sizes and circuits</h2>
<p>Your address, the time and the sizes are what is left. Tor hides the address; nothing hides the other two by itself.</p>
<ul>
<li>
<p><strong>One circuit for each contribution.</strong> Tor takes another circuit for another user name, so pushes do not share an exit:</p>
<pre tabindex="0"><code>git -c http.proxy=socks5h://user-1:x@127.0.0.1:9050 push …   # user-2 for the next contribution
</code></pre>
<p>Everybody behind an exit counts as one client. An <a href="@/blob/HEAD/docs/onion.md">onion service</a> has no exits.</p>
</li>
<li>
<p><strong>Sizes.</strong> Whoever sees your line knows how much you have pushed, to the kilobyte, and your contribution's size is
public. Tor hides where the bytes go, not how many.</p>
</li>
<li>
<p><strong>The time.</strong> The date of your commits, and of the pull request, is when you push. People guess from office hours, from
a talk about the change, and from a network's log. With <code>-o delay=6h</code>, it is published six to twelve hours later, and
encrypted until then. <a href="@/blob/HEAD/docs/delay.md">What that hides</a>.</p>
</li>
</ul>
<h2 id="in-a-browser">In a browser</h2>
<p><a href="@/blob/HEAD/docs/images/remote-page.png">Picture: The page of a remote: commands, what the service removes, what everyone still sees</a></p>
<p><a href="@/blob/HEAD/docs/images/change.png">Picture: What becomes public of a change: the difference, title, description, author and date</a></p>
<p>The forms work without a script, set no cookie and load nothing. Until you send the last one, what you typed is only in
the page that you get back. Then the service remembers for a day what each form, or request with a key, has posted.</p>
<p>The service searches for your name only if you type it into the field for that; it keeps it nowhere. Tor Browser makes
you look like its other users. Its history keeps addresses with the pr_hash, and some spell
checkers send what you type to the browser's maker.</p>
<h2 id="following-a-pull-request">Following a pull request</h2>
<ul>
<li><strong>The page</strong> <code>&lt;service&gt;/v1/pr/&lt;hash&gt;</code> and <strong>the feed</strong> <code>&lt;service&gt;/v1/pr/&lt;hash&gt;.atom</code> say what pushes did and what the
code host reports. Only the service writes there, and only the service, or the server of your feed reader, sees your
address. No cookies, nothing loaded; its script only copies. <a href="@/blob/HEAD/docs/host.md#comments-on-a-page">The host sees when
somebody opens it</a>.</li>
<li><strong>The topic</strong> <code>anon-pr-&lt;hash&gt;</code> can be read and written by <strong>anyone</strong>, unless the operator's ntfy server forbids it: the
hash is part of the name of the pull request's branch. &quot;Log in here&quot; may come from
anybody, and a message can name an icon that the ntfy app fetches <strong>by itself, from your address</strong>. The service's own
messages, like the feed, have one link, to the page: an early visitor at the code host looks like the author. Believe a
message only if the page says the same.</li>
</ul>
<p>Follow the page through Tor. Do not add the feed to an account at an online feed reader. If you need notifications, use
ntfy's web page in Tor Browser rather than the app.</p>
<h2 id="git-lfs">Git LFS</h2>
<p>The service answers git-lfs that it has no LFS. But a repository can name another server in <code>.lfsconfig</code>, and git-lfs
connects to it <strong>directly, from your address</strong>. To prevent that:</p>
<pre tabindex="0"><code>GIT_LFS_SKIP_SMUDGE=1 git clone &lt;service&gt;/v1/gh/&lt;owner&gt;/&lt;repo&gt;   # the same for fetch, pull and switch
GIT_LFS_SKIP_PUSH=1 git push origin my-change
</code></pre>
<h2 id="what-you-can-check">What you can check</h2>
<ul>
<li><strong>What becomes public</strong>: <code>-o preview</code>, or the last step of the forms. Afterwards,
<code>git fetch &lt;address of the repository&gt; pull/&lt;number&gt;/head</code> (at GitHub) gets you what was published.</li>
<li><strong>Which code should run</strong>: <code>/health</code> names the commit, and its header <code>X-Bundle</code> the SHA-256 of the bundle. In a checkout of that commit,
<code>npm ci &amp;&amp; npm run -s build -- --hash</code> prints the same hash on every machine. This proves that the bundle comes from
that source, not that it runs: a changed service can say the same.</li>
<li><strong>What leaves the service</strong>: an operator can see it (<a href="@/blob/HEAD/docs/deploy.md#6-what-the-code-host-sees">deploy.md</a>). You cannot.</li>
</ul>
<p>So act as if the service could remember you: use Tor, and commit nothing that you would not publish. A
service that only you use hides nobody. Report broken promises: <a href="@/blob/HEAD/SECURITY.md">SECURITY.md</a>.</p>
<h2 id="what-to-do">What to do</h2>
<ul>
<li>Read <code>git log</code> before you push. Write messages in the style of the project. Look for your name and your machine's
in the files.</li>
<li>Do not publish the original commits anywhere, because equal files and messages link them to the pull request.</li>
<li>Keep the pr-key secret, also in your terminal's history.</li>
</ul>
<h2 id="for-operators">For operators</h2>
<ul>
<li><strong>Set <code>PR_UPDATE_POLICY=key</code> on a public instance.</strong> The pr_hash of every pull request is public, as its branch is
called <code>anon-&lt;pr_hash&gt;</code>. With <code>hash</code>, the default, anyone can replace its commits; only withdrawing and new texts take its
key. With <code>key</code>, updates do, too. It follows from pr_hash and <code>IDENTITY_SECRET</code>.</li>
<li>Set <code>IDENTITY_SECRET</code> and store it apart from backups. A new secret makes all keyed hashes useless: pseudonyms
get new hashes, and pull requests other keys.</li>
<li>Leave Workers Logs off, because their entries seem to carry the URLs of requests. Watch the
log instead (<a href="@/blob/HEAD/docs/deploy.md#5-a-first-push">deploy.md</a>). The reverse proxy's logs have addresses, also of requests that fail: <a href="@/blob/HEAD/docs/deploy.md#on-a-machine-of-your-own">deploy.md</a>
turns off both.</li>
</ul>
`;

/** GET /maintainers */
export const MAINTAINERS = `<h1 id="for-maintainers">For maintainers</h1>
<p>You have received a pull request, an issue or a comment from a bot account, on behalf of an anonymous contributor. This
page says what that means for your repository, and what you can do.</p>
<h2 id="what-the-bot-is">What the bot is</h2>
<p>gitveil lets people contribute without an account. They push with Git, fill in a form in a browser, or send a comment or
an issue as JSON. The service removes their name, address and dates from commits, and its bot account posts the result
on GitHub, or on a Forgejo or Gitea server. One bot account posts for everybody who uses that service.</p>
<p><a href="@/blob/HEAD/docs/images/pull-request.png">Picture: A pull request in octo/hello: the bot is the author and the committer of its one commit</a></p>
<ul>
<li><strong>The author of the commits is the bot.</strong> The service does not know who wrote them and cannot tell you. A
<code>Signed-off-by:</code> line is what the author typed or has <a href="#sign-offs">affirmed</a>; nobody has checked it. If you need a
contributor licence agreement, do not merge before somebody whom you know has <a href="#sign-offs">adopted</a> the change.</li>
<li><strong>You can talk to the author.</strong> Comment on the pull request. The author can follow it without an account, push again,
and answer with an anonymous comment.</li>
<li><strong>An update may come from somebody else</strong>, unless the operator prevents that: whoever knows the name of the branch can
replace its commits. So review what you merge, not what you have reviewed before. Only the author has the key that
withdraws the pull request or changes its title and description.</li>
<li><strong>You may push to its branch</strong>, where your host lets maintainers do that. An update does not delete your commits unasked:
the author gets them, and then they come with the update, under the bot's name as everything, or says <code>-o overwrite</code>.</li>
<li><strong>A comment ends with a pseudonym</strong>, such as <code>anon-1a2b3c4d</code>. One pseudonym is one author on that issue or pull
request only: the same person has another one elsewhere.</li>
</ul>
<h2 id="workflows-require-approval">Workflows: require approval</h2>
<p>GitHub decides by account whether the workflows of a pull request from a fork run without approval. By default, only
first-time contributors need a maintainer's approval. An account is no longer a first-time contributor once you have
merged one of its commits or pull requests.</p>
<p>The bot is one account for many people. <strong>Once you have merged one anonymous pull request, GitHub treats every later one
as the work of a known contributor, and runs its workflows without asking you.</strong> So set this before the first merge:</p>
<ol>
<li>In your repository open <strong>Settings → Actions → General</strong>.</li>
<li>Under <strong>Approval for running fork pull request workflows from contributors</strong> choose <strong>Require approval for all
external contributors</strong> (on some versions of GitHub: <strong>all outside collaborators</strong>).</li>
<li>Save. An organisation or enterprise may set this for all its repositories.</li>
</ol>
<p>Before you approve a run, read the changes, above all those in <code>.github/workflows/</code>. Besides:</p>
<ul>
<li>Workflows on <code>pull_request_target</code> always run, whatever that setting says, with your secrets and a token that may
write. They must never check out and run the code of the pull request.</li>
<li>On a self-hosted runner, the code of an approved run executes on your own machine. Do not use one for pull requests
from people you do not know.</li>
<li>Do not give the bot account a role in your repository, and do not add it to a list of trusted authors (auto-merge,
approval bots, <code>author_association</code> checks): you would trust everybody who uses the service. The list of accounts that
are exempt from GitHub's <a href="#what-you-accept">limit of open pull requests</a> is the exception.</li>
</ul>
<p>GitHub describes this in <a href="https://docs.github.com/actions/managing-workflow-runs/approving-workflow-runs-from-public-forks">Approving workflow runs from public
forks</a>.</p>
<h2 id="what-you-accept">What you accept</h2>
<p>A file <code>.gitveil.yml</code> at the root of the default branch says it. Each line may be left out, and without the file
everything is accepted:</p>
<pre tabindex="0"><code>accept: [pull_requests, issues] # or true, or false; here comments are refused
anonymous_friendly: true # turns the badge green
pull_request_footer: true # pull requests end with a line about the service, and a link to this page
sign_off: required # pull requests need a sign-off of the bot's, see below
limit: 5/1h # at most five pull requests and issues an hour, and five comments on each thread
</code></pre>
<p>If the file is invalid, everything is refused, because its author may have wanted to refuse something. People whose
contribution is not accepted are told that your <code>.gitveil.yml</code> says so, or what is wrong with it.</p>
<p>Without <code>limit</code>, the service posts at most 100 pull requests and issues an hour in your repository, and 240 comments an hour
on one thread, for all people together; its operator may have set other numbers. <code>limit</code> can only lower them: a higher
value, or one that is not understood, changes nothing. Units are <code>s</code>, <code>m</code> and <code>h</code>, up to <code>24h</code>; several limits are
separated by commas, such as <code>2/1m,5/1h</code>. Updates of a pull request do not count.</p>
<p>A title or a text that mentions more than five people or teams, or refers to more than five issues, pull requests or
commits of other repositories, is refused. Code does not count.</p>
<p>The service reads the file at most once in five minutes. While the code host does not answer, the service uses the last
version it has read. If it has never read one, it refuses contributions until the code host answers again.</p>
<p>GitHub sets labels only for accounts that may push to the repository, and silently drops those of others. So an
anonymous issue gets its <code>labels</code> only if you have given the bot that right.</p>
<p>What the repository's settings at the host say counts, too. On GitHub you can switch pull requests off, or let only
collaborators open them (<strong>Settings → General → Features → Pull requests</strong>); on Forgejo and Gitea you can switch them off.
Then the service refuses a push before it writes anything at the host, and points to issues if you accept them.</p>
<p>GitHub can also limit how many pull requests an account without write access may have open (<strong>Settings → Moderation options
→ Interaction limits</strong>). The bot has one account for everybody, so all anonymous contributors share this limit. Drafts do
not count: people can push with <code>-o draft</code>. The same page has a list of accounts that are exempt. There the bot does no
harm: unlike a role, that list lets an account open more pull requests, and nothing else. GitHub describes it in <a href="https://docs.github.com/en/communities/moderating-comments-and-conversations/limiting-interactions-in-your-repository#limiting-concurrent-open-pull-requests-for-users-without-write-access">Limiting
interactions in your
repository</a>.</p>
<h2 id="sign-offs">Sign-offs</h2>
<p>With <code>git push -o sign-off</code>, or a box in the form, an author affirms the <a href="https://developercertificate.org/">Developer Certificate of Origin
1.1</a>. Each commit then ends with <code>Signed-off-by:</code> and exactly its author: the bot's
name and placeholder address. The <a href="https://github.com/apps/dco">DCO app</a> passes that, as it compares a sign-off with the
commit's author. The author's own sign-offs go; those of other people stay. With <code>sign_off: required</code> in
<code>.gitveil.yml</code>, the service refuses a pull request without it.</p>
<p><strong>Such a sign-off is the statement of a pseudonym.</strong> Somebody has affirmed the certificate for this contribution, but
you cannot know who, and neither can the service. Where a known identity is required, it is not enough:</p>
<ul>
<li>The Linux kernel takes &quot;<a href="https://docs.kernel.org/process/submitting-patches.html">a known identity (sorry, no anonymous
contributions)</a>&quot;.</li>
<li>QEMU takes a name that you choose, but it &quot;should not be anonymous&quot; (its page on code provenance).</li>
<li>Gentoo's <a href="https://www.gentoo.org/glep/glep-0076.html">GLEP 76</a> asks for the name of a natural person.</li>
<li>A contributor licence agreement is a contract with a person, who has to be known.</li>
</ul>
<p><strong>A known person can adopt the contribution</strong>, under clause (b) or (c) of the certificate if that is true for them. They
apply the commits with a sign-off of their own, and propose or push the result:</p>
<pre tabindex="0"><code>curl -fsSL &lt;pull request&gt;.patch | git am --signoff
</code></pre>
<p><code>&lt;pull request&gt;</code> is its address at the code host, which serves the patch itself. The bot stays the author, the person
becomes the committer and signs off below it. The patch has no merges. GitHub makes none of more than 300 files or 20,000
lines: fetch the branch with Git instead. At Gitea and Forgejo, write <code>.patch?binary=true</code> if there are binary files.</p>
<h2 id="badges">Badges</h2>
<p>Copy one into your README. Each leads to a page of the service that shows how to contribute.</p>
<p>How many pull requests of the repository were opened through the service:</p>
<pre tabindex="0"><code>[![Anonymous PRs](&lt;service&gt;/badge/&lt;owner&gt;/&lt;repo&gt;)](&lt;service&gt;/v1/gh/&lt;owner&gt;/&lt;repo&gt;)
</code></pre>
<p>Whether it welcomes them: green if its <code>.gitveil.yml</code> has <code>anonymous_friendly: true</code>:</p>
<pre tabindex="0"><code>[![anonymous-friendly](&lt;service&gt;/badges/anonymous-friendly.svg?repo=&lt;owner&gt;/&lt;repo&gt;)](&lt;service&gt;/v1/gh/&lt;owner&gt;/&lt;repo&gt;)
</code></pre>
<p>Which commit the service runs; red while pushes are suspended:</p>
<pre tabindex="0"><code>[![deployed](&lt;service&gt;/badges/deployed.svg)](&lt;service&gt;/)
</code></pre>
<p>For a repository at another host than the service's first one, write its key: <code>/badge/&lt;host&gt;/&lt;owner&gt;/&lt;repo&gt;</code> and
<code>/v1/&lt;host&gt;/&lt;owner&gt;/&lt;repo&gt;</code>, and <code>?host=&lt;host&gt;&amp;repo=&lt;owner&gt;/&lt;repo&gt;</code> for the second badge.</p>
<h2 id="reporting-abuse">Reporting abuse</h2>
<ul>
<li><strong>A comment</strong>: follow its <code>report</code> link and press the button. No account is needed, and only a keyed hash of your
address is kept. After three reports within 30 days, the pseudonym's karma becomes 0, also below its earlier comments.
It may not comment for six hours, and then at most once every six hours. After six reports, all its comments are
deleted, and it is blocked on this thread until the operator pardons it.</li>
<li><strong>A pull request or an issue</strong>: close it, and lock the conversation if you like. The bot does not reopen it, but its
author may open another one.</li>
<li><strong>A flood</strong>: tell the operator of the service; the line below an issue, and the footer of a pull request if you asked
for one, link to it. The operator can stop all pushes at once and close the pull requests of the last two hours.</li>
<li><strong>Illegal content, or content against GitHub's terms</strong>: report it to GitHub, as for any account. The operator cannot
find out who wrote it.</li>
</ul>
<h2 id="blocking">Blocking</h2>
<ul>
<li><code>accept: false</code> in <code>.gitveil.yml</code> stops everything that comes through a service that runs this code.</li>
<li>Block the bot's account on GitHub (on its profile, or in the organisation's settings under <strong>Moderation</strong>). It can
then neither open pull requests and issues nor comment in your repositories, whatever the service does.</li>
<li><a href="https://docs.github.com/en/communities/moderating-comments-and-conversations/limiting-interactions-in-your-repository">Interaction
limits</a>
stop accounts that have not contributed before. As above, they no longer stop the bot once you have merged one of its
pull requests.</li>
</ul>
`;
