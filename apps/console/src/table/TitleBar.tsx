import { Download, Ellipsis, Plus, Upload } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Popup } from '../ui/Popup.tsx'
import type { Permissions } from './permissions.ts'
import type { Open } from './view.ts'

interface Props {
  resource: Resource
  /** The number of matching records. */
  total: number | undefined
  /** The number of all records, if the list has a filter. */
  all: number | undefined
  permissions: Permissions
  onOpen: (open: Open) => void
  /** Follows the number. */
  children: ReactNode
}

/** The page's title, the number of matching records and of all, and the actions of the page. */
export function TitleBar({ resource, total, all, permissions, onOpen, children }: Props) {
  const { title, one, many } = resource
  // Disabled instead of hidden, with the reason as description.
  const restricted = (verb: string) =>
    permissions.can(verb) ? {} : { isDisabled: true, 'aria-describedby': 'permissions' }
  const transfers = (className: string, close = () => {}) => {
    const opens = (dialog: Open) => () => {
      close()
      onOpen(dialog)
    }
    return (
      <>
        <Button {...restricted('createMany')} className={className} icon={Upload} onPress={opens('import')}>
          Import…
        </Button>
        <Button className={className} icon={Download} onPress={opens('export')}>
          Export…
        </Button>
      </>
    )
  }
  return (
    <div className="row page-head list-head">
      <div className="titled">
        <h1>{title}</h1>
        <p role="status" className="count">
          {total !== undefined && (
            <span>
              {total.toLocaleString('en')} <span className="hidden">{total === 1 ? one : many}</span>
            </span>
          )}
          {total !== undefined && all !== undefined && ` of ${all.toLocaleString('en')}`}
        </p>
        {children}
      </div>
      <div className="buttons">
        <div className="buttons only-wide">{transfers('button ghost')}</div>
        <Popup className="button ghost icon only-phone" label="More actions" icon={Ellipsis}>
          {(close) => transfers('item', close)}
        </Popup>
        <Button
          {...restricted('create')}
          className="button primary"
          icon={Plus}
          aria-label={`New ${one}`}
          onPress={() => onOpen('new')}
        >
          <span className="only-wide">New {one}</span>
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
