import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

type Json = { readonly [name: string]: unknown };
type Check = (value: unknown, what: string) => void;

/** One operation of GitHub's REST API, with checks for what goes in and what comes out. */
export interface Operation {
  readonly id: string;
  /** `POST /repos/{owner}/{repo}/issues/{issue_number}/comments`. */
  readonly name: string;
  /** Fields of a path that this operation serves; undefined for every other path. */
  matches(method: string, path: string): ReadonlyMap<string, string> | undefined;
  /** Throws when GitHub describes no such request. */
  checkRequest(fields: ReadonlyMap<string, string>, query: URLSearchParams, body: unknown): void;
  /** Throws when GitHub describes no such answer. Errors that any operation may end with are held against `basic-error`. */
  checkAnswer(status: number, body: unknown): void;
}

/** What GitHub itself says of its REST API: an extract of the description it publishes, which github-server-openapi.sh makes. */
export async function readContract(): Promise<readonly Operation[]> {
  const text = await readFile(join(import.meta.dirname, 'github-server-openapi.json'), 'utf8');
  const contract: Json = JSON.parse(text);
  const int64 = { type: 'number', validate: (value: number) => Number.isSafeInteger(value) } as const;
  const uri = (text: string) => URL.canParse(text);
  // Not strict: OpenAPI 3.0 has words that JSON Schema does not know.
  const ajv = new Ajv({ strict: false, formats: { int64, uri, 'date-time': isMoment } });
  const check = (schema: unknown): Check => {
    const validate: ValidateFunction = ajv.compile(closed(schema, contract) as Json);
    return (value, what) => {
      if (!validate(value))
        throw new Error(`${what} is none that GitHub describes: ${ajv.errorsText(validate.errors)}`);
    };
  };
  return Object.entries(object(contract['paths'])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, described]) =>
      operation(method.toUpperCase(), path, object(closed(described, contract)), check),
    ),
  );
}

function operation(method: string, path: string, described: Json, check: (schema: unknown) => Check): Operation {
  const name = `${method} ${path}`;
  const parameters = list(described['parameters']).map(object);
  const checks = new Map(parameters.map((one) => [`${one['in']} ${one['name']}`, check(one['schema'])]));
  const integers = new Set(
    parameters.filter((one) => object(one['schema'])['type'] === 'integer').map((one) => one['name']),
  );
  const requestBody = described['requestBody'] === undefined ? undefined : check(schemaOf(described['requestBody']));
  const answerChecks = new Map<number, Check | undefined>();
  for (const [status, answer] of Object.entries(object(described['responses']))) {
    const schema = schemaOf(answer);
    answerChecks.set(Number(status), schema === undefined ? undefined : check(schema));
  }
  const errorCheck = check({ $ref: '#/components/schemas/basic-error' });
  const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  const checkParameter = (place: 'path' | 'query', field: string, text: string) => {
    const given = integers.has(field) && /^\d+$/.test(text) ? Number(text) : text;
    const rule = checks.get(`${place} ${field}`);
    if (rule === undefined) throw new Error(`${name} has no ${place} parameter ${field}`);
    rule(given, `the ${place} parameter ${field} of ${name}`);
  };
  return {
    id: String(described['operationId']),
    name,
    matches: (asked, at) => {
      const found = asked === method ? pattern.exec(at) : null;
      return found === null ? undefined : new Map(Object.entries(found.groups ?? {}));
    },
    checkRequest: (fields, query, body) => {
      for (const [field, text] of fields) checkParameter('path', field, text);
      for (const [field, text] of query) checkParameter('query', field, text);
      if (requestBody !== undefined) requestBody(body, `the body of ${name}`);
      else if (body !== undefined) throw new Error(`${name} has no body`);
    },
    checkAnswer: (status, body) => {
      const what = `the answer ${status} to ${name}`;
      if (!answerChecks.has(status) && status < 400) throw new Error(`${what} is none that GitHub describes`);
      const rule = answerChecks.has(status) ? answerChecks.get(status) : errorCheck;
      if (rule !== undefined) rule(body, what);
      else if (body !== undefined) throw new Error(`${what} has no body`);
    },
  };
}

/** A part of the description with everything it refers to in its place, and with no room for fields that it does not name. */
function closed(part: unknown, contract: Json): unknown {
  if (Array.isArray(part)) return part.map((item) => closed(item, contract));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...rest } = part as Json;
  if (typeof $ref === 'string') {
    const names = $ref.split('/').slice(1);
    return closed(
      names.reduce<unknown>((node, name) => object(node)[name], contract),
      contract,
    );
  }
  const inside = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, closed(value, contract)]));
  const isOpen = rest['type'] === 'object' && 'properties' in rest && !('additionalProperties' in rest);
  return isOpen ? { ...inside, additionalProperties: false } : inside;
}

/** Of a request or an answer; undefined when it has no body. */
function schemaOf(described: unknown): unknown {
  const { content } = object(described);
  return content === undefined ? undefined : object(object(content)['application/json'])['schema'];
}

function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Json;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text));
}
