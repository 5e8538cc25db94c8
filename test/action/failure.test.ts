import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportFailure } from '../../src/action/failure.ts';
import { Problem, Problems } from '../../src/problem.ts';
import { type FakeRunner, fakeRunner } from './fake-runner.ts';

function problem(code: string, cause?: unknown): Problem {
  return new Problem({ code, title: `Title of ${code}`, what: `${code} happened.`, advice: 'Do this.', cause });
}

function reported(error: unknown): FakeRunner {
  const runner = fakeRunner();
  reportFailure(error, runner);
  assert.equal(runner.code(), 1);
  return runner;
}

describe('a failed run', () => {
  it('has one titled annotation for a problem, and its cause in the debug log only', () => {
    const { told } = reported(problem('bucket-missing', new Error('outer', { cause: new Error('inner') })));
    assert.deepEqual(
      told.map((line) => line.split('\n')[0]),
      [
        'error|Title of bucket-missing|bucket-missing happened. Do this.',
        'debug|code: bucket-missing',
        'debug|caused by: Error: outer',
        'debug|caused by: Error: inner',
      ],
    );
  });

  it('has an annotation for each of several problems', () => {
    const both = [problem('one'), problem('two')];
    for (const error of [new Problems(both), new AggregateError(both), new AggregateError([new Problems(both)])]) {
      assert.deepEqual(
        reported(error).told.filter((line) => line.startsWith('error')),
        ['error|Title of one|one happened. Do this.', 'error|Title of two|two happened. Do this.'],
      );
    }
  });

  it('says of anything else that it is a defect, with its stack', () => {
    const [line] = reported(new TypeError('x is not a function')).told;
    assert.match(
      line ?? '',
      /^error\|apt-publish failed unexpectedly\|.*report it.*TypeError: x is not a function\n +at /s,
    );
  });

  for (const odd of ['a string', undefined, null, 7, {}, Object.create(null)]) {
    it(`is reported although ${typeof odd === 'object' ? 'an odd object' : String(odd)} was thrown`, () => {
      assert.match(reported(odd).told.join('\n'), /^error\|apt-publish failed unexpectedly\|/);
    });
  }

  it('ends although causes go round in a circle', () => {
    const error = new Error('one');
    error.cause = new Error('two', { cause: error });
    assert.equal(reported(problem('round', error)).told.filter((line) => line.includes('caused by')).length, 2);
  });
});
