import { contract } from '@resource/contract'
import { Command } from 'commander'
import { z } from 'zod'
import { fieldsOf, parseValue } from './fields.ts'
import type { Globals } from './globals.ts'
import { examplesOf, exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { addFieldOptions, checkInput, kebab } from './options.ts'
import { plainText } from './plain-text.ts'
import { isOnlyShown, type PreviewOptions, showPreview } from './preview.ts'
import { answer, answerRecord, answerRecords, checkFields } from './print-records.ts'
import { call, ID, type JsonObject, type Noun, type Procedure } from './procedures.ts'
import { approve, isInteractive } from './prompt.ts'
import { recordFields, tableColumns } from './table-columns.ts'
import { showUndo } from './undo-hint.ts'

/** The command of a procedure: `users set-status <id> --status <status>`. */
export function verbCommand(noun: Noun, verb: string, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const { summary = kebab(verb) } = procedure.meta.openapi
  const name = kebab(verb)
  const command = new Command(name).summary(summary).description(descriptionOf(procedure))
  const id = fields.find((field) => field.name === ID)
  if (id !== undefined) command.argument(`<${ID}>`, 'id of the record')
  const readOptions = addFieldOptions(
    command,
    fields.filter((field) => field !== id),
  )
  const isRemoval = procedure.meta.openapi.method === 'DELETE'
  if (procedure.type === 'mutation') addPreviewOption(command)
  if (isRemoval) command.option('--yes', 'skip the confirmation', false)
  command.addHelpText('after', exampleText(examplesOf(noun, name, fields, [])))

  return command.action(async (...args: unknown[]) => {
    const globals = command.optsWithGlobals<PreviewOptions & { yes: boolean }>()
    const input: JsonObject = { ...(id && { [ID]: parseValue(id, String(args[0])) }), ...(await readOptions()) }
    checkInput(procedure, input, fields)
    checkFields(globals, outputFields(noun, procedure))
    if (isOnlyShown(globals)) {
      const operation = `${noun}.${verb}`
      return withClient(globals, fields, (client) => showPreview({ client, operation, input }, globals))
    }
    // Without a terminal, only the removal of one named record needs no --yes.
    if (isRemoval && !globals.yes && (id === undefined || isInteractive()))
      await approve(`${summary}: ${wordsOf(input)}?`)
    const output = await withClient(globals, fields, (client) => call(client, noun, verb, input))
    await show(noun, procedure, output, globals)
    if (procedure.type === 'mutation' && 'collection' in contract[noun]) showUndo(output)
  })
}

/** Adds `--preview` and `--propose` to a command that writes. */
export function addPreviewOption(command: Command): void {
  command.option('--preview', 'show the records before and after, and change nothing', false)
  command.option('--propose <reason>', 'let others apply the write: resource proposals apply')
}

/** An input as words: `status inactive, no age`. */
export function wordsOf(input: JsonObject): string {
  return Object.entries(input)
    .map(([key, value]) => {
      const name = key.replaceAll('_', ' ')
      return value === null ? `no ${name}` : `${name} ${value}`
    })
    .join(', ')
}

/** `Get an item. …`, without the sentences about requests. */
export function descriptionOf({ meta: { openapi } }: Procedure): string {
  const { summary = '', description = '' } = openapi
  return `${summary}. ${plainText(description)}`.trim()
}

/** The fields of the records in an output, or of the output itself. */
function outputFields(noun: Noun, { output }: Procedure): string[] {
  const element = elementOf(output)
  return element ? Object.keys(element.shape) : [...new Set([...Object.keys(output.shape), ...recordFields(noun)])]
}

function elementOf(output: z.ZodObject): z.ZodObject | undefined {
  return Object.values(output.shape).find((part): part is z.ZodArray<z.ZodObject> => part instanceof z.ZodArray)
    ?.element
}

/** A summary whose mean has as many decimals as a reader needs. */
function rounded(record: JsonObject): JsonObject {
  const { mean } = record
  if (typeof mean !== 'number') return record
  return { ...record, mean: Number(Math.abs(mean) < 1 ? mean.toPrecision(3) : mean.toFixed(2)) }
}

async function show(noun: Noun, procedure: Procedure, output: JsonObject, globals: Globals): Promise<void> {
  const records = Object.values(output).find((value) => Array.isArray(value)) as JsonObject[] | undefined
  const columns = noun in output ? tableColumns(noun) : outputFields(noun, procedure)
  if (records !== undefined) return answerRecords(records, columns, globals, rounded)
  const { message, ...rest } = output
  const isMessage = typeof message === 'string' && !(ID in rest)
  if (isMessage && globals.fields === undefined) return answer(output, globals, () => `${message}\n`)
  await answerRecord(output, globals)
}
