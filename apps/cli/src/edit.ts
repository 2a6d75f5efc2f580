import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { editorCommand } from './environment.ts'
import { Failure, invalid, toFailure } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import type { Globals } from './globals.ts'
import { exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { checkInput } from './options.ts'
import { log } from './output.ts'
import { answerRecord, checkFields, picked } from './print-records.ts'
import { printable } from './printable.ts'
import { call, ID, IF_VERSION, type JsonObject, KEY, type Noun, type Procedure } from './procedures.ts'
import { confirm, isInteractive } from './prompt.ts'
import { recordFields } from './table-columns.ts'
import { showUndo } from './undo-hint.ts'

/** The command that changes a record in a text editor. */
export function editCommand(noun: Noun, update: Procedure): Command {
  const fields = fieldsOf(update.input)
  const editable = fields.filter(({ name, secret }) => ![ID, IF_VERSION, KEY].includes(name) && !secret)
  const command = new Command('edit')
    .summary(`${update.meta.openapi.summary} in a text editor`)
    .description(
      'Opens the fields of a record as JSON in $VISUAL or $EDITOR and saves the changed ones. If the record has changed in the meantime, nothing is saved and the text is kept.',
    )
    .argument(`<${ID}>`, 'id of the record')
    .addHelpText(
      'after',
      exampleText([`${noun} edit 7`, `EDITOR='code --wait' resource ${noun} edit 7`]).replace(
        '$ resource EDITOR',
        '$ EDITOR',
      ),
    )
  return command.action(async (text: string) => {
    const globals = command.optsWithGlobals<Globals>()
    const idField = fields.find(({ name }) => name === ID) as Field
    const id = parseValue(idField, text)
    checkFields(globals, recordFields(noun))
    checkInput(update, { [ID]: id }, fields)
    await withClient(globals, fields, async (client) => {
      const record = await call(client, noun, 'get', { [ID]: id })
      const before = picked(
        record,
        editable.map(({ name }) => name),
      )
      const file = join(mkdtempSync(join(tmpdir(), 'resource-')), `${noun}-${id}.json`)
      writeFileSync(file, `${JSON.stringify(before, null, 2)}\n`, { mode: 0o600 })
      try {
        const changes = await edited(file, before, update, editable)
        const isSame = Object.keys(changes).length === 0
        if (isSame) log('Nothing was changed.')
        const input = { [ID]: id, ...changes, [IF_VERSION]: record.version }
        const saved = isSame ? record : await call(client, noun, 'update', input)
        await answerRecord(saved, globals)
        if (!isSame) showUndo(saved)
      } catch (error) {
        const failure = toFailure(error, globals, fields)
        throw new Failure(failure.outcome, `${failure.message}\nYour text is in ${file}`, { ...failure.details, file })
      }
      rmSync(dirname(file), { recursive: true })
    })
  })
}

/** The changed fields after the editor has closed. While the text is invalid, asks to edit it again. */
async function edited(file: string, before: JsonObject, update: Procedure, fields: Field[]): Promise<JsonObject> {
  for (;;) {
    await runEditor(file)
    try {
      const changes = changesIn(readFileSync(file, 'utf8'), before)
      checkInput(update, { [ID]: 1, ...changes }, fields)
      return changes
    } catch (error) {
      if (!isInteractive()) throw error
      process.stderr.write(`${printable(toFailure(error).message)}\n`)
      if (!(await confirm('Edit the text again?'))) throw error
    }
  }
}

function changesIn(text: string, before: JsonObject): JsonObject {
  let after: unknown
  try {
    after = JSON.parse(text)
  } catch (error) {
    throw invalid(`The text is not valid JSON: ${(error as Error).message}`)
  }
  if (typeof after !== 'object' || after === null || Array.isArray(after))
    throw invalid('The text must be a JSON object')
  const unknown = Object.keys(after).filter((name) => !(name in before))
  if (unknown.length > 0) throw invalid(`Unknown fields: ${unknown.join(', ')}`)
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}

async function runEditor(file: string): Promise<void> {
  const editor = editorCommand()
  // Through the shell, because the variable may contain arguments.
  const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Failure('unexpected', `The editor "${editor}" ended with code ${code}`)
}
