import { element, xmlDocument } from './s3-xml.ts';

/** What goes back to the client. `body` is left out of answers to HEAD, its length is not. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** An error answer in S3's form: thrown anywhere while a request is handled. */
export class S3Fault extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { details?: Readonly<Record<string, string>>; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = more.details ?? {};
    this.headers = more.headers ?? {};
  }

  answer(): Answer {
    if (this.status === 304) return { status: 304, headers: this.headers };
    const details = Object.entries(this.details).map(([name, value]) => element(name, value));
    const document = `<?xml version="1.0" encoding="UTF-8"?>\n${
      element('Error', element('Code', this.code), element('Message', this.message), ...details).xml
    }`;
    return {
      status: this.status,
      headers: { 'content-type': 'application/xml', ...this.headers },
      body: Buffer.from(document),
    };
  }
}

export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers };
}

export function xmlAnswer(...document: Parameters<typeof xmlDocument>): Answer {
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xmlDocument(...document)) };
}

export const notImplemented = (what: string): S3Fault =>
  new S3Fault(
    501,
    'NotImplemented',
    `A header or query you provided implies functionality that is not implemented: ${what}`,
  );

export const accessDenied = (): S3Fault => new S3Fault(403, 'AccessDenied', 'Access Denied');

export const noSuchKey = (key: string): S3Fault =>
  new S3Fault(404, 'NoSuchKey', 'The specified key does not exist.', { details: { Key: key } });
