// Adds or removes a resource: see `npm run new -- --help`.
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { root, run } from '../run-command.mjs'
import { declarationSource, withFields, withNoun, withoutNoun } from './declaration.ts'
import { addedField } from './field.ts'
import { type Field, parseField, SYNTAX, searchKeyOf, UsageError } from './fields.ts'
import { withColumns, withModel, withoutModel } from './model.ts'
import { type Names, namesOf } from './names.ts'
import {
  filesOf,
  LIST,
  MODELS,
  migrationsNamed,
  modelsReferredTo,
  OPERATIONS,
  read,
  rejectTaken,
  SHARED,
} from './project.ts'
import { rulesSource, withoutRules, withRules } from './rules.ts'
import { testSource, withCases } from './test-source.ts'

const USAGE = `npm run new orders reference:text quantity:int:1..1000 'status:open|closed' user:ref:users
npm run new -- --field orders 'note:text?'     adds fields to a resource
npm run new -- --remove orders                 removes a resource again, before it is committed

The first argument is the plural name of the resource: orders, order-lines. A singular that is not in the dictionary needs --one:
npm run new -- people --one=person name:text

${SYNTAX}`

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS'))) throw error
  console.error((error as Error).message)
  process.exitCode = 1
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean' },
      one: { type: 'string' },
      remove: { type: 'boolean' },
      field: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const [plural, ...fields] = positionals
  if (values.help || plural === undefined) return console.log(USAGE)
  const names = namesOf(plural, values.one)
  if (values.remove) return remove(names)
  const removal = `npm run new -- --remove ${names.path}${values.one === undefined ? '' : ` --one=${values.one}`}`
  if (fields.length === 0) {
    throw new UsageError(`${names.label}: name at least one field, such as reference:text; npm run new -- --help lists the types.
To remove a resource: ${removal}`)
  }
  const parsed = fields.map(parseField)
  rejectRepeated(parsed)
  await (values.field ? addFields(names, parsed.map(addedField)) : add(names, parsed, removal))
}

/** @param removal the command that undoes it */
async function add(names: Names, fields: Field[], removal: string) {
  rejectTaken(names)
  const models = modelsReferredTo(fields)
  const schemaPrisma = withModel(read(MODELS), names, fields, models)
  const [declaration, rules, test] = filesOf(names)
  await allOrNothing(names, async () => {
    write(declaration, declarationSource(names, fields))
    write(LIST, withNoun(read(LIST), names))
    write(rules, rulesSource(names))
    write(OPERATIONS, withRules(read(OPERATIONS), names))
    write(test, testSource(names, fields))
    write(MODELS, schemaPrisma)
    await format(declaration, LIST, rules, OPERATIONS, test)
    await step('node', 'prisma/scripts/new-migration.ts', `add_${names.table}`)
    await regenerate()
  })
  console.log(`Created:
  ${filesOf(names).join('\n  ')}
Changed:
  ${SHARED.join('\n  ')}

npm start serves it at /${names.path} and /console/${names.noun}; npm test runs its tests.
To remove it before it is committed: ${removal}`)
}

/** Adds fields to a resource. Its file of tests gets cases for them, if it has the generated form. */
async function addFields(names: Names, fields: Field[]) {
  const [declaration, , test] = existingFiles(names)
  const schemaPrisma = withColumns(read(MODELS), names, fields, modelsReferredTo(fields))
  const isTested = existsSync(join(root, test)) && read(test).includes('testCollection(')
  const changed = [declaration, ...(isTested ? [test] : [])]
  const before = migrationsNamed('*')
  await allOrNothing(names, async () => {
    write(declaration, withFields(read(declaration), fields))
    if (isTested) write(test, withCases(read(test), fields))
    write(MODELS, schemaPrisma)
    await format(...changed)
    await step('node', 'prisma/scripts/new-migration.ts', `add_${fields[0]?.name}_to_${names.table}`)
    await regenerate()
  })
  const optional = fields.filter(({ nullable }) => nullable).map(({ name }) => name)
  console.log(`Created:
  ${migrationsNamed('*')
    .filter((file) => !before.includes(file))
    .join('\n  ')}
Changed:
  ${[...changed, ...SHARED.filter((file) => file !== LIST && file !== OPERATIONS)].join('\n  ')}${
    optional.length === 0 ? '' : `\n\nExisting records have no value, so null is allowed: ${optional.join(', ')}`
  }`)
}

function existingFiles(names: Names) {
  const files = filesOf(names)
  if (!existsSync(join(root, files[0])))
    throw new UsageError(`${names.label}: no such resource; ${files[0]} does not exist.`)
  return files
}

async function remove(names: Names) {
  const files = existingFiles(names)
  const { code, output } = await run('git', ['ls-tree', '-r', '--name-only', 'HEAD', '--', ...files], { quiet: true })
  if (code !== 0)
    throw new UsageError(
      `Nothing was removed: git ls-tree failed, so it is unknown whether ${names.label} is committed. ${output.trim()}`,
    )
  if (output !== '') {
    throw new UsageError(`${names.label}: the resource is committed, so databases may have its table. Nothing was removed.
Remove declaration, list entry and model yourself, and write a migration that drops the table: prisma/README.md.
Committed: ${output.trim().replaceAll('\n', ', ')}`)
  }
  await allOrNothing(names, async () => {
    write(MODELS, withoutModel(read(MODELS), names))
    write(LIST, withoutNoun(read(LIST), names))
    write(OPERATIONS, withoutRules(read(OPERATIONS), names))
    for (const file of files) discard(file)
    await format(LIST, OPERATIONS)
    await regenerate()
  })
  console.log(`Removed:
  ${files.join('\n  ')}
Changed:
  ${SHARED.join('\n  ')}

A database opened in the meantime keeps the table. Before you add the resource again, delete the database, or restore a backup.`)
}

function rejectRepeated(fields: Field[]) {
  const names = fields.flatMap((field) => [
    field.name,
    ...(field.searched ? [searchKeyOf(field)] : []),
    ...(field.relation === undefined ? [] : [field.relation.name]),
  ])
  const repeated = names.find((name, at) => names.indexOf(name) < at)
  if (repeated !== undefined) throw new UsageError(`${repeated}: used by two fields; field names must be unique.`)
}

/** Regenerates the files derived from the contract and the models. */
async function regenerate() {
  await step('turbo', 'run', 'generate', '--output-logs=errors-only')
  await step('node', 'scripts/openapi-snapshot.ts', '--write', '--quiet')
}

/** Runs `work`; restores all files if it fails. */
async function allOrNothing(names: Names, work: () => Promise<void>) {
  const files = () =>
    [...new Set([...filesOf(names), ...migrationsNamed('*'), ...SHARED])].filter((file) => existsSync(join(root, file)))
  const before = files().map((path) => ({ path, text: read(path) }))
  try {
    await work()
  } catch (error) {
    for (const file of files()) if (!before.some(({ path }) => path === file)) discard(file)
    for (const { path, text } of before) write(path, text)
    await run('turbo', ['run', 'generate'], { quiet: true })
    console.error('Failed. All files were restored.')
    throw error
  }
}

/** Formats files and sorts imports. Skips the linter, which would scan the whole project. */
function format(...files: string[]) {
  return step('biome', 'check', '--write', '--linter-enabled=false', ...files)
}

async function step(command: string, ...args: string[]) {
  const { code, output } = await run(command, args, { quiet: true })
  if (code !== 0) throw new UsageError(`${[command, ...args].join(' ')} failed:\n${output.trim()}`)
}

function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** Deletes a file, and its folder if nothing else is in it. */
function discard(path: string) {
  const file = join(root, path)
  rmSync(file, { force: true })
  if (existsSync(dirname(file)) && readdirSync(dirname(file)).length === 0) rmdirSync(dirname(file))
}
