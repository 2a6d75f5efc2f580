// Fails when a package has a licence that is not listed here: some for all, some for what only builds and tests.
import { run } from './child.mjs'

const FOR_ALL = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
])
// Copyleft of files: what is used unchanged, and not handed on, owes nothing.
const FOR_TOOLS = new Set([...FOR_ALL, 'EPL-2.0', 'MPL-2.0'])

type Licences = Record<string, { name: string; versions: string[] }[]>

const faults = [...(await unlisted(FOR_ALL, '--prod')), ...(await unlisted(FOR_TOOLS, '--dev'))]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

async function unlisted(allowed: Set<string>, which: string): Promise<string[]> {
  const { code, stdout, output } = await run('pnpm', ['--recursive', 'licenses', 'list', '--json', which], {
    quiet: true,
  })
  if (code !== 0) throw new Error(output)
  return Object.entries(JSON.parse(stdout) as Licences)
    .filter(([licence]) => !isAllowed(licence, allowed))
    .flatMap(([licence, packages]) => packages.map(({ name, versions }) => `${name}@${versions}: ${licence}`))
}

/** `(MIT OR CC0-1.0)`: one is enough; `MIT AND ISC`: both must be. */
function isAllowed(licence: string, allowed: Set<string>): boolean {
  const either = licence.replace(/^\((.*)\)$/, '$1').split(/ or /i)
  return either.some((licences) => licences.split(/ and /i).every((one) => allowed.has(one)))
}
