import type { Conditions } from '../../src/publish/suite-record.ts';
import { allConditions, likenesses, type Quirks } from '../rig/s3-quirks.ts';
import { speed } from './vendor-clock.ts';

/** A kind of store, and what a publisher must find out about it. */
export interface Vendor {
  readonly name: string;
  readonly quirks: Quirks;
  readonly conditions: Conditions;
  /** What the users of such a store are told with every run that writes; nothing when absent. */
  readonly warning?: RegExp;
  /** Publishes a package of several parts too. */
  readonly large?: boolean;
}

const bare = { kind: 'enforced', etags: 'bare' } as const;
const none = {
  conditions: { kind: 'none', etags: 'bare' },
  warning: /does not hold conditional writes \(If-None-Match, If-Match\)\. .*let only one run at a time/,
} as const;
const createOnly = {
  conditions: { kind: 'create-only', etags: 'bare' },
  warning: /does not hold If-Match on writes\. .*let only one run at a time/,
} as const;

const mebibyte = 1024 ** 2;
/** One write a second on a key, by a clock that runs faster. */
const writeIntervalMs = 1000 / speed;

/** References are to known faults of such tools: what the likeness stands for was met there. */
export const vendors: readonly Vendor[] = [
  { name: 'AWS as documented', quirks: {}, conditions: bare, large: true },
  { name: 'AWS, whose race losers get 409', quirks: { raceLosers: 409 }, conditions: bare },
  {
    name: 'AWS with ACLs off (medplum/medplum#5491, cloudyr/aws.s3#435)',
    quirks: { aclRefused: true },
    conditions: bare,
  },
  {
    name: 'AWS with SSE-KMS: opaque ETags (aptly-dev/aptly#1117, #1272)',
    quirks: { opaqueEtags: true },
    conditions: bare,
    large: true,
  },
  {
    name: 'AWS in the region it is asked in',
    quirks: { region: { name: 'us-east-1', others: 301 } },
    conditions: bare,
  },
  {
    name: 'Cloudflare R2: one write a second on a key',
    quirks: { ...likenesses.r2, writeIntervalMs },
    conditions: bare,
  },
  {
    name: 'R2 of January 2025: 501 to checksums (aws/aws-sdk-js-v3#6810, cloudflare/cloudflare-docs#19236)',
    quirks: { ...likenesses.r2, writeIntervalMs, checksums: 501 },
    conditions: bare,
  },
  {
    name: 'Google Cloud Storage: conditions ignored (apache/opendal#7889, aptly-dev/aptly#1437)',
    quirks: { ...likenesses.gcs, writeIntervalMs },
    ...none,
    large: true,
  },
  {
    name: 'GCS without DeleteObjects (aptly-dev/aptly#891)',
    quirks: { ...likenesses.gcs, writeIntervalMs, deleteObjects: 'unsupported' },
    ...none,
  },
  {
    name: 'Backblaze B2: 501 to conditions, 400 to checksums (iterate-ch/cyberduck#16107, grafana/mimir#7270)',
    quirks: { ...likenesses.b2, checksums: 400 },
    ...none,
    large: true,
  },
  { name: 'Ceph 16 (aptly-dev/aptly#218, #356)', quirks: likenesses.ceph16, conditions: bare, large: true },
  {
    name: 'Ceph 16 with bare ETags in its answers',
    quirks: { ...likenesses.ceph16, unquotedEtags: true },
    conditions: bare,
  },
  { name: 'OpenStack Swift (milvus-io/talon#527)', quirks: likenesses.swift, ...none },
  {
    name: 'MinIO before August 2025: If-Match creates, Content-MD5 wanted (minio/minio#20849, aws/aws-sdk-js-v3#6920)',
    quirks: {
      ifMatchOnMissing: 'created',
      deleteObjects: 'content-md5-only',
      conditions: { 'delete-if-match': 'ignored', 'copy-if-match': 'ignored', 'copy-if-none-match': 'ignored' },
    },
    conditions: bare,
  },
  {
    name: 'Oracle: every condition ignored in silence (lxc/incus#3651)',
    quirks: { conditions: allConditions('ignored') },
    ...none,
  },
  { name: 'one that ignores If-Match only', quirks: { conditions: { 'put-if-match': 'ignored' } }, ...createOnly },
  { name: 'one that refuses If-Match only', quirks: { conditions: { 'put-if-match': 'refused' } }, ...createOnly },
  {
    name: 'one that ignores conditions on completions only',
    quirks: { conditions: { 'complete-if-none-match': 'ignored' } },
    conditions: bare,
    large: true,
  },
  {
    name: 'one that refuses conditions on completions only',
    quirks: { conditions: { 'complete-if-none-match': 'refused' } },
    conditions: bare,
    large: true,
  },
  { name: 'one with pages of two keys', quirks: { pageSize: 2 }, conditions: bare },
  {
    name: 'one that refuses aws-chunked bodies (storj/gateway-st#89)',
    quirks: { awsChunked: 501, checksums: 501 },
    conditions: bare,
    large: true,
  },
  {
    name: 'one behind a proxy that takes 8 MiB a request (aptly-dev/aptly#1179)',
    quirks: { maxBody: 8 * mebibyte },
    conditions: bare,
    large: true,
  },
];
