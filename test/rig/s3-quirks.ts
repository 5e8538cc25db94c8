/**
 * In what ways the rig's S3 server departs from what AWS documents. Every switch is the behaviour of a real service or of a
 * store met in the field; without any the server is as AWS says. `likenesses` puts them together into whole services.
 */
export interface Quirks {
  /** Conditions that are dropped without a word (Oracle, GCS, most emulators) or answered with 501 (B2, Swift). */
  readonly conditions?: Readonly<Partial<Record<ConditionPlace, 'ignored' | 'refused'>>>;
  /** `If-Match` holds only for the ETag without its quotes (Ceph before 20). */
  readonly ifMatchUnquotedOnly?: boolean;
  /** `If-Match` on a key that does not exist: writes it (MinIO until August 2025) or 412 (Ceph 16); 404 as documented. */
  readonly ifMatchOnMissing?: 'created' | 412;
  /**
   * What a conditional writer gets that lost against a request in flight at the same time: 409 ConditionalRequestConflict
   * (AWS now and then, Ceph 20) or a bare 500 (Ceph 16 and 18). One that comes afterwards gets 412 everywhere.
   */
  readonly raceLosers?: 409 | 500;
  /** `x-amz-checksum-*` headers and trailers are answered with this status (400: B2; 501: R2 in 2025). */
  readonly checksums?: 400 | 501 | 'ignored';
  /** Bodies in aws-chunked framing are answered with this status (411: Ceph 16; 501: storj and others). */
  readonly awsChunked?: 411 | 501;
  /** A missing key answers 403, as everywhere where the caller may not list the bucket. */
  readonly forbiddenForMissing?: boolean;
  /** ETags say nothing about the content (SSE-KMS): no MD5, another one for each write of the same bytes. */
  readonly opaqueEtags?: boolean;
  /** ETags come without quotes. */
  readonly unquotedEtags?: boolean;
  /** The answer to CompleteMultipartUpload has an empty ETag (Ceph 16). */
  readonly completeWithoutEtag?: boolean;
  /** Keys in one page of a listing at most; 1000 as documented. */
  readonly pageSize?: number;
  /** DeleteObjects does not exist (501), or wants Content-MD5 and takes no checksum header in its place (MinIO, Swift). */
  readonly deleteObjects?: 'unsupported' | 'content-md5-only';
  /** Milliseconds that must lie between two writes of one key; sooner ones get 429 (R2 and GCS: 1000). */
  readonly writeIntervalMs?: number;
  /** An ACL header is answered with 400 AccessControlListNotSupported (AWS: buckets with ACLs off, the default now). */
  readonly aclRefused?: boolean;
  /** Largest body of one request in bytes; larger ones get 413. */
  readonly maxBody?: number;
  /** Smallest part, but for the last one; 5 MiB as documented. */
  readonly minPart?: number;
  /** Bodies of at least so many bytes are not kept: zeros are read in their place. For loads that are larger than memory. */
  readonly forgets?: number;
  /** The one region requests must be signed for; others get 301 PermanentRedirect or 400 AuthorizationHeaderMalformed. */
  readonly region?: { readonly name: string; readonly others: 301 | 400 };
}

export type ConditionPlace =
  | 'put-if-none-match'
  | 'put-if-match'
  | 'complete-if-none-match'
  | 'complete-if-match'
  | 'copy-if-none-match'
  | 'copy-if-match'
  | 'copy-source-if-match'
  | 'delete-if-match';

/** Every condition, dropped or refused alike. */
export function allConditions(fate: 'ignored' | 'refused'): Record<ConditionPlace, 'ignored' | 'refused'> {
  return {
    'put-if-none-match': fate,
    'put-if-match': fate,
    'complete-if-none-match': fate,
    'complete-if-match': fate,
    'copy-if-none-match': fate,
    'copy-if-match': fate,
    'copy-source-if-match': fate,
    'delete-if-match': fate,
  };
}

/** Whole services, as far as a publisher can tell them apart. Ceph's is held against the real one by the probe table. */
export const likenesses = {
  ceph16: {
    conditions: {
      'complete-if-none-match': 'ignored',
      'complete-if-match': 'ignored',
      'copy-if-none-match': 'ignored',
      'copy-if-match': 'ignored',
      'copy-source-if-match': 'ignored',
      'delete-if-match': 'ignored',
    },
    ifMatchUnquotedOnly: true,
    ifMatchOnMissing: 412,
    raceLosers: 500,
    checksums: 'ignored',
    awsChunked: 411,
    completeWithoutEtag: true,
  },
  /** Cloudflare R2: one write a second on a key; no destination conditions on Copy, none on Delete. */
  r2: {
    conditions: { 'copy-if-none-match': 'ignored', 'copy-if-match': 'ignored', 'delete-if-match': 'ignored' },
    writeIntervalMs: 1000,
    aclRefused: true,
  },
  /** Google Cloud Storage by its S3 interface: conditions are for generation numbers in headers of its own. */
  gcs: { conditions: allConditions('ignored'), writeIntervalMs: 1000, checksums: 400, awsChunked: 501 },
  /** Backblaze B2: 501 to every condition. */
  b2: { conditions: allConditions('refused') },
  /** OpenStack Swift with s3api: 501 to conditions on writes, Content-MD5 demanded. */
  swift: {
    conditions: {
      'put-if-none-match': 'refused',
      'put-if-match': 'refused',
      'copy-if-none-match': 'refused',
      'copy-if-match': 'refused',
    },
    deleteObjects: 'content-md5-only',
    checksums: 'ignored',
    awsChunked: 501,
  },
} as const satisfies Record<string, Quirks>;
