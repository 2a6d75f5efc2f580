import type { Client } from '@resource/client'
import { Command } from 'commander'
import { Failure, invalid, toFailure } from './failures.ts'
import { exampleText } from './help.ts'
import { withClient } from './open-client.ts'
import { confirmPreview, isOnlyShown, type PreviewOptions, previewOf, showPreview } from './preview.ts'
import { answer, answerRecords } from './print-records.ts'
import { addPreviewOption } from './procedure-command.ts'
import { progress } from './progress.ts'
import { approve } from './prompt.ts'
import { showUndo } from './undo-hint.ts'

interface Options extends PreviewOptions {
  group?: string
  yes: boolean
}

/** The command that undoes a request, or the requests of a group. */
export function undoCommand(): Command {
  const command = new Command('undo')
    .summary('Undo a write')
    .description(
      'Undoes everything that a request did, or the requests of a group, newest first. Each write shows the id of its request; an import, and a write in steps, its group. Nothing that has changed since is overwritten. An interrupted undo of a group continues with the same command.',
    )
    .argument('[request]', 'id of the request')
    .option('--group <group>', 'undo all requests of this group')
  addPreviewOption(command)
  command
    .option('--yes', 'skip the confirmation', false)
    .addHelpText(
      'after',
      exampleText(['undo 01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20', 'undo --group 0198a1c4-7d52-7b0e-9c3f-5a2f8e6b1d07']),
    )
  return command.action(async (request: string | undefined) => {
    const options = command.optsWithGlobals<Options>()
    const { group } = options
    if ((request === undefined) === (group === undefined)) {
      throw invalid('Either the id of a request or --group is required')
    }
    if (group !== undefined && options.propose !== undefined) throw invalid('--propose: is for one request')
    const undo = (client: Client) =>
      group === undefined ? undoRequest(client, `${request}`, options) : undoGroup(client, group, options)
    await withClient(options, [], undo, true)
  })
}

async function undoRequest(client: Client, request_id: string, options: Options): Promise<void> {
  const write = { client, operation: 'reversals.create', input: { request_id } }
  if (isOnlyShown(options)) return showPreview(write, options)
  const preview = await previewOf(write)
  const question = (records: string) => `Undo the changes of ${records}?`
  if (!options.yes && !(await confirmPreview(write.operation, preview, options, question))) return
  const undone = await client.reversals.create.mutate({ request_id }, { ifEffect: preview.effect })
  await answer(undone, options, () => `${wordsOf(undone)}\n`)
  showUndo(undone)
}

async function undoGroup(client: Client, group: string, options: Options): Promise<void> {
  const { requests, total } = await client.reversals.open.query({ group })
  if (options.preview) return answerRecords(requests, ['request_id', 'at', 'changes'], options)
  const all = total === 1 ? '1 request' : `${total} requests`
  if (total > 0 && !options.yes) await approve(`Undo ${all}?`)
  const bar = progress('undone', total)
  try {
    const undone = await client.undo({ group }, { onProgress: bar.update })
    bar.end()
    await answer(
      undone,
      options,
      () => `${total === 0 ? 'Nothing is left to undo' : `${all} undone: ${wordsOf(undone)}`}\n`,
    )
    if (total > 0) showUndo(undone)
  } catch (error) {
    bar.end()
    const { done } = bar
    const { outcome, message, details } = toFailure(error, options, [])
    const hint = `Stopped after ${done} of ${all}. Run the same command to continue.`
    throw new Failure(done > 0 ? 'partial' : outcome, `${message}\n${hint}`, { ...details, done, total })
  }
}

/** `2 records restored, 1 updated` */
function wordsOf(undone: { restored: number; updated: number; deleted: number }): string {
  const parts = (['restored', 'updated', 'deleted'] as const).flatMap((how) =>
    undone[how] > 0 ? [`${undone[how]} ${how}`] : [],
  )
  return parts.join(', ') || 'nothing changed'
}
