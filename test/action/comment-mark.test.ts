import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareRuns, configurationKey, markedBody, readMark } from '../../src/action/comment-mark.ts';

const configuration = {
  workflow: 'Publish',
  job: 'publish',
  step: '__apt-publish',
  suites: ['bookworm', 'trixie'],
  store: 's3',
};

describe('the mark of a comment', () => {
  const mark = { key: configurationKey(configuration), run: { id: 19_000_000_000, attempt: 2 } };

  it('is read back from the body it stands in, also when an editor has changed its line ends', () => {
    const body = markedBody(mark, 'Text');
    assert.deepEqual(readMark(body), mark);
    assert.deepEqual(readMark(body.replace('\n', '\r\n')), mark);
  });

  it('is none anywhere but in the first line, or in another form', () => {
    const body = markedBody(mark, 'Text');
    const others = [` ${body}`, `> ${body}`, `\n${body}`, `x${body}`, body.replace('=', ' = '), body.replace('.2', '')];
    for (const other of others) assert.equal(readMark(other), undefined, other);
  });

  it('differs with every part of a configuration, and not with the order of its suites', () => {
    const changes = [{ workflow: 'x' }, { job: 'x' }, { step: 'x' }, { suites: ['bookworm'] }, { store: 'directory' }];
    const keys = changes.map((change) => configurationKey({ ...configuration, ...change }));
    assert.equal(new Set([...keys, mark.key]).size, changes.length + 1);
    assert.equal(configurationKey({ ...configuration, suites: ['trixie', 'bookworm'] }), mark.key);
    assert.match(mark.key, /^[0-9a-f]{16}$/);
  });
});

describe('runs', () => {
  it('are in the order in which they were started, attempts at one among themselves', () => {
    const runs = ['9.9', '10.1', '10.2', '100.1'].map((text) => {
      const [id = 0, attempt = 0] = text.split('.').map(Number);
      return { id, attempt };
    });
    assert.deepEqual([...runs].reverse().sort(compareRuns), runs);
  });
});
