import type { Client } from '@resource/client'
import { MAX_SKIPPED } from '@resource/contract'
import { Command } from 'commander'
import { invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import { filterFields, searchLimitText } from './filters.ts'
import type { Globals } from './globals.ts'
import { examplesOf, exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { addFieldOptions, checkInput } from './options.ts'
import { remark, write } from './output.ts'
import { answer, checkFields, picked } from './print-records.ts'
import {
  AFTER,
  call,
  type JsonObject,
  LIMIT,
  type Noun,
  PAGE,
  type Page,
  type PageInfo,
  type Procedure,
  pagesOf,
} from './procedures.ts'
import { header, type Layout, layoutOf, lines, table, widthOf } from './table.ts'
import { recordFields, tableColumns } from './table-columns.ts'

/** The command that lists records: one page, or all pages with `--all`. */
export function listCommand(noun: Noun, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const command = new Command('list')
    .summary(procedure.meta.openapi.summary ?? '')
    .description(
      `${procedure.meta.openapi.summary}, one page at a time. A filter is an option; several filters must all match.`,
    )
  const readOptions = addFieldOptions(command, fields)
  command
    .option('--all', 'all matching records instead of one page', false)
    .addHelpText('after', exampleText(examplesOf(noun, 'list', fields, filterFields(procedure))))
  return command.action(async () => {
    const globals = command.optsWithGlobals<Globals & { all: boolean }>()
    const input = await readOptions()
    checkInput(procedure, input, fields)
    checkFields(globals, recordFields(noun))
    const paging = [PAGE, LIMIT, AFTER].find((name) => name in input)
    if (globals.all && paging !== undefined) throw invalid(`--all: cannot be combined with --${paging}`)
    const show = async (client: Client) =>
      globals.all
        ? showAll(noun, pagesOf(client, noun, input), globals)
        : showPage(noun, await call(client, noun, 'list', input), globals, Number(input[LIMIT] ?? 0))
    await withClient(globals, fields, show, globals.all)
  })
}

async function showPage(noun: Noun, output: JsonObject, globals: Globals, wanted: number): Promise<void> {
  const page = output as Page
  const records = recordsOf(noun, page, globals)
  await answer(records, globals, () => table(globals.fields ?? tableColumns(noun), records))
  remarkOn(noun, page, wanted)
}

/** Prints page by page, so that memory does not grow with the number of records. */
async function showAll(noun: Noun, pages: AsyncIterable<Page>, globals: Globals): Promise<void> {
  let layout: Layout | undefined
  let count = 0
  let first: Page | undefined
  for await (const page of pages) {
    const records = recordsOf(noun, page, globals)
    first ??= page
    if (globals.json) {
      await write(records.map((record) => `${count++ === 0 ? '[' : ','}${JSON.stringify(record)}`).join(''))
      continue
    }
    if (layout === undefined) {
      layout = layoutOf(globals.fields ?? tableColumns(noun), records, widthOf(process.stdout))
      await write(header(layout))
    }
    await write(lines(layout, records))
  }
  if (globals.json) await write(count === 0 ? '[]\n' : ']\n')
  if (first !== undefined) remarkOn(noun, { ...first, next: null })
}

/**
 * Writes what is not in the records: their number, the limit of the search, that of a page and the next page.
 *
 * @param wanted the `--limit`, which may be larger than that of a page
 */
function remarkOn(noun: Noun, { page, limit, next, total, searched }: PageInfo, wanted = 0): void {
  const more = page === undefined || page * limit > MAX_SKIPPED ? `--after ${next}` : `--page ${page + 1}`
  const lines = [
    ...(total === undefined ? [] : [`${total} in total`]),
    ...(searched === undefined ? [] : [searchLimitText(noun, searched)]),
    ...(next === null ? [] : [`More: ${more}, or --all`]),
    ...(next === null || wanted <= limit ? [] : [`A page has at most ${limit} ${noun}, whatever the --limit`]),
  ]
  remark(lines, {
    total,
    searched,
    next: next ?? undefined,
    ...(next !== null && wanted > limit && { limit }),
  })
}

function recordsOf(noun: Noun, page: Page, { fields }: Globals): JsonObject[] {
  const records = page[noun] as JsonObject[]
  return fields === undefined ? records : records.map((record) => picked(record, fields))
}
