import { useState } from 'react'
import { Button } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { ExportMenu } from '../transfer/ExportMenu.tsx'
import { counted } from '../ui/words.ts'
import { PurgeWindow } from './PurgeWindow.tsx'
import type { View } from './view.ts'

interface Props {
  resource: Resource
  view: View
  total: number | undefined
  onOpen: (open: View['open']) => void
}

/** The page's name, how many records match, and what can be done beside the table. */
export function TitleBar({ resource, view, total, onOpen }: Props) {
  const [isPurging, setPurging] = useState(false)
  const { purge } = resource
  return (
    <div className="title">
      <h1>{resource.title}</h1>
      <p role="status" className="total">
        {total !== undefined && counted(total, resource.many)}
      </p>
      <div className="buttons">
        {purge !== undefined && (
          <Button className="button" onPress={() => setPurging(true)}>
            {purge.label}…
          </Button>
        )}
        <Button className="button" onPress={() => onOpen('import')}>
          Import…
        </Button>
        <ExportMenu resource={resource} view={view} />
        <Button className="button primary" onPress={() => onOpen('new')}>
          New {resource.one}
        </Button>
      </div>
      {isPurging && purge !== undefined && (
        <PurgeWindow resource={resource} purge={purge} onClose={() => setPurging(false)} />
      )}
    </div>
  )
}
