import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { counted } from '../ui/words.ts'
import type { Limits } from './limits.ts'
import type { Open } from './view.ts'

interface Props {
  resource: Resource
  total: number | undefined
  limits: Limits
  onOpen: (open: Open) => void
}

/** The page's name, how many records match, and what can be done beside the table. */
export function TitleBar({ resource, total, limits, onOpen }: Props) {
  const { purge } = resource
  // Disabled rather than gone, and told why.
  const within = (verb: string) => (limits.may(verb) ? {} : { isDisabled: true, 'aria-describedby': 'limits' })
  return (
    <div className="title">
      <h1>{resource.title}</h1>
      <p role="status" className="total">
        {total !== undefined && counted(total, resource)}
      </p>
      <div className="buttons">
        {purge !== undefined && (
          <Button {...within(purge.verb)} onPress={() => onOpen('purge')}>
            {purge.label}…
          </Button>
        )}
        <Button {...within('createMany')} onPress={() => onOpen('import')}>
          Import…
        </Button>
        <Button onPress={() => onOpen('export')}>Export…</Button>
        <Button {...within('create')} className="button primary" onPress={() => onOpen('new')}>
          New {resource.one}
        </Button>
      </div>
      {limits.reasons.length > 0 && (
        <p id="limits" className="limits hint">
          {limits.reasons.join(' ')}
        </p>
      )}
    </div>
  )
}
