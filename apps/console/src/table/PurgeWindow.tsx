import { useState } from 'react'
import { Button, Form, Input, Label, TextField } from 'react-aria-components'
import type { Purge, Resource } from '../resources/resource.ts'
import { notify } from '../shell/notices.ts'
import { Failure } from '../ui/Failure.tsx'
import { Window } from '../ui/Window.tsx'
import { counted, wordsOf } from '../ui/words.ts'
import { refresh, useCount } from './rows.ts'

interface Props {
  resource: Resource
  purge: Purge
  onClose: () => void
}

/** Deletes all records of a kind, once their number has been typed. */
export function PurgeWindow({ resource, purge, onClose }: Props) {
  const { data: count, error, refetch } = useCount(resource, purge.filter)
  const [typed, setTyped] = useState('')
  const [isRunning, setRunning] = useState(false)
  const words = `delete ${count}`
  const kind = (number: number) => counted(number, `${purge.which} ${resource.many}`)

  const run = async () => {
    setRunning(true)
    try {
      const { removed } = await purge.send()
      notify('done', `${kind(removed)} deleted`)
      onClose()
    } catch (reason) {
      notify('failed', `Nothing was deleted. ${wordsOf(reason)}`)
      setRunning(false)
    }
    await refresh(resource)
  }

  return (
    <Window title={`Delete all ${purge.which} ${resource.many}?`} role="alertdialog" onClose={onClose}>
      {error !== null && <Failure title="They could not be counted" error={error} onRetry={refetch} />}
      {error === null && count === undefined && <p role="status">Counting…</p>}
      {count === 0 && (
        <p>
          There is no {purge.which} {resource.one}: nothing to delete.
        </p>
      )}
      {count !== undefined && count > 0 && (
        <Form
          onSubmit={(event) => {
            event.preventDefault()
            if (typed.trim() === words && !isRunning) void run()
          }}
        >
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
            <Button className="button" onPress={onClose}>
              Cancel
            </Button>
            <Button className="button danger" type="submit" isDisabled={typed.trim() !== words}>
              {isRunning ? 'Deleting…' : `Delete ${kind(count)}`}
            </Button>
          </footer>
        </Form>
      )}
    </Window>
  )
}
