import { shapeOf } from '@resource/contract/schema'
import { Command, Option } from 'commander'
import type { z } from 'zod'
import { amountsOf, isAdjustable } from './adjustment.ts'
import { type Action, type ChangeOptions, changeRecords } from './change-records.ts'
import { invalid, invalidFields } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import { filterFields, isSearchable, parseFilters } from './filters.ts'
import { examplesOf, exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { addFieldOptions, checkInput, repeated } from './options.ts'
import { checkFields } from './print-records.ts'
import { addPreviewOption, descriptionOf } from './procedure-command.ts'
import { ID, IF_VERSION, type JsonObject, KEY, type Noun, type Procedure, proceduresOf } from './procedures.ts'
import { recordFields } from './table-columns.ts'

interface Options extends ChangeOptions {
  where?: string[]
  search?: string
  all?: boolean
  add?: string[]
  multiply?: string[]
}

/** The command that updates or deletes records: by their ids, or all that match filters. */
export function changeCommand(noun: Noun, action: Action, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const matching = proceduresOf(noun)[`${action}Where`]
  const command = new Command(action)
    .summary(procedure.meta.openapi.summary ?? '')
    .description(
      `${descriptionOf(procedure)} Takes ${matching ? 'one or more ids, or filters: then it shows what matches before it asks.' : 'an id.'}`,
    )
    .argument(matching ? `[${ID}...]` : `<${ID}>`, 'ids of the records')
  const readOptions = addFieldOptions(
    command,
    fields.filter(({ name }) => name !== ID),
  )
  if (matching !== undefined) addFilterOptions(command, noun, matching)
  if (action === 'update' && matching !== undefined && fields.some(isAdjustable)) {
    command
      .option('--add <field=amount>', 'add an amount to a number of each record, such as price=5 or price=-5', repeated)
      .option('--multiply <field=factor>', 'multiply a number of each record: price=1.1 adds 10 %', repeated)
  }
  addPreviewOption(command)
  command
    .option('--yes', 'skip the confirmation', false)
    .addHelpText('after', exampleText(examplesOf(noun, action, fields, matching ? filterFields(matching) : [])))

  return command.action(async (...args: unknown[]) => {
    const options = command.optsWithGlobals<Options>()
    const texts = [args[0] as string | string[]].flat().flatMap((text) => text.split(','))
    const isByFilter = options.where !== undefined || options.search !== undefined || options.all === true
    if (isByFilter === texts.length > 0)
      throw invalid(matching ? 'Either ids, or --where, --search or --all is required' : 'ids are required')
    const { [IF_VERSION]: version, [KEY]: key, ...set } = await readOptions()
    checkFields(options, recordFields(noun))
    const { add = [], multiply = [] } = options
    const numbers = {
      ...(add.length > 0 && { add: amountsOf('--add', add, fields) }),
      ...(multiply.length > 0 && { multiply: amountsOf('--multiply', multiply, fields) }),
    }
    const ids = [...new Set(texts)].map((text) => parseValue(fields.find(({ name }) => name === ID) as Field, text))
    const isCalculated = Object.keys(numbers).length > 0
    if (action === 'update' && !isCalculated) checkChanges(set, fields)
    const conditions = {
      ...(version !== undefined && { [IF_VERSION]: version }),
      ...(key !== undefined && { [KEY]: key }),
    }
    if ((isByFilter || isCalculated) && action === 'update') checkSettable(noun, set, fields)
    for (const id of isByFilter ? [1] : ids) checkInput(procedure, { [ID]: id, ...set, ...conditions }, fields)
    if (version !== undefined && (ids.length !== 1 || isCalculated)) throw invalid('--if-version: is for one id')
    const where = isByFilter ? readFilters(noun, `${action}Where`, options) : undefined
    const change = { noun, action, ids, where, set, numbers, conditions }
    await withClient(options, fields, (client) => changeRecords(client, change, options), isByFilter)
  })
}

function addFilterOptions(command: Command, noun: Noun, matching: Procedure): void {
  const names = filterFields(matching).flatMap(({ name }) => (name === 'q' ? [] : [name]))
  command.addOption(
    new Option('--where <field=value>', `all records that match; repeatable. Fields: ${names.join(', ')}`).argParser(
      repeated,
    ),
  )
  if (isSearchable(noun)) command.option('--search <text>', 'all records that contain every word')
  command.option('--all', 'all records')
}

/** The filters of a write. */
function readFilters(noun: Noun, verb: string, { where = [], search, all }: Options): JsonObject {
  const filters = parseFilters(noun, verb, where, search)
  return all ? { id_gte: 1, ...filters } : filters
}

/** @throws Failure if there is nothing to change */
function checkChanges(changes: JsonObject, fields: Field[]): void {
  if (Object.keys(changes).length > 0) return
  const changeable = fields.filter(({ name }) => ![ID, IF_VERSION, KEY].includes(name))
  throw invalid(`A field to change is required: ${changeable.map(({ flag }) => flag).join(', ')}`)
}

/** @throws Failure for fields that many records cannot share, such as unique ones */
function checkSettable(noun: Noun, changes: JsonObject, fields: Field[]): void {
  const { changes: schema } = proceduresOf(noun).updateWhere?.input.shape ?? {}
  const settable = shapeOf(shapeOf(schema as z.ZodType).set as z.ZodType)
  const errors = Object.keys(changes)
    .filter((name) => !(name in settable))
    .map((field) => ({ field, message: 'cannot be set with --where, --search, --all, --add or --multiply' }))
  if (errors.length > 0) throw invalidFields(errors, fields)
}
