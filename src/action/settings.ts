import type { CommandRequest, RenameMethod } from '../publish/request.ts';

/** Everything the inputs and the environment say, parsed once. Nothing below this room sees a string that means a boolean. */
export interface Settings {
  /** What to do. */
  readonly request: CommandRequest;
  /** Where. */
  readonly store: StoreLocation | PublicLocation;
  /** Of the command import. */
  readonly origin?: OriginSettings;
  /** What to sign with; `unsigned` only when the user asked for it in so many words, `no-key` only in a dry run. */
  readonly signing: SigningSettings | 'unsigned' | 'no-key';
  /** The address that apt reads the repository from, without a trailing `/`. */
  readonly publicUrl?: string;
  /** Whether to keep pages about the repository in it; there is a `publicUrl` then. */
  readonly site?: true;
  /** `SOURCE_DATE_EPOCH` in seconds: the date that reproducible runs sign with instead of the clock's. */
  readonly sourceDateEpoch?: number;
  /** How canonical names are written; absent: as this run or an earlier one has found best. */
  readonly renameMethod?: RenameMethod;
  /** Whether and as whom to report on the pull request that the run belongs to. */
  readonly comment: CommentSettings;
  /** Where to write the trace of the run, relative to the workspace unless absolute. */
  readonly trace?: string;
  /** A folder for files that outlive the step, such as the run record: the runner's own, or the machine's. */
  readonly temporaryFolder: string;
}

export type StoreLocation = DirectoryLocation | BucketLocation;

interface DirectoryLocation {
  readonly kind: 'directory';
  /** As the user wrote it, relative to the workspace unless absolute. */
  readonly path: string;
}

interface BucketLocation {
  readonly kind: 's3';
  readonly bucket: string;
  /** Path of the repository inside the bucket, without leading or trailing `/`; empty for the bucket itself. */
  readonly prefix: string;
  /** Absent for AWS itself. Has no trailing `/`. */
  readonly endpoint?: string;
  /** Absent when neither the input nor the environment names one. */
  readonly region?: string;
  /** Whether the bucket's name goes into the path rather than the host name. */
  readonly forcePathStyle: boolean;
  readonly credentials: Credentials;
}

/** A bucket that a dry run has no keys of, as everybody sees it. */
export interface PublicLocation {
  readonly kind: 'public';
  /** http or https, without a trailing `/`. */
  readonly url: string;
}

/** What an import reads from, and whom it believes. */
export interface OriginSettings {
  /** Absent: the suites lie in the store itself. */
  readonly location?: StoreLocation | PublicLocation;
  /** The public key that must have signed them, as it was given; absent where the user vouches for them. */
  readonly key?: string;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. */
  readonly sessionToken?: string;
}

export interface SigningSettings {
  /** Secret keys as they were given: armored or base64, one or several. */
  readonly keys: string;
  readonly passphrase?: string;
  /** 40 or 16 upper-case hex digits, a trailing `!` for exactly this subkey; absent: every key signs. */
  readonly fingerprint?: string;
}

/** `auto` comments when the run belongs to a pull request; `always` also says so when it belongs to none. */
export const commentOccasions = ['auto', 'always', 'never'] as const;

export interface CommentSettings {
  readonly when: (typeof commentOccasions)[number];
  /** Of whom the comment is by; absent when the input is empty. */
  readonly token?: string;
}
