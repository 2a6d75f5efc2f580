import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { counted } from '../ui/words.ts'
import type { Open } from './view.ts'

interface Props {
  resource: Resource
  total: number | undefined
  onOpen: (open: Open) => void
}

/** The page's name, how many records match, and what can be done beside the table. */
export function TitleBar({ resource, total, onOpen }: Props) {
  return (
    <div className="title">
      <h1>{resource.title}</h1>
      <p role="status" className="total">
        {total !== undefined && counted(total, resource)}
      </p>
      <div className="buttons">
        {resource.purge !== undefined && <Button onPress={() => onOpen('purge')}>{resource.purge.label}…</Button>}
        <Button onPress={() => onOpen('import')}>Import…</Button>
        <Button onPress={() => onOpen('export')}>Export…</Button>
        <Button className="button primary" onPress={() => onOpen('new')}>
          New {resource.one}
        </Button>
      </div>
    </div>
  )
}
