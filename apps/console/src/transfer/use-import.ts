import type { ServiceError } from '@resource/client'
import { useEffect } from 'react'
import { create } from 'zustand'
import { queryClient } from '../query-client.ts'
import type { Noun, Resource } from '../resources/resource.ts'
import { refresh } from '../table/queries.ts'
import { inTurn } from '../table/turns.ts'
import { linkTo } from '../table/view.ts'
import { formatCount, ROWS } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { beginWork } from '../ui/work.ts'
import { discardImport, finishImport, isOver } from './end.ts'
import { begin, type Import, type Progress, summary, unsent } from './running.ts'
import { readSaved, type Saved, saveImport, saveProgress, unfinishedImport } from './saved.ts'
import { sendRows } from './send.ts'

export type Phase = 'running' | 'stopping' | 'stopped' | 'done'

interface Run {
  /** Null if there is none; absent until that is known. */
  current?: Saved | null
  phase: Phase
  /** Whether its end is not yet stored. */
  isEnding?: boolean
  /** Why it waits. */
  outage?: ServiceError | undefined
  /** Why the service refused to continue. */
  refusal?: unknown
}

const UNKNOWN: Run = { phase: 'stopped' }

// They go on when the page is left.
const useRuns = create<{ [N in Noun]?: Run | undefined }>(() => ({}))
const works = new Map<Noun, ReturnType<typeof beginWork> & { abort: AbortController }>()
const opened = new Set<Noun>()

/** The page of the import of a noun. */
export function importPage(noun: Noun): string {
  return `/${noun}?open=import`
}

/** Whether this page sends the rows of an import of a noun, or stores its end. */
export function useIsImporting(noun: Noun): boolean {
  return useRuns(({ [noun]: { phase, isEnding } = UNKNOWN }) => isEnding || phase === 'running' || phase === 'stopping')
}

/** The current import of a noun, which this browser keeps until it is done, for its dialog. */
export function useImport(resource: Resource) {
  const { noun } = resource
  const run = useRuns(({ [noun]: run = UNKNOWN }) => run)

  useEffect(() => {
    opened.add(noun)
    works.get(noun)?.cover(true)
    if (!works.has(noun)) void readSaved(noun).then((saved) => set(noun, restored(saved)))
    return () => {
      opened.delete(noun)
      works.get(noun)?.cover(false)
      // What is not running is read again, because another tab may continue it.
      if (!works.has(noun)) useRuns.setState({ [noun]: undefined })
    }
  }, [noun])

  return {
    ...run,
    start: (running: Import) => send(resource, running, begin(running), true),
    resume: (running: Import, from: Progress) => send(resource, running, from),
    /** Stops after the current request. */
    stop: () => stop(noun),
    discard: async (saved: Saved) => {
      await discardImport(resource, saved)
      set(noun, { current: null })
      await refresh(resource)
    },
  }
}

function set(noun: Noun, changes: Partial<Run>): void {
  useRuns.setState(({ [noun]: run = UNKNOWN }) => ({ [noun]: { ...run, ...changes } }))
}

function restored(saved: Saved | undefined): Run {
  return saved === undefined
    ? { current: null, phase: 'stopped' }
    : { current: saved, phase: isOver(saved.running, saved.progress) ? 'done' : 'stopped' }
}

function stop(noun: Noun): void {
  const work = works.get(noun)
  if (work === undefined) return
  work.abort.abort()
  set(noun, { phase: 'stopping' })
}

async function send(resource: Resource, running: Import, from: Progress, isNew = false): Promise<void> {
  const { noun } = resource
  const abort = new AbortController()
  const title = running.file.name
  const isCovered = opened.has(noun)
  const work = beginWork({ title, href: importPage(noun), stop: () => stop(noun), isCovered })
  works.set(noun, { ...work, abort })
  let progress = from
  let isReplaced = false
  const show = (next: Progress) => {
    progress = next
    set(noun, { current: { running, progress } })
    work.update(next.rows, running.rows.length)
  }
  set(noun, { phase: 'running', outage: undefined, refusal: undefined })
  show(from)
  // Takes a while for a large file. The state is set before, so that a second press of the button does not import twice.
  if (isNew) {
    await saveImport(running)
    await saveProgress(running, from)
  }
  try {
    const onProgress = async (next: Progress) => {
      show(next)
      if (await saveProgress(running, progress)) return
      isReplaced = true
      abort.abort()
    }
    const onWait = (outage: ServiceError | undefined) => {
      set(noun, { outage })
      work.wait(outage && 'waits for the service')
    }
    await inTurn(noun, [], () => sendRows(running, from, abort.signal, { onProgress, onWait }))
  } catch (error) {
    set(noun, { refusal: error })
  }
  work.end()
  works.delete(noun)
  // Another tab has discarded the import, and may have started another one.
  if (isReplaced) set(noun, { current: (await readSaved(noun)) ?? null })
  const isDone = isOver(running, progress)
  set(noun, { phase: isDone ? 'done' : 'stopped', isEnding: true })
  if (isDone) await finishImport(resource, running, progress)
  await queryClient.invalidateQueries(unfinishedImport(noun))
  set(noun, { isEnding: false })
  if (!opened.has(noun)) {
    useRuns.setState({ [noun]: undefined })
    if (progress.failed.length + unsent(progress) > 0) report(resource, running, progress)
  }
  await refresh(resource)
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
