/** The little XML that S3 speaks: elements and text, no attributes that matter, no mixed content. */

/** Markup that is ready to be sent. */
export interface Markup {
  readonly xml: string;
}

/** `<name>children</name>`; strings are escaped, markup goes in as it is. */
export function element(name: string, ...children: readonly (string | number | boolean | Markup)[]): Markup {
  const inner = children.map((child) => (typeof child === 'object' ? child.xml : escapeText(String(child)))).join('');
  return { xml: `<${name}>${inner}</${name}>` };
}

/** A whole document with S3's namespace on its root. */
export function xmlDocument(name: string, ...children: readonly (string | Markup)[]): string {
  const root = element(name, ...children).xml;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${root.slice(name.length + 2)}`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => entities[character] ?? character);
}

/** An element that was read. */
export interface XmlNode {
  readonly name: string;
  readonly children: readonly XmlNode[];
  /** The text directly inside, entities resolved. */
  readonly text: string;
}

/** Reads a document; undefined when it is not well-formed. */
export function parseXml(source: string): XmlNode | undefined {
  interface Open {
    readonly name: string;
    readonly children: XmlNode[];
    text: string;
  }
  const root: Open = { name: '', children: [], text: '' };
  const open: Open[] = [root];
  for (const [, declaration, closing, opening, text] of source.matchAll(
    /(<\?[^>]*\?>)|<\/([\w:.-]+)\s*>|<([\w:.-]+(?:\s[^>]*)?\/?)>|([^<]+)/g,
  )) {
    const top = open.at(-1);
    if (top === undefined) return undefined;
    if (declaration !== undefined) continue;
    if (text !== undefined) {
      top.text += resolveEntities(text);
    } else if (opening !== undefined) {
      const name = /^[\w:.-]+/.exec(opening)?.[0] ?? '';
      const node: Open = { name, children: [], text: '' };
      top.children.push(node);
      if (!opening.endsWith('/')) open.push(node);
    } else if (open.pop()?.name !== closing) {
      return undefined;
    }
  }
  return open.length === 1 ? root.children[0] : undefined;
}

/** The text of the first child of that name. */
export function childText(node: XmlNode, name: string): string | undefined {
  return node.children.find((child) => child.name === name)?.text;
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function resolveEntities(text: string): string {
  return text.replace(/&(?:#x([\da-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return characters[name] ?? whole;
  });
}
