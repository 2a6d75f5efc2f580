import type { Output } from '@resource/client'
import { Command } from 'commander'
import { invalid } from './failures.ts'
import type { Globals } from './globals.ts'
import { exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { textOf } from './preview.ts'
import { answer, picked } from './print-records.ts'
import type { JsonObject } from './procedures.ts'
import { approve } from './prompt.ts'
import { details } from './table.ts'
import { tableColumns } from './table-columns.ts'
import { showUndo } from './undo-hint.ts'

type Proposal = Output<'proposals', 'get'>

interface Options extends Globals {
  yes?: boolean
}

const DECISIONS = [
  ['apply', 'applied', 'Does exactly what the proposal shows, or nothing.'],
  ['reject', 'rejected', 'Closes the proposal of another caller.'],
  ['withdraw', 'withdrawn', 'Closes your own proposal.'],
] as const

/** What one does with a proposal: `proposals show`, `apply`, `reject` and `withdraw`. */
export function proposalCommands(): Command[] {
  const show = commandOf('show', 'Shows the records before and after, and whether that has changed since.')
  show.action(async (id: string) => {
    const options = show.optsWithGlobals<Options>()
    await withClient(options, [], async (client) => {
      const proposal = await client.proposals.get.query({ id: idOf(id) })
      await answer(proposal, options, () => whole(proposal, options))
    })
  })
  const decisions = DECISIONS.map(([name, status, description]) => {
    const command = commandOf(name, description)
    if (status === 'applied') command.option('--yes', 'skip the confirmation', false)
    return command.action(async (text: string) => {
      const options = command.optsWithGlobals<Options>()
      const id = idOf(text)
      await withClient(options, [], async (client) => {
        if (options.yes === false) {
          const proposal = await client.proposals.get.query({ id })
          await approve(`Apply proposal ${id} of ${proposal.proposer}?`, whole(proposal, options))
        }
        const proposal = await client.proposals.setStatus.mutate({ id, status })
        await answer(proposal, options, () => `Proposal ${id} ${status}\n`)
        if (status === 'applied') showUndo(proposal)
      })
    })
  })
  return [show, ...decisions]
}

function commandOf(name: string, description: string): Command {
  return new Command(name)
    .summary(`${name.replace(/^./, (letter) => letter.toUpperCase())} a proposal`)
    .description(description)
    .argument('<id>', 'id of the proposal')
    .addHelpText('after', exampleText([`proposals ${name} 7`]))
}

function idOf(text: string): number {
  const id = Number(text)
  if (!Number.isInteger(id)) throw invalid('id: must be a whole number')
  return id
}

/** A proposal with the records before and after, and what it would do now if that is something else. */
function whole(proposal: Proposal, options: Options): string {
  const { status, is_current: isCurrent, obstacle, current_changes: changes } = proposal
  const record: JsonObject = { ...proposal }
  const shown = `${details(picked(record, tableColumns('proposals')))}\n${textOf(proposal.operation, proposal, options)}`
  if (status !== 'open' || isCurrent) return shown
  if (obstacle !== null) return `${shown}\nIt cannot be applied: ${obstacle}\n`
  const deleted = changes.filter(({ after }) => after === null).length
  const created = changes.filter(({ before }) => before === null).length
  const now = { changes, created, updated: changes.length - created - deleted, deleted }
  return `${shown}
By now it would do something else:
${textOf(proposal.operation, now, options)}`
}
