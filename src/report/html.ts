/**
 * HTML that is safe to show. Names and descriptions come out of packages that anybody may have made, and stand on the page that tells
 * people which key to trust. Text becomes `Html` only through this file, so whatever has that type is escaped.
 */
declare const kind: unique symbol;
export type Html = string & { readonly [kind]: 'html' };

/** Joins literal HTML, which is ours, with values: text is escaped, `Html` and lists of it are put in as they are. */
export function html(literal: TemplateStringsArray, ...values: readonly (Html | readonly Html[] | Text)[]): Html {
  return literal.map((part, index) => `${part}${inserted(values[index])}`).join('') as Html;
}

/** Marks a value as text. A template of strings alone could not tell the two apart. */
export interface Text {
  readonly text: string;
}

export function text(value: string): Text {
  return { text: value };
}

export const nothing = html``;

/** A relative address of a file of the repository; `toRoot` leads from the page to what `dists/` lies in. */
export function link(toRoot: string, key: string): Text {
  return text(toRoot + key.split('/').map(encodeURIComponent).join('/'));
}

function inserted(value: Html | readonly Html[] | Text | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return 'text' in value ? escaped(value.text) : value.join('');
}

/** Without control characters, and without those that turn the direction of what follows them or are not seen at all. */
function escaped(value: string): string {
  return value
    .replace(/[^\P{C}\n\t]/gu, '\uFFFD')
    .replace(/[&<>"'`]/g, (character) => `&#${character.codePointAt(0)};`);
}
