import { VersionMismatchError } from '@resource/client'
import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import { PreviewedChanges } from '../changes/Changes.tsx'
import { Figures } from '../changes/Differences.tsx'
import { writer } from '../client.ts'
import { DiscardDialog } from '../form/DiscardDialog.tsx'
import { queryClient } from '../query-client.ts'
import { apply, LONG_TIMEOUTS, newGroup, type Preview, previewOf } from '../resources/calls.ts'
import { type BulkAction, isChange, type Resource, type Row } from '../resources/resource.ts'
import { describeFilters } from '../table/conditions.ts'
import { addEdit, idOf, isRow, type Written } from '../table/history.ts'
import { useAllows, usePermissions } from '../table/permissions.ts'
import { refresh } from '../table/queries.ts'
import { inTurn, noteWrite } from '../table/turns.ts'
import { filtersOf, type View } from '../table/view.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { errorMessage, formatCount, isOutage } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { Progress } from '../ui/Progress.tsx'
import { closeUnlessUnsaved, release, useUnsavedInput } from '../ui/unsaved.ts'
import { beginWork } from '../ui/work.ts'
import { EditManyFields } from './EditManyFields.tsx'

interface Props {
  resource: Resource
  view: View
  /** The records; undefined for all that match the filters. */
  rows?: Row[] | undefined
  /** The number of records. */
  total: number
  /** What to do with them; undefined to ask for a field and its value. */
  action?: BulkAction | undefined
  onClose: () => void
  /** Called after the change. */
  onDone: () => void
}

const STOPPED = new Error('stopped')
// While the user types on, nothing is previewed.
const PREVIEW_AFTER_MS = 400

/** Changes or deletes many records: shows each before and after, then does exactly that. */
export function ManyDialog({ resource, view, rows, total, action: given, onClose, onDone }: Props) {
  const { noun } = resource
  const [edit, setEdit] = useState<BulkAction>()
  const [isTyped, setTyped] = useState(false)
  /** The edit whose preview is shown. */
  const [previewed, setPreviewed] = useState<BulkAction>()
  const action = given ?? previewed
  useEffect(() => {
    const timer = setTimeout(setPreviewed, PREVIEW_AFTER_MS, edit)
    return () => clearTimeout(timer)
  }, [edit])
  const ids = rows?.map(({ id }) => id)
  const filter = filtersOf(resource, view)
  const where = ids === undefined ? (Object.keys(filter).length > 0 ? filter : { id_gte: 1 }) : { id_in: ids }
  const write = action && writeOf(action, where)
  const query = useQuery({
    queryKey: ['preview', noun, write],
    // After the earlier changes of this page.
    queryFn: () =>
      inTurn(noun, ids ?? [], async () => ({
        ...(await previewOf(`${noun}.${write?.verb}`, write?.input ?? {})),
        group: newGroup(),
      })),
    enabled: write !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const { data: preview, refetch } = query
  const count = preview === undefined ? total : preview.updated + preview.deleted
  /** The number of records that are done, while it runs. */
  const [progress, setProgress] = useState<number>()
  const isRunning = progress !== undefined
  const isStopped = useRef(false)
  const plan = {
    stop: () => {
      isStopped.current = true
    },
    consequence: 'What is done so far stays, and can be undone.',
    isCovered: true,
  }
  /** It goes on when the dialog is closed. */
  const work = useRef<ReturnType<typeof beginWork>>(undefined)
  useEffect(() => () => work.current?.cover(false), [])
  /** The number of records that were done before others had changed. */
  const [outdatedAfter, setOutdatedAfter] = useState<number>()
  const isOpen = useIsMounted()
  const { isProposing: mustPropose } = usePermissions(resource)
  const mayPropose = useAllows(contract.proposals.procedures.create)
  const [wantsToPropose, setWantsToPropose] = useState(false)
  const isProposing = mustPropose || wantsToPropose
  const [reason, setReason] = useState('')
  const unsaved = useUnsavedInput(isTyped, false)

  const run = async (action: BulkAction, preview: Preview & { group: string }) => {
    const { verb, input } = writeOf(action, where)
    const { group } = preview
    let done = 0
    const steps = preview.steps === undefined ? undefined : beginWork({ ...plan, title: `${action.label}: ${counted}` })
    work.current = steps
    const onProgress = (next: number) => {
      done = next
      setProgress(next)
      steps?.update(next, count)
      if (isStopped.current && next < count) throw STOPPED
    }
    setProgress(0)
    try {
      const changes = preview.changes.filter((change) => change.resource === noun)
      const changed = ids ?? changes.flatMap(({ before }) => idOf(before))
      const write = async (): Promise<Written> => {
        try {
          await apply(`${noun}.${verb}`, input, { preview, group, onProgress })
        } catch (error) {
          // Those before can be undone.
          if (done === 0 || !(error instanceof VersionMismatchError || error === STOPPED)) throw error
        }
        for (const { before, after } of changes) if (isRow(before) && isRow(after)) noteWrite(noun, before, after)
        return { request: { group }, changes, count: done }
      }
      const written = inTurn(noun, changed, write)
      const announce = addEdit(resource, action.done, changed, written)
      await written
      await announce()
      if (done === count || isStopped.current) {
        onDone()
        if (isOpen.current) close()
      } else await previewAgain(done)
    } catch (error) {
      if (error instanceof VersionMismatchError) await previewAgain(0)
      else {
        const outcome = isOutage(error) ? 'The result is unknown' : `Nothing was ${action.done}`
        notify('failed', `${outcome}. ${errorMessage(error)}`)
      }
    }
    steps?.end()
    work.current = undefined
    setProgress(undefined)
    await refresh(resource)
  }

  const propose = async (action: BulkAction) => {
    const { verb, input } = writeOf(action, where)
    setProgress(0)
    try {
      const proposed = { operation: `${noun}.${verb}`, input: { ...input }, reason }
      const { id } = await writer.proposals.create.mutate(proposed, LONG_TIMEOUTS)
      notify('done', `Proposal ${id} created`, { link: { label: 'Show', href: `/proposals/${id}` } })
      onDone()
      if (isOpen.current) close()
    } catch (error) {
      notify('failed', `Nothing was proposed. ${errorMessage(error)}`)
    }
    setProgress(undefined)
    await queryClient.invalidateQueries({ queryKey: ['proposals'] })
  }

  /** The user confirmed the changes of the preview only. */
  const previewAgain = async (done: number) => {
    if (!isOpen.current) notify('failed', outdatedText(resource, action, done))
    setOutdatedAfter(done)
    await refetch()
  }

  const close = () => {
    release()
    onClose()
  }
  const isExplained = !isProposing || reason.trim() !== ''
  const canSubmit =
    !isRunning && (action === undefined ? edit !== undefined : preview !== undefined && count > 0 && isExplained)
  const all = rows === undefined ? 'all ' : ''
  const counted = formatCount(count, resource)
  const title = given === undefined ? `Change ${formatCount(total, resource)}` : `${given.label} ${all}${counted}?`
  const filters = rows === undefined ? describeFilters(resource, view) : ''
  const verb = action === undefined ? 'Preview' : isProposing ? 'Propose' : `${action.label} ${counted}`
  const hasSteps = preview?.steps !== undefined
  return (
    <ModalDialog
      title={title}
      description={`${filters && `${filters.replace(/^./, (letter) => letter.toUpperCase())}. `}Nothing is written yet.`}
      role={given === undefined ? 'dialog' : 'alertdialog'}
      isWide
      onClose={() => closeUnlessUnsaved(close)}
    >
      {unsaved.isAsked && (
        // This dialog is no part of the URL, so the Back button has not closed it.
        <DiscardDialog what={`these ${resource.many}`} onKeep={unsaved.keep} onDiscard={close} />
      )}
      <Form
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault()
          if (!canSubmit) return
          if (action === undefined) setPreviewed(edit)
          else if (isProposing) void propose(action)
          else if (preview !== undefined) void run(action, preview)
        }}
      >
        {outdatedAfter !== undefined && <FailedLine>{outdatedText(resource, action, outdatedAfter)}</FailedLine>}
        {given === undefined && (
          <EditManyFields
            resource={resource}
            onChange={(next, isTyped) => {
              setEdit(next)
              setTyped(isTyped)
              setPreviewed(undefined)
              setOutdatedAfter(undefined)
            }}
          />
        )}
        {action !== undefined && (
          <Loaded query={query} title="The preview failed" waiting="Counting…">
            {(preview) =>
              count === 0 ? (
                <p role="status">Nothing would change.</p>
              ) : (
                <>
                  <div role="status">
                    <Figures preview={preview} total={total} />
                  </div>
                  <PreviewedChanges preview={preview} />
                </>
              )
            }
          </Loaded>
        )}
        {isProposing && action !== undefined && (
          <TextField className="field" value={reason} onChange={setReason} maxLength={1000} autoFocus>
            <Label className="label">Reason, for those who decide</Label>
            <Input />
          </TextField>
        )}
        {isRunning && hasSteps && (
          <Progress label={`${counted} are being ${action?.done}`} value={progress} total={count} />
        )}
        <footer>
          <p>
            {isProposing
              ? 'Others decide on it.'
              : `Exactly this is written, ${hasSteps ? 'in several steps' : 'or nothing'}. You can undo it.`}
          </p>
          {isRunning && hasSteps ? (
            <Button onPress={plan.stop}>Stop</Button>
          ) : (
            <Button className="button ghost" onPress={() => closeUnlessUnsaved(close)}>
              {isRunning ? 'Close' : 'Cancel'}
            </Button>
          )}
          {mayPropose && !isProposing && action !== undefined && count > 0 && (
            <Button isDisabled={isRunning} onPress={() => setWantsToPropose(true)}>
              Propose…
            </Button>
          )}
          <Button
            className={given === undefined || isProposing ? 'button primary' : 'button danger'}
            type="submit"
            isDisabled={!canSubmit}
          >
            {verb}
          </Button>
        </footer>
      </Form>
    </ModalDialog>
  )
}

function outdatedText(resource: Resource, action: BulkAction | undefined, done: number): string {
  const before = done === 0 ? `Nothing was ${action?.done}` : `${formatCount(done, resource)} ${action?.done} before`
  return `The matching ${resource.many} have changed. ${before}.`
}

/** The procedure that carries out an action on all matching records, and its input. */
function writeOf(action: BulkAction, where: object): { verb: 'updateWhere' | 'deleteWhere'; input: object } {
  const { changes, amounts } = action
  if (!isChange(action)) return { verb: 'deleteWhere', input: where }
  return { verb: 'updateWhere', input: { ...where, changes: amounts ?? { set: changes } } }
}
