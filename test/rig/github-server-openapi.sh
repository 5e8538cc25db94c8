#!/bin/sh
# Renews github-server-openapi.json: of the description of its REST API that GitHub publishes, what has to do with comments on issues and
# pull requests, without the prose and the examples. The package itself, 404 MB unpacked, is too much for every `npm ci`.
#
#     sh test/rig/github-server-openapi.sh 23.0.2
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent "@octokit/openapi@$1" | xargs tar -xzf
node --input-type=module - package/generated/api.github.com.json "$here/github-server-openapi.json" <<'SCRIPT'
import { readFileSync, writeFileSync } from 'node:fs';

const [source, target] = process.argv.slice(2);
const { openapi, info, paths, components } = JSON.parse(readFileSync(source, 'utf8'));
const wanted = {
  '/repos/{owner}/{repo}/issues/{issue_number}/comments': ['get', 'post'],
  '/repos/{owner}/{repo}/issues/comments/{comment_id}': ['patch', 'delete'],
};
const kept = {};

function plain(node) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node.$ref === 'string') keep(node.$ref.split('/').slice(2));
  const entries = Object.entries(node).filter(
    ([name, value]) =>
      !name.startsWith('x-') && !['example', 'examples', 'externalDocs'].includes(name) &&
      !(['description', 'summary'].includes(name) && typeof value === 'string'),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, plain(value)]));
}

function keep([kind, name]) {
  kept[kind] ??= {};
  if (name in kept[kind]) return;
  kept[kind][name] = {};
  kept[kind][name] = plain(components[kind][name]);
}

const pathsKept = Object.fromEntries(
  Object.entries(wanted).map(([path, methods]) => [
    path,
    Object.fromEntries(methods.map((method) => [method, plain(paths[path][method])])),
  ]),
);
const extract = {
  openapi,
  info: { title: info.title, version: info.version, license: info.license },
  paths: pathsKept,
  components: kept,
};
writeFileSync(target, `${JSON.stringify(extract, undefined, 2)}\n`);
SCRIPT
"$here/../../node_modules/.bin/biome" format --write "$here/github-server-openapi.json"
