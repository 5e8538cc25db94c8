import { type Answer, S3Fault, xmlAnswer } from './s3-answer.ts';
import type { ListedMeta } from './s3-bucket.ts';
import { type Context, etagHeader } from './s3-objects.ts';
import type { S3Request } from './s3-request.ts';
import { element, type Markup } from './s3-xml.ts';

type Entry =
  | { readonly sort: string; readonly key: string; readonly meta: ListedMeta }
  | { readonly sort: string; readonly folder: string };

/** ListObjectsV2; `changesAgo` > 0 shows the bucket as it was that many changes ago. */
export function listObjects({ bucket, quirks }: Context, request: S3Request, changesAgo: number): Answer {
  const { query } = request;
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const startAfter = query.get('start-after') ?? '';
  const token = query.get('continuation-token');
  const asked = Number(query.get('max-keys') ?? 1000);
  if (!Number.isInteger(asked) || asked < 0)
    throw new S3Fault(400, 'InvalidArgument', 'max-keys must be a whole number');
  const limit = Math.min(asked, quirks.pageSize ?? 1000);
  const after = token === undefined ? startAfter : Buffer.from(token, 'base64url').toString();
  const page = pageOf(bucket.listing(changesAgo), { prefix, delimiter, after, limit });
  const last = page.entries.at(-1);
  const name = (text: string): string => (query.get('encoding-type') === 'url' ? encodeURIComponent(text) : text);
  return xmlAnswer(
    'ListBucketResult',
    element('Name', bucket.name),
    element('Prefix', name(prefix)),
    ...(delimiter === '' ? [] : [element('Delimiter', name(delimiter))]),
    ...(startAfter === '' ? [] : [element('StartAfter', name(startAfter))]),
    ...(query.has('encoding-type') ? [element('EncodingType', 'url')] : []),
    element('KeyCount', page.entries.length),
    element('MaxKeys', limit),
    element('IsTruncated', page.more),
    ...(token === undefined ? [] : [element('ContinuationToken', token)]),
    ...(page.more && last !== undefined
      ? [element('NextContinuationToken', Buffer.from(last.sort).toString('base64url'))]
      : []),
    ...page.entries.map(
      (entry): Markup =>
        'folder' in entry
          ? element('CommonPrefixes', element('Prefix', name(entry.folder)))
          : element(
              'Contents',
              element('Key', name(entry.key)),
              element('LastModified', new Date(entry.meta.modified).toISOString()),
              element('ETag', etagHeader(entry.meta.etag, quirks)),
              element('Size', entry.meta.size),
              element('StorageClass', 'STANDARD'),
            ),
    ),
  );
}

interface Cut {
  readonly prefix: string;
  readonly delimiter: string;
  readonly after: string;
  readonly limit: number;
}

/** `entry.sort` is what the next page continues after: the key itself, or the last key a folder stands for. */
function pageOf(
  listing: readonly (readonly [string, ListedMeta])[],
  cut: Cut,
): { readonly entries: readonly Entry[]; readonly more: boolean } {
  const entries: Entry[] = [];
  const after = Buffer.from(cut.after);
  let folder: string | undefined;
  for (const [key, meta] of listing) {
    if (!key.startsWith(cut.prefix)) continue;
    if (cut.after !== '' && Buffer.compare(Buffer.from(key), after) <= 0) continue;
    const end = cut.delimiter === '' ? -1 : key.indexOf(cut.delimiter, cut.prefix.length);
    const own = end < 0 ? undefined : key.slice(0, end + cut.delimiter.length);
    if (own !== undefined && own === folder) {
      entries[entries.length - 1] = { sort: key, folder: own };
      continue;
    }
    if (entries.length >= cut.limit) return { entries, more: cut.limit > 0 };
    folder = own;
    entries.push(own === undefined ? { sort: key, key, meta } : { sort: key, folder: own });
  }
  return { entries, more: false };
}
