import { createHash } from 'node:crypto';

/** SHA-256 in lower-case hex: the only hash this tool compares by. */
export function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
