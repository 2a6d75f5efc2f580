import { CircleCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { dateOf } from '../resources/field.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import { CodeTabs } from '../ui/CodeTabs.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { firstRequests, type NewKey } from './key.ts'

interface Props {
  made: NewKey
  done: 'created' | 'rotated'
  onStored: () => void
}

/** A key that is shown this once, and the first request with it. */
export function SecretPanel({ made: { key, name, role, owner, expires_at, former_until }, done, onStored }: Props) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.querySelector('button')?.focus(), [])
  const isFormerValid = former_until !== null && Date.parse(former_until) > Date.now()
  return (
    <section ref={panel} className="created" aria-labelledby="created">
      <div>
        <h2 id="created" className="row">
          <CircleCheck className="created-mark" />
          <span>
            Key “<bdi translate="no">{name}</bdi>” {done}
          </span>
        </h2>
        <p className="soft">
          Copy it now. It is stored hashed and cannot be shown again.
          {done === 'rotated' && !isFormerValid && ' Its former secret is refused from now on.'}
          {isFormerValid && (
            <>
              {' '}
              Its former secret works until <Value column={{ kind: 'time', decimals: 0 }} value={former_until} />.
            </>
          )}
        </p>
      </div>
      <div className="row secret">
        <code translate="no">{key}</code>
        <CopyButton text={key} label="Copy key" className="button primary" />
      </div>
      <CodeTabs label="First request" codes={firstRequests(key)} copyLabel="Copy request" />
      <div className="buttons">
        <p className="faint small-text">
          role <b>{role}</b>
          {owner !== null && (
            <>
              , owner <b translate="no">{owner}</b>
            </>
          )}
          , expires <b>{expires_at === null ? 'never' : dateOf(expires_at)}</b>
        </p>
        <Button onPress={onStored}>I have stored it</Button>
      </div>
    </section>
  )
}
