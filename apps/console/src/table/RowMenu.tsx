import { Copy, ExternalLink, Pencil, Trash2 } from 'lucide-react'
import { Link } from 'wouter'
import { type Action, editVerb, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { copy } from '../ui/copy.ts'
import { remember } from './Cell.tsx'
import { deletion } from './changes.ts'

interface Props {
  resource: Resource
  row: Row
  /** The record's page. */
  href: string
  can: (verb: string) => boolean
  /** The actions that the role allows on the record. */
  actions: Action[]
  onAct: (action: Action, row: Row) => void
  onEdit: (id: number) => void
  onClose: () => void
}

/** What can be done with one record. */
export function RowMenu({ resource, row, href, can, actions, onAct, onEdit, onClose }: Props) {
  // The focus returns to the button of the menu first, to which a dialog returns it.
  const then = (act: () => void) => () => {
    onClose()
    act()
  }
  return (
    <>
      <Link className="item" href={href} state={{ from: window.location.search }} onClick={() => remember(row)}>
        <ExternalLink />
        Open
      </Link>
      {can(editVerb(resource.noun)) && (
        <Button className="item" icon={Pencil} onPress={then(() => onEdit(row.id))}>
          Edit…
        </Button>
      )}
      {actions.map((action) => (
        <Button key={action.label} className="item" onPress={then(() => onAct(action, row))}>
          <span className="lucide" />
          {action.label}
        </Button>
      ))}
      {/* Browsers have no clipboard without HTTPS. */}
      {navigator.clipboard !== undefined && (
        <Button className="item" icon={Copy} onPress={then(() => void copy(`ID ${row.id}`, String(row.id)))}>
          Copy the ID
        </Button>
      )}
      {can('delete') && (
        <Button className="item danger" icon={Trash2} onPress={then(() => onAct(deletion(resource), row))}>
          Delete
        </Button>
      )}
    </>
  )
}
