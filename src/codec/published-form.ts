/** A stored form of an index as it is published, together with what it decodes to: what a new version may carry over. */
export interface PublishedForm {
  readonly packed: Uint8Array;
  readonly content: Uint8Array;
}
