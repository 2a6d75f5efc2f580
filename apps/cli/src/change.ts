import type { Client } from '@resource/client'
import { shapeOf } from '@resource/contract/schema'
import { Command, Option } from 'commander'
import type { z } from 'zod'
import { adjustmentOf, isAdjustable } from './adjustment.ts'
import {
  type Action,
  adjustRecords,
  type ChangeOptions,
  changeEach,
  changeMatching,
  previewEach,
} from './change-records.ts'
import { invalid, invalidFields } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import { filterFields, isSearchable } from './filters.ts'
import { examplesOf, exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { addFieldOptions, checkInput, repeated } from './options.ts'
import { checkFields } from './print-records.ts'
import { descriptionOf } from './procedure-command.ts'
import { ID, IF_VERSION, type JsonObject, KEY, type Noun, type Procedure, proceduresOf } from './procedures.ts'
import { recordFields } from './table-columns.ts'

/** The command that updates or deletes records: by their ids, or all that match filters. */
export function changeCommand(noun: Noun, action: Action, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const byFilter = proceduresOf(noun).createBatch !== undefined
  const several = proceduresOf(noun)[`${action}Many`] !== undefined
  const command = new Command(action)
    .summary(procedure.meta.openapi.summary ?? '')
    .description(
      `${descriptionOf(procedure)} Takes ${several ? 'one or more ids' : 'an id'}${byFilter ? ', or filters: then it shows what matches before it asks.' : '.'}`,
    )
    .argument(byFilter ? `[${ID}...]` : several ? `<${ID}...>` : `<${ID}>`, 'ids of the records')
  const readOptions = addFieldOptions(
    command,
    fields.filter(({ name }) => name !== ID),
  )
  if (byFilter) addFilterOptions(command, noun)
  if (action === 'update' && byFilter && fields.some(isAdjustable)) {
    command
      .option('--add <field=amount>', 'add an amount to a number of each record, such as price=5 or price=-5')
      .option('--multiply <field=factor>', 'multiply a number of each record, such as price=1.1 for 10 % more')
  }
  command
    .option('--yes', 'skip the confirmation', false)
    .addHelpText('after', exampleText(examplesOf(noun, action, fields, byFilter ? filterFields(noun) : [])))

  return command.action(async (...args: unknown[]) => {
    const options = command.optsWithGlobals<ChangeOptions>()
    const texts = [args[0] as string | string[]].flat().flatMap((text) => text.split(','))
    const isByFilter = options.filter !== undefined || options.search !== undefined || options.all === true
    if (isByFilter === texts.length > 0)
      throw invalid(byFilter ? 'Either ids, or --filter, --search or --all is required' : 'ids are required')
    const changes = await readOptions()
    checkFields(options, recordFields(noun))
    const adjustment = adjustmentOf(options, fields)
    if (adjustment !== undefined && Object.keys(changes).length > 0)
      throw invalid('--add, --multiply: cannot be combined with other changes')
    const ids = [...new Set(texts)].map((text) => parseValue(fields.find(({ name }) => name === ID) as Field, text))
    if (adjustment === undefined && action === 'update') checkChanges(changes, fields)
    if (isByFilter) checkSettable(noun, changes, fields)
    const inputs = ids.map((id) => ({ [ID]: id, ...changes }))
    for (const input of adjustment === undefined ? inputs : []) checkInput(procedure, input, fields)
    if (ids.length > 1 && IF_VERSION in changes) throw invalid('--if-version: is for one id')
    const work = (client: Client) => {
      const change = { client, noun, action, changes, options }
      if (adjustment !== undefined) return adjustRecords(change, adjustment, ids)
      if (isByFilter) return changeMatching(change)
      return options.dryRun ? previewEach(change, ids) : changeEach(change, inputs, fields)
    }
    await withClient(options, fields, work, isByFilter)
  })
}

function addFilterOptions(command: Command, noun: Noun): void {
  const names = filterFields(noun).flatMap(({ name }) => (name === 'q' ? [] : [name]))
  command.addOption(
    new Option('--filter <field=value>', `all records that match; repeatable. Fields: ${names.join(', ')}`).argParser(
      repeated,
    ),
  )
  if (isSearchable(noun)) command.option('--search <text>', 'all records that contain every word')
  command.option('--all', 'all records').option('--dry-run', 'show the records and change nothing', false)
}

/** @throws Failure if there is nothing to change */
function checkChanges(changes: JsonObject, fields: Field[]): void {
  const changeable = fields.filter(({ name }) => ![ID, IF_VERSION, KEY].includes(name))
  if (changeable.some(({ name }) => name in changes)) return
  throw invalid(`A field to change is required: ${changeable.map(({ flag }) => flag).join(', ')}`)
}

/** @throws Failure for fields that a batch cannot set, such as unique ones */
function checkSettable(noun: Noun, changes: JsonObject, fields: Field[]): void {
  const { changes: schema } = proceduresOf(noun).createBatch?.input.shape ?? {}
  const settable = schema === undefined ? {} : shapeOf(schema as z.ZodType)
  const errors = Object.keys(changes)
    .filter((name) => !(name in settable))
    .map((field) => ({ field, message: 'requires ids instead of --filter, --search or --all' }))
  if (errors.length > 0) throw invalidFields(errors, fields)
}
