import { useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import type { Purge, Resource } from '../resources/resource.ts'
import { refresh, useCount } from '../table/rows.ts'
import { Button } from '../ui/Button.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { notify } from '../ui/notices.ts'
import { Window } from '../ui/Window.tsx'
import { counted, wordsOf } from '../ui/words.ts'

interface Props {
  resource: Resource
  purge: Purge
  onClose: () => void
}

/** Deletes all records of a kind, once their number has been typed. */
export function PurgeWindow({ resource, purge, onClose }: Props) {
  const query = useCount(resource, purge.filter)
  const { data: count, refetch } = query
  const [typed, setTyped] = useState('')
  const [isRunning, setRunning] = useState(false)
  const [hasGrown, setGrown] = useState(false)
  const words = `delete ${count}`
  const isTyped = typed.trim() === words
  const kind = (number: number) =>
    counted(number, { one: `${purge.which} ${resource.one}`, many: `${purge.which} ${resource.many}` })

  const run = async () => {
    setRunning(true)
    // What was typed agrees to this number and no other.
    const { data: now } = await refetch()
    setGrown(now !== count)
    if (now === count) await send()
    setRunning(false)
  }

  const send = async () => {
    try {
      const { removed } = await purge.send()
      notify('done', `${kind(removed)} deleted`)
      onClose()
    } catch (error) {
      notify('failed', `The deletion failed. ${wordsOf(error)}`)
    }
    await refresh(resource)
  }

  return (
    <Window title={`Delete all ${purge.which} ${resource.many}?`} role="alertdialog" onClose={onClose}>
      <Loaded query={query} title="They could not be counted" waiting={<p role="status">Counting…</p>}>
        {(count) =>
          count === 0 ? (
            <p>
              There is no {purge.which} {resource.one}: nothing to delete.
            </p>
          ) : (
            <Form
              onSubmit={(event) => {
                event.preventDefault()
                if (isTyped && !isRunning) void run()
              }}
            >
              {hasGrown && (
                <p role="alert" className="failed-line">
                  Their number has changed meanwhile. Nothing was deleted.
                </p>
              )}
              <p>
                <strong>{kind(count)}</strong> will be deleted, on every page and whatever the filters. This cannot be
                undone.
              </p>
              <TextField className="field" value={typed} onChange={setTyped} autoComplete="off" autoFocus>
                <Label className="label">
                  Type <code>{words}</code> to confirm
                </Label>
                <Input />
              </TextField>
              <footer>
                <Button onPress={onClose}>Cancel</Button>
                <Button className="button danger" type="submit" isDisabled={!isTyped || isRunning}>
                  {isRunning ? 'Deleting…' : `Delete ${kind(count)}`}
                </Button>
              </footer>
            </Form>
          )
        }
      </Loaded>
    </Window>
  )
}
