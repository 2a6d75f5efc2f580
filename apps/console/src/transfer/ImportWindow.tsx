import { useEffect, useRef, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { refresh } from '../table/rows.ts'
import { Window } from '../ui/Window.tsx'
import { ImportPreview } from './ImportPreview.tsx'
import { ImportProgress } from './ImportProgress.tsx'
import { ImportSource } from './ImportSource.tsx'
import { type Progress, sendRows } from './send.ts'
import type { Source } from './source.ts'

interface Props {
  resource: Resource
  onClose: () => void
}

/** Import in three steps: a file, what is in it, how it went. */
export function ImportWindow({ resource, onClose }: Props) {
  const [source, setSource] = useState<Source>()
  const [progress, setProgress] = useState<Progress>()
  const [isRunning, setRunning] = useState(false)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])

  const run = async (from: Source) => {
    const good = from.rows.filter(({ faults }) => faults.length === 0)
    const bad = from.rows.filter(({ faults }) => faults.length > 0)
    stop.current = new AbortController()
    setProgress({ created: 0, failed: bad })
    setRunning(true)
    await sendRows(resource, good, stop.current.signal, ({ created, failed }) =>
      setProgress({ created, failed: [...bad, ...failed].sort((a, b) => a.number - b.number) }),
    )
    setRunning(false)
    await refresh(resource)
  }

  return (
    <Window title={`Import ${resource.many}`} isWide onClose={onClose}>
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
          isRunning={isRunning}
          onStop={() => stop.current?.abort()}
          onClose={onClose}
        />
      )}
    </Window>
  )
}
