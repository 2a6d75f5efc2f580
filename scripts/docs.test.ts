import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'

const MOST_WORDS = 9_500
const MOST_WORDS_OF_ALL = 17_000
const MOST_WORDS_OF_A_DECISION = 600
// Words that the project's style replaces by standard terms.
const REPLACED =
  /\b(?:doors?|whoever|whomever|journeys?|anew|beside|cannot be had|what is too much|left out|is told|comes? round to|stands? for)\b/gi

const find = (...patterns: string[]) => globSync(patterns, { cwd: root }).sort()
const read = (path: string) => readFileSync(join(root, path), 'utf8')
// The lines of tables and code fences are not words.
const wordsOf = (path: string) => read(path).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0
/** As `wc -w` counts them. */
const allWordsOf = (path: string) => read(path).match(/\S+/g)?.length ?? 0

const guide = find('README.md', 'docs/**/*.md')
const decisions = find('docs/decisions/*.md')
const linked = [
  ...guide,
  ...find(
    '{SECURITY,CONTRIBUTING,CHANGELOG}.md',
    '{packages,apps}/*/*.md',
    '{prisma,tests,bench}/README.md',
    'tests/RESULTS.md',
  ),
]
const sources = find(
  '{apps,packages}/*/{src,test,scripts}/**/*.{ts,tsx,mjs}',
  'prisma/{src,test,scripts}/**/*.ts',
  '{tests,bench}/{src,test,scripts}/**/*.{ts,mjs}',
  'scripts/**/*.{ts,mjs}',
  'prisma/schema.prisma',
  '.spectral.yaml',
)
const rules = [...read('docs/reference/api-rules.md').matchAll(/^(?:\| |- \*\*)([USTBIC]\d+)\b/gm)].map(
  ([, number = '']) => number,
)
// Numbers at the start of a title, as in 'U12, C26 a taken address is a 409'.
const TITLE = /(?:\b(?:describe|test)|\))\(\s*['"`]([USTBIC]\d+(?:, [USTBIC]\d+)*) /g
// Numbers in a comment, as in 'API rule U1' and 'API rules U1 to U9, T1 and T2'.
const COMMENT = /\bAPI rules? ([USTBIC]\d+(?:(?:, | and | to )[USTBIC]\d+)*)/g

test('every relative link and anchor of the documentation resolves', () => {
  expect(guide).toContain('docs/reference/api-rules.md')
  expect(linked.flatMap((path) => linksOf(path).flatMap((link) => faultOf(path, link)))).toEqual([])
})

test('README and docs have at most 9,500 words', () => {
  expect(guide.reduce((sum, path) => sum + wordsOf(path), 0)).toBeLessThanOrEqual(MOST_WORDS)
})

test('all Markdown has at most 17,000 words, without the results of the benchmark', () => {
  const pages = find('*.md', 'docs/**/*.md', '{apps,packages}/*/*.md', '{bench,prisma,tests}/*.md')
  expect(pages).toContain('bench/RESULTS.md')
  const counted = pages.filter((path) => path !== 'bench/RESULTS.md')
  expect(counted.reduce((sum, path) => sum + allWordsOf(path), 0)).toBeLessThanOrEqual(MOST_WORDS_OF_ALL)
})

test.each(decisions)('%s has at most 600 words', (path) => {
  expect(wordsOf(path)).toBeLessThanOrEqual(MOST_WORDS_OF_A_DECISION)
})

test.each(guide)('%s uses the standard terms', (path) => {
  expect(read(path).match(REPLACED) ?? []).toEqual([])
})

test('every command with a TypeScript file runs on the Node that the README allows, by npx', () => {
  const commands = linked.flatMap((path) => read(path).match(/(?<![\w./])(?:npx )?node [\w./-]+\.ts/g) ?? [])
  expect(commands.length).toBeGreaterThan(5)
  expect(commands.filter((command) => !command.startsWith('npx '))).toEqual([])
})

test('every API rule has a number that no other rule has', () => {
  expect(rules.length).toBeGreaterThan(50)
  expect(rules.filter((number, index) => rules.indexOf(number) !== index)).toEqual([])
})

test('every API rule that a test title or a comment cites exists', () => {
  const unknown = sources.flatMap((path) =>
    [...citedBy(path, TITLE), ...citedBy(path, COMMENT)]
      .filter((number) => !rules.includes(number))
      .map((number) => `${path}: ${number}`),
  )
  expect(unknown).toEqual([])
})

test('every API rule is cited by a test title', () => {
  const cited = new Set(sources.flatMap((path) => citedBy(path, TITLE)))
  expect(rules.filter((number) => !cited.has(number))).toEqual([])
})

test('every test file that docs/reference/testing.md names exists', () => {
  const named = [...read('docs/reference/testing.md').matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !isFile(path) && !isFile(join('apps/server/test', path)))).toEqual([])
})

function isFile(path: string): boolean {
  return existsSync(join(root, path))
}

/** The numbers of the API rules that a file cites. */
function citedBy(path: string, pattern: RegExp): string[] {
  // A comment may wrap between two words of a citation.
  const text = read(path).replace(/\n *(?:\*|\/\/)? */g, ' ')
  return [...text.matchAll(pattern)].flatMap(([, numbers = '']) => numbers.match(/[USTBIC]\d+/g) ?? [])
}

/** The targets of the relative links in a Markdown file. */
function linksOf(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** What is wrong with a link; empty if it resolves. */
function faultOf(path: string, link: string): string[] {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? path : join(dirname(path), decodeURIComponent(file))
  if (!isFile(target)) return [`${path}: ${link} does not exist`]
  if (anchor === undefined || anchorsOf(target).has(anchor)) return []
  return [`${path}: ${link} has no such heading`]
}

/** The anchors that GitHub gives the headings of a Markdown file. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of read(path)
    .replace(FENCED, '')
    .matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

function withoutCode(text: string): string {
  return text.replace(FENCED, '').replace(/`[^`\n]*`/g, '')
}

const FENCED = /^ *```.*?^ *```$/gms
