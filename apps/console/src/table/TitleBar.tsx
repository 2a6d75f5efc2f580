import type { ReactNode } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import type { Permissions } from './permissions.ts'
import type { Open } from './view.ts'

interface Props {
  resource: Resource
  total: number | undefined
  permissions: Permissions
  onOpen: (open: Open) => void
  /** Follows the number. */
  children: ReactNode
}

/** The page's title, the number of matching records, and the actions of the page. */
export function TitleBar({ resource, total, permissions, onOpen, children }: Props) {
  // Disabled instead of hidden, with the reason as description.
  const restricted = (verb: string) =>
    permissions.can(verb) ? {} : { isDisabled: true, 'aria-describedby': 'permissions' }
  return (
    <div className="title">
      <h1>{resource.title}</h1>
      <p role="status" className="total">
        {total !== undefined && formatCount(total, resource)} {children}
      </p>
      <div className="buttons">
        <Button {...restricted('createMany')} onPress={() => onOpen('import')}>
          Import…
        </Button>
        <Button onPress={() => onOpen('export')}>Export…</Button>
        <Button {...restricted('create')} className="button primary" onPress={() => onOpen('new')}>
          New {resource.one}
        </Button>
      </div>
      {permissions.reasons.length > 0 && (
        <p id="permissions" className="permissions hint">
          {permissions.reasons.join(' ')}
        </p>
      )}
    </div>
  )
}
