// Fails when a package has a license that is not listed here. Development dependencies may have some additional licenses.
import { run } from './run-command.mjs'

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
// File-level copyleft: no obligations for packages that are used unmodified and not distributed.
const FOR_TOOLS = new Set([...FOR_ALL, 'EPL-2.0', 'MPL-2.0'])

type Licenses = Record<string, { name: string; versions: string[] }[]>

const faults = [...(await unlisted(FOR_ALL, '--prod')), ...(await unlisted(FOR_TOOLS, '--dev'))]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

async function unlisted(allowed: Set<string>, scope: string): Promise<string[]> {
  const { code, stdout, output } = await run('pnpm', ['--recursive', 'licenses', 'list', '--json', scope], {
    quiet: true,
  })
  if (code !== 0) throw new Error(output)
  return Object.entries(JSON.parse(stdout) as Licenses)
    .filter(([license]) => !isAllowed(license, allowed))
    .flatMap(([license, packages]) => packages.map(({ name, versions }) => `${name}@${versions}: ${license}`))
}

/** In `(MIT OR CC0-1.0)` one license must be allowed, in `MIT AND ISC` both. */
function isAllowed(license: string, allowed: Set<string>): boolean {
  const alternatives = license.replace(/^\((.*)\)$/, '$1').split(/ or /i)
  return alternatives.some((licenses) => licenses.split(/ and /i).every((one) => allowed.has(one)))
}
