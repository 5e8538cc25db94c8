import { Problem } from '../problem.ts';
import { TransientStoreError } from './object-store.ts';

/** The system's error code (`ENOENT`), if this is an error of the system. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether there is no file of that name. A name with a file where it needs a folder, or a folder itself, is no object either. */
export function isMissingFile(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
}

/** The error to throw for what the system said while the store was asked `doing`; errors that are not the system's go through. */
export function directoryError(error: unknown, doing: string): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof Problem) return error;
  const message = `The directory refused ${doing}`;
  if (passing.has(code)) {
    return new TransientStoreError({ kind: 'server', ambiguous: true, message: `${message} (${code}).`, cause: error });
  }
  const [problemCode, title, because, advice] = refusals[code] ?? unknown;
  return new Problem({ code: problemCode, title, what: `${message}: ${because} (${code}).`, advice, cause: error });
}

/** The directory's names are taken up, or the machine is short of something, for the moment. */
const passing = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EINTR', 'ETXTBSY', 'ESTALE']);

type Refusal = readonly [code: string, title: string, because: string, advice: string];

const denied: Refusal = [
  'store-access-denied',
  'The directory may not be written or read',
  'the user of this job may not do that',
  'Give the user that runs this job the right to write in the directory and to read what is in it.',
];
const full: Refusal = [
  'store-full',
  'The disk is full',
  'there is no space left',
  'Make space, then run the job again; nothing that readers see has been changed by this write.',
];
const misplaced: Refusal = [
  'store-name-taken',
  'A name in the directory is taken by something else',
  'a file is where a folder is needed, or the other way round',
  'Look at the directory under that name and move away what is not part of the repository.',
];
const tooLong: Refusal = [
  'store-key-too-long',
  'The name of a file is too long',
  'its name is longer than the file system allows',
  'Use shorter names, or another file system.',
];
const unknown: Refusal = [
  'store-refused',
  'The directory refused an operation',
  'the file system says no',
  'Look the code up in errno(3) and see to the file system.',
];

const refusals: Readonly<Record<string, Refusal>> = {
  EACCES: denied,
  EPERM: denied,
  EROFS: denied,
  ENOSPC: full,
  EDQUOT: full,
  ENOTDIR: misplaced,
  EISDIR: misplaced,
  EEXIST: misplaced,
  ENOTEMPTY: misplaced,
  ENAMETOOLONG: tooLong,
};
