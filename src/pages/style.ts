/**
 * The one style of all pages: the system's fonts, one accent colour, light and dark.
 *
 * Each page contains it, so a browser needs no second request. The page's policy allows it by its hash.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fcfcfa; --card: #ffffff; --line: #dfe1dc; --field-line: #82887f;
  --ink: #1c211f; --soft: #59615d; --accent: #0b6b62; --on-accent: #ffffff;
  --amber: #8a5300; --red: #b3261e; --added: #dff3e4; --removed: #fbe3e1;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #111514; --card: #191e1d; --line: #2e3533; --field-line: #7d8783;
    --ink: #e7ebe8; --soft: #a3ada8; --accent: #5fd0c0; --on-accent: #06201c;
    --amber: #f0b458; --red: #ff8f86; --added: #16352a; --removed: #43211f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
body > * { width: 100%; max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
body > header, body > footer {
  display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: center; justify-content: space-between;
}
body > header { padding-top: 1rem; padding-bottom: 0.75rem; }
body > footer {
  margin-top: auto; padding-top: 0.75rem; padding-bottom: 1rem; color: var(--soft); font-size: 0.875rem;
}
main.narrow { max-width: 42rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
.brand {
  display: inline-flex; align-items: center; gap: 0.5rem;
  color: var(--ink); font-weight: 650; font-size: 1.125rem; text-decoration: none;
}
.brand svg { width: 1.5rem; height: 1.5rem; color: var(--accent); }
h1 { margin: 0.75rem 0 0.5rem; font-size: clamp(1.65rem, 1.2rem + 2vw, 2.25rem); line-height: 1.2; text-wrap: balance; }
h2 { margin: 0 0 0.5rem; font-size: 1.0625rem; line-height: 1.35; }
p, ul, ol { margin: 0 0 0.75rem; }
p, li { max-width: 42rem; }
ul, ol { padding-left: 1.2rem; }
li { margin: 0.25rem 0; }
li::marker { color: var(--accent); }
.lead { font-size: 1.125rem; color: var(--soft); max-width: 46rem; }
.lead + .card { margin-top: 1.25rem; }
.status { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-bottom: 1.25rem; }
.soft { color: var(--soft); }
.small { font-size: 0.875rem; }
code, .mono { font-family: var(--mono); font-size: 0.92em; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem; margin: 0 0 1.25rem;
}
.columns { display: grid; gap: 1.25rem; margin: 0 0 1.25rem; }
.columns .card { margin: 0; }
.card > :last-child { margin-bottom: 0; }
@media (min-width: 46rem) {
  .columns { grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
}
label { display: block; font-weight: 600; margin-bottom: 0.375rem; }
.field { display: flex; flex-wrap: wrap; gap: 0.625rem; }
input[type="text"], input[type="password"], select, textarea {
  flex: 1 1 14rem; min-width: 0; padding: 0.625rem 0.75rem; font: inherit; font-family: var(--mono);
  color: inherit; background: var(--ground); border: 1px solid var(--field-line); border-radius: 8px;
}
textarea { display: block; width: 100%; line-height: 1.45; resize: vertical; }
textarea:not(.mono) { font-family: inherit; }
textarea.mono { overflow-x: auto; tab-size: 4; }
.choice input { width: auto; margin: 0 0.5rem 0 0; }
.row { margin: 0 0 1rem; }
.row input, .row select { display: block; width: 100%; }
.row.check input, .row.check label { display: inline; width: auto; }
input[readonly] { border-style: dashed; }
.hint { margin: -0.25rem 0 0.375rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.625rem; }
.crumbs { margin: 0.75rem 0 0; }
.crumbs + h1 { margin-top: 0.25rem; }
input[aria-invalid="true"] { border-color: var(--red); }
.error { color: var(--red); margin: 0.5rem 0 0; }
button {
  font: inherit; font-weight: 600; padding: 0.625rem 1.125rem; border-radius: 8px; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent);
}
button:hover { filter: brightness(1.08); }
button.second { color: var(--accent); background: transparent; }
button.quiet {
  flex: none; padding: 0.25rem 0.75rem; font-size: 0.875rem; color: var(--accent); background: transparent;
}
.command { margin: 0.75rem 0 0; }
.command:first-child { margin-top: 0; }
.after-commands { margin-top: 0.875rem; }
p code { white-space: nowrap; }
.command p { margin: 0 0 0.25rem; }
.command div {
  display: flex; align-items: center; gap: 0.75rem; padding: 0.5rem 0.75rem;
  background: var(--ground); border: 1px solid var(--line); border-radius: 8px;
}
.command code { flex: 1; min-width: 0; overflow-x: auto; white-space: pre; }
.facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.625rem 1.5rem; margin: 0; align-items: baseline; }
pre + .facts, .facts + p { margin-top: 0.75rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.facts dd small { display: block; font-size: 0.9375rem; font-weight: 400; color: var(--soft); }
.dot { display: inline-block; width: 0.625rem; height: 0.625rem; border-radius: 50%; margin-right: 0.5rem; background: currentColor; }
.good { color: var(--accent); } .warn { color: var(--amber); } .bad { color: var(--red); }
.steps { display: grid; grid-template-columns: repeat(6, 1fr); gap: 4px; max-width: 15rem; margin: 0.375rem 0; }
.steps span { height: 0.5rem; border-radius: 2px; border: 1px solid var(--field-line); }
.steps .on { background: currentColor; border-color: currentColor; }
.notice { border-left: 4px solid var(--accent); padding: 0.125rem 0 0.125rem 1rem; margin: 1.25rem 0 1.5rem; }
.notice.bad { border-color: var(--red); color: inherit; }
.notice p:last-child { margin: 0; }
.list { list-style: none; padding: 0; margin: 0; }
.list li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; max-width: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.group { margin: 2.5rem 0 0.25rem; font-size: 1.35rem; }
h3 { margin: 0 0 0.25rem; font-size: 1.0625rem; }
h4 { margin: 1rem 0 0.375rem; font-size: 1rem; }
article { scroll-margin-top: 1rem; }
article p code { white-space: normal; }
.contents { display: grid; gap: 1rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.contents ul { list-style: none; padding: 0; margin: 0; }
.method { display: inline-block; min-width: 3rem; font: 700 0.75rem/1 var(--mono); color: var(--soft); }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.375rem; }
th, td { text-align: left; vertical-align: top; padding: 0.375rem 1rem 0.375rem 0; border-top: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 400; }
tbody th { font-weight: 400; white-space: nowrap; }
.answers { display: grid; grid-template-columns: auto 1fr; gap: 0.375rem 1rem; margin: 0; }
.answers dd { margin: 0; min-width: 0; }
.answers ul { margin: 0.25rem 0 0; }
pre {
  margin: 0; padding: 0.625rem 0.75rem; overflow-x: auto; background: var(--ground);
  border: 1px solid var(--line); border-radius: 8px;
}
pre.text { white-space: pre-wrap; overflow-wrap: anywhere; }
pre.said { font: inherit; padding: 0; background: none; border: 0; }
.said-by { margin: 1rem 0 0.125rem; }
.said-by, pre.said { overflow-wrap: anywhere; }
pre.said:last-of-type { margin-bottom: 1rem; }
#problem p { white-space: pre-line; }
nav.card { display: block; }
main > form:last-child { margin-bottom: 1.25rem; }
.files li { justify-content: flex-start; }
.difference { font-family: var(--mono); font-size: 0.875rem; }
.difference td { border: 0; padding: 0 0.625rem 0 0; }
.difference td:not(:last-child) { color: var(--soft); text-align: right; width: 1%; white-space: nowrap; }
.difference code { font-size: inherit; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.difference tbody + tbody td { border-top: 1px dashed var(--line); }
.difference tbody + tbody tr + tr td { border-top: 0; }
.difference .added { background: var(--added); } .difference .removed { background: var(--removed); }
.difference .added td, .difference .removed td { color: var(--ink); }
@media print { button, nav { display: none; } }
`;
