import { Ellipsis } from 'lucide-react'
import { dateOf } from '../resources/field.ts'
import { Ago, distance } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { ListTable } from '../ui/ListTable.tsx'
import { Popup } from '../ui/Popup.tsx'
import { endOf, type Key } from './key.ts'

const COLUMNS: [string, string?][] = [
  ['Name'],
  ['Key', 'only-large'],
  ['Role'],
  ['Owner'],
  ['Created', 'added'],
  ['Last use'],
  ['Expires'],
]
const SOON_MS = 14 * 24 * 60 * 60 * 1000

interface Props {
  keys: Key[]
  /** The id of the key whose secret shows. */
  newest: number | undefined
  isOwn: (key: Key) => boolean
  onAsk: (verb: 'rotate' | 'revoke', key: Key) => void
}

/** Keys with what they may do, who answers for them, and when they were used. */
export function KeyTable({ keys, newest, isOwn, onAsk }: Props) {
  return (
    <ListTable label="Keys" columns={COLUMNS}>
      {keys.map((key) => {
        const { id, name, prefix, role, owner, created_at, last_used_at } = key
        const end = endOf(key)
        return (
          <tr key={id} className={id === newest ? 'live' : undefined}>
            <th scope="row" className="name one-line at-name" title={name}>
              <bdi translate="no">{name}</bdi>
            </th>
            <td className="faint only-large">
              <code translate="no">{prefix.slice(0, 8)}…</code>
            </td>
            <td className="at-rest">{role}</td>
            <td className="owner one-line only-wide" translate="no" title={owner ?? undefined}>
              {owner === null ? <span className="faint">none</span> : <bdi>{owner}</bdi>}
            </td>
            <td className="when added">
              <Ago at={created_at} />
            </td>
            <td className="when at-when">
              {last_used_at !== null && !isOwn(key) && <span className="only-phone">used </span>}
              {isOwn(key) ? 'now, this session' : last_used_at === null ? 'never used' : <Ago at={last_used_at} />}
            </td>
            <td className="nowrap at-figure">
              {end === undefined ? <Expiry stored={key} /> : <span className="badge">{end}</span>}
            </td>
            <td className="tight end at-menu">{end === undefined && <Actions stored={key} onAsk={onAsk} />}</td>
          </tr>
        )
      })}
    </ListTable>
  )
}

/** What can be done with a key: two buttons, or on a phone a menu of them. */
function Actions({ stored, onAsk }: { stored: Key } & Pick<Props, 'onAsk'>) {
  const buttons = (className: string) =>
    (['Rotate', 'Revoke'] as const).map((label) => (
      <Button
        key={label}
        className={label === 'Revoke' ? `${className} ${className === 'item' ? 'danger' : 'to-danger'}` : className}
        aria-label={`${label} ${stored.name}…`}
        onPress={() => onAsk(label === 'Rotate' ? 'rotate' : 'revoke', stored)}
      >
        {label}…
      </Button>
    ))
  return (
    <>
      <span className="only-wide">
        <span className="row row-actions">{buttons('button ghost small')}</span>
      </span>
      <span className="only-phone">
        <Popup label={`Actions of ${stored.name}`} className="button ghost icon" icon={Ellipsis}>
          {(close) => (
            // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: its buttons close it
            <div onClick={close}>{buttons('item')}</div>
          )}
        </Popup>
      </span>
    </>
  )
}

/** When a key expires; a former secret that still works comes first. */
function Expiry({ stored: { expires_at, former_until } }: { stored: Key }) {
  const leftTo = (at: string | null) => (at === null ? Number.POSITIVE_INFINITY : Date.parse(at) - Date.now())
  if (former_until !== null && leftTo(former_until) > 0)
    return <span className="badge note">former secret ends {distance(leftTo(former_until))}</span>
  const left = leftTo(expires_at)
  const isSoon = left < SOON_MS
  return (
    <span className={isSoon ? 'badge warning' : 'faint'}>
      <span className="only-phone">expires </span>
      {expires_at === null ? 'never' : isSoon ? distance(left) : dateOf(expires_at)}
    </span>
  )
}
