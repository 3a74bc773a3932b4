/**
 * Makes HTML by a tagged template that escapes every value, so that markup comes only from other
 * templates. Everything shown here was written by strangers.
 */

/** Markup that is escaped already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = Html | string | number | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const rendered = strings.map(
    (string, index) => (index === 0 ? '' : render(parts[index - 1] ?? '')) + string,
  );
  return new Html(rendered.join(''));
}

function render(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map((item) => item.text).join('');
  return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
