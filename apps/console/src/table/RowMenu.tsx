import { Copy, ExternalLink, Pencil, Trash2 } from 'lucide-react'
import { Link } from 'wouter'
import { type Action, editVerb, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { notify } from '../ui/notices.ts'
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
  const copy = async () => {
    await navigator.clipboard.writeText(String(row.id))
    notify('done', `ID ${row.id} copied`)
  }
  // The focus returns to the button of the menu first, to which a dialog returns it.
  const then = (act: () => void) => () => {
    onClose()
    act()
  }
  return (
    <>
      <Link className="item" href={href} state={{ from: window.location.search }} onClick={() => remember(row)}>
        <ExternalLink className="i" aria-hidden="true" />
        Open
      </Link>
      {can(editVerb(resource.noun)) && (
        <Button className="item" onPress={then(() => onEdit(row.id))}>
          <Pencil className="i" aria-hidden="true" />
          Edit…
        </Button>
      )}
      {actions.map((action) => (
        <Button key={action.label} className="item" onPress={then(() => onAct(action, row))}>
          <span className="i" />
          {action.label}
        </Button>
      ))}
      {/* Browsers have no clipboard without HTTPS. */}
      {navigator.clipboard !== undefined && (
        <Button className="item" onPress={then(() => void copy())}>
          <Copy className="i" aria-hidden="true" />
          Copy the ID
        </Button>
      )}
      {can('delete') && (
        <Button className="item danger" onPress={then(() => onAct(deletion(resource), row))}>
          <Trash2 className="i" aria-hidden="true" />
          Delete
        </Button>
      )}
    </>
  )
}
