/** What S3's error codes mean for a user of this action. Words only: `s3-errors` decides which one applies. */
export interface Refusal {
  readonly code: string;
  readonly title: string;
  /** After "The store refused to …:". */
  readonly because: string;
  readonly advice: string;
}

const accessDenied: Refusal = {
  code: 'store-access-denied',
  title: 'The store denied access',
  because: 'the credentials are not allowed to do that, or the object is missing and they may not list the bucket',
  advice:
    'Allow these credentials s3:GetObject and s3:PutObject on the objects, s3:ListBucket on the bucket, and s3:DeleteObject for cleaning.',
};
const unknownKey: Refusal = {
  code: 'store-credentials-unknown',
  title: 'The store does not know the access key',
  because: 'it does not know the access key',
  advice: 'Check `access-key-id`, and that the key belongs to this `endpoint` and is active.',
};
const wrongSecret: Refusal = {
  code: 'store-credentials-wrong',
  title: 'The secret access key does not fit',
  because: 'the signature made with the secret access key does not match',
  advice:
    'Check `secret-access-key` (all of it, without blanks or line ends), and that no proxy before the store changes requests.',
};
const expired: Refusal = {
  code: 'store-credentials-expired',
  title: 'The credentials of the store have expired',
  because: 'the session token is expired or not valid',
  advice: 'Get fresh credentials in a step just before this one, for a longer time than the job takes.',
};
const noCredentials: Refusal = {
  code: 'store-credentials-missing',
  title: 'There are no credentials for the store',
  because: 'no credentials could be obtained',
  advice: 'Set `access-key-id` and `secret-access-key`, or let a step before this one obtain credentials.',
};
const noBucket: Refusal = {
  code: 'store-bucket-missing',
  title: 'The bucket does not exist',
  because: 'there is no bucket of the name that `bucket` gives',
  advice: 'Check the spelling of `bucket` and the `endpoint`, or create the bucket first.',
};
const badBucketName: Refusal = {
  code: 'store-bucket-name',
  title: 'This is not the name of a bucket',
  because: '`bucket` does not hold a valid name',
  advice: 'Put the bare name into `bucket` and the path below it into `prefix`.',
};
const clockSkew: Refusal = {
  code: 'store-clock-skew',
  title: 'The clock of the runner is wrong',
  because: 'the clocks of the runner and of the store are too far apart',
  advice: 'Set the clock of the runner; S3 tolerates 15 minutes.',
};
const tooLarge: Refusal = {
  code: 'store-object-too-large',
  title: 'The store does not take an object of this size',
  because: 'the body of the request is too large for it',
  advice: 'Raise the limit of the store, or of the proxy before it, on the size of a request to at least 16 MiB.',
};
const full: Refusal = {
  code: 'store-full',
  title: 'The store is full',
  because: 'a quota is used up',
  advice: 'Raise the quota or remove something; nothing that readers see has been changed by this request.',
};
const uploadGone: Refusal = {
  code: 'store-upload-gone',
  title: 'A multipart upload has disappeared',
  because: 'the store does not know the multipart upload any more',
  advice: 'Run the job again; let no lifecycle rule abort uploads that are younger than a day.',
};
const keyTooLong: Refusal = {
  code: 'store-key-too-long',
  title: 'The name of an object is too long',
  because: 'its name is longer than the store allows',
  advice: 'Use a shorter `prefix`; S3 allows 1024 bytes in all.',
};
/** By S3 error code, by status where there is no code (answers to HEAD have no body), or by the name of a client-side error. */
export const refusals: Readonly<Record<string, Refusal>> = {
  AccessDenied: accessDenied,
  AllAccessDisabled: accessDenied,
  AccountProblem: accessDenied,
  '403': accessDenied,
  InvalidAccessKeyId: unknownKey,
  '401': unknownKey,
  SignatureDoesNotMatch: wrongSecret,
  ExpiredToken: expired,
  InvalidToken: expired,
  TokenRefreshRequired: expired,
  CredentialsProviderError: noCredentials,
  NoSuchBucket: noBucket,
  InvalidBucketName: badBucketName,
  RequestTimeTooSkewed: clockSkew,
  EntityTooLarge: tooLarge,
  '413': tooLarge,
  QuotaExceeded: full,
  InsufficientStorage: full,
  '507': full,
  NoSuchUpload: uploadGone,
  KeyTooLongError: keyTooLong,
};
