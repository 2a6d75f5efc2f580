import type { ServiceError } from '@resource/client'
import { groupOf } from '@resource/import'
import { useEffect, useRef, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { addEdit } from '../table/history.ts'
import { refresh } from '../table/queries.ts'
import { inTurn } from '../table/turns.ts'
import { linkTo } from '../table/view.ts'
import { formatCount, ROWS } from '../ui/format.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { begin, type Import, type Progress, summary, unsent } from './running.ts'
import { forget, readSaved, remember, type Saved, saveImport, saveProgress } from './saved.ts'
import { sendRows } from './send.ts'

export type Phase = 'running' | 'stopping' | 'stopped' | 'done'

/** The current import of a noun, which this browser keeps until it is done. */
export function useImport(resource: Resource) {
  const { noun } = resource
  // Null if there is none; undefined until that is known.
  const [current, setCurrent] = useState<Saved | null>()
  const [phase, setPhase] = useState<Phase>('stopped')
  const [outage, setOutage] = useState<ServiceError>()
  const [refusal, setRefusal] = useState<unknown>()
  const abort = useRef<AbortController>(undefined)
  const isOpen = useIsMounted()

  useEffect(() => {
    void readSaved(noun).then((saved) => {
      if (saved !== undefined && isOver(saved.running, saved.progress)) setPhase('done')
      setCurrent(saved ?? null)
    })
    return () => abort.current?.abort()
  }, [noun])

  const run = async (running: Import, from: Progress, isNew = false) => {
    abort.current = new AbortController()
    let progress = from
    let isReplaced = false
    setCurrent({ running, progress })
    setPhase('running')
    setOutage(undefined)
    setRefusal(undefined)
    // Takes a while for a large file. The state is set before, so that a second press of the button does not import twice.
    if (isNew) {
      await saveImport(running)
      await saveProgress(running, from)
    }
    try {
      const { signal } = abort.current
      const onProgress = async (next: Progress) => {
        progress = next
        setCurrent({ running, progress })
        if (await saveProgress(running, progress)) return
        isReplaced = true
        abort.current?.abort()
      }
      await inTurn(noun, [], () => sendRows(running, from, signal, { onProgress, onWait: setOutage }))
    } catch (error) {
      setRefusal(error)
    }
    // Another tab has discarded the import, and may have started another one.
    if (isReplaced) setCurrent((await readSaved(noun)) ?? null)
    const isDone = isOver(running, progress)
    setPhase(isDone ? 'done' : 'stopped')
    if (isDone) await finish(resource, running, progress)
    if (!isOpen.current && progress.failed.length + unsent(progress) > 0) report(resource, running, progress)
    await refresh(resource)
  }

  return {
    current,
    phase,
    outage,
    refusal,
    start: (running: Import) => run(running, begin(running), true),
    resume: (running: Import, from: Progress) => run(running, from),
    /** Stops after the current request. */
    stop: () => {
      abort.current?.abort()
      setPhase((now) => (now === 'running' ? 'stopping' : now))
    },
    discard: async (saved: Saved) => {
      await discardImport(resource, saved)
      setCurrent(null)
      await refresh(resource)
    },
  }
}

/** Forgets an import whose rest the user does not want. */
export async function discardImport(resource: Resource, { running, progress }: Saved): Promise<void> {
  const { created, updated, inFlight } = progress
  // Its rows are stored: to import the file again would double them.
  if (created + updated + inFlight > 0) await rememberFile(running, progress)
  if (!isOver(running, progress)) await offerUndo(resource, running, progress)
  await forget(running)
}

function isOver({ rows }: Import, progress: Progress): boolean {
  return rows.length > 0 && progress.rows >= rows.length
}

// Failed rows are kept until the user has seen them.
async function finish(resource: Resource, running: Import, progress: Progress): Promise<void> {
  await offerUndo(resource, running, progress)
  await rememberFile(running, progress)
  if (progress.failed.length === 0) await forget(running)
}

function offerUndo(resource: Resource, running: Import, { created, updated }: Progress): Promise<void> {
  const written = { request: { group: groupOf(running.id) }, changes: [], count: created + updated }
  return addEdit(resource, 'imported', [], Promise.resolve(written))()
}

function rememberFile({ noun, file }: Import, { created, updated, unchanged }: Progress): Promise<void> {
  return remember(noun, { digest: file.digest, at: Date.now(), created, updated: updated + unchanged })
}

function report(resource: Resource, running: Import, progress: Progress) {
  const left = unsent(progress)
  const link = { label: left > 0 ? 'Continue' : 'Show', href: linkTo(resource.noun, 'import') }
  const text = [
    `${running.file.name}: ${summary(resource, running, progress)}`,
    ...(progress.failed.length > 0 ? [`${formatCount(progress.failed.length, ROWS)} failed`] : []),
    ...(left > 0 ? [`${formatCount(left, ROWS)} not sent`] : []),
  ]
  notify('failed', text.join(', '), { link })
}
