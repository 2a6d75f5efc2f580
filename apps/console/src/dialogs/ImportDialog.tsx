import { useEffect, useRef, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { refresh } from '../table/rows.ts'
import { ImportPreview } from '../transfer/ImportPreview.tsx'
import { ImportProgress, type Phase } from '../transfer/ImportProgress.tsx'
import { ImportSource } from '../transfer/ImportSource.tsx'
import { type Progress, sendRows } from '../transfer/send.ts'
import type { Source } from '../transfer/source.ts'
import { formatCount, ROWS } from '../ui/format.ts'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'

interface Props {
  resource: Resource
  onClose: () => void
}

/** Import in three steps: choose a file, preview it, send it. */
export function ImportDialog({ resource, onClose }: Props) {
  const [source, setSource] = useState<Source>()
  const [progress, setProgress] = useState<Progress>()
  const [phase, setPhase] = useState<Phase>('done')
  const stop = useRef<AbortController>(undefined)
  const isOpen = useIsMounted()
  useEffect(() => () => stop.current?.abort(), [])
  useLeaveWarning(phase !== 'done')

  const run = async ({ rows }: Source) => {
    const good = rows.filter(({ errors }) => errors.length === 0)
    const bad = rows.filter(({ errors }) => errors.length > 0)
    stop.current = new AbortController()
    const { signal } = stop.current
    setProgress({ created: 0, failed: bad })
    setPhase('running')
    const { created, failed } = await sendRows(resource.noun, good, signal, (sent) =>
      setProgress({ created: sent.created, failed: [...bad, ...sent.failed] }),
    )
    setPhase('done')
    if (!isOpen.current) {
      const left = good.length - created - failed.length
      notify('done', `${formatCount(created, resource)} created, ${formatCount(left, ROWS)} not sent`)
    }
    await refresh(resource)
  }

  const halt = () => {
    stop.current?.abort()
    setPhase('stopping')
  }

  return (
    <ModalDialog title={`Import ${resource.many}`} isWide onClose={phase === 'running' ? halt : onClose}>
      {source === undefined && <ImportSource resource={resource} onRead={setSource} />}
      {source !== undefined && progress === undefined && (
        <ImportPreview
          resource={resource}
          source={source}
          onBack={() => setSource(undefined)}
          onRun={() => void run(source)}
        />
      )}
      {source !== undefined && progress !== undefined && (
        <ImportProgress
          resource={resource}
          source={source}
          progress={progress}
          phase={phase}
          onStop={halt}
          onClose={onClose}
        />
      )}
    </ModalDialog>
  )
}

// Makes the browser ask before it closes the page.
function useLeaveWarning(isNeeded: boolean) {
  useEffect(() => {
    if (!isNeeded) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isNeeded])
}
